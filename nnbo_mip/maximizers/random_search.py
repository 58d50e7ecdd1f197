"""Uniform random points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from nnbo_mip.maximizers.abstract import Abilities, Request
from nnbo_mip.maximizers.heuristic import Heuristic
from nnbo_mip.maximizers.search import BATCH, Search, sampled


@dataclass(frozen=True)
class Random(Heuristic):
    """Score uniform random points of the domain.

    Parameters
    ----------
    evaluations : int
        Points.
    time_limit : float
        Wall seconds.
    """

    name: ClassVar[str] = "random"
    abilities: ClassVar[Abilities] = Abilities()
    starts_first: ClassVar[bool] = False
    """Where all points score the same, the first random one wins and not a known one."""

    def _search(self, search: Search, request: Request) -> None:
        rng = np.random.default_rng(request.seed)
        left = search.left - len(request.starts)
        while left:
            points = sampled(search.domain, min(BATCH, left), rng)
            if not len(points):
                break
            search.values(points)
            left -= len(points)
        search.values(request.starts)
