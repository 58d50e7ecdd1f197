"""Scrambled Sobol points, as a maximizer and as a source of starts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from nnbo_mip.maximizers.abstract import Abilities, Request
from nnbo_mip.maximizers.heuristic import Heuristic
from nnbo_mip.maximizers.search import Search, sampled
from nnbo_mip.maximizers.unit_cube import UnitCube
from nnbo_mip.network.affine import FloatArray
from nnbo_mip.space.domain import Domain

DRAWS_PER_POINT = 32
"""Points of the box that are drawn at most for one that rows and holes admit."""


@dataclass(frozen=True)
class Sobol(Heuristic):
    """Score scrambled Sobol points.

    Parameters
    ----------
    evaluations : int
        Points; powers of two are spread most evenly.
    time_limit : float
        Wall seconds.
    """

    name: ClassVar[str] = "sobol"
    abilities: ClassVar[Abilities] = Abilities()

    evaluations: int = 8192

    def _search(self, search: Search, request: Request) -> None:
        search.values(sobol_points(search.domain, search.left, request.seed))


def sobol_points(domain: Domain, n: int, seed: int) -> FloatArray:
    """Return n admissible points (n, d), evenly spread; none where none was found.

    Notes
    -----
    Under rows and holes the admissible ones of a longer sequence are taken; where these are too
    few, as under equalities, uniform random points take the place of the rest.
    """
    from scipy.stats import qmc

    lower, upper, feasible = domain.tighten(domain.lower, domain.upper)
    if not feasible:
        return np.empty((0, domain.dimension))
    cube = UnitCube(domain.restrict(lower, upper))
    if not cube.n_variables:
        points = cube.decode(np.empty((1, 0)))
        return points[domain.admissible(points)]
    sequence = qmc.Sobol(cube.n_variables, rng=np.random.default_rng(seed))
    kept, found, drawn, size = [], 0, 0, _power_of_two(n)
    while found < n and drawn < DRAWS_PER_POINT * n:
        # The first draw is a power of two and so are all that follow: the sequence stays even.
        points = cube.decode(sequence.random(size))
        kept.append(points[domain.admissible(points)])
        found, drawn, size = found + len(kept[-1]), drawn + size, max(drawn, size)
        if not domain.b.size and not len(domain.holes):
            break
    if found < n:
        kept.append(sampled(domain, n - found, seed))
    return np.concatenate(kept)[:n]


def _power_of_two(n: int) -> int:
    return 1 << max(0, math.ceil(math.log2(max(n, 1))))
