"""A backend from outside: it tries every choice of the whole columns, a linear program each."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Iterator
from typing import ClassVar

import numpy as np
import scipy
from scipy.optimize import linprog

from nnbo_mip.exact.backends import Backend, SolverAnswer, SolveRequest
from nnbo_mip.exact.backends.worker import run_stoppable
from nnbo_mip.exact.formulation import MilpModel
from nnbo_mip.exact.formulation.tolerance import Tolerances


class Enumerator(Backend):
    """All choices of whole columns, a linear program each."""

    name = "enumerator"
    proves = True
    tolerances: ClassVar[Tolerances] = Tolerances(1e-9, 1e-9, 1e-9)

    def version(self) -> str:
        return str(scipy.__version__)

    def _solve(self, model: MilpModel, request: SolveRequest) -> SolverAnswer:
        if request.cutoff is not None:
            model = model.with_floor(request.cutoff)
        search = _Search(model, request)
        run_stoppable(search.run, search.stop, request.hooks, request.time_limit)
        best, columns = search.best, search.columns
        if not search.complete:
            return SolverAnswer("stopped", columns, best, math.inf)
        if columns is None:
            cutoff = -math.inf if request.cutoff is None else request.cutoff
            return SolverAnswer("infeasible", bound=cutoff)
        return SolverAnswer("optimal", columns, best, best, nodes=search.programs)


class _Search:
    def __init__(self, model: MilpModel, request: SolveRequest) -> None:
        self.model, self.presolve = model, request.presolve
        self.deadline = time.perf_counter() + request.time_limit
        self.complete, self.stopped, self.programs = False, False, 0
        self.columns = request.start
        self.best = -math.inf if request.start is None else model.value(request.start)

    def stop(self) -> None:
        self.stopped = True

    def choices(self) -> Iterator[tuple[float, ...]]:
        model = self.model
        low, high = model.column_lower[model.integer], model.column_upper[model.integer]
        return itertools.product(
            *(np.arange(a, b + 1) for a, b in zip(np.ceil(low), np.floor(high), strict=True))
        )

    def run(self) -> None:
        model = self.model
        below, above = np.isfinite(model.row_upper), np.isfinite(model.row_lower)
        matrix = scipy.sparse.vstack([model.matrix[below], -model.matrix[above]])
        ends = np.concatenate([model.row_upper[below], -model.row_lower[above]])
        lower, upper = model.column_lower.copy(), model.column_upper.copy()
        for values in self.choices():
            if self.stopped or time.perf_counter() > self.deadline:
                return
            lower[model.integer] = upper[model.integer] = values
            answer = linprog(
                -model.objective,
                A_ub=matrix,
                b_ub=ends,
                bounds=np.column_stack([lower, upper]),
                options={
                    "presolve": self.presolve,
                    "primal_feasibility_tolerance": Enumerator.tolerances.feasibility,
                    "dual_feasibility_tolerance": Enumerator.tolerances.dual,
                },
            )
            self.programs += 1
            if answer.status == 0 and -answer.fun > self.best:
                self.best, self.columns = -float(answer.fun), answer.x
        self.complete = True
