"""Several processes or threads at work on one run."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import nnbo_mip as nm
from nnbo_mip.loop.optimizer import BayesianOptimizer
from tests.loop.runs import BOX, QUICK, bowl, optimizer


def quick(f: Any, n_evals: int = 8, **options: Any) -> nm.OptimizeResult:
    return nm.optimize(f, BOX, n_evals, **{**QUICK, **options})


def test_a_journal_that_others_begin_has_the_past_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Whoever opens it finds the past in it, or no journal at all."""
    path = tmp_path / "run.db"
    past = {"x0": [99.5], "x1": [-2.0], "y": [1.0]}
    save = nm.BayesianOptimizer.save

    def after_somebody_else(self: nm.BayesianOptimizer, target: Path) -> None:
        monkeypatch.setattr(nm.BayesianOptimizer, "save", save)
        quick(bowl, n_evals=1, journal=path, past=past)
        save(self, target)

    monkeypatch.setattr(nm.BayesianOptimizer, "save", after_somebody_else)
    result = quick(bowl, n_evals=2, journal=path, past=past)
    assert [told.suggestion is None for told in result.history] == [True, False, False]


def test_what_others_tell_or_forget_of_a_point_does_not_end_a_run(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    heard: list[float] = []

    def meddled(x: Any) -> float:
        other = BayesianOptimizer.open(path, pending="keep")
        if len(other.history) % 2:
            other.forget(x)
        else:
            other.tell(x, 777.0)
        return bowl(x)

    run = optimizer(journal=path, steps=9)
    result = run.run(meddled, 2, callback=lambda told: heard.append(told.y))
    assert heard == [bowl(told.x) for told in result.history if told.y == bowl(told.x)]
    assert 777.0 in [told.y for told in result.history]
    assert len(heard) > 1


def test_a_suggestion_answers_itself_where_its_point_is_pending_twice(tmp_path: Path) -> None:
    space = nm.Space([nm.Integer("n", 0, 1)])
    run = optimizer(space, initial=2, steps=9)
    asked = run.ask(4)
    assert asked[2].x == asked[0].x or asked[2].x == asked[1].x
    run.tell(asked[2], 1.0)
    assert run.history[-1].suggestion is not None
    assert run.history[-1].suggestion.key == asked[2].key
    run.tell([asked[3], asked[0]], [2.0, 3.0])
    assert [told.suggestion and told.suggestion.number for told in run.history] == [2, 3, 0]


def test_ctrl_c_gives_back_only_what_was_asked_for_here(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    elsewhere = optimizer(journal=path, steps=9).ask()
    run = BayesianOptimizer.open(path, pending="keep")

    def interrupted(x: Any) -> float:
        raise KeyboardInterrupt

    assert "Ctrl-C" in run.run(interrupted, 3).message
    mine = next(one for one in run.pending if one.key != elsewhere.key)
    assert run.ask().key == mine.key
    assert run.ask().key not in (mine.key, elsewhere.key)


def test_several_may_work_on_one_run_without_repeating_each_other(tmp_path: Path) -> None:
    """Each evaluates what nobody else is at, and hears in its callback of its own points."""
    path, n, workers = tmp_path / "shared.sqlite", 14, 3
    everybody_is_at_work = threading.Barrier(workers, timeout=60.0)
    begun = quick(bowl, n_evals=1, journal=path, seed=3, steps=10)
    assert begun.nfev == 1

    def work(_: int) -> tuple[list[Any], list[Any], nm.OptimizeResult]:
        evaluated_here: list[Any] = []
        heard: list[Any] = []

        def slow(x: Any) -> float:
            if not evaluated_here:
                everybody_is_at_work.wait()
            evaluated_here.append(x.tolist())
            time.sleep(0.01)
            return bowl(x)

        result = quick(
            slow,
            n_evals=n,
            journal=path,
            pending="keep",
            seed=3,
            callback=lambda told: heard.append(told.x.tolist()),
        )
        return evaluated_here, heard, result

    with ThreadPoolExecutor(workers) as pool:
        done = list(pool.map(work, range(workers)))
    everything = [tuple(x) for here, _, _ in done for x in here]
    assert len(set(everything)) == len(everything)
    assert n - 1 <= len(everything) <= n - 1 + workers - 1
    assert all(here == heard for here, heard, _ in done)
    assert all(here for here, _, _ in done)
    assert all(result.nfev >= n and result.success for _, _, result in done)


def test_what_is_pending_is_evaluated_again_unless_it_is_left_to_others(tmp_path: Path) -> None:
    path = tmp_path / "run.sqlite"
    run = optimizer(journal=path, steps=4, seed=0)
    asked = run.ask()
    left = quick(bowl, n_evals=2, journal=path, pending="keep")
    assert asked.x.tolist() not in [told.x.tolist() for told in left.optimizer.history]
    again = quick(bowl, n_evals=3, journal=path)
    assert again.optimizer.history[-1].x.tolist() == asked.x.tolist()


def test_pending_needs_a_journal_and_a_known_word(tmp_path: Path) -> None:
    with pytest.raises(nm.InputError, match="pending says what becomes of points that a journal"):
        quick(bowl, pending="keep")
    with pytest.raises(nm.InputError, match="keep"):
        quick(bowl, pending="kept", journal=tmp_path / "run.sqlite")
