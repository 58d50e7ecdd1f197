"""What a worker of Dask has for units; imported where `distributed` is."""

from __future__ import annotations

import threading

from distributed import Reschedule, Worker, WorkerPlugin, get_worker

from nnbo_mip.lab.plan.unit import Unit
from nnbo_mip.lab.run.isolated import IsolatedWorker, StoppedError

PLUGIN = "nnbo-mip-units"


class Processes(WorkerPlugin):
    """A worker's own processes for units, one for each of its threads that is at one."""

    idempotent = True
    """Runners of several experiments share them."""

    def setup(self, worker: Worker) -> None:
        """Begin without any."""
        self._lock = threading.Lock()
        self._idle: list[IsolatedWorker] = []
        self._all: list[IsolatedWorker] = []

    def teardown(self, worker: Worker) -> None:
        """End them with the worker."""
        for one in self._all:
            one.stop()

    def answer(self, text: str) -> str:
        """Run a unit in a process that is idle, or a new one."""
        with self._lock:
            if not self._idle:
                self._idle.append(IsolatedWorker())
                self._all.append(self._idle[-1])
            one = self._idle.pop()
        try:
            return one.answer(Unit.from_text(text)).to_text()
        finally:
            with self._lock:
                self._idle.append(one)


def run_on_worker(text: str) -> str:
    """Run a unit on the worker of Dask that calls this; one that is closing leaves it to others."""
    processes = get_worker().plugins[PLUGIN]
    assert isinstance(processes, Processes)
    try:
        return processes.answer(text)
    except StoppedError as error:
        raise Reschedule from error
