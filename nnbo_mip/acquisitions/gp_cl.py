r"""Where an improvement would be most plausible: one-stage criteria with a Gaussian process.

A value y* beyond the best one is taken to be attained somewhere, and the place x at which the
observations make that most likely is next. `GpCl` maximizes the likelihood of the observations
given that value, `GoalSeeking` the likelihood of the observations and the value together, each
over x and the length-scales (`conditional_likelihood`). The belief has no part in it.

References
----------
Jones (2001), one-stage criteria, goal seeking [Jones2001].
Aryan (2020), the version that is implemented [Aryan2020].
"""

from __future__ import annotations

import abc
import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from nnbo_mip.acquisitions.base.context import Context, check_incumbent
from nnbo_mip.acquisitions.base.criterion import Choice, Criterion, candidates
from nnbo_mip.acquisitions.conditional_likelihood import Log, conditional, joint
from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.checks import check_number, check_size
from nnbo_mip.core.errors import InputError
from nnbo_mip.space.domain import Domain
from nnbo_mip.surrogates.base.abstract import Belief, Capability

LENGTHS = (math.log(0.05), math.log(20.0))
"""Ends of the logarithms of length-scales, in model coordinates."""

FIRST_LENGTHS = (math.log(0.2), math.log(0.6), math.log(2.0))
"""Length-scales, the same in all coordinates, with which candidates are compared."""


@dataclass(frozen=True)
class OneStage(Criterion):
    """What both criteria share; see the module.

    Parameters
    ----------
    target : float, optional
        y*, in the units in which y is maximized. Without it the best value so far and, step by
        step in turns, one of the `levels` times the range of the values.
    levels : tuple of float
        Positive.
    samples : int
        Random points of which the most likely ones are climbed from.
    starts : int
        Climbs.
    incumbent : float, optional
        Stands for the best value so far.
    """

    values_of_y: ClassVar[tuple[str, ...]] = ("incumbent", "target")

    target: float | None = None
    levels: tuple[float, ...] = (0.01, 0.1, 0.5)
    samples: int = 100
    starts: int = 4
    incumbent: float | None = None

    def __post_init__(self) -> None:
        """Refuse options that are none."""
        check_incumbent(self.incumbent)
        if self.target is not None:
            check_number("target", self.target)
        given: object = self.levels
        levels = tuple(given) if isinstance(given, tuple | list) else (given,)
        if not levels:
            raise InputError("levels must hold one number at least; got none; give some.")
        for level in levels:
            check_number("every one of levels", level, above=0.0)
        object.__setattr__(self, "levels", levels)
        check_size("samples", self.samples)
        check_size("starts", self.starts)

    @property
    def needs(self) -> frozenset[Capability]:
        """Nothing: the criterion has a model of its own."""
        return frozenset()

    @abc.abstractmethod
    def likelihood(self, X: FloatArray, y: FloatArray, target: float) -> Log:
        """Return what is maximized over x and the length-scales."""

    def goal(self, context: Context) -> float:
        """Return y* of a step."""
        if self.target is not None:
            return self.target
        _, y = context.observations()
        level = self.levels[context.step % len(self.levels)]
        width = float(np.ptp(y))
        return context.incumbent(self.incumbent) + level * (width if width > 0.0 else 1.0)

    def choose(
        self, belief: Belief, domain: Domain, context: Context, rng: np.random.Generator
    ) -> Choice | None:
        """Return the most likely place of y* that was found."""
        X, y = context.observations()
        center, scale = float(y.mean()), float(y.std()) or 1.0
        goal = (self.goal(context) - center) / scale
        search = _Search(self.likelihood(X, (y - center) / scale, goal), domain)
        points = candidates(domain, self.samples, rng)
        if not len(points):
            return None
        rated = [
            (search.value(x, np.full(domain.dimension, length)), x, length)
            for x in points
            for length in FIRST_LENGTHS
        ]
        rated.sort(key=lambda one: -one[0])
        best_value, best_x = rated[0][0], rated[0][1]
        for _, x, length in rated[: self.starts]:
            end, lengths = search.climb(x, np.full(domain.dimension, length))
            place = domain.repair(end)
            if place is None:
                continue
            value = search.value(place, lengths)
            if value > best_value:
                best_value, best_x = value, place
        return Choice(np.array(best_x), best_value, search.evaluations)


@dataclass(frozen=True)
class GpCl(OneStage):
    """The place of y* that makes the observations most likely, given y*; options: `OneStage`."""

    name: ClassVar[str] = "gp_cl"

    def likelihood(self, X: FloatArray, y: FloatArray, target: float) -> Log:
        """Return the conditional likelihood."""
        return conditional(X, y, target)


@dataclass(frozen=True)
class GoalSeeking(OneStage):
    """The place of y* that makes observations and y* most likely together; options: `OneStage`.

    Experimental: a method of research, which may change or go.
    """

    name: ClassVar[str] = "goal_seeking"

    def likelihood(self, X: FloatArray, y: FloatArray, target: float) -> Log:
        """Return the joint likelihood."""
        return joint(X, y, target)


class _Search:
    """Evaluates and climbs a likelihood within the box of a domain."""

    def __init__(self, log: Log, domain: Domain) -> None:
        self._log = log
        d = domain.dimension
        lows = np.concatenate([domain.lower, np.full(d, LENGTHS[0])])
        highs = np.concatenate([domain.upper, np.full(d, LENGTHS[1])])
        self._ends = np.column_stack([lows, highs])
        self.evaluations = 0

    def value(self, x: FloatArray, lengths: FloatArray) -> float:
        import torch

        self.evaluations += 1
        with torch.no_grad():
            found = float(self._log(torch.from_numpy(x.copy()), torch.from_numpy(lengths)))
        return found if math.isfinite(found) else -math.inf

    def climb(self, x: FloatArray, lengths: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return where L-BFGS-B ends: a point of the box and the length-scales there."""
        import torch
        from scipy.optimize import minimize

        d = len(x)

        def descent(place: FloatArray) -> tuple[float, FloatArray]:
            self.evaluations += 1
            at = torch.from_numpy(place.copy()).requires_grad_()
            value = self._log(at[:d], at[d:])
            if not bool(torch.isfinite(value)):
                return 1e100, np.zeros_like(place)
            (slope,) = torch.autograd.grad(value, at)
            return -value.item(), np.nan_to_num(-slope.numpy())

        start = np.concatenate([x, lengths])
        answer = minimize(descent, start, jac=True, method="L-BFGS-B", bounds=self._ends)
        return answer.x[:d], np.array(answer.x[d:])
