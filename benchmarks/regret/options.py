"""What benchmarks of runs share: their command lines, their stores of the lab, and archives.

An archive is a store without the points, packed; a store that is not there yet begins as one.
"""

from __future__ import annotations

import argparse
import lzma
import sqlite3
import sys
import tempfile
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Protocol, TypeVar

from benchmarks.regret.experiment import Methods, text_of
from benchmarks.regret.problems import Case
from benchmarks.regret.results import Run, read_runs
from nnbo_mip.core.errors import NnboError
from nnbo_mip.lab.plan.experiment import planned
from nnbo_mip.lab.plan.metrics import METRICS
from nnbo_mip.lab.plan.plan import Plan, PlannedUnit
from nnbo_mip.lab.run.local_pool import LocalPool
from nnbo_mip.lab.run.progress import shown_units
from nnbo_mip.lab.run.runner import missing, run_units
from nnbo_mip.lab.store.results import Results as Stored
from nnbo_mip.lab.store.results import experiments
from nnbo_mip.lab.store.store import opened

Label = tuple[str, str, int]
"""Problem, method and seed of a run."""


class Labelled(Protocol):
    """A problem of a benchmark, with what tables call it."""

    @property
    def label(self) -> str:
        """What tables call it."""


SomeCase = TypeVar("SomeCase", bound=Labelled)


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
    add_store_options(parser, name)
    parser.add_argument("--plot", metavar="FILE", help="draw median regrets, for example out.png")
    parser.add_argument(
        "--plot-methods", nargs="+", choices=methods, default=list(shown), metavar="METHOD"
    )


def add_store_options(parser: argparse.ArgumentParser, name: str) -> None:
    """Add the options of the store and of the archive, both of this name, and of running."""
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


def without_points(connection: sqlite3.Connection) -> None:
    """Leave the points out of a store."""
    connection.execute("UPDATE observations SET x = '[]'")


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

    def file(chosen: Sequence[Case], tables: Methods, instances: Iterable[int]) -> str:
        return text_of(name, chosen, tables, instances, time_limit)

    try:
        if not brought_up_to_date(options, name, cases, methods, seeds, file, fits):
            return None
        kept = {run.label: run for run in read_runs(options.store, name)}
        wanted = [
            (case.label, method, seed) for seed in seeds for case in cases for method in methods
        ]
        return [kept[label] for label in wanted if label in kept]
    except NnboError as error:
        raise SystemExit(str(error)) from error


def brought_up_to_date(
    options: argparse.Namespace,
    name: str,
    cases: Sequence[SomeCase],
    methods: Methods,
    seeds: Sequence[int],
    file: Callable[[Sequence[SomeCase], Methods, Iterable[int]], str],
    fits: Callable[[SomeCase, str], bool],
    packed: Callable[[sqlite3.Connection], object] = without_points,
) -> bool:
    """Begin a store with its archive and run what it lacks; False if it was packed instead.

    Parameters
    ----------
    options, name, cases, methods, seeds, fits
        As in `runs_of`.
    file : callable
        From cases, methods and seeds to the text of the experiment's file.
    packed : callable
        What the archive leaves out.
    """
    if options.archive and not options.store.exists():
        unpack(Path(options.archive), options.store)
    if options.pack:
        pack(options.store, Path(options.archive), packed)
        return False
    if not options.report:
        wanted = {
            (case.label, method, seed)
            for seed in seeds
            for case in cases
            for method in methods
            if fits(case, method)
        }
        done = finished(options.store, name)
        plan = _missing(name, cases, methods, seeds, file, fits, done)
        tell(f"{len(plan)} runs are missing, {len(done & wanted)} in the store")
        if len(plan):
            run_missing(options.store, plan, options.jobs)
    return True


def finished(store: Path, name: str) -> set[Label]:
    """Return the labels of the runs of an experiment that need not be run again."""
    if not store.exists() or name not in [one.name for one in experiments(store)]:
        return set()
    units = Stored.open(store, name).units
    return {
        (one["problem"], one["method"], one["instance"])
        for one in units.rows()
        if one["status"] == "finished"
    }


def run_missing(store: Path, plan: Plan, jobs: int) -> None:
    """Run the units of a plan, which is added to what the store has of the experiment."""
    with opened(store) as results:
        waiting, tally = missing(plan, results.write_plan(plan, extend=True), retry_failed=True)
        with shown_units(waiting, 0, jobs) as display:
            run_units(waiting, LocalPool(jobs), results, tally, display.ended)


def pack(
    store: Path, archive: Path, packed: Callable[[sqlite3.Connection], object] = without_points
) -> None:
    """Write a store to an archive, without what `packed` leaves out of the copy."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "copy.db"
        with closing(sqlite3.connect(store)) as connection:
            connection.execute("VACUUM INTO ?", (str(copy),))
        with closing(sqlite3.connect(copy)) as connection:
            packed(connection)
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
    cases: Sequence[SomeCase],
    methods: Methods,
    seeds: Sequence[int],
    file: Callable[[Sequence[SomeCase], Methods, Iterable[int]], str],
    fits: Callable[[SomeCase, str], bool],
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
            text = file([case], mine, sorted(set().union(*left.values())))
            plan = planned(text, f"{name}.toml", name)
            units += [one for one in plan if one.unit.instance in left[one.method]]
    units.sort(key=lambda one: one.unit.instance)
    return Plan(name, "", file(cases, methods, seeds), METRICS, tuple(units))
