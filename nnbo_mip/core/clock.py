"""The clock by which limits of time are kept: wall time, unless somebody chose CPU time.

>>> import time
>>> from nnbo_mip.core.clock import kept_by, now
>>> with kept_by(time.process_time):
...     now() <= time.process_time()
True

A clock may also count work, so that limits end a search at the same place on any machine:

>>> from nnbo_mip.core.clock import WorkClock
>>> with kept_by(WorkClock()):
...     first, second = now(), now()
>>> second - first == WorkClock.LOOK
True
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_CLOCK: ContextVar[Callable[[], float]] = ContextVar("clock", default=time.perf_counter)


def now() -> float:
    """Return seconds since some moment; only differences mean something."""
    return _CLOCK.get()()


@contextmanager
def kept_by(clock: Callable[[], float]) -> Iterator[None]:
    """Keep limits by a clock in what is done within.

    Solvers that are processes of their own keep theirs by wall time all the same.

    Parameters
    ----------
    clock : callable
        Such as `time.process_time`, which a busy machine does not hurry.
    """
    token = _CLOCK.set(clock)
    try:
        yield
    finally:
        _CLOCK.reset(token)


class WorkClock:
    """A clock that moves when it is looked at, which a search does between two pieces of work.

    A piece is a batch of boxes, of points, or of linear programs; their number is the same whenever
    the same search is made, so that a limit ends it at the same place. A solver that is given what
    is left of the time keeps that by wall time all the same.
    """

    LOOK = 2.0**-7
    """Seconds by which a look moves it: about as long as a piece of work takes."""

    def __init__(self) -> None:
        self._looks = 0

    def __call__(self) -> float:
        """Return seconds of work."""
        self._looks += 1
        return self._looks * self.LOOK
