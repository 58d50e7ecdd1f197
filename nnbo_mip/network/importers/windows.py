"""Windows over an image, and the sparse matrices of what is linear in them.

Along one axis, window p holds the entries start_p, start_p + dilation, …; the windows of an image
are the products of those along its axes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.errors import UnsupportedError
from nnbo_mip.network.graph.affine import Matrix
from nnbo_mip.network.graph.matrices import check_size
from nnbo_mip.network.importers.tensors import Layout, check_elements

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


def joined(windows: Sequence[Layout], extents: Sequence[int]) -> Layout:
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


def convolution_matrix(
    weights: FloatArray, windows: Sequence[Layout], extents: Sequence[int], groups: int
) -> Matrix:
    """Return the sparse matrix of a convolution: (m · windows, c · entries)."""
    entries = joined(windows, extents)
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


def channelwise_matrix(kernels: FloatArray, entries: Layout, extents: Sequence[int]) -> Matrix:
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
