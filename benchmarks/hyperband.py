"""The schedule of Hyperband: how many configurations start, with which budget, and who goes on.

Without budgets that are cheaper than a whole evaluation it is random search, so as a method it
stands beside the density ratios under that name.
"""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Rung:
    """So many configurations, each with this budget.

    Parameters
    ----------
    configurations : int
    budget : float
    """

    configurations: int
    budget: float


def brackets(largest: float, smallest: float, eta: int = 3) -> list[list[Rung]]:
    """Return the brackets, the widest first; each is a successive halving by eta.

    Parameters
    ----------
    largest, smallest : float
        Budgets of one evaluation.
    eta : int
        The best 1 / eta of a rung go on.
    """
    # A logarithm that is whole must not be cut off by its rounding.
    most = math.floor(math.log(largest / smallest, eta) + 1e-9)
    found = []
    for s in range(most, -1, -1):
        n = math.ceil((most + 1) / (s + 1) * eta**s)
        found.append([Rung(n // eta**i, largest * eta ** (i - s)) for i in range(s + 1)])
    return found
