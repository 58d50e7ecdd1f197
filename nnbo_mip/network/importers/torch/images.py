"""PyTorch's convolutions, pooling and padding of symbolic tensors.

The parameters of a handler are named as PyTorch names them, so that keywords bind. This
module imports torch and is imported only by `nnbo_mip.network.importers.torch.importer`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch
from torch import nn

from nnbo_mip.core.errors import UnsupportedError
from nnbo_mip.network.importers.images import (
    average_pool,
    convolution,
    image_extents,
    max_pool,
    pad,
    transposed_convolution,
)
from nnbo_mip.network.importers.tensors import Tensor, TensorBuilder
from nnbo_mip.network.importers.torch.arithmetic import Handler, array
from nnbo_mip.network.importers.windows import Axis, adaptive

MODES = {"constant": "constant", "reflect": "reflect", "replicate": "edge", "circular": "wrap"}
"""PyTorch's ways of padding, as NumPy names them."""


def _numbers(value: Any, rank: int) -> tuple[int, ...]:
    """Return one number an axis."""
    given = tuple(value) if isinstance(value, Sequence) else (value,)
    return tuple(int(number) for number in (given * rank if len(given) == 1 else given))


def _convolution(
    rank: int,
    ops: TensorBuilder,
    input: Tensor,
    weight: torch.Tensor,
    bias: torch.Tensor | None = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Tensor:
    weights = array(weight)
    steps, spread = _numbers(stride, rank), _numbers(dilation, rank)
    spans = [d * (kernel - 1) for d, kernel in zip(spread, weights.shape[2:], strict=True)]
    if isinstance(padding, str):
        # What does not halve goes to the end.
        around = [(span // 2, span - span // 2) if padding == "same" else (0, 0) for span in spans]
    else:
        around = [(number, number) for number in _numbers(padding, rank)]
    axes = [
        Axis(kernel, step, before, after, far)
        for kernel, step, (before, after), far in zip(
            weights.shape[2:], steps, around, spread, strict=True
        )
    ]
    return convolution(ops, input, weights, None if bias is None else array(bias), axes, groups)


def _transposed(
    rank: int,
    ops: TensorBuilder,
    input: Tensor,
    weight: torch.Tensor,
    bias: torch.Tensor | None = None,
    stride: Any = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    groups: int = 1,
    dilation: Any = 1,
) -> Tensor:
    weights = array(weight)
    _, *small = image_extents(input, rank)
    parts = zip(
        weights.shape[2:],
        *(_numbers(value, rank) for value in (stride, padding, dilation, output_padding)),
        small,
        strict=True,
    )
    axes, extents = [], []
    for kernel, step, margin, far, extra, extent in parts:
        axes.append(Axis(kernel, step, margin, margin, far))
        extents.append((extent - 1) * step - 2 * margin + far * (kernel - 1) + extra + 1)
    offsets = None if bias is None else array(bias)
    return transposed_convolution(ops, input, weights, offsets, axes, extents, groups)


def _pooled_axes(
    rank: int, kernel_size: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool
) -> list[Axis]:
    kernels = _numbers(kernel_size, rank)
    # An empty stride is PyTorch's "as far as the kernel is wide".
    steps = kernels if stride is None or stride == [] else _numbers(stride, rank)
    parts = zip(kernels, steps, _numbers(padding, rank), _numbers(dilation, rank), strict=True)
    return [Axis(k, step, margin, margin, far, ceil_mode) for k, step, margin, far in parts]


def _max_pool(
    rank: int,
    ops: TensorBuilder,
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Tensor:
    _check_values_only(return_indices)
    axes = _pooled_axes(rank, kernel_size, stride, padding, dilation, ceil_mode)
    _, *extents = image_extents(input, rank)
    return max_pool(ops, input, [a.windows(n) for a, n in zip(axes, extents, strict=True)])


def _average_pool(
    rank: int,
    ops: TensorBuilder,
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:
    axes = _pooled_axes(rank, kernel_size, stride, padding, 1, ceil_mode)
    _, *extents = image_extents(input, rank)
    windows = [axis.windows(extent) for axis, extent in zip(axes, extents, strict=True)]
    return average_pool(ops, input, windows, count_include_pad, divisor_override)


def _adaptive_average(rank: int, ops: TensorBuilder, input: Tensor, output_size: Any) -> Tensor:
    return average_pool(ops, input, _adaptive_windows(rank, input, output_size), False)


def _adaptive_max(
    rank: int, ops: TensorBuilder, input: Tensor, output_size: Any, return_indices: bool = False
) -> Tensor:
    _check_values_only(return_indices)
    return max_pool(ops, input, _adaptive_windows(rank, input, output_size))


def _adaptive_windows(rank: int, input: Tensor, output_size: Any) -> list[Any]:
    _, *extents = image_extents(input, rank)
    given = tuple(output_size) if isinstance(output_size, Sequence) else (output_size,)
    counts = given * rank if len(given) == 1 else given
    return [
        adaptive(extent, extent if count is None else int(count))
        for extent, count in zip(extents, counts, strict=True)
    ]


def _check_values_only(return_indices: bool) -> None:
    if return_indices:
        raise UnsupportedError("the indices of a maximum are not piecewise linear; leave them out")


def _pad(
    ops: TensorBuilder, input: Tensor, pad: Any, mode: str = "constant", value: Any = None
) -> Tensor:
    return _padded(ops, input, list(pad), mode, 0.0 if value is None else float(value))


def _padded(ops: TensorBuilder, input: Tensor, ends: list[int], mode: str, value: float) -> Tensor:
    """Pad as PyTorch says it: pairs of (before, after), the last axis first."""
    pairs = [(ends[i], ends[i + 1]) for i in range(0, len(ends), 2)][::-1]
    none = [(0, 0)] * (len(input.shape) - len(pairs))
    return pad(ops, input, none + pairs, MODES[mode], value)


def _unflatten(ops: TensorBuilder, input: Tensor, dim: int, sizes: Any) -> Tensor:
    axis = dim % len(input.shape)
    return ops.reshape(input, (*input.shape[:axis], *sizes, *input.shape[axis + 1 :]))


IMAGES: dict[str, Handler] = {
    **{f"conv{r}d": partial(_convolution, r) for r in (1, 2, 3)},
    **{f"conv_transpose{r}d": partial(_transposed, r) for r in (1, 2, 3)},
    **{f"max_pool{r}d": partial(_max_pool, r) for r in (1, 2, 3)},
    **{f"avg_pool{r}d": partial(_average_pool, r) for r in (1, 2, 3)},
    **{f"adaptive_avg_pool{r}d": partial(_adaptive_average, r) for r in (1, 2, 3)},
    **{f"adaptive_max_pool{r}d": partial(_adaptive_max, r) for r in (1, 2, 3)},
    "pad": _pad,
    "unflatten": _unflatten,
}
"""Handlers by the name of the function or method."""


def _convolution_module(rank: int, ops: TensorBuilder, module: Any, input: Tensor) -> Tensor:
    padding = module.padding
    if module.padding_mode != "zeros":
        ends = list(module._reversed_padding_repeated_twice)
        input, padding = _padded(ops, input, ends, module.padding_mode, 0.0), 0
    return _convolution(
        rank,
        ops,
        input,
        module.weight,
        module.bias,
        module.stride,
        padding,
        module.dilation,
        module.groups,
    )


def _transposed_module(rank: int, ops: TensorBuilder, module: Any, input: Tensor) -> Tensor:
    return _transposed(
        rank,
        ops,
        input,
        module.weight,
        module.bias,
        module.stride,
        module.padding,
        module.output_padding,
        module.groups,
        module.dilation,
    )


def _max_module(rank: int, ops: TensorBuilder, module: Any, input: Tensor) -> Tensor:
    return _max_pool(
        rank,
        ops,
        input,
        module.kernel_size,
        module.stride,
        module.padding,
        module.dilation,
        module.ceil_mode,
        module.return_indices,
    )


def _average_module(rank: int, ops: TensorBuilder, module: Any, input: Tensor) -> Tensor:
    return _average_pool(
        rank,
        ops,
        input,
        module.kernel_size,
        module.stride,
        module.padding,
        module.ceil_mode,
        module.count_include_pad,
        getattr(module, "divisor_override", None),
    )


def _adaptive_average_module(rank: int, ops: TensorBuilder, module: Any, input: Tensor) -> Tensor:
    return _adaptive_average(rank, ops, input, module.output_size)


def _adaptive_max_module(rank: int, ops: TensorBuilder, module: Any, input: Tensor) -> Tensor:
    return _adaptive_max(rank, ops, input, module.output_size, module.return_indices)


def _padding_module(mode: str, ops: TensorBuilder, module: Any, input: Tensor) -> Tensor:
    value = float(getattr(module, "value", 0.0))
    return _padded(ops, input, list(module.padding), mode, value)


def _unflatten_module(ops: TensorBuilder, module: Any, input: Tensor) -> Tensor:
    return _unflatten(ops, input, module.dim, module.unflattened_size)


_BY_RANK = {
    "Conv": _convolution_module,
    "ConvTranspose": _transposed_module,
    "MaxPool": _max_module,
    "AvgPool": _average_module,
    "AdaptiveAvgPool": _adaptive_average_module,
    "AdaptiveMaxPool": _adaptive_max_module,
}
_PADDINGS = {
    "ZeroPad": "constant",
    "ConstantPad": "constant",
    "ReflectionPad": "reflect",
    "ReplicationPad": "replicate",
    "CircularPad": "circular",
}

IMAGE_MODULES: dict[type[nn.Module], Callable[[TensorBuilder, Any, Tensor], Tensor]] = {
    **{
        getattr(nn, f"{name}{rank}d"): partial(handler, rank)
        for name, handler in _BY_RANK.items()
        for rank in (1, 2, 3)
    },
    **{
        getattr(nn, f"{name}{rank}d"): partial(_padding_module, mode)
        for name, mode in _PADDINGS.items()
        for rank in (1, 2, 3)
    },
    nn.Unflatten: _unflatten_module,
}
"""Handlers by the exact class: a subclass may compute something else."""
