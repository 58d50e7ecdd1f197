"""The types of arrays, and work on many points in blocks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

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
