"""Probability of improvement.

References
----------
Kushner (1964), probability of improvement [Kushner1964].
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from nnbo_mip.acquisitions.base.abstract import Improvement
from nnbo_mip.acquisitions.base.context import Context
from nnbo_mip.core.checks import check_number
from nnbo_mip.scores.base.abstract import Head
from nnbo_mip.scores.functions.probability import ProbabilityOfImprovement
from nnbo_mip.surrogates.base.abstract import Belief, Capability


@dataclass(frozen=True)
class Pi(Improvement):
    """``P(f >= incumbent + xi + alpha |incumbent|)`` where f is normal.

    Parameters
    ----------
    incumbent : float, optional
        The value to improve on; without it, the largest y, or the largest mean where
        values are noisy.
    xi : float or schedule
        Least improvement, at least zero; best large at first, then decaying.
    alpha : float
        Least improvement relative to the incumbent, at least zero.
    """

    name: ClassVar[str] = "pi"
    needs = frozenset({Capability.MEAN, Capability.STD})

    alpha: float = 0.0

    def __post_init__(self) -> None:
        """Refuse options that are none."""
        super().__post_init__()
        check_number("alpha", self.alpha, least=0.0)

    def head(self, belief: Belief, context: Context) -> Head:
        """Return PI over the threshold."""
        least = self.alpha * abs(context.incumbent(self.incumbent, belief))
        return ProbabilityOfImprovement(self.threshold(belief, context) + least)
