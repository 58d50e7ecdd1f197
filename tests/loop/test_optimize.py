"""One call minimizes; whatever the function does, what was told is kept."""

from __future__ import annotations

import inspect
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nnbo_mip as nm
from nnbo_mip.loop.display import Display
from nnbo_mip.loop.evaluation import evaluated
from nnbo_mip.loop.record import journal as journal_module
from nnbo_mip.loop.settings.settings import Settings
from tests.loop.runs import BOX, QUICK, advance, bowl, figures, optimizer, same


def quick(f: Any, space: object = BOX, n_evals: int = 8, **options: Any) -> nm.OptimizeResult:
    return nm.optimize(f, space, n_evals, **{**QUICK, **options})


def test_the_result_has_the_names_of_scipy() -> None:
    result = quick(bowl, maximizer="bab", n_evals=9)
    assert result.fun == bowl(result.x) == min(result.func_vals)
    assert (result.nfev, result.success, result.message) == (9, True, "9 evaluations.")
    assert result["fun"] == result.fun
    assert {"x", "fun", "nfev", "success", "message", "x_iters", "func_vals"} <= set(result.keys())
    assert len(result.x_iters) == len(result.func_vals) == 9
    assert [step.status for step in result.steps] == ["optimal"] * 5
    assert all(step.certificate is not None for step in result.steps)
    assert "5 of 5 choices of a model are certified" in str(result)
    with pytest.raises(KeyError):
        result["grad"]


def test_it_finds_the_minimum_of_a_bowl() -> None:
    result = quick(bowl, maximizer="lbfgs:weak", surrogate="gp", n_evals=16)
    assert result.fun < 0.502
    assert np.abs(result.x - [99.5, -1.5]).max() < 0.05


def test_maximize_finds_the_largest_value() -> None:
    result = quick(lambda x: -bowl(x), direction="maximize")
    assert result.fun == max(result.func_vals)
    assert str(result).startswith("maximum")
    assert same(result.x, quick(bowl).x)


def test_the_function_gets_its_own_copy_in_the_form_of_the_space() -> None:
    seen: list[Any] = []

    def spoils(x: Any) -> float:
        seen.append(type(x))
        x.clear() if isinstance(x, dict) else x.fill(7.0)
        return 1.0

    space = nm.Space([nm.Real("r", 1.0, 2.0), nm.Categorical("c", ["a", "b"])])
    assert set(quick(spoils, space).x) == {"r", "c"}
    assert quick(spoils).x[0] >= 99.0
    assert set(seen) == {dict, np.ndarray}


@pytest.mark.parametrize(
    ("returned", "reason"),
    [
        (None, "forget to return"),
        (np.array([1.0, 2.0]), "array of shape"),
        (1j, "complex"),
        ("0.5", "of type str"),
        (float("nan"), "NaN"),
        (float("-inf"), "infinite"),
        (True, "bool"),
    ],
)
def test_what_is_no_value_is_a_failed_evaluation(returned: Any, reason: str) -> None:
    values = iter([1.0, returned, 3.0, 2.0, 2.5, 1.5])
    with pytest.warns(nm.EvaluationWarning, match=reason):
        result = quick(lambda x: next(values), n_evals=6)
    assert result.success
    assert (result.nfev, result.n_failed, result.fun) == (6, 1, 1.0)
    assert reason in result.history[1].reason
    assert np.isnan(result.func_vals[1])
    assert "1 failed, the last one" in result.message


@pytest.mark.parametrize("returned", [np.array([0.5]), np.float32(0.5), np.array(0.5)])
def test_one_number_in_an_array_is_a_value(returned: Any) -> None:
    assert quick(lambda x: returned, n_evals=2).fun == 0.5


def test_exceptions_are_failures_and_are_warned_of_once() -> None:
    def sometimes(x: Any) -> float:
        if x[0] > 100.0:
            raise TimeoutError("the solver hung for 60 s\nand more")
        return bowl(x)

    with pytest.warns(nm.EvaluationWarning) as warned:
        result = quick(sometimes, n_evals=12)
    assert len(warned) == 1
    assert result.nfev == 12
    assert result.n_failed >= 1
    assert "TimeoutError: the solver hung for 60 s" in result.message
    assert "and more" not in result.message


def test_exceptions_are_raised_after_they_were_told_if_that_is_asked(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    values = iter([1.0, 2.0])

    def ends(x: Any) -> float:
        return next(values)

    with pytest.raises(StopIteration):
        quick(ends, journal=path, on_error="raise")
    run = nm.BayesianOptimizer.open(path)
    assert [told.y for told in run.history] == [1.0, 2.0, None]
    assert run.history[2].reason == "StopIteration"


@pytest.mark.parametrize("n_evals", [0, -3, 2.5, "8", None])
def test_no_evaluations_are_refused(n_evals: Any) -> None:
    with pytest.raises(nm.InputError, match="n_evals must be an integer >= 1"):
        quick(bowl, n_evals=n_evals)


def test_wrong_arguments_are_refused() -> None:
    with pytest.raises(nm.InputError, match="f must be callable"):
        quick(3.0)
    for callback in ("print", False, 0):
        with pytest.raises(nm.InputError, match="callback must be callable"):
            quick(bowl, callback=callback)
    with pytest.raises(nm.InputError, match="continue, raise"):
        quick(bowl, on_error="ignore")


def test_fewer_evaluations_than_initial_points() -> None:
    result = quick(bowl, n_evals=1)
    assert (result.nfev, result.success) == (1, True)
    assert result.steps == ()


def test_the_callback_sees_everything_and_may_end_the_run() -> None:
    seen: list[nm.Observation] = []

    def third(observation: nm.Observation) -> bool:
        seen.append(observation)
        return len(seen) == 3

    result = quick(bowl, callback=third)
    assert [one.number for one in seen] == [0, 1, 2]
    assert not result.success
    assert result.message == "stopped by the callback after 3 of 8 evaluations."

    def stops(observation: nm.Observation) -> None:
        raise StopIteration

    assert quick(bowl, callback=stops).nfev == 1


def test_a_callback_that_raises_loses_nothing(tmp_path: Path) -> None:
    def breaks(observation: nm.Observation) -> None:
        raise KeyError("plot")

    with pytest.raises(KeyError):
        quick(bowl, journal=tmp_path / "run.db", callback=breaks)
    assert len(nm.BayesianOptimizer.open(tmp_path / "run.db").history) == 1


def test_a_run_in_a_journal_is_continued_as_if_it_had_never_ended(tmp_path: Path) -> None:
    whole = quick(bowl, n_evals=10)
    path = tmp_path / "run.db"
    calls: list[int] = []

    def breaks(x: Any) -> float:
        calls.append(1)
        if len(calls) == 7:
            raise SystemExit
        return bowl(x)

    with pytest.raises(SystemExit):
        quick(breaks, n_evals=10, journal=path)
    assert len(nm.BayesianOptimizer.open(path).pending) == 1
    result = quick(bowl, n_evals=10, journal=path)
    assert result.func_vals.tolist() == whole.func_vals.tolist()
    assert quick(lambda x: 1 / 0, n_evals=10, journal=path).nfev == 10  # nothing is left to do
    with pytest.raises(nm.InputError, match="other settings: direction is 'minimize'"):
        quick(bowl, n_evals=12, journal=path, direction="maximize")
    with pytest.raises(nm.InputError, match="other settings: space"):
        quick(bowl, [(0.0, 1.0)], n_evals=12, journal=path)


def test_an_abandoned_point_is_evaluated_first_when_a_run_goes_on() -> None:
    run = optimizer()
    calls: list[Any] = []

    def interrupted(x: Any) -> float:
        calls.append(x)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return bowl(x)

    result = run.run(interrupted, 6)
    assert result.message == "stopped by Ctrl-C after 2 of 6 evaluations."
    assert not result.success
    result = run.run(interrupted, 6)
    assert result.nfev == 6
    assert same(calls[2], calls[3])
    assert run.pending == ()


def test_ctrl_c_while_a_model_is_asked_ends_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    run = optimizer(maximizer="bab", surrogate="brvfl:n_hidden=200", time_limit=600.0, gap=0.0)
    before = type(run._asking).next

    def pressed(self: Any, state: Any, callback: Any = None) -> Any:
        if len(state.observations) == 4:
            signal.raise_signal(signal.SIGINT)
        return before(self, state, callback)

    monkeypatch.setattr(type(run._asking), "next", pressed)
    handler = signal.getsignal(signal.SIGINT)
    started = time.process_time()
    result = run.run(bowl, 8)
    assert time.process_time() - started < 30.0
    assert result.nfev == 4
    assert "Ctrl-C" in result.message
    assert signal.getsignal(signal.SIGINT) is handler


def test_past_observations_are_learned_from_and_not_counted(tmp_path: Path) -> None:
    X = BOX.sample(12, 0)
    past = (X, [bowl(x) for x in X])
    path = tmp_path / "run.db"
    result = quick(bowl, n_evals=3, past=past, journal=path)
    assert (result.nfev, len(result.history)) == (3, 15)
    assert len(result.steps) == 3
    again = quick(bowl, n_evals=4, past=past, journal=path)
    assert (again.nfev, len(again.history)) == (4, 16)


def test_columns_of_the_past_are_named_as_for_tell_table(tmp_path: Path) -> None:
    X = BOX.sample(5, 0)
    inside = [bowl(x) for x in X]
    past = {
        "x0": [*X[:, 0], 7.0],
        "x1": [*X[:, 1], 7.0],
        "loss": [*inside, 1.0],
        "sd": [0.1, *[None] * 4, 0.2],
    }
    path = tmp_path / "run.db"
    with pytest.raises(nm.InputError, match=r"must have a column 'y'; got x0, x1, loss, sd"):
        quick(bowl, past=past, journal=path)
    with pytest.raises(nm.InputError, match=r"row 5: 'x0' must lie in"):
        quick(bowl, past=past, value="loss", journal=path)
    assert not path.exists()  # nothing has begun
    for n_evals in (2, 3):
        result = quick(
            bowl, n_evals=n_evals, past=past, value="loss", noise="sd", outside="drop", journal=path
        )
        assert [told.y for told in result.history[:5]] == inside
        assert [told.noise for told in result.history[:5]] == [0.1, None, None, None, None]
        assert (result.nfev, len(result.history)) == (n_evals, 5 + n_evals)


@pytest.mark.parametrize("named", [{"value": "loss"}, {"noise": "sd"}, {"outside": "drop"}])
def test_names_of_columns_need_a_past(named: dict[str, Any]) -> None:
    with pytest.raises(nm.InputError, match=r"say how past is read; .* and no past"):
        quick(bowl, **named)


@pytest.mark.parametrize(
    ("initial", "told", "steps"),
    [(4, 0, 2), (4, 3, 5), (4, 9, 6), ([[100.0, -2.0], [99.5, -1.0]], 9, 4)],
)
def test_steps_are_the_choices_of_models(initial: Any, told: int, steps: int) -> None:
    X = BOX.sample(told + 1, 0)
    past = (X, [*(bowl(x) for x in X[1:]), np.nan])  # a failure takes no initial point's place
    result = quick(bowl, n_evals=6, initial=initial, past=past)
    assert result.optimizer.settings.steps == steps == len(result.steps)


def test_a_full_disk_does_not_end_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "run.db"
    before, full = journal_module.Journal.append, [False]

    def append(self: Any, *arguments: Any, **options: Any) -> Any:
        if full[0]:
            raise nm.JournalError("database or disk is full")
        return before(self, *arguments, **options)

    def fills(x: Any) -> float:
        full[0] = True
        return bowl(x)

    monkeypatch.setattr(journal_module.Journal, "append", append)
    with pytest.warns(nm.JournalWarning):
        result = quick(fills, n_evals=6, journal=path)
    assert result.nfev == 6
    assert "11 events are not in the journal" in result.message
    full[0] = False
    result.optimizer.flush()
    assert [told.y for told in nm.BayesianOptimizer.open(path).history] == [
        told.y for told in result.history
    ]


def test_progress_is_shown_on_standard_error_alone() -> None:
    script = """
import nnbo_mip as nm
nm.optimize(lambda x: x[0] ** 2, [(-1.0, 2.0)], 3, surrogate="brvfl", initial=3, progress=True)
"""
    root = Path(__file__).parents[2]
    run = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, cwd=root, check=True
    )
    assert run.stdout == ""
    assert "0/3  asking" in run.stderr


def test_the_display_counts_and_estimates() -> None:
    run = optimizer()
    shown = Display(2, 10, float("nan"))
    assert "2/10  starting" in shown.line()
    assert "best" not in shown.line()
    suggestion = run.ask()
    run.tell(suggestion, 0.25)
    shown.told(run.history[0], 3, 0.25)
    shown.phase("asking")
    line = shown.line()
    assert line.startswith("3/10  asking 0 s  best 0.25  last 0.25  ")
    assert line.endswith("s left")


def test_nothing_is_shown_unless_asked_where_there_is_no_terminal(
    capsys: pytest.CaptureFixture[str],
) -> None:
    quick(bowl, n_evals=2)
    assert capsys.readouterr() == ("", "")


def test_calls_are_told_apart_from_their_arguments() -> None:
    outcome = evaluated(lambda x: x["a"], {"a": 1.5})
    assert (outcome.y, outcome.reason, outcome.error) == (1.5, "", None)
    outcome = evaluated(lambda x: [][0], {"a": 1.5})
    assert outcome.y is None
    assert isinstance(outcome.error, IndexError)
    assert len(evaluated(lambda x: "y" * 10_000, {"a": 1}).reason) <= 300


def test_the_default_families_give_a_certificate_per_step() -> None:
    run = nm.BayesianOptimizer(BOX, "nomu:epochs=20,hidden=(6,)", initial=3)
    asked = advance(run, 4)[-1]
    assert (asked.head, asked.status) == ("ucb", "optimal")
    assert asked.check().confirmed
    result = nm.optimize(bowl, BOX, 4, initial=3, surrogate="nomu:epochs=20,hidden=(6,)")
    assert same(result.steps[0].x, asked.x)
    assert figures(result.steps[0]) == figures(asked)


def test_what_differs_is_named_alone(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    quick(bowl, n_evals=2, journal=path)
    differing = r"settings: options\['batch'\]\['name'\] is 'believer', got 'none'; only"
    with pytest.raises(nm.InputError, match=differing):
        quick(bowl, n_evals=2, journal=path, batch="none")
    with pytest.raises(nm.InputError, match=r"options\['surrogate'\]\['n_hidden'\] is 12, got 13"):
        quick(bowl, n_evals=2, journal=path, surrogate="brvfl:n_hidden=13")


def test_misspelt_options_and_functions_that_are_none_are_refused(tmp_path: Path) -> None:
    with pytest.raises(nm.InputError, match=r"options of optimize are .*did you mean 'surrogate'"):
        nm.optimize(bowl, BOX, 3, surogate="gp")
    with pytest.raises(nm.InputError, match="f must be callable; got None"):
        quick(None, n_evals=2)
    with pytest.raises(nm.InputError, match="progress must be True or False"):
        quick(bowl, n_evals=2, progress="yes")


def test_any_true_of_a_callback_ends_a_run() -> None:
    assert quick(bowl, n_evals=9, callback=lambda told: np.bool_(told.y is not None)).nfev == 1
    assert quick(bowl, n_evals=3, callback=lambda told: told).nfev == 3


def test_a_past_that_cannot_be_written_is_said_before_anything_is_evaluated(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    X = BOX.sample(5, 0)
    past = {"x0": X[:, 0], "x1": X[:, 1], "y": [bowl(x) for x in X]}
    path, evaluated_here = tmp_path / "run.db", []

    def on_a_full_disk(*_: object) -> None:
        raise nm.JournalError("the disk is full; make room.")

    with monkeypatch.context() as broken:
        broken.setattr(journal_module, "_insert", on_a_full_disk)
        with pytest.raises(nm.JournalError, match="the disk is full"):
            quick(lambda x: evaluated_here.append(x), n_evals=1, journal=path, past=past)
    assert not evaluated_here
    result = quick(bowl, n_evals=1, journal=path, past=past)
    assert (result.nfev, len(result.history)) == (1, 6)


def test_settings_are_planned_with_the_defaults_of_an_optimizer_and_without_a_fit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ours, theirs = (
        {name: one.default for name, one in inspect.signature(made).parameters.items()}
        for made in (Settings.planned, nm.BayesianOptimizer)
    )
    theirs.pop("journal")
    assert ours == theirs
    whole = nm.BayesianOptimizer([(0.0, 1.0)], "brvfl").settings
    monkeypatch.setattr(type(whole.surrogate), "fit", None)
    assert Settings.planned([(0.0, 1.0)], "brvfl").to_dict() == whole.to_dict()
