r"""Bayesian networks by hybrid Monte Carlo, with hyper-parameters by Gibbs sampling.

With precisions tau_k of the weights of layer k and tau_n of the noise, chains follow the energy

    E(theta) = sum_k E_k(theta; tau_k) + tau_n S(theta) / 2,   S(theta) = sum_i (f(u_i) - v_i)^2,

where E_k is that of a Gaussian or a Cauchy prior (`priors`). The precisions are known, or have
Gamma distributions round the known values and are drawn given theta before every transition:

    tau_n | theta ~ Gamma(a + n/2, a noise^2 + S(theta) / 2).

Needs no extra.

References
----------
Neal (1996), Bayesian networks by hybrid Monte Carlo [Neal1996].
Agrawal (2016), as a surrogate [Agrawal2016].
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.checks import check_choice, check_count, check_flag, check_number, check_size
from nnbo_mip.surrogates.base.presets import preset
from nnbo_mip.surrogates.bnn.data import NetworkData
from nnbo_mip.surrogates.bnn.layout import Layout
from nnbo_mip.surrogates.bnn.priors import PRIORS, WeightPrior
from nnbo_mip.surrogates.bnn.sampled_network import SampledNetwork
from nnbo_mip.surrogates.sampling.gibbs import draw_precision
from nnbo_mip.surrogates.sampling.hmc import HybridMonteCarlo, StepRule


@dataclass(frozen=True)
class BnnHmc(SampledNetwork):
    """Options of networks that hybrid Monte Carlo samples.

    Parameters
    ----------
    prior : str or tuple of str
        ``gaussian`` or ``cauchy``, for all layers or for each.
    prior_scale : float or tuple of float
        Scale of the prior of weights and biases, for all layers or for each.
    by_width : bool
        Whether scales fall with the width that a layer reads; see `WeightPrior`.
    noise : float
        Standard deviation of the noise, in standard deviations of y.
    learn_scales, learn_noise : bool
        Whether the precisions of the layers, or that of the noise, are sampled too.
    hyper_shape : float
        Shape of their Gamma distributions, where sampled; a large one holds them near the
        given values.
    burn_in, draws : int
        Transitions of each chain before the first draw, and draws.
    n_leapfrog : int
        Steps of a transition.
    step : float
        First step size.
    acceptance : float
        What the step size aims at.
    smallest_step, largest_step : float
        Limits of the step size.
    freeze : bool
        Whether it stays as it is after burn-in.
    hidden, activation, standardize, chains, kept, spread, include_noise, y_range, seed
        As in `SampledNetwork`; chains run side by side and share the step size.
    """

    name: ClassVar[str] = "bnn_hmc"

    prior: str | tuple[str, ...] = "gaussian"
    prior_scale: float | tuple[float, ...] = 1.0
    by_width: bool = False
    noise: float = 0.03
    learn_scales: bool = False
    learn_noise: bool = False
    hyper_shape: float = 2.0
    burn_in: int = 200
    draws: int = 100
    n_leapfrog: int = 30
    step: float = 0.002
    acceptance: float = 0.9
    smallest_step: float = 1e-5
    largest_step: float = 0.25
    freeze: bool = True

    def __post_init__(self) -> None:
        """Refuse options that are none."""
        super().__post_init__()
        for name in ("prior", "prior_scale"):
            if isinstance(getattr(self, name), list):
                object.__setattr__(self, name, tuple(getattr(self, name)))
        for kind in self.prior if isinstance(self.prior, tuple) else (self.prior,):
            check_choice("prior", kind, PRIORS)
        given = self.prior_scale
        for scale in given if isinstance(given, tuple) else (given,):
            check_number("prior_scale", scale, above=0.0)
        self.prior_of(Layout(1, self.hidden))
        self._rule()
        for name in ("noise", "hyper_shape", "step"):
            check_number(name, getattr(self, name), above=0.0)
        for name in ("draws", "n_leapfrog"):
            check_size(name, getattr(self, name))
        check_count("burn_in", self.burn_in, least=0)
        for name in ("by_width", "learn_scales", "learn_noise", "freeze"):
            check_flag(name, getattr(self, name))

    def prior_of(self, layout: Layout) -> WeightPrior:
        """Return the prior of the weights."""
        return WeightPrior.of(layout, self.prior, self.prior_scale, self.by_width)

    def _sampled(self, data: NetworkData) -> tuple[FloatArray, FloatArray]:
        theta, noise, _ = self.sample(data)
        return theta, noise

    def sample(self, data: NetworkData) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return draws (N, C, P), stds of the noise (N, C), acceptances (T,) of T transitions."""
        rng = np.random.default_rng(self.seed)
        prior = self.prior_of(data.layout)
        # Prior draws of the weights would saturate deep networks; a tenth of them do not.
        start = 0.1 * rng.standard_normal((self.chains, data.layout.size))
        chains = HybridMonteCarlo(start, rng, self.n_leapfrog, self.step, self._rule())
        tau = prior.precisions(self.chains)
        tau_noise = np.full(self.chains, self.noise**-2.0)
        theta = np.empty((self.draws, *start.shape))
        noise = np.empty((self.draws, self.chains))
        acceptance = np.empty(self.burn_in + self.draws)
        for index in range(len(acceptance)):
            if self.learn_scales:
                tau = prior.draw_precisions(chains.position, tau, self.hyper_shape, rng)
            if self.learn_noise:
                misfit, _ = data.misfit(chains.position)
                rate = self.hyper_shape * self.noise**2
                tau_noise = draw_precision(misfit, data.n, self.hyper_shape, rate, rng)
            energy = NetworkEnergy(data, prior, tau, tau_noise)
            adapt = index < self.burn_in or not self.freeze
            acceptance[index] = chains.advance(energy, adapt).mean()
            if index >= self.burn_in:
                theta[index - self.burn_in] = chains.position
                noise[index - self.burn_in] = 1.0 / np.sqrt(tau_noise)
        return theta, noise, acceptance

    def _rule(self) -> StepRule:
        limits = {"smallest": self.smallest_step, "largest": self.largest_step}
        return StepRule(target=self.acceptance, **limits)


@dataclass(frozen=True, eq=False)
class NetworkEnergy:
    """E(theta) at given precisions.

    Parameters
    ----------
    data : NetworkData
        Observations and networks.
    prior : WeightPrior
        Of the weights.
    tau : (C, K) array
        Precisions of the layers.
    tau_noise : (C,) array
        Precisions of the noise.
    """

    data: NetworkData
    prior: WeightPrior
    tau: FloatArray
    tau_noise: FloatArray

    def __call__(self, theta: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return energies (C,) and gradients (C, P)."""
        value, gradient = self.prior.energy(theta, self.tau)
        misfit, slope = self.data.misfit(theta)
        value += 0.5 * self.tau_noise * misfit
        gradient += (0.5 * self.tau_noise)[:, None] * slope
        return value, gradient


source = preset(
    BnnHmc,
    "`bnn_hmc` with three layers of 50 units of tanh and 5000 draws of one chain, all kept.",
    hidden=(50, 50, 50),
    noise=0.1,
    chains=1,
    burn_in=1000,
    draws=5000,
    kept=5000,
)
