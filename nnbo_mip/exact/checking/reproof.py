"""Proves or disproves a bound again, by whatever did not make it.

First an attack: a point that scores above the bound, in real arithmetic, ends the matter.
Then provers take turns, the most promising first: the two searches that were written for
checking, over boxes (`recheck`) where there are few inputs and over ReLU phases
(`recheck_phases`) where there are many; then engines other than the claimant.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Literal, TypeAlias

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.control import ProgressCallback
from nnbo_mip.core.errors import NnboError
from nnbo_mip.exact.checking.attack import high_points
from nnbo_mip.exact.checking.dyadic import ExactNetwork
from nnbo_mip.exact.checking.recheck import recheck
from nnbo_mip.exact.checking.recheck_bounds import BoxBounder
from nnbo_mip.exact.checking.recheck_phases import MOST_RELUS, recheck_phases
from nnbo_mip.exact.checking.sweep import Recheck, Watch
from nnbo_mip.exact.search.monitor import Monitor
from nnbo_mip.exact.search.problem import Problem
from nnbo_mip.exact.search.result import Proof, SearchResult

Outcome: TypeAlias = tuple[Literal["confirmed", "refuted", "undecided"], str]

FEW_INPUTS = 6
"""Free coordinates up to which boxes go first."""

FIRST_SHARE = 0.6
"""Share of the time left that a prover may take while others are waiting."""

POINTS_DECIDED = 4
"""Best points of the attack that are compared with the bound in exact arithmetic."""


@dataclass(frozen=True, eq=False)
class Claim:
    """``f(x) <= level`` on the domain of a maximization problem.

    Parameters
    ----------
    problem : Problem
    level : float
        ``-inf`` claims that there is no admissible point.
    sign : float
        -1 where the user minimizes, for what is said to the user.
    rigorous : bool
        Whether a proof up to the tolerances of a solver is too little.
    """

    problem: Problem
    level: float
    sign: float
    rigorous: bool

    @property
    def sentence(self) -> str:
        """The claim in words."""
        if self.level == -math.inf:
            return "no admissible point exists"
        beyond = "above" if self.sign > 0.0 else "below"
        return f"no admissible point scores {beyond} {self.sign * self.level!r}"

    def refuted_by(self, x: FloatArray) -> Outcome:
        """Refute the claim with an admissible point."""
        if self.level == -math.inf:
            return "refuted", f"{x.tolist()} is admissible."
        value = self.sign * self.problem.value(x)
        bound = self.sign * self.level
        return "refuted", f"{x.tolist()} is admissible and scores {value!r}, beyond {bound!r}."


Prover: TypeAlias = Callable[[float], "Outcome"]
"""Takes wall seconds; ``undecided`` when that was too short or it has no more to say."""


def reprove(
    problem: Problem,
    level: float,
    sign: float,
    x: FloatArray | None,
    claimant: Proof,
    deadline: float,
    seed: int,
    callback: ProgressCallback | None = None,
    rigorous: bool = False,
) -> Outcome:
    """Decide whether f <= level on the domain.

    Parameters
    ----------
    problem : Problem
    level, sign : float
        See `Claim`, as for `rigorous`.
    x : (d,) array or None
        The best point the claimant knew.
    claimant : Proof
        Engine and solver that made the claim, which will not be asked.
    deadline : float
        A time of `time.perf_counter`.
    seed : int
    callback : callable, optional
        Receives a `Progress` a few times a second; its bound is the one that is claimed.
    rigorous : bool
    """
    claim = Claim(problem, level, sign, rigorous)
    known = np.empty((0, problem.dimension)) if x is None else x[None, :]
    points = high_points(problem, known, seed)
    counterexample = _counterexample(claim, points)
    if counterexample is not None:
        return claim.refuted_by(counterexample)
    starts = points[:1]
    reasons: list[str] = []
    provers = list(_provers(claim, starts, claimant, seed, callback))
    for position, prover in enumerate(provers):
        remaining = deadline - time.perf_counter()
        if remaining <= 0.0 and reasons:
            break
        waiting = position < len(provers) - 1
        verdict, reason = prover(max(0.0, remaining) * (FIRST_SHARE if waiting else 1.0))
        if verdict != "undecided":
            return verdict, reason
        reasons.append(reason)
    return "undecided", f"{claim.sentence}: neither proven nor disproven; {'; '.join(reasons)}."


def _counterexample(claim: Claim, points: FloatArray) -> FloatArray | None:
    """Return the admissible point (of n, d) that disproves the claim in real arithmetic."""
    problem, domain = claim.problem, claim.problem.domain
    if claim.level == -math.inf:
        return points[0] if len(points) else None
    error = BoxBounder(problem.network, domain.lower, domain.upper).output_error
    exact: ExactNetwork | None = None
    for x in points[:POINTS_DECIDED]:
        value = problem.value(x)
        if value - error > claim.level:
            return np.asarray(x)
        if value + error > claim.level:
            exact = exact or ExactNetwork(problem.network)
            if exact.value(x).exceeds(claim.level):
                return np.asarray(x)
    return None


def _provers(
    claim: Claim,
    starts: FloatArray,
    claimant: Proof,
    seed: int,
    callback: ProgressCallback | None,
) -> Iterator[Prover]:
    """Yield who may prove the claim, in the order in which they are asked."""
    domain = claim.problem.domain
    few = int((domain.upper > domain.lower).sum()) <= FEW_INPUTS
    by_search = partial(_by_search, claim, starts, callback)
    by_engine = partial(_by_engine, claim, starts, callback)
    by_boxes = partial(by_search, "boxes", recheck)
    if few or claim.level == -math.inf:
        yield by_boxes
    if claim.level != -math.inf and claim.problem.network.n_relus <= MOST_RELUS:
        yield partial(by_search, "ReLU phases", recheck_phases)
    if all(one.way != "phases" for one in claimant.engines):
        yield partial(by_engine, 1.0 - 1e-9, "phases", partial(_phases, seed))
    yield partial(by_engine, 0.5, *_other_solver(claimant, seed))
    if not few and claim.level != -math.inf:
        yield by_boxes


Search: TypeAlias = Callable[[Problem, float, float, Watch], Recheck]


def _by_search(
    claim: Claim,
    starts: FloatArray,
    callback: ProgressCallback | None,
    name: str,
    search: Search,
    seconds: float,
) -> Outcome:
    monitor = Monitor(claim.problem, 0.0, seconds, callback)
    monitor.offer(starts)

    def watch(count: int, share: float) -> None:
        monitor.report(name, claim.level, percent_settled=int(100.0 * share), looked_at=count)

    answer = search(claim.problem, claim.level, seconds, watch)
    if answer.verdict == "proved":
        return "confirmed", (
            f"{claim.sentence}: proven again, rigorously, with {answer.count:,} {name}."
        )
    if answer.verdict == "counterexample" and answer.x is not None:
        return claim.refuted_by(answer.x)
    if answer.verdict == "stuck" and answer.x is not None:
        return "undecided", f"{name} cannot tell the bound from the score at {answer.x.tolist()}"
    return "undecided", f"{name} had settled {answer.share:.0%} of the space when time was up"


Engine: TypeAlias = Callable[[Problem, Monitor], SearchResult]


def _by_engine(
    claim: Claim,
    starts: FloatArray,
    callback: ProgressCallback | None,
    share: float,
    name: str,
    engine: Engine,
    seconds: float,
) -> Outcome:
    """Let an engine run until it has closed a share of the gap between point and level.

    What is left of the gap is for the tolerances that the engine adds to its bound.
    """
    problem, level = claim.problem, claim.level
    monitor = Monitor(problem, 0.0, seconds, callback)
    monitor.offer(starts)
    if math.isfinite(monitor.best_value) and math.isfinite(level):
        reach = (level - monitor.best_value) / max(1.0, abs(monitor.best_value))
        monitor.gap = share * max(0.0, reach)
    try:
        result = engine(problem, monitor)
    except NnboError as error:
        return "undecided", f"{name} could not be asked ({error})"
    if result.kind == "none":
        return "undecided", f"{name} proved nothing"
    if result.bound <= level:
        if result.kind == "rigorous":
            who = f"by the code of an engine ({name})"
            return "confirmed", f"{claim.sentence}: proven again, rigorously, {who}."
        tolerance = "up to its tolerances, which it counted"
        if claim.rigorous:
            return "undecided", f"{name} proved it {tolerance}, but the claim is a rigorous one"
        who = f"by the code of an engine (mip, {name})"
        return "confirmed", f"{claim.sentence}: proven again {who}, {tolerance}."
    beyond = "above" if claim.sign > 0.0 else "below"
    return (
        "undecided",
        f"{name} proved only that none scores {beyond} {claim.sign * result.bound!r}",
    )


def _phases(seed: int, problem: Problem, monitor: Monitor) -> SearchResult:
    from nnbo_mip.exact.branching import phases

    return phases.solve(problem, phases.PhaseOptions(seed=seed), monitor)


def _other_solver(claimant: Proof, seed: int) -> tuple[str, Engine]:
    """Return a prover that the claimant did not use; one without presolve if there is none."""
    from nnbo_mip.exact.backends.base import DEFAULT
    from nnbo_mip.exact.backends.catalogue import get_backend, second_opinions

    used = [one.solver for one in claimant.engines if one.solver]
    other = next(second_opinions(used), None)
    if other is not None:
        choice = MipChoice(other.name, other.formulation, True)
        return other.name, partial(_mip, choice, seed)
    choice = MipChoice(DEFAULT, get_backend(DEFAULT).formulation, False)
    return f"{DEFAULT} without presolve", partial(_mip, choice, seed)


@dataclass(frozen=True)
class MipChoice:
    """A solver, the formulation that suits it, and whether it may presolve."""

    solver: str
    formulation: str
    presolve: bool


def _mip(choice: MipChoice, seed: int, problem: Problem, monitor: Monitor) -> SearchResult:
    from nnbo_mip.exact.mip import mip

    options = mip.MipOptions(
        solver=choice.solver,
        formulation=choice.formulation,
        seed=seed,
        presolve=choice.presolve,
    )
    return mip.solve(problem, options, monitor)
