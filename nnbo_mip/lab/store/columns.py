"""The columns of a store, each listed once: tables, inserts and readers are made of these lists.

A step's columns that are called as fields of `Suggestion` hold what it has there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

SQL_TYPES: Mapping[type, str] = {
    int: "INTEGER",
    bool: "INTEGER",
    float: "REAL",
    str: "TEXT",
    dict: "TEXT",
    list: "TEXT",
}
"""Dicts and lists are kept as JSON."""


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Parameters
    ----------
    name : str
    kind : type
        Of its values.
    is_optional : bool
        Whether it may be NULL, which is read as NaN.
    schema : int
        The version of the tables that has it first.
    """

    name: str
    kind: type
    is_optional: bool = False
    schema: int = 1

    @property
    def sql(self) -> str:
        """What ``CREATE TABLE`` says of it."""
        return f"{self.name} {SQL_TYPES[self.kind]}{'' if self.is_optional else ' NOT NULL'}"

    @property
    def is_json(self) -> bool:
        """Whether it is kept as JSON."""
        return self.kind in (dict, list)


PLAN = (
    Column("position", int),
    Column("problem", str),
    Column("method", str),
    Column("surrogate", str),
    Column("acquisition", str),
    Column("maximizer", str),
    Column("budget", float, is_optional=True),
    Column("variant", str),
)

UNITS = (
    Column("key", str),
    Column("instance", int),
    Column("starts", int),
    Column("steps", int),
    Column("dimension", int),
    Column("direction", str),
    Column("optimum", float, is_optional=True),
    Column("scaled", bool),
    Column("status", str),
    Column("environment", float, is_optional=True),
    Column("started", float, is_optional=True),
    Column("seconds", float, is_optional=True),
    Column("cpu_seconds", float, is_optional=True),
    Column("message", str),
)

OBSERVATIONS = (
    Column("unit", int),
    Column("number", int),
    Column("y", float, is_optional=True),
    Column("truth", float, is_optional=True),
    Column("seconds", float),
    Column("x", list),
    Column("reported", float, is_optional=True, schema=3),
)

STEPS = (
    Column("unit", int),
    Column("number", int),
    Column("status", str),
    Column("value", float, is_optional=True),
    Column("bound", float, is_optional=True),
    Column("gap", float, is_optional=True),
    Column("kind", str),
    Column("engine", str),
    Column("head", str),
    Column("mean", float, is_optional=True),
    Column("std", float, is_optional=True),
    Column("c", float, is_optional=True),
    Column("eps", float, is_optional=True),
    Column("doublings", int),
    Column("seconds", float),
    Column("fit_seconds", float),
    Column("ask_seconds", float),
    Column("evaluations", int),
    Column("time_limited", bool),
    Column("message", str),
    Column("counters", dict),
    Column("side", float, is_optional=True, schema=2),
    Column("share", float, is_optional=True, schema=3),
    Column("moving", float, is_optional=True, schema=3),
    Column("cpu_seconds", float, is_optional=True, schema=3),
)

ATTEMPTS = (
    Column("unit", int),
    Column("number", int),
    Column("outcome", str),
    Column("started", float),
    Column("seconds", float),
    Column("host", str),
    Column("message", str),
)


def types_of(columns: Sequence[Column]) -> dict[str, type]:
    """Return what a frame holds of these columns; JSON is left out."""
    return {column.name: column.kind for column in columns if not column.is_json}


def definitions(columns: Sequence[Column]) -> str:
    """Return what stands between the brackets of ``CREATE TABLE``."""
    return ", ".join(column.sql for column in columns)


def insert(table: str, columns: Sequence[Column]) -> str:
    """Return the statement that writes a row, given as a mapping."""
    names = [column.name for column in columns]
    values = ", ".join(f":{name}" for name in names)
    return f"INSERT INTO {table} ({', '.join(names)}) VALUES ({values})"
