"""How a density ratio is estimated from labelled points: one variant a file, one registry."""

from __future__ import annotations

import abc
from typing import ClassVar

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.registry import Registry
from nnbo_mip.surrogates.base.abstract import Capability
from nnbo_mip.surrogates.ratios.estimators.labels import Labels
from nnbo_mip.surrogates.ratios.estimators.odds import Odds

_ROOM = "nnbo_mip.surrogates.ratios.estimators"


class RatioEstimator(abc.ABC):
    """A frozen dataclass of options that turns labelled points into log-odds."""

    name: ClassVar[str]
    """Its name in the registry."""

    capabilities: ClassVar[frozenset[Capability]]
    """What its log-odds offer."""

    @abc.abstractmethod
    def estimate(self, X: FloatArray, labels: Labels, seed: int) -> Odds:
        """Return the log-odds that a point is good, whose ratio is relative to `labels.share`.

        Parameters
        ----------
        X : (n, d) array
            Points in model coordinates, at least one.
        labels : Labels
            Perhaps all good; the log-odds are then `labels.prior_odds` everywhere.
        seed : int
        """


registry: Registry[RatioEstimator] = Registry(
    "ratio estimator",
    RatioEstimator,
    {
        "net": f"{_ROOM}.net_classifier:NetClassifier",
        "forest": f"{_ROOM}.forest_classifier:ForestClassifier",
        "boosting": f"{_ROOM}.boosting_classifier:BoostingClassifier",
        "svm": f"{_ROOM}.svm_classifier:SvmClassifier",
        "predict_proba": f"{_ROOM}.any_classifier:AnyClassifier",
        "kliep": f"{_ROOM}.kliep:Kliep",
        "ulsif": f"{_ROOM}.ulsif:Ulsif",
        "rulsif": f"{_ROOM}.ulsif:relative",
    },
    group="nnbo_mip.ratio_estimators",
)
"""Filled by the package, by entry points, and by `register`."""
