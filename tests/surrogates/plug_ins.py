"""Two surrogates with a std of their own, as somebody outside of the package writes them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

import nnbo_mip as nm

Array = npt.NDArray[Any]
STD = frozenset({nm.surrogates.Capability.MEAN, nm.surrogates.Capability.STD})


@dataclass(frozen=True, eq=False)
class Nets(nm.surrogates.Belief):
    """Networks with random hidden layers, in model coordinates and standardized values."""

    stack: nm.surrogates.Stack
    points: Array
    y_center: float
    y_scale: float
    scale: float = 1.0

    @property
    def n_inputs(self) -> int:
        return self.stack.n_inputs

    @property
    def capabilities(self) -> frozenset[nm.surrogates.Capability]:
        return STD

    def mean(self, X: npt.ArrayLike) -> Array:
        outputs = self.stack.evaluate(self.check_points(X))[:, :, 0]
        return np.asarray(self.y_center + self.y_scale * outputs.mean(axis=0))

    def scaled(self, factor: float) -> Any:
        return replace(self, scale=self.scale * nm.surrogates.check_scale(factor))

    def to_arrays(self) -> dict[str, Array]:
        numbers = {name: np.array(getattr(self, name)) for name in ("y_center", "y_scale", "scale")}
        return {"points": self.points, **self.stack.to_arrays(), **numbers}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array]) -> Any:
        numbers = (float(arrays[name]) for name in ("y_center", "y_scale", "scale"))
        return cls(nm.surrogates.Stack.from_arrays(arrays), arrays["points"], *numbers)

    def compiled(self, builder: nm.network.GraphBuilder) -> tuple[nm.network.Affine, ...]:
        """Add mean and members (M,) to a network."""
        members = builder.concatenate(self.stack.compile(builder, builder.input))
        shares = np.full((1, members.width), self.y_scale / members.width)
        return builder.shift(builder.affine(members, shares), self.y_center), members


class Nearest(Nets):
    """The std is another network's output: the 1-distance to the nearest observation."""

    family = "nearest"

    @property
    def capabilities(self) -> frozenset[nm.surrogates.Capability]:
        return STD | {nm.surrogates.Capability.NETWORK}

    def std(self, X: npt.ArrayLike) -> Array:
        away = np.abs(self.check_points(X)[:, None, :] - self.points).sum(axis=2)
        return np.asarray(self.scale * self.y_scale * away.min(axis=1))

    def network(self) -> nm.Network:
        builder = nm.network.GraphBuilder(self.n_inputs)
        mean, _ = self.compiled(builder)
        ones, nearest = np.ones((1, self.n_inputs)), None
        for point in self.points:
            away = builder.affine(builder.absolute(builder.shift(builder.input, -point)), ones)
            nearest = away if nearest is None else builder.minimum(nearest, away)
        assert nearest is not None
        return builder.finish(
            {"mean": mean, "std": builder.scale(nearest, self.scale * self.y_scale)}
        )


class Weighed(Nets):
    """The std is a form of the members: members further from the mean of all count more often."""

    family = "weighed"

    @property
    def root(self) -> Array:
        """The matrix (M, M) whose product with the members is as long as the std."""
        count = self.stack.n_members
        shares = np.sqrt(np.arange(1.0, count + 1.0) / count)
        return self.scale * self.y_scale * shares[:, None] * (np.eye(count) - 1.0 / count)

    def std(self, X: npt.ArrayLike) -> Array:
        members = self.stack.evaluate(self.check_points(X))[:, :, 0].T
        return np.asarray(np.linalg.norm(members @ self.root.T, axis=1))

    def posterior(self, members: bool = False) -> nm.scores.Posterior:
        builder = nm.network.GraphBuilder(self.n_inputs)
        mean, features = self.compiled(builder)
        network = builder.finish({"mean": mean, "feature": features})
        return nm.scores.QuadraticPosterior(network, self.root)


@dataclass(frozen=True)
class RandomNets(nm.surrogates.Surrogate):
    """Hidden layers are drawn, last layers solved for."""

    n_members: int = 3
    n_hidden: int = 6
    seed: int = 0

    def __post_init__(self) -> None:
        if self.seed < 0:
            raise nm.InputError(f"seed must be at least 0; got {self.seed}; take 0.")

    @property
    def capabilities(self) -> frozenset[nm.surrogates.Capability]:
        offered = STD
        if self.belief_type is Nearest:
            offered |= {nm.surrogates.Capability.NETWORK}
        return offered

    def fit(self, X: npt.ArrayLike, y: npt.ArrayLike) -> Nets:
        data = nm.surrogates.Observations.of(X, y)
        units = nm.surrogates.Standardization.of(data, inputs=False, outputs=True)
        rng = np.random.default_rng(self.seed)
        weights = rng.standard_normal((self.n_members, self.n_hidden, data.n_inputs))
        biases = rng.standard_normal((self.n_members, self.n_hidden))
        offsets, last = np.zeros((self.n_members, 1)), np.zeros((self.n_members, 1, self.n_hidden))
        hidden = nm.surrogates.Stack((weights, last), (biases, offsets)).hidden(data.X)
        last = (np.linalg.pinv(hidden, rcond=0.1) @ units.values_inward(data.y))[:, None, :]
        stack = nm.surrogates.Stack((weights, last), (biases, offsets))
        made: Nets = self.belief_type(stack, data.X, units.y_center, units.y_scale)  # type: ignore[call-arg]
        return made


class NearestNets(RandomNets):
    """Mean of random networks, std by distance."""

    name: ClassVar[str] = "nearest"
    belief_type: ClassVar[type[nm.surrogates.Belief]] = Nearest


class WeighedNets(RandomNets):
    """Mean of random networks, std by their weighed spread."""

    name: ClassVar[str] = "weighed"
    belief_type: ClassVar[type[nm.surrogates.Belief]] = Weighed
