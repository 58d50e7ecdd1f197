"""The benchmark of everyday runs: its plan, what is read of runs, cells and verdicts."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import qmc

import nnbo_mip as nm
from benchmarks.everyday import __main__ as everyday
from benchmarks.everyday.experiment import text_of
from benchmarks.everyday.methods import METHODS, PEERS, fits
from benchmarks.everyday.results import Results, Run, read_runs
from benchmarks.everyday.table import report
from benchmarks.everyday.tasks import PILOTS, READINGS, SPREADS, TASKS, Everyday, with_short
from benchmarks.everyday.verdicts import cells_of, verdict_lines
from nnbo_mip.lab.peers.catalogue import registry as peers
from nnbo_mip.lab.plan.experiment import planned
from nnbo_mip.lab.store.frame import Frame
from nnbo_mip.problems.noise import GaussianNoise

OURS = {"default": METHODS["default"], "random": None}
BY_LABEL = {task.label: task for task in (*TASKS, *PILOTS)}


def test_the_groups_are_those_of_the_issue_and_pilots_are_others() -> None:
    groups = [task.group for task in TASKS]
    assert {name: groups.count(name) for name in groups} == {
        "noise": 16,
        "mixed": 9,
        "physics": 6,
        "bbob": 36,
    }
    assert len(BY_LABEL) == len(TASKS) + len(PILOTS)
    specs = [str(task.spec) for task in TASKS]
    assert not [pilot.label for pilot in PILOTS if str(pilot.spec) in specs]


@pytest.mark.parametrize("task", [*TASKS, *PILOTS], ids=lambda task: task.label)
def test_every_task_is_a_problem_that_every_peer_can_search(task: Everyday) -> None:
    problem = task.problem
    assert (problem.optimum is None) == task.is_loss
    assert isinstance(problem.noise, GaussianNoise) == task.is_noisy
    assert problem.direction == "minimize"
    for name, keys in PEERS.items():
        if fits(task, name):
            assert peers.create(keys["peer"]).refused(problem.space) == ""


def test_tasks_of_tuning_are_mixed_and_one_has_a_constraint() -> None:
    spaces = [task.problem.space for task in TASKS if task.group == "mixed"]
    assert all(any(isinstance(d, nm.Categorical) for d in s.dimensions) for s in spaces)
    assert any(space.constraints for space in spaces)


@pytest.mark.parametrize("spec", SPREADS)
def test_spreads_are_those_of_uniform_points(spec: str) -> None:
    problem = nm.problems.create(spec)
    box = problem.space.numeric()
    drawn = qmc.Sobol(problem.dimension, rng=np.random.default_rng(5)).random(2**15)
    values = problem.truth(box.lower + drawn * (box.upper - box.lower))
    low, high = np.quantile(values, [0.05, 0.95])
    assert SPREADS[spec] == pytest.approx(high - low, rel=0.02)


def test_the_plan_has_own_starts_limits_by_cpu_time_and_short_runs_of_ours_alone() -> None:
    told = BY_LABEL["branin, noise 10 %, told"]
    chosen = with_short([told, BY_LABEL["f8 in 5"]])
    plan = planned(text_of("some", chosen, OURS, [1, 2]), "file.toml", "some")
    assert len(plan) == 2 * 4 * 2
    for one in plan:
        unit = one.unit
        assert (unit.n_starts, unit.clock) == (0, "cpu")
        assert unit.steps == (20 if one.problem.endswith("total 20") else 80)
        assert unit.reports == tuple(n for n in READINGS if n <= unit.steps)
        assert unit.told == ("told" in one.problem)
    optima = {one.unit.instance: one.optimum for one in plan if one.problem == "f8 in 5"}
    assert optima[1] != optima[2]
    short = told.short()
    assert [name for name in METHODS if fits(short, name)] == ["default"]
    assert [name for name in METHODS if fits(told, name)] == ["default", "smac", "ax"]
    assert fits(short, "a variant of a pilot")


def run(values: list[float], reported: dict[int, float] | None = None, optimum: float = 0.0) -> Run:
    """Return a run of so many values; every point is one of a model, a certified one."""
    n = len(values)
    told = np.full(n, np.nan)
    for count, value in (reported or {}).items():
        told[count - 1] = value
    steps = Frame(
        {
            "number": np.arange(n),
            "status": np.array(["initial"] * (n // 2) + ["optimal"] * (n - n // 2)),
            "cpu_seconds": np.full(n, 0.5),
            "share": np.where(np.arange(n) % 2, 0.25, np.nan),
            "moving": np.where(np.arange(n) % 2, 3.0, np.nan),
            "time_limited": np.zeros(n, dtype=bool),
        }
    )
    return Run(np.array(values), told, optimum, steps, 40.0)


def test_noise_is_judged_by_what_is_reported_and_the_rest_by_the_best_value() -> None:
    values = [9.0, 5.0, 7.0, 3.0]
    one = run(values, {2: 9.0, 4: 7.0}, optimum=1.0)
    noisy, exact = BY_LABEL["branin, noise 10 %"], BY_LABEL["piston"]
    assert [one.after(count, noisy) for count in (2, 4, 80)] == [8.0, 6.0, 6.0]
    assert [one.after(count, exact) for count in (2, 4, 80)] == [4.0, 2.0, 2.0]
    assert one.after(4, BY_LABEL["mlp-digits"]) == 3.0


def results_of(
    tasks: list[Everyday], values: dict[tuple[str, str], dict[int, float]], length: int = 80
) -> Results:
    """Return results in which a run has one value throughout."""
    runs = {
        key: {
            seed: run([value] * length, dict.fromkeys(READINGS, value))
            for seed, value in of_seeds.items()
        }
        for key, of_seeds in values.items()
    }
    return Results(with_short(tasks), list(METHODS), runs)


def test_runs_are_read_from_the_short_and_from_the_untold_form() -> None:
    told = BY_LABEL["branin, noise 10 %, told"]
    values = {
        (told.whole, "optuna-tpe"): {1: 4.0},
        (told.whole, "default"): {1: 3.0},
        (told.label, "default"): {1: 2.0},
        (told.short().label, "default"): {1: 1.0},
    }
    results = results_of([BY_LABEL[told.whole], told], values)
    found = {n: float(results.regrets(told, "default", n, [1])[0]) for n in READINGS}
    assert found == {12: 2.0, 20: 1.0, 40: 2.0, 80: 2.0}
    assert results.regrets(told, "optuna-tpe", 20, [1]).tolist() == [4.0]
    assert results.best_peer(told, 80) == "optuna-tpe"


def test_a_cell_is_whole_where_all_intervals_are_and_holm_counts_the_cells() -> None:
    tasks = [BY_LABEL["piston"], BY_LABEL["borehole"]]
    rng = np.random.default_rng(0)
    values: dict[tuple[str, str], dict[int, float]] = {}
    for task, ours in zip(tasks, (0.5, 20.0), strict=True):
        noise = rng.uniform(0.9, 1.1, (3, 10))
        for row, (name, level) in enumerate((("default", ours), ("ax", 2.0), ("random", 2.0))):
            values[task.label, name] = {seed: level * noise[row, seed - 1] for seed in range(1, 11)}
    results = results_of(tasks, values)
    cells = cells_of(results, "physics", "default")
    assert [cell.verdict for cell in cells] == ["better"] * 4 + ["worse"] * 4
    assert {cell.rival for cell in cells} == {"ax"}
    for cell in cells:
        assert cell.p >= 2 * cell.difference.p
    said = "\n".join(verdict_lines(results, "default"))
    assert "MISSED physics: not wholly worse than the best peer in 4 of 8 cells (aim 8)" in said
    assert "met    physics: wholly better in 4 of 8 (aim 3)" in said
    assert "MISSED physics: wholly worse than random points in 4 of 8 (aim 0): borehole @12" in said
    text = report(results)
    assert (
        "| default | 7 <= d <= 10 | 1200 | 0.5 | 0.5 | 800 | 50.0% | 100.0% | 50.0% | 0.25 | 3 |"
        in text
    )
    assert "| physics | default | 2.00 | 2.00 | 2.00 | 2.00 |" in text


def test_a_quick_run_of_ours_is_read_and_packed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store, archive = tmp_path / "runs.db", tmp_path / "runs.db.xz"
    line = ["--quick", "--tasks", "otl_circuit", "branin, noise 10 %", "--methods", "default"]
    line += ["random", "--store", str(store), "--archive", str(archive)]
    assert everyday.main(line) == 0
    first = capsys.readouterr().out
    assert "| otl_circuit | random | 1 |" in first
    assert everyday.main([*line, "--pack"]) == 0
    store.unlink()
    assert everyday.main([*line, "--report"]) == 0
    assert [
        one for one in capsys.readouterr().out.splitlines() if "@" in one or "| 1 |" in one
    ] == [one for one in first.splitlines() if "@" in one or "| 1 |" in one]
    runs = read_runs(store, "everyday quick")
    assert len(runs["otl_circuit", "default"][1].truth) == 12
    with closing(sqlite3.connect(store)) as connection:
        assert connection.execute("SELECT DISTINCT x FROM observations").fetchall() == [("[]",)]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--quick", "--tasks", "camelback, noise 10 %"], "say --pilots for a pilot"),
        (["--quick", "--variant", "ax", "initial = 5"], "a label of its own; got 'ax'"),
        (["--quick", "--variant", "mine", "initial 5"], "must be TOML; got 'initial 5'"),
    ],
)
def test_what_is_wrong_is_said(arguments: list[str], words: str, tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match=words):
        everyday.main([*arguments, "--report", "--store", str(tmp_path / "none.db")])


def test_variants_are_methods_of_ours() -> None:
    options: Any = everyday.parser().parse_args(
        ["--full", "--pilots", "--methods", "default", "--variant", "few", "initial = 5"]
    )
    methods = everyday.methods_of(options)
    assert methods == {"default": {}, "few": {"initial": 5}}
    (task,) = [replace(BY_LABEL["short_column"], evaluations=12)]
    plan = planned(text_of("some", [task], methods, [1]), "file.toml", "some")
    initial = [one.unit.method["options"]["initial"] for one in plan]
    assert initial[0] != initial[1]
