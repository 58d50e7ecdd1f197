r"""Scores of a mixture of normal components, weights g_k, means m_k, stds s_k.

ei        sum_k g_k EI(m_k, s_k)          exact: the expectation of a mixture is the mixture's
pi        sum_k g_k PI(m_k, s_k)          of the expectations
sampled   sum_k g_k (1 / S) sum_i max(m_k + s_k z_i - threshold, 0),   z_i normal draws
quantile  the least q with F(q) = sum_k g_k Phi((q - m_k) / s_k) >= level

With one component these are EI, PI and ``m + Phi^-1(level) s``. The quantile lies between the
least and the largest quantile of the components and is found by bisection; with the density
p(q) = sum_k g_k phi(z_k) / s_k, z_k = (q - m_k) / s_k, its derivatives are

    dq/dg_k = -Phi(z_k) / p(q),    dq/dm_k = g_k phi(z_k) / (s_k p(q)),    dq/ds_k = z_k dq/dm_k.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, ndtri

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.checks import check_choice, check_count, check_number, check_size
from nnbo_mip.scores.base.abstract import MixtureHead, MomentHead, standardized
from nnbo_mip.scores.base.normal import density
from nnbo_mip.scores.functions.improvement import ExpectedImprovement
from nnbo_mip.scores.functions.probability import ProbabilityOfImprovement

KINDS = ("ei", "pi")

BISECTIONS = 60
"""Halvings of the interval between the components' quantiles."""

Slopes = tuple[FloatArray, FloatArray, FloatArray]


@dataclass(frozen=True)
class MixtureImprovement(MixtureHead):
    """Expected improvement, or probability of improvement, under the mixture itself.

    Parameters
    ----------
    threshold : float
        Incumbent + xi.
    kind : str
        ``ei`` or ``pi``.
    """

    threshold: float
    kind: str = "ei"

    @property
    def name(self) -> str:
        """``ei_mixture`` or ``pi_mixture``."""
        return f"{self.kind}_mixture"

    def __post_init__(self) -> None:
        """Refuse numbers that are none."""
        check_number("threshold", self.threshold)
        check_choice("kind", self.kind, KINDS)

    @property
    def _of_one(self) -> MomentHead:
        """The same score of a single component."""
        if self.kind == "ei":
            return ExpectedImprovement(self.threshold)
        return ProbabilityOfImprovement(self.threshold)

    def _score(self, weights: FloatArray, means: FloatArray, stds: FloatArray) -> FloatArray:
        return np.asarray((weights * self._of_one.score(means, stds)).sum(axis=1))

    def _gradient(self, weights: FloatArray, means: FloatArray, stds: FloatArray) -> Slopes:
        by_mean, by_std = self._of_one.gradient(means, stds)
        return self._of_one.score(means, stds), weights * by_mean, weights * by_std


@dataclass(frozen=True)
class SampledImprovement(MixtureHead):
    """Expected improvement by samples, the same normal draws for all points and components.

    Parameters
    ----------
    threshold : float
        Incumbent + xi.
    n_samples : int
        S. The error falls as its root.
    seed : int
        Of the draws.
    """

    name = "ei_sampled"

    threshold: float
    n_samples: int = 64
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse numbers that are none."""
        check_number("threshold", self.threshold)
        check_size("n_samples", self.n_samples)
        check_count("seed", self.seed, least=0)

    def _draws(self) -> FloatArray:
        return np.random.default_rng(self.seed).standard_normal(self.n_samples)

    def _score(self, weights: FloatArray, means: FloatArray, stds: FloatArray) -> FloatArray:
        return np.asarray((weights * self._improvement(means, stds)).sum(axis=1))

    def _improvement(self, means: FloatArray, stds: FloatArray) -> FloatArray:
        """Return the average improvement (n, K) of each component."""
        total = np.zeros_like(means)
        for z in self._draws():  # one after the other: (n, K, S) numbers would fill the memory
            total += np.maximum(means + stds * z - self.threshold, 0.0)
        return total / self.n_samples

    def _gradient(self, weights: FloatArray, means: FloatArray, stds: FloatArray) -> Slopes:
        by_mean, by_std = np.zeros_like(means), np.zeros_like(means)
        for z in self._draws():
            improves = means + stds * z > self.threshold
            by_mean += improves
            by_std += z * improves
        share = weights / self.n_samples
        return self._improvement(means, stds), share * by_mean, share * by_std


@dataclass(frozen=True)
class MixtureQuantile(MixtureHead):
    """A quantile of the mixture less a constant: its upper confidence bound.

    Parameters
    ----------
    level : float
        Probability of a value up to the quantile, between 0 and 1.
    constant : float
        Added to the quantile.
    """

    name = "quantile_mixture"

    level: float
    constant: float = 0.0

    def __post_init__(self) -> None:
        """Refuse numbers that are none."""
        check_number("level", self.level, above=0.0, below=1.0)
        check_number("constant", self.constant)

    def _score(self, weights: FloatArray, means: FloatArray, stds: FloatArray) -> FloatArray:
        return self.constant + quantiles(self.level, weights, means, stds)

    def _gradient(self, weights: FloatArray, means: FloatArray, stds: FloatArray) -> Slopes:
        q = quantiles(self.level, weights, means, stds)[:, None]
        z = standardized(q - means, stds)
        safe = np.where(stds > 0.0, stds, np.inf)
        parts = weights * density(z) / safe
        total = parts.sum(axis=1, keepdims=True)
        smooth = total > 0.0
        total = np.where(smooth, total, 1.0)
        # Without a density the quantile is that of the component next to it, and moves with it.
        nearest = np.abs(q - means) == np.abs(q - means).min(axis=1, keepdims=True)
        nearest = nearest / nearest.sum(axis=1, keepdims=True)
        by_mean = np.where(smooth, parts / total, nearest)
        by_std = np.where(smooth & np.isfinite(z), np.where(np.isfinite(z), z, 0.0) * by_mean, 0.0)
        return np.where(smooth, -ndtr(z) / total, 0.0), by_mean, by_std


def quantiles(level: float, weights: FloatArray, means: FloatArray, stds: FloatArray) -> FloatArray:
    """Return the quantile (n,) of mixtures (n, K) at a probability."""
    of_each = means + stds * float(ndtri(level))
    counts = weights > 0.0
    low = np.where(counts, of_each, np.inf).min(axis=1)
    high = np.where(counts, of_each, -np.inf).max(axis=1)
    for _ in range(BISECTIONS):
        middle = 0.5 * low + 0.5 * high
        reached = distribution(middle, weights, means, stds) >= level
        low, high = np.where(reached, low, middle), np.where(reached, middle, high)
    return np.asarray(high)


def distribution(
    y: FloatArray, weights: FloatArray, means: FloatArray, stds: FloatArray
) -> FloatArray:
    """Return F(y) (n,) of mixtures (n, K) at one value each."""
    margin = y[:, None] - means
    below = np.where((stds == 0.0) & (margin == 0.0), 1.0, ndtr(standardized(margin, stds)))
    return np.asarray((weights * below).sum(axis=1))
