r"""Bounds of the score of a head on trees, from the boxes of their leaves.

A leaf is a box, ``low_j < x_j <= high_j``, that the nodes above it cut out. Over another box a tree
takes the values of the leaves that meet it; with their ends lo_t <= f_t <= hi_t, s_t the variance
of a leaf where it counts, and any c and r > 0,

    V = mean_t s_t + mean_t (f_t - mean)^2 <= mean_t max (s_t + (f_t - c)^2),
    V >= mean_t min s_t + (1 / 2 T^2) sum_st dist([lo_s, hi_s], [lo_t, hi_t])^2,
    mean + l sqrt(V) <= l r / 2 + mean_t max (f_t + l (s_t + (f_t - c)^2) / (2 r)) = K.

EI, PI and MES are quasi-convex in mean and std, so that below ``mean <= M`` and
``mean + l std <= K`` they are largest where one of these lines ends or where they cross.
"""

from __future__ import annotations

import abc

import numpy as np
import numpy.typing as npt

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.exact.checking.heads.outputs import BoundedBoxes
from nnbo_mip.exact.checking.heads.scores import ScoreBounder, score_interval, share_ends
from nnbo_mip.scores.base.abstract import MomentHead, Shape
from nnbo_mip.scores.functions.empirical import EmpiricalImprovement
from nnbo_mip.scores.functions.linear import LinearHead
from nnbo_mip.scores.objective import Objective
from nnbo_mip.scores.posteriors.trees import TreePosterior

UNIT = 2.0**-53
ROOT_SHARE = 0.9
"""r as a share of the root of the largest V."""

UNDERFLOW = 1e-300
"""More than squares and their average lose by underflow."""

LARGEST = 1e100
"""Magnitude of values up to which squares stay far from overflow."""


class Leaves:
    """The leaves of all trees, tree after tree.

    Attributes
    ----------
    low, high : (d, L) arrays
    value, variance : (L,) arrays
    first : (T,) int array
        Where each tree begins.
    """

    def __init__(self, posterior: TreePosterior) -> None:
        d, nodes = posterior.n_inputs, posterior.nodes
        lows: list[FloatArray] = []
        highs: list[FloatArray] = []
        rows: list[int] = []
        starts: list[int] = []
        for root in posterior.roots:
            starts.append(len(rows))
            waiting = [(int(root), np.full(d, -np.inf), np.full(d, np.inf))]
            while waiting:
                row, low, high = waiting.pop()
                j, threshold, left, right = nodes[row, :4]
                if j < 0:
                    lows.append(low)
                    highs.append(high)
                    rows.append(row)
                    continue
                under, over = high.copy(), low.copy()
                under[int(j)] = min(high[int(j)], threshold)
                over[int(j)] = max(low[int(j)], threshold)
                waiting += [(int(left), low, under), (int(right), over, high)]
        self.low, self.high = np.array(lows).T.copy(), np.array(highs).T.copy()
        self.value = nodes[rows, 4]
        self.variance = nodes[rows, 5] if posterior.is_total else np.zeros(len(rows))
        self.first = np.array(starts)

    def meeting(self, lower: FloatArray, upper: FloatArray) -> npt.NDArray[np.bool_]:
        """Return which leaves share a point with which closed boxes (d, n): (n, L)."""
        meets = np.ones((lower.shape[1], len(self.value)), dtype=np.bool_)
        for j in range(len(lower)):
            meets &= (lower[j][:, None] <= self.high[j]) & (self.low[j] < upper[j][:, None])
        return meets

    def most(self, meets: npt.NDArray[np.bool_], values: FloatArray) -> FloatArray:
        """Return the largest of values (L,) or (n, L) among the leaves that meet: (n, T)."""
        found = np.where(meets, values, -np.inf)
        return np.asarray(np.maximum.reduceat(found, self.first, axis=1))


class ForestScore(ScoreBounder):
    """The score of a head on trees.

    Parameters
    ----------
    posterior : TreePosterior
    """

    def __init__(self, posterior: TreePosterior) -> None:
        self.leaves = Leaves(posterior)
        self._reach, self._count = posterior.reach, len(self.leaves.first)
        self._relative = 2.0 * (self._count + 4) * UNIT
        sizes = np.abs(self.leaves.value).max(), np.sqrt(self.leaves.variance.max())
        self._largest = max(sizes) * max(1.0, self._reach)

    @property
    def is_useful(self) -> bool:
        """Whether sizes stay far from overflow."""
        return bool(self._largest < LARGEST)

    @abc.abstractmethod
    def bound(
        self, lower: FloatArray, upper: FloatArray
    ) -> tuple[FloatArray, npt.NDArray[np.bool_]]:
        """Return upper bounds (n,) of the score over boxes (d, n), and the leaves that meet them.

        In real arithmetic, rounding included.
        """

    def bound_outputs(self, lower: FloatArray, upper: FloatArray) -> BoundedBoxes:
        """Take boxes (d, n) as they are."""
        return BoundedBoxes(lower, upper, [], [])

    def excess(self, bounded: BoundedBoxes, level: float) -> FloatArray:
        """Return the same number at every vertex: the bound less the level."""
        over = self.bound(bounded.lower, bounded.upper)[0] - level
        return np.broadcast_to(over, (1 << len(bounded.free), bounded.count)).copy()

    def floats_per_box(self, free: int) -> int:
        """Size of the largest intermediate array, a box."""
        return len(self.leaves.value)


class ForestMoments(ForestScore):
    """The score of a head of mean and std."""

    def __init__(
        self, head: MomentHead, posterior: TreePosterior, linear: LinearHead | None
    ) -> None:
        super().__init__(posterior)
        self.head, self._linear = head, linear

    def bound(
        self, lower: FloatArray, upper: FloatArray
    ) -> tuple[FloatArray, npt.NDArray[np.bool_]]:
        """Return the lower one of two bounds, from mean and std apart and together."""
        leaves = self.leaves
        meets = leaves.meeting(lower, upper)
        high, low = leaves.most(meets, leaves.value), -leaves.most(meets, -leaves.value)
        size = np.maximum(np.abs(low), np.abs(high)).max(axis=1)
        error = self._relative * size
        means = low.mean(axis=1) - error, high.mean(axis=1) + error
        center = 0.5 * means[0] + 0.5 * means[1]
        apart = leaves.value - center[:, None]
        squares = np.where(apart == 0.0, 0.0, np.square(apart) + UNDERFLOW) + leaves.variance
        most = leaves.most(meets, squares).mean(axis=1) * (1.0 + self._relative)
        least = self._least_variance(low, high)
        sure = -leaves.most(meets, -leaves.variance).mean(axis=1)
        least = np.minimum((least + sure) * (1.0 - self._relative), most)
        stds = self._std(least, -self._relative), self._std(most, self._relative)
        bound = score_interval(self.head, means, stds)[1]
        return np.fmin(bound, self._together(meets, center, most, means, stds, size)), meets

    def interval(self, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return ends (n,) of the scores at points (n, d), in real arithmetic."""
        leaves = self.leaves
        meets = leaves.meeting(points.T, points.T)
        values = leaves.most(meets, leaves.value)
        mean = values.mean(axis=1)
        error = self._relative * np.abs(values).max(axis=1)
        variance = np.square(values - mean[:, None]).mean(axis=1)
        std = np.sqrt(variance + leaves.most(meets, leaves.variance).mean(axis=1))
        off = error + self._relative * std
        stds = self._reach * np.maximum(std - off, 0.0), self._reach * (std + off)
        return score_interval(self.head, (mean - error, mean + error), stds)

    def _std(self, variance: FloatArray, error: float) -> FloatArray:
        return np.asarray(self._reach * np.sqrt(np.maximum(variance, 0.0)) * (1.0 + error))

    @staticmethod
    def _least_variance(low: FloatArray, high: FloatArray) -> FloatArray:
        """Return the second sum of the module's bound from below, (n,)."""
        count = low.shape[1]
        total = np.zeros(len(low))
        for tree in range(count):
            above = np.maximum(low - high[:, [tree]], 0.0)
            total += np.square(above).sum(axis=1)  # each pair is apart one way at most
        return np.asarray(total / count**2)

    def _together(
        self,
        meets: npt.NDArray[np.bool_],
        center: FloatArray,
        most: FloatArray,
        means: tuple[FloatArray, FloatArray],
        stds: tuple[FloatArray, FloatArray],
        size: FloatArray,
    ) -> FloatArray:
        """Bound scores by mean and std together; infinite where that is no bound."""
        head, leaves = self.head, self.leaves
        nothing = np.full(len(center), np.inf)
        if head.shape is Shape.BOXES:
            return nothing
        by_mean, by_std = head.gradient(means[1], stds[1])
        root = ROOT_SHARE * np.sqrt(most)
        with np.errstate(all="ignore"):
            l = by_std / by_mean  # noqa: E741 - as in the module's formula
            q = l * self._reach / (2.0 * root)
            good = np.isfinite(l) & np.isfinite(q) & (l > 0.0) & (by_mean > 0.0)
        l, q = np.where(good, l, 0.0), np.where(good, q, 0.0)  # noqa: E741
        squares = np.square(leaves.value - center[:, None]) + leaves.variance
        sums = leaves.most(meets, leaves.value + q[:, None] * squares).mean(axis=1)
        sums = sums + 0.5 * l * self._reach * root
        largest = np.where(meets, squares, 0.0).max(axis=1)
        sums = sums + 2.0 * self._relative * (size + q * largest + l * self._reach * root)
        if self._linear is not None:
            weight, constant = self._linear.mean_weight, self._linear.constant
            error = 4.0 * self._relative * (np.abs(weight * sums) + abs(constant))
            return np.where(good, weight * sums + constant + error, nothing)
        crossing = np.where(good, (sums - means[1]) / np.where(good, l, 1.0), stds[1])
        places = (stds[0], stds[1], np.clip(crossing, *stds))
        scores = []
        for std in places:
            mean = np.minimum(means[1], sums - l * std)
            mean = mean + 4.0 * UNIT * (np.abs(sums) + l * std)
            scores.append(score_interval(head, (mean, mean), (std, std))[1])
        return np.asarray(np.where(good, np.max(scores, axis=0), nothing))


class ForestMembers(ForestScore):
    """An improvement that is counted over the trees."""

    def __init__(self, head: EmpiricalImprovement, posterior: TreePosterior) -> None:
        super().__init__(posterior)
        self.head, self._shares = head, share_ends(self._count)

    def bound(
        self, lower: FloatArray, upper: FloatArray
    ) -> tuple[FloatArray, npt.NDArray[np.bool_]]:
        """Return the improvement of the highest leaf of each tree."""
        leaves = self.leaves
        meets = leaves.meeting(lower, upper)
        high, low = leaves.most(meets, leaves.value), -leaves.most(meets, -leaves.value)
        return self._of_members(low, high)[1], meets

    def interval(self, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return ends (n,) of the scores at points (n, d), in real arithmetic."""
        values = self.leaves.most(self.leaves.meeting(points.T, points.T), self.leaves.value)
        return self._of_members(values, values)

    def _of_members(self, low: FloatArray, high: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return ends (n,) of empirical scores of members between ends (n, T)."""
        head, reach = self.head, self._reach
        share = (1.0 - reach) / self._count
        error = np.zeros((len(low), 1))
        if reach != 1.0:
            size = np.maximum(np.abs(low), np.abs(high)).max(axis=1, keepdims=True)
            error = 2.0 * self._relative * (1.0 + reach) * size
        ends = []
        for mine, other in ((low, high), (high, low)):
            rest = mine if share >= 0.0 else other
            others = rest.sum(axis=1, keepdims=True) - rest
            ends.append(mine if reach == 1.0 else (reach + share) * mine + share * others)
        ends = [ends[0] - error, ends[1] + error]
        if head.kind == "pi":
            counts = [(end >= head.threshold).sum(axis=1) for end in ends]
            return self._shares[0][counts[0]], self._shares[1][counts[1]]
        below, above = (head.score(end) for end in ends)
        slack = self._relative * (np.abs(high).max(axis=1) + abs(head.threshold))
        return np.maximum(below - slack, 0.0), np.where(above > 0.0, above + slack, above)


def forest_score(objective: Objective) -> ForestScore | None:
    """Return what bounds a head on trees; None where nothing is known about it."""
    if moments := objective.parts(MomentHead, TreePosterior):
        linear = objective.parts(LinearHead, TreePosterior)
        return ForestMoments(*moments, None if linear is None else linear[0])
    members = objective.parts(EmpiricalImprovement, TreePosterior)
    return None if members is None else ForestMembers(*members)
