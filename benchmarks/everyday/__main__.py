"""What does a user get who chooses nothing? Every tool with its own starts, 80 evaluations.

    python -m benchmarks.everyday --quick|--full [--pilots] [--groups G …] [--methods M …]
        [--tasks T …] [--seeds 10] [--variant LABEL TOML]… [--store everyday.db] [--jobs 2]
        [--plot out.png] [--report] [--pack]

Runs are kept in the store as soon as they end; the same command goes on where it was killed, seed
after seed, and with --report runs nothing and prints what the store has. Pilots are other tasks of
the same kinds, by which defaults are chosen: ``--variant "few" "initial = 5"`` runs the default
with options of its own beside it.
"""

from __future__ import annotations

import argparse
import sqlite3
import sys
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.everyday.experiment import text_of
from benchmarks.everyday.methods import METHODS, fits
from benchmarks.everyday.plot import draw
from benchmarks.everyday.results import Results, read_runs
from benchmarks.everyday.table import report
from benchmarks.everyday.tasks import (
    FIRST_SEED,
    PILOTS,
    QUICK,
    QUICK_EVALUATIONS,
    QUICK_PILOTS,
    TASKS,
    Everyday,
    with_short,
)
from benchmarks.regret.options import add_store_options, brought_up_to_date, finished
from nnbo_mip.core.errors import NnboError

SEEDS = 10


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what is missing, and print the tables."""
    options = parser().parse_args(arguments)
    name = " ".join(["everyday", *(word for word in ("pilots", "quick") if getattr(options, word))])
    tasks, methods = tasks_of(options), methods_of(options)
    seeds = range(FIRST_SEED, FIRST_SEED + (options.seeds or (1 if options.quick else SEEDS)))
    try:
        file = partial(text_of, name)
        if not brought_up_to_date(options, name, tasks, methods, seeds, file, fits, slim):
            return 0
        done = finished(options.store, name)
        if not done:
            raise SystemExit(f"{options.store} has no finished runs of {name!r}; run some first.")
        results = Results(tasks, list(methods), read_runs(options.store, name))
    except NnboError as error:
        raise SystemExit(str(error)) from error
    print(report(results))
    if options.plot:
        draw(results, Path(options.plot))
    wanted = [
        (task.label, method, seed)
        for seed in seeds
        for task in tasks
        for method in methods
        if fits(task, method)
    ]
    return int(any(label not in done for label in wanted))


def tasks_of(options: argparse.Namespace) -> list[Everyday]:
    """Return the tasks that were chosen, each with its short form but in a quick run."""
    every = {task.label: task for task in (PILOTS if options.pilots else TASKS)}
    few = QUICK_PILOTS if options.pilots else QUICK
    listed = few if options.quick else list(every)
    names = options.tasks or [
        one for one in listed if not options.groups or every[one].group in options.groups
    ]
    unknown = sorted(set(names) - set(every))
    if unknown:
        raise SystemExit(
            f"the tasks are {', '.join(every)}; got {unknown[0]!r}; choose of them, and say "
            "--pilots for a pilot."
        )
    chosen = [
        every[one] for one in names if not options.groups or every[one].group in options.groups
    ]
    if options.quick:
        return [replace(task, evaluations=QUICK_EVALUATIONS) for task in chosen]
    return with_short(chosen)


def methods_of(options: argparse.Namespace) -> dict[str, Mapping[str, Any] | None]:
    """Return the methods that were chosen, and variants of the default."""
    chosen: dict[str, Mapping[str, Any] | None] = {
        name: METHODS[name] for name in options.methods or METHODS
    }
    for label, text in options.variant:
        if label in METHODS:
            raise SystemExit(f"a variant needs a label of its own; got {label!r}; choose another.")
        try:
            chosen[label] = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise SystemExit(
                f"the options of the variant {label!r} must be TOML; got {text!r} ({error}); write "
                "'initial = 5', say, one option a line."
            ) from error
    return chosen


def slim(connection: sqlite3.Connection) -> None:
    """Leave out of an archive what no table reads, and digits of times."""
    connection.execute("UPDATE observations SET x = '[]', seconds = 0, y = truth")
    connection.execute(
        "UPDATE steps SET value = NULL, bound = NULL, gap = NULL, mean = NULL, std = NULL, "
        "c = NULL, eps = NULL, seconds = 0, fit_seconds = 0, evaluations = 0, counters = '{}', "
        "message = '', ask_seconds = 0, cpu_seconds = round(cpu_seconds, 3), "
        "share = round(share, 6), side = round(side, 6)"
    )


def parser() -> argparse.ArgumentParser:
    """Return the command line."""
    made = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    size = made.add_mutually_exclusive_group(required=True)
    size.add_argument(
        "--quick",
        action="store_true",
        help=f"{len(QUICK)} tasks, one seed, {QUICK_EVALUATIONS} evaluations",
    )
    size.add_argument("--full", action="store_true", help="the protocol of docs/dev/benchmarks.md")
    made.add_argument("--pilots", action="store_true", help="the pilots in place of the tasks")
    groups = tuple(dict.fromkeys(task.group for task in TASKS))
    made.add_argument("--groups", nargs="+", choices=groups, help="left out, all")
    made.add_argument("--methods", nargs="+", choices=METHODS, help="left out, all")
    made.add_argument("--tasks", nargs="+", metavar="TASK", help="labels, as the tables have them")
    made.add_argument("--seeds", type=int, help=f"the first so many; {SEEDS} with --full")
    made.add_argument(
        "--variant",
        nargs=2,
        action="append",
        default=[],
        metavar=("LABEL", "TOML"),
        help="the default with other options, for pilots",
    )
    add_store_options(made, "everyday")
    made.add_argument("--plot", metavar="FILE", help="draw COCO's targets, for example out.png")
    return made


if __name__ == "__main__":
    sys.exit(main())
