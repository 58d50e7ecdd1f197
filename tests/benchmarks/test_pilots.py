"""Pilots: runs are kept and not made twice, ways are compared where all of them ran."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import nnbo_mip as nm
from benchmarks.everyday.tasks import TASKS
from benchmarks.pilots import __main__ as command
from benchmarks.pilots.run import n_starts, run
from benchmarks.pilots.table import each, table
from benchmarks.pilots.tasks import PILOT_TASKS
from benchmarks.pilots.ways import WAYS
from benchmarks.pilots.wide import MADE, sparse_linear, wide_tasks
from benchmarks.regret.problems import SUITES
from nnbo_mip.lab.plan.starts import problem_of
from nnbo_mip.problems.catalogue import registry as problems


def test_runs_are_kept_and_not_made_twice(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "pilots.jsonl"
    asked = ["--ways", "random", "--way", "few", '{"surrogate": "gp", "starts": [3, 0, 1]}']
    asked += ["--tasks", "camelback, noise 30 %, told", "logistic-wine", "--seeds", "1"]
    asked += ["--readings", "3", "5", "--out", str(out), "--each"]
    assert command.main(asked) == 0
    printed = capsys.readouterr().out
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert [(row["task"], row["way"]) for row in rows] == [
        (task, way)
        for task in ("camelback, noise 30 %, told", "logistic-wine")
        for way in ("random", "few")
    ]
    assert all(len(row["reached"]) == 2 and row["reached"][1] >= 0.0 for row in rows)
    assert rows[2]["reached"][1] <= rows[2]["reached"][0]  # a loss never rises
    assert "| noise | random | 1 | 1 | 1 |" in printed
    assert "| logistic-wine |" in printed

    def refused(*cell: object) -> None:
        raise AssertionError(cell)

    monkeypatch.setattr(command, "run", refused)
    with out.open("a") as file:
        file.write('{"task": "cam')  # cut short by a kill
    assert command.main(asked) == 0
    assert capsys.readouterr().out == printed
    assert command.main([*asked, "--seeds", "2", "--report"]) == 0
    with pytest.raises(SystemExit, match="got 'none'; choose of them"):
        command.main([*asked, "--starts", "none"])


def test_reported_points_are_read_without_noise() -> None:
    task = PILOT_TASKS["hartmann3, noise 30 %"]
    best = run(task, "random", {}, 1, [1, 20])
    again = run(task, "random", {}, 1, [1, 20])
    assert best["reached"] == again["reached"]
    assert all(reached > 0.0 for reached in best["reached"])  # noise cannot beat the optimum


def test_a_peer_is_told_what_it_asked_and_reports_its_luckiest_point() -> None:
    pytest.importorskip("optuna")
    task = PILOT_TASKS["camelback, noise 10 %"]
    found = run(task, "tpe", WAYS["tpe"], 1, [5, 20])
    assert found["reached"] == run(task, "tpe", WAYS["tpe"], 1, [5, 20])["reached"]
    assert found["reached"] != run(task, "random", {}, 1, [5, 20])["reached"]


def test_a_rule_of_starts_is_a_line_cut_by_a_share_of_the_run() -> None:
    mixed = problem_of(PILOT_TASKS["logistic-wine"].spec, 1)  # five settings, nine coordinates
    assert n_starts(mixed, [5, 0.5, 1.0], 40) == 7
    assert n_starts(mixed, [8, 2, 0.25], 40) == 10
    assert n_starts(mixed, [0, 0, 1.0], 40) == 2


def test_the_table_compares_ways_on_runs_that_all_have() -> None:
    rows = [
        {"task": "levy8", "seed": seed, "way": way, "reached": reached, "cpu": 1.0}
        for seed, way, reached in (
            (1, "a", [1.0, 4.0]),
            (1, "b", [1.0, 1.0]),
            (2, "a", [1.0, 1.0]),
            (2, "b", [1.0, 1.0]),
            (3, "a", [0.0, 0.0]),
        )
    ]
    lines = table(rows, ["a", "b"], [20, 40]).splitlines()
    assert lines[2] == "| larger | a | 2 | 1 | 1 | 1.50 | 1.75 | 1.0 |  |  |"
    assert lines[3] == "| larger | b | 2 | 1 | 0.5 | 1.50 | 1.25 | 1.0 |  |  |"
    assert each(rows, ["a", "b"]).splitlines()[2] == "| levy8 | 4 1 0 | 1 1 |"


def test_no_pilot_is_a_task_by_which_defaults_are_judged() -> None:
    judged = {str(task.spec) for task in TASKS}
    judged |= {case.spec for suite in SUITES.values() for case in suite.values()}
    assert not [label for label, task in PILOT_TASKS.items() if str(task.spec) in judged]


def test_wide_pilots_run_and_their_optima_are_attained() -> None:
    before = nm.problems.available()
    assert not set(MADE) & set(before)
    wide = wide_tasks()
    assert len({task.group for task in wide}) == 5
    assert {task.label for task in wide} <= set(PILOT_TASKS)
    try:
        for task in wide:
            if "neighbors" in task.label:
                continue
            reached = run(task, "random", {}, 1, [2, 3])["reached"]
            assert reached[0] >= reached[1] >= 0.0
            problem = problem_of(task.spec, 1)
            assert problem.dimension >= 30
            if problem.optimizers is not None:
                assert problem.regret(problem.known_optimizers).max() < 1e-6
        cell = run(wide[0], "cma", {}, 1, [3])
        assert cell["steps"] == 0
        ours = run(wide[0], "ours", {"initial": 2, "maximizer": "auto"}, 1, [4])
        assert (ours["steps"], ours["proven"]) == (2, 2)
        assert ours["ask"] > 0.0
    finally:
        for name in set(nm.problems.available()) - set(before):
            problems.unregister(name)


def test_a_line_of_ten_inputs_is_lowest_at_a_corner() -> None:
    problem = sparse_linear(100, 10, seed=1)
    corners = np.random.default_rng(0).choice([-1.0, 1.0], (200, 100))
    assert (problem.truth(corners) >= problem.optimum).all()
    slopes = problem.truth(np.eye(100))
    best = np.where(slopes > 0.0, -1.0, 1.0)
    assert problem.regret(best) == pytest.approx(0.0, abs=1e-9)
