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

Status: TypeAlias = Literal["optimal", "feasible", "heuristic", "infeasible", "initial", "refused"]
"""``optimal``: gap closed; ``feasible``: a valid bound, gap open; ``heuristic``: no proof;
``infeasible``: proven that no admissible point exists; ``initial``: no model chose the point;
``refused``: the maximizer cannot serve what was asked."""

Decision: TypeAlias = Literal["holds", "violated", "undecided"]
"""Whether no point is beyond a threshold: proven, contradicted by a point, or neither."""

SMALLEST_UNIT = 1e-4
"""Scores that cannot be negative count as this large at least, when a gap is a share of them; where
nobody scores at all, the tolerances of a solver are what is left."""


LOGARITHM_ROUNDING = 1e-12
"""Logarithms of stored values and bounds differ by this much at most from those of the search."""

LARGEST_GAP = 1e6
"""Largest gap that may be asked for: a bound that far above a value says nothing."""


def decide(direction: Direction, value: float, bound: float, threshold: float) -> Decision:
    """Say what a value and a bound decide about "no point scores beyond the threshold"."""
    sign = 1.0 if direction == "maximize" else -1.0
    if sign * value > sign * threshold:
        return "violated"
    return "holds" if sign * bound <= sign * threshold else "undecided"


class Measure(StrEnum):
    """What the gap between value and bound is, and how large it may be to count as closed."""

    NATURAL = "natural"
    """``gap * max(1, |value|)``: networks, means, confidence bounds."""
    SCORE = "score"
    """``gap * max(1e-4, |value|)``, or one unit in the last place where that is more: scores that
    are not negative, and often small. A bound that is exact but for its last rounding is closed."""
    LOGARITHM = "logarithm"
    """``gap``: differences of logarithms are relative as they are."""
    RELATIVE = "relative"
    """``gap``, of the logarithms of value and bound: scores that a search compares by logarithms,
    which are relative to the value however small it is."""

    @property
    def of_logarithms(self) -> bool:
        """Whether gaps are differences of logarithms."""
        return self in (Measure.LOGARITHM, Measure.RELATIVE)

    def gap(self, value: float, bound: float) -> float:
        """Return the distance of value and bound."""
        if self is not Measure.RELATIVE:
            return bound - value
        return 0.0 if bound == value else _logarithm(bound) - _logarithm(value)

    def closes(self, value: float, bound: float, gap: float, doubt: float = 0.0) -> bool:
        """Whether the bound is no farther above the value than allowed; never without a value.

        Parameters
        ----------
        value, bound, gap : float
        doubt : float
            What a difference may be larger than is allowed.
        """
        return value != -math.inf and (self.gap(value, bound) - self.allowance(value, gap) <= doubt)

    def agrees(self, status: str, value: float, bound: float, gap: float) -> bool:
        """Whether ``optimal`` or ``feasible`` is what value and bound amount to.

        To the rounding of logarithms: those that a search saw had not been through an exponential.
        """
        if value == -math.inf:
            return status == "feasible"
        doubt = LOGARITHM_ROUNDING if self.of_logarithms else 0.0
        if status == "optimal":
            return self.closes(value, bound, gap, doubt)
        return not self.closes(value, bound, gap, -doubt)

    def cutoff(self, value: float, gap: float) -> float:
        """Return the level that need not be excluded: the largest bound that closes the gap.

        The step is taken two units in the last place short, so that a region whose bound is
        not above the returned level satisfies `closes` in floating point. Not for `RELATIVE`,
        whose logarithms are searched.
        """
        if value == -math.inf:
            return value
        step = self.allowance(value, gap)
        least = math.nextafter(value, math.inf) if self is Measure.SCORE else value
        return max(least, value + step * (1.0 - 1e-12) - 4e-16 * abs(value))

    def allowance(self, value: float, gap: float) -> float:
        """Return how far the bound may be above a value."""
        if self.of_logarithms:
            return gap
        if self is Measure.NATURAL:
            return gap * max(1.0, abs(value))
        return max(gap * max(SMALLEST_UNIT, abs(value)), math.ulp(value))


def _logarithm(score: float) -> float:
    return math.log(score) if score > 0.0 else -math.inf
