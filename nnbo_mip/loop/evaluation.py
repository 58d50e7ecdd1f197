"""One call of the user's function: a value, or why there is none."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from nnbo_mip.core.errors import InputError
from nnbo_mip.loop.record.serialization import as_reason, as_value

Objective = Callable[[Any], Any]

SHOWN = 300
"""Letters of a message that are kept."""


@dataclass(frozen=True)
class Outcome:
    """What became of a call.

    Parameters
    ----------
    y : float or None
        None where there is no value; NaN and infinities are for `tell` to judge.
    reason : str
        Why there is none.
    error : Exception or None
        What the function raised.
    noise : float or None
        Standard deviation of y, where the function returned a pair.
    """

    y: float | None
    reason: str = ""
    error: Exception | None = None
    noise: float | None = None


def evaluated(f: Objective, x: Any) -> Outcome:
    """Call a function at a point, which it may change; only Ctrl-C and exits pass through."""
    try:
        returned = f(np.array(x) if isinstance(x, np.ndarray) else dict(x))
    except Exception as error:
        return Outcome(None, as_reason(error)[:SHOWN], error)
    try:
        if isinstance(returned, tuple) and len(returned) == 2:
            return Outcome(as_value(returned[0]), noise=_deviation(returned[1]))
        return Outcome(as_value(returned))
    except InputError as error:
        return Outcome(None, str(error)[:SHOWN])


def _deviation(given: object) -> float | None:
    """Return the second entry of a pair; None says that nothing is known of it."""
    if given is None:
        return None
    deviation = as_value(given)
    if not (math.isfinite(deviation) and deviation >= 0.0):
        raise InputError(
            f"the second entry of (y, std) must be a standard deviation >= 0; got {given!r:.60}; "
            "return y alone where none is known."
        )
    return deviation
