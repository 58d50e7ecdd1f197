"""Which way of making a run is best? On tasks by which no default is judged.

    python -m benchmarks.pilots --ways default 5 gp [--way LABEL JSON]… [--starts LABEL]
        [--groups mixed …] [--tasks levy8 …] [--seeds 2] [--readings 12 20 40]
        [--out pilots.jsonl] [--report] [--each]

Defaults are chosen here and judged by `benchmarks.everyday` and `benchmarks.regret`. Each way has
starts of its own; ``--starts`` gives all of them those of one way. Noisy runs are read by the true
value at the point that is reported, mixed ones by the least loss. A run is a line of the file, kept
as soon as it ends; the same command goes on where it was stopped. The first way is the one to which
the others are compared.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.pilots.run import STARTS, run
from benchmarks.pilots.table import each, table
from benchmarks.pilots.tasks import GROUPS, PILOT_TASKS
from benchmarks.pilots.ways import WAYS

KEYS = ("task", "way", "options", "seed", "readings")
"""What a run is."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what is missing, and print the table."""
    options = parser().parse_args(arguments)
    ways = ways_of(options)
    cells: list[dict[str, Any]] = [
        {"task": label, "way": way, "options": dict(ways[way]), "seed": seed}
        | {"readings": options.readings}
        for seed in range(1, 1 + options.seeds)
        for label in options.tasks or PILOT_TASKS
        if PILOT_TASKS[label].group in options.groups
        for way in ways
    ]
    out = Path(options.out)
    found = read(out)
    done = [{key: row[key] for key in KEYS} for row in found]
    for cell in cells:
        if cell in done or options.report:
            continue
        task = PILOT_TASKS[cell["task"]]
        reached = run(task, cell["way"], cell["options"], cell["seed"], cell["readings"])
        found.append({**cell, **reached})
        with out.open("a") as file:
            file.write(json.dumps(found[-1]) + "\n")
    rows = [row for row in found if {key: row[key] for key in KEYS} in cells]
    print(table(rows, list(ways), options.readings))
    if options.each:
        print("\n" + each(rows, list(ways)))
    return 0


def ways_of(options: argparse.Namespace) -> dict[str, Mapping[str, Any]]:
    """Return the ways that were chosen, with the starts of one of them where that was asked."""
    known = {**WAYS, **{label: json.loads(text) for label, text in options.way}}
    unknown = [
        name for name in (*options.ways, options.starts) if name is not None and name not in known
    ]
    if unknown:
        raise SystemExit(f"the ways are {', '.join(known)}; got {unknown[0]!r}; choose of them.")
    chosen = [*options.ways, *(label for label, _ in options.way if label not in options.ways)]
    shared = {} if options.starts is None else {STARTS: known[options.starts][STARTS]}
    # As the file of runs has them: lists in the place of tuples.
    return {name: json.loads(json.dumps({**known[name], **shared})) for name in chosen}


def read(path: Path) -> list[dict[str, Any]]:
    """Return the rows of a file; one that was cut short while it was written is left out."""
    rows = []
    for line in path.read_text().splitlines() if path.exists() else []:
        try:
            rows.append(json.loads(line))
        except json.JSONDecodeError:
            continue
    return rows


def parser() -> argparse.ArgumentParser:
    """Return the options of the command."""
    made = argparse.ArgumentParser(prog="python -m benchmarks.pilots")
    made.add_argument("--ways", nargs="*", default=["default"], metavar="WAY")
    made.add_argument("--way", nargs=2, action="append", default=[], metavar=("LABEL", "JSON"))
    made.add_argument("--starts", metavar="WAY")
    made.add_argument("--groups", nargs="+", choices=GROUPS, default=list(GROUPS))
    made.add_argument("--tasks", nargs="+", choices=list(PILOT_TASKS), metavar="TASK")
    made.add_argument("--seeds", type=int, default=2)
    made.add_argument("--readings", nargs="+", type=int, default=[12, 20, 40])
    made.add_argument("--out", default="pilots.jsonl")
    made.add_argument("--report", action="store_true", help="run nothing, print what there is")
    made.add_argument("--each", action="store_true", help="print every task too")
    return made


if __name__ == "__main__":
    sys.exit(main())
