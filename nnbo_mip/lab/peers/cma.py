"""CMA-ES, restarted with twice the population when it has converged.

It begins at the best of the shared starts, or at a random point, with a deviation of a quarter of
each side. Log
dimensions are searched in their logarithm; integers are rounded.

References
----------
Hansen and Ostermeier (2001), CMA-ES [HansenOstermeier2001].
Auger and Hansen (2005), restarts with a growing population [AugerHansen2005].
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.lab.peers.base import MethodTask, Peer
from nnbo_mip.space.dimensions import Categorical
from nnbo_mip.space.space import Space

DEVIATION = 0.25
"""Of the first population, in sides of the box; what the package's documentation advises."""


@dataclass(frozen=True)
class Cma(Peer):
    """The package cma with its defaults."""

    name: ClassVar[str] = "cma"
    packages: ClassVar[tuple[str, ...]] = ("cma",)

    def begin(self, task: MethodTask) -> Evolution:
        """Start it."""
        return Evolution(task)

    def refused(self, space: Space) -> str:
        """Return why it cannot search a space."""
        if any(isinstance(dimension, Categorical) for dimension in space.dimensions):
            return "takes no categories"
        if int((space.model().lower < space.model().upper).sum()) < 2:
            return "takes no space with fewer than two dimensions that vary"
        return super().refused(space)


class Evolution:
    """Populations that are asked and told point by point.

    Parameters
    ----------
    task : MethodTask
    """

    def __init__(self, task: MethodTask) -> None:
        domain = task.space.model()
        self._task, self._domain = task, domain
        self._free = np.flatnonzero(domain.lower < domain.upper)
        self._rng = np.random.default_rng(task.seed)
        self._best: tuple[float, FloatArray] | None = None
        self._worst = 0.0
        self._strategy: Any = None
        self._waiting: list[FloatArray] = []
        self._told: list[tuple[FloatArray, float]] = []

    def ask(self) -> Any:
        """Return the next point of the population."""
        if self._strategy is None:
            first = None if self._best is None else self._best[1]
            self._strategy = self._begun(first)
        if not self._waiting:
            self._waiting = list(self._strategy.ask())
        z = self._domain.lower.copy()
        width = self._domain.upper - self._domain.lower
        z[self._free] += self._waiting[0] * width[self._free]
        return self._task.space.decode(z)

    def tell(self, x: Any, y: float) -> None:
        """Take the value; a failure counts as the worst one known."""
        value = self._task.sign * y
        value = self._worst if np.isnan(value) else value
        self._worst = max(self._worst, value)
        if not self._waiting:  # a start
            z = self._task.space.encode(x)[0]
            width = self._domain.upper - self._domain.lower
            unit = (z - self._domain.lower)[self._free] / width[self._free]
            if self._best is None or value < self._best[0]:
                self._best = value, unit
            return
        self._told.append((self._waiting.pop(0), value))
        if self._waiting:
            return
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of flat populations and of what it stopped for
            self._strategy.tell(*map(list, zip(*self._told, strict=True)))
            self._told = []
            if self._strategy.stop():
                self._strategy = self._begun(None, 2 * self._strategy.popsize)

    def _begun(self, first: FloatArray | None, size: int | None = None) -> Any:
        """Return a strategy from a point of the unit cube, or a random one."""
        import cma

        start = self._rng.uniform(size=len(self._free)) if first is None else first
        options = {
            "bounds": [0.0, 1.0],
            "seed": int(self._rng.integers(1, 2**31)),
            "verbose": -9,
            **({} if size is None else {"popsize": size}),
        }
        return cma.CMAEvolutionStrategy(start, DEVIATION, options)
