"""What is in a journal stays there, and what is no journal is refused in a sentence."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from nnbo_mip.core.errors import FileFormatError, InputError, JournalError
from nnbo_mip.loop.record import journal as module
from nnbo_mip.loop.record.events import Event
from nnbo_mip.loop.record.journal import Journal, Place
from tests.loop.runs import no_space

ASSETS = Path(__file__).parents[2] / "assets"


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return Journal.create(tmp_path / "run with ü, ? and %20.db", {"settings": {"seed": 7}})


def event(number: int, kind: str = "tell") -> Event:
    return Event(kind, {"y": number / 3.0}, key=f"key{number}", time=1.5)  # type: ignore[arg-type]


def alter(journal: Journal, statement: str) -> None:
    with closing(sqlite3.connect(journal.path)) as connection, connection:
        connection.execute(statement)


def test_events_come_back_as_they_were_in_order(journal: Journal) -> None:
    answer = journal.append([event(1), event(2, "ask")])
    assert answer is not None
    events, last = Journal.open(journal.path).read()
    assert [one.key for one in events] == [one.key for one in answer[0]] == ["key1", "key2"]
    assert [one.kind for one in events] == ["tell", "ask"]
    assert (events[0].content, events[0].time) == ({"y": 1 / 3.0}, 1.5)
    assert last == Place(2, "key2")
    assert journal.read(after=Place(1, "key1"))[0][0].key == "key2"
    assert journal.read(after=last) == ([], last)
    assert journal.meta() == {"run": journal.run, "settings": {"seed": 7}}


def test_an_event_is_written_once_however_often_it_is_appended(journal: Journal) -> None:
    journal.append([event(1)])
    journal.append([event(1), event(2)])
    assert [one.key for one in journal.read()[0]] == ["key1", "key2"]


def test_an_ask_is_not_written_if_another_process_asked_since(journal: Journal) -> None:
    other = Journal.open(journal.path)
    assert other.append([event(1, "ask")]) is not None
    assert journal.append([event(2, "ask")], if_nobody_asked=True) is None
    assert [one.key for one in journal.read()[0]] == ["key1"]
    first, second = Place(1, "key1"), Place(2, "key2")
    assert journal.append([event(2, "ask")], after=first, if_nobody_asked=True) is not None
    other.append([event(3, "tell")])
    assert journal.append([event(4, "ask")], after=second, if_nobody_asked=True) is not None


def test_a_failed_transaction_leaves_nothing_behind(journal: Journal) -> None:
    journal.append([event(1)])
    alter(
        journal,
        "CREATE TRIGGER broken BEFORE INSERT ON events WHEN NEW.key = 'key3' "
        "BEGIN SELECT RAISE(ABORT, 'no'); END",
    )
    with pytest.raises(FileFormatError, match="holds the trigger 'broken', which no journal has"):
        journal.append([event(2), event(3)])
    alter(journal, "DROP TRIGGER broken")
    assert [one.key for one in journal.read()[0]] == ["key1"]


def test_a_path_in_use_is_not_taken(journal: Journal, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"in use; continue with BayesianOptimizer\.open"):
        Journal.create(journal.path, {})
    text = tmp_path / "notes.txt"
    text.write_text("Not a database, though it is long enough to be one. " * 20)
    with pytest.raises(FileFormatError, match="not a database"):
        Journal.create(text, {})
    assert text.read_text().startswith("Not a database")


@pytest.mark.parametrize(
    "named", [None, 3, b"run.db", object(), "", "a\0b", "a\ud800b", Path("a\0b")]
)
def test_what_names_no_file_is_refused(named: Any) -> None:
    for take in (Journal.open, Journal.holds_a_run, lambda path: Journal.create(path, {})):
        with pytest.raises(InputError, match="must be the path of a file, a text or a Path; got"):
            take(named)


def test_a_name_need_not_be_a_text_that_can_be_written(tmp_path: Path) -> None:
    path = os.path.join(os.fsencode(tmp_path), b"r\xfcn.db")
    Journal.create(os.fsdecode(path), {}).append([event(1)])
    assert os.path.exists(path)
    assert [one.key for one in Journal.open(os.fsdecode(path)).read()[0]] == ["key1"]


def test_a_relative_path_is_that_of_the_beginning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sub").mkdir()
    Journal.create(tmp_path / "sub" / "run.db", {})
    monkeypatch.chdir(tmp_path)
    created = Journal.create("run.db", {})
    opened = Journal.open("run.db")
    monkeypatch.chdir(tmp_path / "sub")
    created.append([event(1)])
    opened.append([event(2)])
    assert created.path == opened.path == tmp_path / "run.db"
    assert Journal.open("run.db").read()[0] == []
    assert [one.key for one in Journal.open("../run.db").read()[0]] == ["key1", "key2"]


def test_an_empty_file_holds_no_run_and_may_become_one(tmp_path: Path) -> None:
    path = tmp_path / "empty.db"
    assert not Journal.holds_a_run(path)
    path.touch()
    assert not Journal.holds_a_run(path)
    with pytest.raises(FileFormatError, match="it is empty"):
        Journal.open(path)
    Journal.create(path, {})
    assert Journal.holds_a_run(path)


def test_a_creation_that_was_killed_half_way_is_none(tmp_path: Path) -> None:
    path = tmp_path / "half.db"
    script = f"""
import os, signal, sqlite3
from nnbo_mip.loop.record import journal
class Killed(sqlite3.Connection):
    def execute(self, statement, *rest):
        if statement == "COMMIT":
            super().execute("PRAGMA cache_spill = 1")
            os.kill(os.getpid(), signal.SIGKILL)
        return super().execute(statement, *rest)
journal.connect = lambda path, mode: sqlite3.connect(path, isolation_level=None, factory=Killed)
journal.Journal.create({str(path)!r}, {{"settings": "x" * 100000}})
"""
    run = subprocess.run([sys.executable, "-c", script], cwd=Path(__file__).parents[3])
    assert run.returncode < 0
    assert path.with_name("half.db-journal").stat().st_size > 0
    assert not Journal.holds_a_run(path)
    Journal.create(path, {"settings": 1})
    assert Journal.open(path).meta()["settings"] == 1


def test_what_is_no_journal_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="must be a file that exists"):
        Journal.open(tmp_path / "absent.db")
    text = tmp_path / "text.db"
    text.write_text("x" * 5000)
    with pytest.raises(FileFormatError, match="restore it from a copy"):
        Journal.open(text)
    with closing(sqlite3.connect(tmp_path / "other.db")) as connection, connection:
        connection.execute("CREATE TABLE t (a)")
    with pytest.raises(FileFormatError, match="another SQLite file"):
        Journal.open(tmp_path / "other.db")


def test_a_newer_file_is_refused_in_a_sentence(journal: Journal) -> None:
    alter(journal, "PRAGMA user_version = 99")
    with pytest.raises(FileFormatError, match=r"up to schema 6 .* has schema 99; .* newer one"):
        Journal.open(journal.path)


def test_an_older_file_is_migrated_step_by_step(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal.append([event(1)])
    alter(journal, "PRAGMA user_version = 1")
    monkeypatch.setattr(module, "SCHEMA", 3)
    monkeypatch.setattr(
        module,
        "MIGRATIONS",
        {
            1: lambda connection: connection.execute("INSERT INTO meta VALUES ('second', '2')"),
            2: lambda connection: connection.execute(
                "UPDATE meta SET value = 10 * value + 3 WHERE key = 'second'"
            ),
        },
    )
    migrated = Journal.open(journal.path)
    assert migrated.meta()["second"] == 23
    assert [one.key for one in migrated.read()[0]] == ["key1"]
    assert Journal.open(journal.path).meta()["second"] == 23  # and not once more


def test_an_older_file_that_cannot_be_written_is_migrated_as_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = Path(shutil.copy(ASSETS / "journal_schema_1.db", tmp_path / "run.db"))
    before = path.read_bytes()
    with monkeypatch.context() as patch:
        patch.setattr(module, "connect", lambda path, mode, real=module.connect: real(path, "ro"))
        journal = Journal.open(path)
        assert len(journal.read()[0]) == 12
        assert journal.meta()["settings"]["options"]["warp"] == {"name": "none"}
        with pytest.raises(JournalError, match="readonly"):
            journal.append([event(1)])
    assert path.read_bytes() == before
    journal.append([event(1)])
    assert len(journal.read()[0]) == 13
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (module.SCHEMA,)
    assert Journal.open(path).run == journal.run


def test_copies_of_an_older_file_hold_the_same_run(tmp_path: Path) -> None:
    runs = {
        Journal.open(shutil.copy(ASSETS / f"journal_schema_{schema}.db", tmp_path / name)).run
        for name, schema in (("a.db", 3), ("b.db", 3), ("c.db", 1))
    }
    assert len(runs) == 1
    other = shutil.copy(ASSETS / "journal_schema_2_embedded.db", tmp_path / "d.db")
    assert Journal.open(other).run not in runs


def test_an_older_file_that_was_altered_is_refused(journal: Journal) -> None:
    alter(journal, "PRAGMA user_version = 1")
    with pytest.raises(FileFormatError, match="of schema 1 must hold what its release wrote"):
        Journal.open(journal.path)


# -- a file that changes under a run ---------------------------------------------------


def test_every_journal_is_that_of_one_run(tmp_path: Path) -> None:
    first, second = (Journal.create(tmp_path / name, {}) for name in ("a.db", "b.db"))
    assert first.run != second.run
    second.append([event(1)])
    shutil.copy(second.path, first.path)
    for use in (first.read, first.meta, lambda: first.append([event(2)])):
        with pytest.raises(JournalError, match=r"it holds another run, .* put the right one back"):
            use()
    assert [one.key for one in Journal.open(first.path).read()[0]] == ["key1"]


def test_a_copy_that_lacks_or_has_other_events_is_not_gone_on_with(journal: Journal) -> None:
    journal.append([event(1)])
    copy = shutil.copy(journal.path, journal.path.with_name("copy.db"))
    answer = journal.append([event(2)])
    assert answer is not None
    for n_others in (0, 1):
        if n_others:
            Journal.open(copy).append([event(3)])
        shutil.copy(copy, journal.path)
        with pytest.raises(JournalError, match="it holds other events of it"):
            journal.read(answer[1])
        with pytest.raises(JournalError, match="it holds other events of it"):
            journal.append([event(4)], answer[1])
        assert len(Journal.open(journal.path).read()[0]) == 1 + n_others


def test_a_file_that_a_newer_release_migrated_is_left_alone(journal: Journal) -> None:
    alter(journal, f"PRAGMA user_version = {module.SCHEMA + 1}")
    with pytest.raises(FileFormatError, match=r"has schema 7; .* newer one"):
        journal.append([event(1)])
    with pytest.raises(FileFormatError, match=r"has schema 7; .* newer one"):
        journal.read()
    alter(journal, f"PRAGMA user_version = {module.SCHEMA}")
    assert journal.read()[0] == []


def test_it_is_said_what_became_of_the_file(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = journal.path.read_bytes()
    with closing(sqlite3.connect(journal.path, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        monkeypatch.setattr(module, "PATIENCE", 0.01)
        with pytest.raises(
            JournalError, match=r"free to .* within 0.01 seconds; .* is locked; wait"
        ):
            journal.append([event(1)])
    alter(journal, "DROP TABLE events")
    with pytest.raises(FileFormatError, match="no such table: events; restore it from a copy"):
        journal.read()
    journal.path.write_bytes(b"")
    with pytest.raises(FileFormatError, match="it is empty; check the path, or restore it"):
        journal.append([event(1)])
    journal.path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(FileFormatError, match="malformed; restore it from a copy"):
        journal.read()
    journal.path.unlink()
    with pytest.raises(JournalError, match=r"a file that stays where it is; .* put it back"):
        journal.append([event(1)])


def test_a_run_without_an_id_is_refused(journal: Journal) -> None:
    alter(journal, "UPDATE meta SET value = '7' WHERE key = 'run'")
    with pytest.raises(FileFormatError, match="must name its run by a text; got 7"):
        Journal.open(journal.path)
    alter(journal, "DELETE FROM meta WHERE key = 'run'")
    with pytest.raises(FileFormatError, match="must name its run by a text; got None"):
        Journal.open(journal.path)


def test_altered_contents_are_named(journal: Journal) -> None:
    journal.append([event(1)])
    alter(journal, "UPDATE events SET content = '{\"y\": 1'")
    with pytest.raises(FileFormatError, match=r"event 1 of the journal .* must be JSON"):
        journal.read()
    alter(journal, "UPDATE events SET content = '{}', kind = 'jump'")
    with pytest.raises(FileFormatError, match=r"event 1 .* of kind 'jump'"):
        journal.read()


def test_what_is_told_is_on_disk_when_append_returns(journal: Journal) -> None:
    statements: list[str] = []
    before = module.connect

    def traced(path: Path, mode: str) -> sqlite3.Connection:
        connection = before(path, mode)
        connection.set_trace_callback(statements.append)
        return connection

    module.connect = traced
    try:
        journal.append([event(1)])
    finally:
        module.connect = before
    with closing(sqlite3.connect(journal.path)) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("delete",)
    assert statements[:2] == ["PRAGMA synchronous = EXTRA", "BEGIN IMMEDIATE"]
    assert statements[-1] == "COMMIT"
    assert sorted(path.name for path in journal.path.parent.iterdir()) == [journal.path.name]


def test_a_disk_without_space_is_an_error_that_says_so(journal: Journal) -> None:
    with (
        no_space(),
        pytest.raises(JournalError, match="writable and has space") as caught,
    ):
        journal.append([event(1)])
    assert isinstance(caught.value, OSError)
    assert journal.read()[0] == []


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is read-only for root")
def test_a_read_only_folder_is_an_error_that_says_so(journal: Journal) -> None:
    folder = journal.path.parent
    folder.chmod(0o500)
    try:
        with pytest.raises(JournalError, match="writable"):
            journal.append([event(1)])
        assert journal.read()[0] == []
    finally:
        folder.chmod(0o700)


def test_a_folder_that_does_not_exist_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(JournalError, match="see that the folder exists"):
        Journal.create(tmp_path / "absent" / "run.db", {})


def test_the_contents_can_be_read_without_us(journal: Journal) -> None:
    journal.append([event(1)])
    with closing(sqlite3.connect(journal.path)) as connection:
        rows = connection.execute("SELECT kind, content FROM events").fetchall()
    assert [(kind, json.loads(content)) for kind, content in rows] == [("tell", {"y": 1 / 3.0})]
