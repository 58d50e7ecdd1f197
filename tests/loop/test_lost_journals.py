"""A run whose journal is lost, damaged or replaced goes on in memory, and can be kept elsewhere."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nnbo_mip as nm
from nnbo_mip.loop.optimizer import BayesianOptimizer
from nnbo_mip.loop.record import journal as journal_module
from nnbo_mip.space import Integer, Space
from tests.loop.runs import BOX, QUICK, advance, bowl, figures, optimizer

OTHER = "other.db"


def _as_garbage(path: Path) -> None:
    path.write_bytes(b"x" * 5000)


def _emptied(path: Path) -> None:
    path.write_bytes(b"")


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def _a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def _without_events(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DROP TABLE events")


def _of_a_newer_release(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version = {journal_module.SCHEMA + 1}")


def _of_another_run(path: Path) -> None:
    shutil.copy(path.with_name(OTHER), path)


LOSSES: list[Any] = [
    (_as_garbage, "file is not a database"),
    (_emptied, "it is empty"),
    (_cut, "malformed"),
    (Path.unlink, "put it back"),
    (_a_folder, "unable to open"),
    (_without_events, "no such table: events"),
    (_of_a_newer_release, "has schema 7"),
    (_of_another_run, "holds another run"),
]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    other = optimizer(journal=tmp_path / OTHER, seed=5)
    other.tell([[100.0, -2.0]] * 9, [7.0] * 9)
    return tmp_path / "run.db"


@pytest.mark.parametrize(("lose", "said"), LOSSES)
def test_a_run_whose_journal_is_lost_keeps_all_and_can_be_saved(
    path: Path, lose: Callable[[Path], None], said: str
) -> None:
    run = optimizer(journal=path)
    advance(run, 5)
    pending = run.ask()
    lose(path)
    left = path.read_bytes() if path.is_file() else b""
    for _ in range(2):  # told again, counted once
        with pytest.raises(nm.JournalError, match=rf"{said}.*by optimizer\.save\(path\)\.$"):
            run.tell(pending, 2.0)
    with pytest.raises(nm.JournalError, match=said):
        run.flush()
    with pytest.warns(nm.JournalWarning, match=said):
        asked = run.ask()
    assert (len(run.history), run.unwritten, asked.number) == (6, 2, 6)
    assert (path.read_bytes() if path.is_file() else b"") == left
    saved = path.with_name("saved.db")
    run.save(saved)
    assert (run.journal, run.unwritten) == (saved, 0)
    run.tell(asked, 3.0)
    again = BayesianOptimizer.open(shutil.copy(saved, path.with_name("copy.db")))
    assert [told.y for told in again.history] == [told.y for told in run.history]
    assert [figures(one) for one in again.suggestions] == [figures(one) for one in run.suggestions]
    assert figures(again.ask()) == figures(run.ask())


@pytest.mark.parametrize(("lose", "said"), LOSSES)
def test_a_lost_journal_does_not_end_a_call(
    path: Path, lose: Callable[[Path], None], said: str
) -> None:
    calls: list[Any] = []

    def loses(x: Any) -> float:
        calls.append(x)
        if len(calls) == 3:
            lose(path)
        return bowl(x)

    with pytest.warns(nm.JournalWarning, match=said):
        result = nm.optimize(loses, BOX, 6, journal=path, **QUICK)
    assert (result.nfev, result.success) == (6, True)
    assert [told.y for told in result.history] == [bowl(x) for x in calls]
    assert "flush() and save(path)" in result.message


@pytest.mark.parametrize("content", ['{"x": 1}', "[]", '{"x": ["a"], "z": null, "answers": null}'])
def test_events_that_cannot_be_understood_are_left_out(path: Path, content: str) -> None:
    run = optimizer(journal=path)
    advance(run, 5)
    with closing(sqlite3.connect(path)) as connection, connection:
        row = (99, "key", "tell", 0.0, content)
        connection.execute("INSERT INTO events VALUES (?, ?, ?, ?, ?)", row)
    with pytest.raises(nm.FileFormatError, match=r"event key .* as if .* been changed by hand"):
        BayesianOptimizer.open(path)
    with pytest.warns(nm.JournalWarning, match="changed by hand, or by another program"):
        asked = run.ask()
    with pytest.raises(nm.JournalError, match=r"changed by hand, .* by optimizer\.save\(path\)"):
        run.tell(asked, 2.0)
    run.save(path.with_name("saved.db"))
    history = BayesianOptimizer.open(path.with_name("saved.db")).history
    assert [told.y for told in history] == [told.y for told in run.history]
    assert len(history) == 6


def test_a_journal_that_was_begun_again_is_not_written_to(path: Path) -> None:
    run = optimizer(journal=path)
    advance(run, 2)
    path.unlink()
    other = optimizer(journal=path, seed=8)
    other.tell([100.0, -2.0], 7.0)
    with pytest.raises(nm.JournalError, match="holds another run"):
        run.tell([100.0, -1.0], 8.0)
    other.tell([100.0, -2.0], 9.0)
    assert [told.y for told in BayesianOptimizer.open(path).history] == [7.0, 9.0]
    assert [told.y for told in run.history][2:] == [8.0]


def test_workers_go_on_with_a_journal_that_was_saved_in_the_place_of_the_old_one(
    path: Path,
) -> None:
    first = optimizer(journal=path)
    advance(first, 2)
    second = BayesianOptimizer.open(path)
    path.unlink()
    with pytest.raises(nm.JournalError):
        second.tell([100.0, -2.0], 7.0)
    first.save(path)
    second.flush()
    first.tell([100.0, -1.0], 8.0)
    assert [told.y for told in first.history][2:] == [7.0, 8.0]


def test_a_run_without_a_journal_may_get_one(path: Path) -> None:
    run = optimizer()
    advance(run, 5)
    pending = run.ask()
    with pytest.raises(nm.InputError, match="is in use"):
        run.save(path.with_name(OTHER))
    with pytest.raises(nm.JournalError, match="see that the folder exists"):
        run.save(path.parent / "absent" / "run.db")
    assert run.journal is None
    run.save(path)
    run.tell(pending, 2.0)
    again = BayesianOptimizer.open(path)
    assert [told.y for told in again.history] == [told.y for told in run.history]
    assert again.settings.to_dict() == run.settings.to_dict()


def test_a_function_may_change_the_folder(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    elsewhere = path.parent / "elsewhere"
    elsewhere.mkdir()
    optimizer(journal=elsewhere / path.name)
    monkeypatch.chdir(path.parent)

    def leaves(x: Any) -> float:
        os.chdir(elsewhere)
        return bowl(x)

    result = nm.optimize(leaves, BOX, 4, journal=path.name, **QUICK)
    assert result.message == "4 evaluations."
    assert len(BayesianOptimizer.open(path).history) == 4
    assert BayesianOptimizer.open(elsewhere / path.name).history == ()


def test_a_table_told_again_to_a_full_disk_counts_once(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = optimizer(journal=path)
    X = BOX.sample(20, 0)
    table = (np.concatenate([X, X[:5]]), np.arange(25.0) // 25)  # five rows are there twice
    with monkeypatch.context() as patch:
        patch.setattr(journal_module.Journal, "append", _full)
        for _ in range(2):
            with pytest.raises(nm.JournalError, match="is full"):
                run.tell_table(table)
            assert (len(run.history), run.unwritten) == (25, 25)
    assert run.tell_table(table) == 25
    assert run.unwritten == 0
    assert len(BayesianOptimizer.open(path).history) == 25
    run.tell_table(table)  # now that they are written these are others
    assert len(run.history) == 50


def test_a_point_evaluated_twice_on_a_full_disk_counts_twice(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = Space([Integer("n", 4, 5)])
    options = {**QUICK, "escape": None, "restart": None, "initial": 2}
    calls: list[Any] = []

    def counted(x: Any) -> float:
        calls.append(x)
        assert len(calls) <= 6
        monkeypatch.setattr(journal_module.Journal, "append", _full)
        return 1.5

    with pytest.warns(nm.JournalWarning, match="is full"):
        result = nm.optimize(counted, few, 6, journal=path, **options)
    assert result.nfev == 6


def _full(*arguments: Any, **options: Any) -> None:
    raise nm.JournalError("the disk is full.")


@pytest.mark.parametrize("named", [3, b"run.db", object(), "a\0b"])
def test_what_names_no_journal_is_refused(named: Any) -> None:
    with pytest.raises(nm.InputError, match="must be the path of a file"):
        optimizer(journal=named)
    with pytest.raises(nm.InputError, match="must be the path of a file"):
        BayesianOptimizer.open(named)
    with pytest.raises(nm.InputError, match="must be the path of a file"):
        nm.optimize(bowl, BOX, 2, journal=named, **QUICK)
