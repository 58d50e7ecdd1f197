"""Stores that are written without running anything."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from nnbo_mip.lab.plan.plan import Plan, PlannedUnit
from nnbo_mip.lab.plan.unit import Unit
from nnbo_mip.lab.store.answer import Answer, Attempt
from nnbo_mip.lab.store.store import opened

STEP: dict[str, Any] = {
    "status": "optimal",
    "value": 1.0,
    "bound": 1.25,
    "gap": 0.25,
    "kind": "rigorous",
    "engine": "boxes",
    "head": "ucb",
    "mean": 0.5,
    "std": 0.5,
    "c": 1.0,
    "eps": 0.001,
    "doublings": 0,
    "seconds": 0.5,
    "fit_seconds": 0.25,
    "ask_seconds": 0.75,
    "evaluations": 7,
    "time_limited": False,
    "message": "",
    "counters": {"boxes": 3},
}


def planned(
    problem: str = "branin",
    method: str = "nomu",
    instance: int = 0,
    starts: int = 2,
    steps: int = 3,
    optimum: float | None = 0.0,
    direction: str = "minimize",
) -> PlannedUnit:
    """Return a unit that is never run; a method called random is a baseline."""
    drawn = method == "random"
    how = {"design": {"name": "uniform"}} if drawn else {"options": {"surrogate": method}}
    unit = Unit(problem, False, {"name": "sobol"}, starts, steps, instance, how)
    return PlannedUnit(
        unit=unit,
        problem=problem,
        method=method,
        surrogate="" if drawn else method,
        acquisition="" if drawn else "ucb",
        maximizer="" if drawn else "auto",
        budget=None,
        variant="",
        dimension=2,
        direction=direction,
        optimum=optimum,
    )


def plan_of(units: Sequence[PlannedUnit], name: str = "made") -> Plan:
    """Return a plan of such units."""
    return Plan(name, "A made one.", f'name = "{name}"\n', ("regret",), tuple(units))


def answer(
    unit: Unit,
    y: Sequence[float | None],
    truth: Sequence[float | None] | None = None,
    is_baseline: bool = False,
) -> Answer:
    """Return what a unit that observed these values answers."""
    numbers = [] if is_baseline else list(range(unit.n_starts, len(y)))
    result = {
        "cpu_seconds": 1.5,
        "observations": {
            "y": list(y),
            "truth": list(y if truth is None else truth),
            "seconds": [0.125] * len(y),
            "x": [[float(number), -1.0] for number in range(len(y))],
        },
        "steps": [{"number": number, **STEP} for number in numbers],
    }
    return Answer(unit.key, (Attempt("finished", 1e9, 2.0, "here"),), {"host": "here"}, result)


def failure(unit: Unit, *outcomes: str) -> Answer:
    """Return what is kept of a unit that failed in these ways."""
    tries = tuple(Attempt(how, 1e9, 0.5, "here", f"{how}: a reason") for how in outcomes)
    return Answer(unit.key, tries, {"host": "here"})


def made(
    path: Path,
    problems: Sequence[str],
    methods: Sequence[str],
    instances: int,
    starts: int,
    steps: int,
    value: Callable[[str, str, int, int], float],
) -> Path:
    """Write a store whose finished units observed ``value(problem, method, instance, number)``.

    The optimum is 0, so that regrets are the best values so far.
    """
    units = [
        planned(problem, method, instance, starts, steps)
        for problem in problems
        for instance in range(instances)
        for method in methods
    ]
    with opened(path) as store:
        store.write_plan(plan_of(units))
        store.add(
            [
                answer(
                    one.unit,
                    [
                        value(one.problem, one.method, one.unit.instance, number)
                        for number in range(starts + steps)
                    ],
                    is_baseline=one.method == "random",
                )
                for one in units
            ]
        )
    return path
