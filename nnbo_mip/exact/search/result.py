"""What an engine answers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.terms import Kind, Measure, Status


@dataclass(frozen=True, eq=False)
class EngineResult:
    """Answer of an engine to "maximize f over the domain".

    Parameters
    ----------
    x : (d,) array or None
        Best admissible point found.
    value : float
        Float64 forward pass at `x`; ``-inf`` without a point.
    bound : float
        Proven upper bound on f over the domain; ``+inf`` without a proof and ``-inf``
        when the domain is proven empty.
    kind : {"rigorous", "solver", "none"}
        How `bound` was proven.
    status : {"optimal", "feasible", "heuristic", "infeasible"}
        What the pair (value, bound) amounts to.
    engine : str
        Who proved `bound`.
    counters : mapping of str to int
        Work done: boxes, nodes, linear programs, evaluations, ….
    time_limited : bool
        Whether wall time, rather than work, ended the search.
    message : str
        One sentence for the user; empty when there is nothing to add.
    """

    x: FloatArray | None
    value: float
    bound: float
    kind: Kind
    status: Status
    engine: str
    counters: Mapping[str, int] = field(default_factory=dict)
    time_limited: bool = False
    message: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "counters", MappingProxyType(dict(self.counters)))
        if self.x is not None:
            x = self.x.copy()
            x.setflags(write=False)
            object.__setattr__(self, "x", x)


def gap_closed(value: float, bound: float, gap: float, measure: Measure = Measure.NATURAL) -> bool:
    """Whether the bound is no farther above the value than allowed; never without a value."""
    if value == float("-inf"):
        return False
    return bound - value <= measure.allowance(value, gap)


def cutoff(value: float, gap: float, measure: Measure = Measure.NATURAL) -> float:
    """Return the level that need not be excluded: the largest bound that closes the gap.

    The step is taken two units in the last place short, so that a region whose bound is
    not above the returned level satisfies `gap_closed` in floating point.
    """
    if value == float("-inf"):
        return value
    step = measure.allowance(value, gap)
    least = math.nextafter(value, math.inf) if measure is Measure.SCORE else value
    return max(least, value + step * (1.0 - 1e-12) - 4e-16 * abs(value))
