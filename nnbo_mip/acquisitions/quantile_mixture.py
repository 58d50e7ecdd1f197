"""Upper confidence bound of a mixture: a quantile of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from nnbo_mip.acquisitions.base.abstract import Acquisition
from nnbo_mip.acquisitions.base.context import Context, check_incumbent
from nnbo_mip.core.checks import check_number
from nnbo_mip.scores.base.abstract import Head
from nnbo_mip.scores.functions.mixtures import MixtureQuantile
from nnbo_mip.surrogates.base.abstract import Belief, Capability


@dataclass(frozen=True)
class QuantileMixture(Acquisition):
    """The least q with ``P(f <= q) >= level``; of a normal f, ``mean + Phi^-1(level) std``.

    Parameters
    ----------
    level : float
        Between 0 and 1: 0.841 is what ``ucb:beta=1`` is for a normal belief, 0.999 beta = 3.09.
    incumbent : float, optional
        Subtracted, so that the score is a gain; it changes no maximizer.
    """

    name: ClassVar[str] = "quantile_mixture"
    needs = frozenset({Capability.MIXTURE})

    level: float = 0.841
    incumbent: float | None = None

    def __post_init__(self) -> None:
        """Refuse options that are none."""
        check_number("level", self.level, above=0.0, below=1.0)
        check_incumbent(self.incumbent)

    def head(self, belief: Belief, context: Context) -> Head:
        """Return the quantile less the incumbent."""
        return MixtureQuantile(self.level, -(self.incumbent or 0.0))
