"""`Store`: the one writer of a file of results.

Write-ahead logging lets a report read while a run writes. A commit has reached the disk when `add`
returns (``synchronous=FULL``), so what a killed runner had been told of is kept.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from nnbo_mip.core.errors import InputError
from nnbo_mip.lab.plan.plan import Plan
from nnbo_mip.lab.store.answer import Answer
from nnbo_mip.lab.store.columns import ATTEMPTS, OBSERVATIONS, PLAN, STEPS, Column, insert
from nnbo_mip.lab.store.database import alone, check_version, create, sentences_of, upgrade
from nnbo_mip.loop.record.journal import connect


class Store:
    """Writes plans and answers; see `opened`.

    Parameters
    ----------
    path : Path
    connection : sqlite3.Connection
    """

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path = path
        self._connection = connection

    def no_longer_planned(self, plan: Plan) -> int:
        """Return how many finished units an experiment's earlier plan has and this one has not."""
        keys = {planned.unit.key for planned in plan}
        with sentences_of(self.path):
            rows = self._connection.execute(
                "SELECT u.key FROM units u JOIN plan p ON p.unit = u.id "
                "JOIN experiments e ON e.id = p.experiment "
                "WHERE e.name = ? AND u.status = 'finished'",
                (plan.name,),
            ).fetchall()
        return sum(key not in keys for (key,) in rows)

    def write_plan(self, plan: Plan, extend: bool = False) -> dict[str, str]:
        """Write what is to be run, in the place of an experiment's earlier plan.

        Units that are there already keep what they have; those that are no longer planned stay in
        the store. Returns the status of every planned unit by its key.

        Parameters
        ----------
        plan : Plan
        extend : bool
            Whether the earlier plan stays, and this one comes after it.
        """
        with self._transaction() as connection:
            experiment, first = self._experiment(connection, plan), 0
            if extend:
                first = connection.execute(
                    "SELECT coalesce(max(position) + 1, 0) FROM plan WHERE experiment = ?",
                    (experiment,),
                ).fetchone()[0]
            else:
                connection.execute("DELETE FROM plan WHERE experiment = ?", (experiment,))
            connection.executemany(
                "INSERT OR IGNORE INTO units (key, content, instance, starts, steps, dimension, "
                "direction, optimum, scaled) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    (
                        planned.unit.key,
                        planned.unit.to_text(),
                        planned.unit.instance,
                        planned.unit.n_starts,
                        planned.unit.steps,
                        planned.dimension,
                        planned.direction,
                        planned.optimum,
                        planned.unit.scaled,
                    )
                    for planned in plan
                ),
            )
            names = [column.name for column in PLAN]
            connection.executemany(
                f"INSERT OR IGNORE INTO plan (experiment, unit, {', '.join(names)}) SELECT "
                f":experiment, id, {', '.join(f':{name}' for name in names)} FROM units "
                "WHERE key = :key",
                (
                    {name: getattr(planned, name) for name in names if name != "position"}
                    | {"experiment": experiment, "position": position, "key": planned.unit.key}
                    for position, planned in enumerate(plan, first)
                ),
            )
            rows = connection.execute(
                "SELECT key, status FROM units JOIN plan ON unit = id WHERE experiment = ?",
                (experiment,),
            ).fetchall()
        return dict(rows)

    def add(self, answers: Sequence[Answer]) -> None:
        """Write what became of units; when this returns, it is on disk.

        A unit that is finished already stays as it is, so that nothing is counted twice.
        """
        with self._transaction() as connection:
            for answer in answers:
                self._add(connection, answer)

    # -- parts --------------------------------------------------------------------------

    def _experiment(self, connection: sqlite3.Connection, plan: Plan) -> int:
        now = time.time()
        connection.execute(
            "INSERT INTO experiments (name, description, file, metrics, created, changed) "
            "VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (name) DO UPDATE SET "
            "description = excluded.description, file = excluded.file, "
            "metrics = excluded.metrics, changed = excluded.changed",
            (plan.name, plan.description, plan.file, json.dumps(plan.metrics), now, now),
        )
        found = connection.execute("SELECT id FROM experiments WHERE name = ?", (plan.name,))
        return int(found.fetchone()[0])

    def _add(self, connection: sqlite3.Connection, answer: Answer) -> None:
        unit, status = connection.execute(
            "SELECT id, status FROM units WHERE key = ?", (answer.key,)
        ).fetchone()
        if status == "finished":
            return
        tried = connection.execute(
            "SELECT count(*) FROM attempts WHERE unit = ?", (unit,)
        ).fetchone()[0]
        connection.executemany(
            insert("attempts", ATTEMPTS),
            [
                {"unit": unit, "number": number, **asdict(one)}
                for number, one in enumerate(answer.attempts, tried)
            ],
        )
        last = answer.attempts[-1]
        result = answer.result or {}
        connection.execute(
            "UPDATE units SET status = ?, environment = ?, started = ?, seconds = ?, "
            "cpu_seconds = ?, message = ? WHERE id = ?",
            (
                answer.status,
                _environment(connection, answer.environment),
                last.started,
                last.seconds,
                result.get("cpu_seconds"),
                last.message,
                unit,
            ),
        )
        if answer.result is not None:
            self._add_result(connection, unit, answer.result)

    def _add_result(
        self, connection: sqlite3.Connection, unit: int, result: Mapping[str, Any]
    ) -> None:
        observed = result["observations"]
        rows = (
            {"number": number, **dict(zip(observed, values, strict=True))}
            for number, values in enumerate(zip(*observed.values(), strict=True))
        )
        for table, columns, records in (
            ("observations", OBSERVATIONS, rows),
            ("steps", STEPS, result["steps"]),
        ):
            connection.executemany(
                insert(table, columns), (_row(columns, unit, record) for record in records)
            )

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with sentences_of(self.path):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
            except BaseException:
                self._connection.execute("ROLLBACK")
                raise
            self._connection.execute("COMMIT")


def _row(columns: Sequence[Column], unit: int, record: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is written of a record of a unit."""
    whole = {**dict.fromkeys(one.name for one in columns if one.is_optional), **record}
    whole["unit"] = unit
    return {
        column.name: json.dumps(whole[column.name]) if column.is_json else whole[column.name]
        for column in columns
    }


def _environment(
    connection: sqlite3.Connection, environment: Mapping[str, Any] | None
) -> int | None:
    if environment is None:
        return None
    text = json.dumps(environment, sort_keys=True)
    connection.execute("INSERT OR IGNORE INTO environments (content) VALUES (?)", (text,))
    found = connection.execute("SELECT id FROM environments WHERE content = ?", (text,))
    return int(found.fetchone()[0])


@contextmanager
def opened(path: Path) -> Iterator[Store]:
    """Yield a store to write to, made where there is none; nobody else may write meanwhile."""
    if not path.parent.is_dir():
        raise InputError(
            f"a store must be a file in an existing folder; got {str(path)!r}; create the folder."
        )
    with alone(path), sentences_of(path), closing(connect(path, "rwc")) as connection:
        if connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            upgrade(connection, check_version(connection, path))
        else:
            create(connection)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        yield Store(path, connection)
