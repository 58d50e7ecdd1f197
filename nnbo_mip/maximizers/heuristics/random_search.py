"""Random points, uniform or partly near the best known one."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.checks import check_number
from nnbo_mip.maximizers.base.abstract import Abilities, Request
from nnbo_mip.maximizers.heuristics.heuristic import Heuristic
from nnbo_mip.maximizers.heuristics.local_ascent import settle
from nnbo_mip.maximizers.heuristics.search import BATCH, Search

NEAREST, FARTHEST = 1e-4, 1e-1
"""Standard deviations of points near the best known one, in sides of the box."""

REPAIRED = 64
"""Points that are repaired between two looks at the clock; each may need an integer program."""


@dataclass(frozen=True)
class Random(Heuristic):
    """Score random points of the domain.

    Parameters
    ----------
    near : float
        Share of the points that are drawn near the first of the given starts, which in a loop is
        the best observed point; in [0, 1). The others are uniform.
    evaluations : int
        Points.
    time_limit : float
        Wall seconds.

    Notes
    -----
    A point near x is x + s w * z, with z normal, w the sides of the box and s log-uniform between
    1e-4 and 0.1, cut to the box and repaired where grids, groups or rows ask for it.
    """

    name: ClassVar[str] = "random"
    abilities: ClassVar[Abilities] = Abilities(any_belief=True)
    starts_first: ClassVar[bool] = False
    """Where all points score the same, the first random one wins and not a known one."""

    near: float = 0.0

    def __post_init__(self) -> None:
        """Refuse options that are none."""
        super().__post_init__()
        check_number("near", self.near, least=0.0, below=1.0)

    def _search(self, search: Search, request: Request) -> None:
        rng = np.random.default_rng(request.seed)
        left = search.left - len(request.starts)
        beside = math.floor(self.near * left) if len(request.starts) else 0
        while left > beside:
            search.check_time()
            points = search.drawn(min(BATCH, left - beside), rng)
            if not len(points):
                break
            search.values(points, late=True)
            left -= len(points)
        batch = BATCH if search.domain.is_box else REPAIRED
        while beside:
            points = _beside(search, request.starts[0], min(batch, beside), rng)
            beside -= min(batch, beside)
            search.values(points)
        search.values(request.starts)


def _beside(search: Search, start: FloatArray, n: int, rng: np.random.Generator) -> FloatArray:
    """Return at most n admissible points near an admissible one (d,)."""
    domain = search.domain
    low, high = np.log(NEAREST), np.log(FARTHEST)
    deviations = np.exp(rng.uniform(low, high, size=(n, 1))) * (domain.upper - domain.lower)
    points = start + deviations * rng.standard_normal((n, domain.dimension))
    return settle(search, np.clip(points, domain.lower, domain.upper))
