"""Runs in many dimensions: who starts where, what is recorded of a step, and what is printed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import nnbo_mip as nm
from benchmarks.highdim import __main__ as highdim
from benchmarks.highdim.cases import CASES, SAASBO
from benchmarks.highdim.methods import METHODS, OURS, embeds
from benchmarks.highdim.table import best_values, fifth, report, steps_table, values_table
from benchmarks.regret.experiment import plan_of
from benchmarks.regret.results import Results, Run
from nnbo_mip.lab.run.unit_run import run_unit

QUICK: dict[str, Any] = {"surrogate": "brvfl:n_hidden=10", "maximizer": "random:evaluations=50"}


def step(k: int, **facts: Any) -> dict[str, Any]:
    told = {"ask_seconds": 1.0, "fit_seconds": 0.5, "seconds": 0.25, "status": "feasible"}
    told |= {"gap": float(k), "value": 1.0, "bound": 1.0 + k, "side": 0.8 if k < 5 else 0.4}
    return {**told, **facts}


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
    for name, case in CASES.items():
        left = [method for method in METHODS if not highdim.fits(case, method)]
        wide = name in ("branin100", "hartmann50")
        assert left == ([] if wide else [method for method in METHODS if embeds(method)])
    assert embeds("gp/rembo")
    assert not embeds("random")
    for options in OURS.values():
        nm.BayesianOptimizer([(0.0, 1.0)] * 20, **options)


def test_a_quick_run_is_short_and_a_limit_of_time_makes_another_experiment() -> None:
    parsed = highdim.parser().parse_args
    quick = parsed(["--quick"])
    assert {case.label for case in highdim.cases_of(quick)} == {"branin100", "ackley20"}
    assert {case.evaluations - case.starts for case in highdim.cases_of(quick)} == {6}
    names = [["--quick"], ["--full"], ["--full", "--time-limit", "5"]]
    assert [highdim.name_of(parsed(one)) for one in names] == [
        "highdim 30 s quick",
        "highdim 30 s",
        "highdim 5 s",
    ]


@pytest.mark.filterwarnings("ignore::nnbo_mip.ModelWarning")  # five steps in a hundred inputs
@pytest.mark.parametrize("way", ["gp/trust", "gp/hashed", "gp/rembo", "gp/hashed+trust"])
def test_a_run_makes_its_evaluations_and_records_its_region(way: str) -> None:
    case = replace(CASES["branin100"], evaluations=15)
    methods = {"ours": {**OURS[way], **QUICK}, "random": None}
    ours, drawn = plan_of("some", [case], methods, [0], 30.0).units
    result = run_unit(ours.unit)
    assert len(result["observations"]["y"]) == 15
    assert [step["number"] for step in result["steps"]] == list(range(10, 15))
    sides = [step["side"] for step in result["steps"]]
    assert sides == [0.8] * 5 if "trust" in way else np.isnan(sides).all()
    shared = run_unit(drawn.unit)["observations"]["y"][:10]
    assert (result["observations"]["y"][:10] == shared) == (not embeds(way))


def test_best_values_and_fifths() -> None:
    cut = Run("branin100", "gp", 0, [5.0, 3.0, 4.0, 1.0], [step(k) for k in range(10)])
    assert best_values(cut, [1, 3, 4, 50]) == [5.0, 3.0, 1.0, 1.0]
    assert [entry["gap"] for entry in fifth(cut, 1)] == [2.0, 3.0]
    mixed = Run("", "gp", 0, [1.0], [step(0, status="initial"), *(step(k) for k in range(3))])
    assert sum(len(fifth(mixed, k)) for k in range(5)) == 3


def test_tables_show_what_the_runs_hold() -> None:
    case = CASES["branin100"]
    runs = []
    for seed in (0, 1):
        y = [50.0 - k + seed for k in range(50)]
        told = [*(step(k) for k in range(39)), step(39, gap=None)]
        runs += [Run(case.label, "gp/trust", seed, y, told), Run(case.label, "random", seed, y)]
    results = Results([case], ["gp/trust", "random"], runs)
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
