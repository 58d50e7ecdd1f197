"""One unit, run: the starts that all methods share, if any, then what the method asks for."""

from __future__ import annotations

import math
import resource
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.control import kept_by
from nnbo_mip.lab.peers.base import MethodTask
from nnbo_mip.lab.plan.environment import check_same, digests_of, import_all, versions_here
from nnbo_mip.lab.plan.starts import problem_of
from nnbo_mip.lab.plan.unit import Unit
from nnbo_mip.lab.run.methods import Method, begun, task_of
from nnbo_mip.lab.store.columns import STEPS
from nnbo_mip.loop.record.serialization import point_out
from nnbo_mip.loop.settings.settings import Purpose, seed_for
from nnbo_mip.problems.noise import Noise
from nnbo_mip.problems.problem import Problem
from nnbo_mip.problems.scaled import ScaledProblem

if TYPE_CHECKING:
    from nnbo_mip.loop.record.suggestion import Suggestion


CLOCKS: Mapping[str, Callable[[], float]] = MappingProxyType(
    {"wall": time.perf_counter, "cpu": time.process_time}
)
"""By which a unit's limits of time are kept."""


def run_unit(unit: Unit) -> dict[str, Any]:
    """Run a unit and return its observations, its steps and the time they took, JSON-able."""
    check_same(unit.imports, digests_of(unit.imports), "modules")
    import_all(unit.imports)  # not before: they may be others than was planned
    check_same(unit.versions, versions_here(unit.versions), "packages")
    used = _cpu_seconds()
    problem = problem_of(unit.problem, unit.instance)
    measure = _Measure(problem, unit)
    task = task_of(unit, problem)
    with kept_by(CLOCKS[unit.clock]):
        method = begun(unit, task)
        observed, steps = _asked_and_told(unit, task, method, measure)
    return {"observations": observed, "steps": steps, "cpu_seconds": _cpu_seconds() - used}


def _asked_and_told(
    unit: Unit, task: MethodTask, method: Method, measure: _Measure
) -> tuple[dict[str, list[Any]], list[dict[str, Any]]]:
    """Run a method, and return its observations, a list a column, and its steps."""
    names = ("y", "truth", "seconds", "x", "reported")
    observed: dict[str, list[Any]] = {name: [] for name in names}
    steps = []
    told: list[tuple[float, Any]] = []
    spent = Stopwatch()  # some methods learn when they are told
    for number in range(task.evaluations):
        with spent:
            x, suggestion = method.ask()
        evaluating = time.perf_counter()
        y, truth = measure(x)
        seconds = time.perf_counter() - evaluating
        if suggestion is not None:
            steps.append(_step(number, suggestion, spent))
            spent = Stopwatch()
        with spent:
            method.tell(x, y)
        told.append((y, x))
        reported = None
        with spent:
            is_over = number + 1 >= unit.n_starts and method.stops()
        if number + 1 in unit.reports or (is_over and unit.reports):
            named = method.report()
            reported = measure.truth(_best(told, task.sign) if named is None else named)
        row = (y, truth, seconds, point_out(x), reported)
        for name, value in zip(names, row, strict=True):
            observed[name].append(value)
        if is_over:
            break
    return observed, steps


def _best(told: list[tuple[float, Any]], sign: float) -> Any:
    """Return the x of the best value, the first of those."""
    return min(told, key=lambda one: math.inf if math.isnan(one[0]) else sign * one[0])[1]


class Stopwatch:
    """Adds up the wall time and the CPU time of what is done within."""

    def __init__(self) -> None:
        self.wall = self.cpu = 0.0

    def __enter__(self) -> None:
        self._began = time.perf_counter(), _cpu_seconds()

    def __exit__(self, *_: object) -> None:
        self.wall += time.perf_counter() - self._began[0]
        self.cpu += _cpu_seconds() - self._began[1]


class _Measure:
    """Evaluates a problem as its unit sees it: scaled, with noise of the instance."""

    def __init__(self, problem: Problem, unit: Unit) -> None:
        self._problem = problem
        self._scaled = ScaledProblem(problem) if unit.scaled else None
        self._noise = problem.noise
        if problem.noise is not None:
            own = seed_for(problem.noise.seed, unit.instance, Purpose.EXTRA)
            self._noise = replace(problem.noise, seed=own)
        self._times: Counter[bytes] = Counter()

    def __call__(self, x: Any) -> tuple[float, float]:
        """Return what is observed and what is true at a point."""
        truth = self._problem.truth(x)
        seen = truth
        if self._noise is not None:
            raw = self._problem.space.to_numeric(x)
            seen = self._repeated(raw).added(raw, truth, None)
        if self._scaled is not None:
            truth, seen = self._scaled.score_of(truth), self._scaled.score_of(seen)
        return float(seen[0]), float(truth[0])

    def truth(self, x: Any) -> float:
        """Return what is true at a point."""
        truth = self._problem.truth(x)
        return float((truth if self._scaled is None else self._scaled.score_of(truth))[0])

    def _repeated(self, raw: FloatArray) -> Noise:
        """Return the noise of the next evaluation at a point: each has its own."""
        assert self._noise is not None
        times = self._times[raw.tobytes()]
        self._times[raw.tobytes()] += 1
        if not times:
            return self._noise
        return replace(self._noise, seed=seed_for(self._noise.seed, times, Purpose.EXTRA))


def _step(number: int, suggestion: Suggestion, spent: Stopwatch) -> dict[str, Any]:
    """Return the record of a step: the run's own columns, and those of the suggestion."""
    region = suggestion.region
    own = {
        "number": number,
        "ask_seconds": spent.wall,
        "cpu_seconds": spent.cpu,
        "counters": {name: int(count) for name, count in suggestion.counters.items()},
        "side": math.nan if region is None else region.length,
        "share": math.nan if region is None else region.share,
        "moving": math.nan if region is None else region.moving,
    }
    names = [column.name for column in STEPS if column.name != "unit"]
    return {name: own[name] if name in own else getattr(suggestion, name) for name in names}


def _cpu_seconds() -> float:
    """Return the CPU time of this process and of its children that have ended."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime
