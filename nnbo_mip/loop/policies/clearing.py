"""A maximum that keeps its distance from known points, most of which are nowhere near it.

Few known points are in the way of a maximum. Only those are excluded: what is best of a larger set
and admissible is best of the smaller one, and a bound of the larger one holds. A quick search
without a proof foresees which they are, so that the long one is as a rule asked once.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from nnbo_mip.core.arrays import BoolArray, FloatArray
from nnbo_mip.maximizers.base.proposal import Proposal

ROUNDS = 4
"""In which known points are excluded as they turn out to be in the way; then, or when the time of
the ask is up, all of them are."""

Search = Callable[[FloatArray | None, FloatArray | None], Proposal]
"""From the points (k, d) to keep away from and a point (d,) worth a try, if any, to a maximum."""

Quick = Callable[[FloatArray | None], Proposal]
"""From the points (k, d) to keep away from to what may be a maximum."""


def cleared(
    seen: FloatArray,
    away: float,
    search: Search,
    quick: Quick | None,
    is_late: Callable[[], bool],
) -> Proposal:
    """Maximize at a distance from all known points.

    Parameters
    ----------
    seen : (n, d) array
        Known points.
    away : float
        The distance to keep, in the largest coordinate.
    search : callable
        The search whose answer counts.
    quick : callable, optional
        One that is as good as free.
    is_late : callable
        Whether the time is up.
    """
    excluded, guess = np.zeros(len(seen), dtype=np.bool_), None
    if quick is not None:
        for _ in range(ROUNDS):
            foreseen = quick(_chosen(seen, excluded)).x
            if foreseen is None or is_late():
                break
            in_the_way = _in_the_way(seen, foreseen, away)
            if not (in_the_way & ~excluded).any():
                guess = foreseen
                break
            excluded |= in_the_way
    for _ in range(ROUNDS):
        proposal = search(_chosen(seen, excluded), guess)
        if proposal.x is None:
            return proposal
        in_the_way = _in_the_way(seen, proposal.x, away)
        if not (in_the_way & ~excluded).any():
            return proposal
        excluded |= in_the_way
        if is_late():
            break
    return search(seen, guess)


def _in_the_way(seen: FloatArray, x: FloatArray, away: float) -> BoolArray:
    """Return which of the known points (n, d) are too near a point."""
    return np.asarray(np.abs(seen - x).max(axis=1) < away)


def _chosen(seen: FloatArray, excluded: BoolArray) -> FloatArray | None:
    """Return the excluded points, None where there are none."""
    return seen[excluded] if excluded.any() else None
