"""Run a solver so that Ctrl-C, a deadline or another thread can stop it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

from nnbo_mip.exact.backends.base import Hooks

T = TypeVar("T")

POLL_SECONDS = 0.02
"""How often a running solve is asked whether it should stop."""


class _Outcome(Generic[T]):
    """What the worker leaves behind."""

    value: T
    error: BaseException | None = None


def run_stoppable(work: Callable[[], T], stop: Callable[[], None], hooks: Hooks) -> T:
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
    """
    outcome: _Outcome[T] = _Outcome()

    def target() -> None:
        try:
            outcome.value = work()
        except BaseException as error:
            outcome.error = error

    thread = threading.Thread(target=target, name="solver", daemon=True)
    thread.start()
    while thread.is_alive():
        try:
            thread.join(POLL_SECONDS)
            if thread.is_alive() and hooks.should_stop():
                stop()
        except KeyboardInterrupt:
            hooks.interrupt()
            stop()
    if outcome.error is not None:
        raise outcome.error
    return outcome.value
