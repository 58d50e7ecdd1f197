"""The search: list the slices, sweep each by simplices, keep the best and the proof."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from nnbo_mip.exact.enumeration.cuts import Children, Frontier, between_grid_values, choose_cuts
from nnbo_mip.exact.enumeration.forms import FormPropagation
from nnbo_mip.exact.enumeration.gains import OUTWARD, ErrorGains, error_gains
from nnbo_mip.exact.enumeration.plan import EnumerateOptions, Plan, plan_of
from nnbo_mip.exact.enumeration.planes import upper_plane
from nnbo_mip.exact.enumeration.rows import Rows
from nnbo_mip.exact.enumeration.simplices import DRIFT, Geometry
from nnbo_mip.exact.search.monitor import Monitor
from nnbo_mip.exact.search.problem import Problem
from nnbo_mip.exact.search.result import Proof, SearchResult

ENGINE = "enumerate"

FLOATS_PER_BATCH = 1 << 20
"""Vertex values of all ReLUs that a batch holds at once."""

LARGEST_BATCH = 1024

ERRORS_TO_CLOSE = 16.0
"""A bound this many rounding errors above the best value cannot be improved by cutting."""

POINTS_OFFERED = 8
"""Points of a block of a finite domain whose values are computed once more, alone."""


class Search:
    """One run over a plan.

    Parameters
    ----------
    problem : Problem
    plan : Plan
    gains : ErrorGains
    max_simplices : int
        Simplices bounded before the search stops with what it has.
    monitor : Monitor
    """

    def __init__(
        self, problem: Problem, plan: Plan, gains: ErrorGains, max_simplices: int, monitor: Monitor
    ) -> None:
        self.problem, self.plan, self.monitor = problem, plan, monitor
        self.max_simplices = max_simplices
        self.forms = FormPropagation(problem.network, gains)
        self.scale = gains.inputs / max(float(gains.inputs.max()), np.finfo(np.float64).tiny)
        largest = np.maximum(np.abs(problem.domain.lower), np.abs(problem.domain.upper))
        self.drift = DRIFT * float(gains.inputs @ largest) * OUTWARD
        self.geometry = Geometry(plan.domain, plan.free)
        # Simplices end at rows; where a grid is swept, propagation ended them.
        cuts_rows = plan.domain.b.size and plan.swept_grid is None
        self.rows = Rows(plan.domain, self.geometry) if cuts_rows else None
        values = self.geometry.vertex_count * max(1, problem.network.n_relus)
        self.batch = int(np.clip(FLOATS_PER_BATCH // values, 8, LARGEST_BATCH))
        self.frontier = Frontier(self.geometry.vertex_count, problem.dimension)
        self.settled = -np.inf  # largest bound of anything that needs no further work
        self.bounded = 0
        self.stopped = False

    def run(self) -> SearchResult:
        """Search until the gap is closed, the budget is spent or time is up."""
        if self.plan.free:
            self._sweep()
        else:
            self._list_points()
        what = "simplices" if self.plan.free else "points"
        message = ""
        if self._exhausted():
            message = f"the budget of {self.max_simplices} simplices is spent; raise max_simplices."
        return self.monitor.result(
            Proof(ENGINE),
            self.settled,
            "rigorous",
            counters={what: self.bounded},
            stopped=self.stopped,
            message=message,
        )

    def _interrupted(self) -> bool:
        self.stopped = self.stopped or self.monitor.should_stop()
        return self.stopped or self._exhausted()

    def _exhausted(self) -> bool:
        return bool(self.plan.free) and self.bounded >= self.max_simplices

    # -- finite domains ---------------------------------------------------------------

    def _list_points(self) -> None:
        for points, _ in self.plan.blocks(self.batch):
            if self._interrupted():
                self._give_up()
                return
            admissible = points[self.plan.domain.admissible(points)]
            if len(admissible) == 0:
                continue
            upper = self.forms.run(admissible[None, :, :]).upper
            self.bounded += len(admissible)
            self.settled = max(self.settled, float(upper.max()))
            self.monitor.offer(admissible[np.argsort(-upper, kind="stable")[:POINTS_OFFERED]])
            self.monitor.report(ENGINE, np.inf, points=self.bounded)

    # -- sweeps -----------------------------------------------------------------------

    def _sweep(self) -> None:
        for roots in self._roots():
            if self._interrupted():
                self._give_up()
                break
            self._offer(roots)
            self._bound(roots)
        if self.monitor.best_x is None and (self.settled > -np.inf or len(self.frontier)):
            self._look_for_a_point()
        while True:
            self.settled = max(self.settled, self.frontier.discard(self.monitor.cutoff))
            if not len(self.frontier) or self._interrupted():
                break
            self.monitor.report(ENGINE, self.frontier.largest_bound(), simplices=self.bounded)
            parts = self.frontier.cut(max(1, self.batch // 2))
            self._offer(parts)
            self._bound(parts)
        self.settled = max(self.settled, self.frontier.largest_bound())

    def _give_up(self) -> None:
        """Count what was never looked at with the bound that holds for every point."""
        self.settled = max(self.settled, self.problem.rounding.magnitude)

    def _roots(self) -> Iterator[Children]:
        """Yield simplices that cover the slices, a batch at a time."""
        for lower, upper in self.plan.blocks(self.batch):
            vertices = self.geometry.cover(lower, upper)
            drifts = np.zeros(vertices.shape[1], dtype=np.int64)
            if self.rows is not None:
                vertices, drifts = self.rows.clip(vertices)
            for start in range(0, vertices.shape[1], self.batch):
                part = vertices[:, start : start + self.batch]
                count = part.shape[1]
                yield Children(
                    vertices=part,
                    bound=np.full(count, self.problem.rounding.magnitude),
                    drifts=drifts[start : start + self.batch],
                    new_points=part.reshape(-1, part.shape[2]),
                    new_owner=np.tile(np.arange(count), part.shape[0]),
                )

    def _offer(self, parts: Children) -> None:
        points = parts.new_points
        if self.rows is not None:
            points = self.rows.moved_inside(points, parts.vertices[:, parts.new_owner])
        self.monitor.offer(points)

    def _look_for_a_point(self) -> None:
        """Where rows leave so little room that no vertex is admissible, ask for any point."""
        domain = self.problem.domain
        point = domain.repair(0.5 * domain.lower + 0.5 * domain.upper)
        if point is not None:
            self.monitor.offer(point[None, :])

    def _bound(self, parts: Children) -> None:
        """Bound simplices; keep those open that may be better and can be cut."""
        self.bounded += parts.vertices.shape[1]
        forms = self.forms.run(parts.vertices)
        plane = upper_plane(self.problem, parts.vertices, forms.layers)
        upper = np.minimum(forms.upper, plane.upper) + parts.drifts * self.drift
        upper = np.minimum(upper, parts.bound)
        level = np.maximum(
            self.monitor.cutoff, self.monitor.best_value + ERRORS_TO_CLOSE * forms.error
        )
        open_ones = upper > level
        if open_ones.any():
            cuts = choose_cuts(
                self.geometry, parts.vertices, forms.layers, plane.impact, self.scale
            )
            if self.plan.swept_grid is not None:
                grid, coordinate = self.plan.swept_grid, self.plan.free[0]
                cuts = between_grid_values(cuts, parts.vertices, coordinate, grid)
            open_ones &= cuts.possible
            self.frontier.push(parts.vertices, upper, parts.drifts, cuts, open_ones)
        self.settled = max(self.settled, float(upper[~open_ones].max(initial=-np.inf)))


def solve(problem: Problem, options: EnumerateOptions, monitor: Monitor) -> SearchResult:
    """Maximize f over a domain of at most two continuous coordinates.

    Raises
    ------
    InputError
        When the domain is too large to be enumerated.
    """
    plan = plan_of(problem, options)
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
