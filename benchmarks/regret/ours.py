"""`nm.BayesianOptimizer` as a method of the benchmark."""

from __future__ import annotations

from typing import Any

import numpy as np

import nnbo_mip as nm
from benchmarks.regret.unit import Task
from nnbo_mip.core.arrays import FloatArray


class Ours:
    """A run as `nm.optimize` makes it, with the shared starts as its initial design.

    Parameters
    ----------
    task : Task
    **options
        Of `nm.BayesianOptimizer`.
    """

    def __init__(self, task: Task, **options: Any) -> None:
        self._optimizer = nm.BayesianOptimizer(
            task.problem.space,
            **options,
            initial=task.X,
            time_limit=task.time_limit,
            steps=task.evaluations - len(task.X),
            seed=task.seed,
        )
        for x, y in zip(task.X, task.y, strict=True):
            asked = self._optimizer.ask()
            if not np.allclose(asked.x, x, rtol=1e-9, atol=1e-9):
                raise ValueError(f"the start {x.tolist()} must be asked; got {asked.x.tolist()}")
            self._optimizer.tell(asked, y)
        self._asked: nm.Suggestion | None = None

    def ask(self) -> tuple[FloatArray, dict[str, Any]]:
        """Return the next point and what was proven of it."""
        asked = self._asked = self._optimizer.ask()
        return np.asarray(asked.x), {
            "fit": asked.fit_seconds,
            "inner": asked.seconds,
            "status": asked.status,
            "value": asked.value,
            "bound": asked.bound,
            "gap": asked.gap,
            "kind": asked.kind,
            "engine": asked.engine,
            "c": asked.c,
            "eps": asked.eps,
            "time_limited": asked.time_limited,
            "message": asked.message,
        }

    def tell(self, y: float) -> None:
        """Take the value."""
        self._optimizer.tell(self._asked, y)


def begin(task: Task, **options: Any) -> Ours:
    """Start it."""
    return Ours(task, **options)
