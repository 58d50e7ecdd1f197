r"""The linear relaxation of a flat system, in units in which everything is about 1.

With ``x = lower + width * x'`` and, for each undecided ReLU, a power of two S not below
its bounds, ``h = S h'`` and ``z = S z'``, the program's columns are (x', h') and its rows

    s_j = h'_j - z'_j                           0 <= s_j <= -l_j / S_j
    t_j = tau_j - h'_j + sigma_j z'_j           0 <= t_j <= tau_j      (the triangle)
    domain rows, one-hot sums, and a cut-off row f - level >= 0 where asked for,

with sigma = u / (u - l) and tau the largest value of ``relu(z') - sigma z'`` on [l', u'].
Fixing ``s_j = 0`` makes ReLU j active, fixing ``h'_j = 0`` makes it inactive.

References
----------
Ehlers (2017), the triangle relaxation of a ReLU [Ehlers2017].
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.exact.bounds.flat import FlatSystem
from nnbo_mip.exact.search.problem import Problem

OUTWARD = 1.0 + 1e-15

NODE_SECONDS, ASCENT_SECONDS = 5e-9, 1.5e-9
"""Rough times of a node of the dual simplex and of dual ascent, for each entry of its dictionary.
Work is counted in them: they need not be right, no clock is read."""


@dataclass(frozen=True, eq=False)
class Program:
    """``max constant + objective . y`` with slacks ``r + A y``, all between finite ends.

    Parameters
    ----------
    A, r : (m, n), (m,) arrays
    objective, constant : (n,) array and float
    low, high : (n + m,) arrays
        Ends of the columns, then of the slacks.
    sizes, row_sizes : (n,), (m,) arrays
        Bounds on ``|y|`` and on ``|r| + |A| |y|``.
    row_errors : (m,) array
        How far stored rows may be from the true ones anywhere in the box.
    base_error : float
        The same for the objective.
    weights, bias : (K, n), (K,) arrays
        The flat system in the program's units.
    lower, width : (d,) arrays
        ``x = lower + width * y[:d]``.
    scale : (K,) array
        The powers of two.
    """

    A: FloatArray
    r: FloatArray
    objective: FloatArray
    constant: float
    low: FloatArray
    high: FloatArray
    sizes: FloatArray
    row_sizes: FloatArray
    row_errors: FloatArray
    base_error: float
    weights: FloatArray
    bias: FloatArray
    lower: FloatArray
    width: FloatArray
    scale: FloatArray

    @property
    def n_inputs(self) -> int:
        """Number of inputs, d."""
        return len(self.lower)

    @property
    def n_relus(self) -> int:
        """Number of undecided ReLUs, K."""
        return len(self.scale)

    @cached_property
    def objective_unit(self) -> float:
        """The power of two that dual ascent in float32 divides the objective by."""
        largest = float(np.abs(self.objective).max(initial=0.0))
        return float(2.0 ** np.round(np.log2(largest))) if largest > 0.0 else 1.0

    @property
    def data(self) -> tuple[FloatArray, FloatArray, FloatArray, float]:
        """What compiled code reads: A, r, objective, constant."""
        return self.A, self.r, self.objective, self.constant

    @property
    def errors(self) -> tuple[FloatArray, FloatArray, FloatArray, float]:
        """What its bounds are widened by: sizes, row_sizes, row_errors, base_error."""
        return self.sizes, self.row_sizes, self.row_errors, self.base_error

    def to_point(self, y: FloatArray) -> FloatArray:
        """Map the first d columns back to x."""
        return np.asarray(self.lower + self.width * y[: self.n_inputs])


def seconds_per_node(problem: Problem, ascends: bool) -> float:
    """Return roughly what a node of dual ascent takes, or one of the dual simplex."""
    k, d = problem.network.n_relus, problem.dimension
    return (ASCENT_SECONDS if ascends else NODE_SECONDS) * (2 * k * (d + k) + 1)


def build_program(
    problem: Problem,
    flat: FlatSystem,
    lower: FloatArray,
    upper: FloatArray,
    level: float = -np.inf,
) -> Program:
    """Relax a flat system over the box ``lower <= x <= upper`` and the domain's rows.

    Parameters
    ----------
    problem : Problem
        Gives rows, one-hot groups and rounding constants.
    flat : FlatSystem
        Its bounds must hold over the box (for points above `level`, where that is given).
    lower, upper : (d,) arrays
    level : float
        When finite, only points with f >= level matter and a row says so.
    """
    d, k = flat.n_inputs, flat.n_relus
    width = upper - lower
    # A ReLU that tightening found stable meanwhile keeps its columns: h = z or h = 0.
    low, high = np.minimum(flat.low, 0.0), np.maximum(flat.high, 0.0)
    reach = np.maximum(high, -low)
    scale = np.exp2(np.ceil(np.log2(np.where(reach > 0.0, reach, 1.0))))
    units = np.concatenate([width, scale])
    weights = flat.weights * units / scale[:, None]
    bias = (flat.bias + flat.weights[:, :d] @ lower) / scale
    objective = flat.objective * units
    constant = flat.constant + float(flat.objective[:d] @ lower)
    errors = 2.0 * _relu_errors(problem, flat) / scale
    base_error = 2.0 * problem.rounding.output

    high_z, low_z = high / scale, low / scale
    sigma = np.where(reach > 0.0, high / np.where(reach > 0.0, high - low, 1.0), 0.0)
    tau = np.maximum(-sigma * low_z, high_z - sigma * high_z) * OUTWARD
    unit = np.hstack([np.zeros((k, d)), np.eye(k)])
    rows = [unit - weights, sigma[:, None] * weights - unit]
    constants = [-bias, tau + sigma * bias]
    slack_low = [np.zeros(k), np.zeros(k)]
    slack_high = [-low_z, tau]
    row_errors = [errors, 2.0 * errors]
    for extra in (_domain_rows(problem, lower, width), _group_rows(problem, lower, width)):
        a, b, least, largest, error = extra
        rows.append(np.hstack([a, np.zeros((len(b), k))]))
        constants.append(b)
        slack_low.append(least)
        slack_high.append(largest)
        row_errors.append(error)
    if level > -np.inf:
        size = np.abs(objective).sum() + abs(constant) + abs(level) + 1e-300
        rows.append(objective[None, :] / size)
        constants.append(np.array([(constant - level) / size]))
        slack_low.append(np.array([0.0]))
        slack_high.append(np.array([2.0]))
        row_errors.append(np.array([base_error / size]))
    A, r = np.ascontiguousarray(np.vstack(rows)), np.concatenate(constants)
    ends_high = np.concatenate([(width > 0.0).astype(np.float64), high_z, *slack_high])
    ends_low = np.concatenate([np.zeros(d + k), *slack_low])
    sizes = ends_high[: d + k].copy()
    sizes[:d] = 1.0
    return Program(
        A=A,
        r=r,
        objective=objective,
        constant=constant,
        low=ends_low,
        high=ends_high,
        sizes=sizes,
        row_sizes=np.abs(r) + np.abs(A) @ sizes,
        row_errors=np.concatenate(row_errors),
        base_error=base_error,
        weights=np.ascontiguousarray(weights),
        bias=bias,
        lower=lower,
        width=width,
        scale=scale,
    )


def _relu_errors(problem: Problem, flat: FlatSystem) -> FloatArray:
    errors = problem.rounding.layers
    return np.array([errors[p - 1][i] for p, i in flat.place], dtype=np.float64).reshape(-1)


_Rows = tuple[FloatArray, FloatArray, FloatArray, FloatArray, FloatArray]


def _domain_rows(problem: Problem, lower: FloatArray, width: FloatArray) -> _Rows:
    """Return ``(limit - A x) / scale >= 0`` over x', with ends and errors."""
    domain = problem.domain
    a, limit = domain.A, domain.row_limit
    size = np.abs(a) @ np.maximum(np.abs(lower), np.abs(lower + width)) + np.abs(limit)
    scale = np.where(size > 0.0, size, 1.0)
    rows = -a * width / scale[:, None]
    constants = (limit - a @ lower) / scale
    high = np.maximum(0.0, constants + np.maximum(rows, 0.0).sum(axis=1)) * OUTWARD + 1e-12
    errors = np.full(len(limit), 4.0 * (len(lower) + 2) * 2.0**-53)
    return rows, constants, np.zeros(len(limit)), high, errors


def _group_rows(problem: Problem, lower: FloatArray, width: FloatArray) -> _Rows:
    """Return ``1 - sum of a one-hot group = 0`` over x'; exact in float64."""
    groups = problem.domain.one_hot
    rows = np.zeros((len(groups), len(lower)))
    constants = np.ones(len(groups))
    for g, group in enumerate(groups):
        members = list(group)
        rows[g, members] = -width[members]
        constants[g] -= lower[members].sum()
    zeros = np.zeros(len(groups))
    return rows, constants, zeros, zeros.copy(), zeros.copy()
