"""The engine that chooses engines.

Measured on trained networks: up to seven inputs boxes close any width that was tried
(ensembles of 160 ReLUs, 256 random features) where ReLU phases cannot; from ten inputs on
phases close networks of up to some 130 ReLUs where boxes cannot; with few undecided ReLUs
phases are as fast anywhere. In between neither rule is safe, and what nobody closes in the
time there is should still end with the better bound of the two. So the engines take turns
with growing budgets of work, and share the incumbent and the best bound. The box search goes
on where its last turn ended; a turn of the phase search starts anew, so that its budgets
grow fast. One free coordinate, or a small finite domain, is enumerated.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import chain

from nnbo_mip.exact import enumeration
from nnbo_mip.exact.bounds.program import seconds_per_node
from nnbo_mip.exact.branching import boxes, phases
from nnbo_mip.exact.mip import mip
from nnbo_mip.exact.search.course import Course
from nnbo_mip.exact.search.monitor import Monitor
from nnbo_mip.exact.search.options import EngineOptions
from nnbo_mip.exact.search.primal import climb
from nnbo_mip.exact.search.problem import Problem
from nnbo_mip.exact.search.result import Proof, SearchResult

ENGINE = "auto"

FEW_INPUTS = 6
"""Free coordinates up to which boxes get most of the work."""

MANY_INPUTS = 9
"""Free coordinates beyond which phases do, unless there are many ReLUs."""

FEW_RELUS = 40
"""ReLUs up to which phases go first whatever the number of inputs."""

MANY_RELUS = 130
"""ReLUs beyond which phases have seldom closed what boxes do not."""

BOXES_BEFORE_PROGRAM = 2_700_000
"""Boxes before a network that the phase engine does not take is tried as a program."""

CHEAP_ENUMERATION = 2e10
"""Estimated floating-point operations up to which an exact enumeration goes first."""

MOST_RELUS_FOR_PHASES = 700
"""ReLUs up to which the dense dictionary of the phase engine is worth having."""


@dataclass(frozen=True, eq=False)
class Turn:
    """One engine with a budget of work.

    Parameters
    ----------
    engine : str
    run : callable
        Solves the problem within the budget. Returns what was found, and how much of the budget
        was spent: an engine that ends below 1 has searched everything, and would say the same
        again.
    starts_anew : bool
        Whether nothing is left of earlier turns.
    """

    engine: str
    run: Callable[[], tuple[SearchResult, float]]
    starts_anew: bool = False


def solve(problem: Problem, options: EngineOptions, monitor: Monitor) -> SearchResult:
    """Maximize f over the domain with whatever closes the gap."""
    first = [_enumeration_turn(problem, monitor)] if _is_cheap_to_enumerate(problem) else []
    by_program = _mip_turn(problem, options, monitor)
    rounds = chain(
        [first],
        _before_branching(problem, monitor, by_program),
        _rounds(problem, options, monitor, by_program),
    )
    return _take(rounds, problem, options, monitor)


def solve_bab(problem: Problem, options: EngineOptions, monitor: Monitor) -> SearchResult:
    """Maximize by branch and bound, over boxes and over phases in turns."""
    return _take(_rounds(problem, options, monitor), problem, options, monitor)


def _is_cheap_to_enumerate(problem: Problem) -> bool:
    domain = problem.domain
    if domain.is_box and _free(problem) > enumeration.MAX_FREE:
        return False
    return enumeration.estimate_cost(problem) <= CHEAP_ENUMERATION


def _free(problem: Problem) -> int:
    """Return how many coordinates move."""
    return int((problem.domain.upper > problem.domain.lower).sum())


def _enumeration_turn(problem: Problem, monitor: Monitor) -> Turn:
    def run() -> tuple[SearchResult, float]:
        return enumeration.solve(problem, enumeration.EnumerateOptions(), monitor), 0.0

    return Turn(enumeration.ENGINE, run)


def _mip_turn(problem: Problem, options: EngineOptions, monitor: Monitor) -> Turn:
    def run() -> tuple[SearchResult, float]:
        chosen = mip.MipOptions(solver=options.solver, seed=options.seed)
        return mip.solve(problem, chosen, monitor), 0.0

    return Turn(mip.ENGINE, run)


def _before_branching(problem: Problem, monitor: Monitor, by_program: Turn) -> Iterator[list[Turn]]:
    """Yield the program where branch and bound cannot close the gap, however long it runs.

    That is so where the rounding constants of the root box alone are wider than the gap;
    the error terms of the program follow the ReLUs that are undecided.
    """
    hopeless = monitor.best_value + 2.0 * problem.rounding.output > monitor.cutoff
    small = problem.network.n_relus <= MOST_RELUS_FOR_PHASES
    if hopeless and small and monitor.best_x is not None:
        yield [by_program]


def _rounds(
    problem: Problem, options: EngineOptions, monitor: Monitor, by_program: Turn | None = None
) -> Iterator[list[Turn]]:
    """Yield rounds of turns, the likelier engine first, with growing budgets."""
    free = _free(problem)
    n_relus = problem.network.n_relus
    use_phases = phases.supports(problem) and n_relus <= MOST_RELUS_FOR_PHASES
    box_turns = _BoxTurns(problem, options, monitor)
    boxes_first = free <= MANY_INPUTS and n_relus > (
        FEW_RELUS if free <= FEW_INPUTS else MANY_RELUS
    )
    if not use_phases:
        yield [box_turns.turn(count=BOXES_BEFORE_PROGRAM)]
        if by_program is not None:
            yield [by_program]
    budgets = _seconds_for_phases_and_boxes(free, n_relus)
    for number, (phase_seconds, box_seconds) in enumerate(budgets):
        turns = [box_turns.turn(box_seconds)]
        if use_phases:
            by_phases = _phase_turn(problem, options, monitor, phase_seconds, short=number == 0)
            turns = [*turns, by_phases] if boxes_first else [by_phases, *turns]
        yield turns
        # Boxes do not lose what they have done, and close more of what is left.
        boxes_first |= free <= MANY_INPUTS


def _seconds_for_phases_and_boxes(free: int, n_relus: int) -> Iterator[tuple[float, float]]:
    """Yield the work of each round, in what would be seconds if the rough times were right."""
    if free <= FEW_INPUTS:
        phase_seconds, box_seconds, growth = 1.0, 4.0, 4.0
    elif free <= MANY_INPUTS:
        yield 1.0, 3.0
        phase_seconds, box_seconds, growth = 4.0, 8.0, 4.0
    elif n_relus > MANY_RELUS:
        yield 1.0, 3.0
        phase_seconds, box_seconds, growth = 4.0, 4.0, 4.0
    else:
        # A short look by both, then time for a search that closes without starting again.
        yield 0.5, 1.5
        phase_seconds, box_seconds, growth = 16.0, 8.0, 8.0
    while True:
        yield phase_seconds, box_seconds
        phase_seconds, box_seconds = growth * phase_seconds, growth * box_seconds


def _phase_turn(
    problem: Problem, options: EngineOptions, monitor: Monitor, seconds: float, short: bool
) -> Turn:
    """Return a search over phases from its beginning; a short one hardly sees dual ascent."""

    def run() -> tuple[SearchResult, float]:
        ascends = problem.domain.without_exclusions.is_box and not short
        nodes = max(1, int(seconds / seconds_per_node(problem, ascends)))
        phase_options = phases.PhaseOptions(max_nodes=nodes, seed=options.seed)
        result = phases.solve(problem, phase_options, monitor)
        return result, result.counters.get("nodes", 0) / nodes

    return Turn(phases.ENGINE, run, starts_anew=True)


class _BoxTurns:
    """Turns of one search over boxes, which is begun when the first of them is taken."""

    def __init__(self, problem: Problem, options: EngineOptions, monitor: Monitor) -> None:
        self._problem, self._monitor = problem, monitor
        self._seed = options.seed
        self._search: boxes.BoxSearch | None = None

    def turn(self, seconds: float = 0.0, count: int = 0) -> Turn:
        """Return a turn of so much work, or so many boxes, that goes on with the search."""
        return Turn(boxes.ENGINE, partial(self._advance, seconds, count))

    def _advance(self, seconds: float, count: int) -> tuple[SearchResult, float]:
        if self._search is None:
            options = boxes.BoxOptions(seed=self._seed)
            self._search = boxes.BoxSearch(self._problem, options, self._monitor)
        count = count or max(1, int(seconds / self._search.seconds_per_box))
        result = self._search.advance(count)
        return result, result.counters.get("boxes", 0) / count


def _take(
    rounds: Iterator[list[Turn]], problem: Problem, options: EngineOptions, monitor: Monitor
) -> SearchResult:
    """Take turns until the gap is closed or time is up; return the best of all of them."""
    if not problem.rounding.is_useful:
        return monitor.too_large(ENGINE)
    climb(problem, monitor, seed=options.seed)
    counters: Counter[str] = Counter()
    if monitor.exceeded:
        return _answer(monitor, counters)
    complete: set[str] = set()
    courses: dict[str, Course | None] = {}
    for turns in rounds:
        left = [turn for turn in turns if turn.engine not in complete]
        if turns and not left:
            break  # all have searched everything, what is open is rounding; or gave up
        for turn in left:
            result = None
            course = None if turn.starts_anew else courses.get(turn.engine)
            with monitor.judged_by(course), monitor.within_limits():
                result, spent = turn.run()
            course = courses[turn.engine] = monitor.judged
            if result is None:  # the engine would need more than there is
                complete.add(turn.engine)
                if monitor.is_hurried():
                    return _answer(monitor, counters)
                continue
            counters.update(result.work)
            if result.status == "infeasible":
                return result
            if result.kind != "none":
                monitor.tighten(result.bound, result.kind, result.proof)
            if spent < 1.0 and not result.time_limited:
                complete.add(turn.engine)
            if course is not None and course.is_hopeless:
                # A solver counts no work, so that nobody could say when to give it up.
                complete |= {turn.engine, mip.ENGINE}
            if monitor.closed() or monitor.is_hurried():
                return _answer(monitor, counters)
    if any(course is not None and course.is_hopeless for course in courses.values()):
        monitor.give_up()
    return _answer(monitor, counters)


def _answer(monitor: Monitor, counters: Counter[str]) -> SearchResult:
    return monitor.result(
        monitor.bound_proof or Proof(ENGINE),
        monitor.bound,
        monitor.bound_kind,
        counters=counters,
        stopped=monitor.is_hurried() and not monitor.closed(),
    )
