r"""The polygon that proven supporting lines leave of an image in the plane.

Points z of the plane satisfy ``w_i . z <= h_i`` for directions w_i of the closed positive
quadrant, sorted by angle. For scores that are quasi-convex and rise in both coordinates only the
corners between neighbouring lines matter:

* a line that is redundant between its neighbours is dropped, which only enlarges the polygon;
* the polygon is the hull of its corners and of the directions (-1, 0) and (0, -1), in which the
  score falls.

Weights and bounds are floats as they are, corners exact fractions.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.exact.search.result import Step

Corner = tuple[Fraction, Fraction]


@dataclass(frozen=True, eq=False)
class Line:
    """A supporting line and the point that was found nearest to it.

    Parameters
    ----------
    first, second : float
        w, both >= 0 and not both 0.
    step : Step
        Proves h.
    found : (2,) array or None
        Coordinates of the step's point.
    """

    first: float
    second: float
    step: Step
    found: FloatArray | None

    @property
    def angle(self) -> float:
        """Angle of w, from 0 to pi / 2."""
        return math.atan2(self.second, self.first)

    @property
    def bound(self) -> float:
        """H."""
        return self.step.bound

    @property
    def slack(self) -> float:
        """How far the line is from its found point, |w| = 1; infinite without one."""
        if self.found is None:
            return math.inf
        reached = self.first * float(self.found[0]) + self.second * float(self.found[1])
        return (self.bound - reached) / math.hypot(self.first, self.second)

    def nearest(self, fallback: FloatArray) -> FloatArray:
        """Return the place (2,) on the line next to its found point, or else to `fallback`."""
        point = fallback if self.found is None else self.found
        normal = np.array([self.first, self.second])
        return np.asarray(point + normal * (self.bound - normal @ point) / (normal @ normal))

    def excess(self, corner: Corner) -> Fraction:
        """Return ``w . corner - h``."""
        weighted = Fraction(self.first) * corner[0] + Fraction(self.second) * corner[1]
        return weighted - Fraction(self.bound)


class Polygon:
    """Supporting lines, and the corners between them."""

    def __init__(self) -> None:
        self.lines: list[Line] = []

    def add(self, line: Line) -> None:
        """Take a line in, unless its bound is infinite, and drop what it makes redundant."""
        if not math.isfinite(line.bound):
            return
        same = [other for other in self.lines if _cross(other, line) == 0]
        for other in same:
            if _is_tighter(other, line):
                # What was found with the wider line may be nearer to the tighter one.
                nearer = replace(other, found=line.found)
                line = nearer if nearer.slack < other.slack else other
        lines = [other for other in self.lines if other not in same]
        lines.append(line)
        self.lines = _without_redundant(sorted(lines, key=lambda one: one.angle))

    @property
    def is_bounded(self) -> bool:
        """Whether both coordinates are bounded from above."""
        return bool(self.lines) and self.lines[0].second == 0.0 and self.lines[-1].first == 0.0

    def corners(self) -> list[tuple[Line, Line, Corner]]:
        """Return neighbouring lines and where they meet."""
        pairs = zip(self.lines[:-1], self.lines[1:], strict=True)
        return [(low, high, meeting(low, high)) for low, high in pairs]


def meeting(low: Line, high: Line) -> Corner:
    """Return where two lines meet that are not parallel."""
    det = _cross(low, high)
    a, b = Fraction(low.bound), Fraction(high.bound)
    return (
        (a * Fraction(high.second) - b * Fraction(low.second)) / det,
        (b * Fraction(low.first) - a * Fraction(high.first)) / det,
    )


def as_array(corner: Corner) -> FloatArray:
    """Return the nearest floats (2,)."""
    return np.array([float(corner[0]), float(corner[1])])


def _cross(low: Line, high: Line) -> Fraction:
    return Fraction(low.first) * Fraction(high.second) - Fraction(low.second) * Fraction(high.first)


def _is_tighter(one: Line, other: Line) -> bool:
    """Whether the first of two parallel lines is at least as tight."""
    scale_one, scale_other = one.first + one.second, other.first + other.second
    return Fraction(one.bound) * Fraction(scale_other) <= Fraction(other.bound) * Fraction(
        scale_one
    )


def _without_redundant(lines: list[Line]) -> list[Line]:
    """Drop every line that the corner of its neighbours satisfies."""
    kept: list[Line] = []
    for line in lines:
        while len(kept) >= 2 and kept[-1].excess(meeting(kept[-2], line)) <= 0:
            kept.pop()
        kept.append(line)
    return kept
