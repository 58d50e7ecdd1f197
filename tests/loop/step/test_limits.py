"""Limits of asks that follow the time of evaluations."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nnbo_mip as nm
from nnbo_mip.loop.optimizer import BayesianOptimizer
from nnbo_mip.loop.record.journal import Journal
from nnbo_mip.loop.record.state import State
from nnbo_mip.loop.step import step as module
from nnbo_mip.loop.step.limits import seconds_of_ask
from tests.loop.runs import BOX, QUICK, advance, bowl, optimizer


@pytest.mark.parametrize(
    ("given", "seconds", "limit"),
    [
        ("auto", [4.0, 8.0, 1e4], 2.0),
        ("auto", [0.01, 0.02], 0.5),
        ("auto", [3600.0], 10.0),
        ("auto", [], 10.0),
        (3.0, [3600.0], 3.0),
        (np.inf, [3600.0], np.inf),
    ],
)
def test_it_is_a_quarter_of_the_median_within_ends(
    given: float | str, seconds: list[float], limit: float
) -> None:
    assert seconds_of_ask(given, seconds) == limit


def test_evaluations_last_from_being_given_out_to_being_told(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    run = optimizer(journal=path)
    run.tell([99.5, -2.5], 1.0)  # nobody asked for it
    advance(run, 3)
    events, _ = Journal.open(path).read()
    kinds = [event.kind for event in events]
    assert kinds == ["tell", *["ask", "tell"] * 3]
    times = [0.0, 1.0, 3.0, 3.0, 8.0, 8.0, 7.0]  # a clock that was set back at the end
    timed = [replace(event, time=time) for event, time in zip(events, times, strict=True)]
    state = State(BOX).after(timed[:4]).after(timed[4:])
    assert state.evaluation_seconds == [2.0, 5.0, 0.0]


def test_asks_take_it_and_a_journal_keeps_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "run.db"
    before, limits = module.maximize, []

    def seen(*arguments: Any, **options: Any) -> Any:
        limits.append(options["time_limit"])
        return before(*arguments, **options)

    monkeypatch.setattr(module, "maximize", seen)
    nm.optimize(bowl, BOX, 5, **QUICK, time_limit="auto", journal=path)
    run = BayesianOptimizer.open(path)
    assert run.settings.time_limit == "auto"
    run.ask()
    assert len(limits) == 2
    assert all(0.1 <= limit <= 0.5 for limit in limits)  # evaluations take next to nothing
    assert BayesianOptimizer.open(path, time_limit=2.0).settings.time_limit == 2.0


def test_another_word_is_refused() -> None:
    with pytest.raises(nm.InputError, match="time_limit must be a number; got 'soon'"):
        optimizer(time_limit="soon")
