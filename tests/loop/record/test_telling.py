"""What is told is kept: in every form, by anybody, and when the disk is full."""

from __future__ import annotations

import math
import sqlite3
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nnbo_mip as nm
from nnbo_mip.loop.optimizer import BayesianOptimizer
from nnbo_mip.loop.record import journal as journal_module
from nnbo_mip.space import Categorical, Integer, Real, Space
from tests.loop.runs import advance, bowl, optimizer

NAMED = Space([Real("r", 0.1, 0.7), Integer("n", 2, 9), Categorical("c", [True, 1.5, "text"])])


def test_a_value_answers_its_ask_by_point_by_copy_or_by_suggestion() -> None:
    run = optimizer(initial=6)
    batch = run.ask(6)
    run.tell(batch[0], 1.0)
    run.tell(batch[1].x.tolist(), 2.0)
    run.tell(batch[2].x.astype(np.float32), 3.0)
    run.tell([round(c, 5) for c in batch[3].x], 4.0)
    assert [one.number for one in run.pending] == [4, 5]
    assert [told.suggestion and told.suggestion.number for told in run.history] == [0, 1, 2, 3]
    run.tell([100.0, -2.0], 5.0)  # never asked
    assert run.history[-1].suggestion is None
    assert [one.number for one in run.pending] == [4, 5]


def test_two_rows_of_a_table_answer_one_pending_point_once() -> None:
    """The second is an observation that was never asked for."""
    run = optimizer(initial=3)
    asked = run.ask(3)
    twice = np.array([asked[1].x, asked[1].x, asked[0].x])
    assert run.tell_table((twice, [1.0, 2.0, math.nan])) == 3
    numbers = [one.suggestion and one.suggestion.number for one in run.history]
    assert numbers == [1, None, 0]
    assert [one.failed for one in run.history] == [False, False, True]
    assert [one.number for one in run.pending] == [2]
    assert run.tell_table((np.empty((0, 2)), [])) == 0


def test_neighbours_on_a_fine_grid_are_not_taken_for_each_other() -> None:
    run = optimizer(Space([Integer("n", 0, 10**7)]), initial=[{"n": 5000}])
    run.ask()
    run.tell({"n": 5001}, 1.0)
    assert [one.x for one in run.pending] == [{"n": 5000}]
    run.tell({"n": 5000.0}, 1.0)
    assert run.pending == ()


def test_of_two_pending_points_the_nearer_one_is_answered() -> None:
    run = optimizer(initial=[[100.0, -2.0], [100.0 + 4e-6, -2.0]])
    run.ask(2)
    run.tell([100.0 + 3e-6, -2.0], 1.0)
    assert [one.number for one in run.pending] == [0]


def test_named_points_are_told_as_dicts_and_come_back_as_they_are() -> None:
    run = optimizer(NAMED)
    x = {"r": 0.3, "n": np.int64(4), "c": "text"}
    run.tell(x, np.float32(0.5))
    assert run.history[0].x == {"r": 0.3, "n": 4, "c": "text"}
    assert type(run.history[0].x["n"]) is int
    run.tell([{"r": 0.3, "n": 4, "c": True}, {"r": np.float32(0.7), "n": 9.0, "c": 1.5}], [1, 2])
    assert run.history[1].x["c"] is True
    assert run.history[2].x == {"r": float(np.float32(0.7)), "n": 9, "c": 1.5}
    assert [told.y for told in run.history] == [0.5, 1.0, 2.0]


def test_repeated_points_are_observations_of_their_own() -> None:
    run = optimizer()
    for y in (1.0, 3.0, 1.0):
        run.tell([100.0, -2.0], y, noise=0.25)
    assert [told.y for told in run.history] == [1.0, 3.0, 1.0]
    assert [told.noise for told in run.history] == [0.25] * 3
    advance(run, 6)
    assert run.history[8].number == 8


@pytest.mark.parametrize("surrogate", ["gp", "brvfl:n_hidden=12"])
def test_surrogates_bear_repeated_points(surrogate: str) -> None:
    run = optimizer(surrogate=surrogate, initial=1)
    for y in (1.0, 1.0, 1.5):
        run.tell([100.0, -2.0], y)
    run.tell([100.5, -1.5], 0.3)
    assert np.isfinite(run.ask().x).all()


@pytest.mark.parametrize(
    ("y", "reason"), [(math.nan, "NaN"), (math.inf, "infinite"), (-math.inf, "infinite")]
)
def test_what_is_not_finite_has_failed(y: float, reason: str) -> None:
    run = optimizer()
    run.tell([100.0, -2.0], y)
    told = run.history[0]
    assert (told.failed, told.y) == (True, None)
    assert reason in told.reason
    assert run.best is None


def test_failures_may_have_a_reason_and_do_not_become_the_best() -> None:
    run = optimizer(direction="maximize")
    run.tell([100.0, -2.0], 3.0)
    run.tell([100.0, -1.0], failed=True, reason="the pump stopped")
    run.tell([[99.0, -1.0], [99.0, -2.0]], [9.0, None], failed=[False, True], noise=[0.5, None])
    assert [told.failed for told in run.history] == [False, True, False, True]
    assert run.history[1].reason == "the pump stopped"
    assert run.best is not None
    assert (run.best.number, run.best.y) == (2, 9.0)


def test_the_first_of_equal_values_is_the_best() -> None:
    run = optimizer()
    run.tell([[99.0, -1.0], [99.0, -2.0], [100.0, -2.0]], [2.0, 1.0, 1.0])
    assert run.best is not None
    assert run.best.number == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (([100.0, -2.0],), "needs a value or failed=True"),
        (([100.0, 0.0], 1.0), "must lie in"),
        (([100.0], 1.0), "shape"),
        (([100.0, math.nan], 1.0), "must lie in|finite"),
        (("abc", 1.0), "real numbers"),
        ((None, 1.0), "real numbers|shape"),
        (([[1.0], [1.0, 2.0]], 1.0), "same length"),
        (([100.0, -2.0], "3"), "one real number"),
        (([100.0, -2.0], [3.0, 4.0]), "one real number"),
        (([[100.0, -2.0]], [3.0, 4.0]), "one entry a point"),
        (([100.0, -2.0], 1j), "complex"),
        (({"x0": 100.0}, 1.0), "real numbers|shape"),
    ],
)
def test_what_cannot_be_told_is_refused_and_changes_nothing(arguments: Any, said: str) -> None:
    run = optimizer()
    with pytest.raises(nm.InputError, match=said):
        run.tell(*arguments)
    assert run.history == ()


def test_noise_must_be_a_deviation() -> None:
    with pytest.raises(nm.InputError, match="noise"):
        optimizer().tell([100.0, -2.0], 1.0, noise=-1.0)


def test_a_bad_entry_of_a_batch_refuses_all_of_it() -> None:
    run = optimizer()
    with pytest.raises(nm.InputError):
        run.tell([[100.0, -2.0], [100.0, 7.0]], [1.0, 2.0])
    with pytest.raises(nm.InputError):
        run.tell([[100.0, -2.0], [100.0, -1.0]], [1.0, "x"])
    assert run.history == ()


def test_points_outside_the_constraints_are_refused() -> None:
    row = nm.LinearConstraint({"x0": 1.0, "x1": 1.0}, "<=", 98.5)
    run = optimizer(Space.box([99.0, -3.0], [101.0, -1.0], [row]))
    with pytest.raises(nm.InputError, match="constraints"):
        run.tell([101.0, -1.0], 1.0)
    advance(run, 8)
    assert all(told.x.sum() <= 98.5 + 1e-7 for told in run.history)


def test_points_that_float32_moved_out_of_their_bounds_are_taken_in() -> None:
    run = optimizer(Space.box([0.1, -3.0], [0.7, -1.0]))
    x = np.float32([0.1, -1.0]) + np.float32([-1e-8, 1e-7])
    assert x[1] > -1.0
    run.tell(x, 1.0)
    assert run.history[0].x.tolist() == pytest.approx([0.1, -1.0], abs=1e-7)
    assert run.history[0].x[1] == -1.0


def test_a_forgotten_point_is_no_longer_pending() -> None:
    run = optimizer()
    first, second = run.ask(2)
    run.forget(first)
    run.forget(second.x)
    assert run.pending == ()
    with pytest.raises(nm.InputError, match="pending are 0 points"):
        run.forget(first)
    run.tell(first, 2.0)  # told after all
    assert run.history[0].y == 2.0


def test_tables_are_told_in_one_go(tmp_path: Path) -> None:
    path = tmp_path / "past.csv"
    path.write_text("x1,x0,loss,sd\n-2,100,0.5,0.1\n-1,99,,\n")
    run = optimizer(journal=tmp_path / "run.db")
    assert run.tell_table(path, value="loss", noise="sd") == 2
    told = BayesianOptimizer.open(tmp_path / "run.db").history
    assert [(one.x.tolist(), one.y, one.noise) for one in told] == [
        ([100.0, -2.0], 0.5, 0.1),
        ([99.0, -1.0], None, None),
    ]


# -- more than one at a time ----------------------------------------------------------


def test_two_optimizers_of_one_journal_see_what_the_other_does(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    first = optimizer(journal=path)
    second = BayesianOptimizer.open(path)
    a = first.ask()
    b = second.ask()
    assert (a.number, b.number) == (0, 1)
    second.tell(a, bowl(a.x))
    first.tell([100.0, -2.0], 4.0)
    c = second.ask()
    assert [one.number for one in second.pending] == [1, 2]
    first.tell(c.x, bowl(c.x))
    assert first.history[-1].suggestion is not None
    assert first.history[-1].suggestion.number == 2
    histories = [[told.y for told in BayesianOptimizer.open(path).history]]
    second.tell(b, 0.0)
    histories.append([told.y for told in second.history])
    assert histories[1] == [*histories[0], 0.0]


def test_an_ask_that_another_process_overtook_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "run.db"
    first = optimizer(journal=path)
    advance(first, 5)
    second = BayesianOptimizer.open(path)
    overtaken: list[Any] = []
    before = type(first._asking).next

    def slow(self: Any, state: Any, callback: Any = None) -> Any:
        answer = before(self, state, callback)
        if self is first._asking and not overtaken:
            overtaken.append(second.ask())
        return answer

    monkeypatch.setattr(type(first._asking), "next", slow)
    own = first.ask()
    assert [own.number, overtaken[0].number] == [6, 5]
    assert not np.array_equal(own.x, overtaken[0].x)
    assert [one.number for one in BayesianOptimizer.open(path).pending] == [5, 6]


def test_pending_points_are_given_out_again_or_left_to_their_workers(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    run = optimizer(journal=path)
    batch = run.ask(3)
    run.tell(batch[1], 1.0)
    again = BayesianOptimizer.open(path)
    assert [one.number for one in again.ask(3)] == [0, 2, 3]
    keeping = BayesianOptimizer.open(path, pending="keep")
    assert keeping.ask().number == 4
    late = BayesianOptimizer.open(path)
    run.tell(batch[0], 2.0)
    assert late.ask().number == 2  # number 0 was told meanwhile
    with pytest.raises(nm.InputError, match="again, keep"):
        BayesianOptimizer.open(path, pending="drop")


def test_threads_share_an_optimizer(tmp_path: Path) -> None:
    run = optimizer(journal=tmp_path / "run.db", initial=8)
    barrier = threading.Barrier(4)

    def work(_: int) -> list[int]:
        barrier.wait()
        numbers = []
        for _ in range(3):
            suggestion = run.ask()
            run.tell(suggestion, bowl(suggestion.x))
            numbers.append(suggestion.number)
        return numbers

    with ThreadPoolExecutor(4) as pool:
        numbers = [number for found in pool.map(work, range(4)) for number in found]
    assert sorted(numbers) == list(range(12))
    assert len(BayesianOptimizer.open(tmp_path / "run.db").history) == 12


def test_two_processes_tell_into_one_journal_at_once(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    run = optimizer(journal=path)
    script = """
import sys
from nnbo_mip.loop.optimizer import BayesianOptimizer
run = BayesianOptimizer.open(sys.argv[1], pending="keep")
for number in range(15):
    run.tell([100.0, -2.0], float(sys.argv[2]) + number)
"""
    command = [sys.executable, "-c", script, str(path)]
    root = Path(__file__).parents[3]
    workers = [subprocess.Popen([*command, base], cwd=root) for base in ("100", "200")]
    for number in range(15):
        run.tell([100.0, -2.0], 300.0 + number)
    assert [worker.wait() for worker in workers] == [0, 0]
    told = [one.y for one in BayesianOptimizer.open(path).history]
    assert sorted(told) == [base + n for base in (100.0, 200.0, 300.0) for n in range(15)]
    assert [y for y in told if y >= 300.0] == [300.0 + n for n in range(15)]


# -- a journal that cannot be written -------------------------------------------------


class Refusing:
    """Makes connections that cannot write, as a read-only folder or a full disk does."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, pages: int | None) -> None:
        self.is_on = True
        before = journal_module.connect

        def connect(path: Path, mode: str) -> sqlite3.Connection:
            if not self.is_on:
                return before(path, mode)
            connection = before(path, mode if pages else "ro")
            if pages:
                connection.execute(f"PRAGMA max_page_count = {pages}")
            return connection

        monkeypatch.setattr(journal_module, "connect", connect)


@pytest.mark.parametrize("pages", [None, 1], ids=["read-only", "full"])
def test_what_cannot_be_written_stays_in_memory_and_is_written_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pages: int | None
) -> None:
    path = tmp_path / "run.db"
    run = optimizer(journal=path)
    advance(run, 5)
    pending = run.ask()
    refusing = Refusing(monkeypatch, pages)
    large = "x" * 20_000  # more than is free in the last page
    with pytest.raises(nm.JournalError, match=r"readonly|full"):
        run.tell(pending, failed=True, reason=large)
    assert (len(run.history), run.unwritten) == (6, 1)
    assert run.pending == ()
    with pytest.raises(nm.JournalError):
        run.tell(pending, failed=True, reason=large)  # told again, counted once
    assert (len(run.history), run.unwritten) == (6, 1)
    with pytest.raises(nm.JournalError):
        run.tell([100.0, -2.0], 3.0, noise=0.5)
    with pytest.warns(nm.JournalWarning, match="not in the journal yet"):
        asked = run.ask()
    assert asked.number == 6
    assert (len(run.history), run.unwritten) == (7, 3)
    refusing.is_on = False
    assert len(BayesianOptimizer.open(path).history) == 5
    run.tell(asked, 2.5)
    assert run.unwritten == 0
    reopened = BayesianOptimizer.open(path)
    assert [told.y for told in reopened.history] == [told.y for told in run.history]
    assert reopened.history[5].reason == large
    assert reopened.history[-1].suggestion is not None
    assert reopened.history[-1].suggestion.number == 6
    assert reopened.ask().number == 7


def test_what_waits_is_written_behind_what_others_wrote(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "run.db"
    run = optimizer(journal=path)
    other = BayesianOptimizer.open(path)
    refusing = Refusing(monkeypatch, None)
    with pytest.raises(nm.JournalError):
        run.tell([100.0, -2.0], 1.0)
    refusing.is_on = False
    other.tell([100.0, -1.0], 2.0)
    run.flush()
    run.flush()
    assert [told.y for told in run.history] == [2.0, 1.0]
    assert [told.y for told in BayesianOptimizer.open(path).history] == [2.0, 1.0]


def test_a_commit_whose_success_was_not_heard_of_is_not_repeated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "run.db"
    run = optimizer(journal=path)
    before = journal_module.Journal.append

    def deaf(self: Any, *arguments: Any, **options: Any) -> None:
        before(self, *arguments, **options)
        raise nm.JournalError("the network drive went away")

    with monkeypatch.context() as patch:
        patch.setattr(journal_module.Journal, "append", deaf)
        with pytest.raises(nm.JournalError):
            run.tell([100.0, -2.0], 1.0)
    run.tell([100.0, -1.0], 2.0)
    assert [told.y for told in run.history] == [1.0, 2.0]
    assert [told.y for told in BayesianOptimizer.open(path).history] == [1.0, 2.0]


def test_on_a_logarithmic_side_differences_are_those_of_logarithms() -> None:
    space = Space([Real("rate", 1e-6, 1.0, log=True)])
    for far in (1e-9, 2e-8, 9e-7, 0.0, -1e-7, 1.1):
        run = optimizer(space)
        with pytest.raises(nm.InputError, match="rate"):
            run.tell({"rate": far}, 1.0)
        assert not run.history
    run = optimizer(space)
    run.tell({"rate": float(np.float32(1e-6))}, 1.0)  # a little below
    run.tell({"rate": float(np.nextafter(1.0, 2.0))}, 2.0)
    assert [told.x["rate"] for told in run.history] == [1e-6, 1.0]
    asked = run.ask()
    run.tell({"rate": float(np.float32(asked.x["rate"]))}, 3.0)
    assert run.history[-1].suggestion is not None


def test_a_fixed_side_may_have_gone_through_float32() -> None:
    run = optimizer(Space.box([0.0, 0.1], [1.0, 0.1]))
    asked = run.ask()
    run.tell(np.asarray(asked.x, dtype=np.float32), 1.0)
    assert run.history[-1].x[1] == 0.1
    with pytest.raises(nm.InputError, match="x1"):
        run.tell([0.5, 0.1001], 1.0)


def test_a_reason_can_be_printed_whatever_it_says() -> None:
    run = optimizer()
    run.tell([99.5, -1.5], failed=True, reason="broken \ud800 text")
    assert run.history[0].reason == "broken \\ud800 text"
