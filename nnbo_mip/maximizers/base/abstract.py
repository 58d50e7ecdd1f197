"""What a maximizer is: options that find the best point of a target, and what it can do."""

from __future__ import annotations

import abc
import math
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.control import ProgressCallback
from nnbo_mip.core.errors import UnsupportedError
from nnbo_mip.maximizers.base.proposal import Proposal
from nnbo_mip.maximizers.base.target import Target


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
    """

    gap: float = 1e-4
    time_limit: float = math.inf
    seed: int = 0
    starts: FloatArray = field(default_factory=lambda: np.empty((0, 0)))
    callback: ProgressCallback | None = None


class Maximizer(abc.ABC):
    """A frozen dataclass of options, with a budget in seconds and, for heuristics, evaluations."""

    name: ClassVar[str]
    """Its name in the registry."""

    abilities: ClassVar[Abilities]

    time_limit: float
    """Wall seconds."""

    def maximize(self, target: Target, request: Request) -> Proposal:
        """Return the best admissible point that was found, with what was proven of it.

        Parameters
        ----------
        target : Target
        request : Request
        """
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
