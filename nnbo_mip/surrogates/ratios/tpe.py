r"""Tree-structured Parzen estimators: a density ratio of two kernel densities.

The best share gamma of the observations is good; l and g are Parzen densities of good and bad
points (`parzen`), and l / g is what the acquisition ``ratio`` maximizes. The maximizer
``candidates``, which ``auto`` takes here, draws a few dozen points from l and takes the best of
them, as the reference does; every other heuristic maximizer serves too.

References
----------
Bergstra et al. (2011), tree-structured Parzen estimators [Bergstra2011].
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy.typing as npt

from nnbo_mip.core.checks import check_choice, check_count, check_number
from nnbo_mip.surrogates.base.abstract import Belief, Capability, Surrogate
from nnbo_mip.surrogates.base.observations import Observations
from nnbo_mip.surrogates.ratios.estimators.labels import Labels, check_gamma
from nnbo_mip.surrogates.ratios.estimators.odds import RatioBelief, ratio_capabilities
from nnbo_mip.surrogates.ratios.estimators.parzen import RULES, Parzen, ParzenOdds
from nnbo_mip.surrogates.ratios.estimators.svm_odds import SMOOTH_ODDS


@dataclass(frozen=True)
class Tpe(Surrogate):
    """Two Parzen densities.

    Parameters
    ----------
    gamma : float
        Share of the observations that count as good.
    annealing : float
        How it shrinks with their number (see `labels`), from 0 (not) to 1.
    prior_weight : float
        Of the uniform component of each density, in observations; at least zero.
    widths : {"neighbours", "scott"}
        How the kernels' widths are chosen (see `parzen`).
    width_factor : float
        Their multiplier.
    seed : int
        Without influence, as nothing is random; every surrogate has one.
    """

    name: ClassVar[str] = "tpe"
    belief_type: ClassVar[type[Belief]] = RatioBelief
    scalable = False
    capabilities = ratio_capabilities(SMOOTH_ODDS | {Capability.CANDIDATES})

    gamma: float = 0.25
    annealing: float = 0.0
    prior_weight: float = 1.0
    widths: str = "neighbours"
    width_factor: float = 1.0
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse options that are none."""
        check_gamma(self.gamma, self.annealing)
        check_number("prior_weight", self.prior_weight, least=0.0)
        check_choice("widths", self.widths, RULES)
        check_number("width_factor", self.width_factor, above=0.0)
        check_count("seed", self.seed, least=0)

    def fit(self, X: npt.ArrayLike, y: npt.ArrayLike) -> RatioBelief:
        """Label, and estimate both densities; see `Surrogate.fit`."""
        data = Observations.of(X, y)
        labels = Labels.of(data.y, self.gamma, self.annealing)
        nothing = data.X[:0]
        # Where all are alike nothing is known, and both densities are uniform.
        sides = (
            (nothing, nothing)
            if labels.are_all_good
            else (data.X[labels.good], data.X[~labels.good])
        )
        good, bad = (
            Parzen.of(side, self.width_factor, self.prior_weight, self.widths) for side in sides
        )
        return RatioBelief(self.name, ParzenOdds(good, bad, labels.share), labels.share)
