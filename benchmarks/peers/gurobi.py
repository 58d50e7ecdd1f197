"""What every use of gurobipy needs: a quiet environment, equal limits, the answer."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from benchmarks.certify.answer import Answer
from nnbo_mip.core.arrays import FloatArray


def quiet_environment() -> Any:
    """Return a started environment that prints nothing."""
    import gurobipy as gp

    return gp.Env(params={"OutputFlag": 0})


def set_limits(model: Any, gap: float, limit: float) -> None:
    """One thread, the gap (absolute and relative), wall seconds."""
    model.Params.Threads = 1
    model.Params.MIPGap = gap
    model.Params.MIPGapAbs = gap
    model.Params.TimeLimit = limit


def read_answer(model: Any, point: Callable[[], FloatArray]) -> Answer:
    """Read status, incumbent and bound of a maximization."""
    import gurobipy as gp

    words = {gp.GRB.OPTIMAL: "optimal", gp.GRB.TIME_LIMIT: "time-out"}
    status = words.get(model.Status, f"gurobi status {model.Status}")
    bound = model.ObjBound if model.Status in words else math.inf
    if model.SolCount == 0:
        return Answer.nothing(status, bound)
    return Answer(point(), model.ObjVal, bound, status)
