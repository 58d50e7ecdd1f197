"""A full grid with both end points of every side."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import ClassVar

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.checks import check_count
from nnbo_mip.maximizers.base.abstract import Abilities, Request
from nnbo_mip.maximizers.base.target import Target
from nnbo_mip.maximizers.heuristics.grid_memory import GridMemory
from nnbo_mip.maximizers.heuristics.heuristic import Heuristic
from nnbo_mip.maximizers.heuristics.search import Search
from nnbo_mip.scores.base.abstract import MomentHead
from nnbo_mip.space.domain import Domain

POINTS_OF_ONE_SIDE = 2000
POINTS_OF_ALL_SIDES = 40_000


@dataclass(frozen=True)
class Grid(Heuristic):
    """Score every point of a grid.

    Parameters
    ----------
    points : int, optional
        Of a continuous side, ends included. Left out, 2000 in one dimension, 200 in two, and in
        more what makes 40,000 together, at least 2.
    evaluations : int
        Largest grid; a larger one is refused.
    time_limit : float
        Wall seconds.

    Notes
    -----
    Integers and categories take all their values. Mean and std of the last belief are kept in the
    maximizer (`GridMemory`), so that maximizing again with another head, or with the uncertainty
    scaled, computes neither.
    """

    name: ClassVar[str] = "grid"
    abilities: ClassVar[Abilities] = Abilities(any_belief=True)

    points: int | None = None
    evaluations: int = 1_000_000
    memory: GridMemory = field(default_factory=GridMemory, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Refuse options that are none."""
        super().__post_init__()
        if self.points is not None:
            check_count("points", self.points, least=2)

    def fresh(self) -> Grid:
        """Return a grid that remembers nothing."""
        return replace(self)

    def why_not(self, target: Target) -> str:
        """Return why a grid cannot serve a target; empty where it can."""
        domain = target.domain
        moving = np.array([values is None for values in domain.grids])
        moving &= domain.lower < domain.upper
        if target.equalities[:, moving].any():
            return (
                "it knows no equalities of continuous coordinates; take "
                '"auto", "lbfgs" or "random".'
            )
        size = math.prod(self._counts(domain))
        if size <= self.evaluations:
            return super().why_not(target)
        return (
            f"the grid has {size:,} points, and evaluations={self.evaluations:,} is the most; "
            'take fewer points, or "sobol", "direct" or "lbfgs".'
        )

    def _search(self, search: Search, request: Request) -> None:
        points = self._grid(search.domain)
        points = points[search.domain.admissible(points)]
        if not len(points):
            search.vain = "no point of the grid"
            return
        scorer, head = search.target.scorer, search.head
        if scorer.draws or not isinstance(head, MomentHead) or not head.reads_std:
            search.values(points)
            return
        known = self.memory.recall(scorer.belief, points)
        if known is None:
            self._learn(search, points, head)
        else:
            search.keep(points, search.target.finite(head.score(*known)))

    def _learn(self, search: Search, points: FloatArray, head: MomentHead) -> None:
        """Score the grid and remember its means and stds."""
        belief = search.target.scorer.belief
        means, stds = [], []
        for batch in search.affordable(points):
            mean, std = belief.predict(batch, return_std=True)
            search.keep(batch, search.target.finite(head.score(mean, std)))
            means.append(mean)
            stds.append(std)
        self.memory.keep(belief, points, np.concatenate(means), np.concatenate(stds))

    def _counts(self, domain: Domain) -> list[int]:
        """Return how many values each coordinate outside of groups takes, then each group."""
        counts = [len(values) if values is not None else 0 for values in _fixed_values(domain)]
        continuous = counts.count(0)
        others = math.prod(count for count in counts if count)
        return [count or self._side(continuous, others) for count in counts]

    def _side(self, continuous: int, others: int) -> int:
        """Return the points of a continuous side beside `others` combinations of values."""
        if self.points is not None:
            return self.points
        share = max(1.0, POINTS_OF_ALL_SIDES / others)
        # A root that is whole must not be cut off by its rounding.
        most = int(share ** (1.0 / continuous) + 1e-9)
        return max(2, min(most, POINTS_OF_ONE_SIDE))

    def _grid(self, domain: Domain) -> FloatArray:
        """Return all points (n, d); the last side changes fastest."""
        sides = []
        for fixed, count, columns in zip(
            _fixed_values(domain), self._counts(domain), _columns(domain), strict=True
        ):
            if fixed is None:
                j = columns[0]
                fixed = np.linspace(domain.lower[j], domain.upper[j], count)[:, None]
            sides.append(fixed)
        rows = reduce(_product, sides)
        points = np.empty_like(rows)
        points[:, [j for columns in _columns(domain) for j in columns]] = rows
        if domain.switches:
            points = np.unique(domain.held(points), axis=0)
        return points


def _columns(domain: Domain) -> list[list[int]]:
    """Return the coordinates of each side: alone, or those of a one-hot group."""
    alone = [[j] for j in range(domain.dimension) if j not in domain.one_hot_members]
    return alone + [list(group) for group in domain.one_hot]


def _fixed_values(domain: Domain) -> list[FloatArray | None]:
    """Return the values (n, columns) of each side, None where it is continuous."""
    sides: list[FloatArray | None] = []
    for columns in _columns(domain):
        j = columns[0]
        low, high, grid = domain.lower[j], domain.upper[j], domain.grids[j]
        if j in domain.one_hot_members:
            levels = np.eye(len(columns))
            inside = (domain.lower[columns] <= levels) & (levels <= domain.upper[columns])
            sides.append(levels[inside.all(axis=1)])
        elif grid is not None:
            numbers = np.arange(int(grid.index_above(low)), int(grid.index_below(high)) + 1)
            sides.append(grid.value(numbers)[:, None])
        else:
            sides.append(np.array([[low]]) if low == high else None)
    return sides


def _product(left: FloatArray, right: FloatArray) -> FloatArray:
    """Return every row of the one beside every row of the other."""
    return np.hstack([np.repeat(left, len(right), axis=0), np.tile(right, (len(left), 1))])
