r"""The marginal likelihood of a Gaussian process that is a sum over groups of inputs.

Neither scikit-learn nor GPyTorch has kernels of groups that share an amplitude, so it is written
out. With K the kernel matrix, D the diagonal, C = K + D and w = C^-1 y,

    log p = -y^T w / 2 - log |C| / 2 - (n / 2) log 2 pi,
    d log p / dt = trace((w w^T - C^-1) dC/dt) / 2,

t the logarithm of the amplitude (dC = K), of the noise (dC = noise I) or of a length-scale l_i
of the group g (dC = (a / G) q(r_g) (x_i - x'_i)^2 / l_i^2, q as in `gp_kernels`).
"""

from __future__ import annotations

import math

import numpy as np
from scipy.linalg import LinAlgError, cho_solve, cholesky

from nnbo_mip.network.affine import FloatArray
from nnbo_mip.surrogates.gp_fitting import Hyperparameters, Likelihood


def additive_likelihood(
    hyper: Hyperparameters, X: FloatArray, y: FloatArray, diagonal: float
) -> Likelihood:
    """Return the log marginal likelihood in the free parameters, with its gradient.

    Parameters
    ----------
    hyper : Hyperparameters
        A kernel with groups, noise and what of them is free.
    X : (n, d) array
        Points.
    y : (n,) array
        Standardized values.
    diagonal : float
        Known variance on the diagonal, the noise left out.
    """
    squares = np.square(X[:, None, :] - X).transpose(2, 0, 1)  # (d, n, n)
    unit = np.eye(len(X))

    def likelihood(logarithms: FloatArray) -> tuple[float, FloatArray]:
        now = hyper.at(logarithms)
        covariance = now.kernel(X, X)
        try:
            whole = covariance + (diagonal + now.noise) * unit
            factor = cholesky(whole, lower=True, check_finite=False)
        except LinAlgError:
            return -math.inf, np.zeros_like(logarithms)
        weights = cho_solve((factor, True), y, check_finite=False)
        value = -0.5 * float(y @ weights) - float(np.log(factor.diagonal()).sum())
        value -= 0.5 * len(X) * math.log(2.0 * math.pi)
        pull = 0.5 * (np.outer(weights, weights) - cho_solve((factor, True), unit))
        slopes: dict[str, list[float]] = {
            "amplitude": [float((pull * covariance).sum())],
            "length_scale": _by_lengths(now, X, squares, pull),
            "noise": [now.noise * float(pull.trace())],
        }
        gradient = [slope for name in dict.fromkeys(hyper.free) for slope in slopes[name]]
        return value, np.array(gradient)

    return likelihood


def _by_lengths(
    now: Hyperparameters, X: FloatArray, squares: FloatArray, pull: FloatArray
) -> list[float]:
    """Return the slopes by the logarithms of the length-scales, or by that of the common one."""
    kernel = now.kernel
    found = np.zeros(X.shape[1])
    for columns, part in kernel.parts():
        rates = part.amplitude * part.slope(X[:, columns], X[:, columns])
        moved = np.einsum("nm,nm,inm->i", pull, rates, squares[list(columns)])
        found[list(columns)] = moved / np.square(part.length_scale)
    return found.tolist() if now.ard else [float(found.sum())]
