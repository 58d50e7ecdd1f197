"""One linear program, solved by HiGHS: the tool of the primal side and of tightening."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nnbo_mip.core.arrays import FloatArray

if TYPE_CHECKING:
    import highspy

FEASIBILITY_TOLERANCE = 1e-9


@dataclass(frozen=True, eq=False)
class LinearSolution:
    """A solver's answer; its numbers are claims until somebody has checked them.

    Parameters
    ----------
    x : (n,) array
        Primal point.
    row_duals : (m,) array
        Multipliers, in the sense d objective / d right-hand side of the maximization.
    """

    x: FloatArray
    row_duals: FloatArray


class LinearProgram:
    """``max c . x`` with ``A x <= b`` and ``lower <= x <= upper``; re-solved for new c.

    Parameters
    ----------
    A : (m, n) array
    b : (m,) array
    lower, upper : (n,) arrays
    """

    def __init__(self, A: FloatArray, b: FloatArray, lower: FloatArray, upper: FloatArray) -> None:
        self._n = len(lower)
        self._m = len(b)
        self._solver = _silent_solver()
        self._solver.passModel(_model(A, b, lower, upper))

    def maximize(self, c: FloatArray) -> LinearSolution | None:
        """Return a solution, or None unless HiGHS says it is optimal."""
        import highspy

        solver = self._solver
        solver.changeColsCost(self._n, np.arange(self._n, dtype=np.int32), np.asarray(c))
        solver.run()
        if solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
            return None
        solution = solver.getSolution()
        return LinearSolution(
            np.array(solution.col_value, dtype=np.float64),
            np.array(solution.row_dual, dtype=np.float64),
        )


def _silent_solver() -> highspy.Highs:
    import highspy

    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    solver.setOptionValue("threads", 1)
    solver.setOptionValue("primal_feasibility_tolerance", FEASIBILITY_TOLERANCE)
    solver.setOptionValue("dual_feasibility_tolerance", FEASIBILITY_TOLERANCE)
    return solver


def _model(A: FloatArray, b: FloatArray, lower: FloatArray, upper: FloatArray) -> highspy.HighsLp:
    import highspy

    rows, columns = np.nonzero(A)
    model = highspy.HighsLp()
    model.num_col_, model.num_row_ = len(lower), len(b)
    model.col_cost_ = np.zeros(len(lower))
    model.col_lower_, model.col_upper_ = lower, upper
    model.row_lower_, model.row_upper_ = np.full(len(b), -np.inf), b
    model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    model.a_matrix_.start_ = np.searchsorted(rows, np.arange(len(b) + 1)).astype(np.int32)
    model.a_matrix_.index_ = columns.astype(np.int32)
    model.a_matrix_.value_ = A[rows, columns]
    model.sense_ = highspy.ObjSense.kMaximize
    return model
