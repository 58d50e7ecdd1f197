"""What a report says of steps, added up or sampled by SQLite: a store may hold millions of them."""

from __future__ import annotations

import math
from collections.abc import Mapping

from nnbo_mip.lab.store.database import as_written, reading
from nnbo_mip.lab.store.frame import Frame
from nnbo_mip.lab.store.results import Results

TOTALS: Mapping[str, type] = {
    "method": str,
    "steps": int,
    "optimal": int,
    "feasible": int,
    "heuristic": int,
    "proven": int,
    "time_limited": int,
    "doublings": int,
    "messages": int,
    "seconds": float,
    "fit_seconds": float,
    "ask_seconds": float,
    "evaluations": float,
}

DOUBLINGS: Mapping[str, type] = {"method": str, "number": int, "doublings": float}

GAPS: Mapping[str, type] = {"seconds": float, "gap": float}

OF_THE_PLAN = "FROM plan p CROSS JOIN steps t ON t.unit = p.unit WHERE p.experiment = ?"
"""Steps of finished units; nothing is written of others."""


def step_totals(results: Results) -> Frame:
    """Return one row a method that took steps, in the order of the plan.

    Steps by status; `proven`, those with a finite bound; sums of the rest.
    """
    with reading(results.path) as connection:
        rows = connection.execute(
            "SELECT p.method, count(*), sum(t.status = 'optimal'), sum(t.status = 'feasible'), "
            "sum(t.status = 'heuristic'), sum(t.kind != 'none'), sum(t.time_limited), "
            "sum(t.doublings), sum(t.message != ''), sum(t.seconds), sum(t.fit_seconds), "
            f"sum(t.ask_seconds), total(t.evaluations) {OF_THE_PLAN} "
            "GROUP BY p.method ORDER BY min(p.position)",
            (results.experiment.id,),
        ).fetchall()
    with as_written(results.path):
        return Frame.of_rows(rows, TOTALS)


def sampled_gaps(results: Results, problem: str, method: str, most: int) -> Frame:
    """Return seconds and gaps of proven steps, evenly chosen where there are more than `most`."""
    chosen = f"{OF_THE_PLAN} AND p.problem = ? AND p.method = ? AND t.gap IS NOT NULL "
    finite = "AND t.gap < 9e999 "
    key = (results.experiment.id, problem, method)
    with reading(results.path) as connection:
        count = connection.execute(f"SELECT count(*) {chosen}{finite}", key).fetchone()[0]
        every = max(math.ceil(count / most), 1)
        rows = connection.execute(
            "SELECT seconds, gap FROM (SELECT t.seconds, t.gap, row_number() OVER (ORDER BY "
            f"t.unit, t.number) AS place {chosen}{finite}) WHERE place % ? = 0",
            (*key, every),
        ).fetchall()
    with as_written(results.path):
        return Frame.of_rows(rows, GAPS)


def mean_doublings(results: Results, problem: str) -> Frame:
    """Return how often the scale was doubled, a row a method and number of evaluation: means."""
    with reading(results.path) as connection:
        rows = connection.execute(
            f"SELECT p.method, t.number, avg(t.doublings) {OF_THE_PLAN} AND p.problem = ? "
            "GROUP BY p.method, t.number ORDER BY min(p.position), t.number",
            (results.experiment.id, problem),
        ).fetchall()
    with as_written(results.path):
        return Frame.of_rows(rows, DOUBLINGS)
