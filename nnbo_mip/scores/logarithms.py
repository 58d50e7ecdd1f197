r"""Which function of a head a search maximizes.

Gaps of EI and PI are those of their logarithms, so a search maximizes log EI and log PI: rising
functions of the scores, with the same maximizers. A bound of the logarithm is one of the score.
Logarithms below `LEAST_LOG` count as it, so that every point has a finite value; that is the
only tie which is made.
"""

from __future__ import annotations

import math
from dataclasses import replace

from nnbo_mip.scores.base.abstract import Head
from nnbo_mip.scores.functions.improvement import ExpectedImprovement
from nnbo_mip.scores.functions.probability import LogProbability as LogProbability
from nnbo_mip.scores.functions.probability import ProbabilityOfImprovement

LEAST_LOG = -1e9
"""Score of 44000 standard deviations below the threshold; its last digit is worth 1e-7."""

EXP_ERROR = 1e-15
"""Relative error of `math.exp` and `math.log`, generously."""


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


def logarithm_above(score: float) -> float:
    """Return a number that is not below the logarithm of a score."""
    if not 0.0 < score < math.inf:
        return math.inf if score > 0.0 else -math.inf
    near = math.log(score)
    return near + EXP_ERROR * abs(near)
