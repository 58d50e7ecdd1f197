r"""Bayesian networks by stochastic-gradient HMC with adaptive scales (Bohamiann).

Positions are the weights theta and r = log of the noise variance. With B observations picked at
random in every step, the noisy gradient is that of

    (n / B) sum_b [ (f(u_b) - v_b)^2 exp(-r) / 2 + r / 2 ]
        + theta.theta / (2 prior_scale^2) + (r - 2 log noise)^2 / (2 noise_spread^2).

`weak_prior` divides the energy of the weights' prior by their number, as the first
implementation did.

References
----------
Springenberg et al. (2016), BOHAMIANN [Springenberg2016].
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.checks import check_count, check_flag, check_number
from nnbo_mip.core.errors import TrainingError
from nnbo_mip.surrogates.base.presets import preset
from nnbo_mip.surrogates.bnn.data import NetworkData
from nnbo_mip.surrogates.bnn.sampled_network import SampledNetwork
from nnbo_mip.surrogates.sampling.sghmc import AdaptiveSghmc


@dataclass(frozen=True)
class BnnSghmc(SampledNetwork):
    """Options of networks that adaptive SGHMC samples.

    Parameters
    ----------
    prior_scale : float
        Standard deviation of the prior of every weight and bias.
    weak_prior : bool
        Whether that prior counts as one weight's.
    noise : float
        Where the prior of the noise standard deviation stands, in standard deviations of y.
    noise_spread : float
        Standard deviation of the logarithm of the noise variance round it.
    step : float
        Step size l.
    friction : float
        Part of the momentum that is lost in a step.
    batch : int
        B, at most; all observations if there are fewer.
    burn_in, steps : int
        Steps of each chain that adapt the scales, and steps after them.
    every : int
        How many steps apart draws are taken.
    hidden, activation, standardize, chains, kept, spread, include_noise, y_range, seed
        As in `SampledNetwork`; chains run side by side.
    """

    name: ClassVar[str] = "bnn_sghmc"

    prior_scale: float = 1.0
    weak_prior: bool = False
    noise: float = 0.03
    noise_spread: float = 0.1
    step: float = 0.03
    friction: float = 0.05
    batch: int = 20
    burn_in: int = 1500
    steps: int = 1500
    every: int = 50
    standardize: bool = True

    def __post_init__(self) -> None:
        """Refuse options that are none."""
        super().__post_init__()
        for name in ("prior_scale", "noise", "noise_spread", "step"):
            check_number(name, getattr(self, name), above=0.0)
        check_number("friction", self.friction, above=0.0, below=1.0)
        for name in ("batch", "burn_in", "steps", "every"):
            check_count(name, getattr(self, name))
        check_flag("weak_prior", self.weak_prior)

    def _sampled(self, data: NetworkData) -> tuple[FloatArray, FloatArray]:
        draws = self.sample(data)
        if not np.isfinite(draws).all():
            raise TrainingError(
                f"the chains of {self.name} must stay finite; they did not with step="
                f"{self.step:g}; choose a smaller step."
            )
        return draws[:, :, :-1], np.exp(0.5 * draws[:, :, -1])

    def sample(self, data: NetworkData) -> FloatArray:
        """Return draws (N, C, P + 1), the last coordinate the log noise variance."""
        rng = np.random.default_rng(self.seed)
        size = data.layout.size
        start = np.empty((self.chains, size + 1))
        start[:, -1] = 2.0 * np.log(self.noise)
        for (n_in, _), layer in zip(data.layout.shapes, data.layout.layers, strict=True):
            shape = (self.chains, layer.stop - layer.start)
            start[:, layer] = rng.standard_normal(shape) / np.sqrt(n_in)
        chains = AdaptiveSghmc(start, rng, self.step, self.friction)
        draws = []
        with np.errstate(over="ignore", invalid="ignore"):
            for index in range(self.burn_in + self.steps):
                batch = self._batch(data, rng)
                chains.advance(self._gradient(data, batch, chains.position), index < self.burn_in)
                after = index + 1 - self.burn_in
                if after > 0 and (after % self.every == 0 or after == self.steps < self.every):
                    draws.append(chains.position)
        return np.array(draws)

    def _batch(self, data: NetworkData, rng: np.random.Generator) -> NetworkData:
        if data.n <= self.batch:
            return data
        rows = rng.integers(data.n, size=self.batch)
        misfit = data.misfit
        return replace(data, misfit=replace(misfit, u=misfit.u[rows], v=misfit.v[rows]))

    def _gradient(self, data: NetworkData, batch: NetworkData, position: FloatArray) -> FloatArray:
        """Return the noisy gradient (C, P + 1) of the energy."""
        theta, logarithm = position[:, :-1], position[:, -1]
        misfit, slope = batch.misfit(theta)
        factor, precision = data.n / batch.n, np.exp(-logarithm)
        counted = data.layout.size if self.weak_prior else 1
        gradient = np.empty_like(position)
        gradient[:, :-1] = (0.5 * factor * precision)[:, None] * slope
        gradient[:, :-1] += theta / (counted * self.prior_scale**2)
        gradient[:, -1] = 0.5 * data.n - 0.5 * factor * precision * misfit
        gradient[:, -1] += (logarithm - 2.0 * np.log(self.noise)) / self.noise_spread**2
        return gradient


source = preset(
    BnnSghmc,
    "`bnn_sghmc` with three layers of 50 units, one chain of 2000 steps, every tenth kept.",
    hidden=(50, 50, 50),
    weak_prior=True,
    noise=1e-3,
    step=1e-2,
    chains=1,
    burn_in=1000,
    steps=2000,
    every=10,
    kept=200,
)

robo = preset(
    BnnSghmc,
    "`bnn_sghmc` with two layers of 50 units, 10000 steps, every hundredth kept.",
    hidden=(50, 50),
    weak_prior=True,
    noise=1e-3,
    chains=1,
    burn_in=3000,
    steps=10000,
    every=100,
    kept=100,
)
