"""How the caller of a long call stays in control: its reports, its clock, and Ctrl-C.

Ctrl-C asks a search for what it has; a second one stops it at once. While a compiler works, it
waits. Limits of time are kept by wall time, unless somebody chose CPU time:

>>> import time
>>> from nnbo_mip.core.control import kept_by, now
>>> with kept_by(time.process_time):
...     now() <= time.process_time()
True
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from types import FrameType, MappingProxyType
from typing import Literal, TypeAlias

from nnbo_mip.core.errors import InputError
from nnbo_mip.core.rebuilt import Rebuilt

MOST_HELD = 2
"""Interrupts that are passed on after they were held back: one asks, the next one stops."""

_CLOCK: ContextVar[Callable[[], float]] = ContextVar("clock", default=time.perf_counter)


@dataclass(frozen=True, eq=False)
class Progress(Rebuilt):
    """A snapshot handed to the progress callback, in the maximization sense.

    Parameters
    ----------
    engine : str
        Who is at work.
    value, bound : float
        Best admissible value and best proven bound of the whole search.
    seconds, remaining : float
        Wall time spent, and left until the limit (``inf`` without one).
    counters : mapping of str to int
        Boxes, nodes, linear programs, … of the engine at work.
    note : str
        What is done instead of searching, empty during a search.
    """

    engine: str
    value: float
    bound: float
    seconds: float
    remaining: float
    counters: Mapping[str, int] = field(default_factory=dict)
    note: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "counters", MappingProxyType(dict(self.counters)))

    @property
    def gap(self) -> float:
        """Distance of value and bound, as in the result."""
        return abs(self.bound - self.value)


ProgressCallback = Callable[[Progress], None]
ProgressOption: TypeAlias = ProgressCallback | bool | Literal["live"] | None


def reporting(progress: object, sign: float) -> AbstractContextManager[ProgressCallback | None]:
    """Return a context that holds the callback of the engines, if there is to be one.

    Parameters
    ----------
    progress : callable, bool, "live" or None
        A callable receives values and bounds in the user's direction.
    sign : float
        -1 where the user minimizes.
    """
    if progress is None or progress is False:
        return nullcontext(None)
    if progress is True or progress == "live":
        from nnbo_mip.core.live import live_line

        return live_line(maximize=sign > 0.0)
    if not callable(progress):
        raise InputError(
            f'progress must be a callable, True, "live" or None; got {progress!r}; '
            "pass a function of one argument, a Progress."
        )
    if sign > 0.0:
        return nullcontext(progress)
    return nullcontext(lambda p: progress(replace(p, value=-p.value, bound=-p.bound)))


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

    >>> from nnbo_mip.core.control import WorkClock, kept_by, now
    >>> with kept_by(WorkClock()):
    ...     first, second = now(), now()
    >>> second - first == WorkClock.LOOK
    True
    """

    LOOK = 2.0**-7
    """Seconds by which a look moves it: about as long as a piece of work takes."""

    def __init__(self) -> None:
        self._looks = 0

    def __call__(self) -> float:
        """Return seconds of work."""
        self._looks += 1
        return self._looks * self.LOOK


@contextmanager
def interruptible(interrupt: Callable[[], object]) -> Iterator[None]:
    """Turn the first SIGINT into a call of `interrupt`; the next one is an exception again.

    Python hands signals to the main thread only, so that in other threads nothing changes.
    The handler that was there before is put back at the end.
    """
    before = signal.getsignal(signal.SIGINT)
    in_main_thread = threading.current_thread() is threading.main_thread()
    if not in_main_thread or before is not signal.default_int_handler:
        # Somebody else handles Ctrl-C (an IDE, a server): it is theirs.
        yield
        return

    def ask_once(_number: int, _frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        interrupt()

    signal.signal(signal.SIGINT, ask_once)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def held() -> Iterator[None]:
    """Answer Ctrl-C after the block instead of within it."""
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or before is None:
        yield  # signals are not answered in this thread, or not by Python
        return
    pressed = 0

    def remember(_number: int, _frame: FrameType | None) -> None:
        nonlocal pressed
        pressed += 1

    signal.signal(signal.SIGINT, remember)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        for _ in range(min(pressed, MOST_HELD)):
            signal.raise_signal(signal.SIGINT)
