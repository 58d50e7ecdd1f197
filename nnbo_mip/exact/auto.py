"""The engine that chooses engines.

Measured on the fixture nets: up to five inputs boxes close any width that was tried
(ensembles of 160 ReLUs, 256 random features) where ReLU phases cannot; from ten inputs on
it is the other way round; with few undecided ReLUs phases are as fast anywhere. In
between neither rule is safe, so the engines take turns with growing budgets of work, and
share the incumbent and the best bound. One free coordinate, or a small finite domain, is
enumerated.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import chain

from nnbo_mip.exact import enumeration, mip
from nnbo_mip.exact.branching import boxes, phases
from nnbo_mip.exact.monitor import Monitor
from nnbo_mip.exact.primal import climb
from nnbo_mip.exact.problem import Problem
from nnbo_mip.exact.result import EngineResult

ENGINE = "auto"

FEW_INPUTS = 6
"""Free coordinates up to which boxes go first."""

MANY_INPUTS = 9
"""Free coordinates beyond which boxes close nothing that phases do not: no early turn."""

FEW_RELUS = 40
"""ReLUs up to which phases go first whatever the number of inputs."""

FIRST_BOXES = 300_000
FIRST_NODES = 50_000
GROWTH = 8
"""Budgets of the first turn, and what they are multiplied with from turn to turn."""

CHEAP_ENUMERATION = 2e10
"""Estimated floating-point operations up to which an exact enumeration goes first."""

MOST_RELUS_FOR_PHASES = 700
"""ReLUs up to which the dense dictionary of the phase engine is worth having."""


@dataclass(frozen=True)
class AutoOptions:
    """Options of the automatic choice.

    Parameters
    ----------
    solver : str
        MILP solver for problems that neither boxes nor phases close.
    seed : int
        Seed of the random starts of the primal side.
    """

    solver: str = "highs"
    seed: int = 0


@dataclass(frozen=True, eq=False)
class Turn:
    """One engine with a budget of work.

    Parameters
    ----------
    engine : str
    run : callable
        Solves the problem within the budget.
    counter, budget : str, float
        The counter that the budget limits, and the limit. An engine that ends below it has
        searched everything, and would say the same again.
    """

    engine: str
    run: Callable[[], EngineResult]
    counter: str = ""
    budget: float = math.inf

    def is_complete(self, result: EngineResult) -> bool:
        """Whether the engine ended by itself."""
        return not result.time_limited and result.counters.get(self.counter, 0) < self.budget


def solve(problem: Problem, options: AutoOptions, monitor: Monitor) -> EngineResult:
    """Maximize f over the domain with whatever closes the gap."""
    first: list[Turn] = []
    if enumeration.supports(problem) and enumeration.estimate_cost(problem) <= CHEAP_ENUMERATION:
        run = partial(enumeration.solve, problem, enumeration.EnumerateOptions(), monitor)
        first = [Turn(enumeration.ENGINE, run)]
    by_program = _mip_turn(problem, options, monitor)
    rounds = chain(
        [first],
        _before_branching(problem, monitor, by_program),
        _rounds(problem, options, monitor, by_program),
    )
    return _take(rounds, problem, options, monitor)


def solve_bab(problem: Problem, options: AutoOptions, monitor: Monitor) -> EngineResult:
    """Maximize by branch and bound, over boxes and over phases in turns."""
    return _take(_rounds(problem, options, monitor), problem, options, monitor)


def _mip_turn(problem: Problem, options: AutoOptions, monitor: Monitor) -> Turn:
    mip_options = mip.MipOptions(solver=options.solver, seed=options.seed)
    return Turn(mip.ENGINE, partial(mip.solve, problem, mip_options, monitor))


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
    problem: Problem, options: AutoOptions, monitor: Monitor, by_program: Turn | None = None
) -> Iterator[list[Turn]]:
    """Yield rounds of turns, the likelier engine first, with growing budgets."""
    free = int((problem.domain.upper > problem.domain.lower).sum())
    use_phases = phases.supports(problem) and problem.network.n_relus <= MOST_RELUS_FOR_PHASES
    factor = 1
    while True:
        box_options = boxes.BoxOptions(max_boxes=FIRST_BOXES * factor, seed=options.seed)
        run_boxes = partial(boxes.solve, problem, box_options, monitor)
        turns = [Turn(boxes.ENGINE, run_boxes, "boxes", box_options.max_boxes)]
        if use_phases:
            nodes = FIRST_NODES * factor * (GROWTH**2 if free > MANY_INPUTS else 1)
            phase_options = phases.PhaseOptions(max_nodes=nodes, seed=options.seed)
            run_phases = partial(phases.solve, problem, phase_options, monitor)
            by_phases = Turn(phases.ENGINE, run_phases, "nodes", phase_options.max_nodes)
            boxes_first = free <= FEW_INPUTS and problem.network.n_relus > FEW_RELUS
            turns = [*turns, by_phases] if boxes_first else [by_phases, *turns]
        if by_program is not None and not use_phases and factor == GROWTH:
            turns.append(by_program)
        yield turns
        factor *= GROWTH


def _take(
    rounds: Iterator[list[Turn]], problem: Problem, options: AutoOptions, monitor: Monitor
) -> EngineResult:
    """Take turns until the gap is closed or time is up; return the best of all of them."""
    if not problem.rounding.is_useful:
        return monitor.too_large(ENGINE)
    climb(problem, monitor, seed=options.seed)
    counters: Counter[str] = Counter()
    complete: set[str] = set()
    for turns in rounds:
        left = [turn for turn in turns if turn.engine not in complete]
        if turns and not left:
            break  # all have searched everything: what is open is rounding
        for turn in left:
            result = turn.run()
            counters.update({k: n for k, n in result.counters.items() if k != "evaluations"})
            if result.status == "infeasible":
                return result
            if result.kind != "none":
                monitor.tighten(result.bound, result.kind, result.engine)
            if turn.is_complete(result):
                complete.add(turn.engine)
            if monitor.closed() or monitor.should_stop():
                return _answer(monitor, counters)
    return _answer(monitor, counters)


def _answer(monitor: Monitor, counters: Counter[str]) -> EngineResult:
    return monitor.result(
        monitor.bound_engine or ENGINE,
        monitor.bound,
        monitor.bound_kind,
        counters=counters,
        stopped=monitor.should_stop() and not monitor.closed(),
    )
