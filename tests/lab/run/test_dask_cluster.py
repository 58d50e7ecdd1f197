"""Units on a real cluster: a scheduler and workers as processes, one of which is killed."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

import nnbo_mip as nm
from nnbo_mip.core.errors import ClusterError
from nnbo_mip.lab.plan.experiment import planned
from nnbo_mip.lab.run.runner import missing, run_units
from nnbo_mip.lab.store.answer import Answer
from nnbo_mip.lab.store.results import Results
from nnbo_mip.lab.store.store import opened
from tests.lab import hooks
from tests.lab.run.test_local_pool import is_alive

pytest.importorskip("distributed")

N = 40


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    hooks.written(tmp_path)
    yield tmp_path
    if sys.modules.pop(hooks.NAME, None):
        nm.problems.unregister("misbehaving")


def dask(kind: str, *arguments: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", f"distributed.cli.dask_{kind}", *arguments, "--no-dashboard"],
        stderr=subprocess.DEVNULL,
    )


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def evaluated(folder: Path) -> list[list[str]]:
    return [line.split() for line in (folder / "evaluated.log").read_text().splitlines()]


def test_no_unit_is_lost_and_none_counted_twice_when_a_worker_is_killed(folder: Path) -> None:
    from nnbo_mip.lab.run.dask_cluster import DaskCluster

    text = hooks.experiment("['misbehaving:seconds=0.05,instance={instance}']", N)
    crash = hooks.experiment("['misbehaving:how=once']").replace('"hooks"', '"crash"')
    address = f"tcp://127.0.0.1:{free_port()}"
    processes = [dask("scheduler", "--host", "127.0.0.1", "--port", address.rpartition(":")[2])]
    try:
        worker = ("worker", address, "--nthreads", "1", "--no-nanny")
        processes += [dask(*worker), dask(*worker)]
        cluster = DaskCluster(address)
        try:
            plan = planned(text, "file.toml", "name")
            answered: Counter[str] = Counter()

            def ended(answer: Answer) -> None:
                answered[answer.key] += 1
                if answered.total() == N // 4:
                    processes[1].kill()

            with opened(folder / "results.db") as store:
                waiting, tally = missing(plan, store.write_plan(plan), retry_failed=False)
                run_units(waiting, cluster, store, tally, ended)
                # A crash of a unit costs the worker that is left nothing.
                again = planned(crash, "file.toml", "name")
                waiting, crashed = missing(again, store.write_plan(again), retry_failed=False)
                run_units(waiting, cluster, store, crashed, lambda answer: None)
            assert processes[2].poll() is None
            processes[0].kill()
            with pytest.raises(ClusterError, match="the connection was lost"):
                list(cluster.answers([one.unit for one in plan]))
        finally:
            cluster.close()
    finally:
        for process in processes:
            process.kill()
            process.wait()
    assert tally.is_whole
    assert crashed.is_whole
    assert set(answered.values()) == {1}
    assert len(answered) == N
    results = Results.open(folder / "results.db", "hooks")
    assert results.units["status"].tolist() == ["finished"] * N
    assert len(results.observations) == 2 * N
    rows = (results.observations[name].tolist() for name in ("unit", "number"))
    assert len(set(zip(*rows, strict=True))) == 2 * N
    workers = {line[2] for line in evaluated(folder) if line[0] == "well"}
    assert len(workers) == 2
    assert Results.open(folder / "results.db", "crash").units["attempts"].tolist() == [2]
    assert not any(is_alive(int(worker)) for worker in workers)
