"""HiGHS through highspy: the whole model at once, a start point, interruption, dual bounds.

The cut-off is a row, because the option `objective_bound` makes HiGHS report ``Optimal``
with a wrong optimum when nothing reaches the bound. Measurements: docs/dev/solver_measurements.md.

References
----------
Huangfu and Hall (2018), HiGHS [HuangfuHall2018].
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from nnbo_mip.core.errors import SolverError
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

if TYPE_CHECKING:
    import highspy

SMALLEST_COEFFICIENT = 1e-12
"""HiGHS silently drops smaller ones; the formulations have left out all up to this size."""

LOGGING_SECONDS = 0.5
"""Least time between two reports of bound and nodes; by default HiGHS waits for five seconds."""

SUB_PROGRAM_HEURISTICS = (
    "mip_heuristic_run_rins",
    "mip_heuristic_run_rens",
    "mip_heuristic_run_root_reduced_cost",
)
"""Switched off: HiGHS 1.15 has crashed inside them (MIPVerify.jl issue 219), and programs of
networks are solved no slower without."""

STATUSES: dict[str, AnswerStatus] = {
    "kNotset": "failed",
    "kLoadError": "failed",
    "kModelError": "failed",
    "kPresolveError": "failed",
    "kSolveError": "failed",
    "kPostsolveError": "failed",
    "kModelEmpty": "failed",
    "kOptimal": "optimal",
    "kInfeasible": "infeasible",
    "kUnboundedOrInfeasible": "infeasible",  # every column is bounded
    "kUnbounded": "failed",
    "kObjectiveBound": "failed",  # never asked for
    "kObjectiveTarget": "failed",
    "kTimeLimit": "stopped",
    "kIterationLimit": "stopped",
    "kUnknown": "failed",
    "kSolutionLimit": "stopped",
    "kInterrupt": "stopped",
    "kMemoryLimit": "stopped",
    "kHighsInterrupt": "stopped",
}


class Highs(Backend):
    """The HiGHS mixed-integer solver."""

    name = "highs"
    proves = True
    package = "highspy"
    tolerances: ClassVar[Tolerances] = Tolerances(1e-9, 1e-9, 1e-10)

    def version(self) -> str:
        """Return the version of the HiGHS library."""
        try:
            import highspy
        except ImportError as error:
            raise missing("highspy", "", error) from error
        return str(highspy.Highs().version())

    def _solve(self, model: MilpModel, request: SolveRequest) -> SolverAnswer:
        if request.cutoff is not None:
            model = model.with_floor(request.cutoff)
        highs = self._load(model, request)
        errors = _subscribe(highs, model, request.hooks)
        if request.start is not None:
            _set_start(highs, request.start)

        def work() -> None:
            highs.run()
            # The scheduler belongs to this thread, and the thread ends here.
            highs.resetGlobalScheduler(False)

        run_stoppable(work, highs.cancelSolve, request.hooks, request.time_limit)
        if errors:
            raise errors[0]
        answer = _read(highs, bool(model.integer.any()))
        if request.cutoff is not None and answer.status == "infeasible":
            return SolverAnswer(
                "infeasible",
                bound=request.cutoff,
                native_status=answer.native_status,
                nodes=answer.nodes,
                iterations=answer.iterations,
            )
        return answer

    def _load(self, model: MilpModel, request: SolveRequest) -> highspy.Highs:
        try:
            import highspy
        except ImportError as error:
            raise missing("highspy", "", error) from error
        highs = highspy.Highs()
        options: dict[str, Any] = {
            "output_flag": True,  # without it, progress is not reported either
            "log_to_console": False,
            "mip_min_logging_interval": LOGGING_SECONDS,
            "threads": request.threads,
            "random_seed": request.seed % 2**31,
            "presolve": "choose" if request.presolve else "off",
            "mip_rel_gap": 0.0,
            "mip_abs_gap": max(request.absolute_gap, 0.0),
            "primal_feasibility_tolerance": self.tolerances.feasibility,
            "dual_feasibility_tolerance": self.tolerances.dual,
            "mip_feasibility_tolerance": self.tolerances.integrality,
            "small_matrix_value": SMALLEST_COEFFICIENT,
            **dict.fromkeys(SUB_PROGRAM_HEURISTICS, False),
        }
        if math.isfinite(request.time_limit):
            options["time_limit"] = max(request.time_limit, 0.0)
        for option, value in options.items():
            _require(highs.setOptionValue(option, value), f"refused the option {option}={value}")
        _require(highs.passModel(highs_lp(model)), "refused the model")
        return highs


def _subscribe(highs: highspy.Highs, model: MilpModel, hooks: Hooks) -> list[Exception]:
    """Connect the hooks; return the list that errors in them are put into.

    An exception must not travel through the solver's own frames, so it stops the solve
    and waits.
    """
    errors: list[Exception] = []

    def guarded(action: Callable[[Any], object]) -> Callable[[Any], None]:
        def call(event: Any) -> None:
            try:
                action(event)
            except Exception as error:
                errors.append(error)
                highs.cancelSolve()

        return call

    highs.HandleUserInterrupt = True
    if hooks.log is not None:
        log = hooks.log

        def log_lines(event: Any) -> None:
            for line in str(event.message).splitlines():
                log(line)

        highs.cbLogging.subscribe(guarded(log_lines))
    if model.integer.any():
        highs.cbMipImprovingSolution.subscribe(
            guarded(lambda event: hooks.incumbent(np.array(event.data_out.mip_solution)))
        )
        highs.cbMipLogging.subscribe(
            guarded(
                lambda event: hooks.progress(
                    _bound(event.data_out.mip_dual_bound), int(event.data_out.mip_node_count)
                )
            )
        )
    return errors


def highs_lp(model: MilpModel) -> highspy.HighsLp:
    """Return a model as HiGHS takes it."""
    import highspy

    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = model.n_columns, model.n_rows
    lp.sense_ = highspy.ObjSense.kMaximize
    lp.offset_ = model.offset
    lp.col_cost_ = model.objective
    lp.col_lower_, lp.col_upper_ = model.column_lower, model.column_upper
    lp.row_lower_, lp.row_upper_ = model.row_lower, model.row_upper
    lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    lp.a_matrix_.num_col_, lp.a_matrix_.num_row_ = model.n_columns, model.n_rows
    lp.a_matrix_.start_ = model.matrix.indptr.astype(np.int32)
    lp.a_matrix_.index_ = model.matrix.indices.astype(np.int32)
    lp.a_matrix_.value_ = model.matrix.data
    if model.integer.any():
        kinds = (highspy.HighsVarType.kContinuous, highspy.HighsVarType.kInteger)
        lp.integrality_ = [kinds[int(whole)] for whole in model.integer]
    return lp


def _set_start(highs: highspy.Highs, start: np.ndarray[Any, np.dtype[np.float64]]) -> None:
    import highspy

    solution = highspy.HighsSolution()
    solution.col_value = start.tolist()
    _require(highs.setSolution(solution), "refused the start point")


def _require(status: Any, what: str) -> None:
    if status.name == "kError":
        raise SolverError(
            f"HiGHS must accept what the formulations build; it {what}; "
            "report this with the network, or use another solver."
        )


def _bound(value: float) -> float:
    return value if math.isfinite(value) else math.inf


def _read(highs: highspy.Highs, has_integers: bool) -> SolverAnswer:
    native = highs.getModelStatus().name
    status = STATUSES.get(native, "failed")
    info = highs.getInfo()
    nodes = max(int(info.mip_node_count), 0) if has_integers else 0
    iterations = max(int(info.simplex_iteration_count), 0)
    if status in ("failed", "infeasible"):
        bound = -math.inf if status == "infeasible" else math.inf
        return SolverAnswer(
            status, bound=bound, native_status=native, nodes=nodes, iterations=iterations
        )
    solution = highs.getSolution()
    columns, objective = None, -math.inf
    if solution.value_valid and math.isfinite(info.objective_function_value):
        columns = np.array(solution.col_value)
        objective = float(info.objective_function_value)
    if has_integers:
        bound = _bound(float(info.mip_dual_bound))
    else:
        bound = objective if status == "optimal" else math.inf
    if status == "optimal" and columns is None:
        status = "failed"
    return SolverAnswer(
        status, columns, objective, max(bound, objective), native, nodes, iterations
    )
