"""`Results`: what a store holds of an experiment, as NumPy columns."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Self

import numpy as np

from nnbo_mip.core.arrays import FloatArray, IntArray
from nnbo_mip.core.checks import check_choice, nearest
from nnbo_mip.core.errors import InputError
from nnbo_mip.lab.plan.metrics import METRICS
from nnbo_mip.lab.plan.unit import MOST_EVALUATIONS
from nnbo_mip.lab.store.columns import ATTEMPTS, OBSERVATIONS, PLAN, STEPS, UNITS, types_of
from nnbo_mip.lab.store.curves import Curves, best_so_far
from nnbo_mip.lab.store.database import as_written, damaged, reading
from nnbo_mip.lab.store.frame import Column, Frame, column_of
from nnbo_mip.loop.record.serialization import point_in

RUN_LENGTHS: Mapping[str, type] = {"unit": int, "rows": int}

LAST_MOMENT = 2.5e11
"""Seconds since 1970; before the year 9900."""

FREELY_CLAIMED, LEAST_SHARE = 1 << 16, 1000
"""Runs may end early: what they hold is at most so many times, and so much, less than planned."""

BATCH = 50_000
"""Rows that are in memory as Python's objects at once."""


@dataclass(frozen=True)
class ExperimentRecord:
    """What the store says of an experiment as a whole.

    Parameters
    ----------
    id : int
    name, description : str
    file : str
        The text of its file when it was run last.
    metrics : tuple of str
        What is to be reported.
    created, changed : float
        When it was first run, and when its plan was last written; seconds since 1970.
    """

    id: int
    name: str
    description: str
    file: str
    metrics: tuple[str, ...]
    created: float
    changed: float


@dataclass(frozen=True, eq=False)
class Results:
    """Reads one experiment of a store; what was read is kept.

    Parameters
    ----------
    path : Path
    experiment : ExperimentRecord
    """

    path: Path
    experiment: ExperimentRecord

    @classmethod
    def open(cls, path: str | Path, experiment: str | None = None) -> Self:
        """Open a store.

        Parameters
        ----------
        path : path
        experiment : str, optional
            Its name; may be left out where the store holds one.
        """
        records = experiments(path)
        if experiment is None and len(records) == 1:
            return cls(Path(path), records[0])
        named = [record for record in records if record.name == experiment]
        if not named:
            names = [record.name for record in records]
            asked = "none was named" if experiment is None else f"got {experiment!r}"
            advice = nearest(experiment or "", names) or "name one of them."
            raise InputError(
                f"the store {str(path)!r} holds the experiments {', '.join(names) or 'none'}; "
                f"{asked}; {advice if names else 'run one first.'}"
            )
        return cls(Path(path), named[0])

    # -- frames -------------------------------------------------------------------------

    @cached_property
    def units(self) -> Frame:
        """One row for each unit of the plan, in its order, whatever became of it.

        ``unit``, and the columns of the tables ``plan`` and ``units``; ``attempts``, how often it
        was tried.
        """
        plan, units = types_of(PLAN), types_of(UNITS)
        chosen = [f"p.{name}" for name in plan] + [f"u.{name}" for name in units]
        found = self._frame(
            f"SELECT p.unit, {', '.join(chosen)}, "
            "(SELECT count(*) FROM attempts a WHERE a.unit = p.unit) "
            "FROM plan p JOIN units u ON u.id = p.unit WHERE p.experiment = ? ORDER BY p.position",
            {"unit": int, **plan, **units, "attempts": int},
        )
        lengths = np.stack([found["starts"], found["steps"]])
        if ((lengths < 0) | (lengths > MOST_EVALUATIONS)).any() or (lengths.max(0) < 1).any():
            raise damaged(self.path, f"a unit has a length that is not 1 to {MOST_EVALUATIONS}")
        if (found["dimension"] < 1).any():
            raise damaged(self.path, "a unit has no inputs")
        return found

    @cached_property
    def observations(self) -> Frame:
        """One row for each evaluation of the finished units, ordered by unit and number.

        The columns of the table but ``x``, and ``best`` and ``regret`` (`lab.store.curves`),
        the latter NaN where the optimum is not known.
        """
        frame = self._table("observations", types_of(OBSERVATIONS))
        return frame.with_columns({"best": self._best, "regret": self._regret})

    def observations_with_points(self) -> Frame:
        """Return `observations` with the column ``x``, JSON of an array or an object."""
        return self.observations.with_columns(
            {"x": partial(self._column, "observations", "x", str)}
        )

    @cached_property
    def steps(self) -> Frame:
        """One row for each point that a model chose, ordered by unit and number."""
        return self._table("steps", types_of(STEPS))

    @cached_property
    def attempts(self) -> Frame:
        """One row each time that a unit was tried, ordered by unit and number."""
        types = types_of(ATTEMPTS)
        return self._frame(
            f"SELECT {', '.join(f't.{name}' for name in types)} FROM plan p "
            "CROSS JOIN attempts t ON t.unit = p.unit WHERE p.experiment = ? "
            "ORDER BY p.unit, t.number",
            types,
        )

    # -- parts --------------------------------------------------------------------------

    @property
    def problems(self) -> tuple[str, ...]:
        """Labels of the problems, in the order of the plan."""
        return tuple(dict.fromkeys(self.units["problem"].tolist()))

    @property
    def methods(self) -> tuple[str, ...]:
        """Labels of the methods, in the order of the plan."""
        return tuple(dict.fromkeys(self.units["method"].tolist()))

    def curves(self, problem: str, method: str, metric: str = "regret") -> Curves:
        """Return a metric of all finished instances of a method on a problem.

        Parameters
        ----------
        problem, method : str
            Labels.
        metric : {"regret", "best"}
        """
        check_choice("metric", metric, METRICS)
        units = self.units
        chosen = (units["problem"] == problem) & (units["method"] == method)
        if not chosen.any():
            raise InputError(
                f"the experiment has no method {method!r} on a problem {problem!r}; it has "
                f"{', '.join(self.methods)} on {', '.join(self.problems)}; choose of these."
            )
        rows = units.where(chosen)
        rows = rows.where(np.argsort(rows["instance"], kind="stable"))
        finished = rows.where(rows["status"] == "finished")
        starts, length = int(rows["starts"][0]), int(rows["starts"][0] + rows["steps"][0])
        begins, ends = self._bounds(finished["unit"])
        claimed, present = len(finished) * length, int((ends - begins).sum())
        if claimed > FREELY_CLAIMED + LEAST_SHARE * present:
            raise damaged(self.path, f"units of {claimed} observations hold {present}")
        values = np.full((len(finished), length), np.nan)
        column = self.observations[metric]
        for row, (begin, end) in enumerate(zip(begins, ends, strict=True)):
            if end - begin > length:
                raise damaged(self.path, f"a unit has {end - begin} observations of {length}")
            values[row, : end - begin] = column[begin:end]
            values[row, end - begin :] = column[end - 1] if end > begin else np.nan
        return Curves(
            problem, method, metric, starts, finished["instance"], finished["unit"], values
        )

    def points(self, unit: int) -> list[Any]:
        """Return the points of a unit in order, arrays (d,) or dicts in the user's units."""
        with reading(self.path) as connection:
            rows = connection.execute(
                "SELECT x FROM observations WHERE unit = ? ORDER BY number", (int(unit),)
            ).fetchall()
        with as_written(self.path):
            points = [point_in(json.loads(x)) for (x,) in rows]
            if (
                len({np.shape(point) if isinstance(point, np.ndarray) else () for point in points})
                > 1
            ):
                raise ValueError("points of several dimensions")
        return points

    def settings(self, unit: int) -> dict[str, Any]:
        """Return everything that the outcome of a unit depends on."""
        return self._json("SELECT content FROM units WHERE id = ?", int(unit))

    def environment(self, environment: float) -> dict[str, Any]:
        """Return the machine and the versions that the column ``environment`` stands for."""
        return self._json("SELECT content FROM environments WHERE id = ?", environment)

    # -- reading ------------------------------------------------------------------------

    def _frame(self, query: str, types: Mapping[str, type]) -> Frame:
        with reading(self.path) as connection, as_written(self.path):
            return Frame.of_rows(connection.execute(query, (self.experiment.id,)).fetchall(), types)

    def _table(self, table: str, columns: Mapping[str, type]) -> Frame:
        """Return a frame whose columns are read when they are asked for.

        A unit that is finished never changes, so that columns which are read at different times
        belong together, also while others write.
        """
        with self._finished() as connection:
            query = f"SELECT f.unit, count(*) {_rows_of(table)} GROUP BY f.unit ORDER BY f.unit"
            counted = Frame.of_rows(connection.execute(query).fetchall(), RUN_LENGTHS)
        read = {name: partial(self._column, table, name, kind) for name, kind in columns.items()}
        units = np.repeat(counted["unit"], counted["rows"])
        return Frame({**read, "unit": units}, len(units))

    def _column(self, table: str, name: str, kind: type) -> Column:
        parts: list[Column] = []
        with self._finished() as connection, as_written(self.path):
            query = f"SELECT t.{name} {_rows_of(table)} ORDER BY f.unit, t.number"
            found = connection.execute(query)
            while not parts or len(parts[-1]) == BATCH:
                parts.append(column_of([value for (value,) in found.fetchmany(BATCH)], kind))
        return np.concatenate(parts)

    @contextmanager
    def _finished(self) -> Iterator[sqlite3.Connection]:
        """Yield a connection with the units that were finished when this was opened."""
        units = self.units["unit"][self.units["status"] == "finished"]
        with reading(self.path) as connection:
            connection.execute("CREATE TEMP TABLE finished (unit INTEGER PRIMARY KEY)")
            rows = ((unit,) for unit in units.tolist())
            connection.executemany("INSERT INTO finished VALUES (?)", rows)
            yield connection

    def _json(self, query: str, key: float) -> dict[str, Any]:
        with reading(self.path) as connection, as_written(self.path):
            row = connection.execute(query, (int(key),)).fetchone()
        if row is None:
            raise InputError(
                f"the store {str(self.path)!r} has no entry {key}; see the frame units."
            )
        with as_written(self.path):
            return dict(json.loads(row[0]))

    # -- what follows from the facts ------------------------------------------------------

    def _best(self) -> FloatArray:
        begins, _, rows = self._runs
        return best_so_far(self.observations["y"], begins, self._signs[rows])

    def _regret(self) -> FloatArray:
        begins, lengths, rows = self._runs
        signs = self._signs[rows]
        truth = best_so_far(self.observations["truth"], begins, signs)
        optimum = np.repeat(self.units["optimum"][rows], lengths)
        regret: FloatArray = np.repeat(signs, lengths) * (truth - optimum)
        return regret

    @property
    def _signs(self) -> FloatArray:
        """By which the values of each unit are multiplied to be minimized."""
        return np.where(self.units["direction"] == "minimize", 1.0, -1.0)

    @cached_property
    def _runs(self) -> tuple[IntArray, IntArray, IntArray]:
        """Where each run begins among the observations, how long it is, and its row of units."""
        present, begins = np.unique(self.observations["unit"], return_index=True)
        order = np.argsort(self.units["unit"])
        rows = order[np.searchsorted(self.units["unit"], present, sorter=order)]
        return begins, np.diff(np.append(begins, len(self.observations))), rows

    def _bounds(self, units: IntArray) -> tuple[IntArray, IntArray]:
        """Return where the observations of units begin and end."""
        column = self.observations["unit"]
        return np.searchsorted(column, units, "left"), np.searchsorted(column, units, "right")


def _rows_of(table: str) -> str:
    return f"FROM finished f CROSS JOIN {table} t ON t.unit = f.unit"


def experiments(path: str | Path) -> tuple[ExperimentRecord, ...]:
    """Return what a store holds, in the order in which it was first run."""
    with reading(Path(path)) as connection:
        rows: list[sqlite3.Row] = connection.execute(
            "SELECT id, name, description, file, metrics, created, changed FROM experiments "
            "ORDER BY id"
        ).fetchall()
    with as_written(Path(path)):
        return tuple(
            ExperimentRecord(
                int(row[0]),
                str(row[1]),
                str(row[2]),
                str(row[3]),
                _metrics(row[4]),
                _moment(row[5]),
                _moment(row[6]),
            )
            for row in rows
        )


def _moment(seconds: float) -> float:
    """Return seconds since 1970 that a calendar has."""
    if not 0.0 <= seconds < LAST_MOMENT:
        raise ValueError(f"the time {seconds}")
    return float(seconds)


def _metrics(text: str) -> tuple[str, ...]:
    """Return what is to be reported."""
    metrics = json.loads(text)
    if not isinstance(metrics, list) or not set(metrics) <= set(METRICS):
        raise ValueError(f"metrics {text[:40]}")
    return tuple(metrics)
