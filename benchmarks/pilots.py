"""Pilots: what a default does on noisy values, on functions that no benchmark has.

    python -m benchmarks.pilots [--seeds 3] [--problems sinone camelback …] [--shares 0 0.1 0.3]
        [--ways told silent random] [--evaluations 50] [--out pilots.jsonl] [--report]
        [--options '{"acquisition": "aei"}']

Defaults are tuned here and judged elsewhere. Values have normal noise, whose deviation is a share
of the spread of the function over its space; it is told, or not (silent). A run is a line of the
file, kept as soon as it ends; the same command goes on where it was stopped. The table has means
over seeds, in units of the spread: the regret of the point that is reported, and the least regret
of all points that were evaluated, both without noise. Maximizers are heuristic, so that a run takes
seconds.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import nnbo_mip as nm
from nnbo_mip.problems import Problem

PROBLEMS = {
    "sinone": "sinone",
    "camelback": "camelback",
    "rosenbrock4": "rosenbrock:dimension=4",
    "griewank4": "griewank:dimension=4",
    "michalewicz5": "michalewicz:dimension=5",
    "styblinski5": "styblinski_tang:dimension=5",
}
"""Not among them: Branin, Hartmann 6, Levy 5, Ackley 5, by which noisy runs are judged."""

WAYS = ("told", "silent", "random")

N_SAMPLES = 4000
"""Points over which the spread of a function is taken."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what is missing, and print the table."""
    options = parser().parse_args(arguments)
    out, given = Path(options.out), json.loads(options.options)
    found = read(out)
    cells = [
        {"problem": name, "share": share, "way": way, "seed": seed, "n": options.evaluations}
        for seed in range(options.seeds)
        for name in options.problems
        for share in options.shares
        for way in options.ways
        if share or way != "told"
    ]
    cells = [{**cell, "options": {} if cell["way"] == "random" else given} for cell in cells]
    done = [{key: row[key] for key in cells[0]} for row in found]
    for cell in cells:
        if cell in done or options.report:
            continue
        row = {**cell, **run(**cell)}
        found.append(row)
        with out.open("a") as file:
            file.write(json.dumps(row) + "\n")
    print(table([row for row in found if {key: row[key] for key in cells[0]} in cells]))
    return 0


def run(
    problem: str, share: float, way: str, seed: int, n: int, options: dict[str, Any]
) -> dict[str, Any]:
    """Return the regrets of a run, in units of the function's spread, and its CPU seconds."""
    made = nm.problems.create(PROBLEMS[problem])
    sign = 1.0 if made.direction == "minimize" else -1.0
    spread, rng = spread_of(made), np.random.default_rng([seed, 1])
    points: list[Any] = []

    def observed(x: Any) -> Any:
        points.append(x)
        y = sign * float(made(x)) + share * spread * float(rng.standard_normal())
        return (y, share * spread) if way == "told" else y

    started = time.process_time()
    if way == "random":
        drawn = made.space.model().sample(n, np.random.default_rng(seed))
        values = [observed(made.space.decode(place)) for place in drawn]
        reported = points[int(np.argmin(values))]
    else:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", nm.ModelWarning)
            result = nm.optimize(
                observed, made.space, n, **{"maximizer": "lbfgs", "seed": seed, **options}
            )
        reported = result.x
    regrets = np.array([regret(made, x) for x in points]) / spread
    return {
        "reported": regret(made, reported) / spread,
        "seen": float(regrets.min()),
        "cpu": round(time.process_time() - started, 2),
    }


def regret(problem: Problem, x: Any) -> float:
    """Return the distance of the value at a point to the optimum, without noise."""
    assert problem.optimum is not None
    return abs(float(problem(x)) - problem.optimum)


def spread_of(problem: Problem) -> float:
    """Return the standard deviation of a function over its space."""
    places = problem.space.model().sample(N_SAMPLES, np.random.default_rng(1))
    return float(np.std([float(problem(problem.space.decode(place))) for place in places]))


def read(path: Path) -> list[dict[str, Any]]:
    """Return the rows of a file; one that was cut short while it was written is left out."""
    rows = []
    for line in path.read_text().splitlines() if path.exists() else []:
        try:
            rows.append(json.loads(line))
        except json.JSONDecodeError:
            continue
    return rows


def table(rows: list[dict[str, Any]]) -> str:
    """Return a line a function and share of noise: means over seeds, reported / seen."""
    ways = [way for way in WAYS if any(row["way"] == way for row in rows)]
    lines = ["| function | noise | " + " | ".join(ways) + " |", "|---|---|" + "---|" * len(ways)]
    for name, share in dict.fromkeys((row["problem"], row["share"]) for row in rows):
        cells = []
        for way in ways:
            mine = [
                row
                for row in rows
                if (row["problem"], row["share"], row["way"]) == (name, share, way)
            ]
            keys = ("reported", "seen") if mine else ()
            means = [f"{np.mean([row[key] for row in mine]):.3g}" for key in keys]
            cells.append(f"{' / '.join(means)} ({len(mine)})" if mine else "")
        lines.append(f"| {name} | {share:g} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def parser() -> argparse.ArgumentParser:
    """Return the options of the command."""
    made = argparse.ArgumentParser(prog="python -m benchmarks.pilots")
    made.add_argument("--seeds", type=int, default=3)
    made.add_argument("--problems", nargs="+", choices=list(PROBLEMS), default=list(PROBLEMS))
    made.add_argument("--shares", nargs="+", type=float, default=[0.0, 0.1, 0.3])
    made.add_argument("--ways", nargs="+", choices=WAYS, default=list(WAYS))
    made.add_argument("--evaluations", type=int, default=50)
    made.add_argument("--out", default="pilots.jsonl")
    made.add_argument("--options", default="{}", help="options of the runs, as JSON")
    made.add_argument("--report", action="store_true")
    return made


if __name__ == "__main__":
    sys.exit(main())
