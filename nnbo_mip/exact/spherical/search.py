r"""Branch and bound over boxes for heads on the sphere; often the first box is the last.

A mean or a draw over a box, grids and categories is settled by one bound (`ratios`). Elsewhere a
frontier of boxes covers every admissible point that may still score above the cut-off: a box whose
best point lies in an exclusion is replaced by the pieces beside it, other boxes are halved. The
bound is rigorous.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.errors import UnsupportedError
from nnbo_mip.exact.branching.boxes import BoxOptions
from nnbo_mip.exact.branching.exclusion_splitting import ExclusionSplitter
from nnbo_mip.exact.branching.frontier import Frontier, Splitter
from nnbo_mip.exact.scores.problem import HeadProblem
from nnbo_mip.exact.search.monitor import Monitor
from nnbo_mip.exact.search.primal import climb
from nnbo_mip.exact.search.result import Proof, SearchResult
from nnbo_mip.exact.spherical.ratios import Found
from nnbo_mip.exact.spherical.relaxers import is_bounded, sphere_relaxer
from nnbo_mip.space.domain import Domain

FLOATS_PER_BATCH = 1 << 18
LARGEST_BATCH = 512
LARGEST_FRONTIER_BYTES = 400 * 2**20

REPAIRS = 1.5
"""Growth of the number of boxes after which a point that rows forbid is moved to the domain, by a
program."""


def closes_at_once(problem: HeadProblem) -> bool:
    """Whether one bound settles a problem, so that no search for points is worth its time."""
    relaxer = sphere_relaxer(problem)
    return relaxer is not None and relaxer.is_exact


def why_not(problem: HeadProblem) -> str:
    """Return why a head on the sphere is not bounded, in a sentence; empty where it is."""
    if is_bounded(problem):
        return ""
    head, posterior = problem.searched, problem.posterior
    return f"nothing bounds a {type(head).__name__} on a {type(posterior).__name__}."


class SphereSearch:
    """A search that can be continued: what it left open is kept between two calls.

    Parameters
    ----------
    problem : HeadProblem
        With a posterior on the sphere.
    options : BoxOptions
    monitor : Monitor

    Attributes
    ----------
    is_useful : bool
        Whether anything can be proven, sizes being far from overflow.
    """

    engine: ClassVar[str] = "sphere"

    def __init__(self, problem: HeadProblem, options: BoxOptions, monitor: Monitor) -> None:
        self.problem, self.options, self.monitor = problem, options, monitor
        domain = problem.domain
        self._prepare(problem)
        self.is_useful = self.relaxer.is_useful
        self.splitter = Splitter(domain)
        self.exclusions = ExclusionSplitter(domain) if len(domain.exclusions) else None
        lower, upper, feasible = domain.tighten(domain.lower[None, :], domain.upper[None, :])
        lower, upper = lower[feasible].T, upper[feasible].T
        self.frontier = Frontier(lower, upper, np.full(lower.shape[1], np.inf))
        self.max_open = min(options.max_open, LARGEST_FRONTIER_BYTES // (16 * len(lower) + 8))
        self.boxes = 0
        self.settled = -np.inf
        self._next_repair = 0.0

    def _prepare(self, problem: HeadProblem) -> None:
        """Make what bounds boxes, and say how many of them at once."""
        relaxer = sphere_relaxer(problem)
        if relaxer is None:
            raise UnsupportedError(f"the problem must have bounds; {why_not(problem)}")
        self.relaxer = relaxer
        d = problem.domain.dimension
        self.batch = int(np.clip(FLOATS_PER_BATCH // (d + 2), 1, LARGEST_BATCH))

    def _weights(self, found: Found, lower: FloatArray, upper: FloatArray) -> FloatArray:
        """Return how much (d, B) the width of a coordinate adds to the bound."""
        return np.repeat(self.relaxer.ratios.rate[:, None], len(lower), axis=1)

    def _climb(self) -> None:
        """Offer good admissible points."""
        if self.monitor.best_x is None:
            climb(self.problem, self.monitor, self.options.seed)

    @property
    def bound(self) -> float:
        """The largest bound of any box, settled or open."""
        return max(self.settled, self.frontier.largest_bound())

    def advance(self, count: int) -> SearchResult:
        """Bound up to `count` more boxes; the counters of the answer are those of this call."""
        monitor, frontier = self.monitor, self.frontier
        if len(frontier) and not self.boxes and not self.relaxer.is_exact:
            self._climb()
        before, stopped = self.boxes, False
        while len(frontier):
            self._settle(frontier.discard(monitor.cutoff))
            if not len(frontier):
                break
            # A first bound costs milliseconds, and is worth more than none.
            stopped = monitor.should_stop() and self.boxes > 0
            left = before + count - self.boxes
            if stopped or left <= 0:
                break
            popped = frontier.pop(min(self.batch, left), depth_first=len(frontier) > self.max_open)
            frontier.push(*self._expand(*popped[:3]))
            if monitor.wants_report():
                monitor.report(self.engine, self.bound, boxes=self.boxes, open=len(frontier))
        counters = {"boxes": self.boxes - before}
        return monitor.result(
            Proof(self.engine), self.bound, "rigorous", counters=counters, stopped=stopped
        )

    def bound_once(self) -> float:
        """Return the bound of all open boxes as it is, or of the whole box at first."""
        if self.boxes or not len(self.frontier):
            return self.bound
        domain = self.problem.domain
        found = self.relaxer.bound(
            domain.lower[None, :], domain.upper[None, :], self.monitor.cutoff
        )
        return float(found.bound[0])

    def _settle(self, bound: float) -> None:
        self.settled = max(self.settled, bound) if bound == bound else np.inf  # not a number

    def _expand(
        self, lower: FloatArray, upper: FloatArray, inherited: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Bound boxes (d, B) and return the children of those that stay open."""
        monitor, domain = self.monitor, self.problem.domain
        self.boxes += lower.shape[1]
        found = self.relaxer.bound(lower.T, upper.T, monitor.cutoff)
        weights = self._weights(found, lower.T, upper.T)
        bound = np.minimum(np.where(np.isnan(found.bound), np.inf, found.bound), inherited)
        points, slopes = found.points.T, found.slopes.T
        self._offer(points, lower, upper, slopes, bound)
        kept = bound > monitor.cutoff
        self._settle(float(bound[~kept].max(initial=-np.inf)))
        lower, upper, bound = lower[:, kept], upper[:, kept], bound[kept]
        points, slopes, weights = points[:, kept], slopes[:, kept], weights[:, kept]
        pieces = lower[:, :0], upper[:, :0], bound[:0]
        if self.exclusions is not None and len(bound):
            beside = self.exclusions.split(lower, upper, slopes, points, True)
            pieces = beside.lower, beside.upper, bound[beside.parent]
            rest = ~beside.replaced
            lower, upper, bound = lower[:, rest], upper[:, rest], bound[rest]
            weights = weights[:, rest]
        split = self.splitter.split(lower, upper, weights)
        atoms = split.unsplittable
        if atoms.any():
            monitor.offer(lower[:, atoms].T)
            self._settle(float(bound[atoms].max()))
        children = np.concatenate([bound[~atoms], bound[~atoms]])
        low, high = split.lower, split.upper
        if not domain.is_box:
            lows, highs, feasible = domain.tighten(low.T, high.T)
            low, high, children = lows[feasible].T, highs[feasible].T, children[feasible]
        return (
            np.concatenate([low, pieces[0]], axis=1),
            np.concatenate([high, pieces[1]], axis=1),
            np.concatenate([children, pieces[2]]),
        )

    def _offer(
        self,
        points: FloatArray,
        lower: FloatArray,
        upper: FloatArray,
        slopes: FloatArray,
        bound: FloatArray,
    ) -> None:
        """Score the points (d, B) at which the bounds are attained, moved to the domain."""
        monitor, domain = self.monitor, self.problem.domain
        monitor.offer(points.T)
        if self.exclusions is not None:
            monitor.offer(self.exclusions.moved_out(points, lower, upper, slopes).T)
        if not len(domain.b):
            return
        if self.boxes >= self._next_repair:
            self._next_repair = REPAIRS * self.boxes
            repaired = domain.repair(points[:, int(bound.argmax())])
            if repaired is not None:
                monitor.offer(repaired[None, :])
        if monitor.best_x is not None:
            monitor.offer(_as_far_as_rows_let(domain, monitor.best_x, points.T))


def _as_far_as_rows_let(domain: Domain, start: FloatArray, ends: FloatArray) -> FloatArray:
    """Return the last points (B, d) that satisfy the rows on the ways from one to others."""
    moves = ends - start
    rises = moves @ domain.A.T
    room = np.maximum(domain.b - domain.A @ start, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = np.where(rises > 0.0, room / rises, 1.0).min(axis=1)
    share = np.minimum(shares, 1.0)[:, None]
    return np.asarray(np.clip(start + share * moves, domain.lower, domain.upper))
