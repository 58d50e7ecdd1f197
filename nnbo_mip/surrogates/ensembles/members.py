r"""The belief of every family whose uncertainty is the disagreement of members.

With members f_1, …, f_M in standardized units and the spread

    std       s = sqrt(mean_m (f_m - f)^2)
    variance  s = mean_m (f_m - f)^2
    mad       s = mean_m |f_m - f|,          f = mean_m f_m,

the belief is ``mean = y_center + y_scale f`` and ``std = scale y_scale s``. The outside
scale moves the members too, ``y_center + y_scale (f + r (f_m - f))`` with r = scale, or
sqrt(scale) under variance, so that their spread is always the std.

Noisy members predict a variance beside the value, softplus of their second output, to which
the square of a constant noise is added.

Members are a mixture of equal weights too, of stds that are zero, or the noise where it is
included; under the spread std its moments are those of the belief.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from nnbo_mip.core.arrays import Array, FloatArray
from nnbo_mip.core.budget import reserve
from nnbo_mip.core.errors import UnsupportedError
from nnbo_mip.network.graph.affine import Affine
from nnbo_mip.network.graph.builder import GraphBuilder
from nnbo_mip.network.graph.graph import Network
from nnbo_mip.scores.posteriors.compiled import MembersPosterior, Posterior
from nnbo_mip.scores.posteriors.tanh import TanhMembers
from nnbo_mip.surrogates.base.abstract import Belief, Capability, ValueGradient, check_scale
from nnbo_mip.surrogates.base.mixture import Mixture, MixtureSlopes
from nnbo_mip.surrogates.base.observations import Standardization
from nnbo_mip.surrogates.base.storage import standardization_arrays, standardization_of
from nnbo_mip.surrogates.ensembles.stack import Stack
from nnbo_mip.surrogates.ensembles.tanh_layers import tanh_layers

SPREADS = ("std", "variance", "mad")


def member_capabilities(activation: str, noisy: bool) -> frozenset[Capability]:
    """Return what a belief of members offers, from what is known before fitting."""
    offered = {
        *(Capability.MEAN, Capability.STD, Capability.MEMBERS),
        *(Capability.DRAWS, Capability.GRADIENT, Capability.MIXTURE),
    }
    if activation == "relu":
        offered.add(Capability.NETWORK)
    if noisy:
        offered.add(Capability.NOISE)
    return frozenset(offered)


@dataclass(frozen=True, eq=False)
class MemberBelief(Belief):
    """Members of one shape and their spread.

    Parameters
    ----------
    family : str
        Name of the surrogate that made it.
    stack : Stack
        The members, one output each, or two where they are noisy.
    units : Standardization
        From the user's units to the members'.
    spread : str
        ``std``, ``variance`` or ``mad``.
    scale : float
        Multiplier of the uncertainty.
    noise : float
        Standard deviation of an observation in units of y that is the same everywhere.
    include_noise : bool
        Whether `std` is that of an observation, sqrt(spread^2 + noise^2), instead of the
        function's.
    """

    family: str
    stack: Stack
    units: Standardization
    spread: str = "std"
    scale: float = 1.0
    noise: float = 0.0
    include_noise: bool = False

    @property
    def n_inputs(self) -> int:
        """d, the number of inputs."""
        return self.stack.n_inputs

    @property
    def is_noisy(self) -> bool:
        """Whether members predict a variance of their own."""
        return int(self.stack.biases[-1].shape[1]) == 2

    @property
    def capabilities(self) -> frozenset[Capability]:
        """What this belief offers."""
        return member_capabilities(self.stack.activation, self.is_noisy or self.noise > 0.0)

    def mean(self, X: npt.ArrayLike) -> FloatArray:
        """Mean (n,) of the members."""
        return self._mean_of(self._outputs(X))

    def std(self, X: npt.ArrayLike) -> FloatArray:
        """Spread (n,) of the members, times the scale; with the noise if that is included."""
        return self._std_of(self._outputs(X))

    def predict(
        self, X: npt.ArrayLike, return_std: bool = False
    ) -> FloatArray | tuple[FloatArray, FloatArray]:
        """Mean, or mean and std from one evaluation of the members."""
        outputs = self._outputs(X)
        mean = self._mean_of(outputs)
        return (mean, self._std_of(outputs)) if return_std else mean

    def noise_std(self, X: npt.ArrayLike) -> FloatArray:
        """Root (n,) of the mean of the members' variances plus the constant one."""
        return self._noise_of(self._outputs(X))

    def members(self, X: npt.ArrayLike) -> FloatArray:
        """Predictions (n, M), moved apart by the scale."""
        values = self._outputs(X)[:, :, 0]
        center = values.mean(axis=0)
        return self._values(center + self._reach * (values - center)).T

    def differentiate(self, X: npt.ArrayLike) -> ValueGradient:
        """Mean, spread and their gradients; 0 is taken for the slope of a spread of zero."""
        u = self.units.inward(self.check_points(X))
        values, gradients = self.stack.differentiate(u)
        gradients = gradients / self.units.x_scale
        center, center_gradient = values.mean(axis=0), gradients.mean(axis=0)
        off, off_gradient = values - center, gradients - center_gradient
        spread = self._spread(values)
        factor = self.scale * self.units.y_scale
        if self.spread == "mad":
            slope = (np.sign(off)[..., None] * off_gradient).mean(axis=0)
        else:
            slope = (2.0 * off[..., None] * off_gradient).mean(axis=0)
            if self.spread == "std":
                root = np.where(spread > 0.0, 2.0 * spread, np.inf)
                slope = slope / root[:, None]
        std, std_gradient = factor * spread, factor * slope
        if self.include_noise:
            std, std_gradient = self._with_noise(u, std, std_gradient)
        mean_gradient = self.units.y_scale * center_gradient
        return ValueGradient(self._values(center), std, mean_gradient, std_gradient)

    def member_gradients(self, X: npt.ArrayLike) -> FloatArray:
        """Gradients (n, M, d) of `members`."""
        _, gradients = self.stack.differentiate(self.units.inward(self.check_points(X)))
        center = gradients.mean(axis=0)
        moved = center + self._reach * (gradients - center)
        return np.asarray((moved * self.units.y_scale / self.units.x_scale).transpose(1, 0, 2))

    def mixture(self, X: npt.ArrayLike) -> Mixture:
        """Members (n, M) of equal weight; their stds are zero, or the noise if it is included."""
        members = self.members(X)
        stds = np.zeros_like(members)
        if self.include_noise:
            stds = np.hypot(stds, self._noise_of_members(self._outputs(X)).T)
        return Mixture(np.full_like(members, 1.0 / members.shape[1]), members, stds)

    def mixture_slopes(self, X: npt.ArrayLike) -> MixtureSlopes:
        """Gradients (n, M, d) of `mixture`."""
        means = self.member_gradients(X)
        stds = np.zeros_like(means)
        if self.include_noise and self.is_noisy:
            u = self.units.inward(self.check_points(X))
            raw, raw_gradient = self.stack.differentiate(u, output=1)
            logistic = np.exp(-np.logaddexp(0.0, -raw))  # derivative of softplus
            noise = self._noise_of_members(self.stack.evaluate(u))
            rate = 0.5 * self.units.y_scale**2 * logistic / noise
            slopes = rate[..., None] * raw_gradient / self.units.x_scale
            stds = slopes.transpose(1, 0, 2)
        return MixtureSlopes(np.zeros_like(means), means, stds)

    def draw(self, seed: int) -> MemberBelief:
        """Return one member, chosen by the seed; its std is zero.

        The outside scale is not applied: a member is a function that was trained.
        """
        index = int(np.random.default_rng(seed).integers(self.stack.n_members))
        return replace(self, stack=self.stack.member(index), scale=1.0)

    def network(self) -> Network:
        """Return the network of ``mean``, ``member0…`` and, under mad, ``std``."""
        count, width = self.stack.n_members, self.stack.weights[-1].shape[-1]
        reserve(
            f"the network of {count} members",
            n_bytes=8.0 * (6.0 * count**2 + 4.0 * count**2 * width),
            operations=4.0 * float(count) ** 3 * width,
        )
        builder = GraphBuilder(self.n_inputs)
        members = [
            builder.select(output, [0])
            for output in self.stack.compile(builder, self.units.input_of(builder))
        ]
        together = builder.concatenate(members)
        average = np.full((count, count), 1.0 / count)
        off = builder.affine(together, np.eye(count) - average)
        center = builder.affine(together, average)
        moved = builder.add(center, builder.scale(off, self._reach))
        outputs = {
            "mean": self._affine_values(builder, builder.affine(together, average[:1])),
            "member": self._affine_values(builder, moved),
        }
        if count == 1:
            outputs["member0"] = outputs.pop("member")
        if self.spread == "mad" and not self.include_noise:
            sizes = builder.absolute(off)
            factor = self.scale * self.units.y_scale
            outputs["std"] = builder.affine(sizes, np.full((1, count), factor / count))
        return builder.finish(outputs)

    def posterior(self, members: bool = False) -> Posterior:
        """Return the members, ReLUs or one hidden layer of tanh, and their spread."""
        curved = self.stack.activation == "tanh"
        reason = self._why_unread(members, curved)
        if reason:
            raise UnsupportedError(reason)
        if self.spread == "mad" and not members:
            return super().posterior()
        spread = "variance" if self.spread == "variance" else "std"
        noise = self.noise if self.include_noise and not self.is_noisy else 0.0
        if curved:
            layers = tanh_layers(self.stack, self.units, self._reach)
            return TanhMembers(*layers, spread, self.units.y_scale, noise)
        return MembersPosterior(self.network(), spread, self.units.y_scale, noise)

    def scaled(self, factor: float) -> MemberBelief:
        """Return this belief with its spread multiplied by `factor`."""
        return replace(self, scale=self.scale * check_scale(factor))

    def to_arrays(self) -> dict[str, Array]:
        """Return plain arrays."""
        return {
            **{f"stack_{name}": array for name, array in self.stack.to_arrays().items()},
            **standardization_arrays(self.units),
            "family": np.array(self.family),
            "spread": np.array(self.spread),
            "scale": np.array(self.scale),
            "noise": np.array(self.noise),
            "include_noise": np.array(self.include_noise),
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array]) -> MemberBelief:
        """Make the belief that `to_arrays` described."""
        parts = {name[6:]: array for name, array in arrays.items() if name.startswith("stack_")}
        return cls(
            str(arrays["family"]),
            Stack.from_arrays(parts),
            standardization_of(arrays),
            str(arrays["spread"]),
            float(arrays["scale"]),
            float(arrays["noise"]),
            bool(arrays["include_noise"]),
        )

    # -- parts ------------------------------------------------------------------------

    def _why_unread(self, members: bool, curved: bool) -> str:
        """Return why there is no posterior with proven bounds; empty where there is one."""
        mad, depth = self.spread == "mad" and not members, len(self.stack.weights) - 1
        if self.include_noise and not members and (self.is_noisy or mad):
            return (
                "the std of members must be their spread, with a constant noise at most, to be "
                f"maximized exactly; this {self.family} belief includes a noise "
                f"{'that varies' if self.is_noisy else 'beside a mean absolute deviation'}; leave "
                "include_noise False."
            )
        if curved and mad:
            return (
                "the spread of tanh members must be std or variance to be maximized exactly; this "
                f"{self.family} belief has mad; choose another spread, or activation='relu'."
            )
        if curved and depth != 1:
            return (
                "tanh members must have one hidden layer to be maximized exactly; those of this "
                f"{self.family} belief have {depth}; choose activation='relu', or a heuristic "
                "maximizer."
            )
        return ""

    @property
    def _reach(self) -> float:
        """How far the scale moves a member from the mean, r."""
        return float(np.sqrt(self.scale)) if self.spread == "variance" else self.scale

    def _outputs(self, X: npt.ArrayLike) -> FloatArray:
        return self.stack.evaluate(self.units.inward(self.check_points(X)))

    def _mean_of(self, outputs: FloatArray) -> FloatArray:
        return self._values(outputs[:, :, 0].mean(axis=0))

    def _std_of(self, outputs: FloatArray) -> FloatArray:
        spread = self.scale * self.units.y_scale * self._spread(outputs[:, :, 0])
        return np.hypot(spread, self._noise_of(outputs)) if self.include_noise else spread

    def _values(self, standardized: FloatArray) -> FloatArray:
        return np.asarray(self.units.y_center + self.units.y_scale * standardized)

    def _affine_values(self, builder: GraphBuilder, value: Affine) -> Affine:
        return builder.shift(builder.scale(value, self.units.y_scale), self.units.y_center)

    def _spread(self, values: FloatArray) -> FloatArray:
        """Spread (n,) of standardized values (M, n)."""
        off = values - values.mean(axis=0)
        if self.spread == "mad":
            return np.asarray(np.abs(off).mean(axis=0))
        variance = np.square(off).mean(axis=0)
        return np.asarray(variance if self.spread == "variance" else np.sqrt(variance))

    def _noise_of(self, outputs: FloatArray) -> FloatArray:
        if not self.is_noisy:
            return np.full(outputs.shape[1], self.noise)
        variance = np.logaddexp(0.0, outputs[:, :, 1]).mean(axis=0)
        return np.asarray(np.hypot(self.units.y_scale * np.sqrt(variance), self.noise))

    def _noise_of_members(self, outputs: FloatArray) -> FloatArray:
        """Return the standard deviation (M, n) of an observation from each member."""
        if not self.is_noisy:
            return np.full(outputs.shape[:2], self.noise)
        own = self.units.y_scale * np.sqrt(np.logaddexp(0.0, outputs[:, :, 1]))
        return np.asarray(np.hypot(own, self.noise))

    def _with_noise(
        self, u: FloatArray, std: FloatArray, gradient: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return sqrt(std^2 + noise^2) and its gradient."""
        noise_slope = np.zeros_like(gradient)
        if self.is_noisy:
            raw, raw_gradient = self.stack.differentiate(u, output=1)
            logistic = np.exp(-np.logaddexp(0.0, -raw))  # derivative of softplus
            change = (logistic[..., None] * raw_gradient).mean(axis=0) / self.units.x_scale
            varying = np.sqrt(np.logaddexp(0.0, raw).mean(axis=0))
            noise = np.hypot(self.units.y_scale * varying, self.noise)
            noise_slope = 0.5 * self.units.y_scale**2 * change
        else:
            noise = np.full(len(u), self.noise)
        total = np.hypot(std, noise)
        safe = np.where(total > 0.0, total, np.inf)[:, None]
        return total, (std[:, None] * gradient + noise_slope) / safe
