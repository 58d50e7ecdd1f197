"""Branch and bound over input boxes for any head that a relaxer bounds (`relaxers`).

The search is that of `exact.branching.boxes`. A box is discarded, or cut, where an affine
condition proves that the score does not exceed the cut-off; until then it keeps a bound of the
score. The bound is rigorous.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np

from nnbo_mip.exact.bounds.compiled_relaxation import load_kernel
from nnbo_mip.exact.branching.boxes import ENGINE, BoxOptions, RelaxedSearch
from nnbo_mip.exact.heads.relaxers.choice import Boxed
from nnbo_mip.exact.scores.problem import HeadProblem
from nnbo_mip.exact.search.monitor import Monitor
from nnbo_mip.exact.search.primal import climb
from nnbo_mip.exact.search.result import SearchResult
from nnbo_mip.exact.trees.cells import TreeCells
from nnbo_mip.exact.trees.search import TreeSearch
from nnbo_mip.exact.trees.search import climb as climb_cells
from nnbo_mip.network.graph.graph import Network
from nnbo_mip.scores.functions.linear import LinearHead
from nnbo_mip.scores.objective import Objective
from nnbo_mip.scores.posteriors.readouts import NetworkReadout, PlainReadout
from nnbo_mip.scores.posteriors.tree_readout import TreeReadout
from nnbo_mip.space.domain import Domain

__all__ = [
    "HeadBoxSearch",
    "TreeSearch",
    "climb_of",
    "load_kernels",
    "search_of",
    "solve",
]


class HeadBoxSearch(RelaxedSearch):
    """A search over boxes for the maximum of what a problem searches.

    Parameters
    ----------
    boxed : Boxed
    options : BoxOptions
    monitor : Monitor

    Attributes
    ----------
    is_useful : bool
        Whether anything can be proven, magnitudes being far from overflow.
    """

    def __init__(self, boxed: Boxed, options: BoxOptions, monitor: Monitor) -> None:
        problem = boxed.problem
        if isinstance(problem.readout, NetworkReadout):
            with monitor.clock_stopped():
                load_kernels()
        relaxer = boxed.relaxer
        self.is_useful = relaxer.is_useful
        super().__init__(
            problem,
            relaxer,
            lambda monitor, seed: climb(problem, monitor, seed),
            options,
            monitor,
        )


def search_of(boxed: Boxed, options: BoxOptions, monitor: Monitor) -> HeadBoxSearch | TreeSearch:
    """Return the search over boxes of a problem: those of trees end at thresholds."""
    if isinstance(boxed.problem.readout, TreeReadout):
        return TreeSearch(boxed.problem, options, monitor)
    return HeadBoxSearch(boxed, options, monitor)


def solve(problem: HeadProblem, options: BoxOptions, monitor: Monitor) -> SearchResult:
    """Maximize what a problem searches; value and bound are in its values."""
    search = search_of(Boxed(problem), options, monitor)
    return search.advance(options.max_boxes) if search.is_useful else monitor.too_large(ENGINE)


def bound_of_domain(boxed: Boxed, monitor: Monitor) -> float:
    """Return the bound of one relaxation over the whole box; ``inf`` where there is none."""
    problem = boxed.problem
    if isinstance(problem.readout, TreeReadout):
        search = TreeSearch(problem, BoxOptions(), monitor)
        return search.bound_once() if search.is_useful else math.inf
    relaxer, domain = boxed.relaxer, problem.domain
    lower, upper, feasible = domain.tighten(domain.lower[None, :], domain.upper[None, :])
    if not feasible[0]:
        return -math.inf
    if not relaxer.is_useful:
        return math.inf
    level = monitor.cutoff
    conditions = relaxer.bound(lower.T, upper.T, level, 0)
    bound = float(conditions.values_below(conditions.bound, level)[0])
    return math.inf if math.isnan(bound) else bound


def climb_of(problem: HeadProblem, monitor: Monitor, seed: int) -> None:
    """Offer good admissible points to a monitor."""
    if isinstance(problem.readout, TreeReadout):
        climb_cells(problem, TreeCells(problem.readout.trees, problem.domain), monitor, seed)
    else:
        climb(problem, monitor, seed=seed)


@cache
def load_kernels() -> None:
    """Compile the kernels, once a machine, or load what was compiled, once a process."""
    load_kernel()
    layers = [([[1.0]], [0.5]), ([[1.0]], [0.5]), ([[1.0], [1.0]], [0.0, 0.0])]
    network = Network.from_layers(layers, ("mean", "std"))
    domain = Domain([-1.0], [2.0])
    problem = HeadProblem(Objective(PlainReadout(network), LinearHead(1.0, 1.0)), domain)
    Boxed(problem).relaxer.bound(np.array([[-1.0]]), np.array([[2.0]]), 0.0, 1)
