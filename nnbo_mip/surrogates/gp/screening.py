r"""Where the search for many length-scales begins: all alike, or few inputs that matter.

With d length-scales that start near 1, points in [-1, 1]^d lie some sqrt(d) of them apart,
correlations are 0, and so are all slopes. Two starts avoid that:

* *alike*: one length for all, the best of sqrt(d) times powers of 2 (Xu et al., Papenmeier et al.);
* *selected*: all inputs at a length at which they hardly matter, but for a few that are chosen one
  by one. At each step an unknown noise stands for what no input explains yet; of the inputs along
  which the likelihood rises steepest as their length falls, a few lengths each are tried, and the
  best is kept where it gains enough.

A climb follows from both; the more probable end is taken. The second finds two inputs of hundreds
where a climb from the first ends with all of them a little.

References
----------
Xu et al. (2025), length-scales that start at sqrt(d) [Xu2025].
Papenmeier et al. (2025), vanishing gradients of the likelihood in many dimensions [Papenmeier2025].
Eriksson and Jankowiak (2021), few inputs that matter by a prior [ErikssonJankowiak2021].
"""

from __future__ import annotations

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.surrogates.gp.fitting import Hyperparameters, Likelihood, LogNormal

ALIKE = (0.5, 1.0, 2.0, 4.0, 8.0)
"""Lengths of all inputs that are tried, in units of sqrt(d)."""

UNEXPLAINED = 0.2
"""Variance that stands for what is not explained yet, where that of the values is 1."""

LENGTHS = (0.4, 1.0, 2.5)
"""That are tried for an input, where a side goes from -1 to 1."""

STEEPEST, MOST = 2, 8
"""Inputs that are tried at each step, and inputs that are chosen at most."""

LEAST_GAIN = 2.0
"""Of the logarithm of the likelihood, below which no more inputs are chosen."""


def screened_starts(
    likelihood: Likelihood, tolerant: Likelihood, hyper: Hyperparameters
) -> FloatArray:
    """Return logarithms (2, p) from which to climb.

    Parameters
    ----------
    likelihood : callable
        What will be climbed.
    tolerant : callable
        The same with `UNEXPLAINED` more on the diagonal.
    hyper : Hyperparameters
        Length-scales among its free parameters, one an input.
    """
    lengths = np.array(hyper.free) == "length_scale"
    moves = hyper.moves
    own = moves[lengths[moves.argmax(axis=1)]] > 0.0  # (q, p), of inputs that are not tied
    d = len(own)
    first = hyper.logarithms
    alike = np.tile(first, (len(ALIKE), 1))
    alike[:, lengths] = np.log(np.sqrt(d) * np.array(ALIKE))[:, None]
    values = [likelihood(start)[0] for start in alike]
    return np.stack([alike[int(np.argmax(values))], _selected(tolerant, first, lengths, own)])


def _selected(
    likelihood: Likelihood, first: FloatArray, lengths: np.ndarray, own: np.ndarray
) -> FloatArray:
    """Return logarithms (p,) of a start in which few of the d inputs matter."""
    current = first.copy()
    current[lengths] = LogNormal.of_length_scales(len(own)).center
    value, slopes = likelihood(current)
    chosen: list[int] = []
    while len(chosen) < min(MOST, len(own)):
        steepness = own @ slopes
        steepness[chosen] = np.inf
        found, best = -np.inf, -1
        for j in np.argsort(steepness, kind="stable")[:STEEPEST].tolist():
            for length in LENGTHS:
                trial = current.copy()
                trial[own[j]] = np.log(length)
                if (reached := likelihood(trial)[0]) > found:
                    found, best, moved = reached, j, trial
        if not found > value + LEAST_GAIN:
            break
        chosen.append(best)
        current = moved
        value, slopes = likelihood(current)
    return current
