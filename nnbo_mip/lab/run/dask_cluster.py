"""Units on a Dask cluster that is there already.

A worker of Dask runs no unit itself: like a local pool it has a process for each of its threads,
so that a unit that crashes costs neither the worker nor its neighbours. Of a worker that dies, the
scheduler gives the units to others.
"""

from __future__ import annotations

import contextlib
import time
import uuid
from collections.abc import Generator, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from nnbo_mip.core.errors import ClusterError, MissingExtraError, UnsupportedError
from nnbo_mip.lab.plan.environment import check_same, versions_here
from nnbo_mip.lab.plan.unit import Unit
from nnbo_mip.lab.store.answer import Answer, Attempt

if TYPE_CHECKING:
    from distributed import Client

PATIENCE = 30.0
"""Seconds to wait for the scheduler, and for its first worker."""


class DaskCluster:
    """The workers of a scheduler.

    Parameters
    ----------
    address : str
        Of the scheduler, as ``tcp://host:8786``.
    """

    def __init__(self, address: str) -> None:
        self._address = address
        self._client = _connected(address)
        from nnbo_mip.lab.run.dask_worker import PLUGIN, Processes

        try:
            self._client.wait_for_workers(1, timeout=PATIENCE)
        except TimeoutError as error:
            self.close()
            raise ClusterError(
                f"the cluster must have a worker; {address} had none in {PATIENCE:g} s; start some "
                f"by: dask worker {address} --nthreads 1."
            ) from error
        try:
            self._client.register_plugin(Processes(), name=PLUGIN)
        except Exception as error:
            self.close()
            raise ClusterError(
                "every worker of the cluster must have nnbo_mip installed; starting there failed "
                f"({type(error).__name__}: {error}); install this version."
            ) from error

    @property
    def workers(self) -> int:
        """How many units are run at a time, now."""
        threads: dict[str, int] = self._client.nthreads()
        return max(1, sum(threads.values()))

    def answers(self, units: Sequence[Unit]) -> Generator[list[Answer]]:
        """Yield what became of the units; see `nnbo_mip.lab.run.executor`."""
        try:
            yield from self._answers(units)
        except ClusterError:
            raise
        except OSError as error:
            raise self._lost() from error

    def _answers(self, units: Sequence[Unit]) -> Generator[list[Answer]]:
        from distributed import as_completed

        from nnbo_mip.lab.run.dask_worker import run_on_worker

        self._check_versions(units)
        run = uuid.uuid4().hex[:8]  # futures of another runner on this cluster are not ours
        texts = [unit.to_text() for unit in units]
        names = [f"nnbo-{unit.key}-{run}" for unit in units]
        futures = self._client.map(run_on_worker, texts, key=names, pure=False)
        keys = dict(zip(names, (unit.key for unit in units), strict=True))
        completed = as_completed(
            futures, loop=self._client.loop, with_results=True, raise_errors=False
        )
        del futures  # what was answered is forgotten by the cluster
        for batch in completed.batches():
            yield [self._answer(keys[future.key], future, result) for future, result in batch]

    def _check_versions(self, units: Sequence[Unit]) -> None:
        """Refuse workers that could run none of the units."""
        wanted: dict[str, str] = {}
        for unit in units:
            wanted |= unit.versions
        for address, here in self._client.run(versions_here, list(wanted)).items():
            with _named(f"the worker {address}"):
                check_same(wanted, here, "packages")

    def close(self) -> None:
        """Let go of the cluster; what is under way there is dropped."""
        with contextlib.suppress(TimeoutError, OSError):
            self._client.close()

    def _answer(self, key: str, future: Any, result: Any) -> Answer:
        if future.status == "finished":
            return Answer.from_text(result)
        if future.status != "error":
            raise self._lost()
        # Dask gave up: every worker that had the unit died.
        attempt = Attempt("died", time.time(), 0.0, "", f"{type(result[1]).__name__}: {result[1]}")
        return Answer(key, (attempt,))

    def _lost(self) -> ClusterError:
        return ClusterError(
            f"the scheduler {self._address} must be reachable until the last unit has ended; the "
            "connection was lost; start it again, and go on with the same command."
        )


@contextlib.contextmanager
def _named(worker: str) -> Iterator[None]:
    try:
        yield
    except UnsupportedError as error:
        raise ClusterError(f"{worker} cannot run these units: {error}") from error


def _connected(address: str) -> Client:
    try:
        from distributed import Client
    except ImportError as error:
        raise MissingExtraError(
            "units on a Dask cluster need the package distributed, which is not installed; install "
            "nnbo_mip[dask]."
        ) from error
    try:
        return Client(address, timeout=PATIENCE, set_as_default=False)
    except (OSError, ValueError, TimeoutError) as error:
        raise ClusterError(
            f"--dask must be the address of a scheduler that can be reached; got {address!r} "
            f"({error}); start one by dask scheduler, and give the address that it prints, as "
            "tcp://host:8786."
        ) from error
