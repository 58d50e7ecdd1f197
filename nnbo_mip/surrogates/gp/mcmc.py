"""Gaussian processes whose hyper-parameters are sampled instead of chosen, as in RoBO.

`sampling` has the priors and the sampler, `mixture` the belief.

References
----------
Snoek et al. (2012), a fully Bayesian treatment of hyper-parameters [Snoek2012].
Klein et al. (2017), RoBO, whose defaults these are [Klein2017].
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from nnbo_mip.core.checks import check_choice, check_count, check_flag, check_number
from nnbo_mip.core.errors import InputError
from nnbo_mip.core.extras import Extra
from nnbo_mip.surrogates.base.abstract import Belief, Capability, Surrogate
from nnbo_mip.surrogates.base.observations import Observations, Standardization, check_y_range
from nnbo_mip.surrogates.gp.belief import gp_capabilities
from nnbo_mip.surrogates.gp.fitting import Hyperparameters, maximize_likelihood
from nnbo_mip.surrogates.gp.gp import conditioned, factorize, varies
from nnbo_mip.surrogates.gp.kernels import LARGEST_NU, Kernel
from nnbo_mip.surrogates.gp.mixture import ProcessMixture
from nnbo_mip.surrogates.gp.sampling import (
    EMCEE,
    LENGTHS,
    NOISES,
    Chain,
    sample_hyperparameters,
)
from nnbo_mip.surrogates.gp.sklearn import sklearn_likelihood

FORMS = ("matern", "rbf")

FIRST_NOISE = 1e-3
"""Variance where nothing can be learned of it, and where the search for a likely one starts."""

N_RESTARTS = 2
"""Climbs to where walkers start, beside the one from middling hyper-parameters."""


@dataclass(frozen=True)
class SampledProcess(Surrogate):
    """Options of a fully Bayesian Gaussian process; the defaults are those of RoBO.

    Parameters
    ----------
    kernel : str
        ``matern`` or ``rbf``.
    nu : float
        Smoothness of ``matern``, at most 30.
    ard : bool
        Whether every input has its own length-scale.
    noise : float or "sampled"
        Variance of an observation in standardized units, where it is known.
    n_walkers : int, optional
        Samples that are kept; even, and at least twice the number of hyper-parameters. Without
        it three times the number of the kernel's, rounded up to the next even number.
    burn_in, chain_length : int
        Steps of every walker; the place after the last one is the sample.
    alpha : float
        Variance that is added to the diagonal for stability and not reported as noise.
    y_range : (low, high), optional
        Known range of y, mapped to [-1, 1] instead of standardizing.
    seed : int
        Of the walkers.

    Notes
    -----
    RoBO keeps its walkers from step to step and does not normalize y; here every fit starts from
    scratch, near the most likely hyper-parameters, burn-in included, on standardized values, so
    that the same data give the same belief.

    Constant values of y say nothing about hyper-parameters: one process with middling ones is
    the belief then.
    """

    name: ClassVar[str] = "gp_mcmc"
    belief_type: ClassVar[type[Belief]] = ProcessMixture
    weighs_noise: ClassVar[bool] = True
    extra: ClassVar[Extra | None] = EMCEE

    kernel: str = "matern"
    nu: float = 2.5
    ard: bool = True
    noise: float | str = "sampled"
    n_walkers: int | None = None
    burn_in: int = 100
    chain_length: int = 200
    alpha: float = 1e-7
    y_range: tuple[float, float] | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse options that are none."""
        check_choice("kernel", self.kernel, FORMS)
        check_number("nu", self.nu, above=0.0, below=np.nextafter(LARGEST_NU, np.inf))
        check_flag("ard", self.ard)
        if isinstance(self.noise, str):
            check_choice("noise", self.noise, ("sampled",))
        else:
            check_number("noise", self.noise, least=0.0)
        if self.n_walkers is not None and check_count("n_walkers", self.n_walkers, 2) % 2:
            raise InputError(f"n_walkers must be even; got {self.n_walkers}; add one.")
        check_count("burn_in", self.burn_in, least=0)
        check_count("chain_length", self.chain_length)
        check_number("alpha", self.alpha, least=0.0)
        check_y_range(self.y_range)
        check_count("seed", self.seed, least=0)

    @property
    def capabilities(self) -> frozenset[Capability]:
        """What the belief will offer."""
        return gp_capabilities(self._is_noisy)

    def fit(self, X: npt.ArrayLike, y: npt.ArrayLike) -> ProcessMixture:
        """Sample hyper-parameters and condition one process for each on all observations."""
        return self.fit_with_noise(X, y, 0.0)

    def fit_with_noise(
        self, X: npt.ArrayLike, y: npt.ArrayLike, noise: npt.ArrayLike
    ) -> ProcessMixture:
        """Do so with the variance of every value on the diagonal, beside the option `noise`."""
        data = Observations.of(X, y)
        units = Standardization.of(data, inputs=False, outputs=True, y_range=self.y_range)
        points, values = units.inward(data.X), units.values_inward(data.y)
        hyper = self._middling(data.n_inputs)
        known = self.alpha + np.square(data.deviations(noise) / units.y_scale)
        diagonal = known + factorize(hyper, points, known)[1]
        samples = [hyper]
        if varies(data.y):
            chain = Chain(self._walkers(hyper), self.burn_in, self.chain_length)
            likelihood = sklearn_likelihood(hyper, points, values, diagonal)
            likely, _ = maximize_likelihood(likelihood, hyper, N_RESTARTS, self.seed)
            samples = sample_hyperparameters(likely, points, values, diagonal, chain, self.seed)
        processes = [conditioned(one, points, values, units, diagonal) for one in samples]
        return ProcessMixture(tuple(processes), self._is_noisy, family=self.name)

    @property
    def _is_noisy(self) -> bool:
        return isinstance(self.noise, str) or self.noise > 0.0

    def _middling(self, d: int) -> Hyperparameters:
        """Return hyper-parameters in the middle, and which of them are free."""
        free = {"amplitude": (1e-8, 1e8), "length_scale": tuple(np.exp(LENGTHS))}
        if isinstance(self.noise, str):
            free["noise"] = tuple(np.exp(NOISES))
        noise = FIRST_NOISE if isinstance(self.noise, str) else float(self.noise)
        kernel = Kernel(self.kernel, np.ones(d), nu=float(self.nu))
        return Hyperparameters(kernel, noise, free, self.ard)

    def _walkers(self, hyper: Hyperparameters) -> int:
        of_kernel = sum(name != "noise" for name in hyper.free)
        least = 2 * len(hyper.free)
        if self.n_walkers is None:
            return max(3 * of_kernel + of_kernel % 2, least)
        if self.n_walkers < least:
            raise InputError(
                f"n_walkers must be at least twice the {len(hyper.free)} hyper-parameters; got "
                f"{self.n_walkers}; give {least} or more."
            )
        return int(self.n_walkers)
