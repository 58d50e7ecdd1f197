"""The clock by which limits of time are kept: wall time, unless somebody chose CPU time.

>>> import time
>>> from nnbo_mip.core.clock import kept_by, now
>>> with kept_by(time.process_time):
...     now() <= time.process_time()
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
