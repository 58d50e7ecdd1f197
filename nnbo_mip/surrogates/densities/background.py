r"""The background: what is believed where a joint density has seen nothing.

Given an input where its density p(u) is tiny, the conditional of a mixture is as narrow as
elsewhere. A wide normal distribution N(0, v_0) takes its place there: with n observations,

    S(u) = n p(u) Delta,    alpha = S / (S + 1),

    mixture   p(v | u) = alpha p(v | u) + (1 - alpha) N(v | 0, v_0)
    normal    N(v | alpha m(u), alpha s^2(u) + (1 - alpha) v_0),    m, s^2 of the conditional.

In the first the background is one more component, of A = 1 beside n Delta A_k(u).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.surrogates.base.mixture import Mixture, MixtureSlopes, log_normal
from nnbo_mip.surrogates.densities.joint_density import Parts, PartSlopes

BLENDS = ("mixture", "normal")


@dataclass(frozen=True)
class Background:
    """How a conditional is blended with the background.

    Parameters
    ----------
    n : int
        Observations.
    delta : float
        Delta, how much one of them counts.
    variance : float
        v_0, in standardized units.
    blend : str
        ``mixture`` or ``normal``.
    """

    n: int
    delta: float
    variance: float
    blend: str

    def mixture(self, parts: Parts) -> Mixture:
        """Return the blended conditional at n inputs."""
        rows = len(parts.logs)
        if self.blend == "mixture":
            return Mixture(
                self._weights(parts),
                np.column_stack([parts.means, np.zeros(rows)]),
                np.tile(np.append(parts.stds, np.sqrt(self.variance)), (rows, 1)),
            )
        alpha = expit(self._log_s(parts.log_marginal))
        mean, variance = parts.moments()
        blended = alpha * variance + (1.0 - alpha) * self.variance
        return Mixture(np.ones((rows, 1)), (alpha * mean)[:, None], np.sqrt(blended)[:, None])

    def slopes(self, parts: Parts, slopes: PartSlopes) -> MixtureSlopes:
        """Return the derivatives of `mixture`."""
        rows, _, d = slopes.logs.shape
        if self.blend == "mixture":
            still = np.zeros((rows, 1, d))
            weights = _slopes_of_shares(
                self._weights(parts), np.concatenate([slopes.logs, still], axis=1)
            )
            means = np.concatenate([slopes.means, still], axis=1)
            return MixtureSlopes(weights, means, np.zeros_like(means))
        shares = parts.shares
        log_slope = np.einsum("nk,nkd->nd", shares, slopes.logs)
        conditional = Mixture(shares, parts.means, np.broadcast_to(parts.stds, parts.means.shape))
        moving = MixtureSlopes(
            _slopes_of_shares(shares, slopes.logs), slopes.means, np.zeros_like(slopes.means)
        )
        mean_slope, std_slope = conditional.moment_slopes(moving)
        mean, std = conditional.mean[:, None], conditional.std[:, None]
        alpha = expit(self._log_s(parts.log_marginal))[:, None]
        by_alpha = alpha * (1.0 - alpha) * log_slope
        blended = np.sqrt(alpha * std**2 + (1.0 - alpha) * self.variance)
        variance_slope = by_alpha * (std**2 - self.variance) + 2.0 * alpha * std * std_slope
        return MixtureSlopes(
            np.zeros((rows, 1, d)),
            (by_alpha * mean + alpha * mean_slope)[:, None, :],
            (variance_slope / (2.0 * blended))[:, None, :],
        )

    def log_density(
        self,
        v: FloatArray,
        log_marginal: FloatArray,
        log_joint: FloatArray,
        mean: FloatArray,
        variance: FloatArray,
    ) -> FloatArray:
        """Return the log of the blended density (n,) from what a joint density says, all (n,)."""
        log_s = self._log_s(log_marginal)
        prior = log_normal(v, np.zeros_like(v), np.full_like(v, np.sqrt(self.variance)))
        if self.blend == "mixture":
            seen = log_s - log_marginal + log_joint
            return np.asarray(np.logaddexp(seen, prior) - np.logaddexp(log_s, 0.0))
        alpha = expit(log_s)
        blended = alpha * variance + (1.0 - alpha) * self.variance
        return log_normal(v, alpha * mean, np.sqrt(blended))

    def _log_s(self, log_marginal: FloatArray) -> FloatArray:
        return np.asarray(np.log(self.n * self.delta) + log_marginal)

    def _weights(self, parts: Parts) -> FloatArray:
        """Return the shares (n, K + 1) of the components and of the background."""
        logs = np.column_stack(
            [np.log(self.n * self.delta) + parts.logs, np.zeros(len(parts.logs))]
        )
        weights = np.exp(logs - logs.max(axis=1, keepdims=True))
        return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def _slopes_of_shares(shares: FloatArray, log_slopes: FloatArray) -> FloatArray:
    """Return the derivatives (n, K, d) of shares whose logarithms have these, up to a constant."""
    average = np.einsum("nk,nkd->nd", shares, log_slopes)
    return np.asarray(shares[..., None] * (log_slopes - average[:, None]))
