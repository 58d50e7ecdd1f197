"""The factor L of a Gaussian process, and what rounding may make of systems with it.

What is bounded here are sizes: of L and its inverse, of the noise ``L L^T - a K`` (its least
eigenvalue, by rows), and of the right hand sides that explain what the posterior solves.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import solve_triangular

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.exact.checking.dyadic import Dyadic
from nnbo_mip.exact.checking.heads.correlations import UNIT, Correlations, gamma
from nnbo_mip.scores.posteriors.process import ProcessPosterior

LARGEST_ERROR = 0.1
"""By more than so much the approximate inverse of L may not miss it."""


class Projection:
    """Numbers of one factor.

    Parameters
    ----------
    posterior : ProcessPosterior
        Of sane scales.
    correlations : Correlations

    Attributes
    ----------
    factor, inverse : (n, n) arrays
        L, and an approximate inverse.
    rounding : float
        Relative error of sums over the observed points, and a few products more.
    row : float
        The longest row of L.
    missed : float
        No vector is moved by more than this share of its length by ``inverse @ L``.
    inverse_size, largest_inverse : float
        No vector grows more than this by the approximate inverse, and by that of L.
    least_noise : float
        No eigenvalue of ``L L^T - a K`` is smaller.
    norm : float
        ``sqrt(a) |f|``, rounded up; f the mean's element of the Hilbert space.
    own_error : float
        Largest entry of the right hand side that explains the posterior's whitened correlations.
    """

    def __init__(self, posterior: ProcessPosterior, correlations: Correlations) -> None:
        a, weights = posterior.amplitude, posterior.weights
        self.factor = np.tril(posterior.factor)
        self.count = n = len(self.factor)
        unit = np.eye(n)
        self.inverse = solve_triangular(self.factor, unit, lower=True, check_finite=False)
        self.rounding = gamma(n + 16)
        self.row = float(np.sqrt(np.square(self.factor).sum(axis=1).max())) * (1.0 + 1e-12)
        sizes = np.abs(self.inverse) @ np.abs(self.factor)
        self.inverse_size = float(np.linalg.norm(self.inverse)) * (1.0 + 1e-12)
        self.missed = float(np.linalg.norm(self.inverse @ self.factor - unit)) * (1.0 + 1e-12)
        self.missed += 2.0 * self.rounding * float(np.linalg.norm(sizes))
        usable = self.missed < LARGEST_ERROR
        self.largest_inverse = self.inverse_size / (1.0 - self.missed) if usable else np.inf
        gram, gram_error = correlations.gram(), correlations.gram_error
        self.least_noise = _least_noise(self.factor, a, gram, gram_error, self.rounding)
        gram_error += self.rounding
        weight = float(np.abs(weights).sum()) * (1.0 + 1e-12)
        by_factor = float(np.linalg.norm(self.factor.T @ weights)) * (1.0 + 1e-12)
        by_factor += self.rounding * float(np.sqrt(n)) * self.row * weight
        by_gram = max(float(weights @ gram @ weights), 0.0) * (1.0 + 1e-12)
        by_gram += 3.0 * gram_error * weight**2
        length = min(by_factor, float(np.sqrt(a * by_gram)))
        self.norm = float(np.sqrt(a)) * length * (1.0 + 1e-12)
        self.own_error = self._own_error(a, correlations.own_error + 4.0 * UNIT)

    def _own_error(self, a: float, own: float) -> float:
        spread = self.largest_inverse * float(np.sqrt(self.count))
        grown = spread * self.rounding * self.row
        if not grown < LARGEST_ERROR:
            return np.inf
        length = (float(np.sqrt(a)) + spread * a * own) / (1.0 - grown)
        return (a * own + self.rounding * self.row * length) * 1.01

    @property
    def is_useful(self) -> bool:
        """Whether the projection exists, and rounding leaves something to be proven."""
        return self.least_noise > 0.0 and bool(np.isfinite(self.own_error))


def _least_noise(
    factor: FloatArray, a: float, gram: FloatArray, gram_error: float, rounding: float
) -> float:
    """Bound the least eigenvalue of ``L L^T - a K``, in exact arithmetic where it has to be."""
    sizes = np.abs(factor) @ np.abs(factor.T) + a
    error = rounding * sizes + a * gram_error
    least = _least_eigenvalue(factor @ factor.T - a * gram, error)
    if least > 0.0:
        return least
    whole, scaled = Dyadic.of(factor), Dyadic.of(a) * Dyadic.of(gram)
    noise = (whole @ Dyadic.of(factor.T) - scaled).floats()
    return _least_eigenvalue(noise, 4.0 * UNIT * np.abs(noise) + a * gram_error * (1.0 + 1e-10))


def _least_eigenvalue(matrix: FloatArray, error: FloatArray) -> float:
    """Bound the least eigenvalue of a symmetric matrix with uncertain entries from below."""
    others = np.abs(matrix) + error
    np.fill_diagonal(others, 0.0)
    rows = others.sum(axis=1) * (1.0 + 1e-10)
    return float((np.diag(matrix) - np.diag(error) - rows).min())
