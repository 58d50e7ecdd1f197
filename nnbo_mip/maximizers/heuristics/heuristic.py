"""What heuristic maximizers have in common: a budget, and no proof."""

from __future__ import annotations

import abc
import math
from dataclasses import dataclass
from typing import ClassVar

from nnbo_mip.core.checks import as_time_limit, check_count
from nnbo_mip.core.control import interruptible
from nnbo_mip.maximizers.base.abstract import Maximizer, Proposal, Request
from nnbo_mip.maximizers.base.target import Target
from nnbo_mip.maximizers.heuristics.search import BudgetSpent, Search, is_empty


@dataclass(frozen=True)
class Heuristic(Maximizer):
    """A search that scores points.

    Parameters
    ----------
    evaluations : int
        Points that are scored at most, beside the given starts.
    time_limit : float
        Wall seconds.
    """

    starts_first: ClassVar[bool] = True
    """Whether the given starts are scored before `_search`, which otherwise does it itself."""

    evaluations: int = 10_000
    time_limit: float = math.inf

    def __post_init__(self) -> None:
        """Refuse options that are none."""
        check_count("evaluations", self.evaluations)
        as_time_limit(self.time_limit)

    @property
    def shows_logarithms(self) -> bool:
        """Whether the search is shown log EI and log PI for EI and PI."""
        return True

    def _maximize(self, target: Target, request: Request) -> Proposal:
        search = Search(
            self.name,
            target,
            self.evaluations + len(request.starts),
            min(self.time_limit, request.time_limit),
            request.callback,
            log=self.shows_logarithms,
        )
        if not is_empty(target.domain):
            with interruptible(search.monitor.interrupt):
                try:
                    if self.starts_first and len(request.starts):
                        search.values(request.starts)
                    self._search(search, request)
                except BudgetSpent:
                    pass
                search.rescue(request.seed)
        return search.proposal()

    @abc.abstractmethod
    def _search(self, search: Search, request: Request) -> None:
        """Score points until done, or until `BudgetSpent` is raised."""
