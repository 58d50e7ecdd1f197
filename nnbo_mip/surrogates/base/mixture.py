r"""`Mixture`: a predictive distribution that is a weighted sum of normal ones.

    p(y | x) = sum_k g_k(x) N(y | m_k(x), s_k(x)^2),      sum_k g_k = 1,

    mean      f   = sum_k g_k m_k
    variance  s^2 = sum_k g_k (s_k^2 + (m_k - f)^2).

The second is the second moment less the square of the mean, without their difference.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.scores.base.normal import LOG_ROOT_TWO_PI


@dataclass(frozen=True, eq=False)
class MixtureSlopes:
    """Derivatives of a `Mixture` at n points.

    Parameters
    ----------
    weights, means, stds : (n, K, d) arrays
        Those of each component by each coordinate.
    """

    weights: FloatArray
    means: FloatArray
    stds: FloatArray


@dataclass(frozen=True, eq=False)
class Mixture:
    """K normal components at n points.

    Parameters
    ----------
    weights : (n, K) array
        g_k, not negative, of sum 1 at each point.
    means, stds : (n, K) arrays
        m_k and s_k >= 0.
    """

    weights: FloatArray
    means: FloatArray
    stds: FloatArray

    @property
    def mean(self) -> FloatArray:
        """Expected value (n,)."""
        return np.asarray((self.weights * self.means).sum(axis=1))

    @property
    def std(self) -> FloatArray:
        """Standard deviation (n,)."""
        return np.asarray(np.sqrt((self.weights * self._spreads).sum(axis=1)))

    def log_density(self, y: npt.ArrayLike) -> FloatArray:
        """Return log p(y_i | x_i) (n,) of one value a point; the stds must be positive."""
        parts = np.log(np.maximum(self.weights, np.finfo(np.float64).tiny))
        parts = parts + log_normal(np.asarray(y)[:, None], self.means, self.stds)
        return log_sum(parts)

    def moment_slopes(self, slopes: MixtureSlopes) -> tuple[FloatArray, FloatArray]:
        """Return the gradients (n, d) of mean and std; 0 where the std is 0."""
        off = self.means - self.mean[:, None]
        mean = np.einsum("nk,nkd->nd", self.means, slopes.weights)
        mean += np.einsum("nk,nkd->nd", self.weights, slopes.means)
        # The slope of the mean inside off drops out, as sum_k g_k (m_k - f) = 0.
        variance = np.einsum("nk,nkd->nd", self._spreads, slopes.weights)
        variance += 2.0 * np.einsum("nk,nkd->nd", self.weights * off, slopes.means)
        variance += 2.0 * np.einsum("nk,nkd->nd", self.weights * self.stds, slopes.stds)
        std = self.std
        return mean, variance / np.where(std > 0.0, 2.0 * std, np.inf)[:, None]

    def widened(self, factor: float) -> Mixture:
        """Return the mixture with the same mean and `factor` times the std."""
        mean = self.mean[:, None]
        return Mixture(self.weights, mean + factor * (self.means - mean), factor * self.stds)

    def widened_slopes(self, slopes: MixtureSlopes, factor: float) -> MixtureSlopes:
        """Return the slopes of `widened`."""
        mean = self.moment_slopes(slopes)[0][:, None, :]
        return MixtureSlopes(
            slopes.weights, mean + factor * (slopes.means - mean), factor * slopes.stds
        )

    @property
    def _spreads(self) -> FloatArray:
        """Return s_k^2 + (m_k - f)^2 (n, K)."""
        return np.square(self.stds) + np.square(self.means - self.mean[:, None])


def log_normal(y: FloatArray, means: FloatArray, stds: FloatArray) -> FloatArray:
    """Return log N(y | m, s^2) of arrays that broadcast."""
    return np.asarray(-0.5 * np.square((y - means) / stds) - np.log(stds) - LOG_ROOT_TWO_PI)


def log_sum(logs: FloatArray) -> FloatArray:
    """Return log sum_k exp(logs_ik) (n,), with -inf for a row of -inf."""
    top = logs.max(axis=-1, keepdims=True)
    top = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        return np.asarray(top[..., 0] + np.log(np.exp(logs - top).sum(axis=-1)))
