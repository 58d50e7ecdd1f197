"""Max-value entropy search with one value of the optimum.

References
----------
Wang and Jegelka (2017), max-value entropy search [WangJegelka2017].
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from nnbo_mip.acquisitions.base.abstract import Acquisition, seed_of
from nnbo_mip.acquisitions.base.evidence import Evidence, check_incumbent
from nnbo_mip.acquisitions.optimum import gumbel_value, largest_value
from nnbo_mip.core.checks import check_choice, check_count, check_number
from nnbo_mip.scores.base.abstract import Head
from nnbo_mip.scores.functions.entropy import MaxValueEntropy
from nnbo_mip.surrogates.base.abstract import Belief, Capability

SAMPLINGS = ("auto", "draw", "gumbel")


@dataclass(frozen=True)
class MaxValueEntropySearch(Acquisition):
    """Information on the optimum's value y*, which is never below the incumbent.

    Parameters
    ----------
    incumbent : float, optional
        Least value of y*; without it, the largest y, or the largest mean where
        values are noisy.
    optimum : float, optional
        y* where it is known; it is raised to an incumbent above it. Without it, y* is sampled.
    sampling : str
        ``draw``: the largest value of one member or weight draw; ``gumbel``: from the
        marginals; ``auto``: a draw where the belief offers draws.
    seed : int
        Of the sample; each step has its own.
    """

    name: ClassVar[str] = "mes"
    values_of_y: ClassVar[tuple[str, ...]] = ("incumbent", "optimum")

    incumbent: float | None = None
    optimum: float | None = None
    sampling: str = "auto"
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse options that are none."""
        check_incumbent(self.incumbent)
        if self.optimum is not None:
            check_number("optimum", self.optimum)
        check_choice("sampling", self.sampling, SAMPLINGS)
        check_count("seed", self.seed, least=0)

    @property
    def needs(self) -> frozenset[Capability]:
        """A mean and a std; draws if y* is to come from one."""
        drawn = self.sampling == "draw" and self.optimum is None
        return frozenset(
            {Capability.MEAN, Capability.STD} | ({Capability.DRAWS} if drawn else set())
        )

    def head(self, belief: Belief, evidence: Evidence) -> Head:
        """Return the head for the y* of the step."""
        if self.optimum is None:
            least = evidence.incumbent(self.incumbent, belief)
            return MaxValueEntropy(max(self._sample(belief, evidence), least))
        if self.incumbent is None and evidence.y is None:
            return MaxValueEntropy(self.optimum)
        return MaxValueEntropy(max(self.optimum, evidence.incumbent(self.incumbent, belief)))

    def _sample(self, belief: Belief, evidence: Evidence) -> float:
        rng = np.random.default_rng([self.seed, evidence.step, 1])
        if self.sampling == "gumbel" or Capability.DRAWS not in belief.capabilities:
            return gumbel_value(belief, evidence.X, rng)
        return largest_value(belief.draw(seed_of(self.seed, evidence.step)), evidence.X, rng)
