"""`Journal`: the events of a run in one SQLite file.

    meta    key, value      when and with which versions the run was started, its settings
    events  seq, key, kind, time, content

Contents are JSON. An append is one transaction and has reached the disk when it returns
(``synchronous=EXTRA``, which is FULL and a sync of the folder). A connection lives as long as one
transaction: processes, threads and forks may share a file, and nothing is open when a process is
killed. What a killed process had not committed is rolled back by whoever opens the file next.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

from nnbo_mip.errors import FileFormatError, InputError, JournalError, MissingFileError
from nnbo_mip.loop.events import KINDS, Event
from nnbo_mip.loop.migrations import MIGRATIONS

APPLICATION = 0x6E6E626F
"""The file says in its header that it is one of ours: the letters nnbo."""

SCHEMA = 3
"""Version of the tables and their contents; in the header as well."""

PATIENCE = 30.0
"""Seconds to wait for another process that writes."""

_TABLES = (
    "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE events (seq INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT NOT NULL UNIQUE, "
    "kind TEXT NOT NULL, time REAL NOT NULL, content TEXT NOT NULL)",
)


class Journal:
    """A file that holds one run; see `create` and `open`.

    Parameters
    ----------
    path : Path
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    # -- files ------------------------------------------------------------------------

    @classmethod
    def create(cls, path: str | Path, meta: Mapping[str, Any]) -> Journal:
        """Begin a journal; a file that is there already is refused unless it is empty.

        Parameters
        ----------
        path : path
        meta : mapping
            JSON-able.
        """
        journal = cls(Path(path))
        with journal._transaction("rwc") as connection:
            if _n_tables(connection):
                raise InputError(
                    f"a new run needs a journal of its own; {str(path)!r} is in use; continue "
                    "with BayesianOptimizer.open, or choose another path."
                )
            for statement in _TABLES:
                connection.execute(statement)
            rows = [(key, json.dumps(value, allow_nan=False)) for key, value in meta.items()]
            connection.executemany("INSERT INTO meta VALUES (?, ?)", rows)
            connection.execute(f"PRAGMA application_id = {APPLICATION}")
            connection.execute(f"PRAGMA user_version = {SCHEMA}")
        return journal

    @classmethod
    def open(cls, path: str | Path) -> Journal:
        """Open a journal; an older one is migrated, a newer one refused."""
        if not Path(path).is_file():
            raise MissingFileError(
                f"a journal must be a file that exists; got {str(path)!r}; check the path."
            )
        journal = cls(Path(path))
        with journal._reading() as connection:
            version = journal._version(connection)
        if version < SCHEMA:
            with journal._transaction() as connection:
                for old in range(journal._version(connection), SCHEMA):
                    journal._migrate(connection, old)
                connection.execute(f"PRAGMA user_version = {SCHEMA}")
        return journal

    @classmethod
    def holds_a_run(cls, path: str | Path) -> bool:
        """Whether there is a file that is not empty.

        One whose creator was killed before the run had begun is empty.
        """
        if not Path(path).is_file() or not Path(path).stat().st_size:
            return False
        with cls(Path(path))._reading() as connection:  # which rolls an unfinished creation back
            return bool(_n_tables(connection))

    # -- contents ---------------------------------------------------------------------

    def meta(self) -> dict[str, Any]:
        """Return what `create` was given."""
        with self._reading() as connection:
            rows = connection.execute("SELECT key, value FROM meta").fetchall()
        return {key: self._decoded(value, f"the entry {key!r}") for key, value in rows}

    def read(self, after: int = 0) -> tuple[list[Event], int]:
        """Return the events after the one with this number, and the number of the last one."""
        with self._reading() as connection:
            return self._events(connection, after)

    def append(
        self, events: Sequence[Event], after: int = 0, if_nobody_asked: bool = False
    ) -> tuple[list[Event], int] | None:
        """Write events, all or none, and return all after a number, as `read` does.

        Parameters
        ----------
        events : sequence of Event
            Those whose key is there already are not written again.
        after : int
            Number of the last event that the caller knows.
        if_nobody_asked : bool
            Write nothing, and return None, if another process has asked since.
        """
        rows = [
            (event.key, event.kind, event.time, json.dumps(event.content, allow_nan=False))
            for event in events
        ]
        with self._transaction() as connection:
            if if_nobody_asked:
                own = {event.key for event in events}
                found, _ = self._events(connection, after)
                if any(event.kind == "ask" and event.key not in own for event in found):
                    return None
            connection.executemany(
                "INSERT OR IGNORE INTO events (key, kind, time, content) VALUES (?, ?, ?, ?)", rows
            )
            answer = self._events(connection, after)
        return answer

    # -- one transaction --------------------------------------------------------------

    @contextmanager
    def _transaction(self, mode: str = "rw") -> Iterator[sqlite3.Connection]:
        """Yield a connection that holds the write lock; commit at the end, or roll back."""
        with self._connection(mode) as connection:
            connection.execute("PRAGMA synchronous = EXTRA")
            connection.execute("BEGIN IMMEDIATE")
            yield connection  # closing a connection rolls back what was not committed
            connection.execute("COMMIT")

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        with self._connection("rw") as connection:  # "ro" could not roll back a killed writer
            yield connection

    @contextmanager
    def _connection(self, mode: str) -> Iterator[sqlite3.Connection]:
        connection = None
        try:
            connection = connect(self.path, mode)
            yield connection
        except sqlite3.OperationalError as error:
            raise JournalError(
                f"the journal {str(self.path)!r} must be a file that can be read and written; "
                f"SQLite says: {error}; see that the folder exists, is writable and has space."
            ) from error
        except sqlite3.DatabaseError as error:
            raise FileFormatError(
                f"{str(self.path)!r} must be the journal of a run; SQLite says: {error}; restore "
                "it from a copy."
            ) from error
        finally:
            if connection is not None:
                connection.close()

    def _migrate(self, connection: sqlite3.Connection, old: int) -> None:
        try:
            MIGRATIONS[old](connection)
        except (KeyError, TypeError, ValueError) as error:
            raise FileFormatError(
                f"the journal {str(self.path)!r} of schema {old} must hold what its release wrote; "
                f"it does not ({type(error).__name__}: {error}); restore it from a copy."
            ) from error

    def _version(self, connection: sqlite3.Connection) -> int:
        application = connection.execute("PRAGMA application_id").fetchone()[0]
        version = int(connection.execute("PRAGMA user_version").fetchone()[0])
        if application != APPLICATION or version < 1:
            raise FileFormatError(
                f"{str(self.path)!r} must be the journal of a run; it is "
                f"{'empty' if not self.path.stat().st_size else 'another SQLite file'}; check the "
                "path."
            )
        if version > SCHEMA:
            raise FileFormatError(
                f"journals up to schema {SCHEMA} can be read; {str(self.path)!r} has schema "
                f"{version}; open it with the release of nnbo_mip that wrote it, or a newer one."
            )
        return version

    def _events(self, connection: sqlite3.Connection, after: int) -> tuple[list[Event], int]:
        rows = connection.execute(
            "SELECT seq, key, kind, time, content FROM events WHERE seq > ? ORDER BY seq", (after,)
        ).fetchall()
        events = []
        for seq, key, kind, time, content in rows:
            if kind not in KINDS:
                raise FileFormatError(
                    f"events of a journal are of the kinds {', '.join(KINDS)}; event {seq} of "
                    f"{str(self.path)!r} is of kind {kind!r:.40}; restore it from a copy."
                )
            events.append(Event(kind, self._decoded(content, f"event {seq}"), key, time))
        return events, rows[-1][0] if rows else after

    def _decoded(self, text: str, what: str) -> Any:
        try:
            return json.loads(text)
        except (TypeError, ValueError) as error:
            raise FileFormatError(
                f"{what} of the journal {str(self.path)!r} must be JSON; it is not ({error}); "
                "restore it from a copy."
            ) from error


def _n_tables(connection: sqlite3.Connection) -> int:
    return int(connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0])


def connect(path: Path, mode: str) -> sqlite3.Connection:
    """Return a connection to a file; `mode` is that of SQLite's URIs."""
    address = f"file:{quote(str(path.absolute()))}?mode={mode}"
    return sqlite3.connect(address, uri=True, timeout=PATIENCE, isolation_level=None)
