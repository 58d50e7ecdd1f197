r"""The belief of several beliefs, each with a weight.

    p(y | x) = sum_j w_j p_j(y | x),     mean f = sum_j w_j f_j,
    std s^2  = sum_j w_j (s_j^2 + (f_j - f)^2),

p_j normal, or the mixture of a belief that is one. Means, stds and components are those of the
beliefs themselves; the outside scale moves components apart about f, as `mixture_belief` does.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.surrogates.base.abstract import Belief, Capability, ValueGradient, check_scale
from nnbo_mip.surrogates.base.mixture import Mixture, MixtureSlopes

OFFERED = frozenset({Capability.MEAN, Capability.STD, Capability.MIXTURE})


def average_capabilities(offered: list[frozenset[Capability]]) -> frozenset[Capability]:
    """Return what an average of beliefs offers that offer these."""
    smooth = all(Capability.GRADIENT in one for one in offered)
    return OFFERED | ({Capability.GRADIENT} if smooth else frozenset())


@dataclass(frozen=True, eq=False)
class AverageBelief(Belief):
    """Beliefs and their weights.

    Parameters
    ----------
    beliefs : tuple of Belief
        Each with mean and std.
    weights : (J,) array
        Not negative, of sum 1.
    scale : float
        Multiplier of the uncertainty.
    """

    beliefs: tuple[Belief, ...]
    weights: FloatArray
    scale: float = 1.0

    family = "average"

    @property
    def n_inputs(self) -> int:
        """d, the number of inputs."""
        return self.beliefs[0].n_inputs

    @property
    def capabilities(self) -> frozenset[Capability]:
        """What this belief offers."""
        return average_capabilities([belief.capabilities for belief in self.beliefs])

    def mean(self, X: npt.ArrayLike) -> FloatArray:
        """Weighted mean (n,)."""
        return self._moments(self.check_points(X)).mean

    def std(self, X: npt.ArrayLike) -> FloatArray:
        """Return the standard deviation (n,) of the mixture."""
        return self.scale * self._moments(self.check_points(X)).std

    def mixture(self, X: npt.ArrayLike) -> Mixture:
        """Components (n, K) of all beliefs together."""
        return self._joined(self.check_points(X)).widened(self.scale)

    def mixture_slopes(self, X: npt.ArrayLike) -> MixtureSlopes:
        """Gradients (n, K, d) of `mixture`."""
        points = self.check_points(X)
        made = [_slopes(belief, points) for belief in self.beliefs]
        slopes = MixtureSlopes(
            np.concatenate(
                [w * one.weights for w, one in zip(self.weights, made, strict=True)], axis=1
            ),
            np.concatenate([one.means for one in made], axis=1),
            np.concatenate([one.stds for one in made], axis=1),
        )
        return self._joined(points).widened_slopes(slopes, self.scale)

    def differentiate(self, X: npt.ArrayLike) -> ValueGradient:
        """Mean, std and their gradients."""
        points = self.check_points(X)
        if Capability.GRADIENT not in self.capabilities:
            raise self._lacks(Capability.GRADIENT)
        found = [belief.differentiate(points) for belief in self.beliefs]
        means = np.stack([one.mean_gradient for one in found], axis=1)
        stds = np.stack([one.std_gradient for one in found], axis=1)
        moments = self._moments(points)
        slopes = MixtureSlopes(np.zeros_like(means), means, stds)
        mean_slope, std_slope = moments.moment_slopes(slopes)
        return ValueGradient(
            moments.mean, self.scale * moments.std, mean_slope, self.scale * std_slope
        )

    def scaled(self, factor: float) -> AverageBelief:
        """Return this belief with its std multiplied by `factor`."""
        return replace(self, scale=self.scale * check_scale(factor))

    def to_arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Return plain arrays, those of each belief behind its number."""
        arrays = {"weights": self.weights, "scale": np.array(self.scale)}
        for index, belief in enumerate(self.beliefs):
            arrays[f"member{index}_family"] = np.array(belief.family)
            for name, array in belief.to_arrays().items():
                arrays[f"member{index}_{name}"] = array
        return arrays

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, npt.NDArray[Any]]) -> AverageBelief:
        """Make the belief that `to_arrays` described."""
        from nnbo_mip.surrogates.base.families import registry

        weights = arrays["weights"]
        if weights.ndim != 1 or not len(weights) or not (weights >= 0.0).all():
            raise ValueError("weights that are none")
        beliefs = []
        for index in range(len(weights)):
            mark = f"member{index}_"
            own = {name[len(mark) :]: a for name, a in arrays.items() if name.startswith(mark)}
            factory: Any = registry.factory(str(own["family"]))
            beliefs.append(factory.belief_type.from_arrays(own))
        if len({belief.n_inputs for belief in beliefs}) > 1:
            raise ValueError("beliefs of different dimensions")
        return cls(tuple(beliefs), weights, float(arrays["scale"]))

    # -- parts ------------------------------------------------------------------------

    def _moments(self, points: FloatArray) -> Mixture:
        """Return each belief as one normal component: their mixture has the right moments."""
        means = np.stack([belief.mean(points) for belief in self.beliefs], axis=1)
        stds = np.stack([belief.std(points) for belief in self.beliefs], axis=1)
        return Mixture(np.tile(self.weights, (len(points), 1)), means, stds)

    def _joined(self, points: FloatArray) -> Mixture:
        made = [_mixture(belief, points) for belief in self.beliefs]
        weights = [w * one.weights for w, one in zip(self.weights, made, strict=True)]
        return Mixture(
            np.concatenate(weights, axis=1),
            np.concatenate([one.means for one in made], axis=1),
            np.concatenate([one.stds for one in made], axis=1),
        )


def _mixture(belief: Belief, points: FloatArray) -> Mixture:
    if _is_mixture(belief):
        return belief.mixture(points)
    means, stds = belief.mean(points)[:, None], belief.std(points)[:, None]
    return Mixture(np.ones_like(means), means, stds)


def _slopes(belief: Belief, points: FloatArray) -> MixtureSlopes:
    if _is_mixture(belief):
        return belief.mixture_slopes(points)
    local = belief.differentiate(points)
    means, stds = local.mean_gradient[:, None], local.std_gradient[:, None]
    return MixtureSlopes(np.zeros_like(means), means, stds)


def _is_mixture(belief: Belief) -> bool:
    """Whether a belief is a mixture whose deviation is its std."""
    return Capability.MIXTURE in belief.capabilities and getattr(belief, "spread", "std") == "std"
