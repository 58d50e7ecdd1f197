"""Branch and bound over input boxes for any head that a relaxer bounds (`relaxers`).

The search is that of `exact.branching.boxes`. A box is discarded, or cut, where an affine
condition proves that the score does not exceed the cut-off; until then it keeps a bound of the
score. The bound is rigorous.

Which relaxer bounds which head on which posterior.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache, cached_property, singledispatch
from typing import Protocol, TypeAlias

import numpy as np

from nnbo_mip.core.budget import reserve
from nnbo_mip.core.errors import UnsupportedError
from nnbo_mip.exact.bounds.compiled_relaxation import load_kernel
from nnbo_mip.exact.bounds.kernel_units import KernelUnits
from nnbo_mip.exact.bounds.row_relaxation import RowRelaxer, Rows
from nnbo_mip.exact.bounds.tanh_units import TanhUnits
from nnbo_mip.exact.bounds.unit_relaxation import UnitRows
from nnbo_mip.exact.branching.boxes import ENGINE, BoxOptions, BoxRelaxer, RelaxedSearch
from nnbo_mip.exact.heads.relaxers.constrained import ConstrainedRelaxer
from nnbo_mip.exact.heads.relaxers.members import CountRelaxer, ImprovementRelaxer, RisenRelaxer
from nnbo_mip.exact.heads.relaxers.moments import MomentRelaxer
from nnbo_mip.exact.heads.relaxers.posterior import PosteriorPart
from nnbo_mip.exact.heads.relaxers.spreads import SpreadRelaxer, no_spread, spread_relaxer
from nnbo_mip.exact.pairs.search import PairwiseSearch
from nnbo_mip.exact.pairs.search import why_not as why_not_of_pairs
from nnbo_mip.exact.scores.problem import HeadProblem
from nnbo_mip.exact.search.monitor import Monitor
from nnbo_mip.exact.search.primal import climb
from nnbo_mip.exact.search.result import SearchResult
from nnbo_mip.exact.spherical.search import SphereSearch
from nnbo_mip.exact.spherical.search import why_not as why_not_on_sphere
from nnbo_mip.exact.trees.cells import TreeCells
from nnbo_mip.exact.trees.search import TreeSearch
from nnbo_mip.exact.trees.search import climb as climb_cells
from nnbo_mip.network.graph.graph import Network
from nnbo_mip.scores.base.abstract import Head, MomentHead, Shape
from nnbo_mip.scores.functions.constrained import ConstrainedImprovement
from nnbo_mip.scores.functions.empirical import EmpiricalImprovement
from nnbo_mip.scores.functions.linear import LinearHead
from nnbo_mip.scores.objective import Objective
from nnbo_mip.scores.posteriors.compiled import (
    CompiledPosterior,
    MembersPosterior,
    PlainPosterior,
    Posterior,
)
from nnbo_mip.scores.posteriors.joint import JointPosterior, parts_of
from nnbo_mip.scores.posteriors.process import ProcessPosterior
from nnbo_mip.scores.posteriors.tanh import TanhMembers, TanhPosterior
from nnbo_mip.scores.storage import network_of
from nnbo_mip.space.domain import Domain

ARRAYS_OF_PROCESS, PRODUCTS_OF_PROCESS, ARRAYS_OF_TANH = 12, 14, 5
"""What bounds of a belief hold and do: arrays (n, n) and operations in n^3 of a process, and arrays
like the outer weights of tanh units."""


class HeadRelaxer(BoxRelaxer, Protocol):
    """Bounds a head over boxes."""

    @property
    def is_useful(self) -> bool:
        """Whether the network's magnitudes stay far from overflow; else nothing is proven."""


@singledispatch
def moments_over(posterior: Posterior, domain: Domain) -> tuple[Rows, SpreadRelaxer]:
    """Return what bounds mean and std of a posterior; one more kind registers its own."""
    raise UnsupportedError(no_spread(posterior))


@moments_over.register
def _of_network(posterior: CompiledPosterior, domain: Domain) -> tuple[Rows, SpreadRelaxer]:
    spreads = spread_relaxer(posterior)
    return _rows_of(posterior, domain, spreads.outputs, "mean"), spreads


@moments_over.register
def _of_tanh(posterior: TanhPosterior, domain: Domain) -> tuple[Rows, SpreadRelaxer]:
    _reserve_tanh(posterior)
    return UnitRows.of_tanh(TanhUnits(posterior, domain), posterior), spread_relaxer(posterior)


@moments_over.register
def _of_process(posterior: ProcessPosterior, domain: Domain) -> tuple[Rows, SpreadRelaxer]:
    n = len(posterior.points)
    reserve(
        f"bounds of a Gaussian process of {n} points",
        n_bytes=8.0 * ARRAYS_OF_PROCESS * n**2,
        operations=PRODUCTS_OF_PROCESS * float(n) ** 3,
    )
    part = PosteriorPart(posterior, KernelUnits(posterior, domain))
    return part.rows, part


def _reserve_tanh(posterior: TanhPosterior) -> None:
    count, units = posterior.outer.shape
    reserve(
        f"bounds of {count} outputs of {units} tanh units",
        n_bytes=8.0 * ARRAYS_OF_TANH * count * units,
    )


@singledispatch
def members_over(posterior: Posterior, domain: Domain, head: EmpiricalImprovement) -> HeadRelaxer:
    """Return what bounds a head of the members of a posterior."""
    raise UnsupportedError("the posterior has no members.")


@members_over.register
def _of_members(
    posterior: MembersPosterior, domain: Domain, head: EmpiricalImprovement
) -> HeadRelaxer:
    if head.kind == "ei":
        return ImprovementRelaxer(posterior.network, posterior.names, head, domain)
    return CountRelaxer(_rows_of(posterior, domain, posterior.names, posterior.names[0]), head)


@members_over.register
def _of_tanh_members(
    posterior: TanhMembers, domain: Domain, head: EmpiricalImprovement
) -> HeadRelaxer:
    _reserve_tanh(posterior)
    rows = UnitRows.of_tanh(TanhUnits(posterior, domain), posterior)
    return (RisenRelaxer if head.kind == "ei" else CountRelaxer)(rows, head)


def _rows_of(
    posterior: CompiledPosterior, domain: Domain, outputs: tuple[str, ...], base: str
) -> RowRelaxer:
    return RowRelaxer(posterior.network, domain.lower, domain.upper, outputs, base)


@dataclass(frozen=True, eq=False)
class Boxed:
    """What bounds a problem over boxes: made when it is first asked for, and then kept.

    Trees, spheres and sums of terms have boxes of their own (`exact.trees`, `exact.spherical`,
    `exact.pairs`), and no relaxer.

    Parameters
    ----------
    problem : HeadProblem
    """

    problem: HeadProblem

    @cached_property
    def why_not(self) -> str:
        """Why nothing bounds the problem, in a sentence; empty where something does."""
        head, posterior = self.problem.searched, self.problem.posterior
        if head.shape is Shape.MIXTURE:
            return f"a {type(head).__name__} reads neither mean and std nor members."
        if posterior.forest is not None:
            return ""
        if self.problem.posterior.on_sphere:
            return why_not_on_sphere(self.problem)
        if self.problem.posterior.is_pairwise:
            return why_not_of_pairs(self.problem)
        return self._found if isinstance(self._found, str) else ""

    @property
    def relaxer(self) -> HeadRelaxer:
        """What bounds the head; `UnsupportedError` where nothing does."""
        found = self.why_not or self._found
        if isinstance(found, str):
            raise UnsupportedError(f"boxes must bound the head; {found} choose another way.")
        return found

    @cached_property
    def _found(self) -> HeadRelaxer | str:
        """The relaxer, or why there is none."""
        head, posterior, domain = self.problem.searched, self.problem.posterior, self.problem.domain
        try:
            return _relaxer(head, posterior, domain)
        except UnsupportedError as error:
            return str(error)
        except MemoryError:
            return "bounds of this belief need more memory than there is."


@singledispatch
def _relaxer(head: Head, posterior: Posterior, domain: Domain) -> HeadRelaxer | str:
    """Return what bounds a head, by what it reads, or why nothing does."""
    return f"a {type(head).__name__} reads neither mean and std nor members."


@_relaxer.register
def _of_moment_head(head: MomentHead, posterior: Posterior, domain: Domain) -> HeadRelaxer | str:
    rows, spreads = moments_over(posterior, domain)
    return spreads.why_not or MomentRelaxer(rows, head, spreads)


@_relaxer.register
def _of_member_head(
    head: EmpiricalImprovement, posterior: Posterior, domain: Domain
) -> HeadRelaxer | str:
    return members_over(posterior, domain, head)


@_relaxer.register
def _of_constrained_head(
    head: ConstrainedImprovement, posterior: Posterior, domain: Domain
) -> HeadRelaxer | str:
    if not isinstance(posterior, JointPosterior):
        return f"a {head.name} reads posteriors side by side; got a {type(posterior).__name__};"
    parts = [moments_over(part, domain) for part in posterior.parts]
    reason = next((spreads.why_not for _, spreads in parts if spreads.why_not), "")
    return reason or ConstrainedRelaxer(head, parts)


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
        if any(network_of(part) is not None for part in parts_of(problem.posterior)):
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
            relaxer.lengths if isinstance(relaxer, MomentRelaxer | ConstrainedRelaxer) else None,
        )


Search: TypeAlias = HeadBoxSearch | TreeSearch | SphereSearch


def search_of(boxed: Boxed, options: BoxOptions, monitor: Monitor) -> Search:
    """Return the search over boxes of a problem: those of trees end at thresholds."""
    if boxed.problem.posterior.forest is not None:
        return TreeSearch(boxed.problem, options, monitor)
    if boxed.problem.posterior.on_sphere:
        return SphereSearch(boxed.problem, options, monitor)
    if boxed.problem.posterior.is_pairwise:
        return PairwiseSearch(boxed.problem, options, monitor)
    return HeadBoxSearch(boxed, options, monitor)


def solve(problem: HeadProblem, options: BoxOptions, monitor: Monitor) -> SearchResult:
    """Maximize what a problem searches; value and bound are in its values."""
    search = search_of(Boxed(problem), options, monitor)
    return search.advance(options.max_boxes) if search.is_useful else monitor.too_large(ENGINE)


def bound_of_domain(boxed: Boxed, monitor: Monitor) -> float:
    """Return the bound of one relaxation over the whole box; ``inf`` where there is none."""
    problem = boxed.problem
    read = problem.posterior
    if read.forest is not None or read.on_sphere or read.is_pairwise:
        search = search_of(boxed, BoxOptions(), monitor)
        assert not isinstance(search, HeadBoxSearch)
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
    forest = problem.posterior.forest
    if forest is not None:
        climb_cells(problem, TreeCells(forest, problem.domain), monitor, seed)
    else:
        climb(problem, monitor, seed=seed)


@cache
def load_kernels() -> None:
    """Compile the kernels, once a machine, or load what was compiled, once a process."""
    load_kernel()
    layers = [([[1.0]], [0.5]), ([[1.0]], [0.5]), ([[1.0], [1.0]], [0.0, 0.0])]
    network = Network.from_layers(layers, ("mean", "std"))
    domain = Domain([-1.0], [2.0])
    problem = HeadProblem(Objective(PlainPosterior(network), LinearHead(1.0, 1.0)), domain)
    Boxed(problem).relaxer.bound(np.array([[-1.0]]), np.array([[2.0]]), 0.0, 1)
