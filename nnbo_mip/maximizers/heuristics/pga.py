"""Projected gradient ascent from many starts, then linear programs across linear regions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.checks import check_count
from nnbo_mip.core.terms import Measure
from nnbo_mip.exact.scores.problem import HeadProblem
from nnbo_mip.exact.search.primal import best_distinct, climb_regions, gradient_ascent
from nnbo_mip.exact.search.primal_exclusions import climb_beside
from nnbo_mip.exact.search.problem import Problem
from nnbo_mip.maximizers.base.abstract import Abilities, Request
from nnbo_mip.maximizers.heuristics.heuristic import Heuristic
from nnbo_mip.maximizers.heuristics.local_ascent import exchange, settle
from nnbo_mip.maximizers.heuristics.search import Search
from nnbo_mip.space.domain import Domain

EXCHANGE_STEPS = 50
"""Steps of an ascent after an exchange of grid values, where there is no network."""


@dataclass(frozen=True)
class Pga(Heuristic):
    """Ascend from many random points, then climb from region to region of the network.

    Parameters
    ----------
    starts : int
        Random points of each round, beside the given ones.
    climbers : int
        Best ends of each round that are climbed from by linear programs.
    rounds : int
        How often both are done.
    evaluations : int
        Points that are scored at most, beside the given starts.
    time_limit : float
        Wall seconds.

    Notes
    -----
    A belief without a network of ReLUs is ascended only.
    """

    name: ClassVar[str] = "pga"
    abilities: ClassVar[Abilities] = Abilities(needs_gradient=True)

    starts: int = 64
    climbers: int = 4
    rounds: int = 1
    evaluations: int = 20_000

    def __post_init__(self) -> None:
        """Refuse options that are none."""
        super().__post_init__()
        for name in ("starts", "climbers", "rounds"):
            check_count(name, getattr(self, name))

    def _search(self, search: Search, request: Request) -> None:
        rng = np.random.default_rng(request.seed)
        given = request.starts
        for _ in range(self.rounds):
            starts = search.drawn(self.starts, rng)
            starts = np.vstack([given, starts]) if len(given) else starts
            if not len(starts):
                return
            self._round(search, starts, rng)
            given = given[:0]

    def _round(self, search: Search, starts: FloatArray, rng: np.random.Generator) -> None:
        domain = search.domain
        ends = gradient_ascent(search, starts, search.monitor)
        if len(domain.exclusions):
            ends = climb_beside(
                domain,
                starts,
                ends,
                search.values_and_gradients,
                lambda points, low, high: gradient_ascent(
                    search, points, search.monitor, low, high
                ),
            )
        if not domain.is_box:
            promising = best_distinct(domain, ends, search.values(ends), 2 * self.climbers)
            ends = settle(search, np.array(promising))
        candidates = np.vstack([ends, starts])
        best = best_distinct(domain, candidates, search.values(candidates), self.climbers)
        if search.target.why_no_objective:
            exchange(search, np.array(best), EXCHANGE_STEPS)
            return
        problem = _Metered(search.target.problem, search)
        for point in best:
            search.counters["climbs"] += 1
            climb_regions(problem, search.monitor, point, rng)


@dataclass(frozen=True, eq=False)
class _Metered:
    """A head on a network whose evaluations are taken from the budget of a search."""

    problem: HeadProblem
    search: Search

    @property
    def domain(self) -> Domain:
        return self.problem.domain

    @property
    def measure(self) -> Measure:
        return self.problem.measure

    @property
    def dimension(self) -> int:
        return self.problem.dimension

    def values(self, points: npt.ArrayLike) -> FloatArray:
        batch = np.asarray(points, dtype=np.float64)
        self.search.count(len(batch))
        return self.problem.values(batch)

    def value(self, point: npt.ArrayLike) -> float:
        return float(self.values(np.asarray(point)[None, :])[0])

    def values_and_gradients(self, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        self.search.count(len(points))
        return self.problem.values_and_gradients(points)

    def linearized(self, point: FloatArray) -> Problem:
        return self.problem.linearized(point)
