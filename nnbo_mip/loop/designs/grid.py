"""Grid search: every point of a regular grid, once, in the order of the sides.

>>> from nnbo_mip.loop.designs.grid import GridDesign
>>> from nnbo_mip.space import Space
>>> GridDesign(per_side=3).points(Space.box([0.0, 0.0], [1.0, 9.0]))[:4].tolist()
[[-1.0, -1.0], [-1.0, 0.0], [-1.0, 1.0], [0.0, -1.0]]
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from nnbo_mip.core.arrays import BoolArray, FloatArray
from nnbo_mip.core.checks import as_points, check_count
from nnbo_mip.core.errors import InputError
from nnbo_mip.loop.designs.designs import Design
from nnbo_mip.loop.designs.points import MOST_POINTS, admissible_points, cube_of, distinct
from nnbo_mip.space.embedded.embedded_space import SearchSpace


@dataclass(frozen=True)
class GridDesign(Design):
    """All admissible points of a regular grid.

    Parameters
    ----------
    per_side : int
        Values of each side, both ends among them. Integers, steps and levels that fall together
        count once, so a side may have fewer.

    Notes
    -----
    The grid has no randomness, and a restart nothing fresh.
    """

    name: ClassVar[str] = "grid"

    per_side: int = 5

    def __post_init__(self) -> None:
        """Refuse options that are none."""
        check_count("per_side", self.per_side, least=2)

    def points(
        self, space: SearchSpace, seed: int = 0, known: npt.ArrayLike | None = None
    ) -> FloatArray:
        """Return the grid (n, d) without the known points."""
        domain = space.model()
        before = as_points(() if known is None else known, domain.dimension)
        cube = cube_of(domain)
        if cube is None:
            return np.empty((0, domain.dimension))
        if self.per_side**cube.n_variables > MOST_POINTS:
            raise InputError(
                f"a grid must have at most {MOST_POINTS} points; got {self.per_side} a side in "
                f"{cube.n_variables} dimensions; lower per_side, or choose another design."
            )
        shares = np.linspace(0.0, 1.0, self.per_side)
        rows = list(itertools.product(shares, repeat=cube.n_variables))
        grid = np.array(rows).reshape(len(rows), cube.n_variables)
        return distinct(admissible_points(cube, grid), before)

    def remaining(
        self, space: SearchSpace, seed: int, known: FloatArray, valued: BoolArray
    ) -> FloatArray:
        """Return all points that are not known: elsewhere no value stands for one of a grid."""
        return self.points(space, seed, known)

    def again(self, space: SearchSpace, n: int | None = None) -> GridDesign:
        """Return this design; a grid is of its own size."""
        return self
