"""A process that solves fuzz cases on demand and is ended when it does not stop."""

from __future__ import annotations

import multiprocessing
import os
from multiprocessing.connection import Connection

from benchmarks.certify.measure import THREAD_VARIABLES
from benchmarks.soundness.engines import CONTESTANTS
from benchmarks.soundness.nets import draw
from benchmarks.soundness.oracle import ask_oracle
from benchmarks.soundness.verdicts import Oracle, Record

PATIENCE = 60.0
"""Wall seconds beyond ten time limits after which a solve is ended: a fault of its own."""

SECONDS_TO_STOP = 10.0


class Worker:
    """Runs contestants in a child process; survives their crashes and hangs."""

    def __init__(self, seed: int, gap: float, limit: float) -> None:
        self.settings = (seed, gap, limit)
        self.patience = 10.0 * limit + PATIENCE
        os.environ.update(dict.fromkeys(THREAD_VARIABLES, "1"))
        self._start()

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.connection, remote = context.Pipe()
        self.process = context.Process(target=_serve, args=(remote, *self.settings), daemon=True)
        self.process.start()
        remote.close()

    def record(self, index: int, engine: str) -> Record:
        """Let one contestant solve one case."""
        answer = self._ask((index, engine))
        if isinstance(answer, Record):
            return answer
        status = "killed" if answer == "no answer" else "error"
        return Record(index, engine, status, message=str(answer))

    def oracle(self, index: int) -> Oracle | None:
        """Return the exact maximum of a case, None where it is out of reach."""
        answer = self._ask((index, None))
        return answer if isinstance(answer, Oracle) else None

    def _ask(self, request: tuple[int, str | None]) -> Record | Oracle | str | None:
        self.connection.send(request)
        try:
            if self.connection.poll(self.patience):
                answer: Record | Oracle | None = self.connection.recv()
                return answer
            reason = "no answer"
        except EOFError:
            self.process.join()
            reason = f"the process ended with exit code {self.process.exitcode}"
        self.process.kill()
        self.close()
        self._start()
        return reason

    def close(self) -> None:
        """End the process, which stops by itself when nobody can ask it any more."""
        self.connection.close()
        self.process.join(SECONDS_TO_STOP)
        self.process.kill()
        self.process.join()


def _serve(connection: Connection, seed: int, gap: float, limit: float) -> None:
    """Answer requests ``(index, engine)`` until the other side is gone; engine None: the oracle."""
    while True:
        try:
            index, engine = connection.recv()
        except EOFError:
            return
        case = draw(seed, index)
        if engine is None:
            connection.send(ask_oracle(case))
        else:
            connection.send(CONTESTANTS[engine].run(case, gap, limit))
