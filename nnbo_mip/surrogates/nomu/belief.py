"""What a trained pair of NOMU networks believes.

With u the input, h and k the last hidden values of main and side net, and T the bounding,

    mean = y_center + y_scale (w . h + b),      s = a . h + c . k + e,
    std  = scale y_scale T(s).

s is called raw; it and the limits of T are in standardized units of y, without the scale.

From NOMU's raw uncertainty s to a std: two activations that bound it.

    clip     T(s) = min(max(s, l_min), l_max) = l_min + relu(s - l_min) - relu(s - l_max)
    smooth   T(s) = l_max (1 - exp(-(relu(s) + l_min) / l_max))

Both increase from about l_min to l_max. The first is piecewise linear, so it compiles.

References
----------
Högger (2021), both activations [Hogger2021].
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from nnbo_mip.core.arrays import Array, FloatArray
from nnbo_mip.core.checks import check_choice, check_number
from nnbo_mip.core.errors import InputError
from nnbo_mip.network.graph.builder import GraphBuilder
from nnbo_mip.network.graph.graph import Network
from nnbo_mip.scores.posteriors.compiled import Posterior, SmoothPosterior
from nnbo_mip.surrogates.base.abstract import Belief, Capability, ValueGradient, check_scale
from nnbo_mip.surrogates.base.observations import Standardization
from nnbo_mip.surrogates.base.storage import standardization_arrays, standardization_of
from nnbo_mip.surrogates.ensembles.stack import Stack

KINDS = ("clip", "smooth")


@dataclass(frozen=True)
class Bounding:
    """The activation T.

    Parameters
    ----------
    kind : str
        ``clip`` or ``smooth``.
    l_min, l_max : float
        Its limits, 0 < l_min < l_max, in standardized units.
    """

    kind: str
    l_min: float
    l_max: float

    def __post_init__(self) -> None:
        check_choice("bounding", self.kind, KINDS)
        low = check_number("l_min", self.l_min, above=0.0)
        if check_number("l_max", self.l_max, above=0.0) <= low:
            raise InputError(
                f"l_max must be larger than l_min; got l_min={self.l_min!r} and "
                f"l_max={self.l_max!r}; raise l_max."
            )

    def __call__(self, raw: FloatArray) -> FloatArray:
        """Return T(s), entry by entry."""
        if self.kind == "clip":
            return np.clip(raw, self.l_min, self.l_max)
        return np.asarray(-self.l_max * np.expm1(-self._exponent(raw)))

    def slope(self, raw: FloatArray) -> FloatArray:
        """Return T'(s), entry by entry; that of the flat side at a kink."""
        if self.kind == "clip":
            return ((raw > self.l_min) & (raw < self.l_max)).astype(np.float64)
        return np.asarray(np.where(raw > 0.0, np.exp(-self._exponent(raw)), 0.0))

    def _exponent(self, raw: FloatArray) -> FloatArray:
        return np.asarray((np.maximum(raw, 0.0) + self.l_min) / self.l_max)


CAPABILITIES = frozenset({Capability.MEAN, Capability.STD, Capability.GRADIENT, Capability.NETWORK})


@dataclass(frozen=True, eq=False)
class NomuBelief(Belief):
    """Main and side net, and the bounding of their raw uncertainty.

    Parameters
    ----------
    main : Stack
        One network with two outputs: the mean, and its part a . h of the raw uncertainty.
    side : Stack
        One network with one output, the side net's part c . k + e.
    units : Standardization
        From the user's units to those of the networks.
    bounding : Bounding
        T, applied to the sum of both parts.
    scale : float
        Multiplier of the uncertainty.
    """

    family = "nomu"
    capabilities = CAPABILITIES

    main: Stack
    side: Stack
    units: Standardization
    bounding: Bounding
    scale: float = 1.0

    @property
    def n_inputs(self) -> int:
        """d, the number of inputs."""
        return self.main.n_inputs

    @property
    def std_factor(self) -> float:
        """The factor of T(raw) in the std: scale times y_scale."""
        return self.scale * self.units.y_scale

    def mean(self, X: npt.ArrayLike) -> FloatArray:
        """Return expected values (n,)."""
        return self._values(self.main.evaluate(self._inward(X))[0, :, 0])

    def raw(self, X: npt.ArrayLike) -> FloatArray:
        """Raw uncertainty (n,), of any sign, in standardized units and without the scale."""
        u = self._inward(X)
        return np.asarray(self.main.evaluate(u)[0, :, 1] + self.side.evaluate(u)[0, :, 0])

    def std(self, X: npt.ArrayLike) -> FloatArray:
        """Bounded uncertainty (n,) in units of y."""
        return self.std_factor * self.bounding(self.raw(X))

    def differentiate(self, X: npt.ArrayLike) -> ValueGradient:
        """Mean, std and their gradients; the std has slope 0 where the bounding is at a limit."""
        u = self._inward(X)
        mean, mean_gradient = self.main.differentiate(u, output=0)
        main_part, main_gradient = self.main.differentiate(u, output=1)
        side_part, side_gradient = self.side.differentiate(u)
        raw, raw_gradient = main_part[0] + side_part[0], main_gradient[0] + side_gradient[0]
        slope = self.std_factor * self.bounding.slope(raw)
        return ValueGradient(
            self._values(mean[0]),
            self.std_factor * self.bounding(raw),
            self.units.y_scale * mean_gradient[0] / self.units.x_scale,
            slope[:, None] * raw_gradient / self.units.x_scale,
        )

    def network(self) -> Network:
        """Return the network of ``mean``, ``raw``, ``relu_raw`` and, under clip, ``std``.

        ``raw`` and ``relu_raw`` are in standardized units, so that under both boundings
        ``std = std_factor * bounding(raw)``.
        """
        builder = GraphBuilder(self.n_inputs)
        value = self.units.input_of(builder)
        (main,) = self.main.compile(builder, value)
        (side,) = self.side.compile(builder, value)
        raw = builder.add(builder.select(main, [1]), side)
        mean = builder.scale(builder.select(main, [0]), self.units.y_scale)
        outputs = {
            "mean": builder.shift(mean, self.units.y_center),
            "raw": raw,
            "relu_raw": builder.relu(raw),
        }
        if self.bounding.kind == "clip":
            bounded = builder.clip(raw, self.bounding.l_min, self.bounding.l_max)
            outputs["std"] = builder.scale(bounded, self.std_factor)
        return builder.finish(outputs)

    def posterior(self, members: bool = False) -> Posterior:
        """Return mean and std, the latter a function of ``relu_raw`` under smooth bounding."""
        bounding = self.bounding
        if bounding.kind == "smooth":
            return SmoothPosterior(self.network(), bounding.l_min, bounding.l_max, self.std_factor)
        return super().posterior(members)

    def scaled(self, factor: float) -> NomuBelief:
        """Return this belief with its std multiplied by `factor`, after the bounding."""
        return replace(self, scale=self.scale * check_scale(factor))

    def to_arrays(self) -> dict[str, Array]:
        """Return plain arrays."""
        return {
            **{f"main_{name}": array for name, array in self.main.to_arrays().items()},
            **{f"side_{name}": array for name, array in self.side.to_arrays().items()},
            **standardization_arrays(self.units),
            "bounding": np.array(self.bounding.kind),
            "l_min": np.array(self.bounding.l_min),
            "l_max": np.array(self.bounding.l_max),
            "scale": np.array(self.scale),
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array]) -> NomuBelief:
        """Make the belief that `to_arrays` described."""

        def stack(prefix: str, outputs: int) -> Stack:
            parts = {name[5:]: a for name, a in arrays.items() if name.startswith(prefix)}
            made = Stack.from_arrays(parts)
            if (made.n_members, made.biases[-1].shape[1]) != (1, outputs):
                raise ValueError(f"{prefix}net must be one network with {outputs} output(s)")
            return made

        limits = float(arrays["l_min"]), float(arrays["l_max"])
        return cls(
            stack("main_", 2),
            stack("side_", 1),
            standardization_of(arrays),
            Bounding(str(arrays["bounding"]), *limits),
            check_scale(float(arrays["scale"])),
        )

    def _inward(self, X: npt.ArrayLike) -> FloatArray:
        return self.units.inward(self.check_points(X))

    def _values(self, standardized: FloatArray) -> FloatArray:
        return np.asarray(self.units.y_center + self.units.y_scale * standardized)
