"""Gurobi on our tight big-M program: not a peer, but the hardest reference there is."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.certify.answer import Answer, Call
from benchmarks.certify.cases import Case
from benchmarks.peers.gurobi import quiet_environment, read_answer, set_limits
from benchmarks.peers.tight_model import one_sided_rows, tight_model


def prepare(case: Case, gap: float, limit: float) -> Call:
    """Return the whole call: bounds, program, optimize."""
    import gurobipy as gp

    environment = quiet_environment()

    def call() -> Answer:
        milp = tight_model(case, "bigm")
        with gp.Model(env=environment) as model:
            set_limits(model, gap, limit)
            columns: list[Any] = [
                model.addVar(lb=low, ub=high, vtype="I" if whole else "C")
                for low, high, whole in zip(
                    milp.column_lower, milp.column_upper, milp.integer, strict=True
                )
            ]
            for row in one_sided_rows(milp):
                left = gp.LinExpr(row.coefficients.tolist(), [columns[j] for j in row.columns])
                model.addLConstr(left, row.sense[0], row.right)
            objective = gp.LinExpr(milp.objective.tolist(), columns)
            model.setObjective(objective + milp.offset, gp.GRB.MAXIMIZE)
            model.optimize()
            return read_answer(model, lambda: milp.point(np.array([v.X for v in columns])))

    return call
