r"""Pre-activation bounds by linear programs, each rebuilt from its multipliers.

For each undecided ReLU of layer l, z_j is maximized and minimized over the relaxation of
the layers before it, layer by layer. With a level, the program holds all layers and the
row ``f >= level``: bounds then hold for the points that score at least the level, the
only ones a search for better points has to look at; inputs are tightened the same way.
The answers of the simplex are not used, only its multipliers (`simplex.safe_bound`).

References
----------
Tjeng et al. (2019), pre-activation bounds by linear programs [Tjeng2019].
Neumaier and Shcherbina (2004), safe bounds from multipliers [NeumaierShcherbina2004].
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.exact.bounds.flat import FlatSystem, flatten
from nnbo_mip.exact.bounds.interval import interval_bounds
from nnbo_mip.exact.bounds.program import Program, build_program
from nnbo_mip.exact.search.monitor import Monitor
from nnbo_mip.exact.search.problem import Problem
from nnbo_mip.network.graph.graph import Network
from nnbo_mip.space.domain import Domain


class ProgramSolver:
    """Proven maxima of linear functions over one program."""

    def __init__(self, program: Program) -> None:
        self.program = program
        m, n = program.A.shape
        self._T = np.empty((m, n))
        self._v = np.empty(m)
        self._basic = np.empty(m, dtype=np.int64)
        self._nonbasic = np.empty(n, dtype=np.int64)
        self._at_upper = np.empty(n, dtype=np.bool_)
        self._d, self._e = np.empty(n), np.empty(n)
        self._mu = np.empty(m)
        self.steps = 0

    def maximum(self, objective: FloatArray, constant: float, error: float) -> float:
        """Return a proven upper bound on ``constant + objective . y``; -inf if none exists.

        Parameters
        ----------
        objective : (n,) array
        constant : float
        error : float
            How far the stored function may be from the true one.
        """
        from nnbo_mip.exact.bounds import simplex

        p = self.program
        work = (self._T, self._d, self._v, self._basic, self._nonbasic, self._at_upper)
        start = simplex.reset(p.A, p.r, objective, constant, p.low, p.high, *work)
        status, value, steps, row, sign = simplex.dual_simplex(
            self._T,
            self._d,
            self._v,
            self._basic,
            self._nonbasic,
            self._at_upper,
            p.low,
            p.high,
            start,
            -np.inf,
            simplex.steps_of_a_solve(self._T.size),
        )
        self.steps += steps
        simplex.read_multipliers(self._d, self._nonbasic, len(objective), self._mu)
        if status == simplex.INFEASIBLE:
            floor = constant - np.abs(objective) @ p.sizes
            fall = 2.0 * (value - floor) + 1.0 + abs(value)
            simplex.add_ray(
                self._T,
                self._v,
                self._basic,
                self._nonbasic,
                p.low,
                p.high,
                row,
                sign,
                fall,
                len(objective),
                self._mu,
            )
        return float(
            simplex.safe_bound(
                p.A,
                p.r,
                objective,
                constant,
                p.low,
                p.high,
                self._mu,
                self._e,
                p.sizes,
                p.row_sizes,
                p.row_errors,
                error,
            )
        )


@cache
def load_solver() -> None:
    """Compile the simplex, once a machine, or load what was compiled, once a process."""
    network = Network.from_layers([([[1.0]], [0.5]), ([[1.0]], [0.0])])
    problem = Problem(network, Domain([-1.0], [2.0]))
    lower, upper = problem.domain.lower, problem.domain.upper
    flat = flatten(network, interval_bounds(network, lower, upper))
    for level in (-np.inf, 100.0):  # one that is infeasible
        solver = ProgramSolver(build_program(problem, flat, lower, upper, level))
        solver.maximum(np.array([1.0, 1.0]), 0.0, 0.0)


def tighten_layers(
    problem: Problem, flat: FlatSystem, lower: FloatArray, upper: FloatArray, monitor: Monitor
) -> FlatSystem:
    """Tighten the bounds of a flat system layer by layer over the box.

    The first layer needs no program: its interval bounds over the box are exact, unless
    the domain has rows.
    """
    low, high = flat.low.copy(), flat.high.copy()
    errors = problem.rounding.layers
    first = 0 if len(problem.domain.b) or problem.domain.one_hot else 1
    for layer in np.unique(flat.level)[first:]:
        before = np.flatnonzero(flat.level < layer)
        current = np.flatnonzero(flat.level == layer)
        part = _restrict(replace(flat, low=low, high=high), len(before))
        program = build_program(problem, part, lower, upper)
        solver = ProgramSolver(program)
        d = flat.n_inputs
        units = np.concatenate([program.width, program.scale])
        for j in current:
            if monitor.should_stop():
                break
            row = flat.weights[j, : d + len(before)] * units
            shift = flat.bias[j] + float(flat.weights[j, :d] @ lower)
            error = 2.0 * errors[flat.place[j, 0] - 1][flat.place[j, 1]]
            high[j] = min(high[j], solver.maximum(row, shift, error))
            low[j] = max(low[j], -solver.maximum(-row, -shift, error))
    return replace(flat, low=low, high=high)


def _restrict(flat: FlatSystem, count: int) -> FlatSystem:
    """Return the system of the first `count` ReLUs, with a zero objective."""
    columns = flat.n_inputs + count
    return FlatSystem(
        weights=np.ascontiguousarray(flat.weights[:count, :columns]),
        bias=flat.bias[:count],
        low=flat.low[:count],
        high=flat.high[:count],
        objective=np.zeros(columns),
        constant=0.0,
        level=flat.level[:count],
        place=flat.place[:count],
    )


def tighten_above(
    problem: Problem,
    flat: FlatSystem,
    lower: FloatArray,
    upper: FloatArray,
    level: float,
    monitor: Monitor,
) -> tuple[FlatSystem, FloatArray, FloatArray] | None:
    """Tighten inputs and pre-activations for the points with f >= level.

    Returns
    -------
    The system with new bounds and the new box, or None when it is proven that no point
    reaches the level.
    """
    program = build_program(problem, flat, lower, upper, level)
    solver = ProgramSolver(program)
    d, k = flat.n_inputs, flat.n_relus
    errors = problem.rounding.layers
    new_lower, new_upper = lower.copy(), upper.copy()
    for i in np.flatnonzero(program.width > 0.0):
        if monitor.should_stop():
            break
        axis = np.zeros(d + k)
        axis[i] = 1.0
        top, bottom = solver.maximum(axis, 0.0, 0.0), -solver.maximum(-axis, 0.0, 0.0)
        if top < bottom or top < 0.0 or bottom > 1.0:
            return None
        spread = 4e-16 * (abs(lower[i]) + abs(upper[i]))
        new_upper[i] = min(upper[i], lower[i] + program.width[i] * top + spread)
        new_lower[i] = max(lower[i], lower[i] + program.width[i] * bottom - spread)
    low, high = flat.low.copy(), flat.high.copy()
    for j in range(k):
        if monitor.should_stop():
            break
        row, shift = program.weights[j], program.bias[j]
        scale = program.scale[j]
        error = 2.0 * errors[flat.place[j, 0] - 1][flat.place[j, 1]] / scale
        high[j] = min(high[j], scale * solver.maximum(row, shift, error))
        low[j] = max(low[j], -scale * solver.maximum(-row, -shift, error))
        if low[j] > high[j]:
            return None
    return replace(flat, low=low, high=high), new_lower, new_upper
