r"""Branch and bound over input boxes (``bab`` for few inputs).

A frontier of boxes covers every admissible point that may still score above the
incumbent. Hundreds of boxes are bounded at once by linear relaxations
(`exact.bounds.relaxation`), which give for each box an affine g with f <= g on it. Then

* boxes whose bound is not above the cut-off are discarded,
* the others shrink: a point with f(x) > cut-off has g(x) > cut-off, so with
  U = max g over the box, coordinate j can be at most (U - cut-off) / |g_j| away from
  the end where g is largest; grids, one-hot groups and rows shrink them further,
* and are split in two, across the coordinate that contributes most to U among those
  that are not much narrower than the widest, or along the faces of an exclusion of the domain
  (`exclusion_splitting`).

The bound is rigorous: it is the largest bound of any box that was discarded or left
open, each widened by the constants of `exact.rounding`.

References
----------
Horst and Tuy (1996), branch and bound over boxes [HorstTuy1996].
Bunel et al. (2020), branch and bound for networks [Bunel2020].
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.errors import InputError
from nnbo_mip.exact.bounds.compiled_relaxation import (
    CompiledRelaxer,
    DeepRelaxer,
    WeighedBounds,
    load_deep_kernel,
    load_kernel,
)
from nnbo_mip.exact.bounds.planes import largest_on_domain
from nnbo_mip.exact.bounds.relaxation import LinearBounds, Relaxer
from nnbo_mip.exact.branching.exclusion_splitting import ExclusionSplitter
from nnbo_mip.exact.branching.frontier import NARROW, Boxes, Frontier, Marks, Splitter
from nnbo_mip.exact.search.monitor import Monitor
from nnbo_mip.exact.search.options import EngineOptions
from nnbo_mip.exact.search.primal import climb
from nnbo_mip.exact.search.problem import OptimizationProblem, Problem
from nnbo_mip.exact.search.result import Proof, SearchResult
from nnbo_mip.network.graph.affine import dense

ENGINE = "boxes"
FLOATS_PER_BATCH = 1 << 18
"""Size of the largest intermediate array of a batch; it should stay in the cache."""

LARGEST_FRONTIER_BYTES = 400 * 2**20
"""Memory for open boxes; beyond it the search goes depth first."""

SECONDS_PER_BOX, SECONDS_PER_PRODUCT, SECONDS_PER_FLOAT = 1e-5, 1.5e-10, 2.5e-8
"""Rough times of a box, of a product within it, and of a value that is held for it. Work is
counted in them: they need not be right, no clock is read."""

SECONDS_PER_BATCH = 0.25
"""Of this work at most, between two looks at the clock, unless a single box takes more."""

OPEN_SHARE = 0.2
"""Rough share of the units whose sign is open over a box of a deep network."""

CORNERS_OFFERED = 32
"""Corners a batch that are evaluated; the primal side has usually found the optimum before."""

WORTH_ANOTHER_BOUND = 0.3
"""A box that shrank to less than this share of its volume is bounded again, not split."""

LARGEST_COMPILED = 1000
"""ReLUs up to which the compiled kernel bounds the boxes."""


@dataclass(frozen=True)
class BoxOptions(EngineOptions):
    """Options of the box engine.

    Parameters
    ----------
    max_boxes : int
        Boxes bounded before the search stops with what it has.
    max_open : int
        Boxes kept open at once; beyond it the search goes depth first.
    slope_steps : int or None
        Steps on the lower slopes of each output bound; None: 3 for nets of two or more
        ReLU layers, where they pay, else 0.
    """

    max_boxes: int = 100_000_000
    max_open: int = 4_000_000
    slope_steps: int | None = None

    def __post_init__(self) -> None:
        if self.max_boxes < 1 or self.max_open < 2:
            raise InputError(
                "max_boxes must be at least 1 and max_open at least 2; got "
                f"{self.max_boxes} and {self.max_open}; raise them."
            )


def solve(problem: Problem, options: BoxOptions, monitor: Monitor) -> SearchResult:
    """Maximize f over the domain by branch and bound over boxes; see the module."""
    if not problem.rounding.is_useful:
        return monitor.too_large(ENGINE)
    return BoxSearch(problem, options, monitor).advance(options.max_boxes)


DEEP, DEEP_IF_LARGE, LARGE = 4, 3, 256
"""ReLU layers from which on backward bounds of hidden layers pay, and fewer layers from so many
ReLUs on: with 3 x 64 and six inputs they take a third of the boxes and twice the time, with
3 x 100 a tenth and two thirds. Rows narrower than `WIDE` count as no layer."""

WIDE = 8

NARROW_DEEP = 1e-3
"""As `frontier.NARROW`, for deep networks, whose inputs differ more in what they matter."""


MOST_WEIGHTS = 1 << 26
"""Weights up to which they are laid out densely for that, twice: one GiB."""


class BoxRelaxer(Protocol):
    """What bounds the boxes of a search."""

    @property
    def depth(self) -> int:
        """Number of ReLU layers."""

    def floats_per_box(self) -> int:
        """Float64 values held for one box."""

    def bound(
        self, lower: FloatArray, upper: FloatArray, level: float, slope_steps: int
    ) -> LinearBounds:
        """Return affine conditions for values above a level over boxes (d, B)."""


class RelaxedSearch:
    """A search that can be continued: what it left open is kept between two calls.

    Parameters
    ----------
    problem : OptimizationProblem
        What is maximized.
    relaxer : BoxRelaxer
        Bounds it over boxes.
    climb : callable
        Offers good points to a monitor, given a seed.
    options : BoxOptions
    monitor : Monitor
    unit : (d,) array, optional
        In which the widths of boxes are compared, as `Splitter` takes it.
    narrow : float
        See `Splitter`.
    n_marks : int
        What `_bounded` keeps of each box for its parts.
    """

    def __init__(
        self,
        problem: OptimizationProblem,
        relaxer: BoxRelaxer,
        climb: Callable[[Monitor, int], None],
        options: BoxOptions,
        monitor: Monitor,
        unit: FloatArray | None = None,
        narrow: float = NARROW,
        n_marks: int = 0,
    ) -> None:
        self.problem, self.options, self.monitor = problem, options, monitor
        self.relaxer, self.climb = relaxer, climb
        self.splitter = Splitter(problem.domain, unit, narrow)
        self.exclusion_splitter = (
            ExclusionSplitter(problem.domain) if len(problem.domain.exclusions) else None
        )
        self.batch = int(np.clip(FLOATS_PER_BATCH // self.relaxer.floats_per_box(), 16, 1024))
        steps = options.slope_steps
        self.slope_steps = (3 if self.relaxer.depth > 1 else 0) if steps is None else steps
        domain = problem.domain
        lower, upper, feasible = domain.tighten(domain.lower[None, :], domain.upper[None, :])
        lower, upper = lower[feasible].T, upper[feasible].T
        marks = np.zeros((n_marks, lower.shape[1]), dtype=np.int8)
        self.frontier = Frontier(lower, upper, np.full(lower.shape[1], np.inf), marks)
        self.max_open = min(
            options.max_open, LARGEST_FRONTIER_BYTES // (16 * len(lower) + 8 + n_marks)
        )
        self.boxes = 0
        self.seconds_per_box = SECONDS_PER_BOX + SECONDS_PER_FLOAT * relaxer.floats_per_box()
        self.settled = -np.inf  # largest bound among boxes that need no further search

    def advance(self, count: int) -> SearchResult:
        """Bound up to `count` more boxes; the counters of the answer are those of this call."""
        monitor, frontier = self.monitor, self.frontier
        if len(frontier) and monitor.best_x is None:
            self.climb(monitor, self.options.seed)
        before, stopped = self.boxes, False
        batch = max(1, min(self.batch, int(SECONDS_PER_BATCH / self.seconds_per_box)))
        while len(frontier):
            self._settle(frontier.discard(monitor.cutoff))
            if not len(frontier):
                break
            stopped = monitor.is_hurried()
            left = before + count - self.boxes
            if stopped or left <= 0 or monitor.is_hopeless:
                break
            popped = frontier.pop(min(batch, left), depth_first=len(frontier) > self.max_open)
            frontier.push(*self._expand(*popped))
            monitor.spend(len(popped[2]) * self.seconds_per_box, self.bound)
            if monitor.wants_report():
                monitor.report(ENGINE, self.bound, boxes=self.boxes, open=len(frontier))
        counters = {"boxes": self.boxes - before}
        return monitor.result(
            Proof(ENGINE), self.bound, "rigorous", counters=counters, stopped=stopped
        )

    @property
    def bound(self) -> float:
        """The largest bound of any box, settled or open."""
        return max(self.settled, self.frontier.largest_bound())

    def _settle(self, bound: float) -> None:
        self.settled = max(self.settled, bound) if bound == bound else np.inf  # not a number

    def _bounded(
        self, lower: FloatArray, upper: FloatArray, level: float, slope_steps: int, marks: Marks
    ) -> LinearBounds:
        """Bound boxes (d, B); what is found out for their parts is added to their marks (k, B)."""
        return self.relaxer.bound(lower, upper, level, slope_steps)

    def _expand(
        self, lower: FloatArray, upper: FloatArray, inherited: FloatArray, marks: Marks
    ) -> Boxes:
        """Bound boxes and return the children of those that stay open."""
        monitor, domain = self.monitor, self.problem.domain
        self.boxes += lower.shape[1]
        level = monitor.cutoff
        planes = self._bounded(lower, upper, level, self.slope_steps, marks)
        corners, largest = largest_on_domain(planes, lower, upper, domain, planes.goal(level))
        bound = planes.values_below(largest, level)
        bound = np.minimum(np.where(np.isnan(bound), np.inf, bound), inherited)
        best = _most_promising(bound)
        offered = corners[:, best]
        if self.exclusion_splitter is not None:
            box = lower[:, best], upper[:, best]
            offered = self.exclusion_splitter.moved_out(offered, *box, planes.slopes[:, best])
        monitor.offer(offered.T)
        open_boxes = bound > monitor.cutoff
        self._settle(float(bound[~open_boxes].max(initial=-np.inf)))
        lower, upper, bound = lower[:, open_boxes], upper[:, open_boxes], bound[open_boxes]
        slopes, reach = planes.slopes[:, open_boxes], planes.bound[open_boxes]
        steep = np.abs(slopes)
        if isinstance(planes, WeighedBounds):
            steep = planes.gains[:, open_boxes] / np.maximum(upper - lower, 1e-300)
        elif planes.loose is not None:
            width = upper - lower
            steep = steep + planes.loose[:, open_boxes] / np.where(width > 0.0, width, np.inf)
        corners, marks = corners[:, open_boxes], marks[:, open_boxes]
        reach = reach - planes.goal(monitor.cutoff)
        new_lower, new_upper = _shrink(lower, upper, slopes, reach)
        if (new_lower > lower).any() or (new_upper < upper).any():
            self._settle(monitor.cutoff)  # what was cut off is only known to be below this
        share = _volume_share(new_lower, new_upper, lower, upper)
        lower, upper = new_lower, new_upper
        if not domain.is_box:
            low_rows, high_rows, feasible = domain.tighten(lower.T, upper.T)
            lower, upper = low_rows[feasible].T, high_rows[feasible].T
            slopes, bound, share = slopes[:, feasible], bound[feasible], share[feasible]
            corners, marks, steep = corners[:, feasible], marks[:, feasible], steep[:, feasible]
        again = share < WORTH_ANOTHER_BOUND
        kept = lower[:, again], upper[:, again], bound[again], marks[:, again]
        marks = marks[:, ~again]
        halved = lower[:, ~again], upper[:, ~again], steep[:, ~again], bound[~again], marks
        if self.exclusion_splitter is None:
            return _joined(kept, self._split(*halved))
        lower, upper, steep, bound, marks = halved
        slopes, corners = slopes[:, ~again], np.clip(corners[:, ~again], lower, upper)
        beside = self.exclusion_splitter.split(
            lower, upper, slopes, corners, monitor.best_x is None
        )
        rest = ~beside.replaced
        children = self._split(
            lower[:, rest], upper[:, rest], steep[:, rest], bound[rest], marks[:, rest]
        )
        pieces = beside.lower, beside.upper, bound[beside.parent], marks[:, beside.parent]
        return _joined(kept, children, pieces)

    def _split(
        self,
        lower: FloatArray,
        upper: FloatArray,
        steep: FloatArray,
        bound: FloatArray,
        marks: Marks,
    ) -> Boxes:
        """Return the children of boxes and the bounds they inherit; settle what has none.

        ``steep`` (d, B) is what a unit of width of each coordinate adds to the bound.
        """
        split = self.splitter.split(lower, upper, steep)
        atoms = split.unsplittable
        if atoms.any():
            # Nothing is left to split: a single point, or a box as narrow as is useful. It
            # may have shrunk since it was bounded.
            self.monitor.offer(lower[:, atoms].T)
            level = self.monitor.cutoff
            last = self._bounded(lower[:, atoms], upper[:, atoms], level, 0, marks[:, atoms])
            values = last.values_below(last.bound, level)
            self._settle(float(np.fmin(bound[atoms], values).max()))
        bound, marks = bound[~atoms], marks[:, ~atoms]
        bounds, all_marks = np.concatenate([bound, bound]), np.concatenate([marks, marks], axis=1)
        return split.lower, split.upper, bounds, all_marks


class BoxSearch(RelaxedSearch):
    """The search for the maximum of a network.

    Parameters
    ----------
    problem : Problem
    options : BoxOptions
    monitor : Monitor
    """

    def __init__(self, problem: Problem, options: BoxOptions, monitor: Monitor) -> None:
        deep = is_deep(problem)
        with monitor.clock_stopped():
            load_deep_kernel() if deep else load_kernel()
        super().__init__(
            problem,
            DeepRelaxer(problem.network, problem.rounding) if deep else _choose_relaxer(problem),
            lambda monitor, seed: climb(problem, monitor, seed),
            options,
            monitor,
            narrow=NARROW_DEEP if deep else NARROW,
            n_marks=problem.network.n_relus if deep else 0,
        )
        self.seconds_per_box = seconds_per_box(problem)

    def _bounded(
        self, lower: FloatArray, upper: FloatArray, level: float, slope_steps: int, marks: Marks
    ) -> LinearBounds:
        if isinstance(self.relaxer, DeepRelaxer):
            return self.relaxer.bound_marked(lower, upper, level, slope_steps, marks)
        return super()._bounded(lower, upper, level, slope_steps, marks)


def seconds_per_box(problem: Problem) -> float:
    """Return roughly what bounding a network over a box takes."""
    weights = sum(
        np.count_nonzero(dense(matrix))
        for layer in problem.network.layers
        for source, matrix in layer.terms.items()
        if source > 0
    )
    products = 2.0 * (problem.dimension + 5) * weights
    if is_deep(problem):
        # Rows of open units go through all layers below theirs, from both sides.
        products = OPEN_SHARE * problem.network.n_relus * weights
    return SECONDS_PER_BOX + SECONDS_PER_PRODUCT * products


def is_deep(problem: Problem) -> bool:
    """Whether hidden layers get backward bounds."""
    network = problem.network
    layers = sum(layer.width >= WIDE for layer in network.layers)
    deep = layers >= (DEEP_IF_LARGE if network.n_relus >= LARGE else DEEP)
    return deep and _dense_weights(problem) <= MOST_WEIGHTS


def _dense_weights(problem: Problem) -> int:
    network = problem.network
    return sum(a.width * network.source_width(k) for a in network.layers for k in a.terms)


def _choose_relaxer(problem: Problem) -> BoxRelaxer:
    """Compiled loops for the widths of surrogates, matrix products for wide networks."""
    if problem.network.n_relus <= LARGEST_COMPILED:
        return CompiledRelaxer(problem.network, problem.rounding)
    return Relaxer(problem.network, problem.rounding)


def _joined(*parts: Boxes) -> Boxes:
    """Return the boxes of all parts."""
    lower, upper, bound, marks = zip(*parts, strict=True)
    return (
        np.concatenate(lower, axis=1),
        np.concatenate(upper, axis=1),
        np.concatenate(bound),
        np.concatenate(marks, axis=1),
    )


def _most_promising(bound: FloatArray) -> npt.NDArray[np.intp]:
    """Return the indices of the boxes with the largest bounds."""
    if len(bound) <= CORNERS_OFFERED:
        return np.arange(len(bound))
    return np.argpartition(-bound, CORNERS_OFFERED)[:CORNERS_OFFERED]


def _shrink(
    lower: FloatArray, upper: FloatArray, slopes: FloatArray, reach: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Cut off the part of each box where its plane is proven below the cut-off.

    Parameters
    ----------
    lower, upper, slopes : (d, B) arrays
    reach : (B,) array
        Largest value of the plane over the box minus the cut-off; positive.
    """
    magnitude = np.abs(slopes)
    with np.errstate(over="ignore"):
        width = reach / np.maximum(magnitude, 1e-300) * (1.0 + 1e-12)
    new_lower = np.where(slopes > 0.0, np.maximum(lower, _below(upper - width)), lower)
    new_upper = np.where(slopes < 0.0, np.minimum(upper, _above(lower + width)), upper)
    return new_lower, new_upper


def _volume_share(
    new_lower: FloatArray, new_upper: FloatArray, lower: FloatArray, upper: FloatArray
) -> FloatArray:
    """Return the share of each box's volume that is left, over its sides of positive length."""
    width = upper - lower
    shares = np.where(width > 0.0, (new_upper - new_lower) / np.where(width > 0, width, 1.0), 1.0)
    return np.asarray(shares.prod(axis=0))


def _below(values: FloatArray) -> FloatArray:
    return values - 4e-16 * np.abs(values)


def _above(values: FloatArray) -> FloatArray:
    return values + 4e-16 * np.abs(values)
