r"""Convex heads: the image of the space between supporting lines and found points.

EI is convex in z = (mean, std) and rises in both. Over the image S of the space it is largest at
an extreme point of the hull of S, and extreme points maximize a weighted sum w . z; as EI rises,
w >= 0 is enough. So

    lower bound     EI at points that were found,
    upper bound     EI at the corners of the polygon {z : w_i . z <= h_i}, h_i proven,

and the next w is the one that would settle the worst corner: with T the level that closes the
gap, EI = T at a place on either line of the corner, between the corner and the point that was
found on this line; w is normal to the chord of these two places. If nothing lies beyond the
chord, both corners that are left score T at most; the search for it may stop at that level, and
need not find the largest sum. If something does, it is a better point or a tighter line.

The first direction is the gradient at the best point of a sample, and the axes come with levels
too: those at which the polygon's ends score T.

Any score will do that rises in both coordinates and whose sets {score <= t} are convex for the t
that matter: log EI, and ratios (see `ratio`).

References
----------
Rote (1992), sandwich algorithms [Rote1992].
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import singledispatch

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.errors import InputError, UnsupportedError
from nnbo_mip.exact.heads.moments import PlainPlane, Plane
from nnbo_mip.exact.heads.plane_score import Score, marginal
from nnbo_mip.exact.heads.polygon import Corner, Line, Polygon, as_array
from nnbo_mip.exact.heads.sequence import Sequence, SequenceOptions
from nnbo_mip.exact.heads.tangents import SmoothPlane
from nnbo_mip.exact.scores.problem import HeadProblem, assemble, joint_kind
from nnbo_mip.exact.search.monitor import Monitor
from nnbo_mip.exact.search.result import Proof, SearchResult
from nnbo_mip.scores.base.abstract import Shape
from nnbo_mip.scores.posteriors.compiled import PlainPosterior, Posterior, SmoothPosterior
from nnbo_mip.space.domain import Domain
from nnbo_mip.space.sampling import sample

WAY = "sandwich"

SAMPLE = 512
"""Points from which the first direction comes."""

AIM = 0.6
"""Share of the gap that corners are cut to; the rest is for what a line is not exact."""

LINE_SHARE = 0.15
"""Share of the gap that an unfinished linear problem may cost at the corner it cuts."""

TURNED = 0.1
"""Radians by which the gradient may turn at a better point before it is followed again."""

FOLLOWED = 3
"""Times that it is followed at most before the axes come."""

DISTINCT = 1e-6
"""Share of the angle between two lines that a third one has to be away from them."""

HALVINGS = 50

SHARPEST = 1e-3
"""Share of `LINE_SHARE` to which lines are sharpened where nothing else helps."""


class Sandwich:
    """The search over directions.

    Parameters
    ----------
    problem : HeadProblem
    plane : Plane
    sequence : Sequence
    """

    def __init__(self, problem: HeadProblem, plane: Plane, sequence: Sequence) -> None:
        self.problem, self.plane, self.sequence = problem, plane, sequence
        self.monitor = sequence.whole
        self.score = Score(marginal(problem.searched), plane)
        self.polygon = Polygon()
        self.sharpness = 1.0

    def run(self) -> None:
        """Tighten the monitor's bound until the gap is closed, or time or problems run out."""
        offer_sample(self.problem, self.monitor, self.sequence.options.seed)
        self._follow_gradient()
        self._bound_axis(first=True)
        self._bound_axis(first=False)
        stuck_at: Corner | None = None
        while self._tighten() and not self.sequence.exhausted():
            low, high, corner = max(
                self.polygon.corners(), key=lambda one: self.score.above(one[2])
            )
            if corner == stuck_at:
                self.sharpness /= 10.0
                if self.sharpness < SHARPEST and not self._refined(low, high):
                    break
            stuck_at = corner
            self._cut(low, high, as_array(corner))

    # -- steps ------------------------------------------------------------------------

    def _follow_gradient(self) -> None:
        """Solve along the gradient at the best point, again where it turns."""
        angle = math.inf
        for _ in range(FOLLOWED):
            gradient = self.score.gradient(self._best())
            turned = math.atan2(gradient[1], gradient[0]) if gradient.any() else 0.25 * math.pi
            if abs(turned - angle) < TURNED or self.sequence.exhausted():
                return
            angle = turned
            self._solve(np.array([math.cos(angle), math.sin(angle)]), -math.inf)

    def _bound_axis(self, *, first: bool) -> None:
        """Solve for the largest mean, or the largest second coordinate."""
        axis = np.array([1.0, 0.0]) if first else np.array([0.0, 1.0])
        lines = self.polygon.lines
        level = -math.inf
        if lines:
            end = lines[0] if first else lines[-1]
            if (end.second if first else end.first) == 0.0:
                return
            along = np.array([end.second, -end.first])
            edge = self._where_level_is_left(end, along if first else -along)
            if edge is not None:
                level = float(edge @ axis)
        self._solve(axis, level)

    def _cut(self, low: Line, high: Line, corner: FloatArray) -> None:
        """Solve for the direction that would settle a corner, or the line that hides it."""
        ends = [self._where_level_is_reached(line, corner) for line in (low, high)]
        normal = np.array([ends[1][1] - ends[0][1], ends[0][0] - ends[1][0]])
        length = float(np.hypot(*normal))
        angle = math.atan2(normal[1], normal[0])
        least = DISTINCT * (high.angle - low.angle)
        if length > 0.0 and least < angle - low.angle < high.angle - low.angle - least:
            normal /= length
            self._solve(normal, float(min(normal @ end for end in ends)))
            return
        # A line that scores too much next to its own found point hides the corner.
        slack = [one for one in (low, high) if self.score.at(one.nearest(corner)) > self._target]
        if slack:
            line = max(slack, key=lambda one: one.slack)
            self._solve(np.array([line.first, line.second]), -math.inf)
        else:
            angle = 0.5 * (low.angle + high.angle)
            self._solve(np.array([math.cos(angle), math.sin(angle)]), -math.inf)

    def _solve(self, weights: FloatArray, level: float) -> None:
        plane, near = self.plane, self._best()
        steepness = float(np.hypot(*self.score.gradient(near)))
        # Where the score does not say how it depends on a line, lines are as exact as can be.
        share = LINE_SHARE * self.sharpness
        allowed = share * self._room() / steepness if steepness > 0.0 else 0.0
        first, second = float(weights[0]), float(weights[1])
        step = plane.maximize(first, second, lambda _: allowed, level)
        if first == 0.0 and plane.limits[1] < math.inf:
            # Beyond this limit the score is no longer one with convex level sets.
            least = min(step.bound, second * plane.limits[1])
            step = replace(step, found=replace(step.found, bound=least))
        found = None
        if step.x is not None:
            found = plane.coordinates(step.x[None, :])[0]
            plane.refine(step.x[None, :])
        if self.monitor.best_x is not None:
            plane.refine(self.monitor.best_x[None, :])
        if step.kind != "none":
            self.polygon.add(Line(first, second, step, found))

    def _tighten(self) -> bool:
        """Take over the polygon's bound, and say whether the gap is still open."""
        if not self.polygon.is_bounded:
            return False
        bound = max((self.score.above(corner) for _, _, corner in self.polygon.corners()))
        kind = joint_kind([line.step for line in self.polygon.lines])
        self.monitor.tighten(max(bound, self.monitor.best_value), kind, Proof(WAY))
        return not self.monitor.closed()

    def _refined(self, low: Line, high: Line) -> bool:
        """Become exacter at the points of two lines, and solve them again."""
        points = [line.step.x for line in (low, high) if line.step.x is not None]
        return bool(points) and self.plane.refine(np.array(points))

    # -- places -----------------------------------------------------------------------

    def _best(self) -> FloatArray:
        """Return the coordinates (2,) of the best point; any where there is none."""
        if self.monitor.best_x is None:
            return np.array([self.score.head.threshold, 0.0])
        return np.asarray(self.plane.coordinates(self.monitor.best_x[None, :])[0])

    def _room(self) -> float:
        """Return how far bounds may be above the best value."""
        best = self.monitor.best_value
        return max(self.monitor.cutoff - best, 0.0) if math.isfinite(best) else 1.0

    @property
    def _target(self) -> float:
        return self.monitor.best_value + AIM * self._room()

    def _where_level_is_reached(self, line: Line, corner: FloatArray) -> FloatArray:
        """Return the place on a line between its found point and a corner that scores T."""
        start = line.nearest(corner)
        return _last_below(lambda z: self.score.at(z) <= self._target, start, corner)

    def _where_level_is_left(self, line: Line, along: FloatArray) -> FloatArray | None:
        """Return the place on a line, from its found point in a direction, that scores T."""
        target = self._target
        start = line.nearest(self._best())
        if self.score.at(start) > target:
            return None
        step = 1e-3 * (1e-6 + float(np.abs(start - [self.score.head.threshold, 0.0]).max()))
        for _ in range(HALVINGS):
            end = start + step * along
            if self.score.at(end) > target:
                return _last_below(lambda z: self.score.at(z) <= target, start, end)
            if along[1] < 0.0 and end[1] <= self.plane.limits[0]:
                # Beyond, the second coordinate would leave what is possible.
                share = (self.plane.limits[0] - start[1]) / along[1]
                return np.asarray(start + share * along)
            step *= 2.0
        return None


def _last_below(
    is_below: Callable[[FloatArray], bool], start: FloatArray, end: FloatArray
) -> FloatArray:
    """Return the last place from a start to an end that is below; the start if none is."""
    low, high = 0.0, 1.0
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        if is_below(start + middle * (end - start)):
            low = middle
        else:
            high = middle
    return np.asarray(start + low * (end - start))


def offer_sample(problem: HeadProblem, monitor: Monitor, seed: int) -> None:
    """Offer admissible points to a monitor, where some are found at once."""
    try:
        points = sample(problem.domain, SAMPLE, np.random.default_rng(seed), monitor.should_stop)
    except InputError:
        return  # whether there are any is for the linear problems to say
    monitor.offer(points)


@singledispatch
def _plane(posterior: Posterior, domain: Domain, sequence: Sequence) -> SmoothPlane | PlainPlane:
    """Return the plane of mean and std of a posterior that has one."""
    raise UnsupportedError(
        "mean and std must be outputs, or the std a function of one, to span a plane; got a "
        f"{type(posterior).__name__}; take boxes."
    )


@_plane.register
def _of_smooth(posterior: SmoothPosterior, domain: Domain, sequence: Sequence) -> SmoothPlane:
    return SmoothPlane(posterior, domain, sequence)


@_plane.register
def _of_plain(posterior: PlainPosterior, domain: Domain, sequence: Sequence) -> PlainPlane:
    return PlainPlane(posterior, domain, sequence)


def plane_of(problem: HeadProblem, sequence: Sequence) -> SmoothPlane | PlainPlane:
    """Return the plane of mean and std."""
    return _plane(problem.posterior, problem.domain, sequence)


def why_no_plane(posterior: Posterior) -> str:
    """Return why a posterior has no plane of mean and std, in a sentence; empty where it has."""
    return (
        ""
        if posterior.spans_plane
        else "the std of this posterior is no function of one output; take boxes."
    )


def why_not(problem: HeadProblem) -> str:
    """Return why this way does not apply, in a sentence; empty where it does."""
    if problem.head.shape is not Shape.CONVEX:
        return "the head is not expected improvement."
    return why_no_plane(problem.posterior)


def solve(problem: HeadProblem, options: SequenceOptions, monitor: Monitor) -> SearchResult:
    """Maximize EI or log EI; see the module."""
    reason = why_not(problem)
    if reason:
        raise UnsupportedError(f"a sandwich must apply to the head; {reason}")
    sequence = Sequence(options, monitor, least_in_roundings=4.0)
    Sandwich(problem, plane_of(problem, sequence), sequence).run()
    return assemble(WAY, problem, monitor, sequence.steps)
