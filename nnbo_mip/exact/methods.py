"""The names of methods, and the engines they stand for; imported when they are used."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeAlias

from nnbo_mip.core.errors import SolverError
from nnbo_mip.exact.search.monitor import Monitor
from nnbo_mip.exact.search.options import EngineOptions
from nnbo_mip.exact.search.problem import Problem
from nnbo_mip.exact.search.result import Proof, SearchResult

SLOPE_STEPS = 8
"""Steps on the slopes of the relaxation that `quick` makes."""

Method: TypeAlias = Callable[[Problem, EngineOptions, Monitor], SearchResult]


def _auto(problem: Problem, options: EngineOptions, monitor: Monitor) -> SearchResult:
    from nnbo_mip.exact import auto

    return auto.solve(problem, options, monitor)


def _bab(problem: Problem, options: EngineOptions, monitor: Monitor) -> SearchResult:
    from nnbo_mip.exact import auto

    return auto.solve_bab(problem, options, monitor)


def _boxes(problem: Problem, options: EngineOptions, monitor: Monitor) -> SearchResult:
    from nnbo_mip.exact.branching import boxes

    return boxes.solve(problem, boxes.BoxOptions(seed=options.seed), monitor)


def _phases(problem: Problem, options: EngineOptions, monitor: Monitor) -> SearchResult:
    from nnbo_mip.exact.branching import phases

    return phases.solve(problem, phases.PhaseOptions(seed=options.seed), monitor)


def _mip(problem: Problem, options: EngineOptions, monitor: Monitor) -> SearchResult:
    from nnbo_mip.exact.mip import mip

    chosen = mip.MipOptions(
        seed=options.seed, solver=options.solver, formulation=options.formulation
    )
    return mip.solve(problem, chosen, monitor)


def _enumerate(problem: Problem, options: EngineOptions, monitor: Monitor) -> SearchResult:
    from nnbo_mip.exact import enumeration

    return enumeration.solve(problem, enumeration.EnumerateOptions(), monitor)


METHODS: dict[str, Method] = {
    "auto": _auto,
    "bab": _bab,
    "boxes": _boxes,
    "phases": _phases,
    "mip": _mip,
    "enumerate": _enumerate,
}


def run(
    method: str, problem: Problem, options: EngineOptions, monitor: Monitor
) -> tuple[SearchResult, str]:
    """Run the engine; without any proof from it, fall back to a quick value and bound.

    Returns
    -------
    result, complaint
        The complaint is a sentence where a solver broke down, else empty.
    """
    complaint = ""
    try:
        with monitor.within_limits():
            result = METHODS[method](problem, options, monitor)
            if math.isfinite(min(result.bound, monitor.bound)) or result.status == "infeasible":
                return result, ""
            if method == "mip" and options.formulation == "naive":
                return result, ""  # asked for the guess, gets the guess
    except SolverError as error:
        complaint = f"The solver broke down: {error}"
    if math.isfinite(monitor.bound):
        return monitor.bounded(), complaint
    return quick(problem, options, monitor), complaint


def quick(problem: Problem, options: EngineOptions, monitor: Monitor) -> SearchResult:
    """Return a value and the bound of one relaxation over the whole box, whatever the clock says.

    For when an engine broke down or had no time to prove anything.
    """
    from nnbo_mip.exact.bounds.relaxation import Relaxer
    from nnbo_mip.exact.search.primal import climb

    domain = problem.domain
    lower, upper, feasible = domain.tighten(domain.lower[None, :], domain.upper[None, :])
    if not feasible[0]:
        return monitor.result(Proof("propagation"), -math.inf, "rigorous", counters={})
    if monitor.best_x is None:
        climb(problem, monitor, seed=options.seed)
    relaxer = Relaxer(problem.network, problem.rounding)
    planes = relaxer.bound(lower.T, upper.T, monitor.cutoff, SLOPE_STEPS)
    return monitor.result(
        Proof("relaxation"), float(planes.bound[0]), "rigorous", counters={"boxes": 1}
    )
