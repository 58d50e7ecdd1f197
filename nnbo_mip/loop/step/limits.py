"""How long an ask may take: as many seconds as were given, or a part of what evaluations take."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

SHARE = 0.25
"""Of the median evaluation."""

SHORTEST, LONGEST = 0.5, 10.0
"""Seconds; the second one also where no evaluation has been seen yet."""


def seconds_of_ask(given: float | str, evaluations: Sequence[float]) -> float:
    """Return the limit of an ask in seconds.

    Parameters
    ----------
    given : float or "auto"
    evaluations : sequence of float
        Seconds that evaluations took.

    Examples
    --------
    >>> seconds_of_ask("auto", [2.0, 8.0, 400.0]), seconds_of_ask("auto", [0.01])
    (2.0, 0.5)
    >>> seconds_of_ask("auto", []), seconds_of_ask(3.0, [2.0])
    (10.0, 3.0)
    """
    if not isinstance(given, str):
        return given
    if not evaluations:
        return LONGEST
    return float(np.clip(SHARE * float(np.median(evaluations)), SHORTEST, LONGEST))
