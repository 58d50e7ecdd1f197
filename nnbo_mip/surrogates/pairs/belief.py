"""The belief of a sparse quadratic model: functions of few terms, drawn from the posterior."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from nnbo_mip.core.arrays import Array, FloatArray
from nnbo_mip.scores.posteriors.pairs import PairwisePosterior
from nnbo_mip.surrogates.base.abstract import Belief, Capability, ValueGradient, check_scale

OFFERED = frozenset(
    {
        *(Capability.MEAN, Capability.STD, Capability.MEMBERS),
        *(Capability.DRAWS, Capability.GRADIENT, Capability.NOISE),
    }
)


@dataclass(frozen=True, eq=False)
class PairwiseBelief(Belief):
    """Functions of terms of one and of two inputs, in the user's units.

    Parameters
    ----------
    dimension : int
        d, the number of inputs.
    terms : (U, 2) array
        As those of `PairwisePosterior`.
    weights : (M, U) array
    levels : (M,) array
    noise : float
        Deviation of a value about the function.
    scale : float
        Multiplier of the uncertainty; it moves the members apart as well.
    """

    dimension: int
    terms: FloatArray
    weights: FloatArray
    levels: FloatArray
    noise: float
    scale: float = 1.0

    family = "sparse_quadratic"
    capabilities = OFFERED

    @property
    def n_inputs(self) -> int:
        """d, the number of inputs."""
        return self.dimension

    def mean(self, X: npt.ArrayLike) -> FloatArray:
        """Average (n,) of the functions."""
        return self._read.mean(self.check_points(X))

    def std(self, X: npt.ArrayLike) -> FloatArray:
        """Spread (n,) of the functions, times the scale; the noise is not in it."""
        return self._read.std(self.check_points(X))

    def members(self, X: npt.ArrayLike) -> FloatArray:
        """Values (n, M) of the functions, moved apart by the scale."""
        return self._read.members(self.check_points(X))

    def noise_std(self, X: npt.ArrayLike) -> FloatArray:
        """Deviation (n,) of an observation from the function."""
        return np.full(len(self.check_points(X)), self.noise)

    def differentiate(self, X: npt.ArrayLike) -> ValueGradient:
        """Mean, std and their gradients; 0 is taken for the slope of a std of zero."""
        points = self.check_points(X)
        mean, std = self._read.moments(points)
        one, none = np.ones(len(points)), np.zeros(len(points))
        return ValueGradient(
            mean,
            std,
            self._read.pull_moments(points, lambda m, s: (one, none)),
            self._read.pull_moments(points, lambda m, s: (none, one)),
        )

    def draw(self, seed: int) -> PairwiseBelief:
        """Return one of the functions, at its distance from the mean times the scale."""
        index = int(np.random.default_rng(seed).integers(len(self.levels)))
        if self.scale == 1.0:
            weights, level = self.weights[index], self.levels[index]
        else:
            center, middle = self.weights.mean(axis=0), self.levels.mean()
            weights = center + self.scale * (self.weights[index] - center)
            level = middle + self.scale * (self.levels[index] - middle)
        used = weights != 0.0
        return replace(
            self,
            terms=self.terms[used],
            weights=weights[None, used],
            levels=np.array([level]),
            scale=1.0,
        )

    def posterior(self, members: bool = False) -> PairwisePosterior:
        """Return the functions as sums of terms."""
        return self._read

    @cached_property
    def _read(self) -> PairwisePosterior:
        return PairwisePosterior(
            self.dimension, self.terms, self.weights, self.levels, reach=self.scale
        )

    def scaled(self, factor: float) -> PairwiseBelief:
        """Return this belief with its uncertainty multiplied by `factor`."""
        return replace(self, scale=self.scale * check_scale(factor))

    def to_arrays(self) -> dict[str, Array]:
        """Return plain arrays."""
        return {
            "dimension": np.array(self.dimension),
            "terms": self.terms,
            "weights": self.weights,
            "levels": self.levels,
            "noise": np.array(self.noise),
            "scale": np.array(self.scale),
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array]) -> PairwiseBelief:
        """Make the belief that `to_arrays` described."""
        return cls(
            int(arrays["dimension"]),
            arrays["terms"],
            arrays["weights"],
            arrays["levels"],
            float(arrays["noise"]),
            float(arrays["scale"]),
        )
