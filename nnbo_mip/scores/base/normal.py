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
    near = a < SWITCH
    a_near, a_far = np.where(near, a, 0.0), np.where(near, SWITCH, a)
    mills = ROOT_HALF_PI * erfcx(a_near / math.sqrt(2.0))
    excess = 1.0 / mills - a_near
    # The fraction is cut where its terms hardly change: x = t / (a + x). From 1e100 on x is 0.
    steep = np.minimum(a_far, 1e100)
    again = 0.5 * (np.hypot(steep, 2.0 * math.sqrt(TERMS + 1)) - steep)
    for term in range(TERMS, 1, -1):
        again = term / (a_far + again)
    excess_far = 1.0 / (a_far + again)
    return (
        np.where(near, mills, 1.0 / (a_far + excess_far)),
        np.where(near, excess, excess_far),
        np.where(near, 1.0 / excess - a_near, again),
    )


def improvement_below(a: npt.ArrayLike) -> FloatArray:
    """Return h(-a) of numbers a >= 0; it underflows to 0 near a = 38."""
    mills, excess, _ = tail_ratios(a)
    return density(a) * mills * excess


def improvement(u: npt.ArrayLike) -> FloatArray:
    """Return h(u) = phi(u) + u Phi(u)."""
    return np.asarray(np.maximum(u, 0.0) + improvement_below(np.abs(u)))


def log_improvement_below(a: npt.ArrayLike) -> FloatArray:
    """Return log h(-a) of numbers a >= 0; -inf from a = 1e154 on, where its square overflows."""
    mills, excess, _ = tail_ratios(a)
    with np.errstate(over="ignore", divide="ignore"):
        return np.asarray(-0.5 * np.square(a) - LOG_ROOT_TWO_PI + np.log(mills) + np.log(excess))


def log_improvement(u: npt.ArrayLike) -> FloatArray:
    """Return log h(u)."""
    u = np.asarray(u, dtype=np.float64)
    below = log_improvement_below(np.maximum(-u, 0.0))
    return np.where(u <= 0.0, below, np.log(improvement(np.maximum(u, 0.0))))


def inverse_log_improvement(w: npt.ArrayLike) -> FloatArray:
    """Return the u with log h(u) = w.

    Parameters
    ----------
    w : array
        At most 709, so that exp(w) is a number; -inf gives -inf.

    Returns
    -------
    array
        Within 1e-14 (1 + abs(u)) of the exact number.
    """
    w = np.asarray(w, dtype=np.float64)
    lower, upper = np.minimum(w, LOG_H_AT_ZERO), np.maximum(w, LOG_H_AT_ZERO)
    return np.where(w <= LOG_H_AT_ZERO, -_inverse_below(lower), inverse_improvement(np.exp(upper)))


def _inverse_below(w: FloatArray) -> FloatArray:
    """Return the a >= 0 with log h(-a) = w, w <= log h(0)."""
    # h(-a) <= h(0) exp(-a^2 / 2), so the start is no smaller than the root; log h is concave,
    # so every Newton step stays on that side.
    reachable = w > LEAST_LOG
    target = np.maximum(w, LEAST_LOG)
    a = np.sqrt(2.0 * (LOG_H_AT_ZERO - target))
    for _ in range(NEWTON_STEPS):
        _, excess, _ = tail_ratios(a)
        a = np.maximum(a + (log_improvement_below(a) - target) * excess, 0.0)
    return np.where(reachable, a, np.inf)


def inverse_improvement(v: npt.ArrayLike) -> FloatArray:
    """Return the u >= 0 with h(u) = v, for finite v >= h(0)."""
    v = np.asarray(v, dtype=np.float64)
    u = np.maximum(v - H_AT_ZERO, 0.0)  # h(u) <= u + h(0): no larger than the root
    for _ in range(NEWTON_STEPS):
        u = np.maximum(u + (v - improvement(u)) / ndtr(u), 0.0)
    return u
