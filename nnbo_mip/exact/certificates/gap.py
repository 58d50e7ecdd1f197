r"""What the gap of a certificate is, and when it counts as closed.

EI, PI                 log(bound) - log(value),    closed at the requested gap
log EI, log PI         bound - value,              closed at the requested gap
linear, networks       bound - value,              closed at gap * max(1, |value|)
other heads            bound - value,              closed at gap * max(1e-4, |value|), or an ulp
"""

from __future__ import annotations

import math

from nnbo_mip.core.terms import Measure
from nnbo_mip.scores import logarithms
from nnbo_mip.scores.base.abstract import Head
from nnbo_mip.scores.functions.linear import LinearHead

ROUNDING = 1e-12
"""Logarithms of value and bound differ by this much at most from those that a search saw, which
had not been through an exponential."""


def measure_of(head: Head | None) -> Measure:
    """Return when a gap counts as closed."""
    if head is None or isinstance(head, LinearHead):
        return Measure.NATURAL
    return Measure.LOGARITHM if _is_of_logarithms(head) else Measure.SCORE


def gap_of(head: Head | None, value: float, bound: float) -> float:
    """Return the distance of value and bound, in logarithms where the head asks for it."""
    if head is None or not _is_of_logarithms(head) or logarithms.is_logarithm(head):
        return bound - value
    return 0.0 if bound == value else _logarithm(bound) - _logarithm(value)


def agrees(
    head: Head | None, status: str, value: float, bound: float, requested_gap: float
) -> bool:
    """Whether ``optimal`` or ``feasible`` is what value and bound amount to."""
    if value == -math.inf:
        return status == "feasible"
    allowed = measure_of(head).allowance(value, requested_gap)
    excess = gap_of(head, value, bound) - allowed
    doubt = ROUNDING if measure_of(head) is Measure.LOGARITHM else 0.0
    return excess <= doubt if status == "optimal" else excess > -doubt


def _is_of_logarithms(head: Head) -> bool:
    return logarithms.is_logarithm(logarithms.searched(head))


def _logarithm(score: float) -> float:
    return math.log(score) if score > 0.0 else -math.inf
