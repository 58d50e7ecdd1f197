"""Run a solver so that Ctrl-C, a deadline or another thread can stop it."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from typing import Generic, TypeVar

from nnbo_mip.exact.backends.base import Hooks

T = TypeVar("T")

POLL_SECONDS = 0.02
"""How often a running solve is asked whether it should stop."""

GRACE_SECONDS = 0.5

MOST_INTERRUPTS = 3
"""The KeyboardInterrupt with this number is raised even if the solver has not ended."""


class _Outcome(Generic[T]):
    """What the worker leaves behind."""

    value: T
    error: BaseException | None = None


def run_stoppable(
    work: Callable[[], T], stop: Callable[[], None], hooks: Hooks, seconds: float = math.inf
) -> T:
    """Run `work` in a thread and wait for it, calling `stop` as soon as it should end.

    Native solvers hold a thread that signals cannot reach; the waiting thread is this one,
    so KeyboardInterrupt arrives here, is passed on as `hooks.interrupt`, and the solve
    returns what it has.

    Parameters
    ----------
    work : callable
        Runs the solver; its exceptions are raised here.
    stop : callable
        Asks the solver to return soon; may be called more than once.
    hooks : Hooks
    seconds : float
        The solver's own time limit; it is stopped `GRACE_SECONDS` after it, because solvers
        in numerical trouble have overlooked theirs.
    """
    outcome: _Outcome[T] = _Outcome()
    done = threading.Event()

    def target() -> None:
        try:
            outcome.value = work()
        except BaseException as error:
            outcome.error = error
        finally:
            done.set()

    deadline = time.perf_counter() + seconds + GRACE_SECONDS
    stopping, interrupts = False, 0
    failure: Exception | None = None
    thread = threading.Thread(target=target, name="solver", daemon=True)
    # Not Thread.join: cut short by KeyboardInterrupt, it takes a running thread for ended.
    while not done.is_set():
        try:
            if thread.ident is None:
                thread.start()
            done.wait(POLL_SECONDS)
            if failure is None:
                hooks.tick()
            stopping = stopping or time.perf_counter() > deadline or hooks.should_stop()
        except KeyboardInterrupt:
            interrupts += 1
            if interrupts == MOST_INTERRUPTS:
                raise
            hooks.interrupt()
            stopping = True
        except Exception as error:  # of a hook: no solver is left running behind it
            failure, stopping = error, True
        if stopping and not done.is_set():
            stop()
    if failure is not None:
        raise failure
    if outcome.error is not None:
        raise outcome.error
    return outcome.value
