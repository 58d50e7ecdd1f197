r"""Bayesian linear regression on features: the exact posterior of the weights, in factors.

With features Psi (n, k), values y = Psi w + e, e ~ N(0, 1/beta), and w ~ N(0, 1/alpha),

    Sigma^-1 = alpha I + beta Psi^T Psi,   mu = beta Sigma Psi^T y.

A posterior keeps a root of Sigma = R R^T, never Sigma itself, so that the variance
|R^T psi|^2 of the function at features psi is never negative.

Spectral form, from the thin SVD Psi = U S V^T with lam_i = beta s_i^2: R is symmetric,

    mu = V diag(beta s_i / (alpha + lam_i)) U^T y,
    R  = (I - V V^T) / sqrt(alpha) + V diag(1 / sqrt(alpha + lam_i)) V^T,

of size k min(n, k). Cholesky form: Sigma^-1 = L L^T, R = L^-T.

References
----------
Bishop (2006), Bayesian linear regression, section 3.3 [Bishop2006].
"""

from __future__ import annotations

import abc
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from nnbo_mip.core.arrays import Array, FloatArray
from nnbo_mip.core.errors import InputError


@dataclass(frozen=True, eq=False)
class Spectrum:
    """Features and values in the coordinates of the thin SVD, of which r = min(n, k).

    Parameters
    ----------
    right : (k, r) array
        V, orthonormal directions of the weights.
    sizes : (r,) array
        s, singular values, largest first.
    coordinates : (r,) array
        U^T y.
    rest : float
        |y - U U^T y|^2, what no weights can explain.
    left : (n, r) array
        U, orthonormal directions of the values.
    """

    right: FloatArray
    sizes: FloatArray
    coordinates: FloatArray
    rest: float
    left: FloatArray

    @staticmethod
    def of(features: FloatArray, y: FloatArray) -> Spectrum:
        """Decompose features (n, k) and values (n,)."""
        left, sizes, right = np.linalg.svd(features, full_matrices=False)
        coordinates = left.T @ y
        rest = float(np.square(y - left @ coordinates).sum())
        return Spectrum(np.ascontiguousarray(right.T), sizes, coordinates, rest, left)

    @property
    def n_values(self) -> int:
        """n, the number of values."""
        return len(self.left)

    def weights(self, coordinates: FloatArray, alpha: float, beta: float) -> FloatArray:
        """Return mu (k,) for values of which U^T y is given."""
        shrunk = beta * self.sizes / (alpha + beta * np.square(self.sizes))
        return np.asarray(self.right @ (shrunk * coordinates))


class WeightPosterior(abc.ABC):
    """A normal distribution of weights.

    Parameters
    ----------
    mean : (k,) array
        mu.
    """

    mean: FloatArray

    @abc.abstractmethod
    def whiten(self, psi: FloatArray) -> FloatArray:
        """Return R^T psi for rows psi (n, k)."""

    @abc.abstractmethod
    def spread(self, white: FloatArray) -> FloatArray:
        """Return R z for rows z (n, k)."""

    @abc.abstractmethod
    def to_arrays(self) -> dict[str, Array]:
        """Return named arrays for a file."""

    def variance(self, psi: FloatArray) -> FloatArray:
        """Variance (n,) of the function at features (n, k)."""
        return np.asarray(np.square(self.whiten(psi)).sum(axis=1))

    def covariance(self) -> FloatArray:
        """Sigma (k, k)."""
        root = self.spread(np.eye(len(self.mean)))
        return np.asarray(root.T @ root)

    def sample(self, rng: np.random.Generator, factor: float = 1.0) -> FloatArray:
        """Draw weights (k,), `factor` times as far from the mean as the posterior's."""
        white = rng.standard_normal((1, len(self.mean)))
        return np.asarray(self.mean + factor * self.spread(white)[0])


@dataclass(frozen=True, eq=False)
class SpectralPosterior(WeightPosterior):
    """The posterior by SVD.

    Parameters
    ----------
    mean : (k,) array
        mu.
    alpha : float
        Precision in the directions that no datum touches; infinite where weights are known.
    right : (k, r) array
        V.
    precisions : (r,) array
        alpha + lam_i, the precision along each column of V.
    """

    mean: FloatArray
    alpha: float
    right: FloatArray
    precisions: FloatArray

    @staticmethod
    def of(spectrum: Spectrum, alpha: float, beta: float) -> SpectralPosterior:
        """Condition the weights on the values behind a spectrum."""
        mean = spectrum.weights(spectrum.coordinates, alpha, beta)
        precisions = alpha + beta * np.square(spectrum.sizes)
        return SpectralPosterior(mean, alpha, spectrum.right, precisions)

    @staticmethod
    def known(weights: FloatArray) -> SpectralPosterior:
        """Return the distribution of weights (k,) that are certain."""
        nothing = np.empty((len(weights), 0))
        return SpectralPosterior(weights, np.inf, nothing, np.empty(0))

    def whiten(self, psi: FloatArray) -> FloatArray:
        """Return R^T psi for rows psi (n, k)."""
        along = psi @ self.right
        seen = (along / np.sqrt(self.precisions)) @ self.right.T
        if self.right.shape[1] == len(self.mean):
            return np.asarray(seen)
        return np.asarray(seen + (psi - along @ self.right.T) / np.sqrt(self.alpha))

    def spread(self, white: FloatArray) -> FloatArray:
        """Return R z for rows z (n, k); R is symmetric."""
        return self.whiten(white)

    def to_arrays(self) -> dict[str, Array]:
        """Return named arrays for a file."""
        return {
            "mean": self.mean,
            "alpha": np.array(self.alpha),
            "right": self.right,
            "precisions": self.precisions,
        }


@dataclass(frozen=True, eq=False)
class CholeskyPosterior(WeightPosterior):
    """The posterior by Cholesky.

    Parameters
    ----------
    mean : (k,) array
        mu.
    lower : (k, k) array
        L of Sigma^-1 = L L^T.
    """

    mean: FloatArray
    lower: FloatArray

    @staticmethod
    def of(features: FloatArray, y: FloatArray, alpha: float, beta: float) -> CholeskyPosterior:
        """Condition the weights on values (n,) at features (n, k)."""
        precision = beta * (features.T @ features) + alpha * np.eye(features.shape[1])
        try:
            lower = np.asarray(np.linalg.cholesky(precision), dtype=np.float64)
        except np.linalg.LinAlgError as error:
            raise InputError(
                "the prior precision alpha must not vanish in rounding beside beta times the "
                f"squared features for solver='cholesky'; got alpha={alpha!r} and "
                f"beta={beta!r}; use solver='svd' or a larger alpha."
            ) from error
        half = _solve_lower(lower, beta * (features.T @ y)[:, None])
        return CholeskyPosterior(_solve_lower(lower, half, transposed=True)[:, 0], lower)

    def whiten(self, psi: FloatArray) -> FloatArray:
        """Return R^T psi = L^-1 psi for rows psi (n, k)."""
        return _solve_lower(self.lower, psi.T).T

    def spread(self, white: FloatArray) -> FloatArray:
        """Return R z = L^-T z for rows z (n, k)."""
        return _solve_lower(self.lower, white.T, transposed=True).T

    def to_arrays(self) -> dict[str, Array]:
        """Return named arrays for a file."""
        return {"mean": self.mean, "lower": self.lower}


def posterior_of(arrays: Mapping[str, Array]) -> WeightPosterior:
    """Make the posterior that `WeightPosterior.to_arrays` described."""
    if "lower" in arrays:
        return CholeskyPosterior(arrays["mean"], arrays["lower"])
    alpha = float(arrays["alpha"])
    return SpectralPosterior(arrays["mean"], alpha, arrays["right"], arrays["precisions"])


def _solve_lower(lower: FloatArray, right: FloatArray, transposed: bool = False) -> FloatArray:
    from scipy.linalg import solve_triangular

    return np.asarray(
        solve_triangular(lower, right, trans=int(transposed), lower=True, check_finite=False)
    )
