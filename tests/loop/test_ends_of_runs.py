"""What ends a run before its evaluations are made, and what a result says of its calls."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nnbo_mip as nm
from nnbo_mip.core import live
from nnbo_mip.surrogates.rvfl.brvfl import Brvfl
from tests.loop.runs import BOX, QUICK, advance, bowl, optimizer


def quick(f: Any, space: object = BOX, n_evals: int = 8, **options: Any) -> nm.OptimizeResult:
    return nm.optimize(f, space, n_evals, **{**QUICK, **options})


def test_a_function_that_never_works_ends_without_success() -> None:
    with pytest.warns(nm.EvaluationWarning, match="NaN"):
        result = quick(lambda x: np.nan)
    assert not result.success
    assert result.nfev == 8
    assert result.x is None
    assert np.isnan(result.fun)
    assert "no evaluation has a value" in result.message


@pytest.mark.filterwarnings("ignore::nnbo_mip.EvaluationWarning")
@pytest.mark.parametrize("kept", [True, False])
def test_a_function_that_raises_the_same_at_all_initial_points_ends_the_run(
    kept: bool, tmp_path: Path
) -> None:
    """What was told is kept, and the run goes on once the function is mended."""
    path = tmp_path / "run.db"
    with pytest.raises(ZeroDivisionError) as raised:
        quick(lambda x: 1 / 0, n_evals=30, **({"journal": path} if kept else {}))
    assert "raised the same at all 4 initial points" in raised.value.__notes__[0]
    assert ("run.db" in raised.value.__notes__[0]) is kept
    if kept:
        assert [told.failed for told in nm.BayesianOptimizer.open(path).history] == [True] * 4
        assert quick(bowl, n_evals=9, journal=path).n_failed == 4


@pytest.mark.filterwarnings("ignore::nnbo_mip.EvaluationWarning")
def test_a_function_that_raises_something_else_each_time_is_asked_on() -> None:
    def raises(x: Any) -> float:
        raise ValueError(f"no value at {x[0]}")

    assert quick(raises, n_evals=8).n_failed == 8
    seen: list[Any] = []

    def works_once(x: Any) -> float:
        seen.append(x)
        return 1.0 if len(seen) == 2 else 1 / 0

    assert quick(works_once, n_evals=8).n_failed == 7


@pytest.mark.filterwarnings("ignore::nnbo_mip.core.errors.ModelWarning")
def test_a_finite_space_ends_a_run_when_all_its_points_are_known() -> None:
    space = nm.Space([nm.Integer("n", 0, 2), nm.Categorical("c", ["a", "b"])])
    seen: list[Any] = []

    def value(x: Any) -> float:
        seen.append(tuple(x.values()))
        return x["n"] + (x["c"] == "b")

    result = quick(value, space, n_evals=12)
    assert len(seen) == len(set(seen)) == result.nfev == 6
    assert result.success
    assert "all points of the space are known after 6 of 12 evaluations" in result.message
    assert "all points of the space are known" in str(result)
    rows = {"n": [0, 0, 1, 1, 2, 2], "c": ["a", "b"] * 3, "y": [1.0] * 6}
    assert quick(value, space, n_evals=12, past=rows).nfev == 0
    assert quick(value, space, n_evals=9, escape=None).nfev == 9
    # Initial points that are named twice are wanted twice.
    twice = [{"n": 0, "c": "a"}] * 8
    assert quick(value, space, n_evals=20, initial=twice).nfev == 13
    tight = nm.Space(
        [nm.Integer("a", 0, 4), nm.Integer("b", 0, 4)],
        [nm.LinearConstraint({"a": 1, "b": 1}, "<=", 2)],
    )
    assert quick(lambda x: x["a"], tight, n_evals=12).nfev == 6


def test_calls_and_seconds_are_those_of_this_call_and_of_all(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    first = quick(bowl, n_evals=5, journal=path)
    assert (first.nfev_here, first.nfev) == (5, 5)
    assert "now" not in str(first)
    second = quick(lambda x: (time.sleep(0.2), bowl(x))[1], n_evals=7, journal=path)
    assert (second.nfev_here, second.nfev) == (2, 7)
    assert second.seconds > 0.4
    assert second.seconds_all == pytest.approx(first.seconds + second.seconds, abs=0.3)
    assert "7 in" in str(second)
    assert f", 2 of them now in {second.seconds:.1f} s" in str(second)
    in_memory = optimizer()
    in_memory.run(bowl, 3)
    again = in_memory.run(bowl, 5)
    assert (again.nfev_here, again.seconds_all > again.seconds) == (2, True)


def test_a_fit_that_runs_is_shown(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """How long it has run by now, and how long the one before took."""
    fit = Brvfl.fit

    def slow(self: Any, *given: Any) -> Any:
        time.sleep(0.3)
        return fit(self, *given)

    monkeypatch.setattr(Brvfl, "fit", slow)
    monkeypatch.setattr(live, "PLAIN_INTERVAL", 0.05)
    quick(bowl, n_evals=6, progress=True)
    lines = [line for line in capsys.readouterr().err.splitlines() if "learns from" in line]
    assert any(line.startswith("4/6  brvfl learns from 4 values 0 s  best") for line in lines)
    assert any("5/6  brvfl learns from 5 values, the last time in 0.3 s" in one for one in lines)
    assert sum("learns from 4 values" in line for line in lines) >= 3
    run = optimizer()
    advance(run, 4)
    run.ask(progress=True)
    shown = capsys.readouterr().err.splitlines()
    assert sum("brvfl learns from 4 values" in line for line in shown) >= 3
