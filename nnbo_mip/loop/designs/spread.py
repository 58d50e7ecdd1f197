"""Designs that are drawn: uniform, Sobol, Latin hypercube, maximin.

>>> from nnbo_mip.loop.designs.spread import Maximin
>>> from nnbo_mip.space import Space
>>> points = Maximin(n=3).points(Space.box([0.0], [10.0]), seed=0)
>>> sorted(points[:, 0].round(1).tolist())  # model coordinates; the first one is random
[-1.0, 0.3, 1.0]

References
----------
Sobol' (1967), Sobol points [Sobol1967].
McKay et al. (1979), Latin hypercubes [McKay1979].
Johnson et al. (1990), maximin designs [Johnson1990].
"""

from __future__ import annotations

import abc
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np
import numpy.typing as npt

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.checks import as_points, check_count
from nnbo_mip.core.errors import InputError
from nnbo_mip.loop.designs.designs import Design
from nnbo_mip.loop.designs.points import (
    MOST_NUMBERS,
    MOST_POINTS,
    admissible_points,
    completed,
    cube_of,
    uniform_points,
)
from nnbo_mip.maximizers.heuristics.unit_cube import UnitCube
from nnbo_mip.space.domain import Domain
from nnbo_mip.space.embedded.embedded_space import SearchSpace

FEWEST, MOST = 5, 10
"""Unless said otherwise a design has 3 + d points, within these; a category is one dimension."""

MOST_COMPARED = 1 << 30
"""Coordinates that a maximin design compares, some seconds of work."""

DRAWS_PER_POINT = 64
"""Points of the box that are drawn at most for one that rows admit."""


@dataclass(frozen=True)
class SpreadDesign(Design):
    """What designs share that are drawn.

    Parameters
    ----------
    n : int, optional
        Number of points; left out, 3 + d, from 5 to 10, where a category is one dimension.
    """

    n: int | None = None

    def __post_init__(self) -> None:
        """Refuse options that are none."""
        if self.n is not None:
            check_count("n", self.n, least=0, most=MOST_POINTS)

    def points(
        self, space: SearchSpace, seed: int = 0, known: npt.ArrayLike | None = None
    ) -> FloatArray:
        """Return the design (n, d)."""
        domain = space.model()
        before = as_points(() if known is None else known, domain.dimension)
        n = default_size(domain) if self.n is None else self.n
        if n * domain.dimension > MOST_NUMBERS:
            raise InputError(
                f"a design must have at most {MOST_NUMBERS} numbers; got {n} points of "
                f"{domain.dimension} coordinates; lower n."
            )
        rng = np.random.default_rng(seed)
        cube = cube_of(domain)
        drawn = np.empty((0, domain.dimension))
        if cube is not None:  # else drawing says what is wrong
            drawn = self._draw(domain, cube, n, before, rng)
        return completed(domain, drawn, n, before, rng)

    def again(self, space: SearchSpace, n: int | None = None) -> Self:
        """Return this design, of n points."""
        return self if n is None else replace(self, n=n)

    @abc.abstractmethod
    def _draw(
        self, domain: Domain, cube: UnitCube, n: int, known: FloatArray, rng: np.random.Generator
    ) -> FloatArray:
        """Return up to n admissible points; uniform ones take the place of what is missing."""


@dataclass(frozen=True)
class Uniform(SpreadDesign):
    """Independent uniform points.

    Parameters
    ----------
    n : int, optional
        As in `SpreadDesign`.
    """

    name: ClassVar[str] = "uniform"

    def _draw(
        self, domain: Domain, cube: UnitCube, n: int, known: FloatArray, rng: np.random.Generator
    ) -> FloatArray:
        return uniform_points(domain, n, rng)


@dataclass(frozen=True)
class Sobol(SpreadDesign):
    """The first admissible points of a scrambled Sobol sequence.

    Parameters
    ----------
    n : int, optional
        As in `SpreadDesign`; powers of two are spread most evenly.
    """

    name: ClassVar[str] = "sobol"

    def _draw(
        self, domain: Domain, cube: UnitCube, n: int, known: FloatArray, rng: np.random.Generator
    ) -> FloatArray:
        from scipy.stats import qmc

        if not (n and cube.n_variables):
            return admissible_points(cube, np.zeros((min(n, 1), cube.n_variables)))
        sequence = qmc.Sobol(cube.n_variables, rng=rng)
        size = 1 << (n - 1).bit_length()
        points = admissible_points(cube, sequence.random(size))
        drawn = size
        # The first draw is a power of two and so are all that follow: the sequence stays even.
        while len(points) < n and drawn < DRAWS_PER_POINT * n:
            points = np.concatenate([points, admissible_points(cube, sequence.random(drawn))])
            drawn *= 2
        return points[:n]


@dataclass(frozen=True)
class LatinHypercube(SpreadDesign):
    """One point in each of n equal layers of every side.

    Parameters
    ----------
    n : int, optional
        As in `SpreadDesign`.

    Notes
    -----
    Under rows: n points, at random, of the smallest of the hypercubes of n, 2 n, 4 n, … points
    that has n admissible ones.
    """

    name: ClassVar[str] = "lhs"

    def _draw(
        self, domain: Domain, cube: UnitCube, n: int, known: FloatArray, rng: np.random.Generator
    ) -> FloatArray:
        from scipy.stats import qmc

        if not (n and cube.n_variables):
            return admissible_points(cube, np.zeros((min(n, 1), cube.n_variables)))
        size = n
        points = np.empty((0, domain.dimension))
        while len(points) < n and size <= DRAWS_PER_POINT * n:
            hypercube = qmc.LatinHypercube(cube.n_variables, rng=rng)
            points = admissible_points(cube, hypercube.random(size))
            size *= 2
        return points[:n]  # in random order, as a hypercube comes


@dataclass(frozen=True)
class Maximin(SpreadDesign):
    """Each point the farthest, of many uniform ones, from those before it.

    Parameters
    ----------
    n : int, optional
        As in `SpreadDesign`.
    candidates : int
        Uniform points from which is chosen; at least ten a point are drawn.

    Notes
    -----
    The smallest distance, Euclidean in model coordinates, is at least half of the largest that n
    of the candidates can have. Many points lie close to faces and corners. The first one is drawn
    at random, unless there are known points to keep away from.
    """

    name: ClassVar[str] = "maximin"

    candidates: int = 1000

    def __post_init__(self) -> None:
        """Refuse options that are none."""
        super().__post_init__()
        check_count("candidates", self.candidates, most=MOST_POINTS)

    def _draw(
        self, domain: Domain, cube: UnitCube, n: int, known: FloatArray, rng: np.random.Generator
    ) -> FloatArray:
        size = max(self.candidates, 10 * n)
        if size * n * domain.dimension > MOST_COMPARED:
            raise InputError(
                f"maximin must compare at most {MOST_COMPARED} coordinates; got {n} points of "
                f"{domain.dimension} among {size}; lower n, or choose sobol."
            )
        pool = uniform_points(domain, size, rng)
        distance = np.full(len(pool), np.inf)
        for point in known:
            distance = np.minimum(distance, np.linalg.norm(pool - point, axis=1))
        chosen: list[int] = []
        for _ in range(n):
            farthest = int(distance.argmax())  # the first one, at random, where all are inf
            chosen.append(farthest)
            distance = np.minimum(distance, np.linalg.norm(pool - pool[farthest], axis=1))
        return np.asarray(pool[chosen])


def default_size(domain: Domain) -> int:
    """Return 3 + d, from 5 to 10, where a category is one dimension and a fixed side none."""
    return min(max(3 + UnitCube(domain).n_variables, FEWEST), MOST)
