"""Upper confidence bound.

References
----------
Cox and John (1992), lower confidence bounds [CoxJohn1992].
Srinivas et al. (2010), GP-UCB [Srinivas2010].
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from nnbo_mip.acquisitions.base.abstract import Acquisition
from nnbo_mip.acquisitions.base.context import Context, check_incumbent, check_scheduled
from nnbo_mip.acquisitions.base.schedules import Scheduled
from nnbo_mip.core.checks import check_number
from nnbo_mip.scores.base.abstract import Head
from nnbo_mip.scores.functions.linear import LinearHead
from nnbo_mip.surrogates.base.abstract import Belief, Capability


@dataclass(frozen=True)
class UpperConfidenceBound(Acquisition):
    """``mean + beta factor std``.

    Parameters
    ----------
    beta : float or schedule
        At least zero; it multiplies the std, not the variance.
    factor : float
        c, a positive constant of the surrogate beside beta.
    incumbent : float, optional
        Subtracted, so that the score is a gain; it changes no maximizer.
    """

    name: ClassVar[str] = "ucb"
    scores_y: ClassVar[bool] = True
    needs = frozenset({Capability.MEAN, Capability.STD})

    beta: Scheduled = 1.0
    factor: float = 1.0
    incumbent: float | None = None

    def __post_init__(self) -> None:
        """Refuse options that are none."""
        check_scheduled("beta", self.beta)
        check_number("factor", self.factor, above=0.0)
        check_incumbent(self.incumbent)

    def head(self, belief: Belief, context: Context) -> Head:
        """Return a linear head."""
        beta = context.scheduled("beta", self.beta, belief.n_inputs)
        return LinearHead(1.0, beta * self.factor, -(self.incumbent or 0.0))
