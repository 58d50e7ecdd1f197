"""What a SQLite file of ours may hold: our tables, and what SQLite keeps about them.

A trigger or a view of somebody else would make a file say something else than was written.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection

OF_SQLITE = "sqlite_"
"""Begins the names that SQLite alone may give."""


def foreign_entry(connection: sqlite3.Connection, tables: Collection[str]) -> str:
    """Return what of a schema is not ours, in words; empty where all is.

    Parameters
    ----------
    connection : Connection
    tables : collection of str
        The statements that made our tables, or the names of these where statements differ from
        release to release.
    """
    rows = connection.execute("SELECT type, name, sql FROM sqlite_master").fetchall()
    for kind, name, statement in rows:
        is_ours = kind == "table" and (statement in tables or name in tables)
        if not is_ours and not str(name).startswith(OF_SQLITE):
            return f"the {kind} {name!r:.60}"
    return ""
