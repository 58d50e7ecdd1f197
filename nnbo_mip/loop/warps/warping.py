r"""Warps: values as models see them, so that a few terrible ones do not flatten the rest.

A warp is increasing: what is best stays best. `asinh` has another one. *Half rank*, with m the
median of the n values, larger is better, and

    s = sqrt(mean of (y_i - m)^2 over y_i >= m),

leaves the better half alone and puts the others where a normal distribution of that width has them,
by their ranks r_i = 1, …, n, ties by their mean rank:

    v_i = y_i                                    where y_i >= m,
    v_i = m + s Phi^-1((r_i - 1/2) / n)          below.

>>> from nnbo_mip.loop.warps.warping import warp_of
>>> warped = warp_of("half_rank").learn([-1e6, -40.0, 1.0, 2.0, 3.0])
>>> warped.values.round(2)
array([-0.65,  0.32,  1.  ,  2.  ,  3.  ])
>>> warped.outward(warped.values).round(6)
array([-1.e+06, -4.e+01,  1.e+00,  2.e+00,  3.e+00])

The unit in which a model sees values: 1, but where their squares would leave float64.

Likelihoods of 1e-200 and penalties of 1e300 are numbers like any others to a user, and models
standardize them; but scores and proofs square what is far from 1. Values whose largest size is not
between 2^-200 and 2^200 are divided by a power of two: no digit changes, but of values that are
nothing beside the largest. It follows the warp, which may have pulled in a penalty that stands
alone.

References
----------
Song et al. (2024), half-rank warping in Vizier [Song2024].
"""

from __future__ import annotations

import abc
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri
from scipy.stats import rankdata

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.registry import Registry

LARGEST_EXPONENT = 200
"""Of a size that models see as it is; of its reciprocal likewise."""

FARTHEST = 2.0**500
"""Largest size that options and deviations have in a unit: its square is a number."""


def in_units(warped: Warped) -> Warped:
    """Return warped values (n,) as multiples of their unit, and both ways with it."""
    exponent = exponent_of_unit(warped.values)
    if not exponent:
        return warped

    def inward(y: npt.ArrayLike) -> FloatArray:
        """Warp, then divide."""
        return divided(warped.inward(y), exponent)

    def outward(v: npt.ArrayLike) -> FloatArray:
        """Multiply, then undo the warp; what a float64 cannot hold is its largest number."""
        with np.errstate(over="ignore"):
            values = np.ldexp(np.asarray(v, dtype=np.float64), exponent)
            told = warped.outward(np.clip(values, -LARGEST, LARGEST))
        return np.clip(told, -LARGEST, LARGEST)

    return Warped(np.ldexp(warped.values, -exponent), inward, outward, exponent)


def divided(values: FloatArray, exponent: int) -> FloatArray:
    """Return values (n,) over a power of two; what is far beyond all that was told is clipped."""
    with np.errstate(over="ignore"):
        return np.clip(np.ldexp(values, -exponent), -FARTHEST, FARTHEST)


def exponent_of_unit(values: FloatArray) -> int:
    """Return the exponent of the unit of values (n,), a power of two; 0 for ordinary sizes."""
    size = float(np.abs(values).max(initial=0.0))
    exponent = int(np.frexp(size)[1])
    return 0 if size == 0.0 or abs(exponent) <= LARGEST_EXPONENT else exponent


LARGEST = float(np.finfo(np.float64).max)
"""The largest finite number."""

Inward: TypeAlias = Callable[[npt.ArrayLike], FloatArray]
"""From values (m,) in the units that were told, larger is better, to what a model sees (m,)."""

Outward: TypeAlias = Callable[[npt.ArrayLike], FloatArray]
"""From what a model says (m,) to the units that were told (m,)."""


@dataclass(frozen=True, eq=False)
class Warped:
    """Values as a model sees them, the way of any others there, and the way back.

    Parameters
    ----------
    values : (n,) array
        Larger is better.
    inward, outward : callable
    exponent : int
        Of the power of two in which good values are counted (`units`); 0 in those that were told.
    """

    values: FloatArray
    inward: Inward
    outward: Outward
    exponent: int = 0


class Warp(abc.ABC):
    """A frozen dataclass of options; a pure rule."""

    name: ClassVar[str]
    """Its name in the registry."""

    @abc.abstractmethod
    def learn(self, y: npt.ArrayLike, noise: float = 0.0) -> Warped:
        """Return the warped values.

        Parameters
        ----------
        y : (n,) array
            Finite; larger is better.
        noise : float
            Typical deviation of a value from the function.
        """


@dataclass(frozen=True)
class NoWarp(Warp):
    """Take values as they are."""

    name: ClassVar[str] = "none"

    def learn(self, y: npt.ArrayLike, noise: float = 0.0) -> Warped:
        """Return y."""
        return Warped(np.array(y, dtype=np.float64), as_floats, as_floats)


@dataclass(frozen=True)
class HalfRank(Warp):
    """Leave the better half alone, and put the others by their ranks.

    Notes
    -----
    Scores, improvements, incumbents and what is expected of good points keep their units; below the
    median only the order of values is learned. Where s is no number above zero, as where half of
    the values are equal, values stay as they are.
    """

    name: ClassVar[str] = "half_rank"

    def learn(self, y: npt.ArrayLike, noise: float = 0.0) -> Warped:
        """Return the warped values; between and beyond them, both ways are piecewise linear."""
        told = np.array(y, dtype=np.float64)
        middle = _median(told)
        bad = told < middle
        with np.errstate(over="ignore"):
            width = root_mean_square(told[~bad] - middle)
        if not (bad.any() and 0.0 < width < np.inf):
            return Warped(told, as_floats, as_floats)
        ranks = rankdata(told, method="average")
        values = told.copy()
        with np.errstate(over="ignore"):
            below = middle + width * ndtri((ranks[bad] - 0.5) / len(told))
        values[bad] = np.maximum(below, -LARGEST)
        # Where the width is a hair only, rounding must not lift a bad value to the median.
        values[bad] = np.minimum(values[bad], np.nextafter(middle, -np.inf))
        lowest = float(values.min())
        places, images = np.unique(values[bad], return_index=True)
        places = np.append(places, middle)
        images = np.append(told[bad][images], middle)

        def inward(y: npt.ArrayLike) -> FloatArray:
            """Interpolate below the median, shift below the lowest."""
            given = as_floats(y)
            inner = np.interp(given, images, places)
            inner = np.where(given < images[0], lowest + (given - images[0]), inner)
            return np.where(given >= middle, given, inner)

        def outward(v: npt.ArrayLike) -> FloatArray:
            """Interpolate below the median, shift below the lowest."""
            given = as_floats(v)
            inner = np.interp(given, places, images)
            inner = np.where(given < lowest, images[0] + (given - lowest), inner)
            return np.where(given >= middle, given, inner)

        return Warped(values, inward, outward)


def _median(y: FloatArray) -> float:
    """Return a value of y that has as many on either side, the upper one of two."""
    return float(np.sort(y)[len(y) // 2]) if len(y) else 0.0


def root_mean_square(gaps: FloatArray) -> float:
    """Return the root of the mean of gaps (n,) squared, which is right for any finite size."""
    exponent = int(np.frexp(np.abs(gaps).max(initial=0.0))[1])
    scaled = np.ldexp(gaps, -exponent)  # no digit changes
    return float(np.ldexp(np.sqrt(np.mean(np.square(scaled))), exponent))


def as_floats(v: npt.ArrayLike) -> FloatArray:
    """Return numbers as they are."""
    return np.asarray(v, dtype=np.float64)


registry: Registry[Warp] = Registry(
    "warp",
    Warp,
    {
        "none": f"{__name__}:NoWarp",
        "half_rank": f"{__name__}:HalfRank",
        "asinh": "nnbo_mip.loop.warps.asinh:Asinh",
    },
    group="nnbo_mip.warps",
    of_none="none",
)
"""Filled by this module, by entry points, and by `register`."""


warp_of = registry.create
"""Returns a warp that was named, described or given; None is none."""
