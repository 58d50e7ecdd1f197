"""How much memory and time a search may still take: looked at before something large is made.

A search is given a limit of memory and one of time. Small steps look at both as they go
(`Monitor.is_hurried`); what is large in one piece, a matrix of a million entries and its product,
says beforehand what it will need, and is not begun where that is more than is left.

>>> from nnbo_mip.core.budget import budget_kept, reserve
>>> with budget_kept(memory_limit=0.5):
...     reserve("the system", n_bytes=2**31)
Traceback (most recent call last):
nnbo_mip.core.errors.LimitError: the system would need 2.0 GiB of memory, more than is left of \
memory_limit = 0.5 GiB.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path

from nnbo_mip.core.checks import as_real
from nnbo_mip.core.control import now
from nnbo_mip.core.errors import InputError, LimitError

GIB = 2**30

DEFAULT_MEMORY = 2.0
"""GiB that one search may take beyond what the process held before it."""

OPERATIONS = 4e10
"""Floating-point operations of a second, in products of large matrices on one core."""

GRACE = 0.5
"""Seconds by which one piece of work may pass the limit of time."""

SHORTEST = 1e-3
"""Seconds of a search whose preparation took all its time: it bounds the whole box once."""

_STATM = Path("/proc/self/statm")


@dataclass
class Budget:
    """What is left of a search's limits.

    Parameters
    ----------
    memory_limit : float
        GiB, beyond what was held at the beginning.
    deadline : float
        As `core.control.now` counts.
    """

    memory_limit: float
    deadline: float = math.inf

    def __post_init__(self) -> None:
        self._before = _resident()

    @property
    def used(self) -> int:
        """Bytes that the process holds now and did not hold at the beginning."""
        return max(0, _resident() - self._before)

    @property
    def is_full(self) -> bool:
        """Whether the limit of memory is reached."""
        return self.used > self.memory_limit * GIB


_BUDGET: ContextVar[Budget | None] = ContextVar("budget", default=None)


@contextmanager
def budget_kept(memory_limit: float, time_limit: float = math.inf) -> Iterator[Budget]:
    """Keep limits in what is done within.

    Parameters
    ----------
    memory_limit : float
        GiB.
    time_limit : float
        Seconds from now.
    """
    budget = Budget(memory_limit, now() + time_limit if math.isfinite(time_limit) else math.inf)
    token = _BUDGET.set(budget)
    try:
        yield budget
    finally:
        _BUDGET.reset(token)


def current_budget() -> Budget | None:
    """Return the limits of the search that this is a part of, None where there are none."""
    return _BUDGET.get()


def seconds_left() -> float:
    """Return the seconds until the limit of the search that this is a part of, perhaps none."""
    budget = _BUDGET.get()
    return math.inf if budget is None else max(SHORTEST, budget.deadline - now())


def reserve(what: str, n_bytes: float = 0.0, operations: float = 0.0) -> None:
    """Refuse to begin what would pass a limit.

    Parameters
    ----------
    what : str
        Begins the sentence.
    n_bytes : float
        That it holds at once.
    operations : float
        Of floating-point numbers, in one piece of work that does not look at the clock.
    """
    budget = _BUDGET.get()
    if budget is None:
        return
    if n_bytes > 0.01 * GIB and n_bytes > budget.memory_limit * GIB - budget.used:
        raise LimitError(
            f"{what} would need {n_bytes / GIB:.1f} GiB of memory, more than is left of "
            f"memory_limit = {budget.memory_limit:g} GiB."
        )
    seconds = operations / OPERATIONS
    if seconds > GRACE and seconds > budget.deadline - now() + GRACE:
        raise LimitError(
            f"{what} would take about {seconds:.0f} s, more than is left of the time limit."
        )


def as_memory_limit(value: object, name: str = "memory_limit") -> float:
    """Return GiB > 0; infinity means no limit."""
    memory = as_real(value, name)
    if memory <= 0.0:
        raise InputError(
            f"{name} must be > 0 GiB; got {value!r}; {DEFAULT_MEMORY:g} is the default, inf no "
            "limit."
        )
    return memory


def _resident() -> int:
    """Return the bytes of memory that the process holds; 0 where the system does not say."""
    try:
        return int(_STATM.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0
