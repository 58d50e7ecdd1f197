"""Optuna's distributions as dimensions of a space, and their values there and back.

    float, log                a real dimension, with a logarithm
    float with a step         a real dimension of a grid
    int, step, log            an integer dimension, its values in a table where it is logarithmic
    categorical               a categorical dimension of the choices' numbers: they may be anything

Logarithmic integers of more values than a table may have are real, and rounded.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from optuna.distributions import (
    BaseDistribution,
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
)

from nnbo_mip.core.errors import UnsupportedError
from nnbo_mip.space.abstract import Dimension
from nnbo_mip.space.dimensions import MAX_LOG_VALUES, Categorical, Integer, Real
from nnbo_mip.space.space import Space


@dataclass(frozen=True)
class Axis:
    """One parameter.

    Parameters
    ----------
    parameter : str
        Its name in the study.
    name : str
        Its name in the space.
    distribution : BaseDistribution
    """

    parameter: str
    name: str
    distribution: BaseDistribution

    @property
    def rounds(self) -> bool:
        """Whether the space has more values than the parameter."""
        given = self.distribution
        is_int = isinstance(given, IntDistribution) and given.log
        return bool(is_int and given.high - given.low >= MAX_LOG_VALUES)

    def dimension(self) -> Dimension:
        """Return the dimension."""
        given = self.distribution
        if isinstance(given, CategoricalDistribution):
            return Categorical(self.name, range(len(given.choices)))
        if isinstance(given, IntDistribution) and not self.rounds:
            return Integer(self.name, given.low, given.high, given.step, given.log)
        if isinstance(given, IntDistribution | FloatDistribution):
            step = None if given.log else given.step
            return Real(self.name, float(given.low), float(given.high), given.log, step)
        raise UnsupportedError(
            f"the parameter {self.parameter!r} must have a float, int or categorical distribution; "
            f"got a {type(given).__name__}; let another sampler choose it."
        )

    def inward(self, value: Any) -> Any:
        """Return a parameter's value as the space has it."""
        if isinstance(self.distribution, CategoricalDistribution):
            return int(self.distribution.to_internal_repr(value))
        return value

    def outward(self, value: Any) -> Any:
        """Return a value of the space as the parameter has it, a Python object."""
        given = self.distribution
        if isinstance(given, CategoricalDistribution):
            return given.choices[int(value)]
        if isinstance(given, IntDistribution):
            return min(max(round(value), given.low), given.high)
        return min(max(float(value), given.low), given.high)


@dataclass(frozen=True)
class Axes:
    """The parameters that are chosen together.

    Parameters
    ----------
    axes : tuple of Axis
    """

    axes: tuple[Axis, ...]

    @staticmethod
    def of(distributions: Mapping[str, BaseDistribution]) -> Axes:
        """Make them of a search space of Optuna."""
        named = enumerate(sorted(distributions))
        return Axes(tuple(Axis(name, f"x{k}", distributions[name]) for k, name in named))

    def space(self) -> Space:
        """Return the space."""
        return Space([axis.dimension() for axis in self.axes])

    @property
    def rounded(self) -> list[str]:
        """Parameters of which the space has more values than they have."""
        return [axis.parameter for axis in self.axes if axis.rounds]

    def inward(self, params: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return the point of a trial's parameters; None where one is missing, or outside."""
        point = {}
        for axis in self.axes:
            if axis.parameter not in params:
                return None
            try:
                internal = axis.distribution.to_internal_repr(params[axis.parameter])
            except ValueError:
                return None
            if not axis.distribution._contains(internal):
                return None
            point[axis.name] = axis.inward(params[axis.parameter])
        return point

    def outward(self, x: Mapping[str, Any]) -> dict[str, Any]:
        """Return the parameters of a point."""
        return {axis.parameter: axis.outward(x[axis.name]) for axis in self.axes}
