"""A Python process that answers lines of text with lines of text, and can be ended."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import weakref

from nnbo_mip.core.errors import SolverError
from nnbo_mip.exact.backends.base import DEFAULT

READY = "ready"
"""The first line that a child writes."""


class Child:
    """A child process that runs the function `main` of a module.

    It ends when its parent ends or forgets it.

    Parameters
    ----------
    module : str
        Its `main` takes the arguments, writes `READY`, and then a line for every line it reads.
    *arguments : str
    """

    def __init__(self, module: str, *arguments: str) -> None:
        if not sys.executable:
            raise SolverError(
                "solvers of their own process need Python's executable; got none in "
                f"sys.executable; use the solver {DEFAULT!r}."
            )
        # A session of its own: Ctrl-C reaches the parent alone, and what the child has
        # started can be ended together with it.
        self._process = subprocess.Popen(
            [sys.executable, "-c", f"from {module} import main; main(*{arguments!r})"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            encoding="utf-8",
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            start_new_session=True,
        )
        self.was_ended = False
        self._is_ready = False
        weakref.finalize(self, _clean_up, self._process)

    def wait_until_ready(self) -> None:
        """Wait until the child can be asked, or has ended."""
        if not self._is_ready:
            self._is_ready = self._read() == READY

    def ask(self, line: str) -> str:
        """Return the child's answer to a line, empty if it ended instead."""
        assert self._process.stdin is not None  # stdin=PIPE
        try:
            self._process.stdin.write(f"{line}\n")
            self._process.stdin.flush()
        except OSError:
            return ""
        return self._read()

    def _read(self) -> str:
        assert self._process.stdout is not None  # stdout=PIPE
        return self._process.stdout.readline().rstrip("\n")

    def end(self) -> None:
        """End the child and all that it has started, at once; safe from any thread."""
        self.was_ended = True
        _end(self._process)


def _end(process: subprocess.Popen[str]) -> None:
    if process.poll() is not None:
        return
    with contextlib.suppress(OSError):  # it has just ended by itself
        if os.name == "posix":
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()


def _clean_up(process: subprocess.Popen[str]) -> None:
    _end(process)
    # Closes the pipes and waits; what nobody reads any more cannot be written.
    with contextlib.suppress(BrokenPipeError), process:
        pass
