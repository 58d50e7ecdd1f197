"""The question of a head: maximize it, over what is read of a network, over a domain."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
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
from nnbo_mip.scores.functions.linear import LinearHead
from nnbo_mip.scores.functions.probability import ProbabilityOfImprovement
from nnbo_mip.scores.objective import Objective
from nnbo_mip.scores.posteriors.readouts import Readout
from nnbo_mip.scores.storage import HEADS, READOUTS
from nnbo_mip.space.domain import Domain


@dataclass(frozen=True, eq=False)
class HeadProblem:
    """Maximize ``head(readout(x))`` over the admissible points of a domain.

    Parameters
    ----------
    readout : Readout
        Where mean and std, or members, come from.
    head : Head
        What is made of them.
    domain : Domain
        Box, grids, one-hot groups and rows, in the coordinates the network reads.

    Notes
    -----
    Searches compare `values`, which are those of `searched`: log EI for EI, log PI for PI, the
    head itself otherwise. `score` and `score_above` translate back.
    """

    readout: Readout
    head: Head
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
    def objective(self) -> Objective:
        """The function that is maximized."""
        return Objective(self.readout, self.head)

    @property
    def dimension(self) -> int:
        """d, the number of inputs."""
        return self.domain.dimension

    @cached_property
    def searched(self) -> Head:
        """The head whose values a search compares."""
        return logarithms.searched(self.head)

    @cached_property
    def measure(self) -> Measure:
        """When a gap between value and bound counts as closed."""
        if logarithms.is_logarithm(self.searched):
            return Measure.LOGARITHM
        return Measure.NATURAL if isinstance(self.head, LinearHead) else Measure.SCORE

    def values(self, points: npt.ArrayLike) -> FloatArray:
        """Values (n,) of what is searched at points (n, d)."""
        values = self._evaluate(self.searched, points)
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
        return float(self._evaluate(self.head, np.asarray(point)[None, :])[0])

    def score_above(self, bound: float) -> float:
        """Turn a proven bound on all values into one on all scores of the head."""
        if self.searched == self.head:
            return bound
        above = logarithms.exponential_above(bound)
        return min(above, 1.0) if isinstance(self.head, ProbabilityOfImprovement) else above

    def _evaluate(self, head: Head, points: npt.ArrayLike) -> FloatArray:
        return Objective(self.readout, head).score(points)


def _refuse_derived(given: object, known: Mapping[str, type[Any]]) -> None:
    """Refuse what is derived from a known class: bounds are of that, not of what was overridden."""
    kinds = tuple(known.values())
    if isinstance(given, kinds) and type(given) not in kinds:
        base = next(kind for kind in kinds if isinstance(given, kind)).__name__
        raise UnsupportedError(
            f"what is proven must be about a {base} itself; got a {type(given).__name__}, which is "
            f"derived from it and may compute something else; use the {base}."
        )
