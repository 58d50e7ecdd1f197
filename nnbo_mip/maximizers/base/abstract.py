"""What a maximizer is: options that make of a target, and a request, a proposal."""

from __future__ import annotations

import abc
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.budget import DEFAULT_MEMORY, budget_kept
from nnbo_mip.core.control import ProgressCallback
from nnbo_mip.core.errors import InputError, UnsupportedError
from nnbo_mip.drawing.page.html import card_of
from nnbo_mip.exact.search.result import HasResult, SearchResult
from nnbo_mip.maximizers.base.target import Target
from nnbo_mip.scores.objective import Objective

if TYPE_CHECKING:
    from nnbo_mip.exact.certificates.certificate import Certificate
    from nnbo_mip.exact.check import CheckResult

SHOWN_COORDINATES = 8


@dataclass(frozen=True)
class Abilities:
    """What a maximizer needs, and what it respects.

    Parameters
    ----------
    proves : bool
        Whether its bound is proven.
    needs_network : bool
        Whether the belief has to compile to a network of ReLUs, or to one of the others that
        are named here.
    trees : bool
        Whether a belief of trees serves as well.
    needs_gradient : bool
        Whether it asks for gradients of the score.
    integers : bool
        Whether it handles integers and categories.
    constraints : bool
        Whether it handles linear constraints.
    exclusions : bool
        Whether it keeps its distance from points where that is asked for.
    most_inputs : float
        Largest number of inputs that it takes.
    any_belief : bool
        Whether it serves every belief, as it asks for scores only, or searches without a proof
        where none can be had.
    """

    proves: bool = False
    needs_network: bool = False
    trees: bool = False
    needs_gradient: bool = False
    integers: bool = True
    constraints: bool = True
    exclusions: bool = True
    most_inputs: float = math.inf
    any_belief: bool = False


@dataclass(frozen=True, eq=False)
class Request:
    """What is asked of a maximizer beside the target.

    Parameters
    ----------
    gap : float
        At which a proof may stop (see `nnbo_mip.exact.search.result.Measure`).
    time_limit : float
        Wall seconds at most; a maximizer with a shorter limit of its own keeps that.
    seed : int
    starts : (k, d) array
        Admissible points worth a try, such as the best observed ones.
    callback : callable, optional
        Receives a `Progress` a few times a second.
    memory_limit : float
        GiB that the search may take; a maximizer with a limit of its own keeps that.
    """

    gap: float = 1e-4
    time_limit: float = math.inf
    seed: int = 0
    starts: FloatArray = field(default_factory=lambda: np.empty((0, 0)))
    callback: ProgressCallback | None = None
    memory_limit: float = DEFAULT_MEMORY


@dataclass(frozen=True, eq=False)
class Proposal(HasResult):
    """The best point found for an acquisition, with its proof.

    Parameters
    ----------
    found : SearchResult
        The point in the belief's coordinates, its score, what was proven, and the work done
        beside evaluations. Read them as `x`, `value`, `bound`, `gap`, `status`, ….
    maximizer : str
        Who was asked.
    seconds : float
        Wall time.
    evaluations : int
        Points at which the score was computed.
    interrupted : bool
        Whether somebody pressed Ctrl-C.
    certificate : Certificate or None
        What was proven, to be stored and checked again; None for heuristics.
    objective : Objective or None
        The function that the certificate is about.
    """

    found: SearchResult
    maximizer: str
    seconds: float
    evaluations: int
    interrupted: bool = False
    certificate: Certificate | None = None
    objective: Objective | None = None

    @property
    def x(self) -> FloatArray | None:
        """The point (d,); None where no admissible one was found."""
        return self.found.x

    def check(self, time_limit: float = 60.0, seed: int = 0) -> CheckResult:
        """Prove the certificate's claim again, by other code than made it."""
        if self.certificate is None or self.objective is None:
            raise InputError(
                "a proposal must have a certificate to be checked; that of a heuristic maximizer "
                'has none; maximize with "auto", "mip" or "bab".'
            )
        return self.certificate.check(self.objective, time_limit=time_limit, seed=seed)

    def _repr_html_(self) -> str:
        """Return what a notebook shows."""
        return card_of(str(self))

    def __str__(self) -> str:
        if self.status == "infeasible":
            return f"infeasible: {self.message or 'no admissible point exists.'}"
        lines = [f"{self.head} {self.value!r} at x = {_point(self.x)}"]
        if math.isfinite(self.bound):
            manner = "rigorously" if self.kind == "rigorous" else "within counted tolerances"
            work = "".join(f", {n:,} {k.replace('_', ' ')}" for k, n in self.counters.items() if n)
            lines.append(f"  bound   {self.bound!r}, gap {self.gap:.3g}{self._closed}")
            lines.append(f"  proved  {manner} by {self.engine}{work}")
        else:
            lines.append("  bound   none was proven")
        lines.append(f"  found   by {self.maximizer} in {self.seconds:.2f} s")
        lines.append(f"  status  {self.status}{': ' + self.message if self.message else ''}")
        return "\n".join(lines)

    @property
    def _closed(self) -> str:
        """What was asked for, where a gap is closed that is larger than the number asked for."""
        if self.certificate is None or self.status != "optimal":
            return ""
        asked = self.certificate.requested_gap
        return f", within {asked:g} times |value|" if self.gap > asked else ""

    def __repr__(self) -> str:
        return (
            f"Proposal(status={self.status!r}, head={self.head!r}, value={self.value!r}, "
            f"bound={self.bound!r}, gap={self.gap:.3g}, maximizer={self.maximizer!r})"
        )


def _point(x: FloatArray | None) -> str:
    if x is None:
        return "none found"
    shown = ", ".join(f"{value:.6g}" for value in x[:SHOWN_COORDINATES])
    return f"[{shown}{', …' if len(x) > SHOWN_COORDINATES else ''}]"


class Maximizer(abc.ABC):
    """A frozen dataclass of options, with a budget in seconds and, for heuristics, evaluations."""

    name: ClassVar[str]
    """Its name in the registry."""

    abilities: ClassVar[Abilities]

    time_limit: float
    """Wall seconds."""

    memory_limit: float = math.inf
    """GiB of its own, instead of those of the request; infinity takes those."""

    def maximize(self, target: Target, request: Request) -> Proposal:
        """Return the best admissible point that was found, with what was proven of it.

        Parameters
        ----------
        target : Target
        request : Request
        """
        seconds = min(self.time_limit, request.time_limit)
        memory = self.memory_limit if math.isfinite(self.memory_limit) else request.memory_limit
        with budget_kept(memory, seconds):
            reason = self.why_not(target)
            if reason:
                raise UnsupportedError(f"{self.name!r} must be able to do what is asked; {reason}")
            return self._maximize(target, request)

    def why_not(self, target: Target) -> str:
        """Return why this maximizer cannot serve a target, with the remedy; empty if it can."""
        able, domain = self.abilities, target.domain
        if not able.integers and any(grid is not None for grid in domain.grids):
            return 'it knows no integers or categories; take "auto", "lbfgs" or "random".'
        if not able.constraints and domain.b.size:
            return 'it knows no linear constraints; take "auto", "lbfgs" or "random".'
        if not able.exclusions and len(domain.exclusions):
            return 'it keeps no distance from points; take "auto", "lbfgs" or "random".'
        if target.dimension > able.most_inputs:
            return (
                f"it takes up to {able.most_inputs:g} inputs, got {target.dimension}; take "
                '"auto" or "lbfgs".'
            )
        if able.needs_gradient and not target.has_gradient:
            others = '"random"' if len(target.equalities) else '"direct" or "random"'
            return (
                f"it needs gradients, which a {target.scorer.belief.family} belief does not offer "
                f"for this acquisition; take {others}."
            )
        if able.needs_network:
            return target.why_no_objective
        return ""

    def fresh(self) -> Maximizer:
        """Return this maximizer without anything that it remembers of earlier searches."""
        return self

    @property
    def may_not_end(self) -> bool:
        """Whether it goes on for a proof without a limit of its own."""
        return self.abilities.proves and math.isinf(self.time_limit)

    @abc.abstractmethod
    def _maximize(self, target: Target, request: Request) -> Proposal:
        """Search; the target is one that this maximizer can serve."""
