r"""Mean-width scaling: one factor that makes the uncertainty of any surrogate comparable.

Over points x_1 … x_N of the domain, with y in a unit u,

    width = (1/N) sum_i 2 std(x_i) / u,      c = budget / width,

so that the band mean -+ c std is `budget` units of y wide on average. The factor belongs to the
surrogate and not to a step: it is computed at the first step with a model, and kept.

>>> import nnbo_mip as nm
>>> from nnbo_mip.loop.policies.width_scaling import scaling_of
>>> X, y, domain = [[-1.0], [0.2], [1.0]], [3.0, 4.0, 3.5], nm.Space.box([0], [5]).model()
>>> belief = nm.surrogates.create("brvfl", n_hidden=20, seed=0).fit(X, y)
>>> scaling = scaling_of("mean_width:budget=0.5,unit=1.0")
>>> c = scaling.factor(belief, domain, y, seed=0)
>>> round(scaling.width(belief.scaled(c), domain, y, seed=0), 9)
0.5

References
----------
Högger (2021), mean-width scaling [Hogger2021].
"""

from __future__ import annotations

import abc
import itertools
import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.checks import check_choice, check_count, check_number
from nnbo_mip.core.errors import InputError
from nnbo_mip.core.registry import Registry
from nnbo_mip.loop.designs.points import cube_of
from nnbo_mip.maximizers.heuristics.unit_cube import UnitCube
from nnbo_mip.space.domain import Domain
from nnbo_mip.surrogates.base.abstract import Belief
from nnbo_mip.surrogates.base.observations import Observations, Standardization

GRID_POINTS = {1: 2000, 2: 200}
"""Points of a side, by the number of sides, where a grid is taken unless said otherwise."""

RANDOM_POINTS = 20_000

RANDOM_POINTS_UNDER_ROWS = 1000
"""Fewer, as each may be the end of a random walk of thousands of steps."""

MOST_GRID_POINTS = 1_000_000

BATCH = 4096
"""Points whose uncertainty is computed at once."""


class Scaling(abc.ABC):
    """A frozen dataclass of options; a pure rule."""

    name: ClassVar[str]
    """Its name in the registry."""

    scales: ClassVar[bool]
    """Whether it multiplies the uncertainty, which not every surrogate allows (`scalable`)."""

    @abc.abstractmethod
    def factor(self, belief: Belief, domain: Domain, y: npt.ArrayLike, seed: int = 0) -> float:
        """Return c > 0 for `belief.scaled(c)`.

        Parameters
        ----------
        belief : Belief
            That of the first step with a model, not scaled.
        domain : Domain
            In model coordinates.
        y : (n,) array
            Values observed so far, as the belief sees them.
        seed : int
            Of random points.
        """


@dataclass(frozen=True)
class NoScaling(Scaling):
    """Take the uncertainty as the surrogate gives it."""

    name: ClassVar[str] = "none"
    scales: ClassVar[bool] = False

    def factor(self, belief: Belief, domain: Domain, y: npt.ArrayLike, seed: int = 0) -> float:
        """Return one."""
        return 1.0


@dataclass(frozen=True)
class MeanWidth(Scaling):
    """Make the mean width of the band a given one.

    Parameters
    ----------
    budget : float
        Mean width in units of y.
    unit : float, optional
        The unit of y; left out, the standard deviation of the values observed so far. Where y is
        scaled to [-1, 1] by its known range, it is 1.
    way : {"auto", "grid", "random"}
        A grid with both ends of every side, uniform points, or the one for up to two sides
        without linear constraints and the other elsewhere.
    points : int, optional
        For a grid, of each continuous side: left out, 2000 for one side, 200 for two, and for more
        what makes 20,000 together. Integers and categories take all their values. For random
        points, their number: left out, 20,000, and 1000 under linear constraints.

    Notes
    -----
    A band without width cannot be scaled: the factor is then 1.
    """

    name: ClassVar[str] = "mean_width"
    scales: ClassVar[bool] = True

    budget: float = 0.5
    unit: float | None = None
    way: str = "auto"
    points: int | None = None

    def __post_init__(self) -> None:
        """Refuse options that are none."""
        check_number("budget", self.budget, above=0.0)
        if self.unit is not None:
            check_number("unit", self.unit, above=0.0)
        check_choice("way", self.way, ("auto", "grid", "random"))
        if self.points is not None:
            check_count("points", self.points, least=2)
            if self.way == "auto":
                raise InputError(
                    'points go with a way, "grid" or "random", as they mean another thing for '
                    f'each; got points={self.points!r} and way="auto"; choose one.'
                )

    def factor(self, belief: Belief, domain: Domain, y: npt.ArrayLike, seed: int = 0) -> float:
        """Return budget / width."""
        width = self.width(belief, domain, y, seed)
        c = self.budget / width if width > 0.0 else math.inf
        return c if math.isfinite(c) and c > 0.0 else 1.0

    def width(self, belief: Belief, domain: Domain, y: npt.ArrayLike, seed: int = 0) -> float:
        """Return the mean width of a belief's band, in units of y; parameters as of `factor`."""
        points = self._points(domain, seed)
        batches = [points[start : start + BATCH] for start in range(0, len(points), BATCH)]
        total = math.fsum(float(belief.std(batch).sum()) for batch in batches)
        return 2.0 * total / len(points) / self._unit_of(y)

    def _unit_of(self, y: npt.ArrayLike) -> float:
        if self.unit is not None:
            return self.unit
        values = np.asarray(y, dtype=np.float64)
        data = Observations.of(np.zeros((values.size, 1)), values)
        return Standardization.of(data, inputs=False, outputs=True).y_scale

    def _points(self, domain: Domain, seed: int) -> FloatArray:
        cube = cube_of(domain)
        # Rows may leave few points of a grid, or none.
        on_grid = self.way == "grid" or (self.way == "auto" and not domain.b.size)
        if cube is not None and on_grid:
            points = self._grid(cube)
            if len(points):
                return points
        n = self.points if self.way == "random" else None
        if n is None:
            n = RANDOM_POINTS_UNDER_ROWS if domain.b.size else RANDOM_POINTS
        return domain.sample(n, np.random.default_rng(seed))

    def _grid(self, cube: UnitCube) -> FloatArray:
        """Return the points of the grid, none where uniform points are to be taken."""
        counts = _counts(cube, self.points)
        total = math.prod(counts)
        if self.way == "auto" and (len(counts) > 2 or total > MOST_GRID_POINTS):
            return np.empty((0, cube.domain.dimension))
        if total > MOST_GRID_POINTS:
            raise InputError(
                f"the grid must have at most {MOST_GRID_POINTS:,} points; got {total:,}; take "
                'fewer points, or way="random".'
            )
        return _grid_points(cube, counts)


def _counts(cube: UnitCube, side: int | None) -> list[int]:
    """Return how many values each variable of a cube takes, `side` where it is continuous."""
    domain = cube.domain
    values = [_n_values(domain, j) for j in cube.coordinates]
    values += [len(levels) for levels in cube.levels if len(levels) > 1]
    continuous = values.count(0)
    if side is None and continuous:
        share = max(1.0, RANDOM_POINTS / math.prod(count for count in values if count))
        # A root that is whole must not be cut off by its rounding.
        root = int(share ** (1.0 / continuous) + 1e-9)
        side = GRID_POINTS.get(len(values)) or max(2, root)
    return [count or side or 1 for count in values]


def _grid_points(cube: UnitCube, counts: list[int]) -> FloatArray:
    """Return the admissible points (n, d) of the grid that has so many values a variable."""
    domain, continuous = cube.domain, len(cube.coordinates)
    sides = []
    for place, count in enumerate(counts):
        on_ends = place < continuous and domain.grids[cube.coordinates[place]] is None
        # Both ends of a continuous side; for values and levels, the middles of equal shares.
        sides.append(np.linspace(0, 1, count) if on_ends else (np.arange(count) + 0.5) / count)
    shares = np.array(list(itertools.product(*sides))).reshape(math.prod(counts), len(counts))
    points = cube.decode(shares)
    return np.asarray(points[domain.admissible(points)])


def _n_values(domain: Domain, j: int) -> int:
    """Return how many values coordinate j can take, 0 where it is continuous."""
    grid = domain.grids[j]
    if grid is None:
        return 0
    return int(grid.index_below(domain.upper[j])) - int(grid.index_above(domain.lower[j])) + 1


registry: Registry[Scaling] = Registry(
    "scaling",
    Scaling,
    {"none": f"{__name__}:NoScaling", "mean_width": f"{__name__}:MeanWidth"},
    group="nnbo_mip.scalings",
    of_none="none",
)
"""Filled by this module, by entry points, and by `register`."""


scaling_of = registry.create
"""Returns a scaling that was named, described or given; None is none."""
