"""Thompson sampling: one function that the belief holds possible.

References
----------
Thompson (1933), Thompson sampling [Thompson1933].
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from nnbo_mip.acquisitions.base.abstract import Acquisition, seed_of
from nnbo_mip.acquisitions.base.context import Context, check_incumbent
from nnbo_mip.core.checks import check_count
from nnbo_mip.scores.base.abstract import Head
from nnbo_mip.scores.functions.linear import LinearHead
from nnbo_mip.surrogates.base.abstract import Belief, Capability


@dataclass(frozen=True)
class ThompsonSample(Acquisition):
    """The mean of one member or weight draw.

    Parameters
    ----------
    seed : int
        Of the draws; each step has its own.
    incumbent : float, optional
        Subtracted, so that the score is a gain; it changes no maximizer.
    """

    name: ClassVar[str] = "ts"
    scores_y: ClassVar[bool] = True
    needs = frozenset({Capability.DRAWS})

    seed: int = 0
    incumbent: float | None = None

    def __post_init__(self) -> None:
        """Refuse options that are none."""
        check_count("seed", self.seed, least=0)
        check_incumbent(self.incumbent)

    def subject(self, belief: Belief, step: int) -> Belief:
        """Return the draw of the step."""
        return belief.draw(seed_of(self.seed, step))

    def head(self, belief: Belief, context: Context) -> Head:
        """Return the mean of the draw."""
        return LinearHead(constant=-(self.incumbent or 0.0), called=self.name)
