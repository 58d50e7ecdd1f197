"""What a box needs to hold a point whose score exceeds a level."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.exact.bounds.relaxation import Planes

UNREACHABLE = 1e200
"""Stands for infinity in limits, so that sums of them stay numbers."""


@dataclass(frozen=True, eq=False)
class Conditions(Planes):
    """Affine conditions: where a plane is not positive, the score does not exceed the level.

    Parameters
    ----------
    scores : (B,) array
        Proven bounds of the score over each box, whatever the level.
    """

    scores: FloatArray

    def goal(self, level: float) -> float:
        """Return 0, the sign that decides."""
        return 0.0

    def values_below(self, largest: FloatArray, level: float) -> FloatArray:
        """Return the level where it is proven, the bound of the score elsewhere."""
        return np.where(largest <= 0.0, np.minimum(level, self.scores), self.scores)


def conditions(sums: Planes, limits: FloatArray, scores: FloatArray) -> Conditions:
    """Return the conditions ``sum(x) > limit``; what is no number bounds nothing."""
    limits = np.clip(np.where(np.isnan(limits), -UNREACHABLE, limits), -UNREACHABLE, UNREACHABLE)
    good = np.isfinite(sums.bound) & np.isfinite(sums.constant)
    good &= np.isfinite(sums.slopes).all(axis=0)
    slopes = np.where(good, sums.slopes, 0.0)
    constant = np.where(good, sums.constant, 2.0 * UNREACHABLE)
    bound = np.where(good, sums.bound, 2.0 * UNREACHABLE)
    error = 4e-16 * np.abs(limits)
    return Conditions(
        slopes,
        constant - limits + 4e-16 * np.abs(constant) + error,
        bound - limits + 4e-16 * np.abs(bound) + error,
        np.where(np.isnan(scores), np.inf, scores),
    )
