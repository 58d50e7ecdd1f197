"""Scrambled Sobol points, as a maximizer and as a source of starts.

References
----------
Sobol' (1967), the sequence [Sobol1967].
Matoušek (1998), its scrambling [Matousek1998].
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.maximizers.base.abstract import Abilities, Request
from nnbo_mip.maximizers.heuristics.heuristic import Heuristic
from nnbo_mip.maximizers.heuristics.search import BATCH, Search, sampled
from nnbo_mip.maximizers.heuristics.unit_cube import UnitCube
from nnbo_mip.space.domain import Domain
from nnbo_mip.space.sampling import Stop, never

if TYPE_CHECKING:
    from scipy.stats import qmc

DRAWS_PER_POINT = 32
"""Points of the box that are drawn at most for one that rows and exclusions admit."""


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
    abilities: ClassVar[Abilities] = Abilities(any_belief=True)

    evaluations: int = 8192

    def _search(self, search: Search, request: Request) -> None:
        for points in sobol_batches(search.domain, search.left, request.seed, search.expired):
            search.values(points, late=True)


def sobol_points(domain: Domain, n: int, seed: int, stop: Stop = never) -> FloatArray:
    """Return n admissible points (n, d), evenly spread; fewer once time is up.

    There are none where none was found.
    """
    none = np.empty((0, domain.dimension))
    return np.concatenate([none, *sobol_batches(domain, n, seed, stop)])


def sobol_batches(domain: Domain, n: int, seed: int, stop: Stop = never) -> Iterator[FloatArray]:
    """Yield n admissible points in batches (k, d), evenly spread; fewer once time is up.

    Notes
    -----
    Under rows and exclusions the admissible ones of a longer sequence are taken; where these are
    too few, as under equalities, uniform random points take the place of the rest.
    """
    from scipy.stats import qmc

    lower, upper, feasible = domain.tighten(domain.lower, domain.upper)
    if not feasible:
        return
    cube = UnitCube(domain.restrict(lower, upper))
    if not cube.n_variables:
        points = cube.decode(np.empty((1, 0)))
        yield points[domain.admissible(points)]
        return
    sequence = qmc.Sobol(cube.n_variables, rng=np.random.default_rng(seed))
    missing = n
    for places in _places(sequence, n):
        points = cube.decode(places)
        points = points[domain.admissible(points)][:missing]
        missing -= len(points)
        yield points
        if not missing or stop():
            break
    if missing == n or (missing and not stop()):
        yield sampled(domain, missing, seed, stop)


def _places(sequence: qmc.Sobol, n: int) -> Iterator[FloatArray]:
    """Yield points (k, n_variables) of the cube: what n may take and then, in turns, more."""
    drawn, size = 0, _power_of_two(n)  # a power of two is spread most evenly
    while drawn < DRAWS_PER_POINT * n:
        for first in range(0, size, BATCH):
            yield sequence.random(min(BATCH, size - first))
        drawn, size = drawn + size, max(drawn, size)


def _power_of_two(n: int) -> int:
    return 1 << max(0, math.ceil(math.log2(max(n, 1))))
