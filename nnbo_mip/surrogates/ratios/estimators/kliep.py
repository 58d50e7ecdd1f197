r"""KLIEP: the ratio l / g whose product with g is nearest to l in the Kullback-Leibler divergence.

With kernels phi_b at good points, r = sum_b w_b phi_b maximizes mean_good log r under
mean_bad r = 1 and w >= 0. In p_b = w_b m_b, m_b = mean_bad phi_b, this is the likelihood of mixture
weights p on the simplex for components c_b = phi_b / m_b, which rises with every step of

    p_b <- p_b mean_good ( c_b / sum_a p_a c_a ).

The width has the largest mean log r at held-out good points.

References
----------
Sugiyama et al. (2008), KLIEP [Sugiyama2008].
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.checks import check_count
from nnbo_mip.surrogates.base.abstract import Capability
from nnbo_mip.surrogates.ratios.estimators.catalogue import RatioEstimator
from nnbo_mip.surrogates.ratios.estimators.kernel_odds import FLOOR, KernelOdds, kernel
from nnbo_mip.surrogates.ratios.estimators.kernel_widths import (
    MULTIPLES,
    check_width,
    median_distance,
    splits,
)
from nnbo_mip.surrogates.ratios.estimators.labels import Labels
from nnbo_mip.surrogates.ratios.estimators.svm_odds import SMOOTH_ODDS

LEAST_MASS = 1e-3
"""A kernel that no bad point feels counts as if they felt it so much: no ratio is infinite."""


@dataclass(frozen=True)
class Kliep(RatioEstimator):
    """The Kullback-Leibler importance estimation procedure.

    Parameters
    ----------
    width : float, optional
        Of the kernels, in median distances; left out, by cross-validation.
    iterations : int
        Steps of the weights.
    """

    name: ClassVar[str] = "kliep"
    capabilities: ClassVar[frozenset[Capability]] = SMOOTH_ODDS

    width: float | None = None
    iterations: int = 300

    def __post_init__(self) -> None:
        """Refuse options that are none."""
        check_width(self.width)
        check_count("iterations", self.iterations)

    def estimate(self, X: FloatArray, labels: Labels, seed: int) -> KernelOdds:
        """Return the log-odds of the ratio."""
        if labels.are_all_good:
            return KernelOdds.constant(X.shape[1], labels.share)
        unit = median_distance(X)
        width = unit * (self.width or self._best_multiple(X, labels, unit, seed))
        good, bad = X[labels.good], X[~labels.good]
        weights = self.weights(good, bad, width)
        return KernelOdds(good, weights, width, labels.share, "plain")

    def weights(self, good: FloatArray, bad: FloatArray, width: float) -> FloatArray:
        """Return the weights (b,) of kernels at the good points."""
        felt = kernel(good, good, width)
        mass = np.maximum(kernel(bad, good, width).mean(axis=0), LEAST_MASS)
        components = felt / mass
        p = np.full(len(good), 1.0 / len(good))
        for _ in range(self.iterations):
            p = p * (components / (components @ p)[:, None]).mean(axis=0)
        return np.asarray(p / mass)

    def _best_multiple(self, X: FloatArray, labels: Labels, unit: float, seed: int) -> float:
        folds = list(splits(X, labels, seed))
        if not folds:
            return 1.0
        scores = []
        for multiple in MULTIPLES:
            width, score = multiple * unit, 0.0
            for fold in folds:
                weights = self.weights(fold.good, fold.bad, width)
                ratio = kernel(fold.held_good, fold.good, width) @ weights
                score += float(np.log(ratio + FLOOR).mean())
            scores.append(score)
        return MULTIPLES[int(np.argmax(scores))]
