"""Units on this machine: a process a worker, each with one thread."""

from __future__ import annotations

import queue
import threading
from collections import deque
from collections.abc import Generator, Sequence

from nnbo_mip.lab.plan.unit import Unit
from nnbo_mip.lab.run.isolated import IsolatedWorker, StoppedError
from nnbo_mip.lab.store.answer import Answer


class LocalPool:
    """Processes of this machine.

    Parameters
    ----------
    workers : int
    """

    def __init__(self, workers: int) -> None:
        self._workers = workers

    @property
    def workers(self) -> int:
        """How many units are run at a time."""
        return self._workers

    def answers(self, units: Sequence[Unit]) -> Generator[list[Answer]]:
        """Yield what became of the units; see `nnbo_mip.lab.run.executor`."""
        waiting, done = deque(units), queue.SimpleQueue[Answer | BaseException]()
        isolated = [IsolatedWorker() for _ in range(min(self._workers, len(units)))]
        threads = [
            threading.Thread(target=_work, args=(one, waiting, done), daemon=True)
            for one in isolated
        ]
        try:
            for thread in threads:
                thread.start()
            left = len(units)
            while left:
                batch = [_checked(done.get())]
                while not done.empty():
                    batch.append(_checked(done.get()))
                left -= len(batch)
                yield batch
        finally:
            waiting.clear()
            for one in isolated:
                one.stop()
            for thread in threads:
                if thread.ident is not None:
                    thread.join()


def _work(
    isolated: IsolatedWorker,
    waiting: deque[Unit],
    done: queue.SimpleQueue[Answer | BaseException],
) -> None:
    """Run units until there are no more, or the worker is stopped."""
    try:
        while True:
            try:
                unit = waiting.popleft()
            except IndexError:
                return
            done.put(isolated.answer(unit))
    except StoppedError:
        return
    except BaseException as error:
        done.put(error)
    finally:
        isolated.close()


def _checked(answer: Answer | BaseException) -> Answer:
    if isinstance(answer, BaseException):
        raise answer
    return answer
