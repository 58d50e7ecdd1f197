"""Symbolic tensors: what a framework's operations do to the shape of a batch of values.

A `Tensor` is an affine value with a shape. Operations that only move entries (slices,
reshapes, transposes, stacks) are performed by NumPy on an array of entry numbers for a
batch of two points, which shows at once where each entry goes, which axis the batch is
on afterwards, and whether the operation mixes the points of a batch.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.errors import UnsupportedError
from nnbo_mip.network.graph.affine import Affine
from nnbo_mip.network.graph.builder import GraphBuilder
from nnbo_mip.network.graph.matrices import check_size, sum_of_runs

Layout: TypeAlias = npt.NDArray[np.intp]

BATCH = 2
"""Points in the batch on which moves are tried out."""

MANY_ROWS = 64
"""Rows from which a matrix acts on all at once."""

MAX_ELEMENTS = 1 << 20
"""Largest number of entries a tensor may have; files that ask for more are hostile."""


@dataclass(frozen=True, eq=False)
class Tensor:
    """A value with a shape.

    Parameters
    ----------
    rows : Affine
        The entries for one point, in C order of `shape`.
    shape : tuple of int
        As the framework sees it, with `BATCH` on the batch axis.
    batch_axis : int or None
        Axis of the points; None for a graph that is made for exactly one point.
    """

    rows: Affine
    shape: tuple[int, ...]
    batch_axis: int | None

    def layout(self, first: int, total: int) -> Layout:
        """Return the entries' numbers from `first`; those of the second point add `total`."""
        if self.batch_axis is None:
            return first + np.arange(self.rows.width).reshape(self.shape)
        inner = tuple(n for axis, n in enumerate(self.shape) if axis != self.batch_axis)
        one = first + np.arange(self.rows.width).reshape(inner)
        return np.stack([one + point * total for point in range(BATCH)], axis=self.batch_axis)


class TensorBuilder:
    """Tensor operations on top of a `GraphBuilder`.

    Parameters
    ----------
    feature_shape : tuple of int
        Shape of the input without the batch axis.
    batched : bool
        Whether the input has a batch axis, in front.
    """

    def __init__(self, feature_shape: tuple[int, ...], batched: bool) -> None:
        size = math.prod(feature_shape)
        check_elements(size)
        self.graph = GraphBuilder(size)
        shape = (BATCH, *feature_shape) if batched else feature_shape
        self.input = Tensor(self.graph.input, shape, 0 if batched else None)

    # -- moving entries ---------------------------------------------------------------

    def move(self, operation: Callable[..., Layout], *tensors: Tensor) -> Tensor:
        """Return the tensor whose entries are where `operation` puts those of `tensors`.

        Parameters
        ----------
        operation : function of one integer array a tensor
            Any rearrangement in NumPy: slicing, reshaping, concatenating, ….
        """
        total = sum(tensor.rows.width for tensor in tensors)
        check_elements(total)
        starts = np.cumsum([0, *(tensor.rows.width for tensor in tensors)])
        layouts = [t.layout(int(s), total) for t, s in zip(tensors, starts, strict=False)]
        moved = np.asarray(operation(*layouts))
        check_elements(moved.size // (1 if tensors[0].batch_axis is None else BATCH))
        batch_axis = None
        if tensors[0].batch_axis is not None:
            batch_axis = _batch_axis(moved, total)
        one_point = moved if batch_axis is None else moved.take(0, axis=batch_axis)
        rows = tensors[0].rows
        if len(tensors) > 1:
            rows = self.graph.concatenate([tensor.rows for tensor in tensors])
        return Tensor(self.graph.select(rows, one_point.ravel()), moved.shape, batch_axis)

    def reshape(self, tensor: Tensor, shape: Sequence[int]) -> Tensor:
        """Return the tensor in another shape; one extent may be -1."""
        return self.move(lambda entries: entries.reshape(tuple(shape)), tensor)

    def flatten(self, tensor: Tensor, start: int, end: int = -1) -> Tensor:
        """Return the tensor with the axes `start` to `end` merged into one."""
        shape = tensor.shape
        first, last = start % max(1, len(shape)), end % max(1, len(shape))
        merged = math.prod(shape[first : last + 1])
        return self.reshape(tensor, (*shape[:first], merged, *shape[last + 1 :]))

    def index(self, tensor: Tensor, key: Any) -> Tensor:
        """Return ``tensor[key]``."""
        return self.move(lambda entries: entries[key], tensor)

    def squeeze(self, tensor: Tensor, axes: Sequence[int] | None) -> Tensor:
        """Drop axes of extent 1: all of them, or those of `axes` that have it."""
        rank = len(tensor.shape)
        chosen = range(rank) if axes is None else [axis % max(1, rank) for axis in axes]
        drop = tuple(axis for axis in chosen if tensor.shape[axis] == 1)
        return self.move(lambda entries: np.squeeze(entries, drop), tensor)

    def unsqueeze(self, tensor: Tensor, axes: Sequence[int]) -> Tensor:
        """Insert axes of extent 1."""
        return self.move(lambda entries: np.expand_dims(entries, tuple(axes)), tensor)

    def transpose(self, tensor: Tensor, axes: Sequence[int] | None) -> Tensor:
        """Permute the axes; reverse them when None."""
        return self.move(lambda entries: np.transpose(entries, axes), tensor)

    def concatenate(self, tensors: Sequence[Tensor], axis: int) -> Tensor:
        """Join tensors along an axis."""
        _check_tensors(tensors)
        return self.move(lambda *entries: np.concatenate(entries, axis), *tensors)

    def stack(self, tensors: Sequence[Tensor], axis: int) -> Tensor:
        """Join tensors along a new axis."""
        _check_tensors(tensors)
        return self.move(lambda *entries: np.stack(entries, axis), *tensors)

    def broadcast(self, tensor: Tensor, shape: tuple[int, ...]) -> Tensor:
        """Return the tensor repeated to a shape."""
        if shape == tensor.shape:
            return tensor
        check_elements(math.prod(shape))
        return self.move(lambda entries: np.broadcast_to(entries, shape), tensor)

    # -- arithmetic -------------------------------------------------------------------

    def pair(self, first: Tensor, second: Tensor) -> tuple[Tensor, Tensor]:
        """Return two tensors broadcast to their common shape."""
        shape = np.broadcast_shapes(first.shape, second.shape)
        one, other = self.broadcast(first, shape), self.broadcast(second, shape)
        if one.batch_axis != other.batch_axis:
            raise UnsupportedError(
                f"the operands of shapes {first.shape} and {second.shape} broadcast the batch of "
                "one against the entries of the other; give both the same number of axes"
            )
        return one, other

    def with_constant(self, tensor: Tensor, constant: npt.ArrayLike) -> tuple[Tensor, FloatArray]:
        """Return a tensor and a constant, broadcast; the constant as one number an entry."""
        values = np.asarray(constant, dtype=np.float64)
        result = self.broadcast(tensor, np.broadcast_shapes(tensor.shape, values.shape))
        spread = np.broadcast_to(values, result.shape)
        if result.batch_axis is not None:
            # Two equal rows would fit the batch that moves are tried out on, and make two
            # rows of one point.
            before = len(result.shape) - values.ndim
            if result.batch_axis >= before and values.shape[result.batch_axis - before] != 1:
                raise UnsupportedError(
                    f"a constant of shape {values.shape} has a value for each point of a batch; "
                    "give it extent 1 there"
                )
            spread = np.moveaxis(spread, result.batch_axis, 0)[0]
        return result, spread.ravel()

    def map(self, tensor: Tensor, operation: Callable[[Affine], Affine]) -> Tensor:
        """Apply an entrywise operation of the graph builder."""
        return Tensor(operation(tensor.rows), tensor.shape, tensor.batch_axis)

    def map_with_constant(
        self,
        operation: Callable[[Affine, FloatArray], Affine],
        tensor: Tensor,
        constant: npt.ArrayLike,
    ) -> Tensor:
        """Apply an entrywise operation with a broadcast constant."""
        wide, values = self.with_constant(tensor, constant)
        return self.map(wide, lambda rows: operation(rows, values))

    def map_pair(
        self, operation: Callable[[Affine, Affine], Affine], first: Tensor, second: Tensor
    ) -> Tensor:
        """Apply an entrywise operation of two tensors."""
        one, other = self.pair(first, second)
        return self.map(one, lambda rows: operation(rows, other.rows))

    def combine(
        self,
        operation: Callable[[Affine, Affine], Affine],
        first: Tensor | npt.ArrayLike,
        second: Tensor | npt.ArrayLike,
    ) -> Tensor:
        """Apply an entrywise operation of two operands, of which one may be a constant."""
        if isinstance(first, Tensor) and isinstance(second, Tensor):
            return self.map_pair(operation, first, second)
        if isinstance(first, Tensor):
            return self.map_with_constant(
                lambda rows, values: operation(rows, self.graph.constant(values)),
                first,
                _constant(second),
            )
        if isinstance(second, Tensor):
            return self.map_with_constant(
                lambda rows, values: operation(self.graph.constant(values), rows),
                second,
                _constant(first),
            )
        raise UnsupportedError("none of the operands depends on the input")

    def linear(
        self, tensor: Tensor, weights: npt.ArrayLike, bias: npt.ArrayLike | None = None
    ) -> Tensor:
        """Return ``tensor @ weights.T + bias`` over the last axis.

        Parameters
        ----------
        tensor : Tensor
            Of shape (…, n).
        weights : (m, n) array
            One row an output.
        bias : (m,) array or float, optional
        """
        matrix = np.asarray(weights, dtype=np.float64)
        last = len(tensor.shape) - 1
        if matrix.ndim != 2 or last < 0 or tensor.batch_axis == last:
            raise UnsupportedError(
                f"a matrix of shape {matrix.shape} cannot act on the last axis of shape "
                f"{tensor.shape}"
            )
        if matrix.shape[1] != tensor.shape[last]:
            raise UnsupportedError(
                f"the weights read {matrix.shape[1]} entries; got {tensor.shape[last]}"
            )
        offset = None if bias is None else np.broadcast_to(bias, (matrix.shape[0],))
        one_point = np.arange(tensor.rows.width).reshape(-1, matrix.shape[1])
        check_elements(len(one_point) * matrix.shape[0])
        if len(one_point) > MANY_ROWS:
            return self._linear_rows(tensor, matrix, offset)
        parts = [
            self.graph.affine(self.graph.select(tensor.rows, rows), matrix, offset)
            for rows in one_point
        ]
        rows = parts[0] if len(parts) == 1 else self.graph.concatenate(parts)
        return Tensor(rows, (*tensor.shape[:last], matrix.shape[0]), tensor.batch_axis)

    def _linear_rows(self, tensor: Tensor, matrix: FloatArray, offset: FloatArray | None) -> Tensor:
        """Do the same for many rows at once, by one sparse block-diagonal matrix."""
        from scipy.sparse import csr_array, eye_array, kron

        count = tensor.rows.width // matrix.shape[1]
        check_size(1, count * matrix.size)
        blocks = csr_array(kron(eye_array(count), matrix, format="csr"))
        bias = None if offset is None else np.tile(offset, count)
        rows = self.graph.affine(tensor.rows, blocks, bias)
        return Tensor(rows, (*tensor.shape[:-1], matrix.shape[0]), tensor.batch_axis)

    def total(self, tensor: Tensor, axes: Sequence[int] | None, keep: bool) -> tuple[Tensor, int]:
        """Return the sum over axes, and the number of summands."""
        rank = len(tensor.shape)
        chosen = sorted(range(rank) if axes is None else {axis % max(1, rank) for axis in axes})
        if tensor.batch_axis is not None and tensor.batch_axis in chosen:
            raise UnsupportedError("a sum over the batch mixes its points; sum over other axes")
        count = math.prod(tensor.shape[axis] for axis in chosen)
        rest = tuple(1 if i in chosen else n for i, n in enumerate(tensor.shape))
        last = tuple(range(-len(chosen), 0))
        grouped = self.move(
            lambda entries: np.moveaxis(entries, chosen, last).reshape(*rest, count), tensor
        )
        summed = self.graph.affine(grouped.rows, sum_of_runs(grouped.rows.width, count))
        result = Tensor(summed, rest, grouped.batch_axis)
        return (result if keep else self.squeeze(result, chosen)), count


def _batch_axis(moved: Layout, total: int) -> int:
    """Return the axis along which entries of two points are `total` apart."""
    if moved.size == 0:
        raise UnsupportedError("its result has no entries; drop it")
    for axis, extent in enumerate(moved.shape):
        if extent == BATCH:
            points = np.moveaxis(moved, axis, 0)
            if bool((points[0] < total).all() and (points[1] == points[0] + total).all()):
                return axis
    raise UnsupportedError("it mixes the points of a batch; keep them on one axis")


def _check_tensors(tensors: Sequence[Any]) -> None:
    if not all(isinstance(tensor, Tensor) for tensor in tensors):
        raise UnsupportedError("a constant cannot be joined with values; add it afterwards")


def check_elements(size: int) -> None:
    """Refuse a tensor of very many entries a point, before it is allocated."""
    if size > MAX_ELEMENTS:
        raise UnsupportedError(
            f"a tensor may have {MAX_ELEMENTS} entries a point; this one asks for {size}"
        )


def _constant(value: Tensor | npt.ArrayLike) -> npt.ArrayLike:
    if isinstance(value, Tensor):
        raise TypeError("expected a constant")
    return value
