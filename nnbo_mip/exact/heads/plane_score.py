"""A score of mean and std as a function of both coordinates of a plane."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.errors import UnsupportedError
from nnbo_mip.exact.heads.moments import Plane
from nnbo_mip.exact.heads.polygon import Corner
from nnbo_mip.exact.search.rounding import rounded_up
from nnbo_mip.scores.base.abstract import Head, RatioHead
from nnbo_mip.scores.functions.improvement import ExpectedImprovement
from nnbo_mip.scores.logarithms import LEAST_LOG

SCORE_ERROR = 2e-12
"""Relative error of a float64 score, generously; see `acquisitions.normal`."""


@dataclass(frozen=True, eq=False)
class Score:
    """What is searched, as a function of both coordinates of a plane.

    Parameters
    ----------
    head : ExpectedImprovement or RatioHead
        The head that is searched.
    plane : Plane
    """

    head: ExpectedImprovement | RatioHead
    plane: Plane

    def at(self, z: FloatArray) -> float:
        """Return the score at coordinates (2,), which may have left the possible ones."""
        score = self._score(float(z[0]) - self.head.threshold, self._possible(float(z[1])))
        return max(score, LEAST_LOG)

    def above(self, corner: Corner) -> float:
        """Return a number that is not below the score at a corner, in real arithmetic."""
        margin = rounded_up(corner[0] - Fraction(self.head.threshold))
        second = self._possible(rounded_up(corner[1]))
        score = self._score(margin, second)
        if not math.isfinite(score):
            return max(score, LEAST_LOG)
        spread = abs(math.log(max(self._std(second), 1e-300)))
        above = score + SCORE_ERROR * (1.0 + abs(score)) + 1e-14 * spread
        return max(above, LEAST_LOG)  # as low as problems let logarithms go

    def gradient(self, z: FloatArray) -> FloatArray:
        """Return the derivatives (2,) by both coordinates, none negative."""
        second = self._possible(float(z[1]))
        mean, std = np.array([z[0]]), np.array([self._std(second)])
        by_mean, by_std = self.head.gradient(mean, std)
        by_second = float(by_std[0]) * self.plane.std_slope(second)
        return np.maximum([float(by_mean[0]), by_second], 0.0)

    def _possible(self, second: float) -> float:
        low, high = self.plane.limits
        return min(max(second, low), high)

    def _std(self, second: float) -> float:
        return float(self.plane.std_of(np.array([second]))[0])

    def _score(self, margin: float, second: float) -> float:
        head = self.head.of_margin()
        value = float(head.score(np.array([margin]), np.array([self._std(second)]))[0])
        return value


def marginal(head: Head) -> ExpectedImprovement | RatioHead:
    """Return a head as one that is a function of the margin, mean less threshold, and the std."""
    if isinstance(head, ExpectedImprovement | RatioHead):
        return head
    raise UnsupportedError(
        f"the head must be EI, PI or MES to be scored by its margin; got {head!r}; take boxes."
    )
