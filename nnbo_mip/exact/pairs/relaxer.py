r"""Bounds of sums of terms over boxes, under rows by multipliers.

For multipliers mu >= 0 and points with A x <= limit,

    f(x) <= f(x) + mu . (limit - A x),

which has other weights of single coordinates and another level; its largest value over a box, or a
bound of it, is found by `elimination`. Multipliers are found by steps of a subgradient (Polyak); a
bad choice makes the bound worse and not wrong.

What float64 may lose is added: so many roundings, of the sum of the sizes of all terms, as there
are terms and coordinates.

References
----------
Polyak (1969), steps of subgradients [Polyak1969].
"""

from __future__ import annotations

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.exact.pairs.elimination import Elimination
from nnbo_mip.exact.pairs.variables import Terms
from nnbo_mip.exact.scores.problem import HeadProblem
from nnbo_mip.exact.search.rounding import UNIT_ROUNDOFF
from nnbo_mip.exact.spherical.ratios import Found
from nnbo_mip.scores.functions.linear import LinearHead
from nnbo_mip.scores.posteriors.pairs import PairwisePosterior

MOST_NUMBERS, MOST_AT_ONCE = 1 << 14, 1 << 21
"""Of a table; with more, buckets are split. The second where one box is enough, without rows."""

MOST_TOGETHER = 1 << 23
"""Numbers of all tables where one box is enough."""

ROUNDS, LATER_ROUNDS = 100, 12
"""Multipliers that are tried for the whole box, and for its parts, which go on from there."""

UNDERFLOW = 1e-280
LARGEST = 1e100
"""Of sizes, and of multipliers."""


class PairwiseRelaxer:
    """Bounds what a problem about a sum of terms searches.

    Parameters
    ----------
    problem : HeadProblem
        With a `PairwisePosterior` and a `LinearHead` of the mean alone.

    Attributes
    ----------
    is_useful : bool
        Whether sizes stay far from overflow.
    is_exact : bool
        Whether the first bound is the maximum: no bucket is split, and there are no rows.
    """

    def __init__(self, problem: HeadProblem) -> None:
        head, read, domain = problem.searched, problem.posterior, problem.domain
        assert isinstance(head, LinearHead)
        assert isinstance(read, PairwisePosterior)
        self.domain = domain
        level = head.mean_weight * read.level + head.constant
        self.terms = Terms.of(read.columns, head.mean_weight * read.average, level, domain)
        far = np.maximum(np.abs(domain.lower), np.abs(domain.upper))
        self._size = self._sizes(read, head, far)
        self.is_useful = bool(self._size < LARGEST) and bool(far.max() < LARGEST)
        self.elimination = self._eliminating()
        self.is_exact = not self.elimination.is_split and not len(domain.b)
        roundings = 4 * len(read.columns) + 2 * domain.dimension + 2 * len(domain.b)
        self._roundings = (roundings + len(read.levels) + 64) * UNIT_ROUNDOFF
        norms = np.sqrt(np.square(domain.A).sum(axis=1))
        self._row_norm = np.where(norms > 0.0, norms, 1.0)
        self._far = far
        self._start: FloatArray | None = None
        self.spread = np.zeros((0, domain.dimension))

    def _eliminating(self) -> Elimination:
        """Return what settles the whole box at once, or many boxes quickly."""
        if not len(self.domain.b):
            whole = Elimination(self.terms, self.domain, MOST_AT_ONCE)
            if not whole.is_split and whole.numbers <= MOST_TOGETHER:
                return whole
        return Elimination(self.terms, self.domain, MOST_NUMBERS)

    @staticmethod
    def _sizes(read: PairwisePosterior, head: LinearHead, far: FloatArray) -> float:
        """Return the sum of the sizes of all terms."""
        first, second = read.columns.T
        reach = far[first] * np.where(second < 0, 1.0, far[second])
        sizes = np.abs(read.weights).mean(axis=0) @ reach + np.abs(read.levels).mean()
        return float(head.mean_weight * sizes + abs(head.constant))

    def bound(self, lower: FloatArray, upper: FloatArray, level: float) -> Found:
        """Bound the scores over boxes (B, d), as far as they exceed a level.

        `spread` (B, d) then says how unlike the points were of different multipliers.
        """
        count, m = len(lower), len(self.domain.b)
        first = self._start is None
        multipliers = np.zeros((count, m))
        if self._start is not None:
            multipliers = multipliers + self._start
        found = best = self._largest(lower, upper, multipliers)
        self.spread = np.zeros(lower.shape)
        if not m:
            return best
        target = level if np.isfinite(level) else -np.inf
        aim = best.bound - target if np.isfinite(level) else np.abs(best.bound) + 1.0
        aim = np.maximum(aim, 0.0)
        low, high = found.points, found.points
        for _ in range(ROUNDS if first else LATER_ROUNDS):
            if (best.bound <= target).all():
                break
            over = (found.points @ self.domain.A.T - self.domain.row_limit) / self._row_norm
            slope = np.where((multipliers > 0.0) | (over > 0.0), over, 0.0)
            squares = np.square(slope).sum(axis=1) + UNIT_ROUNDOFF**2
            length = (found.bound - best.bound + aim) / squares
            moved = multipliers * self._row_norm + length[:, None] * slope
            multipliers = np.clip(moved, 0.0, LARGEST) / self._row_norm
            found = self._largest(lower, upper, multipliers)
            aim = np.where(found.bound < best.bound, aim, 0.5 * aim)
            better = found.bound < best.bound
            rows = better[:, None]
            best = Found(
                np.where(better, found.bound, best.bound),
                np.where(rows, found.points, best.points),
                np.where(rows, found.slopes, best.slopes),
                np.where(rows, found.multipliers, best.multipliers),
            )
            near = found.bound <= best.bound + 0.05 * np.abs(best.bound)
            low = np.where(near[:, None], np.minimum(low, found.points), low)
            high = np.where(near[:, None], np.maximum(high, found.points), high)
        self.spread = high - low
        if first:
            self._start = best.multipliers[int(best.bound.argmax())]
        return best

    def _largest(self, lower: FloatArray, upper: FloatArray, multipliers: FloatArray) -> Found:
        """Bound what is left of the sum when rows cost their multipliers."""
        domain = self.domain
        linear = np.broadcast_to(self.terms.linear, lower.shape)
        level, size = np.full(len(lower), self.terms.level), np.full(len(lower), self._size)
        if len(domain.b):
            linear = linear - multipliers @ domain.A
            level = level + multipliers @ domain.row_limit
            size = size + multipliers @ (np.abs(domain.A) @ self._far + np.abs(domain.row_limit))
        value, points = self.elimination.largest(linear, lower, upper)
        bound = value + level + 1.01 * self._roundings * size + UNDERFLOW
        slopes = np.abs(self.elimination.slopes(linear, points))
        return Found(np.asarray(bound), points, slopes, multipliers)
