"""DIRECT, dividing rectangles, as SciPy has it.

References
----------
Jones et al. (1993), DIRECT [Jones1993].
Gablonsky and Kelley (2001), DIRECT-l [GablonskyKelley2001].
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.checks import check_choice, check_count, check_flag
from nnbo_mip.maximizers.base.abstract import Abilities, Request
from nnbo_mip.maximizers.base.target import Target
from nnbo_mip.maximizers.heuristics.heuristic import Heuristic
from nnbo_mip.maximizers.heuristics.search import NOTHING_TRIED, Search
from nnbo_mip.maximizers.heuristics.unit_cube import UnitCube

VARIANTS = ("l", "original")


@dataclass(frozen=True)
class Rectangles(Heuristic):
    """What both implementations of DIRECT have in common.

    Parameters
    ----------
    variant : {"l", "original"}
        ``l`` is the locally biased one of Gablonsky and Kelley.
    iterations : int
        At most.
    log : bool
        Compare rectangles by log EI and log PI in place of EI and PI.
    evaluations : int
        Points that are scored at most, beside the given starts.
    time_limit : float
        Wall seconds.

    Notes
    -----
    Integers and levels divide their side evenly. A point that violates a row, or lies in an
    exclusion, counts as undefined; equalities leave no volume to divide and are refused.
    """

    variant: str = "l"
    iterations: int = 6000
    log: bool = False
    evaluations: int = 20_000

    def __post_init__(self) -> None:
        """Refuse options that are none."""
        super().__post_init__()
        check_choice("variant", self.variant, VARIANTS)
        check_count("iterations", self.iterations)
        check_flag("log", self.log)

    @property
    def shows_logarithms(self) -> bool:
        """Whether the search is shown log EI and log PI for EI and PI."""
        return self.log

    def why_not(self, target: Target) -> str:
        """Return why rectangles cannot serve a target; empty where they can."""
        if len(target.equalities):
            return 'it knows no equalities; take "auto", "lbfgs" or "random".'
        return super().why_not(target)


@dataclass(frozen=True)
class Direct(Rectangles):
    """DIRECT by `scipy.optimize.direct`."""

    name: ClassVar[str] = "direct"
    abilities: ClassVar[Abilities] = Abilities(any_belief=True)

    def _search(self, search: Search, request: Request) -> None:
        from scipy.optimize import direct

        cube = UnitCube(search.domain)
        if not cube.n_variables:
            search.values(cube.decode(np.empty((1, 0))))
            return
        search.vain = NOTHING_TRIED

        def negated(place: FloatArray) -> float:
            return -value_at(search, cube, place)

        direct(
            negated,
            [(0.0, 1.0)] * cube.n_variables,
            maxfun=search.left,
            maxiter=self.iterations,
            locally_biased=self.variant == "l",
            vol_tol=0.0,
            len_tol=0.0,
        )


def value_at(search: Search, cube: UnitCube, place: FloatArray) -> float:
    """Return the value at a place (n_variables,) of the cube, minus infinity if inadmissible."""
    point = cube.decode(place[None, :])
    if not search.domain.admissible(point)[0]:
        search.count(1)
        return -math.inf
    search.vain = ""
    return float(search.values(point)[0])
