"""ONNX's convolutions, pooling and padding of symbolic tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from nnbo_mip.core.errors import UnsupportedError
from nnbo_mip.network.importers.images import (
    average_pool,
    convolution,
    image_extents,
    max_pool,
    pad,
    transposed_convolution,
)
from nnbo_mip.network.importers.onnx.values import (
    Attributes,
    Value,
    integers,
    numbers,
    symbolic,
)
from nnbo_mip.network.importers.tensors import Tensor, TensorBuilder
from nnbo_mip.network.importers.windows import Axis, adaptive

PADS_AS_INPUT = 11
"""Opset from which the numbers of a Pad are inputs."""


def _convolution(
    ops: TensorBuilder, node: Attributes, x: Value, weight: Value, bias: Value | None = None
) -> Tensor:
    weights = numbers(weight, "the kernel")
    image = symbolic(x)
    _, *extents = image_extents(image, weights.ndim - 2)
    _check_kernel(node, weights.shape[2:])
    axes = _axes(node, weights.shape[2:], extents, node.get("dilations"), False)
    offsets = None if bias is None else numbers(bias, "the bias")
    return convolution(ops, image, weights, offsets, axes, node.get("group", 1))


def _transposed(
    ops: TensorBuilder, node: Attributes, x: Value, weight: Value, bias: Value | None = None
) -> Tensor:
    weights = numbers(weight, "the kernel")
    image = symbolic(x)
    rank = weights.ndim - 2
    _, *small = image_extents(image, rank)
    _check_kernel(node, weights.shape[2:])
    if node.get("auto_pad", b"NOTSET") != b"NOTSET" or node.get("output_shape"):
        raise UnsupportedError("its padding must be given by pads; export the model again")
    strides = _per_axis(node.get("strides"), rank)
    dilations = _per_axis(node.get("dilations"), rank)
    extra = node.get("output_padding") or [0] * rank
    pads = node.get("pads") or [0] * (2 * rank)
    axes = [
        Axis(kernel, stride, before, after, dilation)
        for kernel, stride, before, after, dilation in zip(
            weights.shape[2:], strides, pads[:rank], pads[rank:], dilations, strict=True
        )
    ]
    extents = [
        (extent - 1) * axis.stride
        - axis.before
        - axis.after
        + axis.dilation * (axis.kernel - 1)
        + more
        + 1
        for extent, axis, more in zip(small, axes, extra, strict=True)
    ]
    offsets = None if bias is None else numbers(bias, "the bias")
    groups = node.get("group", 1)
    return transposed_convolution(ops, image, weights, offsets, axes, extents, groups)


def _max_pool(ops: TensorBuilder, node: Attributes, x: Value) -> Tensor:
    node.ignore("storage_order")
    if not node.has_one_output:
        raise UnsupportedError("the indices of a maximum are not piecewise linear; drop them")
    return max_pool(ops, symbolic(x), _pooling_windows(node, symbolic(x)))


def _average_pool(ops: TensorBuilder, node: Attributes, x: Value) -> Tensor:
    counted = bool(node.get("count_include_pad", 0))
    return average_pool(ops, symbolic(x), _pooling_windows(node, symbolic(x)), counted)


def _global_max(ops: TensorBuilder, node: Attributes, x: Value) -> Tensor:
    return max_pool(ops, symbolic(x), _whole(symbolic(x)))


def _global_average(ops: TensorBuilder, node: Attributes, x: Value) -> Tensor:
    return average_pool(ops, symbolic(x), _whole(symbolic(x)), False)


def _whole(image: Tensor) -> list[Any]:
    """Return one window an axis, over all of it."""
    _, *extents = image_extents(image, len(image.shape) - 2)
    return [adaptive(extent, 1) for extent in extents]


def _pooling_windows(node: Attributes, image: Tensor) -> list[Any]:
    kernel = node.get("kernel_shape")
    _, *extents = image_extents(image, len(kernel))
    ceil = bool(node.get("ceil_mode", 0))
    axes = _axes(node, kernel, extents, node.get("dilations"), ceil)
    return [axis.windows(extent) for axis, extent in zip(axes, extents, strict=True)]


def _axes(
    node: Attributes,
    kernel: Sequence[int],
    extents: Sequence[int],
    dilations: Sequence[int] | None,
    ceil: bool,
) -> list[Axis]:
    """Return how the windows of a node lie along each axis."""
    rank = len(kernel)
    strides, spread = _per_axis(node.get("strides"), rank), _per_axis(dilations, rank)
    pads = node.get("pads") or [0] * (2 * rank)
    rule = node.get("auto_pad", b"NOTSET")
    around = list(zip(pads[:rank], pads[rank:], strict=True))
    if rule in (b"SAME_UPPER", b"SAME_LOWER"):
        # As many windows as strides fit, and the padding that they need.
        around = []
        for extent, k, stride, dilation in zip(extents, kernel, strides, spread, strict=True):
            needed = max(0, (-(-extent // stride) - 1) * stride + dilation * (k - 1) + 1 - extent)
            less, more = needed // 2, needed - needed // 2
            around.append((less, more) if rule == b"SAME_UPPER" else (more, less))
    elif rule == b"VALID":
        around = [(0, 0)] * rank
    elif rule != b"NOTSET":
        raise UnsupportedError(f"auto_pad={rule!r} is not known")
    return [
        Axis(k, stride, before, after, dilation, ceil)
        for k, stride, (before, after), dilation in zip(
            kernel, strides, around, spread, strict=True
        )
    ]


def _per_axis(values: Sequence[int] | None, rank: int) -> Sequence[int]:
    return values or [1] * rank


def _check_kernel(node: Attributes, kernel: tuple[int, ...]) -> None:
    said = tuple(node.get("kernel_shape") or kernel)
    if said != kernel:
        raise UnsupportedError(f"its kernel_shape is {said}, its weights have {kernel}")


def _pad(
    ops: TensorBuilder,
    node: Attributes,
    x: Value,
    pads: Value | None = None,
    constant_value: Value | None = None,
    axes: Value | None = None,
) -> Tensor:
    mode = node.get("mode", b"constant").decode()
    if mode not in ("constant", "reflect", "edge", "wrap"):
        raise UnsupportedError(f"mode={mode!r} is not known")
    if node.opset < PADS_AS_INPUT:
        ends, value = list(node.get("pads")), float(node.get("value", 0.0))
    else:
        ends = integers(pads, "the pads")
        value = 0.0
        if constant_value is not None:
            value = float(numbers(constant_value, "the value").item())
    rank = len(symbolic(x).shape)
    padded = range(rank) if axes is None else [axis % rank for axis in integers(axes, "the axes")]
    half = len(ends) // 2
    around = dict(zip(padded, zip(ends[:half], ends[half:], strict=True), strict=True))
    return pad(ops, symbolic(x), [around.get(axis, (0, 0)) for axis in range(rank)], mode, value)


IMAGES: dict[str, Callable[..., Any]] = {
    "AveragePool": _average_pool,
    "Conv": _convolution,
    "ConvTranspose": _transposed,
    "GlobalAveragePool": _global_average,
    "GlobalMaxPool": _global_max,
    "MaxPool": _max_pool,
    "Pad": _pad,
}
"""Handlers by operator, in the default domain."""
