r"""By how much a score may exceed a level, as a convex function of the point, at box vertices.

Where ``E(x) < 0`` the score does not exceed the level; E is convex on the box, so its values at
the vertices decide. With P above the mean, S above the std (convex) and s below it (concave):

    linear     a P + b S + c - level,                       s in place of S where b < 0
    ratio      P - threshold - t S,                         s in place of S where t > 0
    EI         EI(P, S) / level - 1
    NEI        mean_k EI_k(P, S) / level - 1
    AEI        EI(P, S) - level v(S),                       v a tangent of 1 / F, which is convex
    EQI        EI(P - w, V) - level,                        w and V affine in s and in S

EI is convex in (mean, std) and rises in both. AEI = EI F <= level where EI <= level / F, and
1 / F = 1 + n^2/s^2 + n r/s^2 (r^2 = s^2 + n^2) is convex and falls. In EQI, w(s) = z n s / r is
concave, so that its chord over the ends of the std is below it, and s^2 / r bends by at most
0.036 / n downwards.

For a std that is a curve of one output, the affine function J above ``a mean + l std``, (a, l)
the slopes of EI, tells more: wherever EI(P, S) is cut by J, it is at most the larger of
EI(P, (J - a P) / l) and EI((J - l S) / a, S).
"""

from __future__ import annotations

import math
from functools import singledispatch

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.exact.checking.heads.stds import Std
from nnbo_mip.scores.base.abstract import MomentHead, RatioHead, Shape
from nnbo_mip.scores.functions.entropy import MaxValueEntropy
from nnbo_mip.scores.functions.improvement import ExpectedImprovement, expectation, log_expectation
from nnbo_mip.scores.functions.linear import LinearHead
from nnbo_mip.scores.functions.noisy import AugmentedEI, QuantileImprovement
from nnbo_mip.scores.functions.probability import LogProbability, ProbabilityOfImprovement
from nnbo_mip.scores.functions.sampled_incumbents import NoisyImprovement, mean_of_exponentials

RELATIVE = 2.0**-50

SCORE_ERROR = 1.5e-12
"""Relative error of EI and its relatives, absolute error of log EI a unit of 1 + |log EI|; see
`heads.normal`, whose errors are at most 1e-12."""

QUANTILE_ERROR = 1e-13
"""How far the ratio of a level of PI may be off, a unit of 1 + |t|."""

RATIO_STEPS = 40
"""Doublings of a step of one rounding by which other ratios are lowered."""

BEND = 0.0045
"""An eighth of 0.036."""

BALANCED = 1e-6
"""Slopes of EI whose quotient is beyond this are not joined."""


class ExcessBounder:
    """Excess over one level of one head.

    Parameters
    ----------
    head : MomentHead
    level : float
        Finite.
    """

    def __init__(self, head: MomentHead, level: float) -> None:
        self.head, self.level = head, level
        self.ratio = ratio_below(head, level)

    @property
    def reads_mean_apart(self) -> bool:
        """Whether bounds of the mean alone are of use."""
        return self.head.shape not in (Shape.LINEAR, Shape.RATIO)

    def at_vertices(self, mean: FloatArray | None, std: Std, shape: tuple[int, int]) -> FloatArray:
        """Return E (V, B), infinite where nothing is known.

        Parameters
        ----------
        mean : (V, B) array or None
            Vertices of an affine function above the mean; None asks for joint bounds.
        std : Std
        shape : (V, B)
        """
        with np.errstate(all="ignore"):
            excess = _excess(self.head, self, mean, std, shape)
        return np.where(np.isnan(excess), np.inf, excess)

    def sum(
        self, mean: FloatArray | None, std: Std, a: float, b: float, shape: tuple[int, int]
    ) -> FloatArray:
        """Return ``a P + b S`` (V, B), s in place of S where b < 0."""
        if mean is None:
            joint = std.joint_above(np.full(shape[1], a), np.full(shape[1], b))
            if joint is not None:
                return joint
            return np.full(shape, np.inf)
        total = a * mean
        if b != 0.0:
            total = total + b * (std.above if b > 0.0 else std.below)
        size = np.abs(a * mean) + (np.abs(b * std.above) if b != 0.0 else 0.0)
        return np.asarray(total + RELATIVE * size)

    # -- expected improvement -----------------------------------------------------------

    def improvement(self, head: ExpectedImprovement, mean: FloatArray, std: Std) -> FloatArray:
        """Return ``EI / level - 1``, with mean and std joined where that helps."""
        excess = self._over_level(head, mean, std.above)
        open_boxes = ~(excess.max(axis=0) < 0.0)
        if not open_boxes.any():
            return excess
        worst, boxes = excess.argmax(axis=0), np.arange(excess.shape[1])
        at = mean[worst, boxes], np.maximum(std.above[worst, boxes], 0.0)
        usable = np.isfinite(at[0]) & np.isfinite(at[1])
        by_mean, by_std = head.gradient(*(np.where(usable, part, 1.0) for part in at))
        larger = np.maximum(by_mean, by_std)
        usable &= np.minimum(by_mean, by_std) > BALANCED * larger
        a, b = (np.where(usable, part / larger, 1.0) for part in (by_mean, by_std))
        joint = std.joint_above(a, b)
        if joint is None:
            return excess
        rounding = 4.0 * RELATIVE * (np.abs(joint) + np.abs(a * mean) + np.abs(b * std.above))
        std_there = np.maximum((joint - a * mean + rounding) / b, 0.0)
        mean_there = (joint - b * std.above + rounding) / a
        joined = np.maximum(
            self._over_level(head, mean, std_there),
            self._over_level(head, mean_there, std.above),
        )
        joined = np.where(np.isnan(joined), np.inf, joined)
        better = usable & (joined.max(axis=0) < excess.max(axis=0))
        return np.where(better, joined, excess)

    def _over_level(
        self, head: ExpectedImprovement, mean: FloatArray, std: FloatArray
    ) -> FloatArray:
        """Return ``EI / level - 1``, rounded up; exp of the level for log EI."""
        margin = _margin_above(mean, head.threshold)
        stds = np.maximum(std, 0.0)
        if head.log:
            score = log_score_above(margin, stds)
            return np.asarray(np.expm1(score - self.level) + 1e-14)
        if self.level <= 0.0:
            return np.full(mean.shape, np.inf)
        return np.asarray(score_above(margin, stds) / self.level * (1.0 + 1e-14) - 1.0 + 1e-15)

    # -- noisy relatives ----------------------------------------------------------------

    def noisy(self, head: NoisyImprovement, mean: FloatArray, std: Std) -> FloatArray:
        """Return ``NEI / level - 1``, rounded up; exp of the level for log NEI."""
        stds = np.maximum(std.above, 0.0)
        margins = [_margin_above(mean, threshold) for threshold in head.thresholds]
        if head.log:
            logs = np.stack([log_score_above(margin, stds) for margin in margins], axis=-1)
            return np.asarray(np.expm1(mean_of_exponentials(logs) + 1e-13 - self.level) + 1e-14)
        if self.level <= 0.0:
            return np.full(mean.shape, np.inf)
        score = np.mean([score_above(margin, stds) for margin in margins], axis=0)
        return np.asarray(score / self.level * (1.0 + 1e-13) - 1.0 + 1e-15)

    def augmented(self, head: AugmentedEI, mean: FloatArray, std: Std) -> FloatArray:
        """Return E of AEI above a level above 0."""
        stds = np.maximum(std.above, 0.0)
        improvement = score_above(_margin_above(mean, head.threshold), stds)
        if head.noise == 0.0:
            return improvement / self.level * (1.0 + 1e-14) - 1.0 + 1e-15
        at = np.maximum(stds.mean(axis=0), 1e-8 * head.noise)
        n, r = head.noise, np.hypot(at, head.noise)
        value = 1.0 + (n / at) ** 2 + (n / at) * (r / at)
        slope = (n / at) * (1.0 / r - 2.0 * (r / at) / at - 2.0 * (n / at) / at)
        step = slope * (stds - at)
        allowed = self.level * (value + step)
        size = self.level * (value + np.abs(step) + np.abs(slope) * (stds + at))
        return np.asarray((improvement - allowed + 1e-13 * size) / self.level)

    def quantile(self, head: QuantileImprovement, mean: FloatArray, std: Std) -> FloatArray:
        """Return E of EQI above a level above 0."""
        noise = head.noise
        stds = np.maximum(std.above, 0.0)
        if noise == 0.0:
            return self._relative(_margin_above(mean, head.threshold), stds)
        low, high = std.low, std.high
        width = high - low
        wide = width > 1e-9 * high
        safe = np.where(wide, width, 1.0)
        (loss_low, spread_low), (loss_high, spread_high) = head.terms(low), head.terms(high)
        loss_slope = np.where(wide, np.maximum(loss_high - loss_low, 0.0) / safe, 0.0)
        spread_slope = np.where(wide, np.maximum(spread_high - spread_low, 0.0) / safe, 0.0)
        # The chord of w from the lower end; where it ends above w by rounding, it is lowered.
        loss = loss_low + loss_slope * (std.below - low)
        loss = loss - 1e-13 * (np.abs(loss_high) + loss_slope * (np.abs(std.below) + high))
        start = np.where(wide, spread_low, spread_high)
        bend = BEND * width * (width / noise)
        spread = start + spread_slope * (stds - low) + bend
        spread = spread + 1e-13 * (spread_high + spread_slope * (stds + high))
        margin = _margin_above(mean, head.threshold)
        margin = margin - loss + 4.0 * RELATIVE * (np.abs(margin) + np.abs(loss))
        return self._relative(margin, np.maximum(spread, 0.0))

    def _relative(self, margin: FloatArray, std: FloatArray) -> FloatArray:
        return np.asarray(score_above(margin, std) / self.level * (1.0 + 1e-14) - 1.0 + 1e-15)


@singledispatch
def _excess(
    head: MomentHead,
    bounder: ExcessBounder,
    mean: FloatArray | None,
    std: Std,
    shape: tuple[int, int],
) -> FloatArray:
    """Return E (V, B); infinite for heads that nothing is known of."""
    return np.full(shape, np.inf)


@_excess.register
def _of_linear(
    head: LinearHead,
    bounder: ExcessBounder,
    mean: FloatArray | None,
    std: Std,
    shape: tuple[int, int],
) -> FloatArray:
    level = bounder.level
    total = bounder.sum(mean, std, head.mean_weight, head.std_weight, shape)
    rest = (head.constant - level) + RELATIVE * (abs(head.constant) + abs(level))
    return total + rest + RELATIVE * np.abs(total)


@_excess.register
def _of_ratio(
    head: RatioHead,
    bounder: ExcessBounder,
    mean: FloatArray | None,
    std: Std,
    shape: tuple[int, int],
) -> FloatArray:
    if not math.isfinite(bounder.ratio):
        return np.full(shape, np.inf)
    total = bounder.sum(mean, std, 1.0, -bounder.ratio, shape)
    return total - head.threshold + RELATIVE * (np.abs(total) + abs(head.threshold))


@_excess.register
def _of_improvement(
    head: ExpectedImprovement,
    bounder: ExcessBounder,
    mean: FloatArray | None,
    std: Std,
    shape: tuple[int, int],
) -> FloatArray:
    assert mean is not None
    return bounder.improvement(head, mean, std)


@_excess.register
def _of_noisy(
    head: NoisyImprovement,
    bounder: ExcessBounder,
    mean: FloatArray | None,
    std: Std,
    shape: tuple[int, int],
) -> FloatArray:
    assert mean is not None
    return bounder.noisy(head, mean, std)


@_excess.register
def _of_augmented(
    head: AugmentedEI,
    bounder: ExcessBounder,
    mean: FloatArray | None,
    std: Std,
    shape: tuple[int, int],
) -> FloatArray:
    assert mean is not None
    if bounder.level <= 0.0:
        return np.full(shape, np.inf)
    return bounder.augmented(head, mean, std)


@_excess.register
def _of_quantile(
    head: QuantileImprovement,
    bounder: ExcessBounder,
    mean: FloatArray | None,
    std: Std,
    shape: tuple[int, int],
) -> FloatArray:
    assert mean is not None
    if bounder.level <= 0.0:
        return np.full(shape, np.inf)
    return bounder.quantile(head, mean, std)


@singledispatch
def ratio_below(head: MomentHead, level: float) -> float:
    """Return a t whose score is not above a level, close to the largest; infinite or NaN if none.

    Nothing exceeds the level where mean - threshold <= t std.
    """
    return math.nan


@ratio_below.register
def _of_any_ratio(head: RatioHead, level: float) -> float:
    t = head.ratio_at_level(level)
    return math.nan if math.isfinite(t) else t


@ratio_below.register(ProbabilityOfImprovement)
@ratio_below.register(LogProbability)
def _of_probability(head: RatioHead, level: float) -> float:
    t = head.ratio_at_level(level)
    return t - QUANTILE_ERROR * (1.0 + abs(t)) if math.isfinite(t) else t


@ratio_below.register
def _of_entropy(head: MaxValueEntropy, level: float) -> float:
    t = head.ratio_at_level(level)
    if not math.isfinite(t):
        return t
    of_ratio = MaxValueEntropy(0.0)
    for doubling in range(RATIO_STEPS):
        lowered = t - 2.0**-53 * (2.0**doubling - 1.0) * (1.0 + abs(t))
        if float(of_ratio.score(lowered, 1.0)) * (1.0 + SCORE_ERROR) <= level:
            return lowered
    return math.nan


def _margin_above(mean: FloatArray, threshold: float) -> FloatArray:
    return mean - threshold + RELATIVE * (np.abs(mean) + abs(threshold))


def score_above(margin: FloatArray, std: FloatArray) -> FloatArray:
    """Return numbers that are not below the expected improvement."""
    score = expectation(margin, std)
    # Deep below the threshold the error of the quotient counts with its square.
    u = np.where(std > 0.0, np.minimum(margin, 0.0) / np.where(std > 0.0, std, 1.0), 0.0)
    return np.asarray(score * (1.0 + SCORE_ERROR + 1e-15 * u**2) + 1e-300)


def log_score_above(margin: FloatArray, std: FloatArray) -> FloatArray:
    """Return numbers that are not below the logarithm of the expected improvement."""
    score = log_expectation(margin, std)
    size = np.where(np.isfinite(score), np.abs(score), 0.0)
    spread = np.abs(np.log(np.maximum(std, 1e-300)))
    return np.asarray(score + SCORE_ERROR * (1.0 + size) + 1e-14 * spread)
