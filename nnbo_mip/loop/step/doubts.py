"""When a model says little about where to look, so that its choice means little too."""

from __future__ import annotations

import math

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.loop.record.region_box import RegionBox
from nnbo_mip.maximizers.base.target import Target
from nnbo_mip.maximizers.heuristics.unit_cube import UnitCube
from nnbo_mip.space.domain import Domain

NEGLIGIBLE = -30.0
"""Logarithm of an improvement, in deviations of the values, or of a probability."""

N_CORNERS = 5
"""Choices in a row that may be corners before anything is said."""

AT_AN_END = 1e-6
"""Part of a side within which a coordinate counts as at its end."""

FEW_VALUES = 3
"""A coordinate with no more values than this has hardly an inside."""

KNOWN_SHARE = 0.5
"""Part of a finite space from which on little is expected of the rest, and nobody is warned."""

NOTHING_LEFT = (
    "the largest score is negligible: the model expects hardly any gain anywhere, so this choice "
    "means little; the run has converged, or the model explains the values as noise or as constant."
)

NOTHING_IN_REGION = (
    "the largest score within the region is negligible: the model expects hardly any gain there, "
    "so this choice means little; the region will end, or take region=None to search everywhere."
)

ONLY_CORNERS = (
    f"the last {N_CORNERS} choices of the model were corners of the space: it says little "
    "about the inside; tell the noise of values if they have some, or take more initial points."
)

ONLY_CORNERS_OF_REGIONS = (
    f"the last {N_CORNERS} choices of the model were corners of their regions: it says little "
    "about the inside; tell the noise of values if they have some, or take more initial points."
)

DOUBTS = (NOTHING_LEFT, NOTHING_IN_REGION, ONLY_CORNERS, ONLY_CORNERS_OF_REGIONS)


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


def corners_said(places: FloatArray, regions: tuple[RegionBox | None, ...], domain: Domain) -> str:
    """Return what there is to say of the last points that models chose; empty for nothing.

    It is said where they are corners of the boxes within which they were looked for, and not all
    the same one; in regions, where most coordinates went to both of their ends.

    Parameters
    ----------
    places : (n, k) array
    regions : tuple of RegionBox or None, n of them
        Within which each was looked for; None is the whole domain.
    domain : Domain
        Only coordinates with an inside count, of which two must move.
    """
    has_inside = np.zeros(domain.dimension, dtype=np.bool_)
    for j in UnitCube(domain).coordinates:
        grid = domain.grids[j]
        has_inside[j] = grid is None or grid.count > FEW_VALUES
    if len(places) < N_CORNERS:
        return ""
    last = regions[-N_CORNERS:]
    patterns = np.zeros((N_CORNERS, domain.dimension))
    for k, (place, region) in enumerate(zip(places[-N_CORNERS:], last, strict=True)):
        low, high = (domain.lower, domain.upper) if region is None else (region.lower, region.upper)
        moves = has_inside & (low < high)
        share = (place - low)[moves] / (high - low)[moves]
        if moves.sum() < 2 or (np.minimum(share, 1.0 - share) > AT_AN_END).any():
            return ""
        patterns[k, moves] = np.where(share > 0.5, 1.0, -1.0)
    if last == (None,) * N_CORNERS:
        return ONLY_CORNERS if len(np.unique(patterns, axis=0)) > 1 else ""
    # A slope leads from corner to corner of regions; a flat model from one end to the other.
    is_both = (patterns.min(axis=0) < 0.0) & (patterns.max(axis=0) > 0.0)
    moved = (patterns != 0.0).sum(axis=0) > 1
    return ONLY_CORNERS_OF_REGIONS if is_both.sum() >= max(2.0, 0.5 * moved.sum()) else ""


def is_nearly_known(domain: Domain, known: int) -> bool:
    """Whether so many points are a large part of a finite space, rows aside."""
    cube = UnitCube(domain)
    grids = [domain.grids[j] for j in cube.coordinates]
    counts = [math.inf if grid is None else grid.count for grid in grids]
    return known >= KNOWN_SHARE * math.prod([*counts, *(len(one) for one in cube.levels)])
