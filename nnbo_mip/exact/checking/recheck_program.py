r"""Bounds from multipliers that a linear program suggests and nobody trusts.

On a node every ReLU i has proven ends ``l_i <= z_i <= u_i`` and is active, inactive or
undecided. For any numbers p, one a ReLU, and any ``mu >= 0``, one a row ``A x <= t``,

    f = c + p.b + mu.t + sum_i ( a_i h_i - p_i z_i ) + a_0 . x - ...      with
    a_k = V_k + sum_l W_{l,k}' p_l,      a_0 = V_0 + sum_l W_{l,0}' p_l - A' mu,

because z = b + W h. Each bracket is at most its largest value over the corners of the
region that (z_i, h_i) can lie in, and ``a_0 . x`` its largest value over the box, so

    f <= c + p.b + mu.t + sum_i c_i + sum_j max(a_0j lower_j, a_0j upper_j),

    c_i = max(-p_i l_i, 0, (a_i - p_i) u_i)     undecided,
          max((a_i - p_i) l_i, (a_i - p_i) u_i) active,   max(-p_i l_i, -p_i u_i) inactive.

The best p are the multipliers of ``z = b + W h`` in the linear program over the node; a
wrong answer of the solver makes the bound weaker, never false. Rounding is bounded by
``gamma_N`` times the sum of the magnitudes of all terms.

References
----------
Neumaier and Shcherbina (2004), safe bounds from multipliers [NeumaierShcherbina2004].
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np
import numpy.typing as npt

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.network.graph.graph import Network

INACTIVE, ACTIVE, UNDECIDED = 0, 1, 2
Phases = npt.NDArray[np.int8]


@dataclass(frozen=True, eq=False)
class Node:
    """Part of the domain: a box, ends of every pre-activation, and phases.

    Parameters
    ----------
    lower, upper : (d,) arrays
    low, high : (n,) arrays
        Ends of z, all layers one after the other; contain the phases.
    phases : (n,) array of INACTIVE, ACTIVE, UNDECIDED
    """

    lower: FloatArray
    upper: FloatArray
    low: FloatArray
    high: FloatArray
    phases: Phases


@dataclass(frozen=True, eq=False)
class Objective:
    """``constant + weights . (x, h)`` to be maximized, with x first, then all ReLUs."""

    constant: float
    weights: FloatArray


@dataclass(frozen=True, eq=False)
class Relaxed:
    """What a linear program says about a node.

    Parameters
    ----------
    bound : float
        Proven upper bound; ``-inf`` where the node is proven empty.
    x : (d,) array
        The program's solution; of no standing.
    excess : (n,) array
        ``h - relu(z)`` there, weighed by how much h counts: where to branch.
    """

    bound: float
    x: FloatArray
    excess: FloatArray


class NodeProgram:
    """The linear program over one network, moved from node to node.

    Parameters
    ----------
    network : Network
        One output.
    A, limit : (m, d), (m,) arrays
        Rows ``A x <= limit``.
    level : float
        Where asked for, only points with ``f >= level`` are looked at.
    root : Node
        Contains every node.
    """

    def __init__(
        self, network: Network, A: FloatArray, limit: FloatArray, level: float, root: Node
    ) -> None:
        self.d, self.n = network.n_inputs, network.n_relus
        self.b = np.concatenate([layer.bias for layer in network.layers])
        self.W = _stacked(network)  # (n, d + n): z = b + W (x, h)
        self.output = _output(network, self.d + self.n)
        # f >= level, the last row.
        self._rows = np.vstack([A @ np.eye(self.d, self.d + self.n), -self.output.weights])
        self._limits = np.append(limit, self.output.constant - level)
        self._gamma = 4.0 * (self.d + 3 * self.n + len(self._limits) + 16) * 2.0**-53
        self._solver = self._build(root)

    def bound(self, node: Node, objective: Objective, *, above_level: bool = False) -> Relaxed:
        """Bound an objective over a node, or over its points with f >= level."""
        solver = self._solver
        self._move_to(node, objective, above_level)
        solver.run()
        p, mu = self._multipliers(np.array(solver.getSolution().row_dual), above_level)
        bound = self._safe(node, objective, p, mu)
        x, z, h = np.split(np.nan_to_num(solver.getSolution().col_value), [self.d, self.d + self.n])
        if solver.modelStatusToString(solver.getModelStatus()) == "Infeasible":
            bound = self._without_points(node, above_level, bound)
        counts = np.abs(objective.weights + p @ self.W)[self.d :] + 1e-12
        excess = np.where(node.phases == UNDECIDED, h - np.maximum(z, 0.0), 0.0)
        return Relaxed(bound, x, np.maximum(excess, 0.0) * counts)

    def _multipliers(self, duals: FloatArray, above_level: bool) -> tuple[FloatArray, FloatArray]:
        """Return p and mu; the solver minimizes, so that its signs are the other ones."""
        duals = np.clip(np.nan_to_num(duals), -1e100, 1e100)
        mu = np.maximum(-duals[3 * self.n :], 0.0)
        if not above_level:
            mu[-1] = 0.0
        return -duals[: self.n], mu

    def _without_points(self, node: Node, above_level: bool, bound: float) -> float:
        """Prove a node empty with a ray: multipliers that bound 0 by a negative number."""
        _, exists, ray = self._solver.getDualRay()
        nothing = Objective(0.0, np.zeros(self.d + self.n))
        for duals in (np.array(ray), -np.array(ray)) if exists else ():
            if self._safe(node, nothing, *self._multipliers(duals, above_level)) < 0.0:
                return -np.inf
        return bound

    def _safe(self, node: Node, objective: Objective, p: FloatArray, mu: FloatArray) -> float:
        """Evaluate the bound of the module's docstring for any multipliers."""
        a = objective.weights + p @ self.W - mu @ self._rows
        size = np.abs(objective.weights) + np.abs(p) @ np.abs(self.W) + mu @ np.abs(self._rows)
        a_h, low, high = a[self.d :], node.low, node.high
        inactive = np.maximum(-p * low, -p * high)
        active = np.maximum((a_h - p) * low, (a_h - p) * high)
        undecided = np.maximum(np.maximum(-p * low, 0.0), (a_h - p) * high)
        brackets = np.choose(node.phases, [inactive, active, undecided])
        corners = np.maximum(a[: self.d] * node.lower, a[: self.d] * node.upper)
        total = objective.constant + p @ self.b + mu @ self._limits
        total += brackets.sum() + corners.sum()
        reach_z = np.maximum(np.abs(low), np.abs(high))
        reach_x = np.maximum(np.abs(node.lower), np.abs(node.upper))
        magnitude = abs(objective.constant) + np.abs(p) @ (np.abs(self.b) + reach_z)
        magnitude += mu @ np.abs(self._limits) + size @ np.append(reach_x, reach_z)
        # Coefficients that underflow meet the reach of what they multiply.
        vanishing = self._gamma * 2.0**-1000 * (1.0 + reach_x.sum() + reach_z.sum())
        bound = float(total + self._gamma * magnitude + vanishing)
        return bound if np.isfinite(bound) else np.inf

    # -- the solver -------------------------------------------------------------------

    def _build(self, root: Node) -> Any:
        """Hand the program over the root to HiGHS."""
        import highspy
        from scipy.sparse import csr_array, hstack, vstack

        d, n, identity = self.d, self.n, csr_array(np.eye(self.n))
        nothing, slope, offset = csr_array((n, d)), *_triangle(root)
        W_x, W_h = csr_array(self.W[:, :d]), csr_array(self.W[:, d:])
        rows = csr_array(self._rows)
        matrix = vstack(
            [
                hstack([-W_x, identity, -W_h]),
                hstack([nothing, csr_array(np.diag(-slope)), identity]),
                hstack([nothing, -identity, identity]),
                hstack([rows[:, :d], csr_array((rows.shape[0], n)), rows[:, d:]]),
            ]
        ).tocsr()
        program = highspy.HighsLp()
        program.num_col_, program.num_row_ = d + 2 * n, matrix.shape[0]
        program.col_cost_ = np.zeros(d + 2 * n)
        program.col_lower_, program.col_upper_ = self._column_ends(root)
        program.row_lower_ = np.concatenate(
            [self.b, np.full(n, -np.inf), np.zeros(n), np.full(len(self._limits), -np.inf)]
        )
        program.row_upper_ = np.concatenate([self.b, offset, np.full(n, np.inf), self._limits])
        program.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        program.a_matrix_.start_ = matrix.indptr
        program.a_matrix_.index_ = matrix.indices
        program.a_matrix_.value_ = matrix.data
        solver = highspy.Highs()
        for option, value in (
            ("output_flag", False),
            ("presolve", "off"),
            ("threads", 1),
            ("small_matrix_value", 1e-12),
        ):
            solver.setOptionValue(option, value)
        solver.passModel(program)
        return solver

    def _column_ends(self, node: Node) -> tuple[FloatArray, FloatArray]:
        lower = np.concatenate([node.lower, node.low, np.maximum(node.low, 0.0)])
        upper = np.concatenate([node.upper, node.high, np.maximum(node.high, 0.0)])
        return lower, np.maximum(upper, lower)

    def _move_to(self, node: Node, objective: Objective, above_level: bool) -> None:
        d, n, solver = self.d, self.n, self._solver
        lower, upper = self._column_ends(node)
        columns = np.arange(d + 2 * n, dtype=np.int32)
        solver.changeColsBounds(len(columns), columns, lower, upper)
        cost = np.concatenate([objective.weights[:d], np.zeros(n), objective.weights[d:]])
        solver.changeColsCost(len(columns), columns, -cost)
        passes = np.arange(2 * n, 3 * n, dtype=np.int32)
        equal = np.where(node.phases == ACTIVE, 0.0, np.inf)
        solver.changeRowsBounds(n, passes, np.zeros(n), equal)
        last = 3 * n + len(self._limits) - 1
        solver.changeRowBounds(last, -np.inf, self._limits[-1] if above_level else np.inf)


def _triangle(root: Node) -> tuple[FloatArray, FloatArray]:
    """Return slope and offset of ``h <= slope z + offset`` for every ReLU."""
    free = root.phases == UNDECIDED
    slope = np.where(free, root.high / np.where(free, root.high - root.low, 1.0), 1.0)
    slope = np.where(root.phases == INACTIVE, 0.0, slope)
    return slope, np.where(free, -slope * root.low, 0.0)


def _output(network: Network, width: int) -> Objective:
    weights = np.zeros(width)
    starts = _starts(network)
    for source in network.head.terms:
        dense = network.head.dense(source)[0]
        weights[starts[source] : starts[source] + len(dense)] = dense
    return Objective(float(network.head.bias[0]), weights)


def _stacked(network: Network) -> FloatArray:
    """Return W (n, d + n) of ``z = b + W (x, h)``, layer after layer."""
    starts, d = _starts(network), network.n_inputs
    W = np.zeros((network.n_relus, d + network.n_relus))
    for position, layer in enumerate(network.layers):
        first_row = starts[position + 1] - d
        for source in layer.terms:
            dense = layer.dense(source)
            columns = slice(starts[source], starts[source] + dense.shape[1])
            W[first_row : first_row + layer.width, columns] = dense
    return W


def _starts(network: Network) -> list[int]:
    """First column of every source, the input being source 0."""
    widths = [network.n_inputs, *(layer.width for layer in network.layers)]
    return [0, *accumulate(widths)]
