"""pyscipopt-ml: ``add_sequential_constr`` on a float64 torch module, SOS1 or big-M."""

from __future__ import annotations

import numpy as np

from benchmarks.certify.answer import Answer, Call
from benchmarks.certify.sequential import Layers
from benchmarks.peers.scip import quiet_model, read_answer
from benchmarks.peers.torch_module import sequential_module
from nnbo_mip.core.arrays import FloatArray


def prepare(
    layers: Layers,
    lower: FloatArray,
    upper: FloatArray,
    gap: float,
    limit: float,
    formulation: str,
) -> Call:
    """Return the whole call: model, predictor constraint, optimize."""
    from pyscipopt_ml.torch import add_sequential_constr

    module = sequential_module(layers)

    def call() -> Answer:
        model = quiet_model(gap, limit)
        x = np.array([[model.addVar(lb=lo, ub=hi) for lo, hi in zip(lower, upper, strict=True)]])
        y = np.array([[model.addVar(lb=None, ub=None)]])
        add_sequential_constr(model, module, x, y, formulation=formulation)
        model.setObjective(y[0, 0], "maximize")
        model.optimize()
        return read_answer(model, list(x[0]))

    return call
