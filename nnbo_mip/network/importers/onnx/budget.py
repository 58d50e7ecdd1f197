"""How many numbers the values of an ONNX graph may hold together.

A file of some bytes can ask for values of many gigabytes, each of which alone is allowed. What is
allowed together grows with what the file itself holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from nnbo_mip.core.errors import UnsupportedError
from nnbo_mip.network.graph.affine import Affine
from nnbo_mip.network.graph.matrices import n_entries
from nnbo_mip.network.importers.onnx.values import Value
from nnbo_mip.network.importers.tensors import Tensor

FREE_NUMBERS = 1 << 25
"""What any graph may hold (256 MiB of dense numbers)."""

PER_NUMBER = 8
"""And this for each number in the file: layers are folded, shifted and scaled."""


class Budget:
    """What values that are still read hold, and the layers made of them; and the widest value.

    Parameters
    ----------
    given : iterable of Value
        The constants that the file holds.
    layers : sequence of Affine
        The ReLU layers so far, which grows as nodes are carried out.
    """

    def __init__(self, given: Iterable[Value], layers: Sequence[Affine]) -> None:
        self._left = FREE_NUMBERS + PER_NUMBER * sum(map(_numbers, given))
        self._layers = layers
        self._counted = 0
        self.widest = 1

    def spend(self, results: Iterable[Value], node: Any) -> None:
        """Count what a node computed, or refuse the graph."""
        for value in results:
            self._left -= _numbers(value)
            self.widest = max(self.widest, _width(value))
        for layer in self._layers[self._counted :]:
            self._left -= _affine_numbers(layer)
        self._counted = len(self._layers)
        if self._left < 0:
            raise UnsupportedError(
                f"the values of a graph may hold {FREE_NUMBERS} numbers, and {PER_NUMBER} for each "
                f"number in the file; node {node.name or node.output[:1]!r} ({node.op_type}) "
                "exceeds that; the network is too large to be certified."
            )

    def release(self, value: Value) -> None:
        """Give back what a value held that a node computed and none reads any more."""
        self._left += _numbers(value)


def _numbers(value: Value) -> int:
    if not isinstance(value, Tensor):
        return int(value.size)
    return _affine_numbers(value.rows)


def _affine_numbers(affine: Affine) -> int:
    return affine.width + sum(map(n_entries, affine.terms.values()))


def _width(value: Value) -> int:
    return value.rows.width if isinstance(value, Tensor) else int(value.size)
