r"""Functions of the standard normal distribution that stay accurate in both tails.

With density phi, distribution Phi, Q = 1 - Phi and, for a >= 0,

    R(a) = Q(a) / phi(a)          Mills' ratio
    K(a) = 1 / R(a) - a           by which the hazard rate exceeds a
    L(a) = 1 / K(a) - a           the same once more

the expected improvement of a standard normal variable over -u and its relatives are

    h(u)   = phi(u) + u Phi(u) = max(u, 0) + h(-|u|)
    h(-a)  = phi(a) R(a) K(a)
    d log h(u) / du at u = -a  = 1 / K(a)

without a difference of nearly equal numbers: below `SWITCH`, R comes from the scaled
complementary error function, above from the continued fraction

    L(a) = 2 / (a + 3 / (a + 4 / (a + …))),   K = 1 / (a + L),   R = 1 / (a + K).

Errors, against 60 digits (tests/scores/base/test_normal.py): R within 2e-15, K within 2e-14, L
within 2e-13, h within 1e-12 where it is above 1e-300, each relative; log h within
2e-14 + 1e-15 |log h|.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from scipy.special import erfcx, ndtr

from nnbo_mip.core.arrays import FloatArray

SWITCH = 4.0
"""From here on the continued fraction is used: `TERMS` of it then leave an error below 1e-18."""

TERMS = 24

LOG_ROOT_TWO_PI = 0.5 * math.log(2.0 * math.pi)
ROOT_HALF_PI = math.sqrt(0.5 * math.pi)
H_AT_ZERO = 1.0 / math.sqrt(2.0 * math.pi)
LOG_H_AT_ZERO = -LOG_ROOT_TWO_PI

FAR = 40.0
"""Here phi has vanished."""

LEAST_LOG = -1e307
"""Logarithms below count as -inf."""

NEWTON_STEPS = 8
"""Five reach the last digits everywhere; both iterations are quadratic and monotone."""


def density(u: npt.ArrayLike) -> FloatArray:
    """Return phi."""
    with np.errstate(over="ignore"):
        return np.asarray(np.exp(-0.5 * np.square(u)) * H_AT_ZERO)


def tail_ratios(a: npt.ArrayLike) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return R, K and L of numbers a >= 0; all are 0 at infinity."""
    a = np.asarray(a, dtype=np.float64)
    ratios = np.empty_like(a), np.empty_like(a), np.empty_like(a)
    near = a < SWITCH
    for part, method in ((near, _near_ratios), (~near, _far_ratios)):
        if part.any():
            for ratio, values in zip(ratios, method(a[part]), strict=True):
                ratio[part] = values
    return ratios


def _near_ratios(a: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    mills = ROOT_HALF_PI * erfcx(a / math.sqrt(2.0))
    excess = 1.0 / mills - a
    return mills, excess, 1.0 / excess - a


def _far_ratios(a: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    # The fraction is cut where its terms hardly change: x = t / (a + x). From 1e100 on x is 0.
    steep = np.minimum(a, 1e100)
    again = 0.5 * (np.hypot(steep, 2.0 * math.sqrt(TERMS + 1)) - steep)
    for term in range(TERMS, 1, -1):
        again = term / (a + again)
    excess = 1.0 / (a + again)
    return 1.0 / (a + excess), excess, again


def improvement_below(a: npt.ArrayLike) -> FloatArray:
    """Return h(-a) of numbers a >= 0; it underflows to 0 near a = 38."""
    mills, excess, _ = tail_ratios(a)
    return density(a) * mills * excess


def improvement(u: npt.ArrayLike) -> FloatArray:
    """Return h(u) = phi(u) + u Phi(u)."""
    return np.asarray(np.maximum(u, 0.0) + improvement_below(np.abs(u)))


def log_of_ratios(a: npt.ArrayLike, mills: FloatArray, excess: FloatArray) -> FloatArray:
    """Return log h(-a) of numbers a >= 0 with their R and K."""
    with np.errstate(over="ignore", divide="ignore"):
        return np.asarray(-0.5 * np.square(a) - LOG_ROOT_TWO_PI + np.log(mills) + np.log(excess))


def inverse_below(w: FloatArray) -> FloatArray:
    """Return the a >= 0 with log h(-a) = w, w <= log h(0), within 1e-14 (1 + a) of exact."""
    # h(-a) <= h(0) exp(-a^2 / 2), so the start is no smaller than the root; log h is concave,
    # so every Newton step stays on that side.
    reachable = w > LEAST_LOG
    target = np.maximum(w, LEAST_LOG)
    a = np.sqrt(2.0 * (LOG_H_AT_ZERO - target))
    for _ in range(NEWTON_STEPS):
        mills, excess, _ = tail_ratios(a)
        a = np.maximum(a + (log_of_ratios(a, mills, excess) - target) * excess, 0.0)
    return np.where(reachable, a, np.inf)


def inverse_improvement(v: npt.ArrayLike) -> FloatArray:
    """Return the u >= 0 with h(u) = v, for finite v >= h(0)."""
    v = np.asarray(v, dtype=np.float64)
    u = np.maximum(v - H_AT_ZERO, 0.0)  # h(u) <= u + h(0): no larger than the root
    for _ in range(NEWTON_STEPS):
        u = np.maximum(u + (v - improvement(u)) / ndtr(u), 0.0)
    return u
