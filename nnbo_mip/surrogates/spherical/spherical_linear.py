"""A Gaussian process that is linear on the sphere: its draws are maximized exactly at any size.

The scaled box is projected onto a sphere (`scores.posteriors.spherical`), where the function is
linear; its scales are those of the largest evidence (`evidence`). Fit and exact step cost in
proportion to the number of inputs.

References
----------
Doumont et al. (2025), Gaussian processes that are linear on the sphere [Doumont2025].
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from nnbo_mip.core.checks import check_count, check_flag, check_number
from nnbo_mip.surrogates.base.abstract import Belief, Capability, Surrogate
from nnbo_mip.surrogates.base.observations import Observations, Standardization, check_y_range
from nnbo_mip.surrogates.gp.gp import varies
from nnbo_mip.surrogates.spherical.belief import OFFERED, SphericalBelief, conditioned
from nnbo_mip.surrogates.spherical.evidence import NOISES, Evidence, Scales, best_scales


@dataclass(frozen=True)
class SphericalLinear(Surrogate):
    """Options of a linear model on the sphere.

    Parameters
    ----------
    noise : float
        Variance of a value about the function, in standardized units: where its search starts, or
        what it stays at. It also stands for what a linear model misses.
    learns_noise : bool
        Whether it is learned.
    share : float
        Where the search of the global scale starts: corners lie at ``|z|^2 = 1 / share``.
    most_steps : int
        Of the search for scales; 0 keeps those at the start.
    normalize : bool
        Whether y is standardized.
    y_range : (low, high), optional
        Known range of y, mapped to [-1, 1] instead of standardizing.
    seed : int
        Every surrogate has one; nothing is random here.

    Notes
    -----
    Constant values say nothing about scales, which stay at the start.
    """

    name: ClassVar[str] = "spherical_linear"
    belief_type: ClassVar[type[Belief]] = SphericalBelief
    weighs_noise: ClassVar[bool] = True

    noise: float = 0.02
    learns_noise: bool = True
    share: float = 0.5
    most_steps: int = 60
    normalize: bool = True
    y_range: tuple[float, float] | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse options that are none."""
        if isinstance(self.y_range, list):  # as JSON and TOML have it
            object.__setattr__(self, "y_range", tuple(self.y_range))
        check_number("noise", self.noise, least=NOISES[0], most=NOISES[1])
        check_number("share", self.share, least=0.01, most=0.99)
        check_flag("learns_noise", self.learns_noise)
        check_flag("normalize", self.normalize)
        check_count("most_steps", self.most_steps, least=0)
        check_count("seed", self.seed, least=0)
        check_y_range(self.y_range)

    @property
    def capabilities(self) -> frozenset[Capability]:
        """What the belief will offer."""
        return OFFERED

    def fit(self, X: npt.ArrayLike, y: npt.ArrayLike) -> SphericalBelief:
        """Find the scales of largest evidence and condition on all observations."""
        return self.fit_with_noise(X, y, 0.0)

    def fit_with_noise(
        self, X: npt.ArrayLike, y: npt.ArrayLike, noise: npt.ArrayLike
    ) -> SphericalBelief:
        """Do so with the variance of every value on the diagonal, beside the noise."""
        data = Observations.of(X, y)
        units = Standardization.of(data, False, self.normalize, self.y_range)
        values = units.values_inward(data.y)
        told = np.square(data.deviations(noise) / units.y_scale) + np.zeros(len(values))
        scales = Scales(np.zeros(data.n_inputs), float(self.share), noise=float(self.noise))
        if self.most_steps and varies(data.y):
            evidence = Evidence(data.X, values, told, self.learns_noise)
            scales = best_scales(evidence, scales, self.most_steps)
        return conditioned(scales, data.X, values, told, units)
