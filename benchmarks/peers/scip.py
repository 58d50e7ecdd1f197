"""What every use of PySCIPOpt needs: a quiet model with equal limits, the answer."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from benchmarks.certify.answer import Answer


def quiet_model(gap: float, limit: float) -> Any:
    """Return an empty model: silent, the gap (absolute and relative), wall seconds."""
    from pyscipopt import Model

    model = Model()
    model.hideOutput()
    model.setParam("timing/clocktype", 2)  # wall clock, as the other tools count
    model.setParam("limits/gap", gap)
    model.setParam("limits/absgap", gap)
    model.setParam("limits/time", limit)
    model.setParam("lp/threads", 1)
    model.setParam("parallel/maxnthreads", 1)
    return model


def read_answer(model: Any, variables: list[Any]) -> Answer:
    """Read status, incumbent and bound of a maximization."""
    words = {"optimal": "optimal", "gaplimit": "optimal", "timelimit": "time-out"}
    status = words.get(model.getStatus(), model.getStatus())
    bound = model.getDualbound()
    if model.isInfinity(bound):
        bound = math.inf
    if model.getNSols() == 0:
        return Answer.nothing(status, bound)
    solution = model.getBestSol()
    x = np.array([model.getSolVal(solution, variable) for variable in variables])
    return Answer(x, model.getObjVal(), bound, status)
