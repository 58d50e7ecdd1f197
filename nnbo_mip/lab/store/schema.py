"""The tables of a store, one SQLite file; docs/guide/lab.md says what every column means.

A unit is planned, finished or failed; one under way is planned: whoever starts next runs it
again. The outcome of an attempt is finished, error (an exception) or died (the process that
ran it ended).
"""

from __future__ import annotations

from collections.abc import Mapping

from nnbo_mip.lab.store.columns import (
    ATTEMPTS,
    OBSERVATIONS,
    PLAN,
    STEPS,
    Column,
    definitions,
)

APPLICATION = 0x6E6E626C
"""The file says in its header that it is one of ours: the letters nnbl."""

SCHEMA = 3
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
    f"""CREATE TABLE plan (
        experiment INTEGER NOT NULL REFERENCES experiments,
        unit INTEGER NOT NULL REFERENCES units,
        {definitions(PLAN)},
        PRIMARY KEY (experiment, unit)
    ) WITHOUT ROWID""",
    *(
        f"""CREATE TABLE {name} (
        {definitions(columns)},
        PRIMARY KEY (unit, number),
        FOREIGN KEY (unit) REFERENCES units
    ) WITHOUT ROWID"""
        for name, columns in (
            ("attempts", ATTEMPTS),
            ("observations", OBSERVATIONS),
            ("steps", STEPS),
        )
    ),
)

TABLE_NAMES = frozenset(
    ("experiments", "environments", "units", "plan", "attempts", "observations", "steps")
)

ADDED: Mapping[str, tuple[Column, ...]] = {
    name: tuple(column for column in columns if column.schema > 1)
    for name, columns in (("observations", OBSERVATIONS), ("steps", STEPS))
}
"""Columns that older stores lack, by table."""
