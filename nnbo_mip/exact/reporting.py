"""What a user may pass as `progress`, turned into the callback of the engines."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import Literal, TypeAlias

from nnbo_mip.errors import InputError
from nnbo_mip.exact.monitor import ProgressCallback

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
        from nnbo_mip.exact.live import live_line

        return live_line(maximize=sign > 0.0)
    if not callable(progress):
        raise InputError(
            f'progress must be a callable, True, "live" or None; got {progress!r}; '
            "pass a function of one argument, a Progress."
        )
    if sign > 0.0:
        return nullcontext(progress)
    return nullcontext(lambda p: progress(replace(p, value=-p.value, bound=-p.bound)))
