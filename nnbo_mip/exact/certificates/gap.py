r"""When the status of a certificate is what its value and bound amount to.

EI, PI                 log(bound) - log(value),    closed at the requested gap
log EI, log PI         bound - value,              closed at the requested gap
linear, networks       bound - value,              closed at gap * max(1, |value|)
other heads            bound - value,              closed at gap * max(1e-4, |value|), or an ulp
"""

from __future__ import annotations

import math

from nnbo_mip.core.terms import Measure
from nnbo_mip.scores.base.abstract import Head

ROUNDING = 1e-12
"""Logarithms of value and bound differ by this much at most from those that a search saw, which
had not been through an exponential."""


def measure_of(head: Head | None) -> Measure:
    """Return how gaps are measured; None stands for an output of a network."""
    return Measure.NATURAL if head is None else head.measure


def agrees(
    head: Head | None, status: str, value: float, bound: float, requested_gap: float
) -> bool:
    """Whether ``optimal`` or ``feasible`` is what value and bound amount to."""
    if value == -math.inf:
        return status == "feasible"
    measure = measure_of(head)
    doubt = ROUNDING if measure.of_logarithms else 0.0
    if status == "optimal":
        return measure.closes(value, bound, requested_gap, doubt)
    return not measure.closes(value, bound, requested_gap, -doubt)
