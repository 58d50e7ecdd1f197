r"""Whether a proof is hopeless: the course of its gap, judged in work and never by a clock.

Let g(w) be how far the open bound is above the cut-off after the work w. It is read whenever the
work has doubled. Branch and bound closes gaps by about as much with each doubling, so

    g(2^j w) ~ g(w) - j (g(w / 2) - g(w)),    closed after the work  w 2^(g(w) / (g(w / 2) - g(w))).

Where that is more than the patience, or the bound did not move at all, the search ends; not
before a fortieth of the patience, as some gaps fall late. Work is the same on every machine, and so
is what is decided by it.
"""

from __future__ import annotations

import math

FIRST = 0.125
"""Work, in seconds of a nominal machine, after which the gap is first read."""

JUDGED_FROM = 0.025
"""Share of the patience before which no search is given up."""

MOST_DOUBLINGS = 60.0
"""Doublings of work that nobody waits for."""


class Course:
    """The gap of one search by the work that was spent.

    Parameters
    ----------
    patience : float
        Work, in seconds of a nominal machine, that closing the gap may be foreseen to need.

    Attributes
    ----------
    work : float
        Spent so far.
    is_hopeless : bool
        Whether the search was given up; that is final.
    """

    def __init__(self, patience: float) -> None:
        self.work = 0.0
        self.is_hopeless = False
        self._patience = patience
        self._next = FIRST
        self._before = math.inf

    def spend(self, work: float, gap: float) -> None:
        """Count work, and judge the gap that it left where work has doubled.

        Parameters
        ----------
        work : float
            In seconds of a nominal machine.
        gap : float
            How far the best bound is above the cut-off, not positive once it is closed; NaN where
            no admissible point is known, which nobody gives up.
        """
        self.work += work
        if self.work < self._next:
            return
        if self._next >= JUDGED_FROM * self._patience and gap > 0.0:
            self.is_hopeless |= foreseen(self.work, self._before, gap) > self._patience
        self._before = math.inf if math.isnan(gap) else gap
        while self._next <= self.work:
            self._next *= 2.0


def foreseen(work: float, before: float, gap: float) -> float:
    """Return the work after which a gap is foreseen to be closed.

    Parameters
    ----------
    work : float
        Spent so far.
    before, gap : float
        How far the bound was above the cut-off after about half of it, and is now.

    Examples
    --------
    >>> foreseen(1.0, 3.0, 2.0)
    4.0
    >>> foreseen(1.0, 2.0, 2.0)
    inf
    """
    if not gap < before:
        return math.inf
    if math.isinf(before):
        return work
    doublings = gap / (before - gap)
    return math.inf if doublings > MOST_DOUBLINGS else work * 2.0**doublings
