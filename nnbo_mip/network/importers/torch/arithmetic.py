"""PyTorch's arithmetic on symbolic tensors.

Functions (``torch.relu``, ``torch.nn.functional.relu``, ``operator.add``) and methods
(``x.relu()``) share one table by name, because PyTorch gives them one signature. The
parameters of a handler are named as PyTorch names them, so that keywords bind.

This module imports torch and is imported only by `nnbo_mip.network.importers.torch.importer`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import torch

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.errors import InputError, UnsupportedError
from nnbo_mip.network.importers.tensors import Tensor, TensorBuilder

Handler: TypeAlias = Callable[..., Any]
Operand: TypeAlias = "Tensor | torch.Tensor | float"


def array(value: Any) -> FloatArray:
    """Return a constant as float64; exact for every floating type up to 64 bits."""
    if isinstance(value, torch.Tensor):
        value = value.detach().to(device="cpu", dtype=torch.float64).numpy()
    elif isinstance(value, Tensor):
        raise UnsupportedError(
            "a product or quotient of two values that depend on the input is not piecewise linear"
        )
    result = np.asarray(value, dtype=np.float64)
    if np.isnan(result).any():
        raise InputError("every constant must be a number; got NaN; retrain or repair it.")
    return result


def _operand(value: Any) -> Any:
    return value if isinstance(value, Tensor) else array(value)


# -- entrywise ------------------------------------------------------------------------


def _relu(ops: TensorBuilder, input: Tensor, inplace: bool = False) -> Tensor:
    return ops.map(input, ops.graph.relu)


def _leaky_relu(
    ops: TensorBuilder, input: Tensor, negative_slope: float = 0.01, inplace: bool = False
) -> Tensor:
    return ops.map(input, lambda rows: ops.graph.leaky_relu(rows, negative_slope))


def _prelu(ops: TensorBuilder, input: Tensor, weight: torch.Tensor) -> Tensor:
    slopes = _channelwise(input, array(weight))
    return ops.map_with_constant(ops.graph.leaky_relu, input, slopes)


def _clamp(ops: TensorBuilder, input: Tensor, min: Any = None, max: Any = None) -> Tensor:
    low, high = np.broadcast_arrays(
        -np.inf if min is None else array(min), np.inf if max is None else array(max)
    )
    wide, low = ops.with_constant(input, low)
    _, high = ops.with_constant(input, high)
    return ops.map(wide, lambda rows: ops.graph.clip(rows, low, high))


def _clamp_min(ops: TensorBuilder, input: Tensor, min: Any) -> Tensor:
    return _clamp(ops, input, min=min)


def _clamp_max(ops: TensorBuilder, input: Tensor, max: Any) -> Tensor:
    return _clamp(ops, input, max=max)


def _hardtanh(
    ops: TensorBuilder,
    input: Tensor,
    min_val: float = -1.0,
    max_val: float = 1.0,
    inplace: bool = False,
) -> Tensor:
    return _clamp(ops, input, min_val, max_val)


def _relu6(ops: TensorBuilder, input: Tensor, inplace: bool = False) -> Tensor:
    return _clamp(ops, input, 0.0, 6.0)


def _absolute(ops: TensorBuilder, input: Tensor) -> Tensor:
    return ops.map(input, ops.graph.absolute)


def _negative(ops: TensorBuilder, input: Tensor) -> Tensor:
    return ops.map(input, lambda rows: rows.negated())


def _add(ops: TensorBuilder, input: Operand, other: Operand, *, alpha: float = 1) -> Tensor:
    second = _operand(other) if alpha == 1 else _multiply(ops, other, alpha)
    return ops.combine(ops.graph.add, _operand(input), second)


def _subtract(ops: TensorBuilder, input: Operand, other: Operand, *, alpha: float = 1) -> Tensor:
    second = _operand(other) if alpha == 1 else _multiply(ops, other, alpha)
    return ops.combine(ops.graph.subtract, _operand(input), second)


def _reverse_subtract(ops: TensorBuilder, input: Operand, other: Operand) -> Tensor:
    return _subtract(ops, other, input)


def _multiply(ops: TensorBuilder, input: Operand, other: Operand) -> Any:
    if isinstance(input, Tensor):
        return ops.map_with_constant(ops.graph.scale, input, array(other))
    if isinstance(other, Tensor):
        return ops.map_with_constant(ops.graph.scale, other, array(input))
    return array(input) * array(other)


def _divide(
    ops: TensorBuilder, input: Operand, other: Operand, *, rounding_mode: str | None = None
) -> Tensor:
    divisor = array(other)
    if rounding_mode is not None or not isinstance(input, Tensor):
        raise UnsupportedError("only a value over a constant, without rounding, is supported")
    if (divisor == 0.0).any():
        raise InputError("a divisor must not be zero; got a constant that holds one; repair it.")
    wide, divisors = ops.with_constant(input, divisor)
    return ops.map(wide, lambda rows: ops.graph.scale(rows, 1.0 / divisors))


def _maximum(ops: TensorBuilder, input: Operand, other: Operand) -> Tensor:
    return ops.combine(ops.graph.maximum, _operand(input), _two_operands(other))


def _minimum(ops: TensorBuilder, input: Operand, other: Operand) -> Tensor:
    return ops.combine(ops.graph.minimum, _operand(input), _two_operands(other))


def _two_operands(other: Any) -> Any:
    if not isinstance(other, Tensor | torch.Tensor):
        raise UnsupportedError("a maximum over an axis is not supported; take it of two tensors")
    return _operand(other)


def _batch_norm(
    ops: TensorBuilder,
    input: Tensor,
    running_mean: torch.Tensor | None,
    running_var: torch.Tensor | None,
    weight: torch.Tensor | None = None,
    bias: torch.Tensor | None = None,
    training: bool = False,
    momentum: float | None = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    if training or running_mean is None or running_var is None:
        raise UnsupportedError(
            "a batch norm that uses the statistics of its batch is no function of one point; "
            "call module.eval() first (and keep track_running_stats=True)"
        )
    factor = 1.0 / np.sqrt(array(running_var) + eps)
    factor = factor if weight is None else array(weight) * factor
    offset = (0.0 if bias is None else array(bias)) - array(running_mean) * factor
    scaled = ops.map_with_constant(ops.graph.scale, input, _channelwise(input, factor))
    return ops.map_with_constant(ops.graph.shift, scaled, _channelwise(input, offset))


def _dropout(
    ops: TensorBuilder,
    input: Tensor,
    p: float = 0.5,
    training: bool = True,
    inplace: bool = False,
) -> Tensor:
    if training and p > 0.0:
        raise UnsupportedError(
            "an active dropout is random; call module.eval() first (and pass "
            "training=self.training to torch.nn.functional.dropout)"
        )
    return input


def _channelwise(input: Tensor, values: FloatArray) -> FloatArray:
    """Shape one number a channel (axis 1) so that it broadcasts."""
    return values.reshape(-1, *([1] * max(0, len(input.shape) - 2)))


# -- matrices -------------------------------------------------------------------------


def _linear(
    ops: TensorBuilder, input: Tensor, weight: torch.Tensor, bias: torch.Tensor | None = None
) -> Tensor:
    return ops.linear(input, array(weight), None if bias is None else array(bias))


def _matmul(ops: TensorBuilder, input: Operand, other: Operand) -> Tensor:
    if not isinstance(input, Tensor):
        raise UnsupportedError("a constant times a batch is not supported; use x @ W")
    weights = array(other)
    if weights.ndim == 1:
        return ops.squeeze(ops.linear(input, weights[None, :]), [-1])
    return ops.linear(input, weights.T)


def _addmm(
    ops: TensorBuilder,
    input: Operand,
    mat1: Tensor,
    mat2: torch.Tensor,
    *,
    beta: float = 1,
    alpha: float = 1,
) -> Tensor:
    product = ops.linear(mat1, alpha * array(mat2).T)
    return ops.combine(ops.graph.add, product, _multiply(ops, input, beta))


def _total(ops: TensorBuilder, input: Tensor, dim: Any = None, keepdim: bool = False) -> Tensor:
    return ops.total(input, [dim] if isinstance(dim, int) else dim, keepdim)[0]


def _mean(ops: TensorBuilder, input: Tensor, dim: Any = None, keepdim: bool = False) -> Tensor:
    result, count = ops.total(input, [dim] if isinstance(dim, int) else dim, keepdim)
    return _divide(ops, result, count)


def _unchanged(ops: TensorBuilder, input: Tensor) -> Tensor:
    return input


def _cast(ops: TensorBuilder, input: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    for value in (*args, *kwargs.values()):
        if isinstance(value, torch.dtype) and not value.is_floating_point:
            raise UnsupportedError(f"a cast to {value} is not piecewise linear")
    return input


ARITHMETIC: dict[str, Handler] = {
    **dict.fromkeys(("abs", "absolute"), _absolute),
    **dict.fromkeys(("add", "iadd"), _add),
    "addmm": _addmm,
    "batch_norm": _batch_norm,
    **dict.fromkeys(("bfloat16", "double", "float", "half", "to"), _cast),
    **dict.fromkeys(("clamp", "clip"), _clamp),
    "clamp_max": _clamp_max,
    "clamp_min": _clamp_min,
    **dict.fromkeys(("clone", "contiguous", "detach", "pos", "positive"), _unchanged),
    **dict.fromkeys(("div", "divide", "itruediv", "true_divide", "truediv"), _divide),
    **dict.fromkeys(("dropout", "dropout1d", "dropout2d", "dropout3d"), _dropout),
    "hardtanh": _hardtanh,
    "leaky_relu": _leaky_relu,
    "linear": _linear,
    **dict.fromkeys(("matmul", "mm"), _matmul),
    **dict.fromkeys(("max", "maximum"), _maximum),
    "mean": _mean,
    **dict.fromkeys(("min", "minimum"), _minimum),
    **dict.fromkeys(("imul", "mul", "multiply"), _multiply),
    **dict.fromkeys(("neg", "negative"), _negative),
    "prelu": _prelu,
    "relu": _relu,
    "relu6": _relu6,
    "rsub": _reverse_subtract,
    **dict.fromkeys(("isub", "sub", "subtract"), _subtract),
    "sum": _total,
}
"""Handlers by the name of the function, method or operator."""
