r"""BORE: Bayesian optimization by a density ratio that is estimated instead of modelled.

The best share gamma of the observations is good (`labels`). Expected improvement over their least
value is proportional to the relative density ratio

    r_gamma(x) = l(x) / (gamma l(x) + (1 - gamma) g(x)) = P(good | x) / gamma,

l and g the densities of good and bad points. Any classifier gives P(good | x); KLIEP, uLSIF and
RuLSIF estimate the ratio without one. The acquisition ``ratio`` maximizes it.

References
----------
Tiao et al. (2021), BORE [Tiao2021].
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy.typing as npt

from nnbo_mip.core.checks import check_count
from nnbo_mip.surrogates.base.abstract import Belief, Capability, Surrogate
from nnbo_mip.surrogates.base.observations import Observations
from nnbo_mip.surrogates.ratios.estimators.catalogue import RatioEstimator, registry
from nnbo_mip.surrogates.ratios.estimators.labels import Labels, check_gamma
from nnbo_mip.surrogates.ratios.estimators.odds import RatioBelief, ratio_capabilities


@dataclass(frozen=True)
class Bore(Surrogate):
    """A density ratio by classification, or directly.

    Parameters
    ----------
    gamma : float
        Share of the observations that count as good.
    annealing : float
        How it shrinks with their number (see `labels`), from 0 (not) to 1.
    estimator : str, dict or RatioEstimator
        ``net``, whose log-odds are certified; ``forest``, ``boosting``, ``svm``, or
        ``predict_proba`` with a classifier of yours; ``kliep``, ``ulsif``, ``rulsif``. With
        options: ``"net:hidden=(16,)"``.
    seed : int
    """

    name: ClassVar[str] = "bore"
    belief_type: ClassVar[type[Belief]] = RatioBelief
    scalable = False

    gamma: float = 1.0 / 3.0
    annealing: float = 0.0
    estimator: Any = "net"
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse options that are none."""
        check_gamma(self.gamma, self.annealing)
        object.__setattr__(self, "estimator", registry.create(self.estimator))
        check_count("seed", self.seed, least=0)

    @property
    def capabilities(self) -> frozenset[Capability]:
        """A ratio, and what the estimator's log-odds offer."""
        return ratio_capabilities(self._estimator.capabilities)

    def fit(self, X: npt.ArrayLike, y: npt.ArrayLike) -> RatioBelief:
        """Label, and estimate; see `Surrogate.fit`."""
        data = Observations.of(X, y)
        labels = Labels.of(data.y, self.gamma, self.annealing)
        odds = self._estimator.estimate(data.X, labels, self.seed)
        return RatioBelief(self.name, odds, labels.share)

    @property
    def _estimator(self) -> RatioEstimator:
        made: RatioEstimator = self.estimator
        return made
