"""How many beliefs out of runs are closed, and in how much time.

    python -m benchmarks.frontier [--families gp …] [--inputs 4 5 6 8] [--roles pilots judged]
        [--scores ei ucb] [--evaluations 20 35 50] [--limit 10] [--out frontier.jsonl] [--report]

Each question is the exact maximum of an acquisition over the whole box, at a gap of 1e-4, by
``auto`` in one thread, limited in CPU seconds. What is in the file is not measured again, so that a
killed run goes on; `--report` only prints. A time that ran out counts as the limit.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from pathlib import Path
from typing import Any

import nnbo_mip as nm
from benchmarks.frontier.beliefs import (
    EVALUATIONS,
    FAMILIES,
    INPUTS,
    ROLES,
    SCORES,
    Run,
    problem_of,
    runs,
)
from nnbo_mip.core.control import kept_by
from nnbo_mip.exact.heads.maximize_head import Ways, maximize_head
from nnbo_mip.exact.heads.sequence import SequenceOptions
from nnbo_mip.exact.search.monitor import Monitor
from nnbo_mip.network.graph.graph import Network

GAP = 1e-4

Row = dict[str, Any]


def main(arguments: list[str] | None = None) -> int:
    """Measure what is missing, and print the table."""
    options = parser().parse_args(arguments)
    rows = [json.loads(line) for line in read(options.out)]
    known = {(row["belief"], row["score"], row["limit"]) for row in rows}
    if not options.report:
        nm.certify(Network.from_layers([([[1.0]], [0.0])]), [(0.0, 1.0)])  # loads the kernels
    for run, count, score in questions(options):
        name = run.path(count).stem
        if options.report or (name, score, options.limit) in known:
            continue
        row = {"belief": name, "score": score, **measured(run, count, score, options.limit)}
        print(json.dumps(row), flush=True)
        rows.append(row)
        with options.out.open("a") as file:
            file.write(json.dumps(row) + "\n")
    for role in options.roles:
        print(table(role, rows, options))
    return 0


def questions(options: argparse.Namespace) -> list[tuple[Run, int, str]]:
    """Return what is asked."""
    return [
        (run, count, score)
        for run in runs(options.families, options.inputs, options.roles)
        for count in options.evaluations
        for score in options.scores
        if run.path(count).exists()
    ]


def measured(run: Run, count: int, score: str, limit: float) -> Row:
    """Return what became of one question."""
    problem = problem_of(run.path(count), score)
    with kept_by(time.process_time):
        monitor, started = Monitor(problem, GAP, limit), time.process_time()
        result = maximize_head(Ways(problem), SequenceOptions(), monitor)
        seconds = time.process_time() - started
    return {
        "limit": limit,
        "status": result.status,
        "seconds": round(seconds, 3),
        "value": monitor.best_value,
        "gap": monitor.bound - monitor.best_value,
        "boxes": result.counters.get("boxes", 0),
    }


def table(role: str, rows: list[Row], options: argparse.Namespace) -> str:
    """Return share closed, median seconds and median gap, for each family, score and d."""
    lines = [
        f"{role}, {options.limit:g} CPU s",
        "",
        "| family | score | inputs | closed | median s | median gap of the others |",
        "|---|---|---|---|---|---|",
    ]
    found = {(row["belief"], row["score"]): row for row in rows if row["limit"] == options.limit}
    for family in options.families:
        for score in options.scores:
            for d in options.inputs:
                mine = [
                    found[key]
                    for run in runs([family], [d], [role])
                    for count in options.evaluations
                    if (key := (run.path(count).stem, score)) in found
                ]
                if mine:
                    lines.append(f"| {family} | {score} | {d} | {_shown(mine, options.limit)} |")
    return "\n".join(lines)


def _shown(rows: list[Row], limit: float) -> str:
    closed = [row for row in rows if row["status"] == "optimal"]
    times = [row["seconds"] if row in closed else limit for row in rows]
    gaps = [row["gap"] for row in rows if row not in closed]
    gap = f"{statistics.median(gaps):.2g}" if gaps else ""
    return f"{len(closed)} of {len(rows)} | {statistics.median(times):.2g} | {gap}"


def read(path: Path) -> list[str]:
    """Return the lines of a file that may not be there."""
    return path.read_text().splitlines() if path.exists() else []


def parser() -> argparse.ArgumentParser:
    """Return the options."""
    made = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    made.add_argument("--families", nargs="+", choices=tuple(FAMILIES), default=["gp"])
    made.add_argument("--inputs", nargs="+", type=int, default=list(INPUTS))
    made.add_argument("--roles", nargs="+", choices=tuple(ROLES), default=list(ROLES))
    made.add_argument("--scores", nargs="+", choices=SCORES, default=list(SCORES))
    made.add_argument("--evaluations", nargs="+", type=int, default=list(EVALUATIONS))
    made.add_argument("--limit", type=float, default=10.0, help="CPU seconds of a question")
    made.add_argument("--out", type=Path, default=Path("frontier.jsonl"))
    made.add_argument("--report", action="store_true")
    return made


if __name__ == "__main__":
    raise SystemExit(main())
