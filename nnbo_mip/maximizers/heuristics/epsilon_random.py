"""Now and then a random point, and another maximizer's choice else.

For scores that only exploit, such as a density ratio: what they say of a region hardly changes
until somebody looks there.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from nnbo_mip.core.checks import as_time_limit, check_number
from nnbo_mip.maximizers.base.abstract import Abilities, Maximizer, Proposal, Request
from nnbo_mip.maximizers.base.target import Target
from nnbo_mip.maximizers.heuristics.random_search import Random

SAID = "a random point, as the maximizer takes one now and then."


@dataclass(frozen=True)
class EpsilonRandom(Maximizer):
    """A uniform random admissible point with a given probability.

    Parameters
    ----------
    share : float
        That probability, at least zero and below one.
    inner : str, dict or Maximizer
        Who chooses otherwise; what it proves stays proven.
    time_limit : float
        Wall seconds.
    """

    name: ClassVar[str] = "epsilon_random"
    abilities: ClassVar[Abilities] = Abilities()

    share: float = 0.1
    inner: Any = "auto"
    time_limit: float = math.inf

    def __post_init__(self) -> None:
        """Refuse options that are none."""
        from nnbo_mip.maximizers.base.catalogue import registry

        check_number("share", self.share, least=0.0, below=1.0)
        object.__setattr__(self, "inner", registry.create(self.inner))
        as_time_limit(self.time_limit)

    def fresh(self) -> EpsilonRandom:
        """Return it with an inner maximizer that remembers nothing."""
        return replace(self, inner=self._inner.fresh())

    @property
    def may_not_end(self) -> bool:
        """Whether the inner maximizer goes on for a proof without a limit."""
        return math.isinf(self.time_limit) and self._inner.may_not_end

    def why_not(self, target: Target) -> str:
        """Return why the inner maximizer cannot serve a target; empty where it can."""
        return super().why_not(target) or self._inner.why_not(target)

    def _maximize(self, target: Target, request: Request) -> Proposal:
        limited = replace(request, time_limit=min(request.time_limit, self.time_limit))
        if np.random.default_rng([request.seed, 1]).uniform() >= self.share:
            return replace(self._inner.maximize(target, limited), maximizer=self.name)
        without_starts = replace(limited, starts=np.empty((0, target.dimension)))
        found = Random(evaluations=1).maximize(target, without_starts)
        said = SAID if found.x is not None else found.message
        return replace(found, maximizer=self.name, found=replace(found.found, message=said))

    @property
    def _inner(self) -> Maximizer:
        made: Maximizer = self.inner
        return made
