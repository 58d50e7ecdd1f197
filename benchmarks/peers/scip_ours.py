"""SCIP on our tight program with special ordered sets, as a reference."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from benchmarks.certify.answer import Answer, Call
from benchmarks.certify.cases import Case
from benchmarks.peers.scip import quiet_model, read_answer
from benchmarks.peers.tight_model import one_sided_rows, tight_model


def prepare(case: Case, gap: float, limit: float) -> Call:
    """Return the whole call: bounds, program, optimize."""
    from pyscipopt import quicksum

    def call() -> Answer:
        milp = tight_model(case, "sos1")
        model = quiet_model(gap, limit)
        columns = [
            model.addVar(lb=float(low), ub=float(high))
            for low, high in zip(milp.column_lower, milp.column_upper, strict=True)
        ]
        for row in one_sided_rows(milp):
            pairs = zip(row.columns, row.coefficients.tolist(), strict=True)
            left = quicksum(value * columns[j] for j, value in pairs)
            if row.sense == "==":
                model.addCons(left == row.right)
            else:
                model.addCons(left <= row.right if row.sense == "<=" else left >= row.right)
        for group in milp.sos1:
            model.addConsSOS1([columns[j] for j in group])
        terms = zip(columns, milp.objective.tolist(), strict=True)
        model.setObjective(quicksum(value * column for column, value in terms), "maximize")
        model.addObjoffset(milp.offset)
        model.optimize()
        answer = read_answer(model, columns)
        return answer if answer.x is None else replace(answer, x=milp.point(np.asarray(answer.x)))

    return call
