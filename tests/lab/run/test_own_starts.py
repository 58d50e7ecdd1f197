"""Methods that begin by their own starts, what they report, and noise that they are told."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

import nnbo_mip as nm
from nnbo_mip.lab.plan.experiment import planned
from nnbo_mip.lab.plan.plan import PlannedUnit
from nnbo_mip.lab.plan.unit import Unit
from nnbo_mip.lab.run import unit_run
from nnbo_mip.lab.run.unit_run import run_unit
from tests.lab import outside

METHODS = """
[methods]
surrogate = "brvfl:n_hidden=12"
acquisition = "ei"
maximizer = "random:evaluations=100"
"""

RANDOM = "baselines = ['random']\n"


def units(text: str) -> list[PlannedUnit]:
    return list(planned(text, "file.toml", "name"))


@pytest.mark.parametrize("own", ["", "initial = 4\n"])
def test_without_starts_a_unit_is_the_run_that_optimize_makes(own: str) -> None:
    text = f"problems = ['branin']\ninstances = [3]\nstarts = 0\nsteps = 15\n{METHODS}{own}"
    (unit,) = units(text)
    result = run_unit(unit.unit)
    branin = nm.problems.create("branin")
    options: dict[str, Any] = {"initial": 4} if own else {}
    by_hand = nm.optimize(
        branin,
        branin.space,
        15,
        surrogate="brvfl:n_hidden=12",
        acquisition="ei",
        maximizer="random:evaluations=100",
        seed=3,
        **options,
    )
    assert np.array_equal(result["observations"]["x"], by_hand.x_iters)
    assert unit.unit.method["options"]["steps"] == len(by_hand.steps)
    statuses = [step["status"] for step in result["steps"]]
    initial = 15 - len(by_hand.steps)
    assert statuses == ["initial"] * initial + ["heuristic"] * len(by_hand.steps)
    assert all(step["cpu_seconds"] >= 0.0 for step in result["steps"])
    assert (unit.unit.n_starts, unit.unit.starts) == (0, {})


def test_baselines_and_embeddings_begin_by_their_own_too() -> None:
    text = (
        "problems = ['embedded:problem=branin,dimension=20']\nstarts = 0\nsteps = 12\n"
        f"baselines = ['random', 'sobol']\n{METHODS}embedding = 'hashed:dimension=3'\ninitial = 4\n"
    )
    embedded, *drawn = (run_unit(unit.unit) for unit in units(text))
    assert len(embedded["observations"]["y"]) == 12
    for one in drawn:
        assert len(np.unique(one["observations"]["x"], axis=0)) == 12
        assert one["steps"] == []


def test_units_that_were_planned_before_keep_their_keys() -> None:
    one = Unit("branin", False, {"name": "sobol"}, 2, 3, 0, {"design": {"name": "uniform"}})
    assert "reports" not in one.to_text()
    more = Unit(**{**vars(one), "reports": (5,), "told": True, "clock": "cpu"})
    assert more.key != one.key
    assert Unit.from_text(more.to_text()).to_text() == more.to_text()
    assert Unit.from_text(one.to_text()) == one


def test_an_instance_has_its_own_optimum() -> None:
    spec = "bbob:function=1,dimension=2,instance={instance}"
    text = (
        f"problems = ['{spec}']\ninstances = [1, 2]\nstarts = 2\nsteps = 1\nbaselines = 'random'\n"
    )
    optima = [unit.optimum for unit in units(text)]
    expected = [nm.problems.create(spec.replace("{instance}", str(i))).optimum for i in (1, 2)]
    assert optima == expected
    assert optima[0] != optima[1]


def test_a_method_is_asked_for_its_point_after_the_evaluations_that_are_named(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = outside.SOURCE.replace(
        "    def tell(self",
        "    def report(self):\n        return self.told[0][0]\n\n    def tell(self",
    )
    (tmp_path / "lab_reporting.py").write_text(source)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    text = (
        "problems = ['noisy:problem=branin,sd=20.0']\nstarts = 2\nsteps = 4\nreports = [3, 6, 99]\n"
        "baselines = ['random']\n[[methods]]\nentry = 'lab_reporting:drawing'\n"
    )
    mine, drawn = (run_unit(unit.unit)["observations"] for unit in units(text))
    assert [place for place, one in enumerate(mine["reported"]) if one is not None] == [2, 5]
    assert mine["reported"][5] == mine["truth"][0]
    for count in (3, 6):  # of others it is the point with the best value, which is a lucky one
        assert drawn["reported"][count - 1] == drawn["truth"][int(np.argmin(drawn["y"][:count]))]


def test_ours_reports_what_optimize_returns() -> None:
    text = (
        "problems = ['noisy:problem=branin,sd=20.0']\nstarts = 0\nsteps = 14\nreports = [14]\n"
        f"told = true\n{METHODS}"
    )
    observed = run_unit(units(text)[0].unit)["observations"]
    bo = nm.BayesianOptimizer(nm.problems.create("branin").space, "brvfl:n_hidden=12", "ei")
    for x, y in zip(observed["x"], observed["y"], strict=True):
        bo.tell(np.array(x), y, noise=20.0)
    best = bo.run(lambda x: 0.0, 14).x
    assert observed["reported"][-1] == pytest.approx(nm.problems.create("branin").truth(best)[0])


def test_methods_are_told_the_noise_where_the_file_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    def recorded(unit: Unit, task: Any) -> Any:
        seen.append(task.noise)
        return begun(unit, task)

    begun = unit_run.begun
    monkeypatch.setattr(unit_run, "begun", recorded)
    text = (
        "problems = [{ spec = 'noisy:problem=branin,sd=2.0', label = 'a', told = true },\n"
        "'noisy:problem=branin,sd=2.0']\nstarts = 2\nsteps = 1\nbaselines = 'random'\n"
    )
    for unit in units(text):
        run_unit(unit.unit)
    assert seen == [2.0, None]


def test_a_point_that_is_repeated_has_new_noise_and_a_run_again_the_same() -> None:
    def three() -> nm.problems.Problem:
        space = nm.Space([nm.Integer("n", 3, 5)])
        return nm.problems.Problem("three", space, lambda X: X[:, 0], optimum=3.0)

    nm.problems.register("three")(three)
    try:
        text = (
            "problems = ['noisy:problem=three,sd=1.0']\nstarts = 0\nsteps = 9\n"
            "baselines = 'random'\n"
        )
        first, again = (run_unit(units(text)[0].unit)["observations"] for _ in range(2))
    finally:
        nm.problems.unregister("three")
    assert len({point["n"] for point in first["x"]}) == 3
    assert len(set(first["y"])) == 9
    assert first["y"] == again["y"]


def test_limits_are_kept_by_the_clock_of_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    text = f"problems = ['branin']\nstarts = 4\nsteps = 2\nclock = 'cpu'\n{METHODS}"
    (unit,) = units(text)
    stopped = {"wall": time.perf_counter, "cpu": lambda: 0.0}
    monkeypatch.setattr(unit_run, "CLOCKS", stopped)
    for step in run_unit(unit.unit)["steps"]:
        assert (step["seconds"], step["fit_seconds"]) == (0.0, 0.0)
        assert step["ask_seconds"] > 0.0
