r"""Mean-width scaling: one factor that makes the uncertainty of any surrogate comparable.

Over points x_1 … x_N of the domain, with y in a unit u,

    width = (1/N) sum_i 2 std(x_i) / u,      c = budget / width,

so that the band mean -+ c std is `budget` units of y wide on average. The factor belongs to the
surrogate and not to a step: it is computed at the first step with a model, and kept.

>>> import nnbo_mip as nm
>>> from nnbo_mip.loop.width_scaling import scaling_of
>>> X, y, domain = [[-1.0], [0.2], [1.0]], [3.0, 4.0, 3.5], nm.Space.box([0], [5]).model()
>>> belief = nm.surrogates.create("brvfl", n_hidden=20, seed=0).fit(X, y)
>>> scaling = scaling_of("mean_width:budget=0.5,unit=1.0")
>>> c = scaling.factor(belief, domain, y, seed=0)
>>> round(scaling.width(belief.scaled(c), domain, y, seed=0), 9)
0.5
"""

from __future__ import annotations

import abc
import itertools
import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from nnbo_mip.checks import check_choice, check_count, check_number
from nnbo_mip.errors import InputError
from nnbo_mip.loop.design_points import cube_of
from nnbo_mip.maximizers.unit_cube import UnitCube
from nnbo_mip.registry import Registry
from nnbo_mip.space.arrays import FloatArray
from nnbo_mip.space.domain import Domain
from nnbo_mip.surrogates.abstract import Belief
from nnbo_mip.surrogates.observations import Observations, Standardization

GRID_POINTS = {1: 2000, 2: 200}
"""Points of a side, by the number of sides, where a grid is taken unless said otherwise."""

RANDOM_POINTS = 20_000

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
            Values that the belief was fitted to.
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
        A grid with both ends of every side, uniform points, or a grid for up to two sides.
    points : int, optional
        For a grid, of each continuous side: left out, 2000 for one side, 200 for two, and for more
        what makes 20,000 together. Integers and categories take all their values. For random
        points, their number: left out, 20,000.

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
        on_grid = self.way == "grid" or (self.way == "auto" and domain.dimension <= 2)
        if on_grid and cube is not None:
            points = _grid_points(cube, self.points)
            if len(points):
                return points
            # Equalities leave no point of a grid.
        return domain.sample(self._n_random, np.random.default_rng(seed))

    @property
    def _n_random(self) -> int:
        return RANDOM_POINTS if self.points is None or self.way == "grid" else self.points


def _grid_points(cube: UnitCube, side: int | None) -> FloatArray:
    """Return the admissible points (n, d) of a grid with `side` points a continuous side."""
    domain = cube.domain
    values = [_count(domain, j) for j in cube.coordinates]
    values += [len(levels) for levels in cube.levels if len(levels) > 1]
    continuous = values.count(0)
    if side is None and continuous:
        share = RANDOM_POINTS / math.prod(count for count in values if count)
        side = GRID_POINTS.get(len(values)) or max(2, int(share ** (1.0 / continuous) + 1e-9))
    total = math.prod(count or side or 1 for count in values)
    if total > MOST_GRID_POINTS:
        raise InputError(
            f"the grid must have at most {MOST_GRID_POINTS:,} points; got {total:,}; take fewer "
            'points, or way="random".'
        )
    # Ends for continuous sides, middles of equal shares for values and levels.
    sides = [
        (np.arange(count) + 0.5) / count if count else np.linspace(0.0, 1.0, side or 1)
        for count in values
    ]
    shares = np.array(list(itertools.product(*sides))).reshape(total, len(values))
    points = cube.decode(shares)
    return np.asarray(points[domain.admissible(points)])


def _count(domain: Domain, j: int) -> int:
    """Return how many values coordinate j can take, 0 where it is continuous."""
    grid = domain.grids[j]
    if grid is None:
        return 0
    return int(grid.index_below(domain.upper[j])) - int(grid.index_above(domain.lower[j])) + 1


registry: Registry[Scaling] = Registry(
    "scaling",
    Scaling,  # type: ignore[type-abstract]
    {"none": f"{__name__}:NoScaling", "mean_width": f"{__name__}:MeanWidth"},
    group="nnbo_mip.scalings",
)
"""Filled by this module, by entry points, and by `register`."""


def scaling_of(given: object) -> Scaling:
    """Return a scaling that was named, described or given; None is none."""
    return NoScaling() if given is None else registry.create(given)
