"""Progress of a search: what callbacks receive, and what a user may pass as `progress`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Literal, TypeAlias

from nnbo_mip.core.errors import InputError
from nnbo_mip.core.rebuilt import Rebuilt


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
