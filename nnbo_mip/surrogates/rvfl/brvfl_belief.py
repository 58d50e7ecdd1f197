r"""The belief of a linear model on features whose weights have a normal distribution.

The features are random (a Bayesian random vector functional link network) or trained.

With features psi of the standardized input, weights w ~ N(mu, Sigma) and y's center c and
scale a,

    mean = c + a mu^T psi,   std = scale a sqrt(psi^T Sigma psi),   noise_std = a / sqrt(beta);

where the noise is included, std = sqrt((scale a)^2 psi^T Sigma psi + noise_std^2).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from nnbo_mip.core.arrays import Array, FloatArray, blocks
from nnbo_mip.network.graph.builder import GraphBuilder
from nnbo_mip.network.graph.graph import Network
from nnbo_mip.scores.posteriors.compiled import QuadraticPosterior
from nnbo_mip.scores.posteriors.tanh import TanhFeatures
from nnbo_mip.surrogates.base.abstract import Belief, Capability, ValueGradient, check_scale
from nnbo_mip.surrogates.base.observations import Standardization
from nnbo_mip.surrogates.base.storage import standardization_arrays, standardization_of
from nnbo_mip.surrogates.rvfl.bayesian_linear import (
    SpectralPosterior,
    WeightPosterior,
    posterior_of,
)
from nnbo_mip.surrogates.rvfl.features import Features, RandomFeatures
from nnbo_mip.surrogates.rvfl.trained_features import TrainedFeatures


def brvfl_capabilities(activation: str) -> frozenset[Capability]:
    """Return what a linear model on such features offers, from what is known before fitting."""
    offered = {
        *(Capability.MEAN, Capability.STD, Capability.NOISE),
        *(Capability.DRAWS, Capability.GRADIENT),
    }
    if activation == "relu":
        offered.add(Capability.NETWORK)
    return frozenset(offered)


@dataclass(frozen=True, eq=False)
class BrvflBelief(Belief):
    """A linear model on features whose weights have a normal distribution.

    Parameters
    ----------
    features : Features
        The frozen hidden layers.
    weights : WeightPosterior
        What is known of the output weights.
    alpha, beta : float
        Precisions of the prior and of the noise.
    units : Standardization
        From the user's units to the model's.
    scale : float
        Multiplier of the uncertainty.
    include_noise : bool
        Whether `std` is that of an observation instead of the function's.
    family : str
        Name of the surrogate that made it.
    """

    features: Features
    weights: WeightPosterior
    alpha: float
    beta: float
    units: Standardization
    scale: float = 1.0
    include_noise: bool = False
    family: str = "brvfl"

    @property
    def n_inputs(self) -> int:
        """d, the number of inputs."""
        return self.features.n_inputs

    @property
    def capabilities(self) -> frozenset[Capability]:
        """What this belief offers."""
        return brvfl_capabilities(self.features.activation)

    def mean(self, X: npt.ArrayLike) -> FloatArray:
        """Posterior mean (n,)."""
        blocks = [psi @ self.weights.mean for _, psi in self._features(X)]
        return self._values(np.concatenate(blocks))

    def std(self, X: npt.ArrayLike) -> FloatArray:
        """Posterior standard deviation (n,), with the noise if that is included."""
        variance = np.concatenate([self.weights.variance(psi) for _, psi in self._features(X)])
        latent = self._reach * np.sqrt(variance)
        return np.asarray(np.hypot(latent, self._noise) if self.include_noise else latent)

    def noise_std(self, X: npt.ArrayLike) -> FloatArray:
        """Return the std (n,) of an observation about the function, the same everywhere."""
        return np.full(len(self.check_points(X)), self._noise)

    def differentiate(self, X: npt.ArrayLike) -> ValueGradient:
        """Mean, std and their gradients; 0 is taken for the slope of a std of zero."""
        parts = [self._local(u, psi) for u, psi in self._features(X)]
        mean, std, mean_gradient, std_gradient = map(np.concatenate, zip(*parts, strict=True))
        return ValueGradient(mean, std, mean_gradient, std_gradient)

    def draw(self, seed: int) -> BrvflBelief:
        """Return the function of one weight draw; its std is zero.

        The outside scale moves the draw away from the mean as it widens the std.
        """
        drawn = self.weights.sample(np.random.default_rng(seed), self.scale)
        return replace(self, weights=SpectralPosterior.known(drawn), scale=1.0, include_noise=False)

    def network(self) -> Network:
        """Return the network of ``mean`` and ``feature0…``, the features psi."""
        builder = GraphBuilder(self.n_inputs)
        psi = self.features.compile(builder, self.units.input_of(builder))
        mean = builder.affine(psi, self.units.y_scale * self.weights.mean[None, :])
        features = {"feature0" if psi.width == 1 else "feature": psi}
        return builder.finish({"mean": builder.shift(mean, self.units.y_center), **features})

    def posterior(self, members: bool = False) -> QuadraticPosterior | TanhFeatures:
        """Return the features, ReLUs or one hidden layer of tanh, and the root of Sigma."""
        root = self._reach * self.weights.whiten(np.eye(self.features.n_features)).T
        noise = self._noise if self.include_noise else 0.0
        if isinstance(self.features, RandomFeatures) and self.features.activation == "tanh":
            layers = self.features.tanh_layers(self.weights.mean, self.units)
            return TanhFeatures(*layers, root, noise)
        return QuadraticPosterior(self.network(), root, noise)

    def scaled(self, factor: float) -> BrvflBelief:
        """Return this belief with its uncertainty multiplied by `factor`."""
        return replace(self, scale=self.scale * check_scale(factor))

    def to_arrays(self) -> dict[str, Array]:
        """Return plain arrays."""
        return {
            **{f"features_{name}": part for name, part in self.features.to_arrays().items()},
            **{f"posterior_{name}": part for name, part in self.weights.to_arrays().items()},
            **standardization_arrays(self.units),
            "alpha": np.array(self.alpha),
            "beta": np.array(self.beta),
            "scale": np.array(self.scale),
            "include_noise": np.array(self.include_noise),
            "family": np.array(self.family),
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array]) -> BrvflBelief:
        """Make the belief that `to_arrays` described."""
        return cls(
            _features_of(_under("features_", arrays)),
            posterior_of(_under("posterior_", arrays)),
            float(arrays["alpha"]),
            float(arrays["beta"]),
            standardization_of(arrays),
            float(arrays["scale"]),
            bool(arrays["include_noise"]),
            str(arrays["family"]),
        )

    # -- parts ------------------------------------------------------------------------

    @property
    def _noise(self) -> float:
        """Standard deviation of the noise in units of y."""
        return float(self.units.y_scale / np.sqrt(self.beta))

    @property
    def _reach(self) -> float:
        """From the standard deviation in standardized units to that in units of y."""
        return self.scale * self.units.y_scale

    def _features(self, X: npt.ArrayLike) -> Iterator[tuple[FloatArray, FloatArray]]:
        """Yield standardized inputs and features of blocks of points."""
        u = self.units.inward(self.check_points(X))
        for rows in blocks(len(u), 2 * self.features.n_features):
            yield u[rows], self.features.evaluate(u[rows])

    def _local(
        self, u: FloatArray, psi: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Return mean, std and their gradients at points with these features."""
        mean_slopes = np.broadcast_to(self.weights.mean, psi.shape)
        mean_gradient = self.features.pull_back(u, psi, mean_slopes)
        white = self.weights.whiten(psi)
        half_slopes = self.features.pull_back(u, psi, self.weights.spread(white))
        latent = self._reach * np.sqrt(np.square(white).sum(axis=1))
        std = np.hypot(latent, self._noise) if self.include_noise else latent
        # d std = d(latent^2) / (2 std), where latent^2 = reach^2 psi^T Sigma psi.
        safe = np.where(std > 0.0, std, np.inf)[:, None]
        std_gradient = self._reach * (self._reach / safe) * half_slopes
        return (
            self._values(psi @ self.weights.mean),
            std,
            self.units.y_scale * mean_gradient / self.units.x_scale,
            std_gradient / self.units.x_scale,
        )

    def _values(self, standardized: FloatArray) -> FloatArray:
        return np.asarray(self.units.y_center + self.units.y_scale * standardized)


def _features_of(arrays: Mapping[str, Array]) -> Features:
    """Make the features that their `to_arrays` described."""
    kind = TrainedFeatures if "n_layers" in arrays else RandomFeatures
    return kind.from_arrays(arrays)


def _under(prefix: str, arrays: Mapping[str, Array]) -> dict[str, Array]:
    """Return the arrays whose names begin so, without the prefix."""
    return {
        name.removeprefix(prefix): part for name, part in arrays.items() if name.startswith(prefix)
    }
