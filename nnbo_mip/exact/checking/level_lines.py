r"""Lines of mean and std below which a score does not exceed a level, written for checking.

A line is tried out with the score itself and lowered until that holds on it: improvements and
probabilities are quasi-convex along a line, so that its ends decide; of other scores the largest
value up to a mean is asked for, and the line is flat.
"""

from __future__ import annotations

from functools import singledispatch

import numpy as np

from nnbo_mip.core.arrays import BoolArray, FloatArray
from nnbo_mip.scores.base.abstract import MomentHead, Shape
from nnbo_mip.scores.functions.linear import LinearHead

UNIT = 2.0**-53
"""Unit roundoff of float64."""

SCORE_ERROR = 2e-12
"""Relative error of heads, absolute one of logarithms."""

LOWERINGS = 48
"""Factors of 4 by which a line is lowered until the score holds on it."""


@singledispatch
def lines(
    head: MomentHead, level: float, low: FloatArray, high: FloatArray
) -> tuple[float, FloatArray, FloatArray]:
    """Return a, and k >= 0 and T (B,): the score is <= level where ``a mean + k std <= T``.

    Parameters
    ----------
    head : MomentHead
    level : float
    low, high : (B,) arrays
        Ends of the std.
    """
    one = np.ones(len(low))
    with np.errstate(all="ignore"):
        ends = [head.mean_at_level(std, level * one) for std in (low, high)]
        width = high - low
        curved = head.shape in (Shape.CONVEX, Shape.RATIO)
        falls = np.isfinite(ends[0]) & np.isfinite(ends[1]) & (width > 1e-9 * high) & curved
        slope = np.where(falls, (ends[0] - ends[1]) / np.where(falls, width, 1.0), 0.0)
        slope = np.maximum(slope, 0.0)
        limit = np.minimum(ends[0] + slope * low, ends[1] + slope * high)
        lowering = 2.0 * UNIT * (np.abs(limit) + slope * high + high)
        for _ in range(LOWERINGS):
            fails = ~_holds_on(head, level, slope, limit, low, high)
            if not fails.any():
                return 1.0, slope, limit
            limit, lowering = np.where(fails, limit - lowering, limit), 4.0 * lowering
        return 1.0, slope, np.where(fails, -np.inf, limit)


@lines.register
def _of_linear(
    head: LinearHead, level: float, low: FloatArray, high: FloatArray
) -> tuple[float, FloatArray, FloatArray]:
    most = level - head.constant - 4.0 * UNIT * (abs(level) + abs(head.constant))
    gained = max(-head.std_weight, 0.0) * low * (1.0 - 4.0 * UNIT)
    limit = most + gained - 4.0 * UNIT * (abs(most) + gained)
    return head.mean_weight, max(head.std_weight, 0.0) * np.ones(len(low)), limit


def _holds_on(
    head: MomentHead,
    level: float,
    slope: FloatArray,
    limit: FloatArray,
    low: FloatArray,
    high: FloatArray,
) -> BoolArray:
    """Return whether (B,) the score is at most the level where ``mean + slope std = limit``."""
    known = np.isfinite(limit) & np.isfinite(high)
    limit, low, high = (np.where(known, part, 0.0) for part in (limit, low, high))
    off = 4.0 * UNIT * (np.abs(limit) + slope * high)
    if head.shape in (Shape.CONVEX, Shape.RATIO):
        ends = [head.score(limit - slope * std + off, std) for std in (low, high)]
        scores = np.maximum(*ends)
    else:
        scores = head.largest(limit + off, low, high)
    size = np.abs(scores) + (1.0 if head.is_logarithm else 0.0)
    return np.asarray(known & (scores + SCORE_ERROR * size <= level))
