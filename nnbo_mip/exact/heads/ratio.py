r"""PI and MES: rising functions of u = (mean - threshold) / std.

u <= t everywhere if and only if

    F(t) = max over the space of mean - threshold - t std

is not positive. With t the best ratio that was found and T the one whose score closes the gap,
one linear problem at a t' between them asks whether anything has a positive
``mean - threshold - t' std``. If so, its ratio is larger than t', and is tried next
(Dinkelbach). If not, nothing exceeds t'. A proof has a tolerance: from F(t') <= e with e >= 0
follows u <= t' + e / std, so that the search may stop at the level e = (T - t') s, s > 0 a proven
lower bound of the std. Without such an s, only F(t') < 0 is a proof, with e a share of what the
best point has.

The std enters negatively where t' > 0. That of a `PlainPosterior` is an output, of any weight. That
of a `SmoothPosterior` is a concave function g of r = relu(raw), which no tangent bounds from below;
but ``mean - threshold - t g(r)`` is convex in (mean, r), rises in the mean and falls with r. So
for t > 0 the sandwich is used, in the plane of (mean, -r), and the tangents below.

References
----------
Dinkelbach (1967), ratios by a sequence of linear problems [Dinkelbach1967].
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from nnbo_mip.core.errors import UnsupportedError
from nnbo_mip.core.terms import Kind
from nnbo_mip.exact.heads.moments import Plane, RawPlane
from nnbo_mip.exact.heads.plane_score import SCORE_ERROR
from nnbo_mip.exact.heads.sandwich import Sandwich, offer_sample, plane_of, why_no_plane
from nnbo_mip.exact.heads.sequence import Sequence, SequenceOptions
from nnbo_mip.exact.scores.problem import HeadProblem, assemble
from nnbo_mip.exact.search.monitor import Monitor
from nnbo_mip.exact.search.result import Proof, SearchResult
from nnbo_mip.exact.search.rounding import rounded_up
from nnbo_mip.scores.base.abstract import Head, RatioHead, Shape
from nnbo_mip.scores.posteriors.compiled import SmoothPosterior

WAY = "ratio"
WAY_SMOOTH = "ratio sandwich"

STEP = 0.5
"""Share of the way from the best ratio to the one that closes the gap, where F is solved."""

SPENT = 0.9
"""Share of what is left that F may exceed 0 by."""

COARSE = 0.02
"""Share of F that may stay open while F is positive: the next ratio is better all the same."""

WITHHELD = 0.1
"""Share of what a ratio above the best one takes from F at the best point, that a proof without a
lower bound of the std leaves below 0."""

LEAST_STD = 1e-300

LARGEST_RATIO = 1e80
"""Weights of linear problems are smaller, far from what solvers overflow at."""

RATIO_ERROR = 1e-11
"""Relative error of scores and ratios of levels; see the heads."""


def why_not(problem: HeadProblem) -> str:
    """Return why this way does not apply, in a sentence; empty where it does."""
    if problem.head.shape is not Shape.RATIO or problem.head.is_logarithm:
        return "the head is no function of the ratio of mean and std."
    return why_no_plane(problem.posterior)


def solve(problem: HeadProblem, options: SequenceOptions, monitor: Monitor) -> SearchResult:
    """Maximize PI or MES; see the module.

    Where no positive lower bound of the std is proven, this may end without a proof: the answer
    says so, and other ways take over.
    """
    reason = why_not(problem)
    if reason:
        raise UnsupportedError(f"a ratio must be what is maximized; {reason}")
    sequence = Sequence(options, monitor, least_in_roundings=4.0)
    search = _Ratio(problem, plane_of(problem, sequence), sequence)
    offer_sample(problem, monitor, options.seed)
    message = search.run()
    way = WAY
    smooth = problem.parts(Head, SmoothPosterior)
    if smooth and search.best_ratio() > 0.0 and not monitor.closed() and not sequence.exhausted():
        plane = RawPlane(smooth[1], problem.domain, sequence)
        Sandwich(problem, plane, sequence).run()
        way = WAY_SMOOTH
    return assemble(way, problem, monitor, sequence.steps, message)


class _Ratio:
    """Dinkelbach's steps, with a proof at each."""

    def __init__(self, problem: HeadProblem, plane: Plane, sequence: Sequence) -> None:
        ratio = problem.sought.parts(RatioHead, object)
        assert ratio is not None
        head = ratio[0]
        self.head, self.plane, self.sequence = head, plane, sequence
        self.smooth = problem.parts(Head, SmoothPosterior) is not None
        self.monitor = sequence.whole
        self.scored = head.of_margin()

    def run(self) -> str:
        """Tighten the monitor's bound as far as it goes; return what stood in the way."""
        if self.head.is_logarithm:
            self._tighten(math.inf, "rigorous")  # PI is at most 1
        while not self.monitor.closed() and not self.sequence.exhausted():
            best, goal = self.best_ratio(), self._goal()
            ratio = best + STEP * (goal - best)
            if self.smooth:
                if best > 0.0:
                    break  # the weight of the std would be negative
                ratio = min(ratio, 0.0)
            if not abs(ratio) < LARGEST_RATIO:
                return "the std of the best point is too small for a linear problem; take boxes."
            if not ratio > best and not (self.smooth and ratio == 0.0):
                return "the gap is too small for float64."
            if not self._step(ratio, goal) and not self.best_ratio() > best:
                break
        if self.plane.floor > 0.0 or self.monitor.closed():
            return ""
        return "no positive lower bound of the std is proven, which ratios need; take boxes."

    def best_ratio(self) -> float:
        """Return the largest ratio that was found, or -1 where there is no point yet."""
        if self.monitor.best_x is None:
            return -1.0
        mean, second = self.plane.coordinates(self.monitor.best_x[None, :])[0]
        return float((mean - self.head.threshold) / max(second, self.plane.floor, LEAST_STD))

    def _best_std(self) -> float:
        if self.monitor.best_x is None:
            return 0.0
        return float(self.plane.coordinates(self.monitor.best_x[None, :])[0, 1])

    def _goal(self) -> float:
        """Return the ratio that closes the gap."""
        if self.monitor.best_x is None:
            return 1.0
        return min(self.head.ratio_at_level(self.monitor.cutoff), 1e300)

    def _step(self, ratio: float, goal: float) -> bool:
        """Solve F at a ratio; say whether another try at it may say more."""
        threshold, floor = self.head.threshold, self.plane.floor
        excess = SPENT * max(goal - ratio, 0.0) * floor
        if not floor > 0.0:
            excess = -WITHHELD * max(ratio - self.best_ratio(), 0.0) * self._best_std()
        step = self.plane.maximize(
            1.0,
            -ratio,
            lambda value: max(0.2 * abs(excess), COARSE * (value - threshold)),
            threshold + excess,
        )
        if step.kind != "none" and math.isfinite(step.bound):
            over = Fraction(step.bound) - Fraction(threshold)
            if over < 0:
                self._tighten(ratio, step.kind)
            elif floor > 0.0:
                self._tighten(rounded_up(Fraction(ratio) + over / Fraction(floor)), step.kind)
        near = [x for x in (step.x, self.monitor.best_x) if x is not None]
        return bool(near) and self.plane.refine(np.array(near))

    def _tighten(self, ratio: float, kind: Kind) -> None:
        """Take over a bound on all ratios."""
        score = self._score_above(ratio)
        self.monitor.tighten(max(score, self.monitor.best_value), kind, Proof(WAY))

    def _score_above(self, ratio: float) -> float:
        """Return a number that is not below the score of a ratio."""
        std = 0.0 if ratio == math.inf else 1.0
        score = float(self.scored.score(np.array([min(ratio, 1e300)]), np.array([std]))[0])
        above = score + RATIO_ERROR * (1.0 + abs(score)) + SCORE_ERROR
        return min(above, self.head.largest_score) if self.head.is_logarithm else above
