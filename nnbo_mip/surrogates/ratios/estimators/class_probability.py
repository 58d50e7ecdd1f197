r"""The probability of a class whose log-odds are normal, E logistic(f + s Z), s^2 = v.

    probit        logistic(f / sqrt(1 + pi v / 8)),   within 0.02
    quadrature    the trapezoid rule over nine standard deviations to either side
    Monte Carlo   the mean over given samples of f

Probit answers with the logistic function of a ratio; E Phi(sqrt(pi/8) (f + s Z)) =
Phi(f / sqrt(8 / pi + v)) rises with the same ratio.

References
----------
MacKay (1992), the probit approximation [MacKay1992b].
"""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from nnbo_mip.core.arrays import FloatArray

WIDENING = 8.0 / np.pi
"""Variance of the normal variable whose distribution function stands for the logistic one."""

REACH, NODES = 9.0, 2001
"""Of the trapezoid rule: deviations to either side, and nodes."""

BLOCK = 1000
"""Points whose nodes are computed at once."""


def probit(f: FloatArray, v: FloatArray) -> FloatArray:
    """Return the approximation by a normal distribution function."""
    return np.asarray(expit(f / np.sqrt(1.0 + v / WIDENING)))


def quadrature(f: FloatArray, v: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the integral (n,), and its derivatives by f and by v."""
    z = np.linspace(-REACH, REACH, NODES)
    weights = np.exp(-0.5 * z**2)
    weights[[0, -1]] *= 0.5
    weights /= weights.sum()
    parts = [np.empty((0, 3))]
    for start in range(0, len(f), BLOCK):
        rows = slice(start, start + BLOCK)
        p = expit(f[rows, None] + np.sqrt(v[rows, None]) * z)
        slope = p * (1.0 - p)
        # d/dv E h(f + sqrt(v) Z) = E h'' / 2.
        bend = slope * (1.0 - 2.0 * p)
        parts.append(np.stack([p @ weights, slope @ weights, 0.5 * bend @ weights], axis=1))
    value, by_f, by_v = np.concatenate(parts).T
    return value, by_f, by_v


def monte_carlo(samples: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the mean probability (n,) of samples (n, S) of log-odds, and its slopes (n, S)."""
    p = expit(samples)
    return p.mean(axis=1), p * (1.0 - p) / samples.shape[1]
