r"""How mean and std are read from the outputs of a network, in float64.

    plain      mean and std are outputs
    smooth     std = factor l_max (1 - exp(-(r + l_min) / l_max)),   r = max(relu_raw, 0)
    members    std^2 = mean_m (f_m - mean_m f_m)^2 + noise^2, or the square of that (variance)
    quadratic  std^2 = |root . psi|^2 + noise^2,   psi = the feature outputs

A head on a posterior is what the exact maximizers see of an acquisition on a belief. What bounds a
posterior relies on its type and on what is checked here when it is made, and on nothing else: the
outputs of the network may have any values.
"""

from __future__ import annotations

import abc
import math
from dataclasses import dataclass, fields
from functools import cached_property
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from nnbo_mip.core.arrays import FloatArray, IntArray
from nnbo_mip.core.checks import check_choice, check_number
from nnbo_mip.core.errors import InputError, UnsupportedError
from nnbo_mip.network.graph.graph import Network
from nnbo_mip.network.graph.tree_arrays import TreeArrays
from nnbo_mip.scores.base.abstract import MomentSlopes
from nnbo_mip.scores.base.spreads import (
    slopes_by_features,
    slopes_by_members,
    std_of_features,
    std_of_members,
)

POSITIVE = ("l_max", "variance_unit", "nu", "mixture", "amplitude")
NOT_NEGATIVE = ("l_min", "factor", "noise", "reach", "slope_variance", "level_variance")
"""Numbers of posteriors that bounds need to be so."""

SPREADS = ("std", "variance")


class Posterior(abc.ABC):
    """A way from points to mean and std, or to members; a frozen dataclass of numbers."""

    spans_plane: ClassVar[bool] = False
    """Whether mean and std are outputs of a network, or the std a function of one."""

    on_sphere: ClassVar[bool] = False
    """Whether it is linear in a point's place on a sphere, where some maxima have a closed form."""

    is_pairwise: ClassVar[bool] = False
    """Whether it is a sum of terms of one and of two inputs."""

    def __post_init__(self) -> None:
        """Refuse numbers and arrays that no bound holds for."""
        for entry in fields(self):  # type: ignore[arg-type]
            name, value = entry.name, getattr(self, entry.name)
            if entry.type == "FloatArray":
                _check_array(f"{name} of a {type(self).__name__}", value)
            elif entry.type == "float":
                above = 0.0 if name in POSITIVE else -math.inf
                check_number(name, value, above, 0.0 if name in NOT_NEGATIVE else -math.inf)
            elif name == "spread":
                check_choice(name, value, SPREADS)

    @property
    @abc.abstractmethod
    def n_inputs(self) -> int:
        """d, the number of inputs."""

    @abc.abstractmethod
    def mean(self, X: npt.ArrayLike) -> FloatArray:
        """Return the mean (n,) at points (n, d)."""

    @abc.abstractmethod
    def std(self, X: npt.ArrayLike) -> FloatArray:
        """Return the std (n,) at points (n, d)."""

    @property
    def has_members(self) -> bool:
        """Whether `members` can be asked."""
        return type(self).members is not Posterior.members

    @property
    def forest(self) -> TreeArrays | None:
        """The trees that it reads, None where it is a function of another kind."""
        return None

    def moments(self, X: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Return mean and std (n,) at points (n, d)."""
        return self.mean(X), self.std(X)

    def pull_moments(self, X: FloatArray, slopes: MomentSlopes) -> FloatArray:
        """Return the gradients (n, d) of a function of mean and std at points (n, d)."""
        raise self._not_climbed()

    def pull_members(self, X: FloatArray, weights: FloatArray) -> FloatArray:
        """Return the sums (n, d) of the members' gradients with weights (n, M)."""
        raise self._not_climbed()

    def tangent_of_moments(self, X: FloatArray, slopes: MomentSlopes) -> Network:
        """Return a network of one output with the slopes of `pull_moments` at a point (1, d)."""
        return Network.from_layers([(self.pull_moments(X, slopes), np.zeros(1))])

    def tangent_of_members(self, X: FloatArray, weights: FloatArray) -> Network:
        """Return a network of one output with the slopes of `pull_members` at a point (1, d)."""
        return Network.from_layers([(self.pull_members(X, weights), np.zeros(1))])

    def _not_climbed(self) -> UnsupportedError:
        return UnsupportedError(
            "a posterior must know its slopes to be climbed; got a "
            f"{type(self).__name__}; derive it from CompiledPosterior or CurvedPosterior."
        )

    def members(self, X: npt.ArrayLike) -> FloatArray:
        """Return the members' predictions (n, M) at points (n, d)."""
        raise UnsupportedError(
            f"a {type(self).__name__} must have members for this head; it has none; choose a "
            "surrogate with members, or a head of mean and std."
        )


def _check_array(what: str, value: object) -> None:
    """Refuse what is no array of finite numbers."""
    if not isinstance(value, np.ndarray) or value.dtype.kind not in "fiu":
        raise InputError(f"{what} must be an array of numbers; got {value!r:.80}; give it one.")
    if not np.isfinite(value).all():
        raise InputError(
            f"{what} must be finite numbers; got NaN or infinity among {value.size}; mend it."
        )


@dataclass(frozen=True, eq=False)
class CompiledPosterior(Posterior):
    """A network with an output ``mean``, and a way to its std.

    Parameters
    ----------
    network : Network
        Its named outputs are what is read.
    """

    std_output: ClassVar[str | None] = None
    """The output that the std is read from; all of them where it is None."""

    network: Network

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.network, Network):
            raise InputError(
                f"a {type(self).__name__} reads a Network; got {self.network!r:.80}; give it one."
            )
        for name in self._reads():
            if name not in self.network.output_names:
                raise InputError(
                    f"a {type(self).__name__} reads the outputs {', '.join(self._reads()[:4])}; "
                    f"the network has {', '.join(self.network.output_names[:6])}; rename them."
                )

    @property
    def n_inputs(self) -> int:
        """d, the number of inputs."""
        return self.network.n_inputs

    def mean(self, X: npt.ArrayLike) -> FloatArray:
        """Return the mean (n,) at points (n, d)."""
        return self.network.evaluate(X, "mean")

    def std(self, X: npt.ArrayLike) -> FloatArray:
        """Return the std (n,) at points (n, d)."""
        return self.std_from(self.network.evaluate(X, self.std_output))

    def moments(self, X: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Return mean and std (n,) at points (n, d) from one pass."""
        mean, read = self.network.evaluate_together(X, ("mean", self.std_output))
        return mean, self.std_from(read)

    def pull_moments(self, X: FloatArray, slopes: MomentSlopes) -> FloatArray:
        """Return the gradients (n, d) of a function of mean and std at points (n, d)."""
        return self.network.pull_back(X, self._weights_of_moments(X, slopes))

    def pull_members(self, X: FloatArray, weights: FloatArray) -> FloatArray:
        """Return the sums (n, d) of the members' gradients with weights (n, M)."""
        return self.network.pull_back(X, self._weights_of_members(weights))

    def tangent_of_moments(self, X: FloatArray, slopes: MomentSlopes) -> Network:
        """Return the sum of the outputs with the slopes of `pull_moments` at a point (1, d)."""
        return self._weighted(self._weights_of_moments(X, slopes)[0])

    def tangent_of_members(self, X: FloatArray, weights: FloatArray) -> Network:
        """Return the sum of the outputs with the slopes of `pull_members` at a point (1, d)."""
        return self._weighted(self._weights_of_members(weights)[0])

    def _weighted(self, weights: FloatArray) -> Network:
        names = self.network.output_names
        return self.network.objective(dict(zip(names, weights.tolist(), strict=True)))

    def _weights_of_moments(self, X: FloatArray, slopes: MomentSlopes) -> FloatArray:
        """Return the derivatives (n, m) by the outputs."""
        weights = np.zeros((len(X), self.network.n_outputs))
        mean, read = self.network.evaluate_together(X, ("mean", self.std_output))
        by_mean, by_std = slopes(mean, self.std_from(read))
        weights[:, self.columns] += by_std[:, None] * self.std_slopes(read)
        weights[:, self.network.output_index("mean")] += by_mean
        return weights

    def _weights_of_members(self, by_member: FloatArray) -> FloatArray:
        """Return the derivatives (n, m) by the outputs, given those (n, M) by the members."""
        if not self.has_members:
            raise self._not_climbed()
        weights = np.zeros((len(by_member), self.network.n_outputs))
        weights[:, self.columns] = by_member
        return weights

    @abc.abstractmethod
    def std_from(self, read: FloatArray) -> FloatArray:
        """Return the std (n,) from the values of `std_output`."""

    @abc.abstractmethod
    def std_slopes(self, read: FloatArray) -> FloatArray:
        """Return the derivatives (n, k) of the std by the outputs `columns` from those values."""

    @cached_property
    def columns(self) -> IntArray:
        """Rows (k,) of what the std depends on among the network's outputs."""
        return np.array([self.network.output_index(self.std_output)])

    @abc.abstractmethod
    def _reads(self) -> tuple[str, ...]:
        """Names of the outputs that are read."""

    def _numbered(self, prefix: str) -> tuple[str, ...]:
        """Return the names of the outputs that are a prefix and a number, in their order."""
        found = [name for name in self.network.output_names if name.startswith(prefix)]
        names = tuple(f"{prefix}{number}" for number in range(len(found)))
        if set(found) != set(names):
            raise InputError(
                f"a {type(self).__name__} reads outputs {prefix}0, {prefix}1, …; the network has "
                f"{', '.join(found[:6]) or 'none'}; rename them."
            )
        return names


class CurvedPosterior(Posterior):
    """A posterior of smooth functions, which knows its own gradients."""

    @abc.abstractmethod
    def pull_moments(self, X: FloatArray, slopes: MomentSlopes) -> FloatArray:
        """Return the gradients (n, d) of a function of mean and std at points (n, d)."""

    def pull_members(self, X: FloatArray, weights: FloatArray) -> FloatArray:
        """Return the sums (n, d) of the members' gradients with weights (n, M)."""
        raise UnsupportedError(
            f"a {type(self).__name__} must have members for this head; it has none; choose a "
            "surrogate with members, or a head of mean and std."
        )


@dataclass(frozen=True, eq=False)
class PlainPosterior(CompiledPosterior):
    """Mean and std are outputs: NOMU under clip, mean absolute deviation of members."""

    spans_plane = True
    std_output = "std"

    def std_from(self, read: FloatArray) -> FloatArray:
        """Return the std (n,), which rounding may not take below zero."""
        return np.maximum(read, 0.0)

    def std_slopes(self, read: FloatArray) -> FloatArray:
        """Return 1 (n, 1) where the output is positive."""
        return np.asarray(read[:, None] > 0.0, dtype=np.float64)

    def _reads(self) -> tuple[str, ...]:
        return ("mean", "std")


@dataclass(frozen=True, eq=False)
class SmoothPosterior(CompiledPosterior):
    """NOMU under the smooth bounding: increasing and concave in r, the positive part of an output.

    Parameters
    ----------
    l_min, l_max : float
        Limits of the bounding.
    factor : float
        Units of y and the outside scale.
    """

    spans_plane = True
    std_output = "relu_raw"

    l_min: float
    l_max: float
    factor: float

    def std_from(self, read: FloatArray) -> FloatArray:
        """Return the std (n,) at raw values."""
        return self.std_of(read)

    def std_slopes(self, read: FloatArray) -> FloatArray:
        """Return the slopes (n, 1) at raw values."""
        return self.slope_of(read)[:, None]

    def std_of(self, r: npt.ArrayLike) -> FloatArray:
        """Return the std at values r = relu(raw)."""
        exponent = (np.maximum(r, 0.0) + self.l_min) / self.l_max
        return np.asarray(-self.factor * self.l_max * np.expm1(-exponent))

    def slope_of(self, r: npt.ArrayLike) -> FloatArray:
        """Return the derivative of the std by r at values r >= 0."""
        exponent = (np.maximum(r, 0.0) + self.l_min) / self.l_max
        return np.asarray(self.factor * np.exp(-exponent))

    def _reads(self) -> tuple[str, ...]:
        return ("mean", "relu_raw")


@dataclass(frozen=True, eq=False)
class MembersPosterior(CompiledPosterior):
    """Members ``member0``, ``member1``, … and their spread.

    Parameters
    ----------
    spread : str
        ``std`` or ``variance``; under ``variance`` the std is that of the members squared,
        over `variance_unit`. Mean absolute deviation is a `PlainPosterior`.
    variance_unit : float
        Unit of y in which the variance is taken.
    noise : float
        Standard deviation that is added in squares.
    """

    spread: str = "std"
    variance_unit: float = 1.0
    noise: float = 0.0

    def std_from(self, read: FloatArray) -> FloatArray:
        """Return the spread (n,), with the noise."""
        return self.std_of(read[:, self.columns])

    def std_slopes(self, read: FloatArray) -> FloatArray:
        """Return the slopes (n, M) by the members."""
        members = np.asarray(read[:, self.columns])
        return slopes_by_members(members, self.spread, self.variance_unit, self.noise)

    def members(self, X: npt.ArrayLike) -> FloatArray:
        """Return the members' predictions (n, M)."""
        return np.asarray(self.network.evaluate(X)[:, self.columns])

    def std_of(self, members: FloatArray) -> FloatArray:
        """Return the std of predictions (n, M)."""
        return std_of_members(members, self.spread, self.variance_unit, self.noise)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the members' outputs, in their order."""
        return self._numbered("member")

    @cached_property
    def columns(self) -> IntArray:
        """Rows of the members (M,) among the network's outputs."""
        return np.array([self.network.output_index(name) for name in self.names])

    def _reads(self) -> tuple[str, ...]:
        return ("mean", "member0", *self.names)


@dataclass(frozen=True, eq=False)
class QuadraticPosterior(CompiledPosterior):
    """A linear model on the outputs ``feature0``, ``feature1``, … with normal weights.

    Parameters
    ----------
    root : (r, k) array
        The variance is the squared length of ``root @ psi``.
    noise : float
        Standard deviation that is added in squares.
    """

    root: FloatArray
    noise: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.root.ndim != 2 or self.root.shape[1] != len(self.names):
            raise InputError(
                f"the root of a QuadraticPosterior must have a column for each of the "
                f"{len(self.names)} features; got shape {self.root.shape}; mend it."
            )

    def std_from(self, read: FloatArray) -> FloatArray:
        """Return the std (n,), with the noise."""
        return std_of_features(read[:, self.columns], self.root, self.noise)

    def std_slopes(self, read: FloatArray) -> FloatArray:
        """Return the slopes (n, k) by the features."""
        return slopes_by_features(read[:, self.columns], self.root, self.noise)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the features' outputs, in their order."""
        return self._numbered("feature")

    @cached_property
    def columns(self) -> IntArray:
        """Rows of the features (k,) among the network's outputs."""
        return np.array([self.network.output_index(name) for name in self.names])

    def _reads(self) -> tuple[str, ...]:
        return ("mean", "feature0", *self.names)
