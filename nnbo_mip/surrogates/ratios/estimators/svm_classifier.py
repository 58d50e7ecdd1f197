r"""Class probability by a support vector machine of scikit-learn, calibrated as Platt does.

The decision function D is fitted to all observations. Slope and offset of the log-odds
u = slope D + offset are those of a logistic regression on decisions that were made without the
observation (cross-validation). Where a class has one member only, or the slope would turn the
order round, the slope is 1 and the offset such that the mean probability is the share of good ones.

References
----------
Platt (1999), calibrated probabilities [Platt1999].
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.checks import check_count, check_number
from nnbo_mip.surrogates.base.abstract import Capability
from nnbo_mip.surrogates.ratios.estimators.catalogue import RatioEstimator
from nnbo_mip.surrogates.ratios.estimators.labels import Labels
from nnbo_mip.surrogates.ratios.estimators.svm_odds import SMOOTH_ODDS, SvmOdds

LEAST_SLOPE = 1e-3
"""Calibrations that are flatter say nothing."""


@dataclass(frozen=True)
class SvmClassifier(RatioEstimator):
    """A support vector machine with a Gaussian kernel.

    Parameters
    ----------
    penalty : float
        Of points on the wrong side, C.
    folds : int
        Of the cross-validation.
    """

    name: ClassVar[str] = "svm"
    capabilities: ClassVar[frozenset[Capability]] = SMOOTH_ODDS

    penalty: float = 1.0
    folds: int = 5

    def __post_init__(self) -> None:
        """Refuse options that are none."""
        check_number("penalty", self.penalty, above=0.0)
        check_count("folds", self.folds, least=2)

    def estimate(self, X: FloatArray, labels: Labels, seed: int) -> SvmOdds:
        """Return the calibrated decision function."""
        d = X.shape[1]
        if labels.are_all_good:
            return SvmOdds(np.zeros((0, d)), np.zeros(0), 1.0, 0.0, 1.0, labels.prior_odds)
        from sklearn.svm import SVC

        spread = float(X.var())
        width = 1.0 / (d * spread) if spread > 0.0 else 1.0  # "scale" of scikit-learn
        machine = SVC(C=self.penalty, gamma=width, random_state=seed)
        slope, offset = self._calibration(machine, X, labels, seed)
        machine.fit(X, labels.good)
        return SvmOdds(
            np.array(machine.support_vectors_),
            np.array(machine.dual_coef_[0]),
            width,
            float(machine.intercept_[0]),
            slope,
            offset,
        )

    def _calibration(
        self, machine: Any, X: FloatArray, labels: Labels, seed: int
    ) -> tuple[float, float]:
        """Return slope and offset."""
        from sklearn.base import clone
        from sklearn.linear_model import LogisticRegression
        from sklearn.model_selection import StratifiedKFold, cross_val_predict

        good = labels.good
        folds = min(self.folds, int(good.sum()), int((~good).sum()))
        if folds >= 2:
            split = StratifiedKFold(folds, shuffle=True, random_state=seed)
            decisions = cross_val_predict(machine, X, good, cv=split, method="decision_function")
            fitted = LogisticRegression().fit(decisions[:, None], good)
            if fitted.coef_[0, 0] > LEAST_SLOPE:
                return float(fitted.coef_[0, 0]), float(fitted.intercept_[0])
        decisions = clone(machine).fit(X, good).decision_function(X)
        reach = float(np.abs(decisions).max()) + 50.0

        def excess(offset: float) -> float:
            return float(expit(decisions + offset).mean()) - labels.share

        return 1.0, float(brentq(excess, -reach, reach))
