"""What benchmarks of runs share on their command lines: stores, archives, processes, plots."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Collection, Sequence
from pathlib import Path

from benchmarks.regret.runs import PATIENCE, run_missing
from benchmarks.regret.store import Run, Store, pack
from benchmarks.regret.unit import Unit


def add_run_options(
    parser: argparse.ArgumentParser, name: str, methods: Collection[str], shown: Sequence[str]
) -> None:
    """Add the options that `runs_of` and a plot read.

    Parameters
    ----------
    parser : ArgumentParser
    name : str
        Of the store and of the archive.
    methods : collection of str
        Which there are.
    shown : sequence of str
        Which are drawn unless said otherwise.
    """
    parser.add_argument("--store", default=f"{name}.jsonl", help="file of the runs")
    parser.add_argument(
        "--archive",
        default=f"benchmarks/archives/{name}.jsonl.xz",
        help="file of packed runs of other days, which are not run again; empty for none",
    )
    parser.add_argument(
        "--pack", action="store_true", help="run nothing; add the store's runs to the archive"
    )
    parser.add_argument("--jobs", type=int, default=1, help="processes at a time")
    parser.add_argument(
        "--patience", type=float, default=PATIENCE, help="seconds that a step may take"
    )
    parser.add_argument("--report", action="store_true", help="run nothing")
    parser.add_argument("--plot", metavar="FILE", help="draw median regrets, for example out.png")
    parser.add_argument(
        "--plot-methods", nargs="+", choices=methods, default=list(shown), metavar="METHOD"
    )


def runs_of(options: argparse.Namespace, units: Sequence[Unit]) -> list[Run] | None:
    """Return the runs of the units, those that are missing run first; None if all were packed."""
    archive = Path(options.archive) if options.archive else None
    store = Store(Path(options.store), archive)
    if options.pack:
        if archive is None:
            raise SystemExit("--pack needs an archive; got none; name one with --archive.")
        archive.parent.mkdir(parents=True, exist_ok=True)
        pack(store.read().values(), archive)
        return None
    if options.report:
        kept = store.read()
        return [kept[unit.key] for unit in units if unit.key in kept]
    return list(run_missing(units, store, options.jobs, options.patience, tell).values())


def tell(line: str) -> None:
    """Print a line of progress."""
    print(line, file=sys.stderr, flush=True)
