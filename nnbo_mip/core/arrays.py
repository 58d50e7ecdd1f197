"""Array types, and conversions of what a user hands over to arrays."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from nnbo_mip.core.errors import InputError

FloatArray: TypeAlias = npt.NDArray[np.float64]
Array: TypeAlias = npt.NDArray[Any]
IntArray: TypeAlias = npt.NDArray[np.int64]
BoolArray: TypeAlias = npt.NDArray[np.bool_]


BLOCK = 1 << 23
"""Largest number of float64 values that the work on a block of points holds at once."""


def blocks(count: int, numbers: int) -> Iterator[slice]:
    """Yield slices that go through `count` points; without points, an empty one.

    Parameters
    ----------
    count : int
        How many points there are.
    numbers : int
        How many values the work on one point holds at once.
    """
    step = max(1, BLOCK // max(1, numbers))
    for start in range(0, max(1, count), step):
        yield slice(start, start + step)


def frozen(values: FloatArray) -> FloatArray:
    """Return a read-only, contiguous copy in which -0.0 has become 0.0."""
    copy = np.ascontiguousarray(values, dtype=np.float64) + 0.0
    copy.flags.writeable = False
    return copy


def as_floats(values: Any, name: str) -> FloatArray:
    """Convert to float64, refusing text, complex numbers and ragged nesting."""
    try:
        array = np.asarray(values)
        if array.dtype.kind not in "biuf" and array.size and array.dtype != object:
            raise TypeError
        return array.astype(np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(
            f"{name} must be an array of real numbers; got {values!r}; pass numbers only, "
            "every row of the same length."
        ) from error


def as_finite_vector(values: Any, name: str) -> FloatArray:
    """Convert to a finite (d,) float64 array."""
    array = as_floats(values, name)
    if array.ndim != 1:
        raise InputError(
            f"{name} must be one-dimensional, one number a dimension; got shape {array.shape}; "
            "pass a flat sequence."
        )
    broken = np.flatnonzero(~np.isfinite(array))
    if broken.size:
        index = int(broken[0])
        raise InputError(
            f"{name} must be finite in every dimension; got {name}[{index}]={array[index]}; "
            "give a finite number."
        )
    return array


def as_points(points: Any, dimension: int) -> FloatArray:
    """Convert (n, d) points, or one (d,) point, to an (n, d) float64 array."""
    array = as_floats(points, "x")
    if array.ndim == 1 and array.size in (0, dimension):
        array = array.reshape(-1, dimension)
    if array.ndim != 2 or array.shape[1] != dimension:
        raise InputError(
            f"points must have shape (n, {dimension}) or ({dimension},); got {array.shape}; "
            "pass one coordinate a dimension."
        )
    return array
