r"""The density ratio of good and bad points, for families that know it and neither mean nor std.

The ratio is bounded, and saturates in float64 where a family is sure. So what is maximized is the
function behind it (`Belief.latent`), of which it is a rising function:

    log-odds u that a point is good     ratio = logistic(u) / gamma          score u
    log-odds that are uncertain         ratio rises with mean / std          score Phi(mean / std)

The second is the probability that a normal variable is positive; the family puts into its std what
makes this the probability of a good point (`nnbo_mip.surrogates.ratios.boggn`).

References
----------
Bergstra et al. (2011), expected improvement as a density ratio [Bergstra2011].
Tiao et al. (2021), BORE [Tiao2021].
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from nnbo_mip.acquisitions.base.abstract import Acquisition
from nnbo_mip.acquisitions.base.context import Context, check_incumbent
from nnbo_mip.scores.base.abstract import Head
from nnbo_mip.scores.functions.linear import LinearHead
from nnbo_mip.scores.functions.probability import ProbabilityOfImprovement
from nnbo_mip.surrogates.base.abstract import Belief, Capability


@dataclass(frozen=True)
class Ratio(Acquisition):
    """The function that the density ratio rises with.

    Parameters
    ----------
    incumbent : float, optional
        Log-odds that count as zero, not a value of y: that has entered the labels. It changes no
        maximizer where log-odds have no std.
    """

    name: ClassVar[str] = "ratio"
    needs = frozenset({Capability.RATIO})

    incumbent: float | None = None

    def __post_init__(self) -> None:
        """Refuse options that are none."""
        check_incumbent(self.incumbent)

    def subject(self, belief: Belief, step: int) -> Belief:
        """Return the log-odds."""
        return belief.latent()

    def head(self, belief: Belief, context: Context) -> Head:
        """Return the head of the log-odds."""
        least = self.incumbent or 0.0
        if Capability.STD in belief.latent().capabilities:
            return ProbabilityOfImprovement(least)
        return LinearHead(constant=-least)
