r"""Branch and bound over the cells of trees, for any head of mean and std or of members.

A frontier of boxes of cells covers every admissible point that may still score above the cut-off.
A box whose bound is not above it is discarded; one over which every tree is constant is settled
by any admissible point in it; the others are split at the node that matters most (`kernel`).

Where rows or exclusions leave it open whether a constant box holds an admissible point, repair
looks for one; where it finds none the box is split further, and a single cell is asked of a solver,
twice (`exact.emptiness`). The bound is rigorous unless a solver's word was needed.
"""

from __future__ import annotations

import numpy as np

from nnbo_mip.core.arrays import FloatArray, IntArray
from nnbo_mip.core.errors import InputError
from nnbo_mip.core.terms import Kind
from nnbo_mip.exact.backends import get_backend
from nnbo_mip.exact.backends.base import DEFAULT
from nnbo_mip.exact.branching.boxes import ENGINE, BoxOptions
from nnbo_mip.exact.branching.frontier import Frontier
from nnbo_mip.exact.mip.emptiness import is_empty
from nnbo_mip.exact.scores.problem import HeadProblem
from nnbo_mip.exact.search.monitor import Monitor
from nnbo_mip.exact.search.primal import exchanges
from nnbo_mip.exact.search.result import Proof, SearchResult
from nnbo_mip.exact.trees.cells import TreeCells
from nnbo_mip.exact.trees.scores import tree_scores
from nnbo_mip.space.domain import Domain
from nnbo_mip.space.sampling import sample

BATCH = 512
POINTS_OFFERED = 32
"""Middles of boxes a batch that are scored."""

SECONDS_PER_BOX, SECONDS_PER_NODE = 1e-5, 1e-8
"""Rough times of a box, and for each node of the trees; work is counted in them."""

SAMPLES = 512
SWEEPS = 8
"""Rounds over all coordinates of the climb at most."""

MOST_ASKED = 200
"""Cells that a solver is asked about."""


class TreeSearch:
    """A search over boxes of cells that can be continued.

    Parameters
    ----------
    problem : HeadProblem
        With a `TreePosterior`.
    options : BoxOptions
    monitor : Monitor

    Attributes
    ----------
    is_useful : bool
        Whether anything can be proven, values being far from overflow.
    """

    def __init__(self, problem: HeadProblem, options: BoxOptions, monitor: Monitor) -> None:
        forest = problem.posterior.forest
        assert forest is not None
        self.problem, self.options, self.monitor = problem, options, monitor
        self.cells = TreeCells(forest, problem.domain)
        self.scores = tree_scores(problem, self.cells)
        self.is_useful = self.scores.is_useful
        with monitor.clock_stopped():
            self.scores.bound(*self.cells.root(), 0.0)  # compiles the kernels
        a, b, feasible = self.cells.tightened(*self.cells.root())
        a, b = a[feasible], b[feasible]
        self.frontier = Frontier(_floats(a), _floats(b), np.full(len(a), np.inf))
        self.boxes = 0
        self.seconds_per_box = SECONDS_PER_BOX + SECONDS_PER_NODE * len(forest.nodes)
        self.settled = -np.inf
        self.kind: Kind = "rigorous"
        self.asked = 0

    @property
    def bound(self) -> float:
        """The largest bound of any box, settled or open."""
        return max(self.settled, self.frontier.largest_bound())

    def advance(self, count: int) -> SearchResult:
        """Bound up to `count` more boxes; the counters of the answer are those of this call."""
        monitor, frontier = self.monitor, self.frontier
        if len(frontier) and monitor.best_x is None:
            climb(self.problem, self.cells, monitor, self.options.seed)
        before, stopped = self.boxes, False
        while len(frontier):
            self.settled = max(self.settled, frontier.discard(monitor.cutoff))
            if not len(frontier):
                break
            stopped = monitor.is_hurried()
            left = before + count - self.boxes
            if stopped or left <= 0 or monitor.is_hopeless:
                break
            deep = len(frontier) > self.options.max_open
            first, last, inherited, _ = frontier.pop(min(BATCH, left), depth_first=deep)
            a, b, bound = self._expanded(_whole(first), _whole(last), inherited)
            frontier.push(_floats(a), _floats(b), bound)
            monitor.spend(len(inherited) * self.seconds_per_box, self.bound)
            if monitor.wants_report():
                monitor.report(ENGINE, self.bound, boxes=self.boxes, open=len(frontier))
        counters = {"boxes": self.boxes - before}
        return monitor.result(
            Proof(ENGINE), self.bound, self.kind, counters=counters, stopped=stopped
        )

    def bound_once(self) -> float:
        """Return the bound of the whole box."""
        if not len(self.frontier):
            return self.settled
        return float(self.scores.bound(*self.cells.root(), self.monitor.cutoff).bound[0])

    # -- one batch --------------------------------------------------------------------

    def _expanded(
        self, a: IntArray, b: IntArray, inherited: FloatArray
    ) -> tuple[IntArray, IntArray, FloatArray]:
        """Bound boxes and return the children of those that stay open."""
        monitor = self.monitor
        self.boxes += len(a)
        scored = self.scores.bound(a, b, monitor.cutoff)
        bound = np.minimum(scored.bound, inherited)
        order = np.argsort(-bound, kind="stable")[:POINTS_OFFERED]
        monitor.offer(middles(self.cells, a[order], b[order]))
        kept = bound > monitor.cutoff
        self.settled = max(self.settled, float(bound[~kept].max(initial=-np.inf)))
        a, b, bound = a[kept], b[kept], bound[kept]
        coordinate, after = scored.coordinate[kept], scored.after[kept]
        for index in np.flatnonzero(coordinate < 0):
            coordinate[index], after[index] = self._settle(a[index], b[index], bound[index])
        split = np.flatnonzero(coordinate >= 0)
        a, b, bound = a[split], b[split], bound[split]
        rows, coordinate, after = np.arange(len(a)), coordinate[split], after[split]
        left_end, right_start = b.copy(), a.copy()
        left_end[rows, coordinate], right_start[rows, coordinate] = after, after + 1
        a, b = np.concatenate([a, right_start]), np.concatenate([left_end, b])
        bound = np.concatenate([bound, bound])
        a, b, feasible = self.cells.tightened(a, b)
        return a[feasible], b[feasible], bound[feasible]

    def _settle(self, a: IntArray, b: IntArray, bound: float) -> tuple[int, int]:
        """Settle a box (d,) over which the score is constant, or say where to split it: or -1."""
        if bound <= self.monitor.cutoff:
            self.settled = max(self.settled, bound)
            return -1, -1
        found = point_in(self.cells, a[None], b[None])
        if found is not None:
            self.monitor.offer(found[None, :])
            self.settled = max(self.settled, bound)
            return -1, -1
        counts = b - a
        if counts.any():
            j = int(counts.argmax())
            return j, int((a[j] + b[j]) // 2)
        if not self._is_proven_empty(a, b):
            self.settled = max(self.settled, bound)
        return -1, -1

    def _is_proven_empty(self, a: IntArray, b: IntArray) -> bool:
        """Whether a solver proves that a single cell holds no admissible point."""
        if self.asked >= MOST_ASKED or not self.problem.domain.b.size:
            return False
        self.asked += 1
        lower, upper = self.cells.closure(a[None], b[None])
        inner = _restricted(self.problem.domain, lower[0], upper[0])
        if inner is not None and not is_empty(inner, get_backend(DEFAULT), self.monitor):
            return False
        self.kind = "solver"
        return True


def point_in(cells: TreeCells, a: IntArray, b: IntArray) -> FloatArray | None:
    """Return an admissible point (d,) of a box of cells (1, d), None where none was found."""
    domain = cells.domain
    middle: FloatArray = middles(cells, a, b)[0]
    if domain.admissible(middle[None, :])[0]:
        return middle
    lower, upper = cells.floats(a, b)
    inner = _restricted(domain, lower[0], upper[0])
    return None if inner is None else inner.repair(middle)


def middles(cells: TreeCells, a: IntArray, b: IntArray) -> FloatArray:
    """Return a point (n, d) in each box, on the grids where that is possible."""
    lower, upper = cells.floats(a, b)
    middle = np.clip(0.5 * lower + 0.5 * upper, lower, upper)
    for j, grid in enumerate(cells.domain.grids):
        if grid is not None:
            middle[:, j] = grid.value(grid.nearest(middle[:, j]))
    return middle


def climb(problem: HeadProblem, cells: TreeCells, monitor: Monitor, seed: int) -> None:
    """Offer good admissible points: a sample, then the best cells, coordinate by coordinate."""
    domain, rng = problem.domain, np.random.default_rng(seed)
    try:
        points = sample(domain, SAMPLES, rng, monitor.should_stop)
    except InputError:  # no admissible point was found
        points = np.empty((0, domain.dimension))
    near = domain.repair(0.5 * domain.lower + 0.5 * domain.upper)
    if near is not None:
        points = np.vstack([points, near])
    monitor.offer(points)
    members = domain.one_hot_members
    for _ in range(SWEEPS):
        before = monitor.best_value
        for j in range(domain.dimension):
            if monitor.best_x is None or monitor.should_stop():
                return
            if j in members or domain.lower[j] == domain.upper[j]:
                continue
            middles = cells.middles(j)
            moved = np.repeat(monitor.best_x[None, :], len(middles), axis=0)
            moved[:, j] = middles
            monitor.offer(moved)
        if members and monitor.best_x is not None:
            monitor.offer(exchanges(domain, monitor.best_x))
        if monitor.best_value <= before:
            return


def _restricted(domain: Domain, lower: FloatArray, upper: FloatArray) -> Domain | None:
    """Return a domain within a box; None where the box holds no value of a grid."""
    try:
        return domain.restrict(lower, upper)
    except InputError:
        return None


def _floats(cells: IntArray) -> FloatArray:
    return np.asarray(cells.T, dtype=np.float64)


def _whole(cells: FloatArray) -> IntArray:
    return np.ascontiguousarray(cells.T, dtype=np.int64)
