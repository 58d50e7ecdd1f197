r"""Expected improvement of a normal variable over a threshold, and its logarithm.

With m = mean - threshold and u = m / std,

    EI = E max(m + std Z, 0) = std h(u) = max(m, 0) + std h(-|u|)

(h as in `normal`). The last form adds what is not negative, so the relative error of EI is
that of h. EI is convex in (mean, std) jointly, rises in both, and is max(m, 0) at std = 0.

References
----------
Jones et al. (1998), the closed form [Jones1998].
Ament et al. (2023), its logarithm without cancellation [Ament2023].
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.checks import check_flag, check_number
from nnbo_mip.scores.base.abstract import MomentHead, Shape, Trend, checked_moments, standardized
from nnbo_mip.scores.base.normal import (
    LOG_H_AT_ZERO,
    density,
    improvement_below,
    inverse_below,
    inverse_improvement,
    log_of_ratios,
    tail_ratios,
)

LEVEL_ERROR = 1e-13
"""`mean_at_level` of EI is within this times (abs(threshold) + abs(m) + std) of exact; that of
log EI within this times (1 + abs(level) + abs(log std)) times the same."""

LEAST_NORMAL = 1e-290
LARGEST_LOG = 690.0
"""exp of it is a number whose improvement differs from it by nothing."""


@dataclass(frozen=True)
class ExpectedImprovement(MomentHead):
    """EI, or its logarithm, which does not vanish far from the best.

    Parameters
    ----------
    threshold : float
        What has to be exceeded: incumbent + xi.
    log : bool
        Score log EI; -inf where std = 0 and mean <= threshold.
    """

    shape: ClassVar[Shape] = Shape.CONVEX
    std_trend = Trend.RISING

    threshold: float
    log: bool = False

    @property
    def name(self) -> str:
        """``ei`` or ``logei``."""
        return "logei" if self.log else "ei"

    @property
    def logarithm(self) -> ExpectedImprovement | None:
        """Log EI."""
        return None if self.log else replace(self, log=True)

    @property
    def is_logarithm(self) -> bool:
        """Whether it is log EI."""
        return self.log

    def of_margin(self) -> ExpectedImprovement:
        """Return the same of the margin, mean less threshold: its own threshold is 0."""
        return replace(self, threshold=0.0)

    def __post_init__(self) -> None:
        """Refuse numbers that are none."""
        check_number("threshold", self.threshold)
        check_flag("log", self.log)

    def log_score(self, mean: npt.ArrayLike, std: npt.ArrayLike) -> FloatArray:
        """Return log EI, whichever of both `score` is."""
        means, stds = checked_moments(mean, std)
        with np.errstate(over="ignore"):
            return log_expectation(means - self.threshold, stds)

    def _score(self, mean: FloatArray, std: FloatArray) -> FloatArray:
        margin = mean - self.threshold
        return log_expectation(margin, std) if self.log else expectation(margin, std)

    def _gradient(self, mean: FloatArray, std: FloatArray) -> tuple[FloatArray, FloatArray]:
        margin = mean - self.threshold
        return log_slopes(margin, std) if self.log else slopes(margin, std)

    def _mean_at_level(self, std: FloatArray, level: FloatArray) -> FloatArray:
        margin = margin_at_log_level if self.log else margin_at_level
        return self.threshold + margin(std, level)


def expectation(margin: FloatArray, std: FloatArray) -> FloatArray:
    """Return E max(margin + std Z, 0)."""
    tail = improvement_below(np.abs(standardized(margin, std)))
    return np.asarray(np.maximum(margin, 0.0) + std * tail)


def log_expectation(margin: FloatArray, std: FloatArray) -> FloatArray:
    """Return the logarithm of `expectation`."""
    a = np.abs(standardized(margin, std))
    mills, excess, _ = tail_ratios(a)
    with np.errstate(divide="ignore"):
        above = np.log(np.maximum(margin, 0.0) + std * (density(a) * mills * excess))
        return np.where(margin > 0.0, above, np.log(std) + log_of_ratios(a, mills, excess))


def slopes(margin: FloatArray, std: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the derivatives of `expectation`, Phi(u) and phi(u)."""
    u = standardized(margin, std)
    return np.asarray(ndtr(u)), density(u)


def log_slopes(margin: FloatArray, std: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the derivatives of `log_expectation`; 0 where that is -inf."""
    a = np.abs(standardized(margin, std))
    mills, excess, _ = tail_ratios(a)
    by_margin, by_std = slopes(margin, std)
    with np.errstate(divide="ignore", invalid="ignore"):
        value = np.maximum(margin, 0.0) + std * (density(a) * mills * excess)
        # Below, Phi / h = 1 / K and phi / h = 1 / (K R) at a = -u.
        below = 1.0 / (std * excess), 1.0 / (std * excess * mills)
        above = by_margin / value, by_std / value
        log_below = np.log(std) + log_of_ratios(a, mills, excess)
        nothing = (margin <= 0.0) & np.isneginf(log_below)
    return (
        np.where(nothing, 0.0, np.where(margin > 0.0, above[0], below[0])),
        np.where(nothing, 0.0, np.where(margin > 0.0, above[1], below[1])),
    )


def margin_at_level(std: FloatArray, level: FloatArray) -> FloatArray:
    """Return the margin at which `expectation` is the level; -inf at levels of 0 and below."""
    value = np.maximum(level, 0.0)
    safe = np.where(std == 0.0, 1.0, std)
    quotient = value / safe
    with np.errstate(divide="ignore"):
        # The quotient where it is a normal number: its logarithm has the smaller error.
        normal = (quotient > LEAST_NORMAL) & np.isfinite(quotient)
        parts = np.log(value) - np.log(safe)
        target = np.where(normal, np.log(quotient), parts)
    sure = np.where(value > 0.0, value, -np.inf)
    return np.where(std == 0.0, sure, _margin(safe, value, target))


def margin_at_log_level(std: FloatArray, level: FloatArray) -> FloatArray:
    """Return the margin at which `log_expectation` is the level."""
    value, safe = np.exp(level), np.where(std == 0.0, 1.0, std)
    sure = np.where(np.isneginf(level), -np.inf, value)
    return np.where(std == 0.0, sure, _margin(safe, value, level - np.log(safe)))


def _margin(std: FloatArray, value: FloatArray, target: FloatArray) -> FloatArray:
    """Return std u with log h(u) = target = log(value / std)."""
    std, value, target = np.broadcast_arrays(std, value, target)
    margin = np.empty(target.shape)
    below = target <= LOG_H_AT_ZERO
    if below.any():
        margin[below] = std[below] * -inverse_below(target[below])
    if not below.all():
        above = ~below
        u = inverse_improvement(np.exp(np.minimum(target[above], LARGEST_LOG)))
        margin[above] = value[above] - std[above] * improvement_below(u)
    return margin
