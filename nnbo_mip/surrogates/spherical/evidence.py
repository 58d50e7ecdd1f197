r"""The evidence of a linear model on the sphere, and its slopes.

With the points on the sphere P_i (see `scores.posteriors.spherical`), psi_i = (sqrt(c1) P_i,
sqrt(c0)), known variances and a noise on the diagonal D, K = psi psi^T + D and w = K^-1 y,

    log p = -y . w / 2 - log det K / 2 - n log(2 pi) / 2,
    d log p / d psi = w (w^T psi) - K^-1 psi.

The rates are r times a unit vector: rate_j = exp(l_j) / sqrt(s sum_k exp(2 l_k)), 0 < s < 1, so
that a corner of the cube [-1, 1]^d has |z|^2 = 1 / s whatever d is. Priors:

    l_j ~ N(0, 3),   log c0, log c1 ~ N(0, 1),   log noise ~ N(-4, 1),   s uniform.

All costs grow as d, and as the cube of min(n, d + 2): with more points than features
K^-1 = D^-1 - D^-1 psi B^-1 psi^T D^-1, B = 1 + psi^T D^-1 psi.

References
----------
Doumont et al. (2025), the model and its scales [Doumont2025].
Hvarfner et al. (2024), the priors of scales and noise [Hvarfner2024].
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cho_solve, cholesky
from scipy.optimize import minimize

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.scores.posteriors.spherical import Sphere

LENGTH_WIDTH = np.sqrt(3.0)
"""Standard deviation of the logarithm of a length-scale."""

NOISE_CENTER = -4.0
"""Of the logarithm of the noise's variance, where that of the values is 1."""

NOISES = (1e-6, 2.0)
"""Ends of such a variance."""

AMPLITUDES = (1e-4, 1e3)
"""Ends of c0 and c1."""

LEAST_SHARE = 1e-3
"""s and 1 - s are at least so large."""

UNREACHABLE = 1e25
"""Stands for minus infinity in the search."""


@dataclass(frozen=True, eq=False)
class Scales:
    """What is learned beside the weights.

    Parameters
    ----------
    lengths : (d,) array
        l, the logarithms of relative rates.
    share : float
        s.
    slope_variance, level_variance : float
        c1 and c0, in standardized units.
    noise : float
        Variance of a value about the function, in standardized units.
    """

    lengths: FloatArray
    share: float = 0.5
    slope_variance: float = 1.0
    level_variance: float = 1.0
    noise: float = float(np.exp(NOISE_CENTER))

    @property
    def rate(self) -> FloatArray:
        """The rates (d,)."""
        relative = np.exp(self.lengths - self.lengths.max())
        return np.asarray(relative / np.sqrt(self.share * np.square(relative).sum()))

    def sphere(self) -> Sphere:
        """Return the projection; the middle of the cube goes to the pole."""
        return Sphere(np.zeros(len(self.lengths)), self.rate)

    def features(self, X: FloatArray) -> FloatArray:
        """Return psi (n, d + 2) at points (n, d)."""
        return self.sphere().features(X) * self.roots

    @property
    def roots(self) -> FloatArray:
        """Prior deviations (d + 2,) of the weights."""
        root = np.full(len(self.lengths) + 2, np.sqrt(self.slope_variance))
        root[-1] = np.sqrt(self.level_variance)
        return root


@dataclass(frozen=True, eq=False)
class Evidence:
    """The log posterior of scales, up to a constant.

    Parameters
    ----------
    X, y : (n, d) and (n,) arrays
        Points in model coordinates, standardized values.
    told : (n,) array
        Known variances.
    learns_noise : bool
        Whether the noise is free beside them.
    """

    X: FloatArray
    y: FloatArray
    told: FloatArray
    learns_noise: bool

    def at(self, scales: Scales) -> tuple[float, FloatArray]:
        """Return it and its slopes (d + 4,) in l, logit s, log c1, log c0 and log noise.

        The last is missing where the noise is not learned.
        """
        psi = scales.features(self.X)
        diagonal = self.told + scales.noise
        try:
            value, by_psi, by_diagonal = _likelihood(psi, self.y, diagonal)
        except LinAlgError:
            return -np.inf, np.zeros(len(scales.lengths) + 3 + self.learns_noise)
        sphere, root = scales.sphere(), scales.roots
        along = sphere.pull(self.X, by_psi * root)  # by x; z_j = rate_j x_j
        by_rate = (along * self.X).sum(axis=0)  # by log rate_j
        relative = scales.share * np.square(scales.rate)  # of unit sum
        by_length = by_rate - relative * by_rate.sum() - scales.lengths / LENGTH_WIDTH**2
        by_share = -0.5 * by_rate.sum() * (1.0 - scales.share)
        products = by_psi * psi
        slopes = [
            0.5 * products[:, :-1].sum() - np.log(scales.slope_variance),
            0.5 * products[:, -1].sum() - np.log(scales.level_variance),
        ]
        offset = np.log(scales.noise) - NOISE_CENTER
        if self.learns_noise:
            slopes.append(scales.noise * by_diagonal.sum() - offset)
            value -= 0.5 * offset**2
        value -= 0.5 * float(np.square(scales.lengths).sum()) / LENGTH_WIDTH**2
        value -= 0.5 * np.log(scales.slope_variance) ** 2
        value -= 0.5 * np.log(scales.level_variance) ** 2
        return float(value), np.concatenate([by_length, [by_share], slopes])


def _likelihood(
    psi: FloatArray, y: FloatArray, diagonal: FloatArray
) -> tuple[float, FloatArray, FloatArray]:
    """Return log p without its constant, and its slopes by psi (n, p) and by the diagonal (n,)."""
    n, p = psi.shape
    if n <= p:
        factor = cholesky(psi @ psi.T + np.diag(diagonal), lower=True, check_finite=False)
        inverse = cho_solve((factor, True), np.eye(n), check_finite=False)
        w, solved, own = inverse @ y, inverse @ psi, inverse.diagonal()
        log_det = 2.0 * np.log(factor.diagonal()).sum()
    else:
        light = psi / diagonal[:, None]
        factor = cholesky(np.eye(p) + psi.T @ light, lower=True, check_finite=False)
        solved = cho_solve((factor, True), light.T, check_finite=False).T
        own = 1.0 / diagonal - (solved * light).sum(axis=1)
        w = y / diagonal - solved @ (light.T @ y)
        log_det = 2.0 * np.log(factor.diagonal()).sum() + np.log(diagonal).sum()
    value = -0.5 * float(y @ w) - 0.5 * float(log_det)
    return value, np.outer(w, w @ psi) - solved, 0.5 * (np.square(w) - own)


def best_scales(evidence: Evidence, start: Scales, most_steps: int) -> Scales:
    """Climb from some scales, by L-BFGS-B; they are returned where nothing is finite."""
    d = len(start.lengths)
    first = np.concatenate([start.lengths, [_logit(start.share)]])
    first = np.append(first, np.log([start.slope_variance, start.level_variance]))
    ends = [(-8.0, 8.0)] * d + [(_logit(LEAST_SHARE), _logit(1.0 - LEAST_SHARE))]
    ends += [(np.log(AMPLITUDES[0]), np.log(AMPLITUDES[1]))] * 2
    if evidence.learns_noise:
        first = np.append(first, np.log(start.noise))
        ends.append((np.log(NOISES[0]), np.log(NOISES[1])))

    def scales_at(numbers: FloatArray) -> Scales:
        noise = float(np.exp(numbers[d + 3])) if evidence.learns_noise else start.noise
        share = float(1.0 / (1.0 + np.exp(-numbers[d])))
        c1, c0 = np.exp(numbers[d + 1 : d + 3])
        return Scales(numbers[:d], share, float(c1), float(c0), noise)

    unit = max(1.0, float(np.abs(evidence.at(scales_at(first))[1]).max()))

    def descent(numbers: FloatArray) -> tuple[float, FloatArray]:
        value, slopes = evidence.at(scales_at(numbers))
        if not (np.isfinite(value) and np.isfinite(slopes).all()):
            return UNREACHABLE, np.zeros_like(numbers)
        return -value / unit, -slopes / unit

    options = {"maxiter": most_steps, "ftol": 1e-7 / unit, "gtol": 1e-3 / unit}
    answer = minimize(descent, first, jac=True, method="L-BFGS-B", bounds=ends, options=options)
    return scales_at(answer.x) if answer.fun < UNREACHABLE else start


def _logit(share: float) -> float:
    return float(np.log(share) - np.log1p(-share))
