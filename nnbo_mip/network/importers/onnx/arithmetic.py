"""ONNX's arithmetic on symbolic tensors and constants."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from nnbo_mip.core.arrays import Array
from nnbo_mip.core.errors import InputError, UnsupportedError
from nnbo_mip.network.importers.onnx.file import FLOATS, INTEGERS, onnx_package, type_name
from nnbo_mip.network.importers.onnx.values import (
    Attributes,
    Value,
    broadcastable,
    constant,
    integers,
    numbers,
    symbolic,
)
from nnbo_mip.network.importers.tensors import Tensor, TensorBuilder

LARGEST_FLOAT32 = float(np.finfo(np.float32).max)
LEAKY_SLOPE = float(np.float32(0.01))
BATCH_NORM_EPSILON = float(np.float32(1e-5))
"""Attributes are float32 in ONNX, their defaults too."""
WITH_BROADCASTING = 7
SINCE = "opset 7; export the model again with a newer one"


# -- entrywise ------------------------------------------------------------------------


def _relu(ops: TensorBuilder, node: Attributes, x: Value) -> Value:
    return ops.map(symbolic(x), ops.graph.relu)


def _leaky_relu(ops: TensorBuilder, node: Attributes, x: Value) -> Value:
    alpha = node.get("alpha", LEAKY_SLOPE)
    return ops.map(symbolic(x), lambda rows: ops.graph.leaky_relu(rows, alpha))


def _prelu(ops: TensorBuilder, node: Attributes, x: Value, slope: Value) -> Value:
    if node.opset < WITH_BROADCASTING:
        raise UnsupportedError(f"its slopes lie on other axes before {SINCE}")
    slopes = numbers(slope, "the slope")
    return ops.map_with_constant(ops.graph.leaky_relu, symbolic(x), slopes)


def _clip(
    ops: TensorBuilder,
    node: Attributes,
    x: Value,
    minimum: Value | None = None,
    maximum: Value | None = None,
) -> Value:
    # Exporters write the largest float for "no limit".
    low = node.get("min", -np.inf) if minimum is None else numbers(minimum, "the limit")
    high = node.get("max", np.inf) if maximum is None else numbers(maximum, "the limit")
    low = np.where(np.asarray(low) <= -LARGEST_FLOAT32, -np.inf, low)
    high = np.where(np.asarray(high) >= LARGEST_FLOAT32, np.inf, high)
    return ops.map(symbolic(x), lambda rows: ops.graph.clip(rows, low.item(), high.item()))


def _absolute(ops: TensorBuilder, node: Attributes, x: Value) -> Value:
    return ops.map(symbolic(x), ops.graph.absolute)


def _negative(ops: TensorBuilder, node: Attributes, x: Value) -> Value:
    return ops.map(x, lambda rows: rows.negated()) if isinstance(x, Tensor) else -x


def _add(ops: TensorBuilder, node: Attributes, first: Value, second: Value) -> Value:
    if isinstance(first, Tensor) or isinstance(second, Tensor):
        return ops.combine(ops.graph.add, first, second)
    return _folded(np.add, *broadcastable(first, second))


def _subtract(ops: TensorBuilder, node: Attributes, first: Value, second: Value) -> Value:
    if isinstance(first, Tensor) or isinstance(second, Tensor):
        return ops.combine(ops.graph.subtract, first, second)
    return _folded(np.subtract, *broadcastable(first, second))


def _multiply(ops: TensorBuilder, node: Attributes, first: Value, second: Value) -> Value:
    if isinstance(first, Tensor):
        factors = constant(second, "one factor of a product")
        return ops.map_with_constant(ops.graph.scale, first, factors)
    if isinstance(second, Tensor):
        return ops.map_with_constant(ops.graph.scale, second, first)
    return _folded(np.multiply, *broadcastable(first, second))


def _divide(ops: TensorBuilder, node: Attributes, first: Value, second: Value) -> Value:
    divisor = constant(second, "a divisor")
    if (divisor == 0).any():
        raise InputError("a divisor must not be zero; got a constant that holds one; repair it.")
    if isinstance(first, Tensor):
        return ops.map_with_constant(ops.graph.scale, first, 1.0 / divisor.astype(np.float64))
    first, divisor = broadcastable(first, divisor)
    if first.dtype.kind not in "iu":
        return _folded(np.divide, first, divisor)
    # Integers are cut towards zero; Python and NumPy round down.
    quotient: Array = first // divisor
    cut = (first % divisor != 0) & ((first < 0) != (divisor < 0))
    quotient += cut.astype(quotient.dtype)
    return quotient


def _folded(operation: Any, first: Array, second: Array) -> Array:
    """Return what constants give, in their own type, unless that has few digits and rounds.

    Runtimes compute with half precision numbers in float32 or not, as they like.
    """
    result = np.asarray(operation(first, second))
    if result.dtype.kind not in "biu" and result.dtype.itemsize < 4:
        exact = operation(first.astype(np.float64), second.astype(np.float64))
        if not np.array_equal(result.astype(np.float64), exact, equal_nan=True):
            raise UnsupportedError(
                f"arithmetic of constants in {result.dtype} rounds, in one way or another from "
                "runtime to runtime; store the result, or compute it in FLOAT"
            )
    return result


def _sum(ops: TensorBuilder, node: Attributes, *values: Value) -> Value:
    return _fold(values, lambda first, second: _add(ops, node, first, second))


def _maximum(ops: TensorBuilder, node: Attributes, *values: Value) -> Value:
    return _fold(values, lambda a, b: ops.combine(ops.graph.maximum, a, b))


def _minimum(ops: TensorBuilder, node: Attributes, *values: Value) -> Value:
    return _fold(values, lambda a, b: ops.combine(ops.graph.minimum, a, b))


def _fold(values: Sequence[Value], operation: Callable[[Value, Value], Value]) -> Value:
    result = values[0]
    for value in values[1:]:
        result = operation(result, value)
    return result


def _batch_norm(
    ops: TensorBuilder,
    node: Attributes,
    x: Value,
    scale: Value,
    offset: Value,
    mean: Value,
    variance: Value,
) -> Value:
    node.ignore("momentum")
    _check_inference(node, bool(node.get("training_mode", 0)) or not node.has_one_output)
    if not node.get("spatial", 1):
        raise UnsupportedError(
            "it has statistics for each entry of a channel (spatial=0); export the model again "
            "with a newer opset"
        )
    tensor = symbolic(x)
    shape = (-1, *([1] * max(0, len(tensor.shape) - 2)))
    deviation = np.sqrt(numbers(variance, "the variance") + node.get("epsilon", BATCH_NORM_EPSILON))
    factor = numbers(scale, "the scale") / deviation
    shift = numbers(offset, "the offset") - numbers(mean, "the mean") * factor
    scaled = ops.map_with_constant(ops.graph.scale, tensor, factor.reshape(shape))
    return ops.map_with_constant(ops.graph.shift, scaled, shift.reshape(shape))


def _dropout(
    ops: TensorBuilder,
    node: Attributes,
    x: Value,
    ratio: Value | None = None,
    training: Value | None = None,
) -> Value:
    node.ignore("ratio", "seed")
    active = training is not None and bool(constant(training, "the training mode").any())
    _check_inference(node, active)
    return x


def _check_inference(node: Attributes, training: bool) -> None:
    if training:
        raise UnsupportedError("it is in training mode; export the model in eval mode")
    if node.opset < WITH_BROADCASTING:
        raise UnsupportedError(f"it is in training mode by default before {SINCE}")


def _cast(ops: TensorBuilder, node: Attributes, x: Value) -> Value:
    node.ignore("saturate", "round_mode")
    number = node.get("to")
    kind = type_name(number)
    if isinstance(x, Tensor):
        if kind not in FLOATS or kind.startswith("FLOAT8"):
            raise UnsupportedError(f"a cast to {kind} is not piecewise linear")
        return x
    if kind not in FLOATS and kind not in INTEGERS:
        raise UnsupportedError(f"a cast to {kind} is not supported")
    return _rounded(x, onnx_package().helper.tensor_dtype_to_np_dtype(number), kind)


def _rounded(x: Array, dtype: Any, kind: str) -> Array:
    """Return a constant in another type, unless it leaves the type's range."""
    result = x.astype(dtype)
    before, after = x.astype(np.float64), result.astype(np.float64)
    fits = np.isfinite(after) | ~np.isfinite(before)
    if kind in INTEGERS and kind != "BOOL" and x.dtype.kind not in "biu":
        fits = np.trunc(before) == after
    if not fits.all():
        raise UnsupportedError(f"a constant leaves the range of {kind}, to which it is cast")
    return result


def _identity(ops: TensorBuilder, node: Attributes, x: Value) -> Value:
    return x


# -- matrices and sums ----------------------------------------------------------------


def _gemm(
    ops: TensorBuilder, node: Attributes, a: Value, b: Value, c: Value | None = None
) -> Value:
    weights = numbers(b, "the matrix")
    weights = weights if node.get("transB", 0) else weights.T
    factor = node.get("alpha", 1.0)
    left = symbolic(a)
    left = ops.transpose(left, None) if node.get("transA", 0) else left
    result = ops.linear(left, weights if factor == 1.0 else factor * weights)
    beta = node.get("beta", 1.0)
    if c is None or beta == 0.0:
        return result
    if not node.get("broadcast", 1) and c.shape != result.shape:
        raise UnsupportedError(f"an addend of shape {c.shape} is not broadcast (broadcast=0)")
    addend = c if isinstance(c, Tensor) else numbers(c, "the addend")
    return ops.combine(
        ops.graph.add,
        result,
        addend if beta == 1.0 else _multiply(ops, node, addend, np.asarray(beta)),
    )


def _matmul(ops: TensorBuilder, node: Attributes, a: Value, b: Value) -> Value:
    if isinstance(b, Tensor) and b.batch_axis is None and len(b.shape) == 1:
        return ops.linear(b, numbers(a, "one factor of a product"))
    weights = numbers(b, "the second factor")
    if weights.ndim == 1:
        return ops.squeeze(ops.linear(symbolic(a), weights[None, :]), [-1])
    return ops.linear(symbolic(a), weights.T)


def _reduce_sum(
    ops: TensorBuilder, node: Attributes, x: Value, axes: Value | None = None
) -> Tensor:
    return _reduced(ops, node, x, axes)[0]


def _reduce_mean(
    ops: TensorBuilder, node: Attributes, x: Value, axes: Value | None = None
) -> Tensor:
    result, count = _reduced(ops, node, x, axes)
    return ops.map(result, lambda rows: ops.graph.scale(rows, 1.0 / count))


def _reduced(
    ops: TensorBuilder, node: Attributes, x: Value, axes: Value | None
) -> tuple[Tensor, int]:
    chosen = node.get("axes") if axes is None else integers(axes, "the axes")
    if node.get("noop_with_empty_axes", 0) and not chosen:
        return symbolic(x), 1
    return ops.total(symbolic(x), chosen or None, bool(node.get("keepdims", 1)))


ARITHMETIC: dict[str, Callable[..., Any]] = {
    "Abs": _absolute,
    "Add": _add,
    "BatchNormalization": _batch_norm,
    "Cast": _cast,
    "Clip": _clip,
    "Div": _divide,
    "Dropout": _dropout,
    "Gemm": _gemm,
    "Identity": _identity,
    "LeakyRelu": _leaky_relu,
    "MatMul": _matmul,
    "Max": _maximum,
    "Min": _minimum,
    "Mul": _multiply,
    "Neg": _negative,
    "PRelu": _prelu,
    "ReduceMean": _reduce_mean,
    "ReduceSum": _reduce_sum,
    "Relu": _relu,
    "Sub": _subtract,
    "Sum": _sum,
}
"""Handlers by operator, in the default domain."""
