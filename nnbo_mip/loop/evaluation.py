"""One call of the user's function: a value, or why there is none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from nnbo_mip.core.errors import InputError
from nnbo_mip.loop.record.observation import as_value
from nnbo_mip.loop.record.serialization import as_reason

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
    """

    y: float | None
    reason: str = ""
    error: Exception | None = None


def evaluated(f: Objective, x: Any) -> Outcome:
    """Call a function at a point, which it may change; only Ctrl-C and exits pass through."""
    try:
        returned = f(np.array(x) if isinstance(x, np.ndarray) else dict(x))
    except Exception as error:
        return Outcome(None, as_reason(error)[:SHOWN], error)
    try:
        return Outcome(as_value(returned))
    except InputError as error:
        return Outcome(None, str(error)[:SHOWN])
