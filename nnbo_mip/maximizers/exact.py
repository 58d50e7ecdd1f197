"""The maximizers that prove: auto, mip, bab, enumerate.

With four free coordinates or more they begin at the best point that ascents from many starts find:
branch and bound over many inputs spends its time on bounds, with 20 or more it rarely closes, and
what it returns is then as good as the points that it happened to look at.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from nnbo_mip.core.budget import as_memory_limit, seconds_left
from nnbo_mip.core.checks import check_choice, check_count, check_number
from nnbo_mip.core.control import interruptible
from nnbo_mip.core.errors import UncertifiedWarning
from nnbo_mip.exact.backends.base import DEFAULT
from nnbo_mip.exact.backends.catalogue import check_solver
from nnbo_mip.exact.formulation import FORMULATIONS
from nnbo_mip.exact.heads.certification import certificate_of
from nnbo_mip.exact.heads.maximize_head import maximize_head
from nnbo_mip.exact.heads.sequence import SequenceOptions
from nnbo_mip.exact.search.monitor import Monitor
from nnbo_mip.exact.spherical.search import closes_at_once
from nnbo_mip.maximizers.base.abstract import Abilities, Maximizer, Proposal, Request
from nnbo_mip.maximizers.base.target import Target
from nnbo_mip.maximizers.heuristics.lbfgs import Lbfgs
from nnbo_mip.surrogates.base.abstract import Capability

MOST_PROBLEMS = 60
"""Linear problems of one sequence."""

FEWEST_INPUTS = 4
"""Free coordinates from which ascents come first; with fewer, boxes find the best point as fast."""

ASCENTS = Lbfgs(raw_samples=256, starts=8)

SHARE = 0.5
"""Of the time that ascents may take."""


@dataclass(frozen=True)
class Prover(Maximizer):
    """What these maximizers share."""

    time_limit: float = math.inf
    most_problems: int = MOST_PROBLEMS
    memory_limit: float = math.inf

    def __post_init__(self) -> None:
        """Refuse options that are none."""
        check_time_limit(self.time_limit)
        as_memory_limit(self.memory_limit)
        check_count("most_problems", self.most_problems)

    def why_not(self, target: Target) -> str:
        """Return why nothing can be proven of a target; empty where something can."""
        reason = super().why_not(target) or target.why_no_objective
        return reason or target.ways.why_not(self.name)

    def _maximize(self, target: Target, request: Request) -> Proposal:
        return prove(target, self._options(request.seed), self, request, math.inf)

    def _options(self, seed: int) -> SequenceOptions:
        return SequenceOptions(self.name, seed=seed, most_problems=self.most_problems)


@dataclass(frozen=True)
class Bab(Prover):
    """Branch and bound, over input boxes and over the phases of ReLUs.

    Parameters
    ----------
    time_limit : float
        Wall seconds, where those of the request are more.
    most_problems : int
        Linear problems of one sequence.
    memory_limit : float
        GiB that a search may take, instead of the caller's limit.
    patience : float
        Work that closing the gap may be foreseen to need, in seconds of a nominal machine; no clock
        is read. Where the course of the gap foresees more, the search ends early
        (`exact.search.course`). Infinity never gives up.
    """

    name: ClassVar[str] = "bab"
    abilities: ClassVar[Abilities] = Abilities(proves=True)

    patience: float = math.inf

    def __post_init__(self) -> None:
        """Refuse options that are none."""
        super().__post_init__()
        if self.patience != math.inf:
            check_number("patience", self.patience, above=0.0)

    def _maximize(self, target: Target, request: Request) -> Proposal:
        return prove(target, self._options(request.seed), self, request, self.patience)


@dataclass(frozen=True)
class Mip(Prover):
    """Mixed-integer programs, one or a sequence of them, by a solver.

    Parameters
    ----------
    solver : str
        A name that ``nnbo-mip list backends`` shows, or ``"pyomo:<name>"``.
    formulation : {"bigm", "sos1", "partition", "naive"}
        ``naive`` is there for comparison and never proves.
    time_limit : float
        Wall seconds, where those of the request are more.
    most_problems : int
        Linear problems of one sequence.
    memory_limit : float
        GiB that a search may take, instead of the caller's limit.
    """

    name: ClassVar[str] = "mip"
    abilities: ClassVar[Abilities] = Abilities(proves=True, needs_network=True, trees=True)

    solver: str = "highs"
    formulation: str = "bigm"

    def __post_init__(self) -> None:
        """Refuse options that are none."""
        super().__post_init__()
        check_choice("formulation", self.formulation, tuple(FORMULATIONS))
        check_solver(self.solver)

    def _options(self, seed: int) -> SequenceOptions:
        options = super()._options(seed)
        return replace(options, solver=self.solver, formulation=self.formulation)


@dataclass(frozen=True)
class Enumerate(Prover):
    """Exact enumeration: of all pieces in one or two dimensions, or of a small finite domain.

    Parameters
    ----------
    time_limit : float
        Wall seconds, where those of the request are more.
    most_problems : int
        Linear problems of one sequence.
    memory_limit : float
        GiB that a search may take, instead of the caller's limit.
    """

    name: ClassVar[str] = "enumerate"
    abilities: ClassVar[Abilities] = Abilities(proves=True, needs_network=True)


@dataclass(frozen=True)
class Auto(Bab):
    """What is measured to be fastest, and others where it stalls.

    A belief without proven bounds is maximized by gradients instead, or by points that it draws
    itself, with a warning.

    Parameters
    ----------
    solver : str
        For problems that branch and bound does not close.
    time_limit : float
        Wall seconds, where those of the request are more.
    most_problems : int
        Linear problems of one sequence.
    memory_limit : float
        GiB that a search may take, instead of the caller's limit.
    patience : float
        As that of `Bab`.
    """

    name: ClassVar[str] = "auto"
    abilities: ClassVar[Abilities] = Abilities(proves=True, any_belief=True)

    solver: str = "highs"

    def __post_init__(self) -> None:
        """Refuse options that are none."""
        super().__post_init__()
        if self.solver != DEFAULT:  # which may be missing where no program needs it
            check_solver(self.solver)

    def why_not(self, target: Target) -> str:
        """Return an empty text: what cannot be proven is maximized without a proof."""
        return Maximizer.why_not(self, target)

    def _maximize(self, target: Target, request: Request) -> Proposal:
        reason = super().why_not(target)
        if not reason:
            return super()._maximize(target, request)
        from nnbo_mip.maximizers.base.catalogue import registry

        fallback = registry.create(_without_proof(target))
        warnings.warn(f"nothing is proven: {reason}", UncertifiedWarning, stacklevel=4)
        seconds = min(request.time_limit, self.time_limit, seconds_left())
        limited = replace(request, time_limit=seconds)
        proposal = fallback.maximize(target, limited)
        return replace(proposal, found=replace(proposal.found, message=reason))

    def _options(self, seed: int) -> SequenceOptions:
        return replace(super()._options(seed), solver=self.solver)


def _without_proof(target: Target) -> str:
    """Return the maximizer that serves where nothing can be proven."""
    if Capability.CANDIDATES in target.scorer.belief.capabilities:
        return "candidates"
    return "lbfgs" if target.has_gradient else "random"


def check_time_limit(seconds: object) -> float:
    """Refuse a limit that is not positive; infinity means none."""
    if seconds == math.inf:
        return math.inf
    return check_number("time_limit", seconds, above=0.0)


def prove(
    target: Target,
    options: SequenceOptions,
    maximizer: Prover,
    request: Request,
    patience: float,
) -> Proposal:
    """Maximize the objective of a target and write the certificate."""
    problem = target.problem
    limit = min(maximizer.time_limit, request.time_limit, seconds_left())
    ahead = warm_start(target, request, limit)
    spent = 0.0 if ahead is None else ahead.seconds
    monitor = Monitor(problem, request.gap, limit - spent, request.callback, patience)
    if len(request.starts):
        monitor.offer(request.starts)
    if ahead is not None and ahead.x is not None:
        monitor.offer(ahead.x[None, :])
    if ahead is not None and ahead.interrupted:
        monitor.interrupt()
    with interruptible(monitor.interrupt):
        result = maximize_head(target.ways, options, monitor)
    certificate = certificate_of(
        problem,
        result,
        requested_gap=request.gap,
        seed=request.seed,
        seconds=(seconds := monitor.seconds()),
    )
    late, before = (False, 0) if ahead is None else (ahead.time_limited, ahead.evaluations)
    late = late or result.time_limited
    return Proposal(
        found=replace(result, counters=result.work, time_limited=late),
        maximizer=maximizer.name,
        seconds=seconds + spent,
        evaluations=monitor.evaluations + before,
        interrupted=monitor.interrupted,
        certificate=certificate,
        objective=problem.objective,
    )


def is_settled_at_once(target: Target) -> bool:
    """Whether a proof is as a rule quicker than a search for points."""
    if target.why_no_objective:
        return False
    read = target.problem.posterior
    return read.is_pairwise or (read.on_sphere and closes_at_once(target.problem))


def warm_start(target: Target, request: Request, time_limit: float) -> Proposal | None:
    """Return the best point that ascents find, None where they are not worth their time.

    Parameters
    ----------
    target : Target
    request : Request
    time_limit : float
        Wall seconds of the whole search.
    """
    domain = target.domain
    few = np.count_nonzero(domain.lower < domain.upper) < FEWEST_INPUTS
    if few or is_settled_at_once(target) or ASCENTS.why_not(target):
        return None
    asked = replace(request, time_limit=SHARE * time_limit, callback=None)
    return ASCENTS.maximize(target, asked)
