"""Runs of a store by function and method: regrets of all seeds, and who is the best peer."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.regret.methods import OURS, PEERS
from benchmarks.regret.problems import Case
from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.lab.statistics.paired import Difference, traces
from nnbo_mip.lab.store.results import Results as Stored
from nnbo_mip.lab.store.results import experiments

STEP = (
    "status",
    "value",
    "bound",
    "gap",
    "seconds",
    "fit_seconds",
    "ask_seconds",
    "time_limited",
    "message",
    "side",
)
"""Columns of steps that are shown."""


@dataclass(frozen=True, eq=False)
class Run:
    """What came out of one method on one function with one seed.

    Parameters
    ----------
    problem, method : str
        Labels.
    seed : int
    y : list of float
        All values in order, starts first; to be minimized.
    steps : list of dict
        One for each point that a method chose; None for what is not finite.
    status : {"finished", "failed", "planned"}
    code : str
        Commit of the working tree, for reference.
    """

    problem: str
    method: str
    seed: int
    y: list[float] = field(default_factory=list)
    steps: list[dict[str, Any]] = field(default_factory=list)
    status: str = "finished"
    code: str = ""

    @property
    def label(self) -> tuple[str, str, int]:
        """Problem, method and seed."""
        return self.problem, self.method, self.seed

    @property
    def is_done(self) -> bool:
        """Whether it need not be run again."""
        return self.status == "finished"


def read_runs(store: Path, experiment: str) -> list[Run]:
    """Return the runs of an experiment; none where the store has it not."""
    if not store.exists() or experiment not in [one.name for one in experiments(store)]:
        return []
    stored = Stored.open(store, experiment)
    units, observed, steps = stored.units, stored.observations, stored.steps
    codes = {
        number: stored.environment(number).get("commit", "")
        for number in set(units["environment"].tolist())
        if not math.isnan(number)
    }
    columns = {name: steps[name].tolist() for name in STEP}
    runs = []
    for unit in units.rows():
        mine = slice(*np.searchsorted(observed["unit"], [unit["unit"], unit["unit"] + 1]))
        first, last = np.searchsorted(steps["unit"], [unit["unit"], unit["unit"] + 1])
        sign = 1.0 if unit["direction"] == "minimize" else -1.0
        chosen = [{name: _plain(columns[name][k]) for name in STEP} for k in range(first, last)]
        code = codes.get(unit["environment"], "")
        runs.append(
            Run(
                unit["problem"],
                unit["method"],
                unit["instance"],
                (sign * observed["y"][mine]).tolist(),
                chosen,
                unit["status"],
                code,
            )
        )
    return runs


def _plain(value: Any) -> Any:
    """Return None for what is not finite."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


class Results:
    """The runs of some functions.

    Parameters
    ----------
    cases : sequence of Case
        In the order of the table.
    methods : sequence of str
        In the order of the table.
    runs : iterable of Run
        Of these functions and methods; those that ended in an error are counted only.
    """

    def __init__(self, cases: Sequence[Case], methods: Sequence[str], runs: Iterable[Run]) -> None:
        self.cases = tuple(cases)
        self._runs: dict[tuple[str, str], dict[int, Run]] = {}
        self._errors: list[Run] = []
        for run in runs:
            if not run.is_done:
                self._errors.append(run)
                continue
            self._runs.setdefault((run.problem, run.method), {})[run.seed] = run
        present = {method for _, method in self._runs}
        self.methods = tuple(method for method in methods if method in present)
        self.ours = tuple(method for method in self.methods if method in OURS)

    def runs(self, case: Case, method: str) -> dict[int, Run]:
        """Return the runs by seed."""
        return self._runs.get((case.label, method), {})

    def errors(self, case: Case, method: str) -> int:
        """Return how many runs ended in an error."""
        place = case.label, method
        return sum((run.problem, run.method) == place for run in self._errors)

    def steps(self, case: Case, method: str) -> list[dict[str, Any]]:
        """Return what was recorded of all steps."""
        return [step for run in self.runs(case, method).values() for step in run.steps]

    def regrets(self, case: Case, method: str) -> FloatArray:
        """Return regrets after each evaluation, (seeds, evaluations)."""
        return self._traces[case.label, method]

    def final(self, case: Case, method: str, seeds: Sequence[int] | None = None) -> FloatArray:
        """Return regrets at the end (seeds,), of some seeds in their order or of all."""
        made: FloatArray = self.regrets(case, method)[:, -1]
        if seeds is None:
            return made
        mine = list(self.runs(case, method))
        return np.asarray(made[[mine.index(seed) for seed in seeds]])

    def shared_seeds(self, case: Case, methods: Iterable[str]) -> list[int]:
        """Return the seeds, sorted, that all methods have; none where there is no method."""
        have = [set(self.runs(case, method)) for method in methods]
        return sorted(set.intersection(*have)) if have else []

    def best_peer(self, case: Case) -> str | None:
        """Return the peer with the lowest mean regret at the end."""
        peers = [name for name in self.methods if name in PEERS and self.runs(case, name)]
        return min(peers, key=lambda name: float(self.final(case, name).mean()), default=None)

    def difference(self, case: Case, method: str, rival: str | None) -> Difference | None:
        """Compare two methods over the seeds that both have; None where there are under two."""
        if rival is None or rival == method:
            return None
        shared = self.shared_seeds(case, (method, rival))
        if len(shared) < 2:
            return None
        return Difference.of(self.final(case, method, shared), self.final(case, rival, shared))

    @cached_property
    def _traces(self) -> dict[tuple[str, str], FloatArray]:
        optima = {case.label: _optimum(case) for case in self.cases}
        evaluations = {case.label: case.evaluations for case in self.cases}
        return {
            (label, method): np.array(
                [traces(run.y, optima[label], evaluations[label]) for run in runs.values()]
            )
            for (label, method), runs in self._runs.items()
        }


def _optimum(case: Case) -> float:
    """Return the optimum of a function, to be minimized."""
    problem = case.problem
    if problem.optimum is None:
        raise ValueError(f"the optimum of {case.spec!r} must be known")
    return problem.sign * problem.optimum
