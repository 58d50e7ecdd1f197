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
from pathlib import Path
from typing import Any

from nnbo_mip.core.errors import InputError
from nnbo_mip.lab.plan.plan import Plan
from nnbo_mip.lab.store.answer import Answer
from nnbo_mip.lab.store.database import alone, check_version, create, sentences_of
from nnbo_mip.loop.record.journal import connect

OBSERVED = ("y", "truth", "seconds", "x")
STEP = (
    "number",
    "status",
    "value",
    "bound",
    "gap",
    "kind",
    "engine",
    "head",
    "mean",
    "std",
    "c",
    "eps",
    "doublings",
    "seconds",
    "fit_seconds",
    "ask_seconds",
    "evaluations",
    "time_limited",
    "message",
    "counters",
)
"""Columns of observations and steps as a result names them."""


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

    def write_plan(self, plan: Plan) -> dict[str, str]:
        """Write what is to be run, in the place of an experiment's earlier plan.

        Units that are there already keep what they have; those that are no longer planned stay in
        the store. Returns the status of every planned unit by its key.
        """
        with self._transaction() as connection:
            experiment = self._experiment(connection, plan)
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
            connection.executemany(
                "INSERT INTO plan SELECT ?, id, ?, ?, ?, ?, ?, ?, ?, ? FROM units WHERE key = ?",
                (
                    (
                        experiment,
                        position,
                        planned.problem,
                        planned.method,
                        planned.surrogate,
                        planned.acquisition,
                        planned.maximizer,
                        planned.budget,
                        planned.variant,
                        planned.unit.key,
                    )
                    for position, planned in enumerate(plan)
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
            "INSERT INTO attempts VALUES (?, ?, ?, ?, ?, ?, ?)",
            [
                (unit, number, one.outcome, one.started, one.seconds, one.host, one.message)
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
        rows = zip(*(observed[name] for name in OBSERVED), strict=True)
        connection.executemany(
            "INSERT INTO observations VALUES (?, ?, ?, ?, ?, ?)",
            [
                (unit, number, y, truth, seconds, json.dumps(x))
                for number, (y, truth, seconds, x) in enumerate(rows)
            ],
        )
        connection.executemany(
            f"INSERT INTO steps VALUES ({', '.join('?' * (len(STEP) + 1))})",
            [
                (unit, *(step[name] for name in STEP[:-1]), json.dumps(step["counters"]))
                for step in result["steps"]
            ],
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
            check_version(connection, path)
        else:
            create(connection)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        yield Store(path, connection)
