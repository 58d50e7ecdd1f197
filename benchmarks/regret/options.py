"""What benchmarks of runs share: their command lines, their stores of the lab, and archives.

An archive is a store without the points, packed; a store that is not there yet begins as one.
"""

from __future__ import annotations

import argparse
import lzma
import sqlite3
import sys
import tempfile
from collections.abc import Callable, Collection, Sequence
from contextlib import closing
from pathlib import Path

from benchmarks.regret.experiment import Methods, plan_of, text_of
from benchmarks.regret.problems import Case
from benchmarks.regret.results import Run, read_runs
from nnbo_mip.core.errors import NnboError
from nnbo_mip.lab.plan.metrics import METRICS
from nnbo_mip.lab.plan.plan import Plan, PlannedUnit
from nnbo_mip.lab.run.local_pool import LocalPool
from nnbo_mip.lab.run.progress import shown_units
from nnbo_mip.lab.run.runner import missing, run_units
from nnbo_mip.lab.store.store import opened

Label = tuple[str, str, int]
"""Problem, method and seed of a run."""


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
    parser.add_argument("--store", type=Path, default=f"{name}.db", help="file of the runs")
    parser.add_argument(
        "--archive",
        default=f"benchmarks/archives/{name}.db.xz",
        help="packed store of other days, with which a new store begins; empty for none",
    )
    parser.add_argument(
        "--pack", action="store_true", help="run nothing; write the store to the archive"
    )
    parser.add_argument("--jobs", type=int, default=1, help="processes at a time")
    parser.add_argument("--report", action="store_true", help="run nothing")
    parser.add_argument("--plot", metavar="FILE", help="draw median regrets, for example out.png")
    parser.add_argument(
        "--plot-methods", nargs="+", choices=methods, default=list(shown), metavar="METHOD"
    )


def runs_of(
    options: argparse.Namespace,
    name: str,
    cases: Sequence[Case],
    methods: Methods,
    seeds: Sequence[int],
    time_limit: float,
    fits: Callable[[Case, str], bool] = lambda case, method: True,
) -> list[Run] | None:
    """Return the runs of an experiment, those that are missing run first; None if it was packed.

    Parameters
    ----------
    options : Namespace
        As `add_run_options` has them.
    name, cases, methods, seeds, time_limit
        As in `plan_of`.
    fits : callable
        Whether a method is run on a function; what was run before is reported all the same.
    """
    try:
        if options.archive and not options.store.exists():
            unpack(Path(options.archive), options.store)
        if options.pack:
            pack(options.store, Path(options.archive))
            return None
        wanted = [
            (case.label, method, seed) for seed in seeds for case in cases for method in methods
        ]
        if not options.report:
            done = {run.label for run in read_runs(options.store, name) if run.is_done}
            plan = _missing(name, cases, methods, seeds, time_limit, fits, done)
            tell(f"{len(plan)} runs are missing, {len(done.intersection(wanted))} in the store")
            if len(plan):
                run_missing(options.store, plan, options.jobs)
        kept = {run.label: run for run in read_runs(options.store, name)}
        return [kept[label] for label in wanted if label in kept]
    except NnboError as error:
        raise SystemExit(str(error)) from error


def run_missing(store: Path, plan: Plan, jobs: int) -> None:
    """Run the units of a plan, which is added to what the store has of the experiment."""
    with opened(store) as results:
        waiting, tally = missing(plan, results.write_plan(plan, extend=True), retry_failed=True)
        with shown_units(waiting, 0, jobs) as display:
            run_units(waiting, LocalPool(jobs), results, tally, display.ended)


def pack(store: Path, archive: Path) -> None:
    """Write a store, without its points, to an archive."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "copy.db"
        with closing(sqlite3.connect(store)) as connection:
            connection.execute("VACUUM INTO ?", (str(copy),))
        with closing(sqlite3.connect(copy)) as connection:
            connection.execute("UPDATE observations SET x = '[]'")
            connection.commit()
            connection.execute("VACUUM")
        archive.write_bytes(lzma.compress(copy.read_bytes(), preset=9))


def unpack(archive: Path, store: Path) -> None:
    """Begin a store with what an archive holds; none where there is no archive."""
    if archive.exists():
        with tempfile.NamedTemporaryFile(dir=store.parent, delete=False) as copy:
            copy.write(lzma.decompress(archive.read_bytes()))
        Path(copy.name).replace(store)


def tell(line: str) -> None:
    """Print a line of progress."""
    print(line, file=sys.stderr, flush=True)


def _missing(
    name: str,
    cases: Sequence[Case],
    methods: Methods,
    seeds: Sequence[int],
    time_limit: float,
    fits: Callable[[Case, str], bool],
    done: Collection[Label],
) -> Plan:
    """Return the plan of what is not done, a function at a time planned, seed after seed run."""
    units: list[PlannedUnit] = []
    for case in cases:
        left = {
            method: [seed for seed in seeds if (case.label, method, seed) not in done]
            for method in methods
            if fits(case, method)
        }
        mine = {method: methods[method] for method in left if left[method]}
        if mine:
            plan = plan_of(name, [case], mine, sorted(set().union(*left.values())), time_limit)
            units += [one for one in plan if one.unit.instance in left[one.method]]
    units.sort(key=lambda one: one.unit.instance)
    file = text_of(name, cases, methods, seeds, time_limit)
    return Plan(name, "", file, METRICS, tuple(units))
