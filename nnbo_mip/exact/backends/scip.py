"""SCIP through PySCIPOpt: special ordered sets, an objective limit, interruption.

References
----------
Achterberg (2009), SCIP [Achterberg2009].
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.exact.backends.base import (
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

STATUSES: dict[str, AnswerStatus] = {
    "optimal": "optimal",
    "gaplimit": "optimal",
    "infeasible": "infeasible",
    "inforunbd": "infeasible",  # every column is bounded
    "unbounded": "failed",
    "timelimit": "stopped",
    "memlimit": "stopped",
    "nodelimit": "stopped",
    "totalnodelimit": "stopped",
    "stallnodelimit": "stopped",
    "sollimit": "stopped",
    "bestsollimit": "stopped",
    "restartlimit": "stopped",
    "primallimit": "stopped",
    "duallimit": "stopped",
    "userinterrupt": "stopped",
    "terminate": "stopped",
    "unknown": "failed",
}


class Scip(Backend):
    """The SCIP solver."""

    name = "scip"
    proves = True
    supports_sos1 = True
    formulation = "sos1"
    package = "pyscipopt"
    extra = "scip"
    tolerances: ClassVar[Tolerances] = Tolerances(1e-9, 1e-9, 1e-9)

    def version(self) -> str:
        """Return the version of the SCIP library."""
        scip = _import()
        return str(scip.Model().version())

    def _solve(self, model: MilpModel, request: SolveRequest) -> SolverAnswer:
        scip = _import().Model()
        scip.hideOutput()
        _set_options(scip, request)
        variables = _add_model(scip, model)
        errors = _subscribe(scip, request.hooks)
        if request.cutoff is not None:
            scip.setObjlimit(request.cutoff)
        if request.start is not None:
            _add_start(scip, variables, request.start)
        refusals: list[str] = []

        def work() -> None:
            try:
                scip.optimizeNogil()
            except Exception as error:  # PySCIPOpt raises bare ones for SCIP's return codes
                refusals.append(str(error))

        run_stoppable(work, scip.interruptSolve, request.hooks, request.time_limit)
        if refusals:
            return SolverAnswer("failed", native_status=refusals[0])
        if errors:
            raise errors[0]
        return _read(scip, variables, request)


def _import() -> Any:
    try:
        import pyscipopt
    except ImportError as error:
        raise missing("PySCIPOpt", "scip", error) from error
    return pyscipopt


def _set_options(scip: Any, request: SolveRequest) -> None:
    options: dict[str, Any] = {
        "limits/time": min(max(request.time_limit, 0.0), LONGEST_SECONDS),
        "limits/gap": 0.0,
        "limits/absgap": max(request.absolute_gap, 0.0),
        "parallel/maxnthreads": request.threads,
        "randomization/randomseedshift": request.seed % 2**31,
        "numerics/feastol": Scip.tolerances.feasibility,
        "numerics/dualfeastol": Scip.tolerances.dual,
        "misc/catchctrlc": False,  # the waiting thread does
    }
    scip.setParams(options)
    if not request.presolve:
        scip.setIntParam("presolving/maxrounds", 0)


def _add_model(scip: Any, model: MilpModel) -> list[Any]:
    import pyscipopt

    variables = [
        scip.addVar(
            name,
            vtype="I" if model.integer[j] else "C",
            lb=float(model.column_lower[j]),
            ub=float(model.column_upper[j]),
            obj=float(model.objective[j]),
        )
        for j, name in enumerate(model.column_names)
    ]
    scip.setMaximize()
    starts = model.matrix.indptr
    for i, name in enumerate(model.row_names):
        here = slice(starts[i], starts[i + 1])
        expression = pyscipopt.quicksum(
            float(value) * variables[j]
            for j, value in zip(model.matrix.indices[here], model.matrix.data[here], strict=True)
        )
        lower, upper = float(model.row_lower[i]), float(model.row_upper[i])
        scip.addCons(
            pyscipopt.scip.ExprCons(
                expression,
                lhs=None if lower == -math.inf else lower,
                rhs=None if upper == math.inf else upper,
            ),
            name=name,
        )
    for group in model.sos1:
        scip.addConsSOS1([variables[j] for j in group])
    return variables


def _add_start(scip: Any, variables: list[Any], start: FloatArray) -> None:
    solution = scip.createSol()
    for variable, value in zip(variables, start, strict=True):
        scip.setSolVal(solution, variable, float(value))
    scip.addSol(solution)


def _subscribe(scip: Any, hooks: Hooks) -> list[Exception]:
    """Report bound and nodes after every node; return the list that errors are put into.

    An exception must not travel through the solver's own frames, so it stops the solve
    and waits.
    """
    import pyscipopt

    errors: list[Exception] = []
    kinds = pyscipopt.scip.PY_SCIP_EVENTTYPE
    news = kinds.NODESOLVED | kinds.LPSOLVED

    class Nodes(pyscipopt.Eventhdlr):
        """Listens for nodes."""

        def eventinit(self) -> None:
            self.model.catchEvent(news, self)

        def eventexit(self) -> None:
            self.model.dropEvent(news, self)

        def eventexec(self, event: Any) -> None:
            try:
                bound = float(self.model.getDualbound())
                known = not self.model.isInfinity(abs(bound))
                hooks.progress(bound if known else math.inf, int(self.model.getNTotalNodes()))
            except Exception as error:
                errors.append(error)
                self.model.interruptSolve()

    scip.includeEventhdlr(Nodes(), "nodes", "reports bound and nodes")
    return errors


def _read(scip: Any, variables: list[Any], request: SolveRequest) -> SolverAnswer:
    native = str(scip.getStatus())
    status = STATUSES.get(native, "failed")
    nodes, iterations = int(scip.getNTotalNodes()), int(scip.getNLPIterations())
    if status == "infeasible":
        bound = -math.inf if request.cutoff is None else request.cutoff
        return SolverAnswer(
            status, bound=bound, native_status=native, nodes=nodes, iterations=iterations
        )
    if status == "failed":
        return SolverAnswer(status, native_status=native, nodes=nodes, iterations=iterations)
    columns, objective = None, -math.inf
    if scip.getNSols() > 0:
        best = scip.getBestSol()
        columns = np.array([scip.getSolVal(best, variable) for variable in variables])
        objective = float(scip.getSolObjVal(best))
    bound = float(scip.getDualbound())
    if scip.isInfinity(abs(bound)):
        bound = math.inf
    if status == "optimal" and columns is None:
        status = "failed"
    return SolverAnswer(
        status, columns, objective, max(bound, objective), native, nodes, iterations
    )
