r"""uLSIF and relative uLSIF: density ratios by least squares, in closed form.

With kernels phi at good points and 0 <= alpha < 1, r = w . phi estimates
l / (alpha l + (1 - alpha) g), alpha = 0 being l / g:

    H = alpha mean_good phi phi^T + (1 - alpha) mean_bad phi phi^T,   h = mean_good phi,
    w = max((H + penalty I)^-1 h, 0).

Width and penalty have the least w . H w / 2 - h . w, with H and h of held-out points. The relative
estimator takes the share of good observations for alpha, so that share r is a class probability;
that ratio is bounded, which makes it the easier one to estimate.

References
----------
Kanamori et al. (2009), uLSIF [Kanamori2009].
Yamada et al. (2013), RuLSIF [Yamada2013].
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.linalg import solve

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.checks import check_flag, check_number
from nnbo_mip.surrogates.base.abstract import Capability
from nnbo_mip.surrogates.ratios.estimators.catalogue import RatioEstimator
from nnbo_mip.surrogates.ratios.estimators.kernel_odds import KernelOdds, kernel
from nnbo_mip.surrogates.ratios.estimators.kernel_widths import (
    MULTIPLES,
    Split,
    check_width,
    median_distance,
    splits,
)
from nnbo_mip.surrogates.ratios.estimators.labels import Labels
from nnbo_mip.surrogates.ratios.estimators.svm_odds import SMOOTH_ODDS

PENALTIES = (1e-3, 1e-2, 1e-1, 1.0)
"""Compared by cross-validation."""


@dataclass(frozen=True)
class Ulsif(RatioEstimator):
    """Unconstrained least-squares importance fitting.

    Parameters
    ----------
    relative : bool
        Whether the ratio is that to all points (RuLSIF) instead of that to the bad ones.
    width : float, optional
        Of the kernels, in median distances; left out, by cross-validation.
    penalty : float, optional
        Of the weights' squares; left out, by cross-validation.
    """

    name: ClassVar[str] = "ulsif"
    capabilities: ClassVar[frozenset[Capability]] = SMOOTH_ODDS

    relative: bool = False
    width: float | None = None
    penalty: float | None = None

    def __post_init__(self) -> None:
        """Refuse options that are none."""
        check_flag("relative", self.relative)
        check_width(self.width)
        if self.penalty is not None:
            check_number("penalty", self.penalty, above=0.0)

    def estimate(self, X: FloatArray, labels: Labels, seed: int) -> KernelOdds:
        """Return the log-odds of the ratio."""
        if labels.are_all_good:
            return KernelOdds.constant(X.shape[1], labels.share)
        unit = median_distance(X)
        alpha = labels.share if self.relative else 0.0
        multiple, penalty = self._chosen(list(splits(X, labels, seed)), unit, alpha)
        good, bad = X[labels.good], X[~labels.good]
        weights = fitted_weights(*moments(good, bad, good, multiple * unit, alpha), penalty)
        link = "relative" if self.relative else "plain"
        return KernelOdds(good, weights, multiple * unit, labels.share, link)

    def _chosen(self, folds: list[Split], unit: float, alpha: float) -> tuple[float, float]:
        """Return the multiple of the median distance, and the penalty."""
        widths = MULTIPLES if self.width is None else (self.width,)
        penalties = PENALTIES if self.penalty is None else (self.penalty,)
        if not folds:
            return self.width or 1.0, self.penalty or PENALTIES[-1]
        losses = {}
        for multiple in widths:
            learned = [moments(f.good, f.bad, f.good, multiple * unit, alpha) for f in folds]
            judged = [
                moments(f.held_good, f.held_bad, f.good, multiple * unit, alpha) for f in folds
            ]
            for penalty in penalties:
                losses[multiple, penalty] = sum(
                    loss(fitted_weights(*known, penalty), *held)
                    for known, held in zip(learned, judged, strict=True)
                )
        return min(losses, key=lambda pair: losses[pair])


def relative(width: float | None = None, penalty: float | None = None) -> Ulsif:
    """Return relative uLSIF; options as those of `Ulsif`."""
    return Ulsif(True, width, penalty)


def moments(
    good: FloatArray, bad: FloatArray, centers: FloatArray, width: float, alpha: float
) -> tuple[FloatArray, FloatArray]:
    """Return H (b, b) and h (b,) of good and bad points."""
    of_good, of_bad = kernel(good, centers, width), kernel(bad, centers, width)
    H = (1.0 - alpha) * of_bad.T @ of_bad / len(bad)
    if alpha > 0.0:
        H = H + alpha * of_good.T @ of_good / len(good)
    return np.asarray(H), of_good.mean(axis=0)


def fitted_weights(H: FloatArray, h: FloatArray, penalty: float) -> FloatArray:
    """Return max((H + penalty I)^-1 h, 0)."""
    found = solve(H + penalty * np.eye(len(h)), h, assume_a="pos")
    return np.asarray(np.maximum(found, 0.0))


def loss(weights: FloatArray, H: FloatArray, h: FloatArray) -> float:
    """Return half the squared error of a ratio, up to a constant."""
    return float(0.5 * weights @ H @ weights - h @ weights)
