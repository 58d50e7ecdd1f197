"""Which claims about a fuzz case do not hold; the checker adds no slack.

Truth is the network in rational arithmetic over the admissible points. It is known from
exact enumeration, or from below: f is at least its exact value at every admissible point
that anybody returned.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from benchmarks.soundness.exact_value import exact_value
from benchmarks.soundness.nets import FuzzCase

STATUSES = ("optimal", "feasible", "heuristic", "infeasible")
NO_CLAIMS = ("unsupported", "killed")
ORACLE = "oracle"


@dataclass(frozen=True)
class Record:
    """What one engine said about one case.

    Parameters
    ----------
    index : int
        The case.
    engine : str
        Who said it.
    status : str
        One of `STATUSES`; ``unsupported`` (the engine declined), ``killed`` (it did not stop
        and was ended), ``error`` (it raised something else).
    value, bound : float
        Its claims; ``-inf`` and ``inf`` where it makes none.
    x : list of float or None
        Its point.
    seconds : float
        CPU seconds.
    message : str
        Of an error.
    """

    index: int
    engine: str
    status: str
    value: float = -math.inf
    bound: float = math.inf
    x: list[float] | None = None
    seconds: float = 0.0
    message: str = ""


@dataclass(frozen=True)
class Oracle:
    """The exact maximum; `maximum` is None where the domain is empty."""

    maximum: Fraction | None


def violations(
    case: FuzzCase, records: Sequence[Record], oracle: Oracle | None, gap: float
) -> dict[str, list[str]]:
    """Return, by engine, the sentences that say which of its claims are false.

    The oracle is judged too: a point that scores more than its maximum refutes it.
    """
    attained = _attained(case, records)
    found: dict[str, list[str]] = {}
    lowest, empty = attained, False
    if oracle is not None:
        lowest, empty = oracle.maximum, oracle.maximum is None
        if attained is not None and (lowest is None or attained > lowest):
            said = "empty" if lowest is None else repr(float(lowest))
            found[ORACLE] = [f"maximum {said}, but {float(attained)!r} is attained"]
            lowest, empty = attained, False
    for record in records:
        sentences = _violations_of(case, record, lowest, empty, gap)
        if sentences:
            found[record.engine] = sentences
    return found


def _attained(case: FuzzCase, records: Sequence[Record]) -> Fraction | None:
    """Largest exact value at an admissible point that anybody returned."""
    points = {tuple(record.x) for record in records if record.x is not None}
    values = [
        exact_value(case.network, np.array(point))
        for point in points
        if _admissible(case, np.array(point))
    ]
    return max(values, default=None)


def _violations_of(
    case: FuzzCase, record: Record, lowest: Fraction | None, empty: bool, gap: float
) -> list[str]:
    if record.status in NO_CLAIMS:
        return []
    if record.status not in STATUSES:
        return [f"raised {record.message}"]
    found = []
    if record.x is not None:
        found += _point_violations(case, record)
        if empty:
            found.append("returned a point of an empty domain")
    elif record.value != -math.inf:
        found.append(f"value {record.value!r} without a point")
    if math.isnan(record.bound) or math.isnan(record.value):
        return [*found, f"value {record.value!r}, bound {record.bound!r}"]
    if lowest is not None and _below(record.bound, lowest):
        found.append(f"bound {record.bound!r} is below the maximum, at least {float(lowest)!r}")
    if record.bound < record.value:
        found.append(f"bound {record.bound!r} is below its own value {record.value!r}")
    if record.status == "infeasible" and lowest is not None:
        found.append(f"infeasible, but the maximum is at least {float(lowest)!r}")
    if record.status == "heuristic" and record.bound != math.inf:
        found.append(f"heuristic with the bound {record.bound!r}")
    if record.status == "optimal":
        found += _optimality_violations(record, lowest, gap)
    return found


def _point_violations(case: FuzzCase, record: Record) -> list[str]:
    point = np.array(record.x)
    found = []
    if not _admissible(case, point):
        found.append(f"the point {record.x} is not admissible")
    else:
        forward = float(case.network.evaluate(point[None, :], 0)[0])
        if forward != record.value:
            found.append(f"value {record.value!r} is not the forward pass {forward!r}")
    return found


def _optimality_violations(record: Record, lowest: Fraction | None, gap: float) -> list[str]:
    if record.x is None:
        return ["optimal without a point"]
    found = []
    allowed = gap * max(1.0, abs(record.value))
    if not record.bound - record.value <= allowed:
        found.append(f"optimal with gap {record.bound - record.value!r}")
    if lowest is not None and lowest - Fraction(record.value) > Fraction(allowed):
        found.append(f"optimal at {record.value!r}, but the maximum is {float(lowest)!r}")
    return found


def _below(bound: float, value: Fraction) -> bool:
    if math.isinf(bound):
        return bound < 0.0
    return Fraction(bound) < value


def _admissible(case: FuzzCase, point: Any) -> bool:
    if point.shape != (case.domain.dimension,) or not np.isfinite(point).all():
        return False
    return bool(case.domain.admissible(point[None, :])[0])
