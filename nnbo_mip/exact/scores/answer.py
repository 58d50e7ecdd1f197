"""What a search for the maximum of a head answers, and the linear problems it rests on."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from nnbo_mip.core.terms import Kind
from nnbo_mip.exact.scores.problem import HeadProblem
from nnbo_mip.exact.search.monitor import Monitor
from nnbo_mip.exact.search.result import Proof, SearchResult, Step

SMALLEST_SCORE = 1e-12
"""Scores of EI and PI below it are answered as their logarithms."""


def answer(problem: HeadProblem, result: SearchResult, steps: Sequence[Step] = ()) -> SearchResult:
    """Turn an engine's answer about what is searched into one about the head.

    Parameters
    ----------
    problem : HeadProblem
    result : SearchResult
        In the values that `problem` compares: logarithms for EI and PI.
    steps : sequence of Step
    """
    named = replace(result, score=problem.head.name, steps=tuple(steps))
    if result.x is None or problem.searched == problem.head:
        return named
    score = problem.score(result.x)
    if score < SMALLEST_SCORE:
        return replace(named, score=problem.searched.name)
    return replace(named, value=score, bound=max(problem.score_above(result.bound), score))


def assemble(
    way: str, problem: HeadProblem, monitor: Monitor, steps: Sequence[Step], message: str = ""
) -> SearchResult:
    """Answer a sequence of linear problems with the best value and bound the monitor has.

    Parameters
    ----------
    way : str
        What was made of the linear problems.
    problem : HeadProblem
    monitor : Monitor
        Of `problem`; its bound is the one that the steps have proven.
    steps : sequence of Step
    message : str
        A sentence for the user.
    """
    counters = Counter({"linear_problems": len(steps)})
    for step in steps:
        counters.update(step.found.work)
    empty = next((step for step in steps if step.is_empty), None)
    bound, kind = monitor.bound, monitor.bound_kind
    if empty is not None and monitor.best_x is None:
        bound, kind = -math.inf, empty.kind
    proofs = dict.fromkeys(step.proof for step in steps if step.kind != "none")
    notes = dict.fromkeys(note for note in (message, *(s.message for s in steps)) if note)
    result = monitor.result(
        Proof(way, problems=tuple(proofs)),
        bound,
        kind,
        counters=counters,
        stopped=(monitor.should_stop() and not monitor.closed())
        or any(step.time_limited for step in steps),
        message=" ".join(notes),
    )
    return answer(problem, result, steps)


def joint_kind(steps: Sequence[Step]) -> Kind:
    """Return how what follows from all of these steps together is proven."""
    kinds = {step.kind for step in steps}
    if "none" in kinds:
        return "none"
    return "solver" if "solver" in kinds else "rigorous"
