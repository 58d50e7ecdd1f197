"""The one question the exact engines answer: maximize f over a domain."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Protocol

import numpy as np
import numpy.typing as npt

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.errors import InputError
from nnbo_mip.core.terms import Measure
from nnbo_mip.exact.search.rounding import RoundingModel, rounding_model
from nnbo_mip.network.graph.graph import Network
from nnbo_mip.space.domain import Domain


class OptimizationProblem(Protocol):
    """A function over a domain, as far as a `Monitor` has to know it."""

    @property
    def domain(self) -> Domain:
        """The admissible points."""

    @property
    def measure(self) -> Measure:
        """When a gap between value and bound counts as closed."""

    def values(self, points: npt.ArrayLike) -> FloatArray:
        """Return the values (n,) at points (n, d)."""

    def value(self, point: npt.ArrayLike) -> float:
        """Return the value at one point, evaluated alone."""


class Ascendable(Protocol):
    """What can be ascended: a function with gradients over a domain."""

    @property
    def domain(self) -> Domain:
        """The admissible points."""

    def values_and_gradients(self, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return values (n,) and gradients (n, d) at points (n, d)."""


class Climbable(Ascendable, OptimizationProblem, Protocol):
    """What can be climbed: a network's output, or a function of several."""

    @property
    def dimension(self) -> int:
        """d, the number of inputs."""

    def linearized(self, point: FloatArray) -> Problem:
        """Return a problem with the same slopes near a point; itself where f is a network."""


@dataclass(frozen=True, eq=False)
class Problem:
    """Maximize ``f(x) = c + sum_k v_k . h_k(x)`` over the admissible points of a domain.

    Parameters
    ----------
    network : Network
        A network with one output, the objective.
    domain : Domain
        Box, grids, one-hot groups and rows, in the coordinates the network reads.
    """

    measure: ClassVar[Measure] = Measure.NATURAL

    network: Network
    domain: Domain

    def __post_init__(self) -> None:
        if self.network.n_outputs != 1:
            raise InputError(
                f"the exact engines maximize one output; got {self.network.n_outputs} "
                f"({', '.join(self.network.output_names)}); name one or weigh them."
            )
        if self.network.n_inputs != self.domain.dimension:
            raise InputError(
                f"the network reads {self.network.n_inputs} inputs, so the space must have "
                f"{self.network.n_inputs} numeric coordinates; got {self.domain.dimension}; "
                "check the space (a categorical counts one coordinate a level)."
            )

    @property
    def dimension(self) -> int:
        """d, the number of inputs."""
        return self.network.n_inputs

    def values(self, points: npt.ArrayLike) -> FloatArray:
        """Float64 forward pass at (n, d) points: (n,)."""
        return self.network.evaluate(points, 0)

    def value(self, point: npt.ArrayLike) -> float:
        """Float64 forward pass at one point, evaluated alone."""
        return float(self.network.evaluate(np.asarray(point)[None, :], 0)[0])

    def values_and_gradients(self, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Values (n,) and gradients (n, d) at points (n, d)."""
        return self.network.value_and_gradient(points, 0)

    def linearized(self, point: FloatArray) -> Problem:
        """Return a problem that has the same slopes near a point: this one."""
        return self

    @cached_property
    def rounding(self) -> RoundingModel:
        """Bounds on the float64 errors of passes and relaxations over the domain's box."""
        return rounding_model(self.network, self.domain.lower, self.domain.upper)
