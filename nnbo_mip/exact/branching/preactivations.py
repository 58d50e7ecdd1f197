"""The bounds that a mixed-integer program is written with, and the one it has to beat."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from nnbo_mip.exact.bounds.interval import LayerBounds, head_interval, interval_bounds
from nnbo_mip.exact.bounds.relaxation import Relaxer, ReluLines
from nnbo_mip.exact.search.monitor import Monitor
from nnbo_mip.exact.search.problem import Problem

LARGEST_FOR_RELAXATION = 1500
"""ReLUs up to which the bounds are tightened by relaxations and linear programs."""

SLOPE_STEPS = 5


def proven_bounds(problem: Problem, monitor: Monitor) -> list[LayerBounds]:
    """Bound all pre-activations at the admissible points of a problem.

    Interval bounds over the box, intersected with backward relaxations and, layer by
    layer, linear programs over the box that `Domain.tighten` leaves.
    """
    domain = problem.domain
    bounds = interval_bounds(problem.network, domain.lower, domain.upper)
    lower, upper, feasible = domain.tighten(domain.lower, domain.upper)
    if not feasible or problem.network.n_relus > LARGEST_FOR_RELAXATION:
        return bounds
    from nnbo_mip.exact.bounds.flat import undecided_system, with_flat_bounds
    from nnbo_mip.exact.bounds.lp_bounds import load_solver, tighten_layers

    with monitor.clock_stopped():
        load_solver()
    flat, relaxed = undecided_system(problem, lower, upper, bounds)
    flat = tighten_layers(problem, flat, lower, upper, monitor)
    return intersection(bounds, with_flat_bounds(relaxed, flat))


def output_bound(problem: Problem, bounds: Sequence[LayerBounds]) -> float:
    """Bound f from above at the admissible points, given bounds on all pre-activations.

    The better one of the interval bound and of a backward relaxation with the lines that
    the bounds allow.
    """
    network, domain = problem.network, problem.domain
    interval = head_interval(network, domain.lower, domain.upper, bounds)[1]
    if network.n_relus > LARGEST_FOR_RELAXATION:
        return interval
    relaxer = Relaxer(network, problem.rounding, tight=True)
    lines = [ReluLines.within(low[:, None], high[:, None]) for low, high in bounds]
    box = domain.lower[:, None], domain.upper[:, None]
    relaxed = relaxer.planes(*box, lines, slope_steps=SLOPE_STEPS).bound[0]
    return min(interval, float(relaxed))


def intersection(first: Sequence[LayerBounds], second: Sequence[LayerBounds]) -> list[LayerBounds]:
    """Intersect two lists of proven bounds; where nothing is left, the first one counts.

    Both are true at every admissible point, so that an empty intersection means that
    there is none; saying so is left to the domain.
    """
    result = []
    for (low, high), (other_low, other_high) in zip(first, second, strict=True):
        tight_low, tight_high = np.maximum(low, other_low), np.minimum(high, other_high)
        empty = tight_low > tight_high
        result.append((np.where(empty, low, tight_low), np.where(empty, high, tight_high)))
    return result
