r"""Gaussian processes of noisy values: their priors, and whether there is a noise that nobody told.

Few values with much noise say little about a process, so its priors decide. In the logarithms of
d length-scales of inputs in [-1, 1] the prior of `fitting` has its largest density at 20 where
d = 6, ten times the box: without noise two values that differ lead away from there. With it they do
not; the function is believed to be flat, only corners are worth a question, and what is measured
there confirms it. The density of the length-scale itself, not of its logarithm, is largest at
e^-3 of that length: it is 1 where d = 6. So where values are noisy

    log l ~ N(center - 3, 1).

Where deviations are known, D_i in standardized units, the function has what they leave of the
values' variance, and its amplitude the prior

    log a ~ N(log max(1 - mean_i D_i, 0.1), 1).

Without it a process whose noise is known may explain all values by that noise, and its amplitude
ends at zero.

Where none is told, two processes with these priors are compared. One has no noise; the other has an
unknown one, the same everywhere, of variance s in standardized units with log s ~ N(-2, 1.5^2).
Both are climbed from the same start. The noise is believed where the second explains the values
better by more than a threshold in the logarithm of the probability, the densities of priors counted
relative to their largest: a larger threshold where s is small. So length-scales of a hundredth of
the box, with which every value is news, are no cheaper an explanation than noise. Where none is
believed, the function is learned with the priors of values without noise.

References
----------
Hvarfner et al. (2024), the prior of length-scales by dimension [Hvarfner2024].
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.surrogates.gp.fitting import (
    Hyperparameters,
    Likelihood,
    LogNormal,
    maximize_likelihood,
)

UNKNOWN_NOISE = LogNormal(-2.0, 1.5)
"""Of a variance, where that of the values is 1."""

NOISES = (1e-6, 2.0)
"""Ends of such a variance."""

THRESHOLD, THRESHOLD_OF_LITTLE = 1.0, 7.0
"""By how much the logarithm of the probability must be larger with a noise than without."""

LITTLE_NOISE, LEAST_NOISE = 0.03, 1e-3
"""Variances below which the second of these thresholds holds, and below which an unknown noise is
taken for ripples of the function. What is little costs little where it is not seen, and steps of
a function look like it."""

LEAST_SIGNAL = 0.1
"""Part of the values' variance that is expected of the function however large the noise is."""

SHORTER, WIDTH = 3.0, 1.0
"""Of the logarithm of length-scales where values are noisy: how far below the other center, and
its standard deviation."""

N_RESTARTS, N_NOISY_RESTARTS = 3, 1
"""The search without a noise is the more thorough: what it misses would pass for noise."""

MOST = 150
"""Values that an unknown noise is estimated from at most."""

LikelihoodOf = Callable[[Hyperparameters], Likelihood]


def amplitude_prior(variances: FloatArray) -> LogNormal:
    """Return the prior of an amplitude, given the variances of standardized values."""
    return LogNormal(math.log(max(1.0 - float(np.mean(variances)), LEAST_SIGNAL)), 1.0)


def priors_among_noise(hyper: Hyperparameters, variances: FloatArray) -> Mapping[str, LogNormal]:
    """Return the priors of free parameters, given the variances of standardized values."""
    priors = dict(hyper.priors)
    if "amplitude" in hyper.ranges:
        priors["amplitude"] = amplitude_prior(variances)
    if "length_scale" in priors:
        center = priors["length_scale"].center - SHORTER
        priors["length_scale"] = replace(priors["length_scale"], center=center, width=WIDTH)
    return priors


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
    exact = replace(hyper, priors=priors_among_noise(hyper, np.zeros(1)))
    noisy = replace(
        exact,
        noise=math.exp(UNKNOWN_NOISE.center),
        ranges={**hyper.ranges, "noise": NOISES},
        priors={**exact.priors, "noise": UNKNOWN_NOISE},
    )
    also = None
    if starts is not None:  # the noise is the last of the free parameters
        also = np.column_stack([starts, np.full(len(starts), UNKNOWN_NOISE.center)])
    _, without = maximize_likelihood(likelihood_of(exact), exact, N_RESTARTS, seed, starts=starts)
    found, within = maximize_likelihood(
        likelihood_of(noisy), noisy, N_NOISY_RESTARTS, seed, starts=also
    )
    threshold = THRESHOLD if found.noise >= LITTLE_NOISE else THRESHOLD_OF_LITTLE
    is_believed = found.noise >= LEAST_NOISE and within > without + threshold
    return found.noise if is_believed else 0.0
