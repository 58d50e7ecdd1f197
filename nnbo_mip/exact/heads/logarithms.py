r"""Which function of a head a search maximizes.

Gaps of EI and PI are those of their logarithms, so a search maximizes log EI and log PI: rising
functions of the scores, with the same maximizers. A bound of the logarithm is one of the score.
Logarithms below `LEAST_LOG` count as it, so that every point has a finite value; that is the
only tie which is made.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import ndtr

from nnbo_mip.heads import (
    ExpectedImprovement,
    Head,
    ProbabilityOfImprovement,
    RatioHead,
)
from nnbo_mip.heads.abstract import standardized
from nnbo_mip.heads.normal import density, tail_ratios
from nnbo_mip.network.affine import FloatArray

LEAST_LOG = -1e9
"""Score of 44000 standard deviations below the threshold; its last digit is worth 1e-7."""

EXP_ERROR = 1e-15
"""Relative error of `math.exp`, generously."""


@dataclass(frozen=True)
class LogProbability(RatioHead):
    """The logarithm of PI.

    Parameters
    ----------
    threshold : float
        What has to be reached.
    """

    threshold: float

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


def searched(head: Head) -> Head:
    """Return the head whose values a search for a head's maximum compares."""
    if isinstance(head, ExpectedImprovement):
        return replace(head, log=True)
    if isinstance(head, ProbabilityOfImprovement):
        return LogProbability(head.threshold)
    return head


def is_logarithm(head: Head) -> bool:
    """Whether a head that `searched` returned is the logarithm of a score."""
    return isinstance(head, LogProbability) or (isinstance(head, ExpectedImprovement) and head.log)


def exponential_above(logarithm: float) -> float:
    """Return a number that is not below the exponential of a logarithm."""
    if logarithm > 709.0:
        return math.inf
    return math.exp(logarithm) * (1.0 + EXP_ERROR) + 5e-324
