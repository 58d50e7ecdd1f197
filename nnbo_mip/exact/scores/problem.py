"""`HeadProblem`: an objective over a domain, to be maximized with a proof, and its answers.

Engines compare the values of `HeadProblem.searched`; `answer` and `assemble` say what they found of
the head itself.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.errors import InputError, UnsupportedError
from nnbo_mip.core.terms import Kind, Measure
from nnbo_mip.exact.search.monitor import Monitor
from nnbo_mip.exact.search.problem import Problem
from nnbo_mip.exact.search.result import Proof, SearchResult, Step
from nnbo_mip.scores import logarithms
from nnbo_mip.scores.base.abstract import Head
from nnbo_mip.scores.objective import Objective
from nnbo_mip.scores.posteriors.compiled import Posterior
from nnbo_mip.scores.posteriors.joint import parts_of
from nnbo_mip.scores.storage import HEADS, POSTERIORS
from nnbo_mip.space.domain import Domain

H = TypeVar("H", bound=Head)
R = TypeVar("R")


@dataclass(frozen=True, eq=False)
class HeadProblem:
    """Maximize an objective over the admissible points of a domain.

    Parameters
    ----------
    objective : Objective
        A head on the posterior from which mean and std, or members, come.
    domain : Domain
        Box, grids, one-hot groups and rows, in the coordinates the network reads.

    Notes
    -----
    Searches compare `values`, which are those of `searched`: log EI for EI, log PI for PI, the
    head itself otherwise. `score` and `score_above` translate back.
    """

    objective: Objective
    domain: Domain

    def __post_init__(self) -> None:
        for part in (self.posterior, *parts_of(self.posterior)):
            _refuse_derived(part, POSTERIORS)
        _refuse_derived(self.head, HEADS)
        if self.posterior.n_inputs != self.domain.dimension:
            raise InputError(
                f"the posterior reads {self.posterior.n_inputs} inputs, so the space must have "
                f"as many numeric coordinates; got {self.domain.dimension}; check the space "
                "(a categorical counts one coordinate a level)."
            )

    @property
    def posterior(self) -> Posterior:
        """Where mean and std, or members, come from."""
        return self.objective.posterior

    @property
    def head(self) -> Head:
        """What is made of them."""
        return self.objective.head

    def parts(self, head: type[H], posterior: type[R]) -> tuple[H, R] | None:
        """Return head and posterior where they are of these classes; a way asks what it serves."""
        return self.objective.parts(head, posterior)

    @property
    def dimension(self) -> int:
        """d, the number of inputs."""
        return self.domain.dimension

    @cached_property
    def sought(self) -> Objective:
        """The objective whose values a search compares."""
        return replace(self.objective, head=self.head.searched)

    @property
    def searched(self) -> Head:
        """The head of `sought`."""
        return self.sought.head

    @property
    def measure(self) -> Measure:
        """When a gap between value and bound counts as closed."""
        return self.searched.measure

    def values(self, points: npt.ArrayLike) -> FloatArray:
        """Values (n,) of what is searched at points (n, d)."""
        values = self.sought.score(points)
        if self.measure is Measure.LOGARITHM:
            return np.maximum(values, logarithms.LEAST_LOG)
        return values

    def value(self, point: npt.ArrayLike) -> float:
        """Value of what is searched at one point, evaluated alone."""
        return float(self.values(np.asarray(point)[None, :])[0])

    def values_and_gradients(self, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Values (n,) and gradients (n, d) of what is searched at points (n, d)."""
        return self.values(points), self.sought.gradient(points)

    def linearized(self, point: FloatArray) -> Problem:
        """Return the problem of a network that has the same slopes at a point."""
        return Problem(self.sought.tangent(point), self.domain)

    def score(self, point: npt.ArrayLike) -> float:
        """Score of the head itself at one point, evaluated alone."""
        return float(self.objective.score(np.asarray(point)[None, :])[0])

    def score_above(self, bound: float) -> float:
        """Turn a proven bound on all values into one on all scores of the head."""
        if self.searched == self.head:
            return bound
        return min(logarithms.exponential_above(bound), self.head.largest_score)


def _refuse_derived(given: object, known: Mapping[str, type[Any]]) -> None:
    """Refuse what is derived from a known class: bounds are of that, not of what was overridden."""
    kinds = tuple(known.values())
    if isinstance(given, kinds) and type(given) not in kinds:
        base = next(kind for kind in kinds if isinstance(given, kind)).__name__
        raise UnsupportedError(
            f"what is proven must be about a {base} itself; got a {type(given).__name__}, which is "
            f"derived from it and may compute something else; use the {base}."
        )


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
        stopped=(monitor.is_hurried() and not monitor.closed())
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
