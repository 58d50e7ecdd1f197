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
libraries keep an n x n matrix for each input. Where all length-scales are one, the sum over c is
sum_ij M_ij r_ij^2. Where the kernel is a sum over groups of inputs, a q is that of the group of c.

What is symmetric is computed for pairs i < j only, and K^-1 by LAPACK's own routine.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.linalg import cho_solve
from scipy.linalg.lapack import dpotrf, dpotri
from scipy.spatial.distance import pdist

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.surrogates.gp.fitting import Hyperparameters, Likelihood
from nnbo_mip.surrogates.gp.kernels import Kernel

MANY_INPUTS = 16
"""Beyond it distances come from one matrix product, which is quicker, unless the kernel has a cusp:
there the digits are needed that are lost between points that nearly coincide."""

Columns = slice | list[int]
Parts = list[tuple[Columns, Kernel]]


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
    first, second = np.triu_indices(n, 1)
    pairs = first * n + second

    def lengths(
        kernel: Kernel, parts: Parts, distances: list[FloatArray], sides: FloatArray
    ) -> FloatArray:
        """Return the slopes (d,) in the logarithms of the length-scales, (1,) of one for all."""
        sums, total = np.empty(X.shape[1]), 0.0
        for (columns, part), r in zip(parts, distances, strict=True):
            pulls = sides * part.slope_at(r)
            if not hyper.ard:
                total += float(pulls @ np.square(r))
                continue
            matrix = np.zeros((n, n))
            matrix.ravel()[pairs] = pulls
            matrix += matrix.T
            own = centred[:, columns]
            turned = np.einsum("ic,ic->c", own, matrix @ own)
            sums[columns] = matrix.sum(axis=1) @ squares[:, columns] - turned
        return sums / np.square(kernel.length_scale) if hyper.ard else np.array([total])

    def likelihood(logarithms: FloatArray) -> tuple[float, FloatArray]:
        at = hyper.at(logarithms)
        kernel = at.kernel
        parts = [(_selected(c, kernel), part) for c, part in kernel.parts()]
        distances = [_distances(centred[:, c], part, first, second) for c, part in parts]
        shares = [part.at(r) for (_, part), r in zip(parts, distances, strict=True)]
        covariance = np.sum(shares, axis=0)
        matrix = np.zeros((n, n))  # its upper triangle is the lower one of LAPACK's, in place
        matrix.ravel()[pairs] = covariance
        matrix.ravel()[:: n + 1] = kernel.amplitude + diagonal + at.noise
        factor, failed = dpotrf(matrix.T, lower=1, clean=0, overwrite_a=1)
        if failed:
            return -np.inf, np.zeros(len(logarithms))
        weights = cho_solve((factor, True), y, check_finite=False)
        value = -0.5 * float(y @ weights) - float(np.log(factor.diagonal()).sum()) - constant
        inverse = dpotri(factor, lower=1, overwrite_c=1)[0].T
        # Of both triangles, so without the half.
        sides = weights[first] * weights[second] - inverse.ravel()[pairs]
        trace = 0.5 * float(weights @ weights - inverse.trace())
        slopes: dict[str, FloatArray] = {}
        if "amplitude" in hyper.ranges:
            slopes["amplitude"] = np.array([sides @ covariance + kernel.amplitude * trace])
        if "mixture" in hyper.ranges:
            own = [part.mixture_slope_at(r) for (_, part), r in zip(parts, distances, strict=True)]
            slopes["mixture"] = np.array([sides @ np.sum(own, axis=0)])
        if "length_scale" in hyper.ranges:
            slopes["length_scale"] = lengths(kernel, parts, distances, sides)
        if "noise" in hyper.ranges:
            slopes["noise"] = np.array([at.noise * trace])
        return value, np.concatenate([slopes[name] for name in dict.fromkeys(hyper.free)])

    return likelihood


def _selected(columns: tuple[int, ...], kernel: Kernel) -> Columns:
    """Return what selects columns of an array, without a copy where that is all of them."""
    return list(columns) if kernel.groups else slice(None)


def _distances(
    X: FloatArray, kernel: Kernel, first: npt.NDArray[np.intp], second: npt.NDArray[np.intp]
) -> FloatArray:
    """Return the scaled distances of the pairs of points (n, d)."""
    scaled = X / kernel.length_scale
    if X.shape[1] <= MANY_INPUTS or not kernel.is_smooth:
        return np.asarray(pdist(scaled))
    products = scaled @ scaled.T
    own = products.diagonal()
    squares = own[first] + own[second] - 2.0 * products[first, second]
    return np.sqrt(np.maximum(squares, 0.0))
