"""The tables of a store, one SQLite file; docs/lab.md says what every column means.

A unit is planned, finished or failed; one under way is planned: whoever starts next runs it
again. The outcome of an attempt is finished, error (an exception) or died (the process that
ran it ended).
"""

from __future__ import annotations

APPLICATION = 0x6E6E626C
"""The file says in its header that it is one of ours: the letters nnbl."""

SCHEMA = 1
"""Version of the tables and their contents; in the header as well."""

TABLES = (
    """CREATE TABLE experiments (
        id INTEGER PRIMARY KEY,
        name TEXT NOT NULL UNIQUE,
        description TEXT NOT NULL,
        file TEXT NOT NULL,
        metrics TEXT NOT NULL,
        created REAL NOT NULL,
        changed REAL NOT NULL
    )""",
    """CREATE TABLE environments (
        id INTEGER PRIMARY KEY,
        content TEXT NOT NULL UNIQUE
    )""",
    """CREATE TABLE units (
        id INTEGER PRIMARY KEY,
        key TEXT NOT NULL UNIQUE,
        content TEXT NOT NULL,
        instance INTEGER NOT NULL,
        starts INTEGER NOT NULL,
        steps INTEGER NOT NULL,
        dimension INTEGER NOT NULL,
        direction TEXT NOT NULL,
        optimum REAL,
        scaled INTEGER NOT NULL,
        status TEXT NOT NULL DEFAULT 'planned',
        environment INTEGER REFERENCES environments,
        started REAL,
        seconds REAL,
        cpu_seconds REAL,
        message TEXT NOT NULL DEFAULT ''
    )""",
    """CREATE TABLE plan (
        experiment INTEGER NOT NULL REFERENCES experiments,
        unit INTEGER NOT NULL REFERENCES units,
        position INTEGER NOT NULL,
        problem TEXT NOT NULL,
        method TEXT NOT NULL,
        surrogate TEXT NOT NULL,
        acquisition TEXT NOT NULL,
        maximizer TEXT NOT NULL,
        budget REAL,
        variant TEXT NOT NULL,
        PRIMARY KEY (experiment, unit)
    ) WITHOUT ROWID""",
    """CREATE TABLE attempts (
        unit INTEGER NOT NULL REFERENCES units,
        number INTEGER NOT NULL,
        outcome TEXT NOT NULL,
        started REAL NOT NULL,
        seconds REAL NOT NULL,
        host TEXT NOT NULL,
        message TEXT NOT NULL,
        PRIMARY KEY (unit, number)
    ) WITHOUT ROWID""",
    """CREATE TABLE observations (
        unit INTEGER NOT NULL REFERENCES units,
        number INTEGER NOT NULL,
        y REAL,
        truth REAL,
        seconds REAL NOT NULL,
        x TEXT NOT NULL,
        PRIMARY KEY (unit, number)
    ) WITHOUT ROWID""",
    """CREATE TABLE steps (
        unit INTEGER NOT NULL REFERENCES units,
        number INTEGER NOT NULL,
        status TEXT NOT NULL,
        value REAL,
        bound REAL,
        gap REAL,
        kind TEXT NOT NULL,
        engine TEXT NOT NULL,
        head TEXT NOT NULL,
        mean REAL,
        std REAL,
        c REAL,
        eps REAL,
        doublings INTEGER NOT NULL,
        seconds REAL NOT NULL,
        fit_seconds REAL NOT NULL,
        ask_seconds REAL NOT NULL,
        evaluations INTEGER NOT NULL,
        time_limited INTEGER NOT NULL,
        message TEXT NOT NULL,
        counters TEXT NOT NULL,
        PRIMARY KEY (unit, number)
    ) WITHOUT ROWID""",
)
