"""The pre-activation bounds that a mixed-integer program is written with."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from nnbo_mip.exact.bounds.interval import LayerBounds, interval_bounds
from nnbo_mip.exact.monitor import Monitor
from nnbo_mip.exact.problem import Problem

LARGEST_FOR_RELAXATION = 1500
"""ReLUs up to which the bounds are tightened by relaxations and linear programs."""


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
    from nnbo_mip.exact.bounds.lp_bounds import tighten_layers
    from nnbo_mip.exact.branching.phases import undecided_system, with_flat_bounds

    flat, relaxed = undecided_system(problem, lower, upper, bounds)
    flat = tighten_layers(problem, flat, lower, upper, monitor)
    return intersection(bounds, with_flat_bounds(relaxed, flat))


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
