"""One unit, run: the same starts for every method, then what the method asks for."""

from __future__ import annotations

import itertools
import math
import resource
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

from nnbo_mip.lab.peers.base import MethodTask
from nnbo_mip.lab.plan.environment import check_same, digests_of, import_all, versions_here
from nnbo_mip.lab.plan.starts import design_for, problem_of, shared_starts
from nnbo_mip.lab.plan.unit import Unit
from nnbo_mip.lab.store.columns import STEPS
from nnbo_mip.loop.designs.designs import design_of
from nnbo_mip.loop.policies.seeds import Purpose, seed_for
from nnbo_mip.loop.record.serialization import number_in, point_out
from nnbo_mip.problems.problem import Direction, Problem
from nnbo_mip.problems.scaled import ScaledProblem
from nnbo_mip.space.space import Space

if TYPE_CHECKING:
    from nnbo_mip.loop.record.suggestion import Suggestion


class Method(Protocol):
    """What chooses points; x is the user's, an array or a dict."""

    def ask(self) -> tuple[Any, Suggestion | None]:
        """Return the next x, and what was proven of it where a model chose it."""

    def tell(self, x: Any, y: float) -> None:
        """Take the value, NaN for a failure, at the x that was asked last."""


class Modelled:
    """`BayesianOptimizer`, which begins with the shared starts.

    Parameters
    ----------
    unit : Unit
    space : Space
    direction : {"minimize", "maximize"}
    starts : list
        The user's x.
    """

    def __init__(self, unit: Unit, space: Space, direction: Direction, starts: list[Any]) -> None:
        from nnbo_mip.loop.optimizer import BayesianOptimizer  # a baseline needs none of it

        options = dict(unit.method["options"])
        # The image of an embedding does not hold the shared starts: it draws its own.
        self._draws = options["embedding"]["name"] != "none"
        self._starts = starts
        self._optimizer = BayesianOptimizer(
            space,
            **{**options, "time_limit": number_in(options["time_limit"])},
            initial=design_for(unit.starts, unit.instance) if self._draws else starts,
            direction=direction,
            steps=unit.steps,
            seed=unit.instance,
        )

    def ask(self) -> tuple[Any, Suggestion | None]:
        """Return a start, or the choice of the model."""
        asked = self._optimizer.ask()
        if asked.number >= len(self._starts):
            return asked.x, asked
        # Noise belongs to the bits of a point, which encoding and decoding may change.
        return asked.x if self._draws else self._starts[asked.number], None

    def tell(self, x: Any, y: float) -> None:
        """Take the value."""
        self._optimizer.tell(x, y)


class Drawn:
    """Points of a design, after the shared starts; all over again where a space has no more.

    Parameters
    ----------
    unit : Unit
    space : Space
    starts : list
        The user's x.
    """

    def __init__(self, unit: Unit, space: Space, starts: list[Any]) -> None:
        wanted = max(unit.n_starts + unit.steps - len(starts), 1)
        design = design_of({**unit.method["design"], "n": wanted})
        seed = seed_for(unit.instance, 0, Purpose.EXTRA)
        drawn = design.points(space, seed, space.encode(starts))
        self._points = itertools.cycle([*starts, *space.decode(drawn)])

    def ask(self) -> tuple[Any, Suggestion | None]:
        """Return the next point."""
        return next(self._points), None

    def tell(self, x: Any, y: float) -> None:
        """Learn nothing."""


def run_unit(unit: Unit) -> dict[str, Any]:
    """Run a unit and return its observations, its steps and the time they took, JSON-able."""
    check_same(unit.imports, digests_of(unit.imports), "modules")
    import_all(unit.imports)  # not before: they may be others than was planned
    check_same(unit.versions, versions_here(unit.versions), "packages")
    used = _cpu_seconds()
    problem = problem_of(unit.problem, unit.instance)
    measure = _Measure(problem, unit)
    drawn = shared_starts(design_for(unit.starts, unit.instance), problem.space, unit.instance)
    starts = list(problem.space.decode(drawn))
    direction: Direction = "maximize" if unit.scaled else problem.direction
    method = _begun(unit, problem.space, direction, starts)
    observed: dict[str, list[Any]] = {"y": [], "truth": [], "seconds": [], "x": []}
    steps = []
    choosing = 0.0  # seconds: some methods learn when they are told
    for number in range(unit.n_starts + unit.steps):
        asking = time.perf_counter()
        x, suggestion = method.ask()
        evaluating = time.perf_counter()
        choosing += evaluating - asking
        y, truth = measure(x)
        telling = time.perf_counter()
        method.tell(x, y)
        for name, value in zip(
            observed, (y, truth, telling - evaluating, point_out(x)), strict=True
        ):
            observed[name].append(value)
        if suggestion is not None:
            steps.append(_step(number, suggestion, choosing))
            choosing = 0.0
        choosing += time.perf_counter() - telling
    return {
        "observations": observed,
        "steps": steps,
        "cpu_seconds": _cpu_seconds() - used,
    }


def _begun(unit: Unit, space: Space, direction: Direction, starts: list[Any]) -> Method:
    """Return the unit's method, before it was asked anything."""
    if "design" in unit.method:
        return Drawn(unit, space, starts)
    if "entry" in unit.method or "peer" in unit.method:
        from nnbo_mip.lab.run.outside import Outside

        task = MethodTask(space, direction, starts, unit.n_starts + unit.steps, unit.instance)
        return Outside(task, unit.method)
    return Modelled(unit, space, direction, starts)


class _Measure:
    """Evaluates a problem as its unit sees it: scaled, with noise of the instance."""

    def __init__(self, problem: Problem, unit: Unit) -> None:
        self._problem = problem
        self._scaled = ScaledProblem(problem) if unit.scaled else None
        self._noise = problem.noise
        if problem.noise is not None:
            own = seed_for(problem.noise.seed, unit.instance, Purpose.EXTRA)
            self._noise = replace(problem.noise, seed=own)

    def __call__(self, x: Any) -> tuple[float, float]:
        """Return what is observed and what is true at a point."""
        truth = self._problem.truth(x)
        seen = truth
        if self._noise is not None:
            seen = self._noise.added(self._problem.space.to_numeric(x), truth, None)
        if self._scaled is not None:
            truth, seen = self._scaled.score_of(truth), self._scaled.score_of(seen)
        return float(seen[0]), float(truth[0])


def _step(number: int, suggestion: Suggestion, ask_seconds: float) -> dict[str, Any]:
    """Return the record of a step: the run's own columns, and those of the suggestion."""
    region = suggestion.region
    own = {
        "number": number,
        "ask_seconds": ask_seconds,
        "counters": {name: int(count) for name, count in suggestion.counters.items()},
        "side": math.nan if region is None else region.length,
    }
    names = [column.name for column in STEPS if column.name != "unit"]
    return {name: own[name] if name in own else getattr(suggestion, name) for name in names}


def _cpu_seconds() -> float:
    """Return the CPU time of this process and of its children that have ended."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime
