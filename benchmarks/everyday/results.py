"""Runs of a store by task and method, read after so many evaluations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.everyday.methods import PEERS, is_ours
from benchmarks.everyday.tasks import READINGS, SHORT, Everyday
from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.lab.statistics.paired import Difference
from nnbo_mip.lab.store.frame import Frame
from nnbo_mip.lab.store.results import Results as Stored

STEP = ("number", "status", "cpu_seconds", "share", "moving", "time_limited")
"""Columns of steps that are read."""


@dataclass(frozen=True, eq=False)
class Run:
    """What came out of one method on one task with one seed.

    Parameters
    ----------
    truth : (n,) array
        Values without noise, to be minimized.
    reported : (n,) array
        Those at the points that the method reported; NaN where it was not asked.
    optimum : float
        To be minimized; NaN where it is not known.
    steps : Frame
        The columns `STEP`, of all points that the method itself chose.
    cpu_seconds : float
        Of the whole run.
    """

    truth: FloatArray
    reported: FloatArray
    optimum: float
    steps: Frame
    cpu_seconds: float

    def after(self, evaluations: int, task: Everyday) -> float:
        """Return the regret after so many evaluations, or at the end; the loss of a loss."""
        place = min(evaluations, len(self.truth)) - 1
        value = self.reported[place] if task.is_noisy else self.truth[: place + 1].min()
        return float(value) if task.is_loss else max(float(value) - self.optimum, 0.0)

    def trace(self) -> FloatArray:
        """Return the best regret after each evaluation (n,)."""
        made: FloatArray = np.maximum(np.minimum.accumulate(self.truth) - self.optimum, 0.0)
        return made


Runs = Mapping[tuple[str, str], Mapping[int, Run]]
"""By label and method, then by seed."""


def read_runs(store: Path, experiment: str) -> dict[tuple[str, str], dict[int, Run]]:
    """Return the finished runs of an experiment."""
    stored = Stored.open(store, experiment)
    units, observed, steps = stored.units, stored.observations, stored.steps
    columns = {name: steps[name] for name in STEP}
    runs: dict[tuple[str, str], dict[int, Run]] = {}
    for unit in units.rows():
        if unit["status"] != "finished":
            continue
        ends = [unit["unit"], unit["unit"] + 1]
        mine = slice(*np.searchsorted(observed["unit"], ends))
        chosen = slice(*np.searchsorted(steps["unit"], ends))
        sign = 1.0 if unit["direction"] == "minimize" else -1.0
        run = Run(
            sign * observed["truth"][mine],
            sign * observed["reported"][mine],
            sign * unit["optimum"],
            Frame({name: column[chosen] for name, column in columns.items()}),
            unit["cpu_seconds"],
        )
        runs.setdefault((unit["problem"], unit["method"]), {})[unit["instance"]] = run
    return runs


class Results:
    """The runs of some tasks and methods.

    Parameters
    ----------
    tasks : sequence of Everyday
        In the order of the tables; short forms are read with their whole ones.
    methods : sequence of str
    runs : Runs
    """

    def __init__(self, tasks: Sequence[Everyday], methods: Sequence[str], runs: Runs) -> None:
        self.tasks = tuple(task for task in tasks if not task.is_short)
        self._runs = runs
        self.methods = tuple(
            method for method in methods if any(self.runs(task, method) for task in self.tasks)
        )
        longest = max((task.evaluations for task in self.tasks), default=0)
        self.readings = tuple(one for one in READINGS if one <= longest)

    @property
    def groups(self) -> tuple[str, ...]:
        """The groups that have runs, in order."""
        return tuple(dict.fromkeys(task.group for task in self.tasks if self._present(task)))

    def of_group(self, group: str) -> list[Everyday]:
        """Return the tasks of a group."""
        return [task for task in self.tasks if task.group == group]

    def runs(self, task: Everyday, method: str, evaluations: int = 0) -> Mapping[int, Run]:
        """Return the runs by seed that are read after so many evaluations.

        Ours is read after `SHORT` where it knew that it had so many; a method that is not told of
        noise made the same run of the task where nobody is.
        """
        if evaluations == SHORT and is_ours(method):
            short = self._runs.get((task.short().label, method), {})
            if short:
                return short
        return self._runs.get((task.label, method)) or self._runs.get((task.whole, method), {})

    def regrets(
        self, task: Everyday, method: str, evaluations: int, seeds: Iterable[int]
    ) -> FloatArray:
        """Return the regrets (n,) of seeds after so many evaluations."""
        runs = self.runs(task, method, evaluations)
        return np.array([runs[seed].after(evaluations, task) for seed in seeds])

    def shared_seeds(self, task: Everyday, methods: Iterable[str], evaluations: int) -> list[int]:
        """Return the seeds that all methods have, in order."""
        have = [set(self.runs(task, method, evaluations)) for method in methods]
        return sorted(set.intersection(*have)) if have else []

    def on(self, task: Everyday) -> list[str]:
        """Return the methods that have runs on a task."""
        return [method for method in self.methods if self.runs(task, method)]

    def best_peer(self, task: Everyday, evaluations: int) -> str | None:
        """Return the peer with the lowest mean regret there, over the seeds that all peers have."""
        peers = [name for name in self.on(task) if name in PEERS]
        seeds = self.shared_seeds(task, peers, evaluations)
        if not seeds:
            return None
        return min(
            peers, key=lambda name: float(self.regrets(task, name, evaluations, seeds).mean())
        )

    def difference(
        self, task: Everyday, method: str, rival: str | None, evaluations: int
    ) -> Difference | None:
        """Compare two methods over the seeds that both have; None where there are under two."""
        if rival is None or rival == method:
            return None
        seeds = self.shared_seeds(task, (method, rival), evaluations)
        if len(seeds) < 2:
            return None
        return Difference.of(
            self.regrets(task, method, evaluations, seeds),
            self.regrets(task, rival, evaluations, seeds),
        )

    def _present(self, task: Everyday) -> bool:
        return bool(self.on(task))
