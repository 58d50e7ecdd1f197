r"""How good forecasts are that give a value and a deviation.

A forecast m with deviation s is read as the normal distribution N(m, s^2). With the value y
that came, z = (y - m) / s, and Phi and phi the normal's distribution and density,

    coverage at p  the part of the values with |z| <= Phi^-1((1 + p) / 2),
    NLL            log s + z^2 / 2 + log(2 pi) / 2,
    CRPS           s [ z (2 Phi(z) - 1) + 2 phi(z) - 1 / sqrt(pi) ],  which is |y - m| at s = 0,

the last two on average over the values; less is better. The CRPS is in units of y and, as
errors enter it linearly, forgives a deviation that is far too small; the NLL does not.

References
----------
Gneiting and Raftery (2007), CRPS [GneitingRaftery2007].
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri

from nnbo_mip.core.arrays import FloatArray

LEVELS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
"""Probabilities of the central intervals whose coverage is counted."""

LEAST_STD = 1e-3
"""A smaller std, in deviations of y, counts as this in the NLL, which is without bound where a
forecast that claims to be exact is not."""


@dataclass(frozen=True)
class Scores:
    """What forecasts are worth.

    Parameters
    ----------
    coverage : tuple of float
        Part of the values within the central interval of each of `LEVELS`.
    likelihood, crps : float
        Average NLL and CRPS.
    """

    coverage: tuple[float, ...]
    likelihood: float
    crps: float

    @staticmethod
    def of(errors: FloatArray, std: FloatArray) -> Scores:
        """Judge forecasts.

        Parameters
        ----------
        errors : (n,) array
            y - m, in deviations of y.
        std : (n,) array
            s, in deviations of y.
        """
        return Scores(
            tuple(coverage(errors, std, level) for level in LEVELS),
            float(negative_log_likelihood(errors, np.maximum(std, LEAST_STD)).mean()),
            float(crps(errors, std).mean()),
        )


def coverage(errors: FloatArray, std: FloatArray, level: float) -> float:
    """Return the part of the values within the central interval of a probability."""
    return float(np.mean(np.abs(errors) <= ndtri(0.5 * (1.0 + level)) * std))


def negative_log_likelihood(errors: FloatArray, std: FloatArray) -> FloatArray:
    """Return the NLL (n,) of each value; `std` is positive."""
    return np.asarray(np.log(std) + 0.5 * np.square(errors / std) + 0.5 * np.log(2.0 * np.pi))


def crps(errors: FloatArray, std: FloatArray) -> FloatArray:
    """Return the CRPS (n,) of each value."""
    z = np.divide(errors, std, out=np.zeros_like(errors), where=std > 0.0)
    density = np.exp(-0.5 * np.square(z)) / np.sqrt(2.0 * np.pi)
    spread = std * (2.0 * density - 1.0 / np.sqrt(np.pi))
    return np.where(std > 0.0, errors * (2.0 * ndtr(z) - 1.0) + spread, np.abs(errors))


def fitted_factor(errors: FloatArray, std: FloatArray) -> float:
    r"""Return the multiplier a of the deviations of least average CRPS.

    The CRPS is convex in a, with the slope s (2 phi(z / a) - 1 / sqrt(pi)), so the least one is
    where the slopes' sum changes its sign. Where errors or deviations are all zero it is 1.
    """
    used = std > 0.0
    z, weights = errors[used] / std[used], std[used]
    if not z.any():
        return 1.0

    def slope(log_factor: float) -> float:
        density = np.exp(-0.5 * np.square(z * np.exp(-log_factor))) / np.sqrt(2.0 * np.pi)
        return float(weights @ (2.0 * density - 1.0 / np.sqrt(np.pi)))

    middle = float(np.log(np.abs(z).max()))
    return float(np.exp(brentq(slope, middle - 40.0, middle + 2.0)))


def geometric_mean(values: Sequence[float]) -> float:
    """Return the geometric mean of positive numbers."""
    return float(np.exp(np.mean(np.log(values))))
