r"""Information that a point gives on the value y* of the optimum (max-value entropy search).

With u = (mean - y*) / std and a = |u|, the reduction of entropy when a normal variable is cut
off at y* is

    F(u) = a phi(a) / (2 Phi(a)) - log Phi(a)                 for u <= 0,
    F(u) = log sqrt(2 pi) - a K(a) / 2 - log R(a)             for u > 0

(R, K, L as in `normal`), which is -u r / 2 - log Phi(-u) with r = phi(u) / Phi(-u) without its
cancellations. F rises from 0 to infinity, like log u in the end:

    F'(u) = r (1 - u r + u^2) / 2 = K(a) L(a) / (2 R(a))      for u > 0.

At std = 0 it is 0 below y* and, since it would be infinite, `CEILING` from y* on.

References
----------
Wang and Jegelka (2017), max-value entropy search [WangJegelka2017].
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.checks import check_number
from nnbo_mip.scores.base.abstract import RatioHead, standardized
from nnbo_mip.scores.base.normal import FAR, LOG_ROOT_TWO_PI, density, tail_ratios

RATIO_ERROR = 1e-11
"""`ratio_at_level` is within this times (1 + abs(t)) of exact."""

LARGEST_U = 1e300
CEILING = LOG_ROOT_TWO_PI - 0.5 + math.log(LARGEST_U)
"""F(1e300): larger u count as this one, so that every score is a number."""

_LEAST_RATIO = -38.0
"""F is a normal number from about here on."""


@dataclass(frozen=True)
class MaxValueEntropy(RatioHead):
    """MES for one value of the optimum.

    Parameters
    ----------
    threshold : float
        y*, the value of the optimum.
    """

    name = "mes"
    largest_score = CEILING * (1.0 + 1e-12)

    threshold: float

    def of_margin(self) -> MaxValueEntropy:
        """Return the same of the margin."""
        return MaxValueEntropy(0.0)

    def __post_init__(self) -> None:
        """Refuse numbers that are none."""
        check_number("threshold", self.threshold)

    @property
    def optimum(self) -> float:
        """y*."""
        return self.threshold

    def ratio_at_level(self, level: float) -> float:
        """Return the u with F(u) = level; -inf up to 1e-313, +inf above `CEILING`."""
        from scipy.optimize import brentq

        if level <= 0.0 or level > CEILING:
            return math.copysign(math.inf, level - 1.0)
        # u = sinh(s) makes one bracket of both tails; logarithms because F vanishes so fast.
        ends = math.asinh(_LEAST_RATIO), math.asinh(LARGEST_U)
        goal = math.log(level)

        def excess(s: float) -> float:
            return math.log(float(_information(np.array(math.sinh(s))))) - goal

        if excess(ends[0]) >= 0.0:
            return -math.inf
        if excess(ends[1]) <= 0.0:
            return LARGEST_U
        return math.sinh(brentq(excess, *ends, xtol=1e-15, rtol=1e-14, maxiter=500))

    def _u(self, mean: FloatArray, std: FloatArray) -> FloatArray:
        margin = mean - self.threshold
        u = np.where((std == 0.0) & (margin == 0.0), np.inf, standardized(margin, std))
        return np.clip(u, -FAR, LARGEST_U)

    def _score(self, mean: FloatArray, std: FloatArray) -> FloatArray:
        return _information(self._u(mean, std))

    def _gradient(self, mean: FloatArray, std: FloatArray) -> tuple[FloatArray, FloatArray]:
        u = self._u(mean, std)
        a = np.abs(u)
        mills, excess, again = tail_ratios(np.maximum(u, 0.0))
        low = np.minimum(a, FAR)
        hazard = density(low) / ndtr(low)
        below = 0.5 * hazard * (1.0 + low * (low + hazard))
        slope = np.where(u > 0.0, 0.5 * excess * again / mills, below)
        safe = np.where(std == 0.0, math.inf, std)
        return slope / safe, -(u * slope) / safe


def _information(u: FloatArray) -> FloatArray:
    """Return F(u)."""
    a = np.abs(u)
    mills, excess, _ = tail_ratios(np.maximum(u, 0.0))
    low = np.minimum(a, FAR)
    below = 0.5 * low * density(low) / ndtr(low) - np.log1p(-ndtr(-low))
    above = LOG_ROOT_TWO_PI - 0.5 * np.maximum(u, 0.0) * excess - np.log(mills)
    return np.where(u > 0.0, above, below)
