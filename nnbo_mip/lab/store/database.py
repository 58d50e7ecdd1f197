"""The file of a store: made, locked, its version checked, SQLite's errors as sentences."""

from __future__ import annotations

import fcntl
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from nnbo_mip.core.errors import FileFormatError, MissingFileError, NnboError, StoreError
from nnbo_mip.core.sqlite_schema import foreign_entry
from nnbo_mip.lab.store.schema import ADDED, APPLICATION, SCHEMA, TABLE_NAMES, TABLES
from nnbo_mip.loop.record.journal import connect


@contextmanager
def sentences_of(path: Path) -> Iterator[None]:
    """Turn what SQLite says of a store into one sentence."""
    try:
        yield
    except sqlite3.OperationalError as error:
        raise StoreError(
            f"the store {str(path)!r} must be a file that can be read and written; SQLite says: "
            f"{error}; see that the folder exists, is writable and has space."
        ) from error
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
        raise FileFormatError(
            f"{str(path)!r} must be a store of results; SQLite says: {error}; restore it from a "
            "copy, or choose another path."
        ) from error


@contextmanager
def as_written(path: Path) -> Iterator[None]:
    """Turn what rows that no runner wrote lead to into one sentence."""
    try:
        yield
    except (ValueError, TypeError, LookupError, OverflowError, RecursionError) as error:
        if isinstance(error, NnboError):
            raise
        raise damaged(path, f"{type(error).__name__}: {str(error)[:100]}") from error


def damaged(path: Path, how: str) -> FileFormatError:
    """Return the error for a store whose contents contradict themselves."""
    return FileFormatError(
        f"the store {str(path)!r} must hold what its runner wrote; it does not ({how}); restore it "
        "from a copy."
    )


@contextmanager
def reading(path: Path) -> Iterator[sqlite3.Connection]:
    """Yield a connection to read a store by; others may write meanwhile."""
    if not path.is_file():
        raise MissingFileError(
            f"a store must be a file that exists; got {str(path)!r}; check the path, or make it "
            "by nnbo-mip run."
        )
    # "ro" could not take in what a killed runner left beside the file.
    mode = "rw" if os.access(path, os.W_OK) and os.access(path.parent, os.W_OK) else "ro"
    with sentences_of(path):
        connection = connect(path, mode)
        try:
            version = check_version(connection, path)
            for table, columns in ADDED.items():
                lacking = [f"NULL AS {one.name}" for one in columns if one.schema > version]
                if lacking:  # what is read by the table's name has them all the same
                    connection.execute(
                        f"CREATE TEMP VIEW {table} AS SELECT *, {', '.join(lacking)} "
                        f"FROM main.{table}"
                    )
            connection.execute("BEGIN")  # all that is read is of one moment
            yield connection
        finally:
            connection.close()


def check_version(connection: sqlite3.Connection, path: Path) -> int:
    """Return the version of a store's tables; refuse a newer one, and what is no store."""
    application = connection.execute("PRAGMA application_id").fetchone()[0]
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    if application != APPLICATION or version < 1:
        raise FileFormatError(
            f"{str(path)!r} must be a store of results; it is "
            f"{'another SQLite file' if path.stat().st_size else 'empty'}; check the path."
        )
    if version > SCHEMA:
        raise FileFormatError(
            f"stores up to schema {SCHEMA} can be read; {str(path)!r} has schema {version}; open "
            "it with the release of nnbo_mip that wrote it, or a newer one."
        )
    foreign = foreign_entry(connection, TABLE_NAMES)
    if foreign:
        raise FileFormatError(
            f"{str(path)!r} must be a store of results; it holds {foreign}, which no store has; "
            "restore it from a copy."
        )
    return version


@contextmanager
def alone(path: Path) -> Iterator[None]:
    """Hold the file's lock, which the system takes back from a process that is killed."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise StoreError(
            f"the store {str(path)!r} must be a file that can be written; got {error.strerror}; "
            "choose another path."
        ) from error
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise StoreError(
                f"one runner at a time writes a store; {str(path)!r} is being written by another; "
                "wait for its end, or choose another path by --store."
            ) from error
        yield
    finally:
        os.close(descriptor)


def create(connection: sqlite3.Connection) -> None:
    """Make the tables."""
    connection.execute("BEGIN IMMEDIATE")
    for statement in TABLES:
        connection.execute(statement)
    connection.execute(f"PRAGMA application_id = {APPLICATION}")
    connection.execute(f"PRAGMA user_version = {SCHEMA}")
    connection.execute("COMMIT")


def upgrade(connection: sqlite3.Connection, version: int) -> None:
    """Give an older store the columns that it lacks."""
    if version == SCHEMA:
        return
    connection.execute("BEGIN IMMEDIATE")
    for table, columns in ADDED.items():
        for column in columns:
            if column.schema > version:
                connection.execute(f"ALTER TABLE {table} ADD COLUMN {column.sql}")
    connection.execute(f"PRAGMA user_version = {SCHEMA}")
    connection.execute("COMMIT")
