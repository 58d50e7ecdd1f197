r"""Samples of a Gaussian process's hyper-parameters, by emcee's walkers (extra ``mcmc``).

The priors are those of RoBO, as densities of the logarithms that are sampled,

    log amplitude       N(0, 1)
    log length-scale    uniform in [-10, 2], for inputs in [0, 1]
    log noise           proportional to log(1 + 3 (0.1 / noise)^2), a horseshoe that wants
                        little noise, within [-20, 2]

and the likelihood is the marginal one of standardized values,

    log p(v) = -1/2 v^T (K + D I)^-1 v - sum_i log L_ii - n/2 log 2 pi,      L L^T = K + D I.

Walkers start around given hyper-parameters, those of largest likelihood, and the last place of each
is a sample. (RoBO's start at draws from the priors: with five inputs half of them were still where
correlations are zero after 300 steps, from where hardly a step leads away.)

References
----------
Foreman-Mackey et al. (2013), emcee [ForemanMackey2013].
Klein et al. (2017), RoBO, whose priors these are [Klein2017].
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cholesky, solve_triangular

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.errors import TrainingError
from nnbo_mip.core.extras import Extra
from nnbo_mip.surrogates.gp.fitting import Hyperparameters

EMCEE = Extra("mcmc", "emcee", "gp_mcmc", "use the surrogate 'gp'")

LENGTHS = (-10.0 + math.log(2.0), 2.0 + math.log(2.0))
"""Ends of the logarithm of a length-scale, for inputs in [-1, 1]."""

NOISES = (-20.0, 2.0)
"""Ends of the logarithm of the noise's variance."""

HORSESHOE = 0.1

SUPPORT = {"amplitude": (-20.0, 20.0), "length_scale": LENGTHS, "noise": NOISES}
"""Where walkers may start."""

NEAR, TRIES = 0.1, 20
"""Standard deviation of the starts from the given place, and places that are tried a walker."""


@dataclass(frozen=True)
class Chain:
    """How long walkers walk.

    Parameters
    ----------
    n_walkers : int
        Even, and at least twice the number of hyper-parameters.
    burn_in, length : int
        Steps before and after the point from which on the walkers count as settled.
    """

    n_walkers: int
    burn_in: int
    length: int


def log_prior(hyper: Hyperparameters, logarithms: FloatArray) -> float:
    """Return the log density of logarithms (p,) of the free parameters, up to a constant."""
    total = 0.0
    for name, value in zip(hyper.free, logarithms.tolist(), strict=True):
        if name == "amplitude":
            total -= 0.5 * value * value
        elif name == "length_scale":
            total += 0.0 if LENGTHS[0] <= value <= LENGTHS[1] else -math.inf
        elif name == "noise":
            if not NOISES[0] <= value <= NOISES[1]:
                return -math.inf
            total += math.log(math.log1p(3.0 * (HORSESHOE / math.exp(value)) ** 2))
    return total


def log_likelihood(
    hyper: Hyperparameters, points: FloatArray, values: FloatArray, diagonal: float | FloatArray
) -> float:
    """Return the log marginal likelihood of values (n,) at points (n, d); -inf where it has none.

    Parameters
    ----------
    hyper : Hyperparameters
        Kernel and noise.
    points, values : arrays
        Standardized observations.
    diagonal : float or (n,) array
        Known variance on the diagonal beside the noise.
    """
    matrix = hyper.kernel(points, points)
    matrix[np.diag_indices_from(matrix)] += diagonal + hyper.noise
    try:
        factor = cholesky(matrix, lower=True, check_finite=False)
    except LinAlgError:
        return -math.inf
    white = solve_triangular(factor, values, lower=True, check_finite=False)
    log_root = float(np.log(factor.diagonal()).sum())
    value = -0.5 * float(white @ white) - log_root - 0.5 * len(values) * math.log(2.0 * math.pi)
    return value if math.isfinite(value) else -math.inf


def sample_hyperparameters(
    hyper: Hyperparameters,
    points: FloatArray,
    values: FloatArray,
    diagonal: float | FloatArray,
    chain: Chain,
    seed: int,
) -> list[Hyperparameters]:
    """Return one sample a walker from the posterior of the free parameters.

    Parameters
    ----------
    hyper : Hyperparameters
        Where walkers start, and which are free: amplitude, length-scales, perhaps the noise.
    points, values : (n, d) and (n,) arrays
        Standardized observations.
    diagonal : float or (n,) array
        Known variance on the diagonal beside the noise.
    chain : Chain
    seed : int
        Of starts and moves.
    """
    emcee = EMCEE.load()

    def log_posterior(logarithms: FloatArray) -> float:
        prior = log_prior(hyper, logarithms)
        if prior == -math.inf:
            return prior
        return prior + log_likelihood(hyper.at(logarithms), points, values, diagonal)

    rng = np.random.default_rng(seed)
    starts = _starts(hyper, log_posterior, chain.n_walkers, rng)
    sampler = emcee.EnsembleSampler(chain.n_walkers, len(hyper.free), log_posterior)
    bits = np.random.MT19937(rng.integers(2**32))
    state = emcee.State(starts, random_state=np.random.RandomState(bits).get_state())
    last = sampler.run_mcmc(state, chain.burn_in + chain.length, store=False)
    return [hyper.at(np.array(place)) for place in last.coords]


def _starts(
    hyper: Hyperparameters,
    log_posterior: Callable[[FloatArray], float],
    count: int,
    rng: np.random.Generator,
) -> FloatArray:
    """Return places (count, p) near the given hyper-parameters that have a likelihood."""
    low, high = np.array([SUPPORT[name] for name in hyper.free]).T
    center = np.clip(hyper.logarithms, low + 3.0 * NEAR, high - 3.0 * NEAR)
    found: list[FloatArray] = []
    for _ in range(TRIES * count):
        drawn = np.clip(center + NEAR * rng.standard_normal(len(center)), low, high)
        if math.isfinite(log_posterior(drawn)):
            found.append(drawn)
        if len(found) == count:
            return np.array(found)
    raise TrainingError(
        "the likelihood of a Gaussian process must be a number near its best hyper-parameters; it "
        f"was one at {len(found)} of {TRIES * count} places; scale X to [-1, 1] or raise alpha."
    )
