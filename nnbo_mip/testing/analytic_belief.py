"""A belief of formulas, with everything a belief can offer, for tests of what reads beliefs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import expit, ndtri

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.surrogates.base.abstract import Belief, Capability, ValueGradient, check_scale
from nnbo_mip.surrogates.base.mixture import Mixture, MixtureSlopes

ALL = frozenset(
    {
        *(Capability.MEAN, Capability.STD, Capability.MEMBERS),
        *(Capability.DRAWS, Capability.GRADIENT, Capability.NOISE, Capability.MIXTURE),
    }
)


RATIO = frozenset({Capability.RATIO, Capability.GRADIENT})
"""What it declares as a density ratio."""


@dataclass(frozen=True, eq=False)
class AnalyticBelief(Belief):
    """``mean = sum_i sin(1.3 x_i + i)`` and ``std = scale (0.1 + 0.5 |x|^2 / d)``.

    Members and draws are ``mean + z std``, with z the normal quantiles of equal shares, made
    to have mean 0 and standard deviation 1, and with z random and normal.

    The mixture has two components of weights ``w = 0.5 + 0.3 sin(2 x_1)`` and 1 - w, of the
    means ``mean + 0.6 std sqrt((1 - w) / w)`` and ``mean - 0.6 std sqrt(w / (1 - w))`` and of
    std 0.8 std each: its moments are mean and std.

    Parameters
    ----------
    d : int
        Number of inputs.
    n_members : int
        M.
    scale : float
        Multiplier of the uncertainty.
    noise : float
        Standard deviation of an observation.
    offset : float
        z of a draw: the mean is moved by it, and the std is zero.
    is_draw : bool
        Whether this is a draw.
    offered : frozenset of Capability
        What it declares; everything that has a mean and a std, unless something is to be missed.
        Under `RATIO` it is a ratio instead, which rises with the mean. It refuses the rest.
    """

    d: int = 2
    n_members: int = 20
    scale: float = 1.0
    noise: float = 0.1
    offset: float = 0.0
    is_draw: bool = False
    offered: frozenset[Capability] = ALL

    family = "analytic"

    @property
    def n_inputs(self) -> int:
        """d, the number of inputs."""
        return self.d

    @property
    def capabilities(self) -> frozenset[Capability]:
        """What this belief offers."""
        return self.offered

    def mean(self, X: npt.ArrayLike) -> FloatArray:
        """Return expected values (n,)."""
        return self._of(Capability.MEAN, X).mean

    def std(self, X: npt.ArrayLike) -> FloatArray:
        """Return uncertainty (n,)."""
        return self._of(Capability.STD, X).std

    def noise_std(self, X: npt.ArrayLike) -> FloatArray:
        """Return the noise (n,), the same everywhere."""
        return np.full(len(self.check_points(X)), self.noise)

    def members(self, X: npt.ArrayLike) -> FloatArray:
        """Return predictions (n, M)."""
        local = self._of(Capability.MEMBERS, X)
        return local.mean[:, None] + local.std[:, None] * self._z

    def member_gradients(self, X: npt.ArrayLike) -> FloatArray:
        """Return gradients (n, M, d) of `members`."""
        local = self._of(Capability.MEMBERS, X)
        return local.mean_gradient[:, None] + self._z[:, None] * local.std_gradient[:, None]

    def mixture(self, X: npt.ArrayLike) -> Mixture:
        """Return the two components."""
        local = self._of(Capability.MIXTURE, X)
        weights, z, _ = self._components(self.check_points(X))
        stds = np.repeat(0.8 * local.std[:, None], 2, axis=1)
        return Mixture(weights, local.mean[:, None] + z * local.std[:, None], stds)

    def mixture_slopes(self, X: npt.ArrayLike) -> MixtureSlopes:
        """Return gradients (n, 2, d) of `mixture`."""
        points, local = self.check_points(X), self._of(Capability.MIXTURE, X)
        weights, z, rate = self._components(points)
        first = np.zeros((*points.shape[:1], 2, self.d))
        first[:, 0, 0], first[:, 1, 0] = rate, -rate
        # z_1 = 0.6 sqrt((1 - w) / w), dz_1/dw = -z_1 / (2 w (1 - w)); z_2 likewise, dw as it is
        turn = -0.5 * np.abs(z) / weights.prod(axis=1, keepdims=True)
        moved = turn[..., None] * first[:, :1]
        means = local.mean_gradient[:, None] + z[..., None] * local.std_gradient[:, None]
        means = means + local.std[:, None, None] * moved
        stds = np.repeat(0.8 * local.std_gradient[:, None], 2, axis=1)
        return MixtureSlopes(first, means, stds)

    @staticmethod
    def _components(points: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return weights (n, 2), places z (n, 2) and the slope (n,) of the first weight."""
        w = 0.5 + 0.3 * np.sin(2.0 * points[:, 0])
        z = 0.6 * np.column_stack([np.sqrt((1.0 - w) / w), -np.sqrt(w / (1.0 - w))])
        return np.column_stack([w, 1.0 - w]), z, 0.6 * np.cos(2.0 * points[:, 0])

    def differentiate(self, X: npt.ArrayLike) -> ValueGradient:
        """Return mean, std and their gradients."""
        return self._of(Capability.GRADIENT, X)

    def _of(self, needed: Capability, X: npt.ArrayLike) -> ValueGradient:
        """Return everything there is at points, to whoever asks for what is offered."""
        if needed not in self.offered:
            raise self._lacks(needed)
        points = self.check_points(X)
        angles = 1.3 * points + np.arange(self.d)
        mean, slope = np.sin(angles).sum(axis=1), 1.3 * np.cos(angles)
        std = self.scale * (0.1 + 0.5 * np.square(points).mean(axis=1))
        std_slope = self.scale * points / self.d
        if self.is_draw:
            moved, moved_slope = mean + self.offset * std, slope + self.offset * std_slope
            return ValueGradient(moved, np.zeros(len(points)), moved_slope, np.zeros_like(points))
        return ValueGradient(mean, std, slope, std_slope)

    def ratio(self, X: npt.ArrayLike) -> FloatArray:
        """Return the logistic function of the mean (n,), a share of 1 being good."""
        return np.asarray(expit(self._of(Capability.RATIO, X).mean))

    def latent(self) -> AnalyticBelief:
        """Return the mean without uncertainty."""
        if Capability.RATIO not in self.offered:
            raise self._lacks(Capability.RATIO)
        return replace(
            self, is_draw=True, offered=frozenset({Capability.MEAN, Capability.GRADIENT})
        )

    def draw(self, seed: int) -> AnalyticBelief:
        """Return one function; its std is zero."""
        if Capability.DRAWS not in self.offered:
            raise self._lacks(Capability.DRAWS)
        offset = float(np.random.default_rng(seed).standard_normal())
        offered = self.offered | {Capability.MEAN}
        return replace(self, offset=offset, is_draw=True, offered=offered)

    def scaled(self, factor: float) -> AnalyticBelief:
        """Return this belief with its uncertainty multiplied by `factor`."""
        return replace(self, scale=self.scale * check_scale(factor))

    def to_arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Return plain arrays."""
        names = ("d", "n_members", "scale", "noise", "offset", "is_draw")
        return {
            **{name: np.array(getattr(self, name)) for name in names},
            "offered": np.array(sorted(self.offered)),
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, npt.NDArray[Any]]) -> AnalyticBelief:
        """Make the belief that `to_arrays` described."""
        return cls(
            int(arrays["d"]),
            int(arrays["n_members"]),
            float(arrays["scale"]),
            float(arrays["noise"]),
            float(arrays["offset"]),
            bool(arrays["is_draw"]),
            frozenset(Capability(str(name)) for name in arrays["offered"]),
        )

    @property
    def _z(self) -> FloatArray:
        quantiles = np.asarray(ndtri((np.arange(self.n_members) + 0.5) / self.n_members))
        return quantiles / (quantiles.std() or 1.0)
