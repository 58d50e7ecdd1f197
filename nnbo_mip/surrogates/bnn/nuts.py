r"""Bayesian networks whose posterior the no-U-turn sampler draws from (extra ``mcmc``).

`BnnSimple` and `BnnHierarchical` differ in what is known of the size of the weights, `BnnInverse`
in the distribution of the noise; `posteriors` has the densities.

References
----------
Hoffman and Gelman (2014), NUTS [HoffmanGelman2014].
Aryan (2020), `BnnSimple`, `BnnHierarchical` [Aryan2020].
Kruse (2022), `BnnInverse` [Kruse2022].
"""

from __future__ import annotations

import abc
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.checks import check_number, check_size
from nnbo_mip.core.extras import Extra
from nnbo_mip.surrogates.base.presets import preset
from nnbo_mip.surrogates.bnn.data import NetworkData
from nnbo_mip.surrogates.bnn.posteriors import CollapsedPosterior, NetworkPosterior, ScaledPosterior
from nnbo_mip.surrogates.bnn.sampled_network import SampledNetwork
from nnbo_mip.surrogates.sampling.nuts import NUTPIE, sample_nuts


@dataclass(frozen=True)
class NutsNetwork(SampledNetwork):
    """Options of networks that NUTS samples.

    Parameters
    ----------
    tune, draws : int
        Transitions of a chain that adapt it, and draws after them.
    max_depth : int
        A transition has at most 2 to this power leapfrog steps.
    hidden, activation, standardize, chains, kept, spread, include_noise, y_range, seed
        As in `SampledNetwork`; chains run one after the other.
    """

    extra: ClassVar[Extra | None] = NUTPIE

    hidden: tuple[int, ...] = (10,)
    activation: str = "sigmoid"
    chains: int = 1
    kept: int = 30
    tune: int = 200
    draws: int = 200
    max_depth: int = 6

    def __post_init__(self) -> None:
        """Refuse options that are none."""
        super().__post_init__()
        for name in ("tune", "draws", "max_depth"):
            check_size(name, getattr(self, name))

    @abc.abstractmethod
    def posterior(self, data: NetworkData) -> NetworkPosterior:
        """Return the density that is sampled."""

    def _sampled(self, data: NetworkData) -> tuple[FloatArray, FloatArray]:
        posterior = self.posterior(data)
        rng = np.random.default_rng(self.seed)
        start = np.stack([posterior.start(rng) for _ in range(self.chains)])
        draws = sample_nuts(posterior, start, self.tune, self.draws, self.seed, self.max_depth)
        return posterior.weights(draws, rng)


@dataclass(frozen=True)
class BnnSimple(NutsNetwork):
    """A network whose weights have one known standard deviation.

    Parameters
    ----------
    prior_scale : float
        Standard deviation of every weight and bias.
    noise_shape, noise_rate : float
        Of the Gamma distribution of the noise standard deviation, in standard deviations of y.
    hidden, activation, standardize, chains, tune, draws, max_depth, kept, spread
        As in `NutsNetwork`.
    include_noise, y_range, seed
        As in `NutsNetwork`.
    """

    name: ClassVar[str] = "bnn_simple"

    prior_scale: float = 100.0
    noise_shape: float = 2.0
    noise_rate: float = 200.0

    def __post_init__(self) -> None:
        """Refuse options that are none."""
        super().__post_init__()
        for name in ("prior_scale", "noise_shape", "noise_rate"):
            check_number(name, getattr(self, name), above=0.0)

    def posterior(self, data: NetworkData) -> ScaledPosterior:
        """Return the density that is sampled."""
        return ScaledPosterior(data, self.prior_scale, (self.noise_shape, self.noise_rate))


@dataclass(frozen=True)
class BnnHierarchical(NutsNetwork):
    """A network whose groups of weights have standard deviations that are sampled too.

    Parameters
    ----------
    scale_shape, scale_rate : float
        Of the Gamma distribution of the standard deviation of each group; its mean is shape / rate.
    noise_shape, noise_rate : float
        Of the Gamma distribution of the noise standard deviation, in standard deviations of y.
    hidden, activation, standardize, chains, tune, draws, max_depth, kept, spread
        As in `NutsNetwork`.
    include_noise, y_range, seed
        As in `NutsNetwork`.
    """

    name: ClassVar[str] = "bnn_hierarchical"

    scale_shape: float = 2.0
    scale_rate: float = 0.02
    noise_shape: float = 2.0
    noise_rate: float = 200.0

    def __post_init__(self) -> None:
        """Refuse options that are none."""
        super().__post_init__()
        for name in ("scale_shape", "scale_rate", "noise_shape", "noise_rate"):
            check_number(name, getattr(self, name), above=0.0)

    def posterior(self, data: NetworkData) -> ScaledPosterior:
        """Return the density that is sampled."""
        return ScaledPosterior(
            data,
            self.scale_shape / self.scale_rate,
            (self.noise_shape, self.noise_rate),
            (self.scale_shape, self.scale_rate),
        )


@dataclass(frozen=True)
class BnnInverse(NutsNetwork):
    """A network of normal weights, with an inverse Gamma distribution of the noise variance.

    Parameters
    ----------
    prior_scale : float
        Standard deviation of every weight and bias.
    variance_shape, variance_scale : float
        Of the inverse Gamma distribution of the noise variance, in squared standard deviations of
        y; its mean is scale / (shape - 1).
    hidden, activation, standardize, chains, tune, draws, max_depth, kept, spread
        As in `NutsNetwork`.
    include_noise, y_range, seed
        As in `NutsNetwork`.
    """

    name: ClassVar[str] = "bnn"

    hidden: tuple[int, ...] = (16, 16)
    activation: str = "tanh"
    standardize: bool = True
    prior_scale: float = 1.0
    variance_shape: float = 1000.0
    variance_scale: float = 1.0

    def __post_init__(self) -> None:
        """Refuse options that are none."""
        super().__post_init__()
        for name in ("prior_scale", "variance_shape", "variance_scale"):
            check_number(name, getattr(self, name), above=0.0)

    def posterior(self, data: NetworkData) -> CollapsedPosterior:
        """Return the density that is sampled."""
        prior = (self.variance_shape, self.variance_scale)
        return CollapsedPosterior(data, self.prior_scale, prior)


CHAIN: dict[str, Any] = {"tune": 2500, "draws": 1000, "max_depth": 8, "kept": 500}
"""3500 draws of one chain, of which every second after burn-in is kept."""

WIDE: dict[str, Any] = {"hidden": (50, 50, 50), "chains": 4, "max_depth": 10}

simple_source = preset(BnnSimple, "`bnn_simple` with the long chain of its source.", **CHAIN)
hierarchical_source = preset(
    BnnHierarchical, "`bnn_hierarchical` with the long chain of its source.", **CHAIN
)
inverse_source = preset(
    BnnInverse,
    "`bnn` with three layers of 50 units and four chains of 500 draws after 500, all kept.",
    **WIDE,
    **{"tune": 500, "draws": 500, "kept": 2000},
)
inverse_fast = preset(
    BnnInverse,
    "`bnn` with three layers of 50 units and four chains of 100 draws after 100, all kept.",
    **WIDE,
    **{"tune": 100, "draws": 100, "kept": 400},
)
