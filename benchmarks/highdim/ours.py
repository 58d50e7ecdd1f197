"""`nm.BayesianOptimizer` in many dimensions: records its region, and starts within its embedding.

The shared starts are no images of an embedding, so a run through one draws as many of its own.
"""

from __future__ import annotations

from typing import Any

import nnbo_mip as nm
from benchmarks.regret.ours import Ours
from benchmarks.regret.unit import Task
from nnbo_mip.core.arrays import FloatArray


class Wide(Ours):
    """A run with shared starts, or with `own_starts` where the task has none.

    Parameters
    ----------
    task : Task
    own_starts : int
        Points that the run draws where the task has no starts.
    **options
        Of `nm.BayesianOptimizer`.
    """

    def __init__(self, task: Task, own_starts: int = 0, **options: Any) -> None:
        if len(task.X):
            super().__init__(task, **options)
            return
        self._asked: nm.Suggestion | None = None
        self._optimizer = nm.BayesianOptimizer(
            task.problem.space,
            **options,
            initial=own_starts,
            time_limit=task.time_limit,
            steps=task.evaluations - own_starts,
            seed=task.seed,
        )

    def ask(self) -> tuple[FloatArray, dict[str, Any]]:
        """Return the next point, and what was proven of it within which region."""
        x, facts = super().ask()
        region = None if self._asked is None else self._asked.region
        return x, facts | {"region": None if region is None else region.length}


def begin(task: Task, **options: Any) -> Wide:
    """Start it."""
    return Wide(task, **options)
