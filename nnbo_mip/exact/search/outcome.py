"""The last word on a search: the best value anybody found, the best bound anybody proved."""

from __future__ import annotations

import math
from dataclasses import dataclass

from nnbo_mip.core.terms import Kind, Status
from nnbo_mip.exact.search.monitor import Monitor
from nnbo_mip.exact.search.result import EngineResult, gap_closed


@dataclass(frozen=True)
class Outcome:
    """Value, bound and what they amount to, in the maximization sense.

    Parameters
    ----------
    value, bound : float
    gap : float
        ``bound - value``; NaN where there is no admissible point.
    kind : {"rigorous", "solver", "none"}
    status : {"optimal", "feasible", "heuristic", "infeasible"}
    engine : str
        Who proved the bound, or who searched without proving one.
    """

    value: float
    bound: float
    gap: float
    kind: Kind
    status: Status
    engine: str


def settle(result: EngineResult, monitor: Monitor) -> Outcome:
    """Combine an engine's answer with what the monitor saw during the search."""
    if result.status == "infeasible" and monitor.best_x is None:
        return Outcome(-math.inf, -math.inf, math.nan, result.kind, "infeasible", result.engine)
    value, bound, kind, engine = monitor.best_value, math.inf, result.kind, result.engine
    if result.status != "infeasible" and result.kind != "none":
        bound = result.bound
    if monitor.bound_kind != "none" and monitor.bound < bound:
        bound, kind, engine = monitor.bound, monitor.bound_kind, monitor.bound_engine
    if bound == math.inf:
        return Outcome(value, math.inf, math.inf, "none", "heuristic", engine)
    bound = max(bound, value)
    status: Status = "optimal" if gap_closed(value, bound, monitor.gap) else "feasible"
    return Outcome(value, bound, bound - value, kind, status, engine)
