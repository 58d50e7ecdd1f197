"""The best of a few points that the belief itself draws."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from nnbo_mip.maximizers.base.abstract import Abilities, Request
from nnbo_mip.maximizers.base.target import Target
from nnbo_mip.maximizers.heuristics.heuristic import Heuristic
from nnbo_mip.maximizers.heuristics.local_ascent import settle
from nnbo_mip.maximizers.heuristics.search import Search
from nnbo_mip.surrogates.base.abstract import Capability


@dataclass(frozen=True)
class Candidates(Heuristic):
    """Score points that the belief takes for good, and keep the best.

    Few of them leave more to chance, and so look at more of the space: the ratio of two densities
    is least certain where it is largest.

    Parameters
    ----------
    evaluations : int
        Points.
    time_limit : float
        Wall seconds.
    """

    name: ClassVar[str] = "candidates"
    abilities: ClassVar[Abilities] = Abilities()
    starts_first: ClassVar[bool] = False
    """The given starts are the best observed points, where a ratio is large and nothing new."""

    evaluations: int = 24

    def why_not(self, target: Target) -> str:
        """Return why there are no candidates; empty where there are some."""
        belief = target.scorer.belief
        if Capability.CANDIDATES not in belief.capabilities:
            return (
                f'a {belief.family} belief draws no points; take the surrogate "tpe", or a '
                'maximizer such as "auto" or "random".'
            )
        return super().why_not(target)

    def _search(self, search: Search, request: Request) -> None:
        domain = search.domain
        drawn = search.target.scorer.belief.candidates(self.evaluations, request.seed)
        search.values(settle(search, drawn.clip(domain.lower, domain.upper)))
