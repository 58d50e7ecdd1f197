"""`Journal`: the events of a run in one SQLite file.

    meta    key, value      the run's id, when and with which versions it was started, its settings
    events  seq, key, kind, time, content
    workers see `nnbo_mip.loop.record.workers`

Contents are JSON. An append is one transaction and has reached the disk when it returns
(``synchronous=EXTRA``, which is FULL and a sync of the folder). A connection lives as long as one
transaction: processes, threads and forks may share a file, and nothing is open when a process is
killed. What a killed process had not committed is rolled back by whoever opens the file next.

Each transaction looks first whether the file is still that of the run: its schema, the run's id,
and the last event that the caller knows.
"""

from __future__ import annotations

import json
import os
import secrets
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

from nnbo_mip.core.errors import FileFormatError, InputError, JournalError, MissingFileError
from nnbo_mip.core.sqlite_schema import foreign_entry
from nnbo_mip.loop.record import workers
from nnbo_mip.loop.record.events import KINDS, Event, claimed
from nnbo_mip.loop.record.migrations import MIGRATIONS
from nnbo_mip.loop.record.serialization import shown
from nnbo_mip.loop.record.state import State

APPLICATION = 0x6E6E626F
"""The file says in its header that it is one of ours: the letters nnbo."""

PLACE_OF_APPLICATION = 68
"""Of that number in the header of an SQLite file."""

SCHEMA = 6
"""Version of the tables and their contents; in the header as well."""

PATIENCE = 30.0
"""Seconds to wait for another process that writes."""

_TABLES = (
    "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE events (seq INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT NOT NULL UNIQUE, "
    "kind TEXT NOT NULL, time REAL NOT NULL, content TEXT NOT NULL)",
    workers.TABLE,
)


class Place(NamedTuple):
    """An event of a journal, the last one that somebody knows.

    Parameters
    ----------
    number : int
        From 1; 0 before the first event.
    key : str
    """

    number: int = 0
    key: str = ""


START = Place()
"""Before the first event."""

Found = tuple[list[Event], Place]
"""Events of a journal, and the place of the last one that is known by them."""


class Journal:
    """A file that holds one run; see `create` and `open`.

    Parameters
    ----------
    path : path
        It is made absolute here, so that nobody's chdir moves it.
    run : str or None
        Id of the run; None until it was read.
    """

    def __init__(self, path: str | Path, run: str | None = None) -> None:
        self.path = as_path(path)
        self.run = run

    # -- files ------------------------------------------------------------------------

    @classmethod
    def create(
        cls, path: str | Path, meta: Mapping[str, Any], events: Iterable[Event] = ()
    ) -> Journal:
        """Begin a journal; a file that is there already is refused unless it is empty.

        Parameters
        ----------
        path : path
        meta : mapping
            JSON-able. The run gets an id unless ``run`` is one.
        events : iterable of Event
            What happened before.
        """
        meta = {"run": secrets.token_hex(8), **meta}
        journal = cls(path, meta["run"])
        with journal._locked("rwc") as connection:
            if _n_tables(connection):
                raise InputError(
                    f"a new run needs a journal of its own; {str(path)!r} is in use; continue "
                    "with BayesianOptimizer.open, or choose another path."
                )
            for statement in _TABLES:
                connection.execute(statement)
            rows = [(key, json.dumps(value, allow_nan=False)) for key, value in meta.items()]
            connection.executemany("INSERT INTO meta VALUES (?, ?)", rows)
            _insert(connection, events)
            connection.execute(f"PRAGMA application_id = {APPLICATION}")
            connection.execute(f"PRAGMA user_version = {SCHEMA}")
        return journal

    @classmethod
    def open(cls, path: str | Path) -> Journal:
        """Open a journal; an older one is migrated, a newer one refused.

        One that cannot be written now is migrated as it is read, and in the file by the first
        append that can be.
        """
        journal = cls(path)
        if not journal.path.is_file():
            raise MissingFileError(
                f"a journal must be a file that exists; got {str(path)!r}; check the path."
            )
        with journal._connection("rw") as connection:
            is_older = journal._version(connection) < SCHEMA
        if is_older:
            with suppress(JournalError), journal.transaction():
                pass
        with journal.reading() as connection:
            journal.run = journal._run(connection)
        return journal

    @classmethod
    def holds_a_run(cls, path: str | Path) -> bool:
        """Whether there is a file that is not empty.

        One whose creator was killed before the run had begun is empty.
        """
        journal = cls(path)
        if not journal.path.is_file() or not journal.path.stat().st_size:
            return False
        with journal._connection("rw") as connection:  # which rolls an unfinished creation back
            return bool(_n_tables(connection))

    @staticmethod
    def is_one(path: str | Path) -> bool:
        """Whether a file says in its header that it is a journal."""
        with suppress(OSError), Path(path).open("rb") as file:
            file.seek(PLACE_OF_APPLICATION)
            return int.from_bytes(file.read(4), "big") == APPLICATION
        return False

    # -- contents ---------------------------------------------------------------------

    def meta(self) -> dict[str, Any]:
        """Return what `create` was given, and the run's id."""
        with self.reading() as connection:
            rows = connection.execute("SELECT key, value FROM meta").fetchall()
        return {key: self._decoded(value, f"the entry {key!r}") for key, value in rows}

    def read(self, after: Place = START) -> Found:
        """Return the events after a place, and the place of the last one."""
        with self.reading() as connection:
            return self._events(connection, after)

    def append(
        self,
        events: Sequence[Event],
        after: Place = START,
        if_nobody_asked: bool = False,
        by: str | None = None,
    ) -> Found | None:
        """Write events, all or none, and return all after a place, as `read` does.

        Parameters
        ----------
        events : sequence of Event
            Those whose key is there already are not written again.
        after : Place
            Of the last event that the caller knows.
        if_nobody_asked : bool
            Write nothing, and return None, if another process has asked since.
        by : str, optional
            Key of the worker that thought of an ask among them.
        """
        with self.transaction() as connection:
            found, _ = self._events(connection, after)
            own = {event.key for event in events}
            if if_nobody_asked and any(
                event.kind == "ask" and event.key not in own for event in found
            ):
                return None
            _insert(connection, events)
            for key in own:
                if not connection.execute("SELECT 1 FROM events WHERE key = ?", (key,)).fetchone():
                    raise self._damaged(f"an event that was written is not in it ({key})")
            if by is not None:
                workers.thought(connection, by)
            answer = self._events(connection, after)
        return answer

    def claim(
        self, state: State, last: Place, worker: str, again: Collection[str], n_evals: int
    ) -> tuple[workers.Turn, str] | None:
        """Claim a slot; see `nnbo_mip.loop.record.workers.turn_of`.

        Parameters
        ----------
        state : State
        last : Place
            Of the last event in `state`; None is returned where there are later ones.
        worker : str
        again : collection of str
        n_evals : int
        """
        with self.transaction() as connection:
            if self._events(connection, last)[0]:
                return None
            turn, key = workers.turn_of(connection, worker, state, again, n_evals)
            if key:
                _insert(connection, [claimed(key, worker)])
            return turn, key

    def seconds(self) -> float:
        """Return the wall seconds of all calls of `run` together."""
        with self.reading() as connection:
            return workers.seconds_of_all(connection)

    def at_work(self) -> int:
        """Return how many calls of `run` are at work on it."""
        with self.reading() as connection:
            return workers.at_work(connection)

    # -- one transaction --------------------------------------------------------------

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Yield a connection that holds the write lock, to a file of this run and schema."""
        with self._locked("rw") as connection:
            self._migrate(connection)
            self._check_run(connection)
            yield connection

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Yield a connection to what a file of this run and schema holds."""
        with (
            self._connection("rw") as connection,  # "ro" could not roll back a killed writer
            closing(sqlite3.connect(":memory:", isolation_level=None)) as copy,
        ):
            connection.execute("BEGIN")  # all that is read is of one moment
            seen = connection
            if self._version(connection) < SCHEMA:
                connection.backup(copy)
                self._migrate(copy)
                seen = copy
            self._check_run(seen)
            yield seen

    @contextmanager
    def _locked(self, mode: str) -> Iterator[sqlite3.Connection]:
        """Yield a connection that holds the write lock; commit at the end, or roll back."""
        with self._connection(mode) as connection:
            connection.execute("PRAGMA synchronous = EXTRA")
            connection.execute("BEGIN IMMEDIATE")
            yield connection  # closing a connection rolls back what was not committed
            connection.execute("COMMIT")

    @contextmanager
    def _connection(self, mode: str) -> Iterator[sqlite3.Connection]:
        connection = None
        try:
            connection = connect(self.path, mode)
            yield connection
        except UnicodeDecodeError as error:  # SQLite quotes the damaged text of a schema
            raise self._damaged("its schema is no text in UTF-8") from error
        except sqlite3.DatabaseError as error:
            raise self._in_a_sentence(error, mode) from error
        finally:
            if connection is not None:
                connection.close()

    def _in_a_sentence(self, error: sqlite3.DatabaseError, mode: str) -> Exception:
        """Return what to raise: whether the file, or what it holds, is not what it must be."""
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
        is_ours = isinstance(error, sqlite3.OperationalError) and code != sqlite3.SQLITE_ERROR
        if not is_ours:  # no database, a damaged one, or one that lacks our tables
            return self._damaged(f"SQLite says: {error}")
        must = "a file that can be read and written"
        remedy = "see that the folder exists, is writable and has space"
        if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            must = f"free to be read and written within {PATIENCE:g} seconds"
            remedy = "wait for the process that holds it, or end that"
        elif mode != "rwc" and not self.path.exists():
            must, remedy = "a file that stays where it is", "put it back"
        return JournalError(
            f"the journal {str(self.path)!r} must be {must}; SQLite says: {error}; {remedy}."
        )

    def _damaged(self, how: str) -> FileFormatError:
        return FileFormatError(
            f"{str(self.path)!r} must be the journal of a run; {how}; restore it from a copy."
        )

    # -- what a transaction begins with -----------------------------------------------

    def _version(self, connection: sqlite3.Connection) -> int:
        application = connection.execute("PRAGMA application_id").fetchone()[0]
        version = int(connection.execute("PRAGMA user_version").fetchone()[0])
        if application != APPLICATION or version < 1:
            raise FileFormatError(
                f"{str(self.path)!r} must be the journal of a run; it is "
                f"{'another SQLite file' if _n_tables(connection) else 'empty'}; check the path, "
                "or restore it from a copy."
            )
        if version > SCHEMA:
            raise FileFormatError(
                f"journals up to schema {SCHEMA} can be read; {str(self.path)!r} has schema "
                f"{version}; open it with the release of nnbo_mip that wrote it, or a newer one."
            )
        foreign = foreign_entry(connection, _TABLES)
        if foreign:
            raise self._damaged(f"it holds {foreign}, which no journal has")
        return version

    def _migrate(self, connection: sqlite3.Connection) -> None:
        """Make a file of this schema of an older one."""
        version = self._version(connection)
        for old in range(version, SCHEMA):
            try:
                MIGRATIONS[old](connection)
            except (KeyError, TypeError, ValueError, OverflowError) as error:
                raise FileFormatError(
                    f"the journal {str(self.path)!r} of schema {old} must hold what its release "
                    f"wrote; it does not ({type(error).__name__}: {error}); restore it from a copy."
                ) from error
        if version < SCHEMA:
            connection.execute(f"PRAGMA user_version = {SCHEMA}")

    def _run(self, connection: sqlite3.Connection) -> str:
        row = connection.execute("SELECT value FROM meta WHERE key = 'run'").fetchone()
        run = None if row is None else self._decoded(row[0], "the entry 'run'")
        if not isinstance(run, str):
            raise FileFormatError(
                f"the journal {str(self.path)!r} must name its run by a text; got {run!r:.60}; "
                "restore it from a copy."
            )
        return run

    def _check_run(self, connection: sqlite3.Connection) -> None:
        if self.run is not None and self._run(connection) != self.run:
            raise self._replaced("another run")

    def _replaced(self, got: str) -> JournalError:
        return JournalError(
            f"the journal {str(self.path)!r} must hold the run that it was begun or opened for, "
            f"with all events; it holds {got}, as if the file had been replaced; put the right "
            "one back."
        )

    # -- rows ---------------------------------------------------------------------------

    def _events(self, connection: sqlite3.Connection, after: Place) -> Found:
        rows = connection.execute(
            "SELECT seq, key, kind, time, content FROM events WHERE seq >= ? ORDER BY seq",
            (after.number,),
        ).fetchall()
        if after.number:
            if not rows or rows[0][:2] != after:
                raise self._replaced("other events of it")
            del rows[0]
        events = []
        for seq, key, kind, time, content in rows:
            if kind not in KINDS:
                raise FileFormatError(
                    f"events of a journal are of the kinds {', '.join(KINDS)}; event {seq} of "
                    f"{str(self.path)!r} is of kind {kind!r:.40}; restore it from a copy."
                )
            events.append(Event(kind, self._decoded(content, f"event {seq}"), key, time))
        return events, Place(*rows[-1][:2]) if rows else after

    def _decoded(self, text: str, what: str) -> Any:
        try:
            return json.loads(text)
        except (TypeError, ValueError, RecursionError) as error:
            raise FileFormatError(
                f"{what} of the journal {str(self.path)!r} must be JSON; it is not ({error}); "
                "restore it from a copy."
            ) from error


def as_path(given: object) -> Path:
    """Return the absolute path of a journal that a user named."""
    try:
        path = Path(given)  # type: ignore[arg-type]
        is_one = bool(str(given)) and b"\0" not in os.fsencode(path)
    except (TypeError, ValueError):
        is_one = False
    if not is_one:
        raise InputError(
            f"a journal must be the path of a file, a text or a Path; got {shown(given)}; name a "
            "file."
        )
    return path.absolute()


def connect(path: Path, mode: str) -> sqlite3.Connection:
    """Return a connection to a file; `mode` is that of SQLite's URIs."""
    address = f"file:{quote(os.fsencode(path.absolute()))}?mode={mode}"
    return sqlite3.connect(address, uri=True, timeout=PATIENCE, isolation_level=None)


def _n_tables(connection: sqlite3.Connection) -> int:
    return int(connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0])


def _insert(connection: sqlite3.Connection, events: Iterable[Event]) -> None:
    connection.executemany(
        "INSERT OR IGNORE INTO events (key, kind, time, content) VALUES (?, ?, ?, ?)",
        [
            (event.key, event.kind, event.time, json.dumps(event.content, allow_nan=False))
            for event in events
        ],
    )
