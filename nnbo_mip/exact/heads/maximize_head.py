"""The maximum of a head: which way first, and who takes over.

A head may have two ways: a *sequence* of linear problems (linear, tangents, sandwich, ratio,
counting, tree_sums), which the engines of networks or a solver solve, and *boxes*, a search of its
own. Measured (docs/dev/acquisition_measurements.md): with few free inputs boxes are faster, with
many mostly sequences close. Whatever is done shares one monitor, so that the best value and the
best bound of all are kept.

    mip, enumerate   the sequence, each problem by that engine
    bab              like auto, each problem by branch and bound
    auto             the sequence where the head is linear; else boxes, few of them with many
                     inputs, then the sequence, then boxes again
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial

from nnbo_mip.core.errors import InputError, UnsupportedError
from nnbo_mip.exact.branching.boxes import ENGINE as BOXES
from nnbo_mip.exact.branching.boxes import BoxOptions
from nnbo_mip.exact.enumeration import EnumerateOptions
from nnbo_mip.exact.enumeration.plan import make_plan
from nnbo_mip.exact.heads import (
    boxes,
    counting,
    linear,
    ratio,
    sandwich,
    tangents,
    tree_sums,
)
from nnbo_mip.exact.heads.boxes import Boxed
from nnbo_mip.exact.heads.sequence import SequenceOptions
from nnbo_mip.exact.scores.problem import HeadProblem, answer
from nnbo_mip.exact.search.monitor import Monitor
from nnbo_mip.exact.search.result import Proof, SearchResult, Step
from nnbo_mip.scores.base.abstract import Shape
from nnbo_mip.space.domain import Domain

METHODS = ("auto", "mip", "bab", "enumerate")

FEW_INPUTS = 6
"""Free coordinates up to which boxes go first."""

BOXES_FIRST, BOXES_SHORT = 100_000, 10_000
"""Boxes before the sequence of linear problems is asked: with few free inputs, and with more."""

SEQUENCE_SHARE = 0.5
"""Share of the time left that the sequence may take while boxes wait."""

EXHAUSTED = (
    "what is open lies within float64's rounding, as where the std is zero and the mean meets the "
    "threshold."
)

HURRIED = "time was over before the gap was closed; give more, or a larger gap."

FULL = "the memory limit was reached before the gap was closed; raise memory_limit."

HOPELESS = (
    "the search ended early, as the course of the gap left no hope of closing it soon; the bound "
    "holds. A maximizer with more patience searches on."
)

INTERRUPTED = "the search was interrupted."

Sequenced = Callable[[HeadProblem, SequenceOptions, Monitor], SearchResult]

SEQUENCES = {
    Shape.LINEAR: (linear, tangents, tree_sums),
    Shape.RATIO: (ratio,),
    Shape.EMPIRICAL: (linear, counting, tree_sums),
}
"""By what a head is, the first one that serves its posterior is taken; if it is convex, `sandwich`
where mean and std span a plane."""


@dataclass(frozen=True, eq=False)
class Ways:
    """The ways that a head has; each is found when it is first asked for, and then kept.

    Parameters
    ----------
    problem : HeadProblem
    """

    problem: HeadProblem

    @cached_property
    def sequence(self) -> Sequenced | None:
        """The way through linear problems, if there is one."""
        shape = self.problem.head.shape
        if shape is Shape.CONVEX:
            return sandwich.solve if self.problem.posterior.spans_plane else None
        ways = SEQUENCES.get(shape, ())
        return next((way.solve for way in ways if not way.why_not(self.problem)), None)

    @cached_property
    def boxed(self) -> Boxed:
        """The way through boxes."""
        return Boxed(self.problem)

    def why_not(self, method: str) -> str:
        """Return why a method cannot maximize the head, in a sentence; empty where it can."""
        problem = self.problem
        if method == "enumerate" and problem.posterior.forest is not None:
            return 'trees are not enumerated but searched by boxes; take "bab" or "auto".'
        if self.sequence is not None:
            return _why_not_listed(problem.domain) if method == "enumerate" else ""
        if method in ("mip", "enumerate"):
            return (
                f"no sequence of linear problems gives {problem.head.name} of this belief; "
                'take "bab" or "auto".'
            )
        return self.boxed.why_not


def _why_not_listed(domain: Domain) -> str:
    """Return why a domain cannot be enumerated, in a sentence; empty where it can."""
    lower, upper, feasible = domain.tighten(domain.lower, domain.upper)
    if not feasible:
        return ""
    try:
        make_plan(domain.restrict(lower, upper), EnumerateOptions().max_slices)
    except InputError as error:
        return str(error)
    return ""


def maximize_head(ways: Ways, options: SequenceOptions, monitor: Monitor) -> SearchResult:
    """Maximize a head over a domain, and prove it.

    Parameters
    ----------
    ways : Ways
        Of the problem.
    options : SequenceOptions
        With a method of `METHODS`.
    monitor : Monitor
        Of the problem.
    """
    reason = ways.why_not(options.method)
    if reason:
        raise UnsupportedError(f"{options.method!r} must have a proof for this head; {reason}")
    return _Turns(ways, options, monitor).run()


class _Turns:
    """The ways in their order, and what they have proven together."""

    def __init__(self, ways: Ways, options: SequenceOptions, monitor: Monitor) -> None:
        self.ways, self.options, self.monitor = ways, options, monitor
        self.problem, self.sequence = ways.problem, ways.sequence
        self.search: boxes.Search | None = None
        self.counters: Counter[str] = Counter()
        self.messages: list[str] = []
        self.proven_by: SearchResult | None = None
        self.steps: tuple[Step, ...] = ()
        self.empty: SearchResult | None = None
        self.gave_up = False  # the sequence

    def run(self) -> SearchResult:
        for turn in self._plan():
            turn()
            if self.empty is not None:
                return answer(self.problem, self.empty, self.steps)
            if self.monitor.closed() or self.monitor.is_hurried():
                break
        if not math.isfinite(self.monitor.bound):
            self._relax_once()
        return self._answer()

    def _plan(self) -> list[Callable[[], None]]:
        domain = self.problem.domain
        free = int((domain.upper > domain.lower).sum())
        if self.sequence is None:
            return [self._all_boxes]
        only = self.options.method in ("mip", "enumerate") or self.sequence is linear.solve
        if only or self.ways.boxed.why_not:
            return [self._whole_sequence]
        first = partial(self._advance, BOXES_FIRST if free <= FEW_INPUTS else BOXES_SHORT)
        return [first, self._part_of_sequence, self._all_boxes]

    # -- turns ------------------------------------------------------------------------

    def _all_boxes(self) -> None:
        self._advance(BoxOptions().max_boxes)

    def _advance(self, count: int) -> None:
        if self.search is None:
            options = BoxOptions(seed=self.options.seed)
            self.search = boxes.search_of(self.ways.boxed, options, self.monitor)
        if not self.search.is_useful:
            return
        result = self.search.advance(count)
        self.counters.update(result.work)
        if result.status == "infeasible":
            self.empty = result
        elif result.kind != "none" and result.bound < self.monitor.bound:
            self.monitor.tighten(result.bound, result.kind, result.proof)
            self.proven_by = None

    def _whole_sequence(self) -> None:
        self._solve_sequence()

    def _part_of_sequence(self) -> None:
        with self.monitor.shortened(SEQUENCE_SHARE):
            self._solve_sequence()

    def _solve_sequence(self) -> None:
        assert self.sequence is not None
        before = self.monitor.bound
        with self.monitor.judged_by(None):
            result = self.sequence(self.problem, self.options, self.monitor)
        course = self.monitor.judged
        self.gave_up |= course is not None and course.is_hopeless
        self.steps = result.steps
        self.counters.update(result.work)
        if result.message:
            self.messages.append(result.message)
        if result.status == "infeasible":
            self.empty = self.monitor.result(
                result.proof, -math.inf, result.kind, counters=self.counters
            )
        elif self.monitor.bound < before:
            self.proven_by = result

    def _relax_once(self) -> None:
        """Bound the whole box once, whatever the clock says, where nobody proved anything."""
        if self.ways.boxed.why_not:
            return
        if self.monitor.best_x is None:
            boxes.climb_of(self.problem, self.monitor, self.options.seed)
        bound = boxes.bound_of_domain(self.ways.boxed, self.monitor)
        self.counters["boxes"] += 1
        self.monitor.tighten(max(bound, self.monitor.best_value), "rigorous", Proof(BOXES))

    # -- answer -----------------------------------------------------------------------

    def _answer(self) -> SearchResult:
        monitor = self.monitor
        closed = monitor.closed()
        stopped = monitor.is_hurried() or any(step.time_limited for step in self.steps)
        if monitor.interrupted:
            self.messages.append(INTERRUPTED)
        else:
            unfinished = HOPELESS if monitor.is_hopeless or self.gave_up else EXHAUSTED
            hurried = FULL if monitor.is_full else HURRIED
            self.messages.append(hurried if stopped else unfinished)
        proof = self.proven_by.proof if self.proven_by else monitor.bound_proof
        kind = monitor.bound_kind if math.isfinite(monitor.bound) else "none"
        result = monitor.result(
            proof or Proof(BOXES),
            monitor.bound,
            kind,
            counters=self.counters,
            stopped=stopped and not closed,
            message="" if closed else " ".join(dict.fromkeys(self.messages)),
        )
        return answer(self.problem, result, self.proven_by.steps if self.proven_by else ())
