"""What makes a journal of schema k one of schema k + 1.

From 1 to 2: settings have a region and an embedding, and suggestions say within which region they
were looked for; points of embeddings are kept beside their images. From 2 to 3: settings have a
warp. From 3 to 4: a run has an id, and maximizers have no limit of their own. From 4 to 5: workers
are listed. From 5 to 6: settings have a stop rule, and events say when one ended the run.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Callable, Mapping
from types import MappingProxyType

from nnbo_mip.loop.record.serialization import number_in
from nnbo_mip.loop.record.workers import TABLE

OLD_SECONDS = 60.0
"""Wall seconds that maximizers had by default up to schema 3."""


def _second(connection: sqlite3.Connection) -> None:
    """Write what a run was before there were regions and embeddings."""
    row = connection.execute("SELECT value FROM meta WHERE key = 'settings'").fetchone()
    settings = json.loads(row[0])
    settings["options"] |= {"region": {"name": "none"}, "embedding": {"name": "none"}}
    connection.execute("UPDATE meta SET value = ? WHERE key = 'settings'", (json.dumps(settings),))
    events = connection.execute("SELECT seq, kind, content FROM events").fetchall()
    for seq, kind, text in events:
        content = json.loads(text)
        if kind == "ask":
            content["suggestion"] |= {"region": None, "z": None}
        elif kind == "tell":
            content["z"] = None
        text = json.dumps(content, allow_nan=False)
        connection.execute("UPDATE events SET content = ? WHERE seq = ?", (text, seq))


def _third(connection: sqlite3.Connection) -> None:
    """Write that values were taken as they were."""
    row = connection.execute("SELECT value FROM meta WHERE key = 'settings'").fetchone()
    settings = json.loads(row[0])
    settings["options"] |= {"warp": {"name": "none"}}
    connection.execute("UPDATE meta SET value = ? WHERE key = 'settings'", (json.dumps(settings),))


def _fourth(connection: sqlite3.Connection) -> None:
    """Name the run by what is kept of its start, so that every copy of the file has one name.

    Maximizers had a limit of 60 seconds of their own, which no ask that is shorter meets.
    """
    rows = connection.execute("SELECT key, value FROM meta ORDER BY key").fetchall()
    run = hashlib.sha256(json.dumps(rows).encode()).hexdigest()[:16]
    connection.execute("INSERT INTO meta VALUES ('run', ?)", (json.dumps(run),))
    settings = json.loads(dict(rows)["settings"])
    maximizer = settings["options"]["maximizer"]
    is_default = isinstance(maximizer, dict) and maximizer.get("time_limit") == OLD_SECONDS
    if is_default and number_in(settings["time_limit"]) <= OLD_SECONDS:
        del maximizer["time_limit"]
        text = json.dumps(settings)
        connection.execute("UPDATE meta SET value = ? WHERE key = 'settings'", (text,))


def _fifth(connection: sqlite3.Connection) -> None:
    """Make room for workers; asks of before name none."""
    connection.execute(TABLE)


def _sixth(connection: sqlite3.Connection) -> None:
    """Write that nothing but the number of evaluations ended a run."""
    row = connection.execute("SELECT value FROM meta WHERE key = 'settings'").fetchone()
    settings = json.loads(row[0])
    settings["options"] |= {"stop": {"name": "none"}}
    connection.execute("UPDATE meta SET value = ? WHERE key = 'settings'", (json.dumps(settings),))


MIGRATIONS: Mapping[int, Callable[[sqlite3.Connection], None]] = MappingProxyType(
    {1: _second, 2: _third, 3: _fourth, 4: _fifth, 5: _sixth}
)
"""By the schema that a file has before."""
