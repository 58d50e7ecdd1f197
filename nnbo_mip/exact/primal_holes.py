"""The primal side beside holes: faces to start from, and boxes in which to climb on.

Where the objective is largest in a hole, the best admissible point mostly lies on one of its
faces. A climber that ended in a hole is therefore put on each of its faces and climbs again in
the part of its box beyond, where that hole is not in the way.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from nnbo_mip.network.affine import FloatArray
from nnbo_mip.space.domain import Domain

ROUNDS = 3
"""Climbs from faces; the end of one may lie in the next hole."""

MOST_STARTS = 64
"""Faces, the highest ones, that are climbed from at once."""

Ascent = Callable[[FloatArray, FloatArray, FloatArray], FloatArray]
"""Climbs from points (n, d) within boxes given by their ends (n, d)."""

Values = Callable[[FloatArray], FloatArray]


def climb_beside(domain: Domain, points: FloatArray, values: Values, ascend: Ascent) -> FloatArray:
    """Replace points (n, d) that lie in holes by points outside, found by climbing from faces.

    Parameters
    ----------
    domain : Domain
    points : (n, d) array
    values : callable
        The objective at points (n, d): (n,).
    ascend : callable
        See `Ascent`.
    """
    trapped = domain.holes.contain(points)
    found = [points[~trapped]]
    points = points[trapped]
    lower, upper = (np.tile(end, (len(points), 1)) for end in (domain.lower, domain.upper))
    for _ in range(ROUNDS):
        starts, lower, upper = _on_faces(domain, points, lower, upper)
        if not len(starts):
            break
        best = np.argsort(-values(starts), kind="stable")[:MOST_STARTS]
        starts, lower, upper = starts[best], lower[best], upper[best]
        ends = ascend(starts, lower, upper)
        trapped = domain.holes.contain(ends)
        found += [starts[~domain.holes.contain(starts)], ends[~trapped]]
        points, lower, upper = ends[trapped], lower[trapped], upper[trapped]
    return np.concatenate(found)


def box_beside(domain: Domain, x: FloatArray, slopes: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the ends of a box round x (d,), in no hole, that no hole meets.

    Every hole costs the box what is beyond one of its faces: the one with the least to gain
    there along `slopes` (d,), and of those the one that is least in the way.
    """
    faces, holes = domain.hole_faces, domain.holes
    lower, upper = domain.lower.copy(), domain.upper.copy()
    width = np.where(upper > lower, upper - lower, 1.0)
    outside = np.maximum(faces.holes.lower - x, x - faces.holes.upper).max(axis=1, initial=-np.inf)
    for k in np.argsort(outside, kind="stable"):
        if not ((holes.lower[k] < upper) & (lower < holes.upper[k])).all():
            continue
        below, above = faces.below[k], faces.above[k]
        lost = np.array(
            [
                np.where(x <= below, upper - below, np.inf),
                np.where(x >= above, above - lower, np.inf),
            ]
        )
        gain = np.array([np.maximum(slopes, 0.0), np.maximum(-slopes, 0.0)])
        with np.errstate(invalid="ignore"):
            cost = np.where(np.isfinite(lost), gain * lost, np.inf)
        share = np.where(cost <= cost.min(), lost / width, np.inf)
        side, j = np.unravel_index(int(share.argmin()), share.shape)
        if side == 0:
            upper[j] = min(upper[j], below[j])
        else:
            lower[j] = max(lower[j], above[j])
    return lower, upper


def _on_faces(
    domain: Domain, points: FloatArray, lower: FloatArray, upper: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Put points on every face, within their boxes, of the holes they lie in.

    Returns the points on faces, and the ends of what is beyond of their boxes: (p, d) each.
    """
    owner, hole = np.nonzero(domain.holes.containing(points))
    starts, lows, highs = [points[:0]], [points[:0]], [points[:0]]
    for j in range(domain.dimension):
        for ends, box_ends, is_below in (
            (domain.hole_faces.below, lower, True),
            (domain.hole_faces.above, upper, False),
        ):
            face = ends[hole, j]
            reached = face >= box_ends[owner, j] if is_below else face <= box_ends[owner, j]
            rows = owner[reached]
            start, low, high = points[rows], lower[rows], upper[rows]
            start[:, j] = face[reached]
            (high if is_below else low)[:, j] = face[reached]
            starts.append(start)
            lows.append(low)
            highs.append(high)
    return np.concatenate(starts), np.concatenate(lows), np.concatenate(highs)
