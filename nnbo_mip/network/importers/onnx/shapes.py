"""ONNX's slices, reshapes and joins of symbolic tensors and constants."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from nnbo_mip.core.arrays import Array
from nnbo_mip.core.errors import UnsupportedError
from nnbo_mip.network.importers.onnx.file import tensor_values
from nnbo_mip.network.importers.onnx.values import (
    Attributes,
    Value,
    constant,
    integers,
    points_of,
    symbolic,
)
from nnbo_mip.network.importers.tensors import Tensor, TensorBuilder, check_elements


def _moved(ops: TensorBuilder, x: Value, operation: Callable[[Array], Array]) -> Value:
    return ops.move(operation, x) if isinstance(x, Tensor) else operation(x)


def _flatten(ops: TensorBuilder, node: Attributes, x: Value) -> Value:
    axis = int(node.get("axis", 1))
    axis = axis + len(x.shape) if axis < 0 else axis
    shape = (math.prod(x.shape[:axis]), math.prod(x.shape[axis:]))
    return _moved(ops, x, lambda entries: entries.reshape(shape))


def _reshape(ops: TensorBuilder, node: Attributes, x: Value, shape: Value) -> Value:
    sizes = integers(shape, "the shape")
    if not node.get("allowzero", 0):
        sizes = [x.shape[i] if size == 0 else size for i, size in enumerate(sizes)]
    return _moved(ops, x, lambda entries: entries.reshape(sizes))


def _squeeze(ops: TensorBuilder, node: Attributes, x: Value, axes: Value | None = None) -> Value:
    chosen = node.get("axes") if axes is None else integers(axes, "the axes")
    drop = None if chosen is None else tuple(chosen)
    return _moved(ops, x, lambda entries: np.squeeze(entries, drop))


def _unsqueeze(ops: TensorBuilder, node: Attributes, x: Value, axes: Value | None = None) -> Value:
    chosen = node.get("axes") if axes is None else integers(axes, "the axes")
    return _moved(ops, x, lambda entries: np.expand_dims(entries, tuple(chosen)))


def _transpose(ops: TensorBuilder, node: Attributes, x: Value) -> Value:
    order = node.get("perm")
    return _moved(ops, x, lambda entries: np.transpose(entries, order))


def _concatenate(ops: TensorBuilder, node: Attributes, *values: Value) -> Value:
    axis = int(node.get("axis"))
    constants = [value for value in values if not isinstance(value, Tensor)]
    if len(constants) < len(values):
        return ops.concatenate([symbolic(value) for value in values], axis)
    check_elements(sum(value.size for value in constants))
    return np.concatenate(constants, axis)


def _gather(ops: TensorBuilder, node: Attributes, x: Value, index: Value) -> Value:
    chosen, axis = constant(index, "the index"), int(node.get("axis", 0))
    check_elements(math.prod(x.shape) // max(1, x.shape[axis]) * chosen.size // points_of(x))
    return _moved(ops, x, lambda entries: entries.take(chosen.astype(np.intp), axis=axis))


def _slice(
    ops: TensorBuilder,
    node: Attributes,
    x: Value,
    starts: Value | None = None,
    ends: Value | None = None,
    axes: Value | None = None,
    steps: Value | None = None,
) -> Value:
    first = node.get("starts") if starts is None else integers(starts, "the start")
    last = node.get("ends") if ends is None else integers(ends, "the end")
    chosen = node.get("axes", range(len(first))) if axes is None else integers(axes, "the axes")
    step = [1] * len(first) if steps is None else integers(steps, "the step")
    key = [slice(None)] * len(x.shape)
    for axis, a, b, by in zip(chosen, first, last, step, strict=True):
        key[axis] = slice(a, b, by)
    return _moved(ops, x, lambda entries: entries[tuple(key)])


def _split(
    ops: TensorBuilder, node: Attributes, x: Value, sizes: Value | None = None
) -> list[Value]:
    axis = int(node.get("axis", 0))
    if node.get("num_outputs", node.n_outputs) != node.n_outputs:
        raise UnsupportedError(f"num_outputs must be its number of outputs, {node.n_outputs}")
    lengths = node.get("split") if sizes is None else integers(sizes, "the split")
    if lengths is None:
        each = -(-x.shape[axis] // node.n_outputs)
        lengths = [each] * (node.n_outputs - 1)
        lengths.append(x.shape[axis] - sum(lengths))
    if min(lengths) < 0 or sum(lengths) != x.shape[axis]:
        raise UnsupportedError(f"lengths {lengths} do not add up to {x.shape[axis]}")
    cuts = [0, *np.cumsum(lengths).tolist()]

    def part(a: int, b: int) -> Value:
        return _moved(ops, x, lambda entries: entries.take(np.arange(a, b), axis=axis))

    return [part(a, b) for a, b in pairwise(cuts)]


def _shape(ops: TensorBuilder, node: Attributes, x: Value) -> Value:
    return np.array(x.shape, dtype=np.int64)[slice(node.get("start"), node.get("end"))]


def _constant_node(ops: TensorBuilder, node: Attributes) -> Value:
    tensor = node.get("value")
    if tensor is not None:
        return tensor_values(tensor, "of a constant")
    for name in ("value_float", "value_floats", "value_int", "value_ints"):
        number = node.get(name)
        if number is not None:
            return np.array(number, dtype=np.float32 if "float" in name else np.int64)
    raise UnsupportedError("only tensors and numbers are supported as constants")


SHAPES: dict[str, Callable[..., Any]] = {
    "Concat": _concatenate,
    "Constant": _constant_node,
    "Flatten": _flatten,
    "Gather": _gather,
    "Reshape": _reshape,
    "Shape": _shape,
    "Slice": _slice,
    "Split": _split,
    "Squeeze": _squeeze,
    "Transpose": _transpose,
    "Unsqueeze": _unsqueeze,
}
"""Handlers by operator, in the default domain."""
