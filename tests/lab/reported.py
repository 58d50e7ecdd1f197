"""Stores for tests of reports: problems that exist, regrets that are made up."""

from __future__ import annotations

from pathlib import Path

from nnbo_mip.lab.store.store import opened
from tests.lab.stores import answer, failure, plan_of, planned

FACTORS = {"gp": 0.25, "nomu": 0.5, "random": 1.0}
STARTS, STEPS = 3, 5
BOXES = {"branin": [(-5.0, 10.0), (0.0, 15.0)], "forrester": [(0.0, 1.0)]}


def regret(method: str, instance: int, number: int) -> float:
    """Return what is observed: starts are shared, then regret falls by the method's factor."""
    if number < STARTS:
        return 8.0 + instance + number
    return (8.0 + instance) * FACTORS[method] ** (number - STARTS + 1)


def written(
    path: Path,
    instances: int = 4,
    finished: int | None = None,
    problems: tuple[str, ...] = ("branin", "forrester"),
    methods: tuple[str, ...] = tuple(FACTORS),
    failed: int = 0,
) -> Path:
    """Write a store of which the first units are finished, and the last ones failed."""
    units = [
        planned(problem, method, instance, STARTS, STEPS)
        for problem in problems
        for instance in range(instances)
        for method in methods
    ]
    count = len(units) - failed if finished is None else finished
    with opened(path) as store:
        store.write_plan(plan_of(units))
        answers = []
        for one in units[:count]:
            box = BOXES[one.problem]
            values = [
                regret(one.method, one.unit.instance, number) for number in range(STARTS + STEPS)
            ]
            made = answer(one.unit, values, is_baseline=one.method == "random")
            assert made.result is not None
            made.result["observations"]["x"] = [
                [low + (high - low) * (number + 1) / 10.0 for low, high in box]
                for number in range(STARTS + STEPS)
            ]
            made.result["observations"]["seconds"] = [1e-5] * (STARTS + STEPS)
            answers.append(made)
        lost = units[len(units) - failed :] if failed else []
        store.add([*answers, *(failure(one.unit, "error") for one in lost)])
    return path
