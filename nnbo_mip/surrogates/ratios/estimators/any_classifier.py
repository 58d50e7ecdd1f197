"""Class probability by any classifier that speaks as scikit-learn's do: `fit`, `predict_proba`."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from nnbo_mip.core.arrays import Array, FloatArray
from nnbo_mip.core.errors import InputError, UnsupportedError
from nnbo_mip.surrogates.base.abstract import Capability
from nnbo_mip.surrogates.ratios.estimators.catalogue import RatioEstimator
from nnbo_mip.surrogates.ratios.estimators.labels import Labels, odds_of_probability
from nnbo_mip.surrogates.ratios.estimators.odds import Odds

ONLY_A_MEAN = frozenset({Capability.MEAN})


@dataclass(frozen=True)
class AnyClassifier(RatioEstimator):
    """A classifier that the user passes.

    Parameters
    ----------
    classifier : object
        With `fit(X, z)` and `predict_proba(X)`, columns bad and good. A copy is fitted. A seed is
        its own affair: where it has one, set it, so that a run can be repeated.
    """

    name: ClassVar[str] = "predict_proba"
    capabilities: ClassVar[frozenset[Capability]] = ONLY_A_MEAN

    classifier: Any

    def __post_init__(self) -> None:
        """Refuse what is no classifier."""
        if not all(hasattr(self.classifier, name) for name in ("fit", "predict_proba")):
            raise InputError(
                "a classifier must have fit and predict_proba; got a "
                f"{type(self.classifier).__name__}; pass one of scikit-learn's, say."
            )

    def estimate(self, X: FloatArray, labels: Labels, seed: int) -> AnyOdds:
        """Return the log-odds of the classifier's probability."""
        if labels.are_all_good:
            return AnyOdds(X.shape[1], None, labels.prior_odds)
        fitted = copy.deepcopy(self.classifier)
        fitted.fit(X, labels.good)
        return AnyOdds(X.shape[1], fitted)


@dataclass(frozen=True, eq=False)
class AnyOdds(Odds):
    """Log-odds of a fitted classifier, or a constant; they live in memory only.

    Parameters
    ----------
    d : int
        Number of inputs.
    fitted : object or None
    constant : float
    family : str
        Name of the surrogate that made it.
    """

    kind: ClassVar[str] = "predict_proba"
    capabilities = ONLY_A_MEAN

    d: int
    fitted: Any
    constant: float = 0.0
    family: str = "bore"

    @property
    def n_inputs(self) -> int:
        """d, the number of inputs."""
        return self.d

    def mean(self, X: npt.ArrayLike) -> FloatArray:
        """Return the log-odds (n,)."""
        points = self.check_points(X)
        if self.fitted is None or not len(points):
            return np.full(len(points), self.constant)
        probability = np.asarray(self.fitted.predict_proba(points), dtype=np.float64)[:, 1]
        return self.constant + odds_of_probability(probability)

    def to_arrays(self) -> dict[str, Array]:
        """Refuse: a classifier of others is no set of arrays that is known here."""
        raise UnsupportedError(
            "a belief must be arrays to be saved; the classifier of another package is none, and "
            'nothing is pickled here; take "net", "forest", "boosting" or "svm", or fit again.'
        )

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array]) -> AnyOdds:
        """Refuse, as nothing was saved."""
        raise ValueError("log-odds of a classifier that cannot be saved")
