"""The command ``nnbo-mip run``: the units of an experiment, here or on a cluster."""

from __future__ import annotations

import json
import logging
import os
import shlex
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nnbo_mip.cli.common import BROKEN, OPEN, PROVEN, Json, fail, sentences
from nnbo_mip.cli.main import INTERRUPTED, loading_is_done

if TYPE_CHECKING:
    from nnbo_mip.lab.plan.plan import Plan
    from nnbo_mip.lab.run.executor import Executor
    from nnbo_mip.lab.run.runner import Tally

CODES = (
    "Exit codes: 0 every unit is finished; 1 some failed; 2 bad input, and nothing was run; 4 a "
    "package is missing, or the cluster or the store was lost; 130 interrupted. What is finished "
    "is kept in every case."
)

STORE = Path("results.db")

SHOWN_FAILURES = 10


def run_experiment(
    experiment: Annotated[Path, typer.Argument(help="A .toml file; see docs/guide/lab.md.")],
    store: Annotated[Path, typer.Option(help="The file that keeps results.")] = STORE,
    workers: Annotated[
        str | None, typer.Option(help="Processes at a time; else one a core.", metavar="N")
    ] = None,
    dask: Annotated[
        str | None,
        typer.Option(help="Instead: a scheduler's address, tcp://host:8786.", metavar="ADDRESS"),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on; refuse to begin a new store.")
    ] = False,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Run units again that failed.")
    ] = False,
    trust_imports: Annotated[
        bool,
        typer.Option(
            "--trust-imports", help="Run the modules that the file names; see SECURITY.md."
        ),
    ] = False,
    as_json: Json = False,
) -> None:
    """Run an experiment: every unit of it that the store does not have.

    Killed and started again, it goes on where it was. Ctrl-C ends it.
    """
    with sentences(), _broken():
        from nnbo_mip.core.errors import InputError
        from nnbo_mip.lab.plan.experiment import read_experiment
        from nnbo_mip.lab.plan.own_code import own_code
        from nnbo_mip.lab.run.progress import shown_units
        from nnbo_mip.lab.run.runner import missing, run_units
        from nnbo_mip.lab.store.store import opened

        loading_is_done()
        if resume and not store.is_file():
            raise InputError(
                f"--resume goes on with a store that is there; got {str(store)!r}, which is not; "
                "name another one by --store, or leave --resume out."
            )
        if not trust_imports:
            _agreed(own_code(experiment))
        plan = read_experiment(experiment)
        for said in plan.skipped:
            typer.echo(f"nnbo-mip: left out: {said}", err=True)
        started = time.perf_counter()
        with _executor(workers, dask) as executor, opened(store) as results:
            dropped = results.no_longer_planned(plan)
            waiting, tally = missing(plan, results.write_plan(plan), retry_failed)
            before = len(plan) - len(waiting)
            _say_what_is_there(store, before, len(plan), dropped)
            interrupted = False
            try:
                if waiting:
                    with shown_units(waiting, before, executor.workers) as display:
                        run_units(waiting, executor, results, tally, display.ended)
            except KeyboardInterrupt:
                interrupted = True
        seconds = time.perf_counter() - started
        again = _command(experiment, store, workers, dask, trust_imports)
        if as_json:
            typer.echo(json.dumps(_as_json(plan, store, tally, seconds, interrupted)))
        else:
            _show(plan, store, tally, seconds, again)
        if interrupted:
            fail(
                f"interrupted with {tally.finished} of {len(plan)} units finished; what was under "
                f"way is run again by: {again} --resume",
                INTERRUPTED,
            )
        raise typer.Exit(PROVEN if tally.is_whole else OPEN)


def _agreed(files: Sequence[Path]) -> None:
    """Go on if the user agrees that these files are run."""
    from nnbo_mip.core.errors import InputError

    if not files:
        return
    names = ", ".join(map(str, files))
    if sys.stdin.isatty():
        typer.confirm(
            f"This experiment runs code of the working folder: {names}. Run it?", abort=True
        )
        return
    raise InputError(
        f"an experiment that names modules of the working folder runs their code; got {names}; "
        "read these files, and say --trust-imports."
    )


def _say_what_is_there(store: Path, before: int, units: int, dropped: int) -> None:
    if before:
        typer.echo(f"nnbo-mip: {before} of {units} units are in {store} already", err=True)
    if dropped:
        typer.echo(
            f"nnbo-mip: {dropped} finished units are no longer planned, as the experiment, a "
            f"module or a version changed; they stay in {store}, and a report leaves them out",
            err=True,
        )


@contextmanager
def _broken() -> Iterator[None]:
    """End with the code of what broke, where the command was right."""
    from nnbo_mip.core.errors import ClusterError, StoreError

    try:
        yield
    except (ClusterError, StoreError) as error:
        fail(str(error), BROKEN)


@contextmanager
def _executor(workers: str | None, dask: str | None) -> Iterator[Executor]:
    from nnbo_mip.cli.inputs import parse_count
    from nnbo_mip.core.errors import InputError

    if dask is None:
        from nnbo_mip.lab.run.local_pool import LocalPool

        cores = len(os.sched_getaffinity(0))
        yield LocalPool(cores if workers is None else parse_count(workers, "--workers"))
        return
    if workers is not None:
        raise InputError(
            "units are run by processes here, --workers, or on a cluster, --dask; got both; drop "
            "one."
        )
    from nnbo_mip.lab.run.dask_cluster import DaskCluster

    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # we say it in a sentence
    cluster = DaskCluster(dask)
    try:
        yield cluster
    finally:
        cluster.close()


def _command(
    experiment: Path, store: Path, workers: str | None, dask: str | None, trust_imports: bool
) -> str:
    """Return the command that goes on."""
    words = ["nnbo-mip", "run", str(experiment), "--store", str(store)]
    words += [] if workers is None else ["--workers", workers]
    words += [] if dask is None else ["--dask", dask]
    words += ["--trust-imports"] if trust_imports else []
    return shlex.join(words)


def _show(plan: Plan, store: Path, tally: Tally, seconds: float, again: str) -> None:
    from nnbo_mip.lab.run.progress import duration, label

    typer.echo(
        f"{plan.name}: {tally.finished} of {len(plan)} units finished, {tally.failed} failed; "
        f"{tally.ran} run now in {duration(seconds)}"
    )
    for unit, reason in tally.failures[:SHOWN_FAILURES]:
        typer.echo(f"  failed: {label(unit)}: {reason}")
    if len(tally.failures) > SHOWN_FAILURES:
        typer.echo(f"  and {len(tally.failures) - SHOWN_FAILURES} more")
    if tally.failed:
        typer.echo(f"run what failed again by: {again} --retry-failed")
    if tally.finished:
        report = shlex.join(["nnbo-mip", "report", str(store), "--out", "report.html"])
        typer.echo(f"see the results by: {report}")


def _as_json(
    plan: Plan, store: Path, tally: Tally, seconds: float, interrupted: bool
) -> dict[str, Any]:
    return {
        "experiment": plan.name,
        "store": str(store),
        "units": len(plan),
        "finished": tally.finished,
        "failed": tally.failed,
        "ran": tally.ran,
        "seconds": seconds,
        "interrupted": interrupted,
        "failures": [
            {
                "problem": unit.problem,
                "method": unit.method,
                "instance": unit.unit.instance,
                "message": reason,
            }
            for unit, reason in tally.failures
        ],
    }
