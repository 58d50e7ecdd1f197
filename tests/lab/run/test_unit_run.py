"""A unit, run in this process: the same starts for all, and the run that `optimize` makes."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nnbo_mip as nm
from nnbo_mip.core.errors import UnsupportedError
from nnbo_mip.lab.plan.experiment import planned
from nnbo_mip.lab.plan.plan import PlannedUnit
from nnbo_mip.lab.run.unit_run import run_unit
from tests.lab import hooks

METHODS = """
[methods]
surrogate = "brvfl:n_hidden=12"
acquisition = "ei"
maximizer = "random:evaluations=100"
"""


def units(text: str) -> list[PlannedUnit]:
    return list(planned(text, "file.toml", "name"))


def observed(unit: PlannedUnit) -> dict[str, Any]:
    result = run_unit(unit.unit)
    assert json.loads(json.dumps(result["observations"])) == result["observations"]
    return dict(result["observations"])


def test_a_unit_is_the_run_that_optimize_makes() -> None:
    text = f"problems = ['branin']\ninstances = [3]\nstarts = 4\nsteps = 3\n{METHODS}"
    result = run_unit(units(text)[0].unit)
    branin = nm.problems.create("branin")
    by_hand = nm.optimize(
        branin,
        branin.space,
        7,
        surrogate="brvfl:n_hidden=12",
        acquisition="ei",
        maximizer="random:evaluations=100",
        initial=4,
        seed=3,
    )
    assert np.allclose(result["observations"]["x"], by_hand.x_iters, rtol=1e-9, atol=0.0)
    assert np.allclose(result["observations"]["y"], by_hand.func_vals, rtol=1e-9, atol=0.0)
    assert result["observations"]["truth"] == result["observations"]["y"]
    assert [step["number"] for step in result["steps"]] == [4, 5, 6]
    assert [step["status"] for step in result["steps"]] == ["heuristic"] * 3
    assert all(step["ask_seconds"] > 0.0 for step in result["steps"])
    assert result["cpu_seconds"] > 0.0


def test_a_unit_run_again_is_the_same_to_the_last_bit() -> None:
    text = f"problems = ['forrester']\nstarts = 3\nsteps = 2\n{METHODS}"
    first, second = (run_unit(units(text)[0].unit) for _ in range(2))
    for name in ("x", "y", "truth"):
        assert first["observations"][name] == second["observations"][name]
    assert [step["value"] for step in first["steps"]] == [step["value"] for step in second["steps"]]


def test_methods_share_starts_and_their_noise_and_instances_do_not() -> None:
    text = (
        "problems = ['noisy:problem=branin,sd=2.0']\ninstances = 2\nstarts = 'lhs:n=3'\nsteps = 2\n"
        f"baselines = ['random', 'sobol']\n{METHODS}"
    )
    made = [observed(unit) for unit in units(text)]
    for here in (made[:3], made[3:]):
        for other in here[1:]:
            assert other["x"][:3] == here[0]["x"][:3]
            assert other["y"][:3] == here[0]["y"][:3]
            assert other["x"][3:] != here[0]["x"][3:]
    assert made[0]["x"][0] != made[3]["x"][0]
    branin = nm.problems.create("branin")
    for one in made:
        assert np.allclose(one["truth"], branin.truth(np.array(one["x"])))
        assert not np.any(np.isclose(one["truth"], one["y"]))
    # The noise is of the instance: the same point has another one elsewhere.
    own = units(
        text.replace("'lhs:n=3'", "[[1.0, 2.0]]").replace("['random', 'sobol']", "'random'")
    )
    values = {unit.unit.instance: observed(unit)["y"][0] for unit in own}
    assert values[0] != values[1]


def test_a_scaled_problem_is_maximized_and_its_regret_is_that_of_the_source() -> None:
    text = f"problems = ['forrester']\nstarts = 3\nsteps = 2\nscaled = true\n{METHODS}"
    one = observed(units(text)[0])
    plain = observed(units(text.replace("true", "false"))[0])
    scaled = nm.problems.create("forrester").scaled()
    assert one["x"][:3] == plain["x"][:3]
    assert np.allclose(one["y"], scaled.score_of(nm.problems.create("forrester").truth(one["x"])))
    assert max(one["y"]) <= 1.0
    # Maximizing the score chooses what minimizing the values does, as models are scale-free.
    assert np.allclose(one["x"], plain["x"], rtol=1e-6)


def test_baselines_repeat_nothing_unless_a_space_is_exhausted() -> None:
    text = "problems = ['branin']\nstarts = 4\nsteps = 60\nbaselines = ['random', 'sobol']\n"
    for unit in units(text):
        x = np.array(observed(unit)["x"])
        assert len(np.unique(x, axis=0)) == 64
        assert (x.min(axis=0) < [-2.0, 3.0]).all()
        assert (x.max(axis=0) > [7.0, 12.0]).all()


def test_few_points_are_evaluated_again(monkeypatch: pytest.MonkeyPatch) -> None:
    def few() -> nm.problems.Problem:
        space = nm.Space([nm.Integer("n", 3, 5)])
        return nm.problems.Problem("few", space, lambda X: X[:, 0], optimum=3.0)

    nm.problems.register("few")(few)
    try:
        text = "problems = ['few']\nstarts = 2\nsteps = 6\nbaselines = ['random']\n"
        x = observed(units(text)[0])["x"]
    finally:
        nm.problems.unregister("few")
    assert len(x) == 8
    assert {point["n"] for point in x} == {3, 4, 5}


def test_an_embedding_draws_starts_of_its_own() -> None:
    text = (
        "problems = ['embedded:problem=branin,dimension=20']\nstarts = 4\nsteps = 2\n"
        f"baselines = ['random']\n{METHODS}embedding = 'hashed:dimension=3'\n"
    )
    embedded, drawn = (run_unit(unit.unit) for unit in units(text))
    assert len(embedded["observations"]["y"]) == 6
    assert embedded["observations"]["x"][0] != drawn["observations"]["x"][0]
    assert [step["number"] for step in embedded["steps"]] == [4, 5]


def test_other_versions_and_changed_modules_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hooks.written(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    unit = units(hooks.experiment("['misbehaving']"))[0].unit
    try:
        assert len(run_unit(unit)["observations"]["y"]) == 2
        with pytest.raises(UnsupportedError, match=r"packages must be those .*numpy 0.1;"):
            run_unit(replace(unit, versions={**unit.versions, "numpy": "0.1"}))
        with pytest.raises(UnsupportedError, match=r"modules must be those .*lab_hooks abc;"):
            run_unit(replace(unit, imports={hooks.NAME: "abc"}))
    finally:
        nm.problems.unregister("misbehaving")
        del sys.modules[hooks.NAME]


def test_a_method_stops_by_its_rule_and_units_without_one_keep_their_keys() -> None:
    text = f"problems = ['branin']\nstarts = 4\nsteps = 5\n{METHODS}"
    without, budget = (units(text + stop)[0] for stop in ("", 'stop = "budget:evaluations=6"\n'))
    assert "stop" not in without.unit.method["options"]
    assert budget.unit.method["options"]["stop"] == {"name": "budget", "evaluations": 6}
    whole, short = (run_unit(unit.unit)["observations"] for unit in (without, budget))
    assert len(whole["y"]) == 9
    assert short["y"] == whole["y"][:6]
