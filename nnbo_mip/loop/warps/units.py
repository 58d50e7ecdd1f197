"""The unit in which a model sees values: 1, but where their squares would leave float64.

Likelihoods of 1e-200 and penalties of 1e300 are numbers like any others to a user, and models
standardize them; but scores and proofs square what is far from 1. Values whose largest size is not
between 2^-200 and 2^200 are divided by a power of two: no digit changes, but of values that are
nothing beside the largest. It follows the warp, which may have pulled in a penalty that stands
alone.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.loop.warps.warping import LARGEST, Warped

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
