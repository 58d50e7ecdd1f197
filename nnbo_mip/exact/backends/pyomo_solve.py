"""Solve a `MilpModel` through Pyomo, in this process.

Solvers of Pyomo's current interface (`pyomo.contrib.solver`) are preferred; a name that it
does not know goes to the older `pyomo.environ.SolverFactory`. Solutions are read only
where Pyomo says that there is one.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from nnbo_mip.core.errors import InputError, SolverError
from nnbo_mip.exact.backends.base import (
    DEFAULT,
    AnswerStatus,
    SolverAnswer,
    SolveRequest,
    missing,
)
from nnbo_mip.exact.formulation.model import MilpModel

STATUSES: dict[str, AnswerStatus] = {
    # pyomo.contrib.solver
    "convergenceCriteriaSatisfied": "optimal",
    "provenInfeasible": "infeasible",
    "locallyInfeasible": "failed",
    "infeasibleOrUnbounded": "infeasible",  # every column is bounded
    "maxTimeLimit": "stopped",
    "iterationLimit": "stopped",
    "objectiveLimit": "stopped",
    "interrupted": "stopped",
    # pyomo.opt
    "optimal": "optimal",
    "globallyOptimal": "optimal",
    "infeasible": "infeasible",
    "maxIterations": "stopped",
    "maxEvaluations": "stopped",
    "resourceInterrupt": "stopped",
    "userInterrupt": "stopped",
}
"""Termination conditions; any other one means ``failed``."""


def open_solver(name: str) -> tuple[bool, Any]:
    """Return whether the solver is of the current interface, and the solver."""
    try:
        from pyomo.contrib.solver.common.factory import SolverFactory as Current
        from pyomo.environ import SolverFactory as Older
    except ImportError as error:
        raise missing("pyomo", "", error) from error
    if name in list(Current):
        solver = Current(name)
        is_current, available = True, bool(solver.available())
    elif name in list(Older):
        solver = Older(name)
        is_current, available = False, bool(solver.available(exception_flag=False))
    else:
        raise InputError(
            "the solver 'pyomo:<name>' must be one that Pyomo knows, such as "
            f"{', '.join(sorted(Current))}; got {name!r}; choose one of them."
        )
    if not available:
        raise SolverError(
            f"Pyomo must be able to run its solver {name!r}; it says that it is not "
            f"available; install that solver, or use the solver {DEFAULT!r}."
        )
    return is_current, solver


def solve(name: str, model: MilpModel, request: SolveRequest) -> SolverAnswer:
    """Ask the solver called `name`; errors become an answer of status ``failed``."""
    is_current, solver = open_solver(name)
    program = _program(model)
    try:
        if is_current:
            return _solve_current(solver, program, model, request)
        return _solve_older(solver, program, model, request)
    except (RuntimeError, ValueError, OSError) as error:
        return SolverAnswer("failed", native_status=f"{type(error).__name__}: {error}")


def _program(model: MilpModel) -> Any:
    import pyomo.environ as pyo
    from pyomo.core.expr import LinearExpression

    program = pyo.ConcreteModel()
    program.c = pyo.Var(range(model.n_columns), domain=pyo.Reals)
    columns = [program.c[j] for j in range(model.n_columns)]
    for j, column in enumerate(columns):
        column.setlb(float(model.column_lower[j]))
        column.setub(float(model.column_upper[j]))
        if model.integer[j]:
            column.domain = pyo.Integers
    program.objective = pyo.Objective(
        expr=LinearExpression(linear_coefs=model.objective.tolist(), linear_vars=columns),
        sense=pyo.maximize,
    )
    program.rows = pyo.ConstraintList()
    starts = model.matrix.indptr
    for i in range(model.n_rows):
        here = slice(starts[i], starts[i + 1])
        index, values = model.matrix.indices[here], model.matrix.data[here]
        if index.size:
            expression = LinearExpression(
                linear_coefs=values.tolist(), linear_vars=[columns[j] for j in index]
            )
            program.rows.add(_row(expression, model.row_lower[i], model.row_upper[i]))
    return program


def _row(expression: Any, lower: float, upper: float) -> Any:
    if lower == upper:
        return expression == float(lower)
    return (
        None if lower == -math.inf else float(lower),
        expression,
        None if upper == math.inf else float(upper),
    )


def _solve_current(
    solver: Any, program: Any, model: MilpModel, request: SolveRequest
) -> SolverAnswer:
    wanted = {"threads": request.threads, "abs_gap": request.absolute_gap, "rel_gap": 0.0}
    limits = {option: value for option, value in wanted.items() if option in solver.config}
    if math.isfinite(request.time_limit):
        limits["time_limit"] = request.time_limit
    results = solver.solve(
        program, load_solutions=False, raise_exception_on_nonoptimal_result=False, **limits
    )
    native = results.termination_condition.name
    has_solution = results.solution_status.name in ("optimal", "feasible")
    if not has_solution:
        return _answer(model, native, [None] * model.n_columns)
    results.solution_loader.load_vars()
    return _answer(model, native, [program.c[j].value for j in range(model.n_columns)])


def _solve_older(
    solver: Any, program: Any, model: MilpModel, request: SolveRequest
) -> SolverAnswer:
    limits = {} if math.isinf(request.time_limit) else {"timelimit": request.time_limit}
    results = solver.solve(program, load_solutions=False, **limits)
    native = str(results.solver.termination_condition)
    values: list[float | None] = [None] * model.n_columns
    if len(results.solution) > 0 and str(results.solution(0).status) in ("optimal", "feasible"):
        program.solutions.load_from(results)
        values = [program.c[j].value for j in range(model.n_columns)]
    return _answer(model, native, values)


def _answer(model: MilpModel, native: str, values: list[float | None]) -> SolverAnswer:
    status = STATUSES.get(native, "failed")
    if status == "infeasible":
        return SolverAnswer("infeasible", bound=-math.inf, native_status=native)
    if all(value is None for value in values):
        return SolverAnswer("stopped" if status == "stopped" else "failed", native_status=native)
    # Columns that occur nowhere get no value; any within their bounds will do.
    filled = [low if v is None else v for v, low in zip(values, model.column_lower, strict=True)]
    columns = np.array(filled, dtype=np.float64)
    return SolverAnswer(status, columns, model.value(columns), native_status=native)
