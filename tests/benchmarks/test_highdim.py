"""Runs in many dimensions: who starts where, what is recorded of a step, and what is printed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nnbo_mip as nm
from benchmarks.highdim import __main__ as highdim
from benchmarks.highdim.cases import CASES, SAASBO
from benchmarks.highdim.methods import METHODS, OURS, embeds
from benchmarks.highdim.table import best_values, fifth, report, steps_table, values_table
from benchmarks.regret.results import Results
from benchmarks.regret.store import Run, Store
from benchmarks.regret.unit import Unit, task_of
from benchmarks.regret.worker import run

QUICK: dict[str, Any] = {"surrogate": "brvfl:n_hidden=10", "maximizer": "random:evaluations=50"}


def units(*arguments: str) -> list[Unit]:
    options = highdim.parser().parse_args(arguments)
    methods = options.methods or list(METHODS)
    return highdim.units_of(highdim.cases_of(options), methods, options)


def lines(unit: Unit) -> tuple[list[float], list[dict[str, Any]]]:
    """Return values and steps of a run in this process."""
    values: list[float] = []
    steps: list[dict[str, Any]] = []

    def report(event: Any) -> None:
        values.extend(event["y"])
        steps.extend(event["steps"])

    run(unit, report)
    return values, steps


def finished(unit: Unit, y: list[float], steps: list[dict[str, Any]]) -> Run:
    return Run(unit, "finished", y=y, x=[[0.0]] * len(y), steps=steps)


def step(k: int, **facts: Any) -> dict[str, Any]:
    told = {"wall": 1.0, "fit": 0.5, "inner": 0.25, "status": "feasible", "gap": float(k)}
    return {**told, "value": 1.0, "bound": 1.0 + k, "region": 0.8 if k < 5 else 0.4, **facts}


def test_the_functions_have_the_published_optima_and_few_variables_that_matter() -> None:
    wide = {name: case.problem for name, case in CASES.items()}
    assert {name: problem.dimension for name, problem in wide.items()} == {
        "branin100": 100,
        "hartmann50": 50,
        "ackley20": 20,
        "levy20": 20,
    }
    for name, case in CASES.items():
        problem, d = wide[name], wide[name].dimension
        X = np.tile(problem.space.sample(1, seed=1), (d + 1, 1))
        box = problem.space.numeric()
        X[np.arange(d), np.arange(d)] = box.lower + 0.9 * (box.upper - box.lower)
        y = problem.truth(X)
        assert (y[:-1] != y[-1]).sum() == case.effective
    # What SAASBO's notebook prints as the variables that matter, and its rescaling of them.
    x = np.full(100, 0.3)
    x[[19, 64]] = [(np.pi + 5.0) / 15.0, 2.275 / 15.0]
    assert wide["branin100"](x) == pytest.approx(0.397887, abs=1e-6)


def test_published_values_are_those_that_were_printed_by_then() -> None:
    assert SAASBO.after(9) is None
    assert [SAASBO.after(count) for count in (10, 16, 17, 40, 50)] == [
        4.320,
        4.320,
        0.915,
        0.399,
        0.398,
    ]


def test_embeddings_are_run_where_variables_do_not_matter() -> None:
    every = units("--full", "--seeds", "1")
    pairs = {(unit.problem, unit.method) for unit in every}
    assert len(every) == len(pairs) == 2 * len(METHODS) + 2 * sum(not embeds(m) for m in METHODS)
    assert ("branin100", "gp/rembo") in pairs
    assert ("ackley20", "gp/rembo") not in pairs
    for unit in every:
        case = CASES[unit.problem]
        assert unit.starts == (0 if embeds(unit.method) else case.starts)
        assert unit.options.get("own_starts", case.starts) == case.starts
        assert (unit.evaluations, unit.time_limit) == (case.evaluations, 30.0)
    for method in OURS.values():
        nm.BayesianOptimizer([(0.0, 1.0)] * 20, **method.options)


def test_a_quick_run_is_short_and_a_limit_of_time_belongs_to_the_key() -> None:
    quick = units("--quick", "--methods", "gp", "random")
    assert {unit.problem for unit in quick} == {"branin100", "ackley20"}
    assert {unit.evaluations - unit.starts for unit in quick} == {6}
    other = units("--quick", "--methods", "gp", "random", "--time-limit", "5")
    assert not {unit.key for unit in quick} & {unit.key for unit in other}


@pytest.mark.parametrize("way", ["gp/trust", "gp/hashed", "gp/rembo", "gp/hashed+trust"])
def test_a_run_makes_its_evaluations_and_records_its_region(way: str) -> None:
    (unit,) = units("--full", "--seeds", "1", "--methods", way, "--problems", "branin100")
    end = unit.evaluations - 35
    unit = replace(unit, options={**unit.options, **QUICK}, evaluations=end)
    values, steps = lines(unit)
    assert len(values) == end
    assert len(steps) == end - unit.starts
    chosen = [step for step in steps if step["status"] != "initial"]
    assert len(chosen) == 5
    has_region = "trust" in way
    assert [step["region"] for step in chosen] == [0.8 if has_region else None] * 5
    if unit.starts:
        assert values[:10] == task_of(unit).y.tolist()


def test_best_values_and_fifths() -> None:
    unit = units("--quick", "--methods", "gp")[0]
    cut = finished(unit, [5.0, 3.0, 4.0, 1.0], [step(k) for k in range(10)])
    assert best_values(cut, [1, 3, 4, 50]) == [5.0, 3.0, 1.0, 1.0]
    assert [entry["gap"] for entry in fifth(cut, 1)] == [2.0, 3.0]
    mixed = finished(unit, [1.0], [step(0, status="initial"), *(step(k) for k in range(3))])
    assert sum(len(fifth(mixed, k)) for k in range(5)) == 3


def test_tables_show_what_the_runs_hold(tmp_path: Path) -> None:
    case = CASES["branin100"]
    made = units(
        "--full", "--seeds", "2", "--methods", "gp/trust", "random", "--problems", case.label
    )
    store = Store(tmp_path / "runs.jsonl")
    for unit in made:
        y = [50.0 - k + unit.seed for k in range(50)]
        told = [step(k) if unit.method != "random" else {"wall": 0.1} for k in range(40)]
        told[-1] |= {"gap": None} if unit.method != "random" else {}
        store.add(finished(unit, y, told))
    kept = store.read()
    results = Results([case], ["gp/trust", "random"], [kept[unit.key] for unit in made])
    table = values_table(case, results).splitlines()
    assert table[2].split(" | ")[:3] == ["| gp/trust", "2", "41.5 (41 to 42)"]
    assert "SAASBO" in table[-1]
    assert table[-1].split(" | ")[2:] == ["4.32", "0.915", "0.617", "0.399", "0.398 |"]
    whole = report([case], results)
    assert "| branin100 | gp/trust | 80 | 1 | 0.5 | 0.25 | 80 feasible |" in whole
    assert "3.5 / 12 / 20 / 28 / 36 | 0.8 / 0.4 / 0.4 / 0.4 / 0.4" in whole
    listed = steps_table(case, "gp/trust", results).splitlines()
    assert listed[4] == "| 11 | 40 | 40 | feasible | 1 | 1 | 0 | 0.8 | 1 |"
    assert listed[-1] == "| 50 | 1 | 1 | feasible | 1 | 40 |  | 0.4 | 1 |"
    assert "There is no run of nomu" in steps_table(case, "nomu", results)
