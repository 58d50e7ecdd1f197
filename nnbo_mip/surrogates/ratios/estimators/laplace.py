r"""The Laplace posterior of a network's weights, with the Gauss-Newton curvature.

At a maximum a posteriori theta*, J_n the derivative of the log-odds at datum n, w_n its weight and

    Lambda_n = w_n pi_n (1 - pi_n),      H = sum_n Lambda_n J_n^T J_n + delta I,

the posterior is N(theta*, H^-1). That is Bayesian linear regression on the features Lambda^1/2 J
with a prior of precision delta and a noise of 1, so its posteriors serve here (`bayesian_linear`):

    weight     Cholesky factor of H, O(P^3)
    function   SVD Lambda^1/2 J = U S V^T, O(N^2 P): U and S^2 diagonalize the kernel matrix
               Lambda^1/2 K Lambda^1/2, K = J J^T, of the equal Gaussian process
    diagonal   the diagonal of H
    kfac       by layers, with J_n = g_n (x) a_n:  H = (1/N) (sum_n a_n a_n^T) (x)
               (sum_n Lambda_n g_n g_n^T) + delta I, by eigenvectors of both factors

References
----------
MacKay (1992), the Laplace posterior of a classifier [MacKay1992b].
Martens and Grosse (2015), KFAC [MartensGrosse2015].
Ritter et al. (2018), Kronecker-factored posteriors [Ritter2018].
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from nnbo_mip.core.arrays import Array, FloatArray
from nnbo_mip.surrogates.ratios.estimators.jacobian import Linearization
from nnbo_mip.surrogates.rvfl.bayesian_linear import (
    CholeskyPosterior,
    SpectralPosterior,
    Spectrum,
    WeightPosterior,
    posterior_of,
)

FORMS = ("function", "weight", "diagonal", "kfac")


@dataclass(frozen=True, eq=False)
class Curvature:
    """What the data say of the weights about a maximum.

    Parameters
    ----------
    jacobian : (N, P) array
    sizes : (N,) array
        Lambda.
    factors : list of pairs of (N, out) and (N, in + 1) arrays
        J by layers.
    """

    jacobian: FloatArray
    sizes: FloatArray
    factors: list[tuple[FloatArray, FloatArray]]

    @staticmethod
    def of(network: Linearization, points: FloatArray, weights: FloatArray) -> Curvature:
        """Take it at points (N, d) with weights (N,)."""
        pi = expit(network.stack.evaluate(points)[0, :, 0])
        jacobian = network.jacobian(points)
        return Curvature(jacobian, weights * pi * (1.0 - pi), network.factors(points))

    @property
    def rooted(self) -> FloatArray:
        """Lambda^1/2 J."""
        return np.asarray(np.sqrt(self.sizes)[:, None] * self.jacobian)

    def precision(self, delta: float) -> FloatArray:
        """Return H (P, P)."""
        rooted = self.rooted
        return np.asarray(rooted.T @ rooted + delta * np.eye(rooted.shape[1]))

    def posterior(self, form: str, delta: float) -> WeightPosterior:
        """Return the distribution of theta - theta*, in one of `FORMS`."""
        zeros = np.zeros(self.jacobian.shape[1])
        if form == "weight":
            lower = np.asarray(np.linalg.cholesky(self.precision(delta)), dtype=np.float64)
            return CholeskyPosterior(zeros, lower)
        if form == "function":
            spectrum = Spectrum.of(self.rooted, np.zeros(len(self.sizes)))
            return SpectralPosterior.of(spectrum, delta, 1.0)
        if form == "diagonal":
            return DiagonalPosterior(zeros, np.square(self.rooted).sum(axis=0) + delta)
        return KroneckerPosterior.of(self, delta)


@dataclass(frozen=True, eq=False)
class DiagonalPosterior(WeightPosterior):
    """Independent weights.

    Parameters
    ----------
    mean : (P,) array
    precisions : (P,) array
    """

    mean: FloatArray
    precisions: FloatArray

    def whiten(self, psi: FloatArray) -> FloatArray:
        """Return R^T psi for rows psi (n, P)."""
        return np.asarray(psi / np.sqrt(self.precisions))

    def spread(self, white: FloatArray) -> FloatArray:
        """Return R z for rows z (n, P)."""
        return self.whiten(white)

    def to_arrays(self) -> dict[str, Array]:
        """Return named arrays for a file."""
        return {"mean": self.mean, "diagonal": self.precisions}


@dataclass(frozen=True, eq=False)
class KroneckerPosterior(WeightPosterior):
    """Independent layers, each a Kronecker product in the eigenvectors of its factors.

    Parameters
    ----------
    mean : (P,) array
    left, right : tuple of (out, out) and of (in + 1, in + 1) arrays
        Eigenvectors in their columns.
    precisions : tuple of (out, in + 1) arrays
    """

    mean: FloatArray
    left: tuple[FloatArray, ...]
    right: tuple[FloatArray, ...]
    precisions: tuple[FloatArray, ...]

    @staticmethod
    def of(curvature: Curvature, delta: float) -> KroneckerPosterior:
        """Decompose the factors of each layer."""
        left, right, precisions = [], [], []
        for g, a in curvature.factors:
            of_g, U = np.linalg.eigh((curvature.sizes[:, None] * g).T @ g)
            of_a, V = np.linalg.eigh(a.T @ a / len(a))
            products = np.outer(np.maximum(of_g, 0.0), np.maximum(of_a, 0.0))
            left.append(U)
            right.append(V)
            precisions.append(products + delta)
        zeros = np.zeros(curvature.jacobian.shape[1])
        return KroneckerPosterior(zeros, tuple(left), tuple(right), tuple(precisions))

    def whiten(self, psi: FloatArray) -> FloatArray:
        """Return R^T psi for rows psi (n, P)."""
        parts = []
        for block, U, V, precision in self._blocks(psi):
            turned = np.einsum("oi,npo->npi", V, np.einsum("op,noi->npi", U, block))
            parts.append((turned / np.sqrt(precision)).reshape(len(psi), -1))
        return np.concatenate(parts, axis=1)

    def spread(self, white: FloatArray) -> FloatArray:
        """Return R z for rows z (n, P)."""
        parts = []
        for block, U, V, precision in self._blocks(white):
            shrunk = block / np.sqrt(precision)
            turned = np.einsum("po,noi->npi", U, np.einsum("io,npo->npi", V, shrunk))
            parts.append(turned.reshape(len(white), -1))
        return np.concatenate(parts, axis=1)

    def _blocks(self, rows: FloatArray) -> list[tuple[FloatArray, ...]]:
        ends = np.cumsum([precision.size for precision in self.precisions])
        parts = np.split(rows, ends[:-1], axis=1)
        shaped = [
            part.reshape(len(rows), *precision.shape)
            for part, precision in zip(parts, self.precisions, strict=True)
        ]
        return list(zip(shaped, self.left, self.right, self.precisions, strict=True))

    def to_arrays(self) -> dict[str, Array]:
        """Return named arrays for a file."""
        arrays: dict[str, Array] = {"mean": self.mean, "blocks": np.array(len(self.left))}
        for name in ("left", "right", "precisions"):
            arrays |= {f"{name}{k}": part for k, part in enumerate(getattr(self, name))}
        return arrays


def laplace_of(arrays: Mapping[str, Array]) -> WeightPosterior:
    """Make the posterior that `WeightPosterior.to_arrays` described."""
    if "diagonal" in arrays:
        return DiagonalPosterior(arrays["mean"], arrays["diagonal"])
    if "blocks" not in arrays:
        return posterior_of(arrays)
    count = int(arrays["blocks"])
    left, right, precisions = (
        tuple(arrays[f"{name}{k}"] for k in range(count))
        for name in ("left", "right", "precisions")
    )
    return KroneckerPosterior(arrays["mean"], left, right, precisions)
