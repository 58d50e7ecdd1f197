"""OMLT: big-M or partition-based ReLUs in Pyomo, solved by HiGHS through APPSI."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from benchmarks.certify.answer import Answer, Call
from benchmarks.certify.sequential import Layers
from nnbo_mip.core.arrays import FloatArray


def prepare(
    layers: Layers,
    lower: FloatArray,
    upper: FloatArray,
    gap: float,
    limit: float,
    formulation: str,
) -> Call:
    """Return the whole call: block, formulation, optimize."""
    import pyomo.environ as pyo
    from omlt import OmltBlock
    from omlt.neuralnet import ReluBigMFormulation, ReluPartitionFormulation
    from pyomo.contrib.appsi.base import TerminationCondition
    from pyomo.contrib.appsi.solvers import Highs

    # SolverFactory("appsi_highs") returns legacy results; this class reports the bound.
    formulations = {"bigm": ReluBigMFormulation, "partition": ReluPartitionFormulation}
    definition = network_definition(layers, lower, upper)
    words = {
        TerminationCondition.optimal: "optimal",
        TerminationCondition.maxTimeLimit: "time-out",
    }

    def call() -> Answer:
        model = pyo.ConcreteModel()
        model.nn = OmltBlock()
        model.nn.build_formulation(formulations[formulation](definition))
        model.objective = pyo.Objective(expr=model.nn.outputs[0], sense=pyo.maximize)
        solver = Highs()
        solver.config.time_limit = limit
        solver.config.load_solution = False
        solver.highs_options = {"mip_rel_gap": gap, "mip_abs_gap": gap, "threads": 1}
        results = solver.solve(model)
        condition = results.termination_condition
        status = words.get(condition, condition.name)
        bound = results.best_objective_bound
        bound = math.inf if bound is None else bound
        if results.best_feasible_objective is None:
            return Answer.nothing(status, bound)
        results.solution_loader.load_vars()
        x = np.array([pyo.value(model.nn.inputs[i]) for i in range(lower.size)])
        return Answer(x, results.best_feasible_objective, bound, status)

    return call


def network_definition(layers: Layers, lower: FloatArray, upper: FloatArray) -> Any:
    """Return OMLT's own representation of plain layers, with the input box."""
    from omlt.neuralnet import NetworkDefinition
    from omlt.neuralnet import layer as omlt_layer

    make_definition: Any = NetworkDefinition  # OMLT has no type annotations
    make_input: Any = omlt_layer.InputLayer
    make_dense: Any = omlt_layer.DenseLayer
    bounds = {
        i: (float(lo), float(hi)) for i, (lo, hi) in enumerate(zip(lower, upper, strict=True))
    }
    definition = make_definition(scaled_input_bounds=bounds)
    previous = make_input([lower.size])
    definition.add_layer(previous)
    for position, (weight, bias) in enumerate(layers):
        dense = make_dense(
            [weight.shape[1]],
            [weight.shape[0]],
            activation="relu" if position + 1 < len(layers) else "linear",
            weights=weight.T,
            biases=bias,
        )
        definition.add_layer(dense)
        definition.add_edge(previous, dense)
        previous = dense
    return definition
