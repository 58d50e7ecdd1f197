"""gurobi-machinelearning: ``add_sequential_constr`` on a float64 torch module."""

from __future__ import annotations

import math

import numpy as np

from benchmarks.certify.answer import Answer, Call
from benchmarks.certify.sequential import Layers
from benchmarks.peers.gurobi import quiet_environment, read_answer, set_limits
from benchmarks.peers.torch_module import sequential_module
from nnbo_mip.core.arrays import FloatArray


def prepare(layers: Layers, lower: FloatArray, upper: FloatArray, gap: float, limit: float) -> Call:
    """Return the whole call: model, predictor constraint, optimize."""
    import gurobipy as gp
    from gurobi_ml.torch import add_sequential_constr

    module = sequential_module(layers)
    environment = quiet_environment()

    def call() -> Answer:
        with gp.Model(env=environment) as model:
            set_limits(model, gap, limit)
            x = model.addMVar((1, lower.size), lb=lower, ub=upper)
            y = model.addMVar((1, 1), lb=-math.inf)
            add_sequential_constr(model, module, x, y)
            model.setObjective(y[0, 0], gp.GRB.MAXIMIZE)
            model.optimize()
            return read_answer(model, lambda: np.asarray(x.X)[0])

    return call
