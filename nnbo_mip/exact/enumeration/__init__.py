r"""Enumeration: exact maxima over at most two continuous coordinates, at any width and depth.

Discrete coordinates are listed; what is left of each combination (a point, an interval or
a polygon, in parts where there are exclusions) is covered by simplices, and simplices are cut where
the function bends, until it is affine on every simplex that could hold the maximum: in one
dimension a sweep over the breakpoints, in two the arrangement of the ReLUs' zero lines. Bounds
on simplices
(`forms`, `planes`) spare all pieces that cannot hold the maximum, which are nearly all.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nnbo_mip.core.errors import InputError
from nnbo_mip.exact.enumeration.gains import error_gains
from nnbo_mip.exact.enumeration.plan import Plan, make_plan
from nnbo_mip.exact.enumeration.search import ENGINE, Search
from nnbo_mip.exact.search.monitor import Monitor
from nnbo_mip.exact.search.problem import Problem
from nnbo_mip.exact.search.result import Proof, SearchResult
from nnbo_mip.network.graph.graph import Network

__all__ = ["ENGINE", "EnumerateOptions", "estimate_cost", "solve", "supports"]


@dataclass(frozen=True)
class EnumerateOptions:
    """Budgets of the enumeration.

    Parameters
    ----------
    max_slices : int
        Largest number of combinations of the discrete coordinates.
    max_simplices : int
        Simplices bounded before the search stops with what it has.
    """

    max_slices: int = 1_000_000
    max_simplices: int = 4_000_000

    def __post_init__(self) -> None:
        if self.max_slices < 1 or self.max_simplices < 1:
            raise InputError(
                "max_slices and max_simplices must be at least 1; got "
                f"{self.max_slices} and {self.max_simplices}; raise them."
            )


def solve(problem: Problem, options: EnumerateOptions, monitor: Monitor) -> SearchResult:
    """Maximize f over a domain of at most two continuous coordinates.

    Raises
    ------
    InputError
        When the domain is too large to be enumerated; see `supports`.
    """
    plan = _plan(problem, options)
    if plan is None:
        return monitor.result(Proof(ENGINE), -np.inf, "rigorous", counters={"simplices": 0})
    gains = error_gains(problem)
    rounding = problem.rounding
    if not (gains.is_finite() and np.isfinite(rounding.magnitude + rounding.output)):
        return monitor.result(
            Proof(ENGINE),
            np.inf,
            "none",
            counters={"simplices": 0},
            message="the weights are so large that float64 cannot bound the network's values.",
        )
    return Search(problem, plan, gains, options.max_simplices, monitor).run()


def supports(problem: Problem, options: EnumerateOptions | None = None) -> bool:
    """Whether `solve` would take the problem rather than refuse it."""
    try:
        _plan(problem, options or EnumerateOptions())
    except InputError:
        return False
    return True


def _plan(problem: Problem, options: EnumerateOptions) -> Plan | None:
    """Return the plan for the tightened domain; None if that is empty."""
    domain = problem.domain
    lower, upper, feasible = domain.tighten(domain.lower, domain.upper)
    if not feasible:
        return None
    return make_plan(domain.restrict(lower, upper), options.max_slices)


def estimate_cost(problem: Problem, options: EnumerateOptions | None = None) -> float:
    """Estimate the floating-point operations of `solve`; infinite where it refuses.

    A bound of a simplex with V vertices costs about 2 V + 2 passes through the network.
    Every combination of the discrete coordinates needs a few bounds and the best of them
    some hundred more; in polygons as many as there are ReLUs, and twice as many for every
    further layer, because forms widen with depth. Measured within a factor of ten.
    """
    try:
        plan = _plan(problem, options or EnumerateOptions())
    except InputError:
        return np.inf
    if plan is None:
        return 0.0
    network = problem.network
    weights = sum(
        affine.width * network.source_width(source)
        for affine in (*network.layers, network.head)
        for source in affine.terms
    )
    simplices = float(plan.slices)
    boxes = plan.slices * (1.0 + len(plan.domain.exclusions))
    if len(plan.free) == 1:
        simplices = 3.0 * boxes + 100.0
    elif len(plan.free) == 2:
        simplices = 8.0 * boxes + (100.0 + network.n_relus) * 2.0 ** (_depth(network) - 2)
    return 2.0 * weights * (2 * len(plan.free) + 4) * simplices


def _depth(network: Network) -> int:
    """Return the number of ReLU layers on the longest path."""
    depths = [0]
    for layer in network.layers:
        depths.append(1 + max((depths[source] for source in layer.terms), default=0))
    return max(depths)
