r"""Half-planes of (mean, std) in which a score is proven not to exceed a level.

    a mean + l std <= k   and   low <= std <= high   imply   score(mean, std) <= level.

*Linear heads* are such a sum themselves. *Ratios* rise in (mean - threshold) / std, so that
with the t of the level a = 1, l = -t, k = threshold; a point of std 0 belongs to the level only
below the threshold.

*EI and log EI*: {score <= level} is convex, bounded by a falling mean = M(std), so that the
chord of M over [low, high] lies in it.

*AEI* = EI(mean, std) F(std) <= c where EI <= c / F(std). 1 / F is convex and falls, so its
tangent v(std) lies below it. The margin at which EI is v is jointly concave in (std, v), for it
is the perspective of an inverse of a convex function: along the tangent it is concave in the
std, and its chord serves.

*NEI*, a mean of EIs over several thresholds, and its logarithm: as EI, the margin that of the
largest threshold.

*EQI* is EI at (mean - w(std), v(std)), so q + l v <= k implies it, with the chord for
v(low), v(high). There -w is convex and v has |v''| <= 2 / noise, so -w + l v is at most its
own chord plus l (high - low)^2 / (4 noise).

Margins are taken as far below as `LEVEL_ERROR` and `RATIO_ERROR` demand.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import singledispatch

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.errors import UnsupportedError
from nnbo_mip.scores.base.abstract import MomentHead, RatioHead, Shape
from nnbo_mip.scores.functions.improvement import LEVEL_ERROR, ExpectedImprovement, margin_at_level
from nnbo_mip.scores.functions.linear import LinearHead
from nnbo_mip.scores.functions.noisy import AugmentedEI, QuantileImprovement
from nnbo_mip.scores.functions.sampled_incumbents import NoisyImprovement

RATIO_ERROR = 1e-11
"""No head's `ratio_at_level` is further from exact than this times (1 + abs(t))."""

ROUNDING = 1e-14
"""Relative error of the few operations that make a line of two margins."""

SAMPLED_ERROR = 3e-12
"""The same for NEI: a relative error of 1.5e-12 of a score moves the mean by no more."""

FLAT = 1e-9
"""Intervals of the std that are narrower than this, relative, get a flat line."""


@dataclass(frozen=True, eq=False)
class LevelLines:
    """One half-plane a box: ``mean_weight mean + std_weight std <= limit``; all (B,)."""

    mean_weight: FloatArray
    std_weight: FloatArray
    limit: FloatArray


def level_lines(head: MomentHead, low: FloatArray, high: FloatArray, level: float) -> LevelLines:
    """Return half-planes below a level.

    Parameters
    ----------
    head : MomentHead
    low, high : (B,) arrays
        Ends of the std, low >= 0.
    level : float
        Below the largest score; -inf gives lines that nothing satisfies.
    """
    if level == -math.inf and head.shape is not Shape.LINEAR:
        one = np.ones(len(low))
        return LevelLines(one, 0.0 * one, -np.inf * one)
    return lines_of(head, low, high, level)


@singledispatch
def lines_of(head: MomentHead, low: FloatArray, high: FloatArray, level: float) -> LevelLines:
    """Return half-planes below a finite level; one more kind of head registers its own."""
    raise UnsupportedError(
        f"boxes must know the level sets of a head; got a {type(head).__name__}; register its "
        "half-planes with exact.scores.level_lines.lines_of."
    )


@lines_of.register
def _of_linear(head: LinearHead, low: FloatArray, high: FloatArray, level: float) -> LevelLines:
    one = np.ones(len(low))
    limit = level - head.constant
    if level > -math.inf:
        limit -= ROUNDING * (abs(level) + abs(head.constant))
    return LevelLines(head.mean_weight * one, head.std_weight * one, limit * one)


@lines_of.register
def _of_ratio(head: RatioHead, low: FloatArray, high: FloatArray, level: float) -> LevelLines:
    one = np.ones(len(low))
    t = head.ratio_at_level(level)
    if not math.isfinite(t):
        # Every point reaches a level of -inf; one of +inf is above all scores but those at std 0.
        limit = -np.inf if t < 0.0 else head.threshold
        return LevelLines(one, 0.0 * one, _below_at_zero(limit * one, low))
    t -= RATIO_ERROR * (1.0 + abs(t))
    return LevelLines(one, -t * one, _below_at_zero(head.threshold * one, low))


def _below_at_zero(limit: FloatArray, low: FloatArray) -> FloatArray:
    return np.where(low > 0.0, limit, np.nextafter(limit, -np.inf))


@lines_of.register
def _of_improvement(
    head: ExpectedImprovement, low: FloatArray, high: FloatArray, level: float
) -> LevelLines:
    return _below_convex_level(head, head.threshold, head.log, low, high, level)


@lines_of.register
def _of_noisy(
    head: NoisyImprovement, low: FloatArray, high: FloatArray, level: float
) -> LevelLines:
    # The margin is found from the logarithm of the level, whose rounding counts in any case.
    return _below_convex_level(head, max(head.thresholds), True, low, high, level, SAMPLED_ERROR)


def _below_convex_level(
    head: MomentHead,
    threshold: float,
    log: bool,
    low: FloatArray,
    high: FloatArray,
    level: float,
    error_share: float = LEVEL_ERROR,
) -> LevelLines:
    """Return the chord below the boundary of a convex level set."""
    scale = abs(threshold)
    margins = []
    for std in (low, high):
        margin = head.mean_at_level(std, level) - threshold
        error = error_share * (scale + np.abs(margin) + std)
        if log:
            with np.errstate(divide="ignore"):
                logs = np.abs(np.log(np.maximum(std, 5e-324)))
            error = error * (2.0 + abs(level) + logs)
        margins.append(margin - error - 1e-300)
    return _chord(threshold, low, high, *margins)


@lines_of.register
def _of_augmented(head: AugmentedEI, low: FloatArray, high: FloatArray, level: float) -> LevelLines:
    one = np.ones(len(low))
    if level <= 0.0:
        return LevelLines(one, 0.0 * one, -np.inf * one)
    smallest = 1e-40 * max(head.noise, 1e-100)  # tangents at any point are below 1 / F
    at = np.maximum(0.5 * low + 0.5 * high, smallest)
    raised, slope = _raise_of(head.noise, at)
    steps = [slope * (end - at) for end in (low, high)]
    values = [level * (raised + step - ROUNDING * (raised + np.abs(step))) for step in steps]
    # Far from the tangent's point it can pass below 0; 1 / F itself does not.
    least = level * _raise_of(head.noise, np.maximum(high, smallest))[0]
    usable = values[1] > 0.0
    values = [np.where(usable, value, least) for value in values]
    scale = abs(head.threshold)
    margins = []
    for std, value in zip((low, high), values, strict=True):
        value = value * (1.0 - 1e-13)
        margin = margin_at_level(std, value)
        margins.append(margin - 4.0 * LEVEL_ERROR * (scale + np.abs(margin) + std) - 1e-300)
    return _chord(head.threshold, low, high, *margins)


def _raise_of(noise: float, std: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return 1 / F = r (r + n) / s^2 and its derivative."""
    ratio = noise / std
    root = np.hypot(1.0, ratio)
    slope = -(2.0 * ratio + ratio**2 / root + root) * ratio / std
    return root * (root + ratio), slope


@lines_of.register
def _of_quantile(
    head: QuantileImprovement, low: FloatArray, high: FloatArray, level: float
) -> LevelLines:
    one = np.ones(len(low))
    if level <= 0.0:
        return LevelLines(one, 0.0 * one, -np.inf * one)
    (loss_low, spread_low), (loss_high, spread_high) = head.terms(low), head.terms(high)
    inner = _of_improvement(ExpectedImprovement(head.threshold), spread_low, spread_high, level)
    ends = [
        inner.std_weight * spread - loss
        for spread, loss in ((spread_low, loss_low), (spread_high, loss_high))
    ]
    width = high - low
    wide = width > FLAT * high
    slope = np.where(wide, (ends[1] - ends[0]) / np.where(wide, width, 1.0), 0.0)
    sizes = loss_high + (inner.std_weight * spread_high) + np.abs(slope) * high
    bend = np.zeros(len(low))
    if head.noise > 0.0:
        with np.errstate(over="ignore"):
            bend = 0.25 * inner.std_weight * width * np.minimum(width / head.noise, 8.0)
    above = np.maximum(ends[0] - slope * low, ends[1] - slope * high) + bend + ROUNDING * sizes
    return LevelLines(one, slope, inner.limit - above - ROUNDING * np.abs(inner.limit))


def _chord(
    threshold: float, low: FloatArray, high: FloatArray, at_low: FloatArray, at_high: FloatArray
) -> LevelLines:
    """Return the line below two margins, of a falling boundary."""
    width = high - low
    wide = (width > FLAT * high) & np.isfinite(at_low) & np.isfinite(at_high)
    difference = np.where(wide, at_low, 0.0) - np.where(wide, at_high, 0.0)
    with np.errstate(over="ignore"):
        weight = np.maximum(difference / np.where(wide, width, 1.0), 0.0)
    weight = np.where(np.isfinite(weight), weight, 0.0)  # flat where the width vanishes
    limit = np.minimum(at_low + weight * low, at_high + weight * high)
    sizes = abs(threshold) + np.abs(limit) + weight * high
    return LevelLines(np.ones(len(low)), weight, threshold + limit - ROUNDING * sizes)
