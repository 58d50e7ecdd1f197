"""Bounds of an objective's score: at points from both sides, over boxes by its excess."""

from __future__ import annotations

import abc
import math
from fractions import Fraction
from functools import cached_property, singledispatch

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.exact.checking.dyadic import ExactNetwork
from nnbo_mip.exact.checking.heads.excess import ExcessBounder
from nnbo_mip.exact.checking.heads.outputs import RELATIVE, BoundedBoxes, OutputBounder, Summed
from nnbo_mip.exact.checking.heads.pieces import ExactPieces
from nnbo_mip.exact.checking.heads.stds import CurveBounder, StdBounder, output_forms
from nnbo_mip.scores.base.abstract import MomentHead
from nnbo_mip.scores.functions.empirical import EmpiricalImprovement
from nnbo_mip.scores.functions.improvement import ExpectedImprovement
from nnbo_mip.scores.functions.linear import LinearHead
from nnbo_mip.scores.functions.noisy import QuantileImprovement

SCORE_ERROR = 1e-11
"""Relative error of every head's float64 score, and absolute one of logarithms; generously."""


class ScoreBounder(abc.ABC):
    """Bounds the score of one objective over one domain."""

    has_pieces = False
    """Whether `excess_of_pieces` knows anything."""

    @property
    def is_useful(self) -> bool:
        """Whether sizes stay far from overflow."""
        return True

    @property
    def unit(self) -> FloatArray | None:
        """Widths (d,) that count alike when boxes are halved; None for those of the domain."""
        return None

    @abc.abstractmethod
    def bound_outputs(self, lower: FloatArray, upper: FloatArray) -> BoundedBoxes:
        """Prepare the bounds over boxes (d, B)."""

    @abc.abstractmethod
    def excess(self, bounded: BoundedBoxes, level: float) -> FloatArray:
        """Return a convex function at the vertices (V, B) of boxes: negative where score <= level.

        Infinite where nothing is known.
        """

    def excess_of_pieces(self, bounded: BoundedBoxes, level: float) -> FloatArray:
        """Return the same (V, patterns) on one box, pattern by pattern, without rounding.

        Infinite here: a score that is not piecewise has no patterns.
        """
        return np.full((1, 1), np.inf)

    @abc.abstractmethod
    def interval(self, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return ends (n,) of the scores at points (n, d), in real arithmetic."""

    @abc.abstractmethod
    def floats_per_box(self, free: int) -> int:
        """Size of the largest intermediate array, a box."""


class NetworkScore(ScoreBounder):
    """Bounds the score of an objective that reads a network."""

    bounder: OutputBounder
    has_pieces = True

    @property
    def is_useful(self) -> bool:
        """Whether sizes stay far from overflow."""
        return self.bounder.is_useful

    def bound_outputs(self, lower: FloatArray, upper: FloatArray) -> BoundedBoxes:
        """Bound the ReLUs over boxes."""
        return self.bounder.bound_outputs(lower, upper)

    def excess(self, bounded: BoundedBoxes, level: float) -> FloatArray:
        """Return the excess from bounds of sums of outputs."""
        return self._excess(self.bounder, bounded, level)

    def excess_of_pieces(self, bounded: BoundedBoxes, level: float) -> FloatArray:
        """Return the same (V, patterns) on one box, pattern by pattern, without rounding."""
        pieces = ExactPieces(self.exact, bounded)
        return self._excess(pieces, pieces.bounded, level)

    @cached_property
    def exact(self) -> ExactNetwork:
        """The network in exact arithmetic, made when it is first needed."""
        return ExactNetwork(self.bounder.network)

    @abc.abstractmethod
    def _excess(self, bounder: Summed, bounded: BoundedBoxes, level: float) -> FloatArray:
        """Return the excess from sums of outputs."""

    def floats_per_box(self, free: int) -> int:
        """Size of the largest intermediate array, a box."""
        return self.bounder.floats_per_box + (1 << free) * 4


class MomentScore(NetworkScore):
    """The score of a head that reads mean and std."""

    def __init__(self, head: MomentHead, stds: StdBounder, bounder: OutputBounder) -> None:
        self.head, self.stds, self.bounder = head, stds, bounder
        self._over: ExcessBounder | None = None

    def floats_per_box(self, free: int) -> int:
        """Size of the largest intermediate array, a box."""
        plain = super().floats_per_box(free)
        if isinstance(self.stds, CurveBounder):
            return plain
        outputs = len(self.bounder.errors)
        return max(plain, outputs * max(self.bounder.floats_per_box, 1 << (free + 1)))

    def _excess(self, bounder: Summed, bounded: BoundedBoxes, level: float) -> FloatArray:
        """Return the excess of the head; see `excess`."""
        if self._over is None or self._over.level != level:
            self._over = ExcessBounder(self.head, level)
        bounds = self._over
        mean = None
        joint = isinstance(self.stds, CurveBounder) and not bounds.reads_mean_apart
        if not joint:
            mean = bounder.sums_at_vertices(bounded, self._only_mean(bounded.count))
        shape = (1 << len(bounded.free), bounded.count)
        return bounds.at_vertices(mean, self.stds.bound(bounder, bounded), shape)

    def interval(self, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return ends of the scores."""
        at = points.T
        bounded = self.bounder.bound_outputs(at, at)
        weights = self._only_mean(bounded.count)
        high = self.bounder.sums_at_vertices(bounded, weights)[0]
        low = -self.bounder.sums_at_vertices(bounded, -weights)[0]
        std = self.stds.bound(self.bounder, bounded)
        return score_interval(self.head, (low, high), (std.low, std.high))

    def _only_mean(self, count: int) -> FloatArray:
        weights = np.zeros((len(self.bounder.errors), count))
        weights[0] = 1.0
        return weights


def score_interval(
    head: MomentHead, means: tuple[FloatArray, FloatArray], stds: tuple[FloatArray, FloatArray]
) -> tuple[FloatArray, FloatArray]:
    """Return ends (n,) of scores of means and stds between ends (n,)."""
    known = np.isfinite([*means, *stds]).all(axis=0)
    means = np.where(known, means[0], 0.0), np.where(known, means[1], 0.0)
    stds = np.where(known, stds[0], 1.0), np.where(known, stds[1], 1.0)
    low = _least(head, means[0], stds)
    high = head.largest(means[1], *stds)
    errors = [
        _error(head, score, *ends)
        for score, ends in ((low, (means[0], stds[1])), (high, (means[1], stds[1])))
    ]
    return (
        np.where(known, low - errors[0], -np.inf),
        np.where(known, high + errors[1], np.inf),
    )


@singledispatch
def _least(head: MomentHead, mean: FloatArray, stds: tuple[FloatArray, FloatArray]) -> FloatArray:
    """Return the least score between two stds: nearly every head goes one way in the std."""
    return np.minimum(head.score(mean, stds[0]), head.score(mean, stds[1]))


@_least.register
def _least_of_quantile(
    head: QuantileImprovement, mean: FloatArray, stds: tuple[FloatArray, FloatArray]
) -> FloatArray:
    loss, spread = head.terms(stds[1])[0], head.terms(stds[0])[1]
    inner = ExpectedImprovement(head.threshold)
    return inner.score(mean - loss - RELATIVE * (np.abs(mean) + loss), spread)


@singledispatch
def _error(head: MomentHead, score: FloatArray, mean: FloatArray, std: FloatArray) -> FloatArray:
    """Return what the rounding of a score may amount to."""
    size = np.where(np.isfinite(score), np.abs(score), 0.0)
    # Of scores that are not logarithms nothing is left to refute where they underflow.
    return SCORE_ERROR * (size + 1.0) if head.is_logarithm else SCORE_ERROR * size + 1e-300


@_error.register
def _error_of_linear(
    head: LinearHead, score: FloatArray, mean: FloatArray, std: FloatArray
) -> FloatArray:
    sizes = np.abs(head.mean_weight * mean) + np.abs(head.std_weight * std)
    return 4.0 * RELATIVE * (sizes + abs(head.constant))


class MemberScore(NetworkScore):
    """The empirical scores, which rise in every member."""

    def __init__(self, head: EmpiricalImprovement, bounder: OutputBounder) -> None:
        self.head, self.bounder = head, bounder
        self.count = len(bounder.errors) - 1
        self._shares = share_ends(self.count)

    def floats_per_box(self, free: int) -> int:
        """Size of the largest intermediate array, a box."""
        return (self.count + 1) * max(self.bounder.floats_per_box, 1 << (free + 1))

    def _excess(self, bounder: Summed, bounded: BoundedBoxes, level: float) -> FloatArray:
        """Return the average of the members' excess, or that of the member which decides."""
        middle, half = output_forms(bounder, bounded)
        over = middle + half - self.head.threshold
        over = over + RELATIVE * (np.abs(middle) + half + abs(self.head.threshold))
        if self.head.kind == "ei":
            total = np.maximum(over, 0.0).mean(axis=0)
            excess = total * (1.0 + RELATIVE * (self.count + 4)) - level + RELATIVE * abs(level)
        else:
            least = (middle - half - self.head.threshold).min(axis=1)
            excess = self._of_counts(over, least, level)
        return np.where(np.isnan(excess), np.inf, excess)

    def _of_counts(self, over: FloatArray, least: FloatArray, level: float) -> FloatArray:
        """Return the excess of a share: above the level it takes one member more than allowed."""
        allowed = math.floor(Fraction(level) * self.count)
        highest = np.asarray(over.max(axis=1))  # (M, B)
        possible = np.asarray(highest >= 0.0)
        number = possible.sum(axis=0)
        undecided = np.asarray(possible & (least < 0.0))
        chosen = np.where(undecided, highest, np.inf).argmin(axis=0)
        boxes = np.arange(over.shape[2])
        decisive = (number == allowed + 1) & undecided[chosen, boxes]
        excess = np.where(decisive, over[chosen, :, boxes].T, np.inf)
        return np.where(number <= allowed, -1.0, excess)

    def interval(self, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return ends of the scores."""
        middle, half = output_forms(self.bounder, self.bounder.bound_outputs(points.T, points.T))
        low, high = (middle - half)[:, 0].T, (middle + half)[:, 0].T
        known = np.asarray(np.isfinite(np.hstack([low, high])).all(axis=1, keepdims=True))
        low, high = np.where(known, low, 0.0), np.where(known, high, 0.0)
        rounding = 2.0 * RELATIVE * (np.abs(low) + np.abs(high) + abs(self.head.threshold))
        low, high = low - rounding, high + rounding
        if self.head.kind == "pi":
            least, most = (
                ends[(part >= self.head.threshold).sum(axis=1)]
                for ends, part in zip(self._shares, (low, high), strict=True)
            )
        else:
            error = RELATIVE * (self.count + 8)
            least = self.head.score(low) * (1.0 - error)
            most = self.head.score(high) * (1.0 + error)
        return np.where(known[:, 0], least, -math.inf), np.where(known[:, 0], most, math.inf)


def share_ends(count: int) -> tuple[FloatArray, FloatArray]:
    """Return (count + 1,) floats that enclose each of the shares 0, 1 / count, …, 1."""
    low, high = np.empty((2, count + 1))
    for number in range(count + 1):
        near = number / count
        exact, share = Fraction(near), Fraction(number, count)
        low[number] = near if exact <= share else math.nextafter(near, -math.inf)
        high[number] = near if exact >= share else math.nextafter(near, math.inf)
    return low, high
