"""Which way is best over binaries, integers and categories? On tasks by which none is judged.

    python -m benchmarks.pilots.discrete [--ways sparse gp tpe …] [--way LABEL JSON]…
        [--tasks ising …] [--seeds 2] [--evaluations 80] [--starts 20]
        [--out discrete_pilots.jsonl] [--report]

All ways share the starts of a seed, random points. A run is a line of the file, kept as soon as it
ends; the same command goes on where it was stopped. What is read is the value without noise at the
best told point. A way's row has the mean rank over tasks and seeds, the share of runs in which it
was the best one, the median CPU seconds an ask and the share of steps that ended ``optimal``.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import rankdata

from benchmarks.pilots.__main__ import read
from benchmarks.pilots.discrete.rivals import NAMES, Ours, rival
from benchmarks.pilots.discrete.tasks import TASKS, pilot

KEYS = ("task", "way", "options", "seed", "evaluations", "starts")
"""What a run is."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what is missing, and print the tables."""
    options = parser().parse_args(arguments)
    own = {label: json.loads(text) for label, text in options.way}
    ways: dict[str, Mapping[str, Any] | None] = {**dict.fromkeys(options.ways), **own}
    sizes = {"evaluations": options.evaluations, "starts": options.starts}
    cells: list[dict[str, Any]] = [
        {"task": task, "way": way, "options": ways[way], "seed": seed, **sizes}
        for seed in range(options.seeds)
        for way in ways
        for task in options.tasks
    ]
    out = Path(options.out)
    found = read(out)
    done = [{key: row[key] for key in KEYS} for row in found]
    for cell in cells:
        if cell not in done and not options.report:
            found.append({**cell, **run(**cell)})
            with out.open("a") as file:
                file.write(json.dumps(found[-1]) + "\n")
    rows = [row for row in found if {key: row[key] for key in KEYS} in cells]
    print(table(rows, list(ways)) + "\n\n" + each(rows, list(ways)))
    return 0


def run(
    task: str,
    way: str,
    options: Mapping[str, Any] | None,
    seed: int,
    evaluations: int,
    starts: int,
) -> dict[str, Any]:
    """Return the best value of a run, the CPU seconds of its asks, and how steps ended."""
    made = pilot(task, seed)
    domain, space = made.space.model(), made.space
    points = domain.sample(starts, np.random.default_rng([seed, 7]))
    noise = np.random.default_rng([seed, 8]).standard_normal(evaluations) * made.noise
    asker = rival(way, options, space, seed, starts, evaluations)
    told, truth, seconds = [], [], []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for i in range(evaluations):
            began = time.process_time()
            x = space.decode(points[i]) if i < starts else asker.ask()
            asked = time.process_time()
            truth.append(made.truth(x))
            told.append(truth[-1] + float(noise[i]))
            then = time.process_time()
            asker.tell(x, told[-1])
            if i >= starts:
                seconds.append(asked - began + time.process_time() - then)
    best = truth[int(np.argmin(told))]
    ends = asker.statuses if isinstance(asker, Ours) else []
    return {
        "best": best,
        "start": truth[int(np.argmin(told[:starts]))],
        "ask": round(float(np.median(seconds)), 4),
        "slowest": round(max(seconds), 3),
        "optimal": round(ends.count("optimal") / len(ends), 3) if ends else None,
    }


def table(rows: Sequence[Mapping[str, Any]], ways: Sequence[str]) -> str:
    """Return a line a way, over the tasks and seeds that all ways have."""
    shared = _shared(rows, ways)
    lines = ["| way | runs | mean rank | best in | s an ask | slowest | optimal |"]
    lines.append("|---|---|---|---|---|---|---|")
    if not shared:
        return "\n".join(lines)
    best = np.array([[row["best"] for row in cell] for cell in shared])
    ranks = rankdata(np.round(best, 9), axis=1)
    first = ranks == ranks.min(axis=1, keepdims=True)
    for k, way in enumerate(ways):
        mine = [cell[k] for cell in shared]
        ends = [row["optimal"] for row in mine if row["optimal"] is not None]
        cells = [
            way,
            str(len(mine)),
            f"{ranks[:, k].mean():.2f}",
            f"{first[:, k].mean():.0%}",
            f"{np.median([row['ask'] for row in mine]):.3f}",
            f"{max(row['slowest'] for row in mine):.1f}",
            f"{np.mean(ends):.1%}" if ends else "",
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def each(rows: Sequence[Mapping[str, Any]], ways: Sequence[str]) -> str:
    """Return a line a task: the best values, seed by seed."""
    lines = ["| task | start | " + " | ".join(ways) + " |", "|---|" + "---|" * (len(ways) + 1)]
    for task in dict.fromkeys(row["task"] for row in rows):
        mine = [row for row in rows if row["task"] == task]
        starts = {row["seed"]: row["start"] for row in mine}
        cells = [" ".join(f"{starts[seed]:.4g}" for seed in sorted(starts))]
        for way in ways:
            ends = {row["seed"]: row["best"] for row in mine if row["way"] == way}
            cells.append(" ".join(f"{ends[seed]:.4g}" for seed in sorted(ends)))
        lines.append(f"| {task} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _shared(
    rows: Sequence[Mapping[str, Any]], ways: Sequence[str]
) -> list[list[Mapping[str, Any]]]:
    """Return the rows of each task and seed that all ways have, in the order of the ways."""
    found = {(row["task"], row["seed"], row["way"]): row for row in rows}
    pairs = sorted({(row["task"], row["seed"]) for row in rows})
    return [
        [found[*pair, way] for way in ways]
        for pair in pairs
        if all((*pair, way) in found for way in ways)
    ]


def parser() -> argparse.ArgumentParser:
    """Return the options of the command."""
    made = argparse.ArgumentParser(prog="python -m benchmarks.pilots.discrete")
    made.add_argument("--ways", nargs="*", default=list(NAMES), choices=NAMES)
    made.add_argument("--way", nargs=2, action="append", default=[], metavar=("LABEL", "JSON"))
    made.add_argument("--tasks", nargs="+", default=list(TASKS), choices=list(TASKS))
    made.add_argument("--seeds", type=int, default=2)
    made.add_argument("--evaluations", type=int, default=80)
    made.add_argument("--starts", type=int, default=20)
    made.add_argument("--out", default="discrete_pilots.jsonl")
    made.add_argument("--report", action="store_true", help="run nothing, print what there is")
    return made


if __name__ == "__main__":
    raise SystemExit(main())
