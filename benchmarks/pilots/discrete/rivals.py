"""Ways of choosing points, ours and others, behind one call each.

References
----------
Kirkpatrick et al. (1983), simulated annealing [Kirkpatrick1983].
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Protocol

import numpy as np

import nnbo_mip as nm
from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.exact.search.primal import exchanges
from nnbo_mip.lab.peers.base import MethodTask
from nnbo_mip.lab.peers.optuna import Optuna


class Rival(Protocol):
    """Asks for points and is told their values."""

    def ask(self) -> Any:
        """Return the next point of the user's."""

    def tell(self, x: Any, y: float) -> object:
        """Take a value."""


OURS: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "sparse": {"surrogate": "sparse_quadratic", "region": None, "warp": "half_rank"},
        "sparse raw": {"surrogate": "sparse_quadratic", "region": None, "warp": None},
        "sparse asinh": {"surrogate": "sparse_quadratic", "region": None, "warp": "asinh"},
        "sphere": {"surrogate": "spherical_linear", "region": None},
        "gp": {"surrogate": "gp", "region": None, "maximizer": "lbfgs"},
        "before": {
            "surrogate": "brvfl",
            "region": "trust:failures=5",
            "warp": "half_rank",
            "maximizer": "lbfgs",
        },
        "forest": {
            "surrogate": "random_forest",
            "acquisition": "ucb",
            "region": None,
            "maximizer": "exchange",
        },
    }
)
"""Options of `BayesianOptimizer`; ``before`` is the default beyond twenty coordinates as it was."""


class Random:
    """Uniform points."""

    def __init__(self, space: nm.Space, seed: int) -> None:
        self.space, self.rng = space, np.random.default_rng([seed, 99])

    def ask(self) -> Any:
        """Return a random point."""
        return self.space.decode(self.space.model().sample(1, self.rng)[0])

    def tell(self, x: Any, y: float) -> None:
        """Forget."""


class Annealing:
    """Simulated annealing: one exchange at a time, cooled to a hundredth of the values' spread."""

    def __init__(self, space: nm.Space, seed: int, steps: int) -> None:
        self.space, self.rng, self.steps = space, np.random.default_rng([seed, 98]), steps
        self.at: FloatArray | None = None
        self.value, self.told = math.inf, []  # type: float, list[float]
        self.begun = 0

    def ask(self) -> Any:
        """Return a neighbour of the point it stands at."""
        assert self.at is not None
        domain = self.space.model()
        near = [exchanges(domain, self.at)]
        real = [j for j, grid in enumerate(domain.grids) if grid is None]
        for j in real:
            moved = np.repeat(self.at[None, :], 2, axis=0)
            moved[:, j] += 0.4 * self.rng.standard_normal(2)
            near.append(np.clip(moved, domain.lower, domain.upper))
        points = np.vstack(near)
        points = points[domain.admissible(points)]
        self.begun += 1
        return self.space.decode(points[self.rng.integers(len(points))])

    def tell(self, x: Any, y: float) -> None:
        """Move there, or stay."""
        self.told.append(y)
        if not self.begun:  # the starts
            if y < self.value:
                self.at, self.value = np.ravel(self.space.encode(x)), y
            return
        spread = float(np.std(self.told))
        heat = spread * 0.01 ** (self.begun / self.steps) + 1e-12
        if y <= self.value or self.rng.random() < math.exp((self.value - y) / heat):
            self.at, self.value = np.ravel(self.space.encode(x)), y


class Ours:
    """Our optimizer with some options."""

    def __init__(self, space: nm.Space, seed: int, starts: int, options: Mapping[str, Any]) -> None:
        self.optimizer = nm.BayesianOptimizer(
            space, seed=seed, initial=starts, direction="minimize", **options
        )
        self.statuses: list[str] = []

    def ask(self) -> Any:
        """Return the next suggestion."""
        suggestion = self.optimizer.ask()
        self.statuses.append(suggestion.status)
        return suggestion.x

    def tell(self, x: Any, y: float) -> None:
        """Tell it."""
        self.optimizer.tell(x, y)


def _tpe(space: nm.Space, seed: int, starts: int, n: int) -> Rival:
    task = MethodTask(space, "minimize", [None] * starts, n, seed)
    return Optuna().begin(task)


def rival(
    name: str, options: Mapping[str, Any] | None, space: nm.Space, seed: int, starts: int, n: int
) -> Rival:
    """Return a rival by its name, or ours with options."""
    if options is None and name in OURS:
        options = OURS[name]
    if options is not None:
        return Ours(space, seed, starts, options)
    made: dict[str, Callable[[], Rival]] = {
        "random": lambda: Random(space, seed),
        "annealing": lambda: Annealing(space, seed, n - starts),
        "tpe": lambda: _tpe(space, seed, starts, n),
    }
    return made[name]()


NAMES = (*OURS, "random", "annealing", "tpe")
