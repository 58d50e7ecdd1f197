"""Average and std of the observed values everywhere: the forecast of who learns nothing.

Every score of it is the same at all points, so that ``maximizer="random"`` takes the first of
its random points: Bayesian optimization with this belief is random search, in the same loop, and
a surrogate that is not better has learned nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.checks import check_count
from nnbo_mip.surrogates.base.abstract import (
    Belief,
    Capability,
    Surrogate,
    ValueGradient,
    check_scale,
)
from nnbo_mip.surrogates.base.observations import Observations, Standardization

OFFERED = frozenset({Capability.MEAN, Capability.STD, Capability.GRADIENT})


@dataclass(frozen=True, eq=False)
class EmpiricalBelief(Belief):
    """The same mean and std at every point.

    Parameters
    ----------
    dimension : int
        d, the number of inputs.
    center, deviation : float
        Average and standard deviation of the values.
    scale : float
        Multiplier of the uncertainty.
    """

    capabilities = OFFERED

    dimension: int
    center: float
    deviation: float
    scale: float = 1.0

    family = "empirical"

    @property
    def n_inputs(self) -> int:
        """d, the number of inputs."""
        return self.dimension

    def mean(self, X: npt.ArrayLike) -> FloatArray:
        """Return the average (n,)."""
        return np.full(len(self.check_points(X)), self.center)

    def std(self, X: npt.ArrayLike) -> FloatArray:
        """Return the standard deviation (n,), times the scale."""
        return np.full(len(self.check_points(X)), self.scale * self.deviation)

    def differentiate(self, X: npt.ArrayLike) -> ValueGradient:
        """Mean and std, and slopes of zero."""
        flat = np.zeros_like(self.check_points(X))
        return ValueGradient(self.mean(X), self.std(X), flat, flat)

    def scaled(self, factor: float) -> EmpiricalBelief:
        """Return this belief with its std multiplied by `factor`."""
        return replace(self, scale=self.scale * check_scale(factor))

    def to_arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Return plain arrays."""
        names = ("dimension", "center", "deviation", "scale")
        return {name: np.array(getattr(self, name)) for name in names}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, npt.NDArray[Any]]) -> EmpiricalBelief:
        """Make the belief that `to_arrays` described."""
        numbers = [float(arrays[name]) for name in ("center", "deviation", "scale")]
        return cls(int(arrays["dimension"]), *numbers)


@dataclass(frozen=True)
class Empirical(Surrogate):
    """Options of the forecast without inputs.

    Parameters
    ----------
    seed : int
        Has no influence.
    """

    name: ClassVar[str] = "empirical"
    belief_type: ClassVar[type[Belief]] = EmpiricalBelief
    capabilities = OFFERED

    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse options that are none."""
        check_count("seed", self.seed, least=0)

    def fit(self, X: npt.ArrayLike, y: npt.ArrayLike) -> EmpiricalBelief:
        """Return average and (biased) std; 1 for the latter where values are constant."""
        data = Observations.of(X, y)
        units = Standardization.of(data, inputs=False, outputs=True)
        return EmpiricalBelief(data.n_inputs, units.y_center, units.y_scale)
