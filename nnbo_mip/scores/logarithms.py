r"""Bounds of scores and of their logarithms, into each other.

Gaps of EI and PI are those of their logarithms, so a search maximizes log EI and log PI
(`Head.searched`): rising functions of the scores, with the same maximizers. A bound of the
logarithm is one of the score. Logarithms below `LEAST_LOG` count as it, so that every point has
a finite value; that is the only tie which is made.
"""

from __future__ import annotations

import math

LEAST_LOG = -1e9
"""Score of 44000 standard deviations below the threshold; its last digit is worth 1e-7."""

EXP_ERROR = 1e-15
"""Relative error of `math.exp` and `math.log`, generously."""


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
