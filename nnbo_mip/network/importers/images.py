"""Convolutions, pooling and padding of symbolic tensors.

A convolution and a mean over windows are sparse affine maps. A maximum is a tournament of pairs,
max(a, b) = b + relu(a - b), one axis after the other: the maximum over a rectangle is that of its
columns' maxima, which neighbours share.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.errors import UnsupportedError
from nnbo_mip.network.graph.affine import Affine, Matrix
from nnbo_mip.network.importers.tensors import (
    BATCH,
    Layout,
    Tensor,
    TensorBuilder,
    check_elements,
)
from nnbo_mip.network.importers.windows import (
    PADDING,
    Axis,
    channelwise_matrix,
    convolution_matrix,
    joined,
)


def image_extents(tensor: Tensor, rank: int) -> tuple[int, ...]:
    """Return (channels, extents…) of a batch of images of `rank` axes."""
    if len(tensor.shape) != rank + 2 or tensor.batch_axis not in (0, None):
        raise UnsupportedError(
            f"it must get images of shape (batch, channels, {rank} axes); got {tensor.shape}"
        )
    if tensor.batch_axis is None and tensor.shape[0] != 1:
        raise UnsupportedError(f"it must get a batch of one point; got {tensor.shape[0]}")
    return tensor.shape[1:]


def convolution(
    ops: TensorBuilder,
    image: Tensor,
    weights: FloatArray,
    bias: FloatArray | None,
    axes: Sequence[Axis],
    groups: int = 1,
) -> Tensor:
    """Return the convolution (really a correlation) of an image.

    Parameters
    ----------
    image : Tensor
        (batch, c, extents…).
    weights : (m, c / groups, kernel…) array
    bias : (m,) array, optional
    axes : sequence of Axis
    groups : int
        Output channels m / groups · g, … read only the input channels of their group g.
    """
    channels, *extents = image_extents(image, weights.ndim - 2)
    _check_channels(weights, channels, groups, 1)
    windows = [axis.windows(extent) for axis, extent in zip(axes, extents, strict=True)]
    matrix = convolution_matrix(weights, windows, extents, groups)
    shape = (weights.shape[0], *(len(window) for window in windows))
    return _applied(ops, image, matrix, bias, shape)


def transposed_convolution(
    ops: TensorBuilder,
    image: Tensor,
    weights: FloatArray,
    bias: FloatArray | None,
    axes: Sequence[Axis],
    extents: Sequence[int],
    groups: int = 1,
) -> Tensor:
    """Return the image that the transposed matrix of a convolution makes.

    Parameters
    ----------
    image : Tensor
        (batch, c, extents…).
    weights : (c, m / groups, kernel…) array
        Those of the convolution from the result (batch, m, …) to `image`.
    bias : (m,) array, optional
    axes : sequence of Axis
        Of that convolution.
    extents : sequence of int
        Of the result.
    groups : int
    """
    from scipy.sparse import csr_array

    channels, *small = image_extents(image, weights.ndim - 2)
    _check_channels(weights, channels, groups, 0)
    check_elements(math.prod(extents) * weights.shape[1] * groups)
    windows = [axis.windows(extent) for axis, extent in zip(axes, extents, strict=True)]
    # An output that is longer than the windows need has entries that no window reads.
    windows = [window[:count] for window, count in zip(windows, small, strict=True)]
    if [len(window) for window in windows] != small:
        raise UnsupportedError(f"no convolution makes {small} entries of {list(extents)}")
    matrix = convolution_matrix(weights, windows, extents, groups)
    shape = (weights.shape[1] * groups, *extents)
    return _applied(ops, image, csr_array(matrix.T), bias, shape)


def average_pool(
    ops: TensorBuilder,
    image: Tensor,
    windows: Sequence[Layout],
    count_padding: bool,
    divisor: int | None = None,
) -> Tensor:
    """Return the mean over each window of each channel.

    Parameters
    ----------
    image : Tensor
        (batch, c, extents…).
    windows : sequence of (windows, kernel) arrays
        One an axis.
    count_padding : bool
        Whether the zeros of the padding count as entries.
    divisor : int, optional
        In place of the number of entries.
    """
    channels, *extents = image_extents(image, len(windows))
    entries = joined(windows, extents)
    counted = entries >= (PADDING if count_padding else 0)
    counts = counted.sum(axis=1) if divisor is None else np.full(len(entries), divisor)
    if (counts <= 0).any():
        raise UnsupportedError("a window of its pooling holds no entry")
    kernel = 1.0 / counts[:, None] * np.ones(entries.shape[1])
    matrix = channelwise_matrix(
        np.broadcast_to(kernel, (channels, *kernel.shape)), entries, extents
    )
    return _applied(ops, image, matrix, None, (channels, *(len(window) for window in windows)))


def max_pool(ops: TensorBuilder, image: Tensor, windows: Sequence[Layout]) -> Tensor:
    """Return the largest entry of each window of each channel, padding apart.

    Parameters
    ----------
    image : Tensor
        (batch, c, extents…).
    windows : sequence of (windows, kernel) arrays
        One an axis.
    """
    image_extents(image, len(windows))
    result = image
    for number, window in enumerate(windows, start=2):
        if not (window >= 0).any(axis=1).all():
            raise UnsupportedError("a window of its pooling lies in the padding")
        # An entry twice changes no maximum: the first one stands for padding.
        first = np.take_along_axis(window, np.argmax(window >= 0, axis=1)[:, None], axis=1)
        players = np.where(window >= 0, window, first)
        result = _tournament(ops, result, [players[:, k] for k in range(players.shape[1])], number)
    return result


def pad(
    ops: TensorBuilder, tensor: Tensor, pads: Sequence[tuple[int, int]], mode: str, value: float
) -> Tensor:
    """Return a tensor with more entries around, or fewer where a pad is negative.

    Parameters
    ----------
    tensor : Tensor
    pads : sequence of (before, after)
        One an axis.
    mode : str
        As NumPy names it: ``constant``, ``reflect``, ``edge`` or ``wrap``.
    value : float
        Of a constant padding.
    """
    kept = tuple(
        slice(max(0, -a), extent - max(0, -b))
        for (a, b), extent in zip(pads, tensor.shape, strict=True)
    )
    more = [(max(0, a), max(0, b)) for a, b in pads]
    inner = ops.index(tensor, kept)
    check_elements(
        math.prod(extent + sum(ends) for extent, ends in zip(inner.shape, more, strict=True))
    )
    if mode != "constant":
        return ops.move(lambda entries: np.pad(entries, more, mode=mode), inner)  # type: ignore[call-overload]
    axis = inner.batch_axis
    ones = tuple(BATCH if i == axis else 1 for i in range(len(inner.shape)))
    filler = Tensor(ops.graph.constant([value]), ones, axis)

    def filled(entries: Layout, numbers: Layout) -> Layout:
        around = np.pad(entries, more, constant_values=PADDING)
        return np.where(around < 0, numbers, around)

    return ops.move(filled, inner, filler)


def _tournament(ops: TensorBuilder, image: Tensor, players: list[Layout], axis: int) -> Tensor:
    """Return the largest of the entries `players` (windows,) of an axis, pair by pair."""

    def taken(tensor: Tensor, numbers: Layout) -> Tensor:
        return ops.move(lambda entries: entries.take(numbers, axis=axis), tensor)

    left = [taken(image, numbers) for numbers in players]
    while len(left) > 1:
        half = len(left) // 2
        first = ops.concatenate(left[:half], axis)
        second = ops.concatenate(left[half : 2 * half], axis)
        winners = ops.map_pair(ops.graph.maximum, first, second)
        runs = np.arange(winners.shape[axis]).reshape(half, -1)
        left = [taken(winners, run) for run in runs] + left[2 * half :]
    return left[0]


def _check_channels(weights: FloatArray, channels: int, groups: int, axis: int) -> None:
    """Refuse weights that do not read the channels there are."""
    held = weights.shape[1] * groups if axis == 1 else weights.shape[0]
    if groups < 1 or held != channels or weights.shape[0] % groups:
        raise UnsupportedError(
            f"weights of shape {weights.shape} in {groups} groups do not read {channels} channels"
        )


def _applied(
    ops: TensorBuilder,
    image: Tensor,
    matrix: Matrix,
    bias: FloatArray | None,
    shape: tuple[int, ...],
) -> Tensor:
    """Return matrix · image + bias as a batch of images of a shape (channels, extents…)."""
    offsets = None if bias is None else np.repeat(bias, math.prod(shape[1:]))
    rows: Affine = ops.graph.affine(image.rows, matrix, offsets)
    return Tensor(rows, (image.shape[0], *shape), image.batch_axis)
