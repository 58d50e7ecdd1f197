"""Whether the numbers of a certificate fit each other: kind, status, value, bound and gaps."""

from __future__ import annotations

import math
from collections.abc import Iterator

from nnbo_mip.core.terms import LARGEST_GAP, Measure
from nnbo_mip.exact.certificates.certificate import Certificate
from nnbo_mip.scores.base.abstract import Head


def contradictions(certificate: Certificate, head: Head | None) -> Iterator[str]:
    """Yield what is wrong with the numbers, in sentences.

    Parameters
    ----------
    certificate : Certificate
    head : Head or None
        Which says how gaps are measured; None for an output of a network.
    """
    sign = 1.0 if certificate.direction == "maximize" else -1.0
    value, bound = sign * certificate.value, sign * certificate.bound
    status, gap, wanted = certificate.status, certificate.gap, certificate.requested_gap
    measure = Measure.NATURAL if head is None else head.measure
    expected = math.nan if status == "infeasible" else measure.gap(value, bound)
    if not 0.0 <= wanted <= LARGEST_GAP or math.isnan(value) or math.isnan(bound):
        yield f"its numbers are not ordered, or its requested gap not from 0 to {LARGEST_GAP:g}."
    elif value > bound:
        yield "its value lies beyond its bound."
    elif (certificate.x is None) != (value == -math.inf):
        yield "it names a value but no point that has it, or a point without a value."
    elif (certificate.kind == "none") != (status == "heuristic"):
        yield f"a bound of kind {certificate.kind!r} does not make the status {status!r}."
    elif status == "heuristic" and bound != math.inf:
        yield "a heuristic result claims no bound, but a finite one is written."
    elif status != "heuristic" and bound == math.inf:
        yield f"an infinite bound is none, which the status {status!r} denies."
    elif (status == "infeasible") != (bound == -math.inf):
        yield "where no admissible point exists, and only there, is there no value and no bound."
    elif status == "optimal" and not measure.agrees(status, value, bound, wanted):
        yield "value and bound are farther apart than the gap that 'optimal' promises."
    elif status == "feasible" and not measure.agrees(status, value, bound, wanted):
        yield "value and bound are as close as 'optimal' asks, but the status says otherwise."
    elif gap != expected and not (math.isnan(gap) and math.isnan(expected)):
        yield f"the distance of value and bound is {expected!r}, not {gap!r}."
