"""`IsolatedWorker`: runs units in a process of its own, and survives its death."""

from __future__ import annotations

import contextlib
import json
import os
import platform
import signal
import subprocess
import sys
import tempfile
import threading
import time
from typing import IO, Any

from nnbo_mip.lab.plan.environment import THREAD_VARIABLES
from nnbo_mip.lab.plan.unit import Unit
from nnbo_mip.lab.run.child import IDLE
from nnbo_mip.lab.store.answer import Answer, Attempt

TRIES = 2
"""How often a unit is tried whose process dies."""

LOG_LENGTH = 4000
"""Letters that are kept of what a process printed before it died."""


class StoppedError(Exception):
    """The worker was stopped while it ran a unit."""


class IsolatedWorker:
    """Runs one unit at a time.

    The process is started when it is first needed, and again after its death.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._stopped = False
        self._process: subprocess.Popen[str] | None = None
        self._log: IO[bytes] | None = None
        self._environment: dict[str, Any] | None = None

    def answer(self, unit: Unit) -> Answer:
        """Run a unit; where its process dies, once more.

        `StoppedError` if the worker is stopped meanwhile.
        """
        attempts: list[Attempt] = []
        result = None
        while len(attempts) < TRIES:
            line = self._tried(unit.to_text())
            result = line.pop("result", None)
            attempts.append(Attempt(**line, host=platform.node()))
            if attempts[-1].outcome != "died":
                break
        return Answer(unit.key, tuple(attempts), self._environment, result)

    def stop(self) -> None:
        """End the process, whatever it is at; any thread may call this."""
        with self._lock:
            self._stopped = True
            if self._process is not None:
                _kill(self._process)

    def close(self) -> None:
        """End the process and give back what it held, when no unit is run any more."""
        self.stop()
        if self._process is not None:
            _close_pipes(self._process)
        if self._log is not None:
            self._log.close()

    def _tried(self, text: str) -> dict[str, Any]:
        """Return what became of one try."""
        while True:
            started, since = time.time(), time.perf_counter()
            process = self._running()
            log = self._log
            assert log is not None
            log.truncate(0)
            line = _line_for(process, text)
            if line.endswith("\n"):
                answer: dict[str, Any] = json.loads(line)
                return answer
            code = self._buried(process)
            if code != IDLE:  # else it had ended by itself before it got the unit
                return {
                    "outcome": "died",
                    "message": _how_it_died(code, log),
                    "started": started,
                    "seconds": time.perf_counter() - since,
                }

    def _running(self) -> subprocess.Popen[str]:
        """Return the process, started if there is none."""
        with self._lock:
            if self._stopped:
                raise StoppedError
            if self._process is not None and self._process.poll() is None:
                return self._process
            if self._log is None:
                self._log = tempfile.TemporaryFile("ab+")  # noqa: SIM115  # until `close`
            self._process = process = subprocess.Popen(
                [sys.executable, "-P", "-m", "nnbo_mip.lab.run.child"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._log,
                env={**os.environ, **dict.fromkeys(THREAD_VARIABLES, "1")},
                encoding="utf-8",
                start_new_session=True,  # so that Ctrl-C is the runner's alone
            )
        assert process.stdout is not None
        hello = process.stdout.readline()
        self._environment = json.loads(hello)["environment"] if hello else None
        return process

    def _buried(self, process: subprocess.Popen[str]) -> int:
        with self._lock:
            _kill(process)  # what it started may still be there
            _close_pipes(process)
            self._process = None
            if self._stopped:
                raise StoppedError
        return process.returncode


def _line_for(process: subprocess.Popen[str], text: str) -> str:
    """Return what a process answers to a line; not a whole line where it died."""
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        process.stdin.write(text + "\n")
        process.stdin.flush()
    except BrokenPipeError:
        return ""
    return process.stdout.readline()


def _kill(process: subprocess.Popen[str]) -> None:
    """End a process and all that it started."""
    if process.returncode is None:  # until it is waited for, its number is nobody else's
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _close_pipes(process: subprocess.Popen[str]) -> None:
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with contextlib.suppress(BrokenPipeError):  # what was not yet written
                pipe.close()


def _how_it_died(code: int, log: IO[bytes]) -> str:
    how = f"signal {-code} ({signal.Signals(-code).name})" if code < 0 else f"exit code {code}"
    log.seek(0)
    said = log.read().decode(errors="replace")[-LOG_LENGTH:].strip()
    last = f"; it had said:\n{said}" if said else ""
    return f"the process that ran the unit died by {how}{last}"
