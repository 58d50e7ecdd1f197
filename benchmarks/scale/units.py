"""Many units of 50 ms through the runner, here and on a Dask cluster of two workers."""

from __future__ import annotations

import contextlib
import resource
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from nnbo_mip.lab.plan.experiment import planned
from nnbo_mip.lab.run.dask_cluster import DaskCluster
from nnbo_mip.lab.run.executor import Executor
from nnbo_mip.lab.run.local_pool import LocalPool
from nnbo_mip.lab.run.runner import missing, run_units
from nnbo_mip.lab.store.store import opened

WORKERS = 2

UNIT_SECONDS = 0.05

TEXT = """
name = "scale"
imports = ["benchmarks.scale.problem"]
problems = ["sleeping:seconds={seconds}"]
instances = {units}
starts = 1
steps = 1
baselines = ["random"]
"""


def local_part(path: Path, units: int) -> dict[str, Any]:
    """Run units by processes of this machine."""
    figures = _run(path, units, LocalPool(WORKERS))
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    worked = children.ru_utime + children.ru_stime
    return {**figures, "worker_cpu_ms": round(1e3 * worked / units, 2)}


def dask_part(path: Path, units: int) -> dict[str, Any]:
    """Run units on a scheduler and two workers, which are processes of their own."""
    with _cluster() as address:
        cluster = DaskCluster(address)
        try:
            while cluster.workers < WORKERS:
                time.sleep(0.1)
            return _run(path, units, cluster)
        finally:
            cluster.close()


def _run(path: Path, units: int, executor: Executor) -> dict[str, Any]:
    text = TEXT.format(seconds=UNIT_SECONDS / 2, units=units)  # a start and a step
    plan = planned(text, "scale.toml", "scale")
    with opened(path) as store:
        used, started = time.process_time(), time.perf_counter()
        waiting, tally = missing(plan, store.write_plan(plan), retry_failed=False)
        run_units(waiting, executor, store, tally, lambda answer: None)
        wall, cpu = time.perf_counter() - started, time.process_time() - used
    each = WORKERS * wall / units
    return {
        "units": units,
        "finished": tally.finished,
        "wall_seconds": round(wall, 2),
        "overhead_ms": round(1e3 * (each - UNIT_SECONDS), 2),
        "efficiency": round(UNIT_SECONDS / each, 4),
        "runner_cpu_ms": round(1e3 * cpu / units, 2),
    }


@contextlib.contextmanager
def _cluster() -> Iterator[str]:
    """Yield the address of a scheduler with two workers of one thread."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = str(listener.getsockname()[1])
    address = f"tcp://127.0.0.1:{port}"
    worker = ("worker", address, "--nthreads", "1", "--no-nanny")
    processes = [_dask("scheduler", "--host", "127.0.0.1", "--port", port)]
    processes += [_dask(*worker) for _ in range(WORKERS)]
    try:
        yield address
    finally:
        for process in processes:
            process.kill()
            process.wait()


def _dask(kind: str, *arguments: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", f"distributed.cli.dask_{kind}", *arguments, "--no-dashboard"],
        stderr=subprocess.DEVNULL,
    )
