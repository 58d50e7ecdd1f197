"""`Grid`: the admissible values of one integer-like coordinate."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from nnbo_mip.core.arrays import FloatArray, IntArray
from nnbo_mip.core.checks import as_finite_vector, frozen
from nnbo_mip.core.errors import InputError

MAX_COUNT = 2**48
"""Largest number of values of a uniform grid: indices computed in float64 are then exact
to less than one, which one correction step mends."""

MIN_STEP_IN_ULPS = 16
"""A step must be this many float64 spacings, so that neighbours never coincide."""


@dataclass(frozen=True, eq=False, repr=False)
class Grid:
    """Strictly increasing values, numbered from 0.

    Made by `Grid.uniform` (``value(k) = first + k * step``, the last one pinned, nothing
    stored) or `Grid.listed`.

    Parameters
    ----------
    first, last : float
        Ends of the grid.
    count : int
        Number of values.
    uniform_step : float or None
        Distance of neighbours, None when the values are listed.
    listed_values : (count,) array or None
        The values, None when they are uniform.
    """

    first: float
    last: float
    count: int
    uniform_step: float | None
    listed_values: FloatArray | None = field(default=None)

    @classmethod
    def uniform(cls, first: float, step: float, count: int, last: float | None = None) -> Grid:
        """Return the grid ``first + k * step``, k = 0..count-1, in constant memory.

        Parameters
        ----------
        first, step : float
            Smallest value and distance of neighbours (> 0).
        count : int
            Number of values, 1 to 2**48.
        last : float, optional
            The exact largest value, when ``first + (count - 1) * step`` rounds to something
            else.
        """
        first, step, count = float(first), float(step), int(count)
        if not 1 <= count <= MAX_COUNT:
            raise InputError(
                f"a uniform grid must have 1 to 2**48 values; got {count}; use a larger step."
            )
        if not (np.isfinite(first) and np.isfinite(step) and step > 0.0):
            raise InputError(
                "a uniform grid needs a finite first value and a finite step > 0; "
                f"got first={first}, step={step}; correct them."
            )
        natural_end = first + (count - 1) * step
        last = natural_end if last is None else float(last)
        if not abs(last - natural_end) <= 0.25 * step or (count == 1 and last != first):
            raise InputError(
                f"the last value of a uniform grid must be first + (count - 1) * step = "
                f"{natural_end} up to rounding; got {last}; correct the step or the end."
            )
        finest = MIN_STEP_IN_ULPS * float(np.spacing(max(abs(first), abs(last))))
        if count > 1 and step < finest:
            raise InputError(
                f"a grid between {first} and {last} must have a step of at least {finest}, below "
                f"which float64 cannot tell its values apart; got {step}; use a larger step."
            )
        return cls(first + 0.0, last + 0.0, count, step)

    @classmethod
    def listed(cls, values: npt.ArrayLike) -> Grid:
        """Return the grid of these values, which must be finite and strictly increasing."""
        array = as_finite_vector(values, "values")
        if array.size == 0 or np.any(np.diff(array) <= 0.0):
            raise InputError(
                "the values of a grid must be strictly increasing and at least one; "
                f"got {array.size} values {np.array2string(array, threshold=8)}; "
                "sort them and drop duplicates."
            )
        array = frozen(array)
        return cls(float(array[0]), float(array[-1]), array.size, None, array)

    def value(self, k: npt.ArrayLike) -> FloatArray:
        """Return the values with indices k (any shape) in 0..count-1."""
        index = np.asarray(k, dtype=np.int64)
        if index.size and (index.min() < 0 or index.max() >= self.count):
            raise InputError(
                f"grid indices must lie in 0..{self.count - 1}; got {index.min()}..{index.max()}; "
                "clip them first."
            )
        return self._value(index)

    def _value(self, index: IntArray) -> FloatArray:
        if self.listed_values is not None:
            return np.asarray(self.listed_values[index])
        regular = self.first + index * np.float64(self.uniform_step or 0.0)
        return np.where(index == self.count - 1, self.last, regular)

    def index_below(self, x: npt.ArrayLike) -> IntArray:
        """Return the largest k with ``value(k) <= x``, -1 where there is none."""
        x = self._ordered(x)
        if self.listed_values is not None:
            return np.asarray(np.searchsorted(self.listed_values, x, side="right") - 1)
        # The quotient is off by less than one (MAX_COUNT), so the answer is guess - 1, guess or
        # guess + 1, and comparing the values themselves decides.
        with np.errstate(over="ignore"):
            quotient = np.floor((x - self.first) / np.float64(self.uniform_step or 1.0))
        index = np.clip(quotient, -1, self.count - 1).astype(np.int64)
        following = np.minimum(index + 1, self.count - 1)
        index = np.where(self._value(following) <= x, following, index)
        too_high = (index >= 0) & (self._value(np.maximum(index, 0)) > x)
        return np.asarray(index - too_high, dtype=np.int64)

    def index_above(self, x: npt.ArrayLike) -> IntArray:
        """Return the smallest k with ``value(k) >= x``, `count` where there is none."""
        x = self._ordered(x)
        below = self.index_below(x)
        hit = (below >= 0) & (self._value(np.maximum(below, 0)) == x)
        return np.asarray(np.where(hit, below, below + 1), dtype=np.int64)

    def nearest(self, x: npt.ArrayLike) -> IntArray:
        """Return the index whose value is nearest to x, the lower one of two equally near."""
        x = self._ordered(x)
        below = np.clip(self.index_below(x), 0, self.count - 1)
        above = np.minimum(below + 1, self.count - 1)
        # Halves, so that the distance to an infinite or huge x does not overflow.
        to_below = np.abs(0.5 * x - 0.5 * self._value(below))
        to_above = np.abs(0.5 * x - 0.5 * self._value(above))
        return np.asarray(np.where(to_above < to_below, above, below), dtype=np.int64)

    def contains(self, x: npt.ArrayLike) -> npt.NDArray[np.bool_]:
        """Return where x is exactly one of the values."""
        x = self._ordered(x)
        return np.asarray(self._value(self.nearest(x)) == x)

    @staticmethod
    def _ordered(x: npt.ArrayLike) -> FloatArray:
        array = np.asarray(x, dtype=np.float64)
        if np.isnan(array).any():
            raise InputError(
                "a grid is asked for numbers or infinities; got nan, which has no place in an "
                "order; filter it out first."
            )
        return array

    def __repr__(self) -> str:
        if self.listed_values is not None:
            return f"Grid.listed({np.array2string(self.listed_values, threshold=8)})"
        return f"Grid.uniform({self.first!r}, {self.uniform_step!r}, {self.count}, {self.last!r})"
