r"""What the tolerances of a solver can do to a bound, and to a claim.

A solver's statement is about a program whose rows, column bounds, integers and reduced
costs may be off by its tolerances eps (feasibility), eta (integrality) and delta (dual).

*Bounds.* The columns of every admissible point satisfy all rows and continuous column
bounds with `MARGIN` to spare, and integrality exactly. Rows and bounds moved inwards by
eps < MARGIN therefore still hold there, whatever is moved outwards only adds columns, and
what the margins cost is in the solver's own bound. Left is the dual side: a relaxation
whose reduced costs and row duals have the wrong sign by delta bounds the objective up to
delta times the sum of the ranges of columns and rows. That, and what was rounded or left
out in the objective, is added to every bound of a solver before it is believed.

*Claims.* How far an honest claim may exceed the forward pass at the point claimed follows
from the magnitude network. With ``D_0 = |x - x'|`` from the columns of the inputs, and from
how far a solution may lie within an exclusion,

    D_l = e_l + sum_k |W_{l,k}| D_k          ReLUs with columns, at most u_l (both are in [0, u_l])
    D_l = sum_k |W_{l,k}| D_k                ReLUs that are proven to be on
    D_l = 0                                  ReLUs that are proven to be off

where e_l is what the rows of one ReLU let through (`Block.feasibility_gain` and
`Block.integrality_gain`), the objective is off by at most ``sum_k |V_k| D_k``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.exact.formulation.encoding import Encoding
from nnbo_mip.exact.formulation.model import MARGIN, MilpModel, power_of_two_above
from nnbo_mip.exact.search.rounding import gamma
from nnbo_mip.network.graph.affine import Affine


@dataclass(frozen=True)
class Tolerances:
    """Absolute tolerances that a solver states, for rows and columns of order 1.

    Parameters
    ----------
    feasibility, integrality, dual : float
    """

    feasibility: float
    integrality: float
    dual: float


def bound_inflation(encoding: Encoding, tolerances: Tolerances) -> float:
    """Return by how much a solver's bound must be raised to be a bound on f."""
    return model_inflation(encoding.model, encoding.objective_error, tolerances)


def model_inflation(model: MilpModel, objective_error: float, tolerances: Tolerances) -> float:
    """Return by how much a solver's bound on a model must be raised.

    Parameters
    ----------
    model : MilpModel
    objective_error : float
        Bound on what its objective misses, at the columns of an admissible point.
    tolerances : Tolerances
    """
    dual = tolerances.dual * objective_scale(model) * _total_range(model)
    sizes = np.maximum(np.abs(model.column_lower), np.abs(model.column_upper))
    magnitude = float(np.abs(model.objective) @ sizes) + abs(model.offset)
    rounding = gamma(model.n_columns + 8) * magnitude
    return (dual + rounding + objective_error) * (1.0 + 1e-9)


def claim_allowance(encoding: Encoding, tolerances: Tolerances) -> float:
    """Return by how much an honest claim may exceed the forward pass at the point claimed."""
    with_margin = replace(tolerances, feasibility=tolerances.feasibility + MARGIN)
    return _objective_drift(encoding, with_margin) + encoding.objective_error


def objective_scale(model: MilpModel) -> float:
    """Return the power of two by which solvers see the objective divided."""
    return float(power_of_two_above(np.abs(model.objective).max(initial=0.0)))


def _objective_drift(encoding: Encoding, tolerances: Tolerances) -> float:
    network = encoding.problem.network
    whole = encoding.model.integer
    per_column = np.where(whole, tolerances.integrality, 0.0) + tolerances.feasibility
    drift = abs(encoding.model.input_matrix) @ per_column
    if encoding.inputs.exclusions is not None:
        drift = drift + encoding.inputs.exclusions.drift(
            network.n_inputs, tolerances.feasibility, tolerances.integrality
        )
    drifts = [drift]
    blocks = {block.switching.layer: block for block in encoding.blocks}
    for layer, affine in enumerate(network.layers, start=1):
        incoming = _through(affine, drifts)
        drift = np.where(encoding.active[layer - 1], incoming, 0.0)
        if layer in blocks:
            block = blocks[layer]
            own = (
                tolerances.feasibility * block.feasibility_gain
                + tolerances.integrality * block.integrality_gain
            )
            cap = block.switching.upper + tolerances.feasibility * block.positive_scales
            index = block.switching.neurons
            drift[index] = np.minimum(own + incoming[index], cap)
        drifts.append(drift)
    return float(_through(network.head, drifts)[0])


def _through(affine: Affine, drifts: list[FloatArray]) -> FloatArray:
    total = np.zeros(affine.width)
    for source, weights in affine.terms.items():
        total += abs(weights) @ drifts[source]
    return total


def _total_range(model: MilpModel) -> float:
    """Sum of the ranges of all columns and of the activities of all rows."""
    ranges = model.column_upper - model.column_lower
    activities = np.minimum(abs(model.matrix) @ ranges, model.row_upper - model.row_lower)
    return float(ranges.sum() + activities.sum())
