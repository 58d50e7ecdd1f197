"""Gurobi through gurobipy, within what its licence allows.

gurobipy brings a licence for small programs (2000 columns, 2000 rows) that ends at a date;
Gurobi looks for a full one by itself. What a licence refuses is a `SolverError`.

A row with two ends becomes two rows: as a range, Gurobi would add a column between them whose
bounds lie a margin of 1e-8 apart, and presolve may fix such a column.
"""

from __future__ import annotations

import math
import signal
import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from nnbo_mip.core.errors import SolverError
from nnbo_mip.exact.backends.base import (
    DEFAULT,
    AnswerStatus,
    Backend,
    Hooks,
    SolverAnswer,
    SolveRequest,
    missing,
)
from nnbo_mip.exact.backends.worker import run_stoppable
from nnbo_mip.exact.formulation.model import MilpModel
from nnbo_mip.exact.formulation.tolerance import Tolerances

LONGEST_SECONDS = 1e9
LARGEST_SEED = 2_000_000_000

STATUSES: dict[str, AnswerStatus] = {
    "OPTIMAL": "optimal",
    "INFEASIBLE": "infeasible",
    "INF_OR_UNBD": "infeasible",  # every column is bounded
    "ITERATION_LIMIT": "stopped",
    "NODE_LIMIT": "stopped",
    "TIME_LIMIT": "stopped",
    "SOLUTION_LIMIT": "stopped",
    "INTERRUPTED": "stopped",
    "WORK_LIMIT": "stopped",
    "MEM_LIMIT": "stopped",
}
"""Names of Gurobi's status codes; any other one means ``failed``."""

REFUSALS = ("NO_LICENSE", "SIZE_LIMIT_EXCEEDED", "JOB_REJECTED", "CLOUD", "NETWORK")
"""Names of the error codes by which a licence, or the server that keeps it, refuses."""


class Gurobi(Backend):
    """The Gurobi solver; its licence may refuse a program."""

    name = "gurobi"
    proves = True
    supports_sos1 = True
    formulation = "sos1"
    package = "gurobipy"
    extra = "gurobi"
    licensed = True
    tolerances: ClassVar[Tolerances] = Tolerances(1e-9, 1e-9, 1e-9)

    def version(self) -> str:
        """Return the version of the Gurobi library, which needs no licence."""
        return ".".join(str(part) for part in _import().gurobi.version())

    def _solve(self, model: MilpModel, request: SolveRequest) -> SolverAnswer:
        if request.cutoff is not None:
            model = model.with_floor(request.cutoff)
        gurobipy = _import()
        try:
            answer = _run(gurobipy, model, request)
        except gurobipy.GurobiError as error:
            if error.errno not in [getattr(gurobipy.GRB.Error, name) for name in REFUSALS]:
                return SolverAnswer("failed", native_status=str(error))
            raise SolverError(
                f"Gurobi's licence must allow a program of {model.n_columns} columns and "
                f"{_count_rows(model)} rows; Gurobi says '{error}'; install a licence that does, "
                f"or use the solver {DEFAULT!r}."
            ) from error
        if request.cutoff is not None and answer.status == "infeasible":
            return SolverAnswer(
                "infeasible",
                bound=request.cutoff,
                native_status=answer.native_status,
                nodes=answer.nodes,
                iterations=answer.iterations,
            )
        return answer


def _import() -> Any:
    try:
        import gurobipy
    except ImportError as error:
        raise missing(Gurobi.package, Gurobi.extra, error) from error
    return gurobipy


def _run(gurobipy: Any, model: MilpModel, request: SolveRequest) -> SolverAnswer:
    # An environment a solve: one must not be used by two threads.
    environment = gurobipy.Env(params=_parameters(request))
    program = gurobipy.Model(env=environment)
    columns = _add_model(gurobipy, program, model)
    if request.start is not None:
        columns.Start = request.start
    callback, errors = _reporter(gurobipy, columns, request.hooks)
    hooks = replace(request.hooks, tick=lambda: _tick(request.hooks))
    asked_to_stop = threading.Event()

    def stop() -> None:
        asked_to_stop.set()
        program.terminate()

    run_stoppable(lambda: program.optimize(callback), stop, hooks, request.time_limit)
    if errors:
        raise errors[0]
    if program.Status == gurobipy.GRB.INTERRUPTED and not asked_to_stop.is_set():
        request.hooks.interrupt()  # a Ctrl-C before the first tick
    return _read(gurobipy, program, columns)


def _tick(hooks: Hooks) -> None:
    """Take Ctrl-C back from Gurobi, which keeps it to itself and prints, and tick."""
    handler = signal.getsignal(signal.SIGINT)
    if handler is not None and threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, handler)
    hooks.tick()


def _parameters(request: SolveRequest) -> dict[str, Any]:
    return {
        "LogToConsole": 0,
        "OutputFlag": int(request.hooks.log is not None),
        "TimeLimit": min(max(request.time_limit, 0.0), LONGEST_SECONDS),
        "MIPGap": 0.0,
        "MIPGapAbs": max(request.absolute_gap, 0.0),
        "Threads": request.threads,
        "Seed": request.seed % (LARGEST_SEED + 1),
        "Presolve": -1 if request.presolve else 0,
        "FeasibilityTol": Gurobi.tolerances.feasibility,
        "IntFeasTol": Gurobi.tolerances.integrality,
        "OptimalityTol": Gurobi.tolerances.dual,
    }


def _add_model(gurobipy: Any, program: Any, model: MilpModel) -> Any:
    """Add columns, rows and sets; return the columns."""
    columns = program.addMVar(
        model.n_columns,
        lb=model.column_lower,
        ub=model.column_upper,
        obj=model.objective,
        vtype=np.where(model.integer, gurobipy.GRB.INTEGER, gurobipy.GRB.CONTINUOUS),
    )
    program.ModelSense = gurobipy.GRB.MAXIMIZE
    lower, upper = model.row_lower, model.row_upper
    equal = lower == upper
    for rows, sense, ends in (
        (equal, gurobipy.GRB.EQUAL, lower),
        (~equal & (lower > -math.inf), gurobipy.GRB.GREATER_EQUAL, lower),
        (~equal & (upper < math.inf), gurobipy.GRB.LESS_EQUAL, upper),
    ):
        if rows.any():
            program.addMConstr(model.matrix[np.flatnonzero(rows)], columns, sense, ends[rows])
    for group in model.sos1:
        program.addSOS(gurobipy.GRB.SOS_TYPE1, [columns[j].item() for j in group])
    return columns


def _count_rows(model: MilpModel) -> int:
    """Return how many rows `_add_model` adds."""
    ends = np.isfinite([model.row_lower, model.row_upper]).sum()
    return int(ends - (model.row_lower == model.row_upper).sum())


def _reporter(
    gurobipy: Any, columns: Any, hooks: Hooks
) -> tuple[Callable[[Any, int], None], list[Exception]]:
    """Return what Gurobi calls while it runs, and the list that errors in it are put into.

    An exception must not travel through the solver's own frames, so it stops the solve
    and waits.
    """
    events = gurobipy.GRB.Callback
    errors: list[Exception] = []

    def call(program: Any, event: int) -> None:
        try:
            if event == events.MIPSOL:
                hooks.incumbent(np.array(program.cbGetSolution(columns)))
            elif event == events.MIP:
                bound = _bound(gurobipy, program.cbGet(events.MIP_OBJBND))
                hooks.progress(bound, int(program.cbGet(events.MIP_NODCNT)))
            elif event == events.MESSAGE and hooks.log is not None:
                for line in program.cbGet(events.MSG_STRING).splitlines():
                    hooks.log(line)
        except Exception as error:
            errors.append(error)
            program.terminate()

    return call, errors


def _bound(gurobipy: Any, value: float) -> float:
    return float(value) if abs(value) < gurobipy.GRB.INFINITY else math.inf


def _read(gurobipy: Any, program: Any, columns: Any) -> SolverAnswer:
    codes = {getattr(gurobipy.GRB, name): name for name in STATUSES}
    native = codes.get(program.Status, f"status {program.Status}")
    status = STATUSES.get(native, "failed")
    nodes, iterations = int(program.NodeCount), int(program.IterCount)
    if status in ("failed", "infeasible"):
        bound = -math.inf if status == "infeasible" else math.inf
        return SolverAnswer(
            status, bound=bound, native_status=native, nodes=nodes, iterations=iterations
        )
    values, objective = None, -math.inf
    if program.SolCount > 0:
        values, objective = np.array(columns.X), float(program.ObjVal)
    if program.IsMIP:
        # Not ObjBound, which is rounded where the objective seems to be whole.
        bound = _bound(gurobipy, program.ObjBoundC)
    else:
        bound = objective if status == "optimal" else math.inf
    if status == "optimal" and values is None:
        status = "failed"
    return SolverAnswer(status, values, objective, max(bound, objective), native, nodes, iterations)
