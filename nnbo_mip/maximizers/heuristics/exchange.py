"""Local search over integers and categories by exchanges, from the best of random points.

One coordinate takes another value, or a category another level; under rows two may swap theirs, so
that a budget or an assignment is kept. The best exchange is made as long as one improves.
Continuous coordinates stay where they start.

References
----------
Kernighan and Lin (1970), exchanges of pairs [KernighanLin1970].
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from nnbo_mip.core.checks import check_count
from nnbo_mip.exact.search.exchange import climb
from nnbo_mip.exact.search.primal import best_distinct
from nnbo_mip.maximizers.base.abstract import Abilities, Request
from nnbo_mip.maximizers.base.target import Target
from nnbo_mip.maximizers.heuristics.heuristic import Heuristic
from nnbo_mip.maximizers.heuristics.search import Search


@dataclass(frozen=True)
class Exchange(Heuristic):
    """Climb by exchanges from several starts.

    Parameters
    ----------
    raw_samples : int
        Random points, of which the best are starts.
    starts : int
        Points that climb.
    evaluations : int
        Points that are scored at most, as far as the last climb ends.
    time_limit : float
        Wall seconds.
    """

    name: ClassVar[str] = "exchange"
    abilities: ClassVar[Abilities] = Abilities(any_belief=True)

    raw_samples: int = 256
    starts: int = 4

    def __post_init__(self) -> None:
        """Refuse options that are none."""
        super().__post_init__()
        check_count("raw_samples", self.raw_samples)
        check_count("starts", self.starts)

    def why_not(self, target: Target) -> str:
        """Return why there is nothing to exchange; empty where there is something."""
        if all(grid is None for grid in target.domain.grids):
            return 'it moves integers and categories only; take "auto" or "lbfgs".'
        return super().why_not(target)

    def _search(self, search: Search, request: Request) -> None:
        drawn = search.drawn(min(self.raw_samples, search.left), request.seed)
        points = np.vstack([request.starts, drawn]) if len(request.starts) else drawn
        if not len(points):
            return
        values = search.values(points)
        for start in best_distinct(search.domain, points, values, self.starts):
            climb(search.domain, search.values, start, search.expired)
