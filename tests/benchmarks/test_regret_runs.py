"""The store outlives kills, finished runs are not run again, and processes are watched."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.regret import __main__ as regret
from benchmarks.regret import drawn as regret_drawn
from benchmarks.regret import methods as regret_methods
from benchmarks.regret import runs as regret_runs
from benchmarks.regret import worker as regret_worker
from benchmarks.regret.plot import draw
from benchmarks.regret.problems import FUNCTIONS
from benchmarks.regret.results import Results
from benchmarks.regret.store import Run, Store, pack
from benchmarks.regret.unit import Task, Unit, task_of

UNIT = Unit(
    suite="functions",
    problem="branin",
    method="sobol",
    spec="branin",
    starts=4,
    evaluations=7,
    seed=0,
    time_limit=5.0,
    runner="benchmarks.regret.drawn",
    options={"kind": "sobol"},
    versions={"scipy": "1"},
)


class Odd:
    """A method that leaves the box, or sleeps."""

    def __init__(self, task: Task, what: str) -> None:
        self._x, self._what = task.X[0], what

    def ask(self) -> tuple[Any, dict[str, Any]]:
        """Return a point."""
        if self._what == "sleep":
            import time

            time.sleep(60.0)
        return self._x + (100.0 if self._what == "outside" else 0.0), {"gap": np.inf, "status": "a"}

    def tell(self, y: float) -> None:
        """Learn nothing."""


def begin(task: Task, what: str) -> Odd:
    """Start it: this file is the runner of odd units."""
    return Odd(task, what)


@pytest.mark.parametrize(
    "change",
    [
        {"seed": 1},
        {"options": {"kind": "uniform"}},
        {"versions": {"scipy": "2"}},
        {"time_limit": 6.0},
        {"evaluations": 8},
        {"method": "other"},
    ],
)
def test_runs_of_other_options_or_versions_have_another_key(change: dict[str, Any]) -> None:
    assert replace(UNIT, **change).key != UNIT.key
    assert replace(UNIT).key == UNIT.key


def test_a_run_comes_back_from_the_store(tmp_path: Path) -> None:
    store = Store(tmp_path / "runs.jsonl")
    assert store.read() == {}
    run = Run(UNIT, "finished", y=[0.1 + 0.2], x=[[1.0 / 3.0, 2.0]], steps=[{"gap": None}])
    store.add(run)
    found = store.read()[UNIT.key]
    assert (found.unit, found.y, found.x) == (UNIT, run.y, run.x)
    assert found.steps == [{"gap": None}]


def test_a_torn_line_is_dropped_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    store = Store(path)
    units = [replace(UNIT, seed=seed) for seed in range(3)]
    for unit in units[:2]:
        store.add(Run(unit, "finished", y=[1.0]))
    whole = path.read_bytes()
    path.write_bytes(whole[:-7])
    assert set(store.read()) == {units[0].key}
    store.add(Run(units[2], "finished", y=[1.0]))
    assert set(store.read()) == {units[0].key, units[2].key}
    store.add(Run(units[1], "finished", y=[1.0]))
    assert set(store.read()) == {unit.key for unit in units}


def test_the_last_of_several_runs_of_a_unit_counts(tmp_path: Path) -> None:
    store = Store(tmp_path / "runs.jsonl")
    store.add(Run(UNIT, "error", "no luck"))
    store.add(Run(UNIT, "finished", y=[1.0]))
    assert store.read()[UNIT.key].status == "finished"


def test_only_what_is_missing_is_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[int] = []

    def pretend(unit: Unit, *_: object) -> Run:
        ran.append(unit.seed)
        return Run(unit, "error" if len(ran) == 1 else "finished", y=[1.0])

    monkeypatch.setattr(regret_runs, "run_unit", pretend)
    store, said = Store(tmp_path / "runs.jsonl"), list[str]()
    units = [replace(UNIT, seed=seed) for seed in range(3)]
    first = regret_runs.run_missing(units[:2], store, say=said.append)
    assert [run.status for run in first.values()] == ["error", "finished"]
    again = regret_runs.run_missing(units, store, say=said.append)
    assert ran == [0, 1, 0, 2]  # the error once more, and the new one
    assert list(again) == [unit.key for unit in units]
    assert all(run.is_done for run in again.values())
    assert "3 runs, 1 of them in the store" in said


def test_a_process_returns_starts_and_steps() -> None:
    run = regret_runs.run_unit(UNIT)
    task = task_of(UNIT)
    assert run.status == "finished"
    assert run.x[:4] == task.X.tolist()
    assert run.y[:4] == task.y.tolist()
    points = regret_drawn.begin(task, "sobol")
    assert run.x[4:] == [pytest.approx(points.ask()[0].tolist()) for _ in range(3)]
    assert run.y == pytest.approx([task.problem(x) for x in run.x])
    assert [set(step) for step in run.steps] == [{"wall"}] * 3


def test_a_step_that_takes_too_long_ends_the_run_with_what_it_has() -> None:
    unit = replace(UNIT, runner=__name__, options={"what": "sleep"})
    run = regret_runs.run_unit(unit, patience=0.5)
    assert run.status == "time-out"
    assert run.is_done
    assert len(run.y) == 4
    assert run.steps == []


def test_a_method_that_fails_is_an_error_with_its_sentence() -> None:
    run = regret_runs.run_unit(replace(UNIT, runner="benchmarks.nobody"))
    assert run.status == "error"
    assert not run.is_done
    assert run.message == "ModuleNotFoundError: No module named 'benchmarks.nobody'"


def test_a_point_outside_the_box_is_refused() -> None:
    unit = replace(UNIT, runner=__name__, options={"what": "outside"})
    with pytest.raises(ValueError, match="must ask for points of the box"):
        regret_worker.run(unit, lambda event: None)


def test_what_is_not_finite_is_stored_as_none() -> None:
    events: list[Any] = []
    regret_worker.run(replace(UNIT, runner=__name__, options={"what": "start"}), events.append)
    assert [event["steps"][0]["gap"] for event in events[1:]] == [None] * 3
    json.dumps(events, allow_nan=False)


def test_ours_is_asked_for_the_shared_starts_first() -> None:
    events: list[Any] = []
    options = {"surrogate": "brvfl:n_hidden=10", "maximizer": "random:evaluations=64"}
    unit = replace(UNIT, runner="benchmarks.regret.ours", options=options)
    regret_worker.run(unit, events.append)
    steps = [step for event in events for step in event["steps"]]
    assert [step["status"] for step in steps] == ["heuristic"] * 3
    assert all(step["fit"] > 0.0 and step["inner"] > 0.0 for step in steps)
    assert all(step["wall"] >= step["fit"] + step["inner"] for step in steps)


def test_a_missing_package_is_named() -> None:
    method = regret_methods.peer("nobody_loop", "no-such-package")
    with pytest.raises(SystemExit, match=r"'nobody' needs the package no-such-package.*peers-bo"):
        regret_methods.versions_of("nobody", method)


def test_the_command_runs_prints_and_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def here(unit: Unit, *_: object) -> Run:
        facts: dict[str, list[Any]] = {"x": [], "y": [], "steps": []}
        regret_worker.run(unit, lambda event: [facts[name].extend(event[name]) for name in facts])
        return Run(unit, "finished", **facts)

    monkeypatch.setattr(regret_runs, "run_unit", here)
    arguments = ["--quick", "--problems", "branin", "--methods", "sobol", "random", "--seeds", "1"]
    arguments += ["--store", str(tmp_path / "runs.jsonl")]
    assert regret.main([*arguments, "--jobs", "2"]) == 0
    first = capsys.readouterr()
    assert "2 runs, 0 of them in the store" in first.err
    assert "| branin | sobol |" in first.out
    assert regret.main([*arguments, "--report"]) == 0
    assert capsys.readouterr().out == first.out


def test_the_suite_of_published_figures_runs_peers_only_if_they_are_named() -> None:
    def chosen(*words: str) -> list[str]:
        return regret.methods_of(regret.parser().parse_args(["--full", *words]))

    assert chosen() == list(regret_methods.METHODS)
    assert set(chosen()) - set(chosen("--suite", "ax")) == set(regret_methods.PEERS)
    assert chosen("--suite", "ax", "--methods", "smac") == ["smac"]


def test_an_unknown_function_is_named() -> None:
    with pytest.raises(SystemExit, match=r"the suite 'functions' has branin.*got 'sphere'"):
        regret.main(["--quick", "--problems", "sphere", "--methods", "sobol"])


def test_a_plot_shows_what_has_runs(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    case = replace(FUNCTIONS[0], starts=4, evaluations=7)
    runs = [
        Run(replace(UNIT, seed=seed), "finished", y=[9.0 - k for k in range(7)]) for seed in (0, 1)
    ]
    results = Results([case], ["sobol"], runs)
    draw(results, tmp_path / "out.png", ["sobol", "botorch"])
    assert (tmp_path / "out.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(SystemExit, match="the store has none of random"):
        draw(results, tmp_path / "none.png", ["random"])


def test_an_archive_keeps_values_and_steps_and_no_points(tmp_path: Path) -> None:
    store = Store(tmp_path / "runs.jsonl", tmp_path / "kept.xz")
    step = {"wall": 1.234567, "gap": None, "status": "optimal", "value": 3.0, "message": ""}
    run = Run(UNIT, "finished", y=[1.0 / 3.0], x=[[0.5, 0.5]], steps=[step], code="abc")
    broken = Run(replace(UNIT, seed=1), "error", "no")
    store.add(run)
    store.add(broken)
    pack(store.read().values(), tmp_path / "kept.xz")
    kept = Store(tmp_path / "none.jsonl", tmp_path / "kept.xz").read()
    assert list(kept) == [UNIT.key]  # errors are run again
    assert kept[UNIT.key].y == run.y
    assert kept[UNIT.key].x == []
    shown = {"wall": 1.235, "gap": None, "status": "optimal", "message": ""}
    assert kept[UNIT.key].steps == [shown]
    said: list[str] = []
    found = regret_runs.run_missing(
        [UNIT], Store(tmp_path / "n", tmp_path / "kept.xz"), say=said.append
    )
    assert found[UNIT.key].code == "abc"
    assert said == ["1 runs, 1 of them in the store"]
