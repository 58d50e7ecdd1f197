r"""Bounds of a head over boxes of cells, from the leaves that each box reaches.

With the ends lo_t <= f_t <= hi_t of the trees' values, s_t the variance of a leaf (0 unless it
counts), and any number c, the variance of the trees is

    V = mean_t s_t + mean_t (f_t - mean)^2 <= mean_t [ s_t + (f_t - c)^2 ],
    V >= mean_t min s_t + min_c mean_t dist(c, [lo_t, hi_t])^2,

and since sqrt(V) <= V / (2 r) + r / 2 for every r > 0, a sum of mean and std is at most

    w mean + l std <= l reach r / 2 + mean_t max_leaves [ w f + l reach (s + (f - c)^2) / (2 r) ].

Where every tree ends in one leaf all of this is exact up to rounding. Heads of mean and std are
bounded by such sums as over any other boxes (`heads.relaxers.moments`); heads of members rise in
each of them.
"""

from __future__ import annotations

import abc
from dataclasses import dataclass

import numpy as np

from nnbo_mip.core.arrays import FloatArray, IntArray
from nnbo_mip.core.errors import UnsupportedError
from nnbo_mip.exact.heads.relaxers.moments import scores_below
from nnbo_mip.exact.scores.level_lines import level_lines
from nnbo_mip.exact.scores.problem import HeadProblem
from nnbo_mip.exact.search.rounding import UNIT_ROUNDOFF, shares_above
from nnbo_mip.exact.trees.cells import TreeCells
from nnbo_mip.exact.trees.kernel import largest_sums, leaf_ranges
from nnbo_mip.scores.base.abstract import MomentHead, Shape, Trend
from nnbo_mip.scores.functions.empirical import EmpiricalImprovement
from nnbo_mip.scores.posteriors.trees import TreePosterior

HALVINGS = 50
"""Of the interval in which the center of the least variance is looked for."""

ROOT_SHARE = 0.85
"""r as a share of the largest root of V: along the best leaves V is a little smaller."""

LARGEST_VALUE = 1e140
"""Of the leaves; their squares stay far from overflow."""

UNDERFLOW = 1e-300
"""More than squares and their average lose by underflow."""

LINE_ERROR = 4e-16
"""Relative error of the comparison of a sum with its limit."""


@dataclass(frozen=True, eq=False)
class Scored:
    """What is known of B boxes.

    Parameters
    ----------
    bound : (B,) array
        Proven: no score of the box is larger, or than the level where that is larger.
    coordinate, after : (B,) arrays
        Where to split a box: after which cell of which coordinate; -1 where the score is constant.
    """

    bound: FloatArray
    coordinate: IntArray
    after: IntArray


@dataclass(frozen=True, eq=False)
class Ranges:
    """Ends of values and variances of each tree over B boxes, all (B, T)."""

    low: FloatArray
    high: FloatArray
    fewest: FloatArray
    most: FloatArray

    @property
    def size(self) -> FloatArray:
        """Largest magnitude (B,) of a value."""
        return np.asarray(np.maximum(np.abs(self.low), np.abs(self.high)).max(axis=1))


class TreeScores(abc.ABC):
    """Bounds what a problem on trees searches.

    Parameters
    ----------
    posterior : TreePosterior
    cells : TreeCells
        Of its trees and the domain.
    """

    def __init__(self, posterior: TreePosterior, cells: TreeCells) -> None:
        trees, self._reach = posterior.trees, posterior.reach
        self.n_trees = trees.n_trees
        left, right = trees.children
        variance = trees.variance if posterior.is_total else np.zeros(len(trees.variance))
        self._nodes = (trees.feature, cells.cut, left, right, trees.value, variance, trees.first)
        self._stack = np.empty(len(trees.nodes) + 1, dtype=np.int64)
        self._shares = shares_above(self.n_trees)
        # Sums of T numbers, and a few operations on each.
        self._rounding = 4.0 * (self.n_trees + 8) * UNIT_ROUNDOFF
        largest = max(float(np.abs(trees.value).max()), float(np.sqrt(variance.max())))
        self.is_useful = largest * max(1.0, self._reach) < LARGEST_VALUE

    @abc.abstractmethod
    def bound(self, a: IntArray, b: IntArray, level: float) -> Scored:
        """Bound scores over boxes of cells (B, d), as far as they exceed a level."""

    def _ranges(self, a: IntArray, b: IntArray) -> Ranges:
        low, high, fewest, most = np.empty((4, len(a), self.n_trees))
        leaf_ranges(a, b, *self._nodes, low, high, fewest, most, self._stack)
        return Ranges(low, high, fewest, most)

    def _largest(
        self, a: IntArray, b: IntArray, w: FloatArray, q: FloatArray, center: FloatArray
    ) -> tuple[FloatArray, IntArray, IntArray]:
        """Return the largest sums (B,) of ``w f + q (s + (f - c)^2)``, and where to split."""
        total = np.empty(len(a))
        coordinate, after = np.empty((2, len(a)), dtype=np.int64)
        weights = (np.ascontiguousarray(part, dtype=np.float64) for part in (w, q, center))
        largest_sums(a, b, *self._nodes, *weights, total, coordinate, after, self._stack)
        return total, coordinate, after


class TreeMoments(TreeScores):
    """Bounds heads of mean and std."""

    def __init__(self, head: MomentHead, posterior: TreePosterior, cells: TreeCells) -> None:
        self.head = head
        super().__init__(posterior, cells)

    def bound(self, a: IntArray, b: IntArray, level: float) -> Scored:
        """Bound the scores by sums of mean and std, below which they do not exceed the level."""
        ranges = self._ranges(a, b)
        head, rounding = self.head, self._rounding
        error = rounding * ranges.size
        mean_low, mean_high = ranges.low.mean(axis=1) - error, ranges.high.mean(axis=1) + error
        center = 0.5 * mean_low + 0.5 * mean_high
        above = self._variance_above(ranges, center)
        high = self._reach * np.sqrt(above) * (1.0 + rounding)
        low = np.zeros(len(a))
        if head.shape is not Shape.LINEAR or head.std_trend is Trend.FALLING:
            low = self._reach * np.sqrt(self._variance_below(ranges)) * (1.0 - rounding)
            low = np.minimum(low, high)
        lines = level_lines(head, low, high, level)
        w, l = lines.mean_weight, lines.std_weight  # noqa: E741 - as in the module's formula
        apart = np.maximum(w * mean_low, w * mean_high) + np.where(l >= 0.0, l * high, l * low)
        apart = apart + rounding * (np.abs(w) * ranges.size + np.abs(l) * high)
        root = ROOT_SHARE * np.sqrt(above)
        steep = (l > 0.0) & (root > 0.0)
        with np.errstate(over="ignore", invalid="ignore"):
            q = np.where(steep, l * self._reach / np.where(steep, 2.0 * root, 1.0), 0.0)
            total, coordinate, after = self._largest(a, b, w, q, center)
            squares = ranges.most.max(axis=1) + np.square(ranges.size + np.abs(center))
            together = total / self.n_trees + np.where(steep, 0.5 * l * self._reach * root, 0.0)
            together = together + rounding * (
                np.abs(w) * ranges.size + q * squares + np.abs(l) * high
            )
        most = np.where(steep, np.fmin(together, apart), apart)
        scores = scores_below(head, lines, most, low, high)
        scores = np.where(np.isnan(scores), np.inf, scores)
        slack = LINE_ERROR * (np.abs(most) + np.abs(lines.limit))
        proven = most - lines.limit + slack <= 0.0
        bound = np.where(proven, np.minimum(level, scores), scores)
        return Scored(bound, coordinate, after)

    def _variance_above(self, ranges: Ranges, center: FloatArray) -> FloatArray:
        """Return upper bounds (B,) of the variance of the trees."""
        c = center[:, None]
        farthest = np.maximum(np.abs(ranges.low - c), np.abs(ranges.high - c))
        squares = np.where(farthest > 0.0, np.square(farthest) + UNDERFLOW, 0.0) + ranges.most
        return np.asarray(squares.mean(axis=1) * (1.0 + self._rounding))

    def _variance_below(self, ranges: Ranges) -> FloatArray:
        """Return lower bounds (B,) of the variance of the trees."""
        low, high = ranges.low, ranges.high
        first, last = low.min(axis=1), high.max(axis=1)
        width = last - first
        for _ in range(HALVINGS):
            middle = 0.5 * first + 0.5 * last
            rises = self._slope(low, high, middle) > 0.0
            first, last = np.where(rises, first, middle), np.where(rises, middle, last)
        center = 0.5 * first + 0.5 * last
        c = center[:, None]
        squares = np.square(np.maximum(low - c, 0.0) + np.maximum(c - high, 0.0)).mean(axis=1)
        # The function is convex: it lies above its tangent at the center.
        slope = np.abs(self._slope(low, high, center)) + self._rounding * (ranges.size + width)
        squares = squares * (1.0 - self._rounding) - slope * width
        sure = ranges.fewest.mean(axis=1) * (1.0 - self._rounding)
        return np.asarray(np.maximum(squares, 0.0) + sure)

    @staticmethod
    def _slope(low: FloatArray, high: FloatArray, center: FloatArray) -> FloatArray:
        """Return the derivative (B,) of the mean squared distance of centers from intervals."""
        c = center[:, None]
        return np.asarray(2.0 * (np.maximum(c - high, 0.0) - np.maximum(low - c, 0.0)).mean(axis=1))


class TreeMembers(TreeScores):
    """Bounds improvements that are counted over the trees."""

    def __init__(
        self, head: EmpiricalImprovement, posterior: TreePosterior, cells: TreeCells
    ) -> None:
        self.head = head
        super().__init__(posterior, cells)

    def bound(self, a: IntArray, b: IntArray, level: float) -> Scored:
        """Bound the improvement of each tree; boxes are split where the mean may be largest."""
        ones = np.ones(len(a))
        ranges = self._ranges(a, b)
        _, coordinate, after = self._largest(a, b, ones, 0.0 * ones, 0.0 * ones)
        return Scored(self._improvement(ranges), coordinate, after)

    def _improvement(self, ranges: Ranges) -> FloatArray:
        """Return upper bounds (B,) of the improvement counted over members."""
        head = self.head
        highest = self._highest_members(ranges)
        if head.kind == "pi":
            return np.asarray(self._shares[(highest >= head.threshold).sum(axis=1)])
        score = head.score(highest)
        size = ranges.size + abs(head.threshold)
        return np.where(score > 0.0, score + self._rounding * size, score)

    def _highest_members(self, ranges: Ranges) -> FloatArray:
        """Return upper bounds (B, T) of the members, which the reach moves apart."""
        low, high = ranges.low, ranges.high
        if self._reach == 1.0:
            return high
        share = (1.0 - self._reach) / self.n_trees
        others = high if share >= 0.0 else low
        rest = others.sum(axis=1, keepdims=True) - others
        error = self._rounding * (1.0 + self._reach) * ranges.size[:, None]
        return np.asarray((self._reach + share) * high + share * rest + error)


def tree_scores(problem: HeadProblem, cells: TreeCells) -> TreeScores:
    """Return what bounds a problem on trees, by what its head reads."""
    sought = problem.sought
    if moments := sought.parts(MomentHead, TreePosterior):
        return TreeMoments(*moments, cells)
    if members := sought.parts(EmpiricalImprovement, TreePosterior):
        return TreeMembers(*members, cells)
    raise UnsupportedError(
        f"a head on trees must read mean and std, or members; got {sought.head!r}; take another."
    )
