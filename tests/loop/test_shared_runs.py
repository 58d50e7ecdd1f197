"""Several processes or threads at work on one run."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import nnbo_mip as nm
from nnbo_mip.loop.optimizer import BayesianOptimizer
from nnbo_mip.loop.record import workers
from tests.loop.runs import BOX, QUICK, advance, bowl, optimizer


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
    assert len(everything) == n - 1
    assert all(here == heard for here, heard, _ in done)
    assert all(here for here, _, _ in done)
    assert all(result.nfev == n and result.success for _, _, result in done)
    assert sum(result.nfev_here for _, _, result in done) == n - 1


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


WORKER = """
import sys, time
import nnbo_mip as nm
from tests.loop.runs import BOX, QUICK, bowl

def slow(x):
    with open(sys.argv[2], "a") as log:
        log.write(repr(x.tolist()) + "\\n")
    time.sleep(float(sys.argv[3]))
    return bowl(x)

result = nm.optimize(slow, BOX, 12, **QUICK, journal=sys.argv[1], pending="keep")
print(result.nfev, result.nfev_here)
"""


def begun(journal: Path, log: Path, seconds: float) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", WORKER, str(journal), str(log), str(seconds)]
    root = Path(__file__).parents[2]
    return subprocess.Popen(command, cwd=root, text=True, stdout=subprocess.PIPE)


def test_processes_make_exactly_the_evaluations_that_are_wanted(tmp_path: Path) -> None:
    path, log = tmp_path / "run.db", tmp_path / "log"
    processes = [begun(path, log, 0.2) for _ in range(3)]
    outputs = [process.communicate(timeout=240)[0].split() for process in processes]
    assert [whole for whole, _ in outputs] == ["12"] * 3
    assert sum(int(here) for _, here in outputs) == 12
    asked = log.read_text().splitlines()
    assert len(asked) == len(set(asked)) == 12
    run = BayesianOptimizer.open(path)
    assert (len(run.history), len(run.suggestions), run.pending) == (12, 12, ())


def test_what_a_killed_worker_was_at_is_evaluated_by_another(tmp_path: Path) -> None:
    path, log = tmp_path / "run.db", tmp_path / "log"
    killed = begun(path, log, 600.0)
    deadline = time.monotonic() + 120.0
    while not log.exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    place = log.read_text().splitlines()[0]
    other = begun(path, tmp_path / "other", 0.0)
    while len(BayesianOptimizer.open(path, pending="keep").history) < 11:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    time.sleep(0.5)
    assert other.poll() is None  # it waits for the one that lives
    assert place not in (tmp_path / "other").read_text().splitlines()
    killed.kill()
    killed.communicate()
    assert other.communicate(timeout=120)[0].split() == ["12", "12"]
    assert (tmp_path / "other").read_text().splitlines()[-1] == place
    run = BayesianOptimizer.open(path)
    assert (len(run.history), len(run.suggestions), run.pending) == (12, 12, ())


@pytest.fixture
def somebody(tmp_path: Path) -> BayesianOptimizer:
    """A run of whose three points a worker is at one."""
    run = optimizer(journal=tmp_path / "run.db", steps=9)
    worker = run.at_work()
    worker.__enter__()
    run.ask_within(3, worker)
    return BayesianOptimizer.open(tmp_path / "run.db", pending="keep")


def with_row(run: BayesianOptimizer, change: str) -> None:
    with closing(sqlite3.connect(str(run.journal))) as connection, connection:
        connection.execute(f"UPDATE workers SET {change}")


@pytest.mark.parametrize(
    ("change", "is_over"),
    [
        ("seen = seen - 1000", False),  # of this machine, and its process lives
        ("pid = 2147483647", True),
        ("born = '1'", True),  # another process has its number by now
        ("place = 'another machine', pid = 2147483647", False),
        ("place = 'another machine', seen = seen - 1000", True),
        ("place = '', seen = seen - 1000", True),
        ("ended = 1", True),
    ],
)
def test_who_lives(somebody: BayesianOptimizer, change: str, is_over: bool) -> None:
    """A point is free once nobody lives who was at it; it takes no other slot."""
    with_row(somebody, change)
    with somebody.at_work() as worker:
        given = somebody.ask_within(1, worker)
        if not is_over:
            assert given == "wait"
            given = somebody.ask_within(2, worker)
        assert isinstance(given, nm.Suggestion)
        assert (given.number == 0) is is_over


def test_one_thinks_at_a_time(somebody: BayesianOptimizer) -> None:
    with_row(somebody, "thinking = 1")
    with somebody.at_work() as worker:
        assert somebody.ask_within(9, worker) == "wait"
        with_row(somebody, "thinking = 0")
        assert isinstance(somebody.ask_within(9, worker), nm.Suggestion)


def test_a_worker_gives_signs_of_life(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(workers, "BEAT", 0.05)
    run = optimizer(journal=tmp_path / "run.db")

    def seen() -> float:
        with closing(sqlite3.connect(tmp_path / "run.db")) as connection:
            return float(connection.execute("SELECT max(seen) FROM workers").fetchone()[0])

    with run.at_work():
        first, deadline = seen(), time.monotonic() + 30.0
        while seen() == first:
            assert time.monotonic() < deadline
            time.sleep(0.02)


def test_what_asks_of_others_cost_is_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where others ask whenever a point was thought of, it is taken after a few thoughts."""
    run = optimizer(journal=tmp_path / "run.db", steps=9)
    advance(run, 5)
    path = tmp_path / "run.db"
    other = BayesianOptimizer.open(path, pending="keep", maximizer="grid:points=49")
    think, thoughts = type(run._asking).next, []

    def overtaken(self: Any, state: Any, callback: Any = None) -> Any:
        answer = think(self, state, callback)
        if self is run._asking:
            thoughts.append(1)
        return answer

    add = type(run._ledger).add_ask

    def add_late(self: Any, *given: Any, **named: Any) -> bool:
        if self is run._ledger and len(other.suggestions) < 5 + 6:
            other.ask()
        return add(self, *given, **named)

    monkeypatch.setattr(type(run._asking), "next", overtaken)
    monkeypatch.setattr(type(run._ledger), "add_ask", add_late)
    asked = run.ask()
    assert len(other.suggestions) == 11
    assert len(thoughts) == 3
    places = [tuple(one.x) for one in BayesianOptimizer.open(path).suggestions]
    assert len(set(places)) == len(places)
    assert tuple(asked.x) in places
