"""Look for a witness before anything is proven: many points, and climbs from the best of them.

The largest of several rows has kinks, at which gradients go to and fro; climbs by linear programs
over linear regions do not. In a box of which little is unsafe, the number of starts decides.
"""

from __future__ import annotations

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.exact.search.monitor import Monitor
from nnbo_mip.exact.search.primal import climb, climb_regions
from nnbo_mip.exact.search.problem import Problem
from nnbo_mip.exact.verification.reduction import Reduction

FEWEST_POINTS = 64
PRODUCTS_A_POINT = 30_000
"""Multiplications of a pass through the network from which on fewer points are tried."""

CLIMBS = 12


def attack(
    reduction: Reduction, count: int, seconds: float, seed: int
) -> tuple[FloatArray | None, int]:
    """Return a point (d,) where the rows seem to be satisfied, or None, and the evaluations.

    Parameters
    ----------
    reduction : Reduction
    count : int
        Points from whose best ones climbs start; fewer where a network is large.
    seconds : float
    seed : int
    """
    problem = Problem(reduction.network.negated(), reduction.domain)
    monitor = Monitor(problem, 0.0, seconds, threshold=-reduction.least)
    domain = problem.domain
    if domain.is_box:
        rng = np.random.default_rng(seed)
        fewer = min(1.0, PRODUCTS_A_POINT / _products(problem))
        count = max(FEWEST_POINTS, int(count * fewer))
        points = rng.uniform(domain.lower, domain.upper, (count, domain.dimension))
        best = np.argsort(-problem.values(points), kind="stable")[:CLIMBS]
        monitor.offer(points[best])
        for start in points[best]:
            if monitor.should_stop():
                break
            climb_regions(problem, monitor, start, rng)
    else:
        climb(problem, monitor, seed=seed)
    return (monitor.best_x if monitor.exceeded else None), monitor.evaluations


def _products(problem: Problem) -> int:
    network = problem.network
    return 1 + sum(a.width * network.source_width(k) for a in network.layers for k in a.terms)
