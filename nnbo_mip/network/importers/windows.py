"""Convolutions, pooling and padding of symbolic tensors.

All of them look at the image through windows: along one axis, window p holds the entries
start_p, start_p + dilation, …. A convolution and a mean over windows are sparse affine maps;
a maximum is a tournament of pairs, max(a, b) = b + relu(a - b), one axis after the other, as
the maximum over a rectangle is that of its columns' maxima. Windows of neighbours then share
their columns.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.errors import UnsupportedError
from nnbo_mip.network.graph.affine import Affine, Matrix
from nnbo_mip.network.graph.matrices import check_size
from nnbo_mip.network.importers.tensors import (
    BATCH,
    Layout,
    Tensor,
    TensorBuilder,
    check_elements,
)

PADDING = -1
"""In place of an entry's number: a zero that surrounds the image."""
BEYOND = -2
"""The same where a last window, kept by rounding up, leaves the padded image."""


@dataclass(frozen=True)
class Axis:
    """How windows lie along one axis.

    Parameters
    ----------
    kernel, stride, dilation : int
        Entries of a window, distance of windows, distance of a window's entries.
    before, after : int
        Entries of padding.
    ceil : bool
        Whether a last window may leave the padded image, as long as it starts within the
        image or the padding before it.
    """

    kernel: int
    stride: int = 1
    before: int = 0
    after: int = 0
    dilation: int = 1
    ceil: bool = False

    def windows(self, extent: int) -> Layout:
        """Return the entries' numbers (windows, kernel) in an axis of `extent` entries."""
        if min(self.kernel, self.stride, self.dilation) < 1 or min(self.before, self.after) < 0:
            raise UnsupportedError(
                "kernel, stride and dilation must be at least 1, and padding at least 0; "
                f"got {self}"
            )
        padded = extent + self.before + self.after
        room = padded - self.dilation * (self.kernel - 1) - 1
        count = (-(-room // self.stride) if self.ceil else room // self.stride) + 1
        if self.ceil and (count - 1) * self.stride >= extent + self.before:
            count -= 1
        if count < 1:
            raise UnsupportedError(f"a window of {self} does not fit into {extent} entries")
        check_elements(count * self.kernel)
        starts = np.arange(count) * self.stride - self.before
        entries = starts[:, None] + self.dilation * np.arange(self.kernel)
        beyond = np.where(entries >= extent + self.after, BEYOND, PADDING)
        return np.where((entries >= 0) & (entries < extent), entries, beyond)


def adaptive(extent: int, count: int) -> Layout:
    """Return `count` windows that cover an axis of `extent` entries, as PyTorch divides it."""
    if count < 1:
        raise UnsupportedError(f"an adaptive pooling needs an output of 1 at least; got {count}")
    check_elements(max(extent, count))
    starts = np.arange(count) * extent // count
    ends = -(-(np.arange(1, count + 1) * extent) // count)
    entries = starts[:, None] + np.arange(int((ends - starts).max()))
    return np.where(entries < ends[:, None], entries, BEYOND)


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
    matrix = _convolution_matrix(weights, windows, extents, groups)
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
    channels, *small = image_extents(image, weights.ndim - 2)
    _check_channels(weights, channels, groups, 0)
    check_elements(math.prod(extents) * weights.shape[1] * groups)
    windows = [axis.windows(extent) for axis, extent in zip(axes, extents, strict=True)]
    # An output that is longer than the windows need has entries that no window reads.
    windows = [window[:count] for window, count in zip(windows, small, strict=True)]
    if [len(window) for window in windows] != small:
        raise UnsupportedError(f"no convolution makes {small} entries of {list(extents)}")
    matrix = _convolution_matrix(weights, windows, extents, groups).T.tocsr()
    return _applied(ops, image, matrix, bias, (weights.shape[1] * groups, *extents))


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
    entries = _joined(windows, extents)
    counted = entries >= (PADDING if count_padding else 0)
    counts = counted.sum(axis=1) if divisor is None else np.full(len(entries), divisor)
    if (counts <= 0).any():
        raise UnsupportedError("a window of its pooling holds no entry")
    kernel = 1.0 / counts[:, None] * np.ones(entries.shape[1])
    matrix = _matrix(np.broadcast_to(kernel, (channels, *kernel.shape)), entries, extents)
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
    rounds = [ops.move(lambda e, p=p: e.take(p, axis=axis), image) for p in players]
    while len(rounds) > 1:
        half = len(rounds) // 2
        first = ops.concatenate(rounds[:half], axis)
        second = ops.concatenate(rounds[half : 2 * half], axis)
        winners = ops.map_pair(ops.graph.maximum, first, second)
        size = winners.shape[axis] // half
        parts = [
            ops.move(lambda e, k=k: e.take(range(k * size, (k + 1) * size), axis=axis), winners)
            for k in range(half)
        ]
        rounds = parts + rounds[2 * half :]
    return rounds[0]


def _check_channels(weights: FloatArray, channels: int, groups: int, axis: int) -> None:
    """Refuse weights that do not read the channels there are."""
    held = weights.shape[1] * groups if axis == 1 else weights.shape[0]
    if groups < 1 or held != channels or weights.shape[0] % groups:
        raise UnsupportedError(
            f"weights of shape {weights.shape} in {groups} groups do not read {channels} channels"
        )


def _joined(windows: Sequence[Layout], extents: Sequence[int]) -> Layout:
    """Return the numbers (windows, kernel) in the whole image, from those along each axis."""
    counts = [len(window) for window in windows]
    check_elements(math.prod(counts))
    check_size(math.prod(counts), math.prod(window.shape[1] for window in windows))
    result = np.zeros((1, 1), dtype=np.intp)
    for window, extent in zip(windows, extents, strict=True):
        along, inner = result[:, None, :, None], window[None, :, None, :]
        lowest = np.minimum(along, inner)
        moved = np.where(lowest < 0, lowest, along * extent + inner)
        result = moved.reshape(len(result) * len(window), -1)
    return result


def _convolution_matrix(
    weights: FloatArray, windows: Sequence[Layout], extents: Sequence[int], groups: int
) -> Matrix:
    """Return the sparse matrix of a convolution: (m · windows, c · entries)."""
    entries = _joined(windows, extents)
    outputs, inputs = weights.shape[:2]
    check_elements(outputs * len(entries))
    check_size(1, entries.size * outputs * inputs, weights.size)
    size = math.prod(extents)
    channel = np.arange(inputs) + inputs * (np.arange(outputs) // (outputs // groups))[:, None]
    row, place = np.nonzero(entries >= 0)
    columns = channel[:, None, :] * size + entries[row, place][:, None]
    values = weights.reshape(outputs, inputs, -1)[:, :, place].transpose(0, 2, 1)
    lengths = np.tile(inputs * (entries >= 0).sum(axis=1), outputs)
    return _csr(values, columns, lengths, groups * inputs * size)


def _matrix(kernels: FloatArray, entries: Layout, extents: Sequence[int]) -> Matrix:
    """Return the sparse matrix that weighs each channel's windows by kernels (c, windows, k)."""
    channels, size = len(kernels), math.prod(extents)
    check_size(1, kernels.size, entries.size)
    inside = entries >= 0
    columns = np.arange(channels)[:, None] * size + entries[inside]
    lengths = np.tile(inside.sum(axis=1), channels)
    return _csr(kernels[:, inside], columns, lengths, channels * size)


def _csr(values: FloatArray, columns: Layout, lengths: Layout, width: int) -> Matrix:
    from scipy.sparse import csr_array

    starts = np.concatenate([[0], np.cumsum(lengths)])
    return csr_array((values.ravel(), columns.ravel(), starts), shape=(len(lengths), width))


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
