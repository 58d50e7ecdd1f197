r"""Probability that a normal variable reaches a threshold.

With u = (mean - threshold) / std, PI = Phi(u); at std = 0 it is 1 where mean >= threshold and
else 0. PI >= p exactly where mean - threshold - t std >= 0, t the p-quantile.

References
----------
Kushner (1964), probability of improvement [Kushner1964].
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import log_ndtr, ndtr, ndtri, ndtri_exp

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.checks import check_number
from nnbo_mip.scores.base.abstract import RatioHead, checked_moments, standardized
from nnbo_mip.scores.base.normal import FAR, density, tail_ratios

RATIO_ERROR = 1e-13
"""A ratio is within this times (1 + abs(t)) of the exact quantile of its level."""

LARGEST_RATIO = 1e150
"""Of logarithmic levels that are refined."""


@dataclass(frozen=True)
class ProbabilityOfImprovement(RatioHead):
    """PI.

    Parameters
    ----------
    threshold : float
        What has to be reached: incumbent + xi.
    """

    name = "pi"
    largest_score = 1.0

    threshold: float

    @property
    def logarithm(self) -> LogProbability:
        """Log PI."""
        return LogProbability(self.threshold)

    def of_margin(self) -> ProbabilityOfImprovement:
        """Return the same of the margin."""
        return ProbabilityOfImprovement(0.0)

    def __post_init__(self) -> None:
        """Refuse numbers that are none."""
        check_number("threshold", self.threshold)

    def log_score(self, mean: npt.ArrayLike, std: npt.ArrayLike) -> FloatArray:
        """Return log PI, which tells apart what the float64 PI rounds to 0."""
        means, stds = checked_moments(mean, std)
        with np.errstate(over="ignore"):
            return np.asarray(log_ndtr(self._u(means - self.threshold, stds)))

    def ratio_at_level(self, level: float) -> float:
        """Return the quantile t of a probability; infinite at 0 and below, and at 1 and above."""
        return float(ndtri(min(max(level, 0.0), 1.0)))

    def ratio_at_log_level(self, level: float) -> float:
        """Return the quantile t of the logarithm of a probability."""
        t = float(ndtri_exp(min(level, 0.0)))
        if not -LARGEST_RATIO < t < 0.0:
            return t
        # One Newton step: far out SciPy's inverse has twelve digits. phi / Phi = 1 / R.
        return t - (float(log_ndtr(t)) - level) * float(tail_ratios(-t)[0])

    def _u(self, margin: FloatArray, std: FloatArray) -> FloatArray:
        u = standardized(margin, std)
        return np.where((std == 0.0) & (margin == 0.0), np.inf, u)

    def _score(self, mean: FloatArray, std: FloatArray) -> FloatArray:
        return np.asarray(ndtr(self._u(mean - self.threshold, std)))

    def _gradient(self, mean: FloatArray, std: FloatArray) -> tuple[FloatArray, FloatArray]:
        u = np.clip(self._u(mean - self.threshold, std), -FAR, FAR)
        safe = np.where(std == 0.0, math.inf, std)
        return density(u) / safe, -u * density(u) / safe


@dataclass(frozen=True)
class LogProbability(RatioHead):
    """The logarithm of PI.

    Parameters
    ----------
    threshold : float
        What has to be reached.
    """

    name = "logpi"
    largest_score = 0.0
    is_logarithm = True

    threshold: float

    def of_margin(self) -> LogProbability:
        """Return the same of the margin."""
        return LogProbability(0.0)

    def __post_init__(self) -> None:
        """Refuse numbers that are none."""
        check_number("threshold", self.threshold)

    def ratio_at_level(self, level: float) -> float:
        """Return the quantile t of the logarithm of a probability."""
        return self._probability.ratio_at_log_level(level)

    @property
    def _probability(self) -> ProbabilityOfImprovement:
        return ProbabilityOfImprovement(self.threshold)

    def _score(self, mean: FloatArray, std: FloatArray) -> FloatArray:
        return self._probability.log_score(mean, std)

    def _gradient(self, mean: FloatArray, std: FloatArray) -> tuple[FloatArray, FloatArray]:
        u = standardized(mean - self.threshold, std)
        mills = tail_ratios(np.maximum(-u, 0.0))[0]
        above = np.maximum(u, 0.0)
        with np.errstate(divide="ignore"):
            by_u = np.where(u > 0.0, density(above) / ndtr(above), 1.0 / mills)
        safe = np.where(std == 0.0, math.inf, std)
        usable = np.isfinite(u) & np.isfinite(by_u)
        by_u, u = np.where(usable, by_u, 0.0), np.where(usable, u, 0.0)
        return by_u / safe, -u * by_u / safe
