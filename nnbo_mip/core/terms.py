"""Words that every room speaks: directions, statuses, kinds of bounds, measures of gaps."""

from __future__ import annotations

import math
from collections.abc import Mapping
from enum import StrEnum
from typing import Literal, TypeAlias

Direction: TypeAlias = Literal["maximize", "minimize"]
Output: TypeAlias = "str | Mapping[str, float] | None"

Kind: TypeAlias = Literal["rigorous", "solver", "none"]
"""How a bound was proven: ``rigorous`` (outward-rounded or exact), ``solver`` (true up to
a solver's stated tolerance, which the bound already contains), ``none`` (not proven)."""

Status: TypeAlias = Literal["optimal", "feasible", "heuristic", "infeasible"]
"""``optimal``: gap closed; ``feasible``: a valid bound, gap open; ``heuristic``: no proof;
``infeasible``: proven that no admissible point exists."""

SMALLEST_UNIT = 1e-4
"""Scores that cannot be negative count as this large at least, when a gap is a share of them; where
nobody scores at all, the tolerances of a solver are what is left."""


LARGEST_GAP = 1e6
"""Largest gap that may be asked for: a bound that far above a value says nothing."""


class Measure(StrEnum):
    """How far a bound may be above a value for a gap to count as closed."""

    NATURAL = "natural"
    """``gap * max(1, |value|)``: networks, means, confidence bounds."""
    SCORE = "score"
    """``gap * max(1e-4, |value|)``, or one unit in the last place where that is more: scores that
    are not negative, and often small. A bound that is exact but for its last rounding is closed."""
    LOGARITHM = "logarithm"
    """``gap``: differences of logarithms are relative as they are."""

    def allowance(self, value: float, gap: float) -> float:
        """Return how far the bound may be above a value."""
        if self is Measure.LOGARITHM:
            return gap
        if self is Measure.NATURAL:
            return gap * max(1.0, abs(value))
        return max(gap * max(SMALLEST_UNIT, abs(value)), math.ulp(value))
