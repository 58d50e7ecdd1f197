r"""Whether values are noisy where nobody said so: two Gaussian processes, and what speaks for each.

One has no noise; the other has an unknown one, the same everywhere, of variance s in standardized
units with the prior log s ~ N(-4, 1). Both are climbed from the same start. The noise is
believed where s is no trifle, and the second explains the values better by more than a threshold in
the logarithm of the probability, the densities of priors counted relative to their largest:
functions without noise, rough ones and those with fine ripples too, are learned as before.

Where deviations are known, D_i in standardized units, the function has what they leave of the
values' variance, and its amplitude the prior

    log a ~ N(log max(1 - mean_i D_i, 0.1), 1).

Without it a process whose noise is known may explain all values by that noise, and its amplitude
ends at zero.

References
----------
Hvarfner et al. (2024), the prior of an unknown noise [Hvarfner2024].
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.surrogates.gp.fitting import (
    Hyperparameters,
    Likelihood,
    LogNormal,
    maximize_likelihood,
)

UNKNOWN_NOISE = LogNormal(-4.0, 1.0)
"""Of a variance, where that of the values is 1."""

NOISES = (1e-6, 2.0)
"""Ends of such a variance."""

THRESHOLD = 7.0
"""By how much the logarithm of the probability must be larger with a noise than without."""

LEAST_NOISE = 1e-3
"""Variance below which an unknown noise is taken for ripples of the function."""

LEAST_SIGNAL = 0.1
"""Part of the values' variance that is expected of the function however large the noise is."""

N_RESTARTS, N_NOISY_RESTARTS = 3, 1
"""The search without a noise is the more thorough: what it misses would pass for noise."""

MOST = 150
"""Values that an unknown noise is estimated from at most."""

LikelihoodOf = Callable[[Hyperparameters], Likelihood]


def amplitude_prior(variances: FloatArray) -> LogNormal:
    """Return the prior of an amplitude, given the variances of standardized values."""
    return LogNormal(math.log(max(1.0 - float(np.mean(variances)), LEAST_SIGNAL)), 1.0)


def unknown_noise(
    hyper: Hyperparameters,
    likelihood_of: LikelihoodOf,
    seed: int,
    starts: FloatArray | None = None,
) -> float:
    """Return the variance of a noise that values speak for; 0 for none.

    Parameters
    ----------
    hyper : Hyperparameters
        Where the climbs start, without a noise.
    likelihood_of : callable
        The likelihood of hyper-parameters of which some are free.
    seed : int
        Of the other starts.
    starts : (m, p) array, optional
        Logarithms, without that of the noise, from which to climb in place of these.
    """
    noisy = replace(
        hyper,
        noise=math.exp(UNKNOWN_NOISE.center),
        ranges={**hyper.ranges, "noise": NOISES},
        priors={**hyper.priors, "noise": UNKNOWN_NOISE, "amplitude": LogNormal(0.0, 1.0)},
    )
    also = None
    if starts is not None:  # the noise is the last of the free parameters
        also = np.column_stack([starts, np.full(len(starts), UNKNOWN_NOISE.center)])
    _, without = maximize_likelihood(likelihood_of(hyper), hyper, N_RESTARTS, seed, starts=starts)
    found, within = maximize_likelihood(
        likelihood_of(noisy), noisy, N_NOISY_RESTARTS, seed, starts=also
    )
    is_clear = found.noise >= LEAST_NOISE and within > without + THRESHOLD
    return found.noise if is_clear else 0.0
