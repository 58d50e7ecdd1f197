r"""The belief of every family that learns a joint density of input and value.

In standardized units the conditional of the density, blended with the background, is a mixture
of normal components g_k, m_k, s_k; the belief is

    mean = y_center + y_scale f,    std = scale y_scale s,    f, s the moments of the mixture,

and its components are ``y_center + y_scale (f + scale (m_k - f))`` and ``scale y_scale s_k``, so
that mean and std are their exact moments under any outside scale.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from nnbo_mip.core.arrays import Array, FloatArray, blocks
from nnbo_mip.core.errors import UnsupportedError
from nnbo_mip.scores.posteriors.compiled import Posterior
from nnbo_mip.surrogates.base.abstract import Belief, Capability, ValueGradient, check_scale
from nnbo_mip.surrogates.base.mixture import Mixture, MixtureSlopes
from nnbo_mip.surrogates.base.observations import Standardization
from nnbo_mip.surrogates.base.storage import standardization_arrays, standardization_of
from nnbo_mip.surrogates.densities.background import BLENDS, Background
from nnbo_mip.surrogates.densities.gaussian_joint import GaussianJoint
from nnbo_mip.surrogates.densities.joint_density import JointDensity
from nnbo_mip.surrogates.densities.sum_product import SumProductNetwork

DENSITIES: dict[str, type[JointDensity]] = {
    density.kind: density for density in (GaussianJoint, SumProductNetwork)
}

OFFERED = frozenset({Capability.MEAN, Capability.STD, Capability.MIXTURE, Capability.GRADIENT})
"""What these beliefs offer. They say nothing of whole functions, so there is nothing to draw."""


@dataclass(frozen=True, eq=False)
class MixtureBelief(Belief):
    """A joint density, given the input.

    Parameters
    ----------
    family : str
        Name of the surrogate that made it.
    joint : JointDensity
        In standardized units.
    background : Background
        What is believed where nothing was seen.
    units : Standardization
        From the user's units to standardized ones.
    scale : float
        Multiplier of the uncertainty.
    """

    capabilities = OFFERED

    family: str
    joint: JointDensity
    background: Background
    units: Standardization
    scale: float = 1.0

    @property
    def n_inputs(self) -> int:
        """d, the number of inputs."""
        return self.joint.n_inputs

    def mean(self, X: npt.ArrayLike) -> FloatArray:
        """Mean (n,) of the mixture."""
        return self._moments(X)[0]

    def std(self, X: npt.ArrayLike) -> FloatArray:
        """Return the standard deviation (n,) of the mixture."""
        return self._moments(X)[1]

    def predict(
        self, X: npt.ArrayLike, return_std: bool = False
    ) -> FloatArray | tuple[FloatArray, FloatArray]:
        """Mean, or mean and std from one evaluation."""
        moments = self._moments(X)
        return moments if return_std else moments[0]

    def mixture(self, X: npt.ArrayLike) -> Mixture:
        """Weights, means and stds (n, K) of the components, the background last."""
        made = [self._in_units(self._mixture(u)) for u in self._blocks(X)]
        columns = zip(*((one.weights, one.means, one.stds) for one in made), strict=True)
        return Mixture(*(np.concatenate(column) for column in columns))

    def mixture_slopes(self, X: npt.ArrayLike) -> MixtureSlopes:
        """Gradients (n, K, d) of `mixture`."""
        made = []
        for u in self._blocks(X):
            slopes = self._mixture(u).widened_slopes(self._slopes(u), self.scale)
            rate = self.units.y_scale / self.units.x_scale
            made.append(
                (slopes.weights / self.units.x_scale, slopes.means * rate, slopes.stds * rate)
            )
        return MixtureSlopes(*(np.concatenate(column) for column in zip(*made, strict=True)))

    def differentiate(self, X: npt.ArrayLike) -> ValueGradient:
        """Mean, std and their gradients."""
        mean_slopes, std_slopes = [], []
        for u in self._blocks(X):
            mean_slope, std_slope = self._mixture(u).moment_slopes(self._slopes(u))
            mean_slopes.append(mean_slope)
            std_slopes.append(std_slope)
        mean, std = self._moments(X)
        rate = self.units.y_scale / self.units.x_scale
        return ValueGradient(
            mean,
            std,
            np.concatenate(mean_slopes) * rate,
            self.scale * np.concatenate(std_slopes) * rate,
        )

    def posterior(self, members: bool = False) -> Posterior:
        """Refuse: the weights of the components have no bounds here."""
        raise UnsupportedError(
            "a belief must be piecewise linear, a hidden layer of tanh or a Gaussian process to be "
            f"maximized exactly; the weights of a {self.family} belief's components are ratios "
            "of exponentials; choose another surrogate, or a heuristic maximizer."
        )

    def scaled(self, factor: float) -> MixtureBelief:
        """Return this belief with its std multiplied by `factor`."""
        return replace(self, scale=self.scale * check_scale(factor))

    def to_arrays(self) -> dict[str, Array]:
        """Return plain arrays."""
        return {
            **{f"joint_{name}": array for name, array in self.joint.to_arrays().items()},
            **standardization_arrays(self.units),
            "family": np.array(self.family),
            "joint": np.array(self.joint.kind),
            "observations": np.array(self.background.n),
            "delta": np.array(self.background.delta),
            "background": np.array(self.background.variance),
            "blend": np.array(self.background.blend),
            "scale": np.array(self.scale),
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array]) -> MixtureBelief:
        """Make the belief that `to_arrays` described."""
        parts = {name[6:]: array for name, array in arrays.items() if name.startswith("joint_")}
        numbers = [float(arrays[name]) for name in ("delta", "background", "scale")]
        n, blend = int(arrays["observations"]), str(arrays["blend"])
        if n < 1 or min(numbers) <= 0.0 or blend not in BLENDS:
            raise ValueError(f"{n} observations, {numbers}, blend {blend:.20}")
        joint = DENSITIES[str(arrays["joint"])].from_arrays(parts)
        background = Background(n, numbers[0], numbers[1], blend)
        units = standardization_of(arrays)
        return cls(str(arrays["family"]), joint, background, units, numbers[2])

    # -- parts, in standardized units ---------------------------------------------------

    def _blocks(self, X: npt.ArrayLike) -> Iterator[FloatArray]:
        u = self.units.inward(self.check_points(X))
        for rows in blocks(len(u), 4 * self.joint.n_parts * self.n_inputs):
            yield u[rows]

    def _mixture(self, u: FloatArray) -> Mixture:
        return self.background.mixture(self.joint.parts(u))

    def _slopes(self, u: FloatArray) -> MixtureSlopes:
        return self.background.slopes(self.joint.parts(u), self.joint.slopes(u))

    def _in_units(self, mixture: Mixture) -> Mixture:
        wide, units = mixture.widened(self.scale), self.units
        return Mixture(
            wide.weights, units.y_center + units.y_scale * wide.means, units.y_scale * wide.stds
        )

    def _moments(self, X: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
        made = [self._mixture(u) for u in self._blocks(X)]
        mean = np.concatenate([one.mean for one in made])
        std = np.concatenate([one.std for one in made])
        return (
            np.asarray(self.units.y_center + self.units.y_scale * mean),
            np.asarray(self.scale * self.units.y_scale * std),
        )
