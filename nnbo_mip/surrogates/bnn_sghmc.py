r"""Bayesian networks by stochastic-gradient HMC with adaptive scales (Bohamiann).

Positions are the weights theta and r = log of the noise variance. With B observations picked at
random in every step, the noisy gradient is that of

    (n / B) sum_b [ (f(u_b) - v_b)^2 exp(-r) / 2 + r / 2 ]
        + theta.theta / (2 prior_scale^2) + (r - 2 log noise)^2 / (2 noise_spread^2).

`weak_prior` divides the energy of the weights' prior by their number, as the first
implementation did.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from nnbo_mip.checks import check_choice, check_count, check_flag, check_number, check_widths
from nnbo_mip.errors import TrainingError
from nnbo_mip.network.affine import FloatArray
from nnbo_mip.surrogates.abstract import Belief, Capability, Surrogate
from nnbo_mip.surrogates.bnn_data import NetworkData
from nnbo_mip.surrogates.bnn_layout import NETWORK_ACTIVATIONS
from nnbo_mip.surrogates.members import SPREADS, MemberBelief, member_capabilities
from nnbo_mip.surrogates.observations import check_y_range
from nnbo_mip.surrogates.presets import preset
from nnbo_mip.surrogates.sampling.sghmc import AdaptiveSghmc


@dataclass(frozen=True)
class BnnSghmc(Surrogate):
    """Options of networks that adaptive SGHMC samples.

    Parameters
    ----------
    hidden : tuple of int
        Widths of the hidden layers.
    activation : str
        ``tanh``, ``relu`` or ``sigmoid``; only relu compiles to a network.
    prior_scale : float
        Standard deviation of the prior of every weight and bias.
    weak_prior : bool
        Whether that prior counts as one weight's.
    noise : float
        Where the prior of the noise deviation stands, in deviations of y.
    noise_spread : float
        Deviation of the logarithm of the noise variance round it.
    step : float
        Step size l.
    friction : float
        Part of the momentum that is lost in a step.
    batch : int
        B, at most; all observations if there are fewer.
    chains : int
        How many chains are run side by side.
    burn_in, steps : int
        Steps of each chain that adapt the scales, and steps after them.
    every : int
        How many steps apart draws are taken.
    kept : int
        How many of the draws become members, equally spaced.
    standardize : bool
        Whether inputs are standardized too, or stay in [-1, 1].
    spread : str
        ``std``, ``variance`` or ``mad`` of the members.
    include_noise : bool
        Whether `std` is that of an observation instead of the function's.
    y_range : (low, high), optional
        Known range of y, mapped to [-1, 1] instead of standardizing.
    seed : int
        Of the chains.
    """

    name: ClassVar[str] = "bnn_sghmc"
    belief_type: ClassVar[type[Belief]] = MemberBelief

    hidden: tuple[int, ...] = (50,)
    activation: str = "tanh"
    prior_scale: float = 1.0
    weak_prior: bool = False
    noise: float = 0.03
    noise_spread: float = 0.1
    step: float = 0.03
    friction: float = 0.05
    batch: int = 20
    chains: int = 4
    burn_in: int = 1500
    steps: int = 1500
    every: int = 50
    kept: int = 20
    standardize: bool = True
    spread: str = "std"
    include_noise: bool = False
    y_range: tuple[float, float] | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse options that are none."""
        object.__setattr__(self, "hidden", check_widths("hidden", self.hidden))
        check_choice("activation", self.activation, NETWORK_ACTIVATIONS)
        for name in ("prior_scale", "noise", "noise_spread", "step"):
            check_number(name, getattr(self, name), above=0.0)
        check_number("friction", self.friction, above=0.0, below=1.0)
        for name in ("batch", "chains", "burn_in", "steps", "every", "kept"):
            check_count(name, getattr(self, name))
        for name in ("weak_prior", "standardize", "include_noise"):
            check_flag(name, getattr(self, name))
        check_choice("spread", self.spread, SPREADS)
        check_y_range(self.y_range)
        check_count("seed", self.seed, least=0)

    @property
    def capabilities(self) -> frozenset[Capability]:
        """What the belief will offer."""
        return member_capabilities(self.activation, noisy=True)

    def fit(self, X: npt.ArrayLike, y: npt.ArrayLike) -> MemberBelief:
        """Sample the posterior; see `Surrogate.fit`."""
        data = NetworkData.of(X, y, self.hidden, self.activation, self.standardize, self.y_range)
        draws = self.sample(data)
        if not np.isfinite(draws).all():
            raise TrainingError(
                f"the chains of {self.name} must stay finite; they did not with step="
                f"{self.step:g}; choose a smaller step."
            )
        noise = np.exp(0.5 * draws[:, :, -1])
        theta = draws[:, :, :-1]
        return data.belief(self.name, theta, noise, self.kept, self.spread, self.include_noise)

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
