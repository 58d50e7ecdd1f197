"""`HeadProblem`: an objective over a domain, to be maximized with a proof."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.errors import InputError, UnsupportedError
from nnbo_mip.core.terms import Measure
from nnbo_mip.exact.search.problem import Problem
from nnbo_mip.scores import logarithms
from nnbo_mip.scores.base.abstract import Head
from nnbo_mip.scores.objective import Objective
from nnbo_mip.scores.posteriors.readouts import Readout
from nnbo_mip.scores.storage import HEADS, READOUTS
from nnbo_mip.space.domain import Domain


@dataclass(frozen=True, eq=False)
class HeadProblem:
    """Maximize an objective over the admissible points of a domain.

    Parameters
    ----------
    objective : Objective
        A head on the readout from which mean and std, or members, come.
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
        _refuse_derived(self.readout, READOUTS)
        _refuse_derived(self.head, HEADS)
        if self.readout.n_inputs != self.domain.dimension:
            raise InputError(
                f"the readout reads {self.readout.n_inputs} inputs, so the space must have "
                f"as many numeric coordinates; got {self.domain.dimension}; check the space "
                "(a categorical counts one coordinate a level)."
            )

    @property
    def readout(self) -> Readout:
        """Where mean and std, or members, come from."""
        return self.objective.readout

    @property
    def head(self) -> Head:
        """What is made of them."""
        return self.objective.head

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
        from nnbo_mip.exact.scores.slopes import gradients

        return self.values(points), gradients(self, points)

    def linearized(self, point: FloatArray) -> Problem:
        """Return the problem of a network that has the same slopes at a point."""
        from nnbo_mip.exact.scores.slopes import linearized

        return linearized(self, point)

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
