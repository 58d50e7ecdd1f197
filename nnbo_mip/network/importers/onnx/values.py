"""What the handlers of ONNX operators share: values and attributes.

A handler takes the tensor builder, the node's attributes and its inputs: a `Tensor`, an
array for a constant, or None for an optional input that is left out. Constants go
through the same handlers, which is how shapes computed inside the graph are folded.
"""

from __future__ import annotations

import math
from typing import Any, TypeAlias

import numpy as np

from nnbo_mip.core.arrays import Array, FloatArray
from nnbo_mip.core.errors import UnsupportedError
from nnbo_mip.network.importers.onnx.file import onnx_package
from nnbo_mip.network.importers.tensors import BATCH, Tensor, check_elements

Value: TypeAlias = "Tensor | Array"


class Attributes:
    """The attributes of a node; `unread` names those that no handler asked for.

    Parameters
    ----------
    node : onnx.NodeProto
    opset : int
        Version of the operators, which decides what an attribute that is left out means.
    """

    def __init__(self, node: Any, opset: int) -> None:
        helper = onnx_package().helper
        self._values = {a.name: helper.get_attribute_value(a) for a in node.attribute}
        self._read: set[str] = set()
        self.n_outputs = len(node.output)
        self.has_one_output = not any(node.output[1:])
        self.opset = opset

    def get(self, name: str, default: Any = None) -> Any:
        """Return an attribute or its default."""
        self._read.add(name)
        return self._values.get(name, default)

    def ignore(self, *names: str) -> None:
        """Mark attributes that do not change the function at inference."""
        self._read.update(names)

    @property
    def unread(self) -> list[str]:
        """Names of the attributes that were neither read nor ignored."""
        return sorted(set(self._values) - self._read)


def constant(value: Value | None, what: str) -> Array:
    """Return a value that must be a constant."""
    if value is None or isinstance(value, Tensor):
        raise UnsupportedError(f"{what} must be a constant")
    return value


def numbers(value: Value | None, what: str) -> FloatArray:
    """Return a value that must be a constant, in float64."""
    return np.asarray(constant(value, what), dtype=np.float64)


def symbolic(value: Value) -> Tensor:
    """Return a value that must depend on the input."""
    if not isinstance(value, Tensor):
        raise UnsupportedError("its operand does not depend on the input")
    return value


def integers(value: Value | None, what: str) -> list[int]:
    """Return the entries of a constant, such as axes or extents."""
    return [int(entry) for entry in np.atleast_1d(constant(value, what))]


def points_of(value: Value) -> int:
    """Return the number of points that the entries of a value are of."""
    return BATCH if isinstance(value, Tensor) and value.batch_axis is not None else 1


def broadcastable(first: Array, second: Array) -> tuple[Array, Array]:
    """Return two constants unless their broadcast shape is absurd."""
    check_elements(math.prod(np.broadcast_shapes(first.shape, second.shape)))
    return first, second
