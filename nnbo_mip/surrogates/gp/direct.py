r"""The marginal likelihood of a Gaussian process by matrix products, for many length-scales.

With K the kernel matrix and the variances on its diagonal, w = K^-1 y, and

    S = (w w^T - K^-1) / 2,

the log likelihood and its slopes in the logarithms of the parameters are

    log p = -y . w / 2 - sum_i log L_ii - n log(2 pi) / 2,      K = L L^T,
    d log p / d log a   = sum_ij S_ij k_ij,
    d log p / d log s   = s sum_i S_ii,                         s the noise,
    d log p / d log l_c = sum_ij M_ij (x_ic - x_jc)^2 / l_c^2,  M = S * a q(r),

where q is the slope of the kernel (see `kernels`). As M is symmetric, the last sum is
2 (sum_i m_i x_ic^2 - x_c . M x_c) with the row sums m: one matrix product for all c, where
libraries keep an n x n matrix for each input. Where the kernel is a sum over groups of inputs, a q
is that of the group of c.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import LinAlgError, cho_solve, cholesky

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.surrogates.gp.fitting import Hyperparameters, Likelihood


def direct_likelihood(
    hyper: Hyperparameters, X: FloatArray, y: FloatArray, diagonal: float | FloatArray
) -> Likelihood:
    """Return the log marginal likelihood in the free parameters, with its gradient.

    Parameters
    ----------
    hyper : Hyperparameters
        Kernel, noise and what of them is free.
    X : (n, d) array
        Points.
    y : (n,) array
        Standardized values.
    diagonal : float or (n,) array
        Known variance on the diagonal, the noise left out.
    """
    n = len(X)
    constant = 0.5 * n * np.log(2.0 * np.pi)
    centred = X - X.mean(axis=0)  # keeps the difference of products exact far from the origin
    squares = np.square(centred)

    def likelihood(logarithms: FloatArray) -> tuple[float, FloatArray]:
        at = hyper.at(logarithms)
        kernel = at.kernel
        covariance = kernel(X, X)
        try:
            factor = cholesky(
                covariance + (diagonal + at.noise) * np.eye(n), lower=True, check_finite=False
            )
        except LinAlgError:
            return -np.inf, np.zeros(len(logarithms))
        inverse = cho_solve((factor, True), np.eye(n), check_finite=False)
        weights = cho_solve((factor, True), y, check_finite=False)
        value = -0.5 * float(y @ weights) - float(np.log(factor.diagonal()).sum()) - constant
        shares = 0.5 * (np.outer(weights, weights) - inverse)
        slopes: dict[str, FloatArray] = {}
        if "amplitude" in hyper.ranges:
            slopes["amplitude"] = np.array([np.sum(shares * covariance)])
        if "mixture" in hyper.ranges:
            slopes["mixture"] = np.array([np.sum(shares * kernel.mixture_slope(X, X))])
        if "length_scale" in hyper.ranges:
            sums = np.empty(X.shape[1])
            for columns, part in kernel.parts():
                pulls, own = shares * part.slope(X[:, columns], X[:, columns]), centred[:, columns]
                turned = np.einsum("ic,ic->c", own, pulls @ own)
                sums[list(columns)] = 2.0 * (pulls.sum(axis=1) @ squares[:, columns] - turned)
            lengths = sums / np.square(kernel.length_scale)
            slopes["length_scale"] = lengths if hyper.ard else np.array([lengths.sum()])
        if "noise" in hyper.ranges:
            slopes["noise"] = np.array([at.noise * np.trace(shares)])
        return value, np.concatenate([slopes[name] for name in dict.fromkeys(hyper.free)])

    return likelihood
