"""`UnitCube`: every point of a domain, rows and exclusions aside, from numbers between 0 and 1."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.space.domain import Domain


@dataclass(frozen=True, eq=False)
class UnitCube:
    """One variable a free coordinate, and one a one-hot group.

    Parameters
    ----------
    domain : Domain

    Notes
    -----
    Values of a grid, and levels of a group, have equal shares of their side. Points are
    admissible but for rows and exclusions.
    """

    domain: Domain

    @cached_property
    def coordinates(self) -> list[int]:
        """Coordinates that move on their own."""
        domain = self.domain
        moving = np.flatnonzero(domain.lower < domain.upper)
        return [int(j) for j in moving if j not in domain.one_hot_members]

    @cached_property
    def levels(self) -> list[list[int]]:
        """The levels of each one-hot group that may be on."""
        domain = self.domain
        allowed = []
        for group in domain.one_hot:
            forced = [j for j in group if domain.lower[j] == 1.0]
            allowed.append(forced or [j for j in group if domain.upper[j] == 1.0])
        return allowed

    @property
    def n_variables(self) -> int:
        """Sides of the cube; coordinates and groups with one value have none."""
        return len(self.coordinates) + sum(len(levels) > 1 for levels in self.levels)

    def decode(self, cube: FloatArray) -> FloatArray:
        """Return points (n, d) of the domain from points (n, n_variables) of the cube."""
        domain = self.domain
        points = np.tile(domain.lower, (len(cube), 1))
        columns = iter(np.clip(cube, 0.0, 1.0).T)
        for j in self.coordinates:
            low, high, grid = domain.lower[j], domain.upper[j], domain.grids[j]
            share = next(columns)
            if grid is None:
                points[:, j] = np.clip(low + (high - low) * share, low, high)
            else:
                first, last = int(grid.index_above(low)), int(grid.index_below(high))
                points[:, j] = grid.value(first + _parts(share, last - first + 1))
        for group, levels in zip(domain.one_hot, self.levels, strict=True):
            points[:, list(group)] = 0.0
            chosen = _parts(next(columns), len(levels)) if len(levels) > 1 else 0
            if levels:
                points[np.arange(len(points)), np.array(levels)[chosen]] = 1.0
        return domain.held(points)


def _parts(share: FloatArray, count: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Return which of `count` equal parts of [0, 1] numbers (n,) fall into."""
    return np.minimum((share * count).astype(np.int64), count - 1)
