"""The primal side beside exclusions: ways out of them, and boxes in which to climb on.

Where the objective is largest in an exclusion, ascent ends there, and the best admissible point
mostly lies on a face. A climber that ended in an exclusion is therefore moved out of all exclusions
along each coordinate, and climbs on in a box round it that no exclusion meets; from where it stops,
a box on the side of its slopes is the next one.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.space.domain import Domain

ROUNDS = 5
"""Climbs, each in a new box."""

MOST_TRAPS = 16
"""Distinct points in exclusions, the highest ones, that ways out are looked for from."""

MOST_CLIMBERS = 96

DISTINCT = 1e-2
"""Distance, as a share of the box, below which points in exclusions are taken for one."""

Ascent = Callable[[FloatArray, FloatArray, FloatArray], FloatArray]
"""Climbs from points (n, d) within boxes given by their ends (n, d)."""

Slopes = Callable[[FloatArray], tuple[FloatArray, FloatArray]]
"""Values (n,) and gradients (n, d) at points (n, d)."""


def climb_beside(
    domain: Domain, starts: FloatArray, ends: FloatArray, slopes: Slopes, ascend: Ascent
) -> FloatArray:
    """Return points (n, d) outside all exclusions, found by climbing beside them.

    Parameters
    ----------
    domain : Domain
    starts : (k, d) array
        Admissible points.
    ends : (n, d) array
        Where ascent that ignores exclusions has led.
    slopes, ascend : callables
        See `Slopes` and `Ascent`.
    """
    excluded = domain.exclusions.contain(ends)
    found = [ends[~excluded]]
    climbers = np.concatenate([starts, _all_ways_out(domain, ends[excluded], slopes)])
    for _ in range(ROUNDS):
        values, gradients = slopes(climbers)
        best = np.argsort(-values, kind="stable")[:MOST_CLIMBERS]
        climbers = climbers[best]
        found.append(climbers)
        climbers = ascend(climbers, *boxes_beside(domain, climbers, gradients[best]))
    return np.concatenate([*found, climbers])


def boxes_beside(
    domain: Domain, points: FloatArray, slopes: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the ends (n, d) of boxes that no exclusion meets, round points outside all exclusions.

    Every exclusion costs a box what is beyond one of its faces, the nearest exclusions first: the
    face with the least to gain beyond it along the slopes (n, d), and of those the one that takes
    least of the box. Points need not lie on grids.
    """
    exclusions = domain.exclusions
    lower, upper = (np.tile(end, (len(points), 1)) for end in (domain.lower, domain.upper))
    width = np.where(domain.upper > domain.lower, domain.upper - domain.lower, 1.0)
    x = points[:, None, :]
    distance = (np.maximum(exclusions.lower - x, x - exclusions.upper) / width).max(axis=2)
    rows = np.arange(len(points))
    for _ in range(len(exclusions)):
        left = np.where(exclusions.meeting(lower, upper), distance, np.inf)
        nearest = left.argmin(axis=1)
        cut = np.isfinite(left[rows, nearest])
        if not cut.any():
            break
        below, above = exclusions.lower[nearest[cut]], exclusions.upper[nearest[cut]]
        low, high, here = lower[cut], upper[cut], points[cut]
        sides = np.stack(
            [
                np.where(here <= below, high - below, np.inf),
                np.where(here >= above, above - low, np.inf),
            ]
        )
        gains = np.stack([np.maximum(slopes[cut], 0.0), np.maximum(-slopes[cut], 0.0)])
        beyond = np.isfinite(sides)
        cost = np.where(beyond, gains * np.where(beyond, sides, 0.0), np.inf)
        cheapest = cost <= cost.min(axis=(0, 2))[None, :, None]
        share = np.where(cheapest & beyond, sides / width, np.inf)
        flat = np.moveaxis(share, 1, 0).reshape(len(low), -1).argmin(axis=1)
        side, j = np.divmod(flat, domain.dimension)
        index = np.flatnonzero(cut)
        under = side == 0
        upper[index[under], j[under]] = below[under, j[under]]
        lower[index[~under], j[~under]] = above[~under, j[~under]]
    return lower, upper


def _all_ways_out(domain: Domain, excluded: FloatArray, slopes: Slopes) -> FloatArray:
    """Move points (n, d) out of all exclusions along each coordinate, both ways: (p, d)."""
    if not len(excluded):
        return excluded
    width = np.where(domain.upper > domain.lower, domain.upper - domain.lower, 1.0)
    chosen: list[FloatArray] = []
    for index in np.argsort(-slopes(excluded)[0], kind="stable"):
        x = excluded[index]
        if all(np.abs((x - other) / width).max() > DISTINCT for other in chosen):
            chosen.append(x)
        if len(chosen) == MOST_TRAPS:
            break
    return np.concatenate([ways_out(domain, x) for x in chosen])


def ways_out(domain: Domain, x: FloatArray) -> FloatArray:
    """Move a point (d,) out of all exclusions along each coordinate, both ways: (p, d), p <= 2d."""
    moved = [(j, value) for j in range(domain.dimension) for value in _exits(domain, x, j)]
    points = np.tile(x, (len(moved), 1))
    for point, (j, value) in zip(points, moved, strict=True):
        point[j] = value
    return points


def _exits(domain: Domain, x: FloatArray, j: int) -> list[float]:
    """Return the nearest values of x_j (d,) below and above at which x lies in no exclusion."""
    exclusions, faces = domain.exclusions, domain.exclusion_faces
    inside = (exclusions.lower < x) & (x < exclusions.upper)
    inside[:, j] = True
    in_the_way = inside.all(axis=1)
    low, high = exclusions.lower[in_the_way, j], exclusions.upper[in_the_way, j]
    exits = []
    for ends, pick in ((faces.below, np.min), (faces.above, np.max)):
        value, ends_here = float(x[j]), ends[in_the_way, j]
        while (covers := (low < value) & (value < high)).any():
            value = float(pick(ends_here[covers]))
        if domain.lower[j] <= value <= domain.upper[j]:
            exits.append(value)
    return exits
