"""Phase branch and bound with HiGHS as a warm-started dual simplex: one model, depth first.

A branch changes one bound of a column (``h_j = 0``) or of a row (``h_j = z_j``). The first
child starts from the basis that HiGHS holds, the second one gets its parent's basis back.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.phase_bounds.root import Outcome, Root, prepare
from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.exact.search.monitor import Monitor
from nnbo_mip.exact.search.problem import Problem

if TYPE_CHECKING:
    import highspy

VIOLATION = 1e-9
OPTIONS: dict[str, bool | int | str] = {
    "output_flag": False,
    "presolve": "off",
    "threads": 1,
    "solver": "simplex",
    "simplex_strategy": 1,
}

Phases = np.ndarray[tuple[int], np.dtype[np.int8]]


@dataclass(frozen=True, eq=False)
class _Node:
    bound: float
    phases: Phases  # (K,): 1 active, -1 inactive, 0 open
    basis: highspy.HighsBasis | None


def solve(problem: Problem, monitor: Monitor) -> Outcome:
    """Maximize a network by depth-first search over ReLU phases with HiGHS."""
    from highspy import HighsModelStatus as Status

    root = prepare(problem, monitor)
    model = _Model(root)
    stack = [_Node(np.inf, np.zeros(root.program.n_relus, dtype=np.int8), None)]
    nodes = 0
    while stack and not monitor.should_stop():
        node = stack.pop()
        if node.bound <= root.cutoff:
            continue
        status = model.run(node, root.cutoff)
        nodes += 1
        if status in (Status.kObjectiveBound, Status.kInfeasible):
            continue
        if status != Status.kOptimal:
            raise RuntimeError(f"HiGHS ended a node with status {status.name}")
        bound, outputs, slacks, weights = model.solution(root)
        if bound <= root.cutoff:
            continue
        violation = np.where(node.phases == 0, np.minimum(outputs, slacks), 0.0)
        chosen = int((np.maximum(violation - VIOLATION, 0.0) * weights).argmax())
        if violation[chosen] <= VIOLATION:
            raise RuntimeError("the relaxed point violates nothing and beats the incumbent")
        basis = model.basis()
        for phase in (1, -1) if outputs[chosen] <= slacks[chosen] else (-1, 1):
            phases = node.phases.copy()
            phases[chosen] = phase
            stack.append(_Node(bound, phases, basis))
    left = max((node.bound for node in stack), default=-np.inf)
    return Outcome(max(root.cutoff, left), nodes, model.steps)


class _Model:
    def __init__(self, root: Root) -> None:
        import highspy
        from scipy.sparse import csr_array

        program = root.program
        m, n = program.A.shape
        lp = highspy.HighsLp()
        lp.num_col_, lp.num_row_ = n, m
        lp.col_cost_ = -program.objective
        lp.col_lower_, lp.col_upper_ = program.low[:n], program.high[:n]
        lp.row_lower_, lp.row_upper_ = program.low[n:] - program.r, program.high[n:] - program.r
        matrix = csr_array(program.A)
        lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        lp.a_matrix_.start_, lp.a_matrix_.index_ = matrix.indptr, matrix.indices
        lp.a_matrix_.value_ = matrix.data
        self.highs = highspy.Highs()
        for option, setting in OPTIONS.items():
            self.highs.setOptionValue(option, setting)
        self.highs.passModel(lp)
        self.steps = 0
        self._held: highspy.HighsBasis | None = None  # what HiGHS would start from itself
        self._program = program
        self._phases = np.zeros(program.n_relus, dtype=np.int8)

    def run(self, node: _Node, cutoff: float) -> highspy.HighsModelStatus:
        """Solve a node's program, or stop once its objective is below the cut-off."""
        self._move(node.phases)
        if node.basis is not None and node.basis is not self._held:
            self.highs.setBasis(node.basis)
        self.highs.setOptionValue("objective_bound", self._program.constant - cutoff)
        self.highs.run()
        self._held = None
        self.steps += self.highs.getInfo().simplex_iteration_count
        return self.highs.getModelStatus()

    def basis(self) -> highspy.HighsBasis:
        """Return the basis of the node that was solved last."""
        self._held = self.highs.getBasis()
        return self._held

    def _move(self, phases: Phases) -> None:
        program = self._program
        for j in map(int, np.flatnonzero(phases != self._phases)):
            column = program.n_inputs + j
            top = 0.0 if phases[j] < 0 else float(program.high[column])
            self.highs.changeColBounds(column, 0.0, top)
            low = float(-program.r[j])
            slack = (
                0.0
                if phases[j] > 0
                else float(program.high[program.n_inputs + program.n_relus + j])
            )
            self.highs.changeRowBounds(j, low, low + slack)
        self._phases[:] = phases

    def solution(self, root: Root) -> tuple[float, FloatArray, FloatArray, FloatArray]:
        """Return bound, h, h - z and the triangles' multipliers; offer the relaxed point."""
        program, k = self._program, self._program.n_relus
        found = self.highs.getSolution()
        columns = np.array(found.col_value)
        root.offer(columns[None, :])
        outputs = columns[program.n_inputs :]
        slacks = np.array(found.row_value)[:k] + program.r[:k]
        weights = np.abs(np.array(found.row_dual)[k : 2 * k]) + 1e-6
        bound = program.constant - self.highs.getInfo().objective_function_value
        return bound, outputs, slacks, weights
