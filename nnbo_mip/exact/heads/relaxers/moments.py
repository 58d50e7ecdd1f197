"""Conditions of heads of mean and std over boxes."""

from __future__ import annotations

from functools import singledispatch
from itertools import pairwise

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.exact.bounds.planes import Conditions, conditions
from nnbo_mip.exact.bounds.row_relaxation import Rows
from nnbo_mip.exact.heads.relaxers.spreads import SpreadRelaxer
from nnbo_mip.exact.scores.level_lines import LevelLines, level_lines
from nnbo_mip.scores.base.abstract import MomentHead, Shape
from nnbo_mip.scores.functions.linear import LinearHead
from nnbo_mip.scores.logarithms import LEAST_LOG

SCORE_ERROR = 1e-11
"""Relative error of every head's score, and absolute error of logarithms; generously."""

PIECES = 8
"""Pieces of the std's interval over which a head without a shape is bounded."""


class MomentRelaxer:
    """Turns levels of a score into conditions on a sum of mean and std.

    Parameters
    ----------
    rows : Rows
        Of the outputs that the spread reads, with the mean for a base.
    head : MomentHead
        Rising in the mean.
    spreads : SpreadRelaxer
        Bounds the std.
    """

    def __init__(self, rows: Rows, head: MomentHead, spreads: SpreadRelaxer) -> None:
        self.head, self._spreads, self._rows = head, spreads, rows
        self.depth = self._rows.depth
        self.is_useful = self._rows.is_useful
        self.lengths = spreads.lengths

    def floats_per_box(self) -> int:
        """Float64 values held for one box."""
        return self._rows.floats_per_box()

    def bound(
        self, lower: FloatArray, upper: FloatArray, level: float, slope_steps: int
    ) -> Conditions:
        """Return conditions for scores above a level over boxes (d, B)."""
        bounded = self._rows.bound_outputs(lower, upper)
        spread = self._spreads.spread(bounded)
        lines = level_lines(self.head, spread.low, spread.high, level)
        sums = spread.carried(self._rows, bounded, lines, slope_steps)
        scores = scores_below(self.head, lines, sums.bound, spread.low, spread.high)
        return conditions(sums, lines.limit, scores)


@singledispatch
def scores_below(
    head: MomentHead, lines: LevelLines, most: FloatArray, low: FloatArray, high: FloatArray
) -> FloatArray:
    """Bound a score where the sum of mean and std is at most `most`.

    Parameters
    ----------
    head : MomentHead
    lines : LevelLines
        The weights of the sum.
    most, low, high : (B,) arrays
        Bounds of the sum, and ends of the std.
    """
    if head.shape in (Shape.CONVEX, Shape.RATIO):
        # Quasi-convex along the line: largest at one of its ends.
        ends = [(low, low), (high, high)]
    else:
        steps = np.linspace(0.0, 1.0, PIECES + 1)
        cuts = [np.maximum(low, high - (1.0 - t) * (high - low)) for t in steps]
        cuts[0], cuts[-1] = low, high
        ends = list(pairwise(cuts))
    found = [_score_between(head, lines, most, *pair) for pair in ends]
    score: FloatArray = np.max(found, axis=0)
    if head.is_logarithm:
        score = np.maximum(score, LEAST_LOG)  # as the values that are searched
    score = score + SCORE_ERROR * (np.abs(score) + 1.0)
    return np.minimum(score, head.largest_score) if head.is_logarithm else score


@scores_below.register
def _of_linear(
    head: LinearHead, lines: LevelLines, most: FloatArray, low: FloatArray, high: FloatArray
) -> FloatArray:
    return most + head.constant + SCORE_ERROR * 1e-4 * (np.abs(most) + abs(head.constant))


def _score_between(
    head: MomentHead, lines: LevelLines, most: FloatArray, low: FloatArray, high: FloatArray
) -> FloatArray:
    shares = lines.std_weight * low, lines.std_weight * high
    sizes = np.abs(most) + np.maximum(np.abs(shares[0]), np.abs(shares[1]))
    mean = most - np.minimum(*shares) + 1e-14 * sizes
    good = np.isfinite(mean) & np.isfinite(high)
    mean, low, high = (np.where(good, part, 0.0) for part in (mean, low, high))
    return np.where(good, head.largest(mean, low, high), np.inf)
