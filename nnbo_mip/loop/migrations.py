"""What makes a journal of schema k one of schema k + 1.

From 1 to 2: settings have a region and an embedding, and suggestions say within which region they
were looked for; points of embeddings are kept beside their images. From 2 to 3: settings have a
warp.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Mapping
from types import MappingProxyType


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


MIGRATIONS: Mapping[int, Callable[[sqlite3.Connection], None]] = MappingProxyType(
    {1: _second, 2: _third}
)
"""By the schema that a file has before."""
