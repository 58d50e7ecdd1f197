"""When a model says little about where to look, so that its choice means little too."""

from __future__ import annotations

import math

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.maximizers.base.target import Target
from nnbo_mip.space.domain import Domain

NEGLIGIBLE = -30.0
"""Logarithm of an improvement, in deviations of the values, or of a probability."""

N_CORNERS = 5
"""Choices in a row that may be corners before anything is said."""

AT_AN_END = 1e-6
"""Part of a side within which a coordinate counts as at its end."""

NOTHING_LEFT = (
    "the largest score is negligible: the model expects hardly any gain anywhere, so this choice "
    "means little; the run has converged, or the model explains the values as noise or as constant."
)

ONLY_CORNERS = (
    f"the last {N_CORNERS} choices of the model were corners of the space: it says little "
    "about the inside; tell the noise of values if they have some, or take more initial points."
)

DOUBTS = (NOTHING_LEFT, ONLY_CORNERS)


def doubt_in(message: str) -> str:
    """Return the first of `DOUBTS` that a suggestion's message holds; empty without one."""
    return next((doubt for doubt in DOUBTS if doubt in message), "")


def is_negligible(target: Target, place: FloatArray, y: FloatArray) -> bool:
    """Whether the score of the point that was chosen is as good as zero.

    Parameters
    ----------
    target : Target
        What was maximized; scores that are not compared by their logarithm are never negligible.
    place : (k,) array
        The point.
    y : (n,) array
        Values as the model sees them.
    """
    if not target.searched.is_logarithm:
        return False
    is_share = math.isfinite(target.scorer.head.largest_score)
    spread = float(np.ptp(0.5 * y))
    unit = 0.0 if is_share or spread == 0.0 else math.log(spread)
    return bool(target.value(place) - unit < NEGLIGIBLE)


def are_corners(places: FloatArray, domain: Domain) -> bool:
    """Whether points (n, k), the last ones that models chose, are corners, and not all the same.

    Only coordinates without a grid count, of which there must be two.
    """
    free = np.array([grid is None for grid in domain.grids]) & (domain.lower < domain.upper)
    if len(places) < N_CORNERS or free.sum() < 2:
        return False
    last, low, high = places[-N_CORNERS:, free], domain.lower[free], domain.upper[free]
    share = (last - low) / (high - low)
    is_upper = share > 0.5
    at_ends = np.minimum(share, 1.0 - share) <= AT_AN_END
    return bool(at_ends.all()) and len(np.unique(is_upper, axis=0)) > 1
