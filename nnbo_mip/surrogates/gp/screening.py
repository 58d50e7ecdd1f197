r"""Where the search for many length-scales begins: all alike, or few inputs that matter.

With d length-scales that start near 1, points in [-1, 1]^d lie some sqrt(d) of them apart,
correlations are 0, and so are all slopes. Two starts avoid that:

* *alike*: one length for all, the best of sqrt(d) times powers of 2 (Xu et al., Papenmeier et al.);
* *selected*: all inputs at a length at which they hardly matter, but for a few that are chosen one
  by one. At each step an unknown noise stands for what no input explains yet. With K the
  covariance, w = K^-1 y and the polynomials q_m of Legendre, the inputs j with the largest

      sum_m (w . q_m(x_j))^2 / (q_m(x_j) . K^-1 q_m(x_j)),        m = 1, …, 4,

  are what a curve of one input would explain best; a few lengths are tried for each of them, and
  the best is kept where it gains enough.

A climb follows from both; the more probable end is taken. The second finds two inputs of hundreds
where a climb from the first ends with all of them a little.

References
----------
Xu et al. (2025), length-scales that start at sqrt(d) [Xu2025].
Papenmeier et al. (2025), vanishing gradients of the likelihood in many dimensions [Papenmeier2025].
Eriksson and Jankowiak (2021), few inputs that matter by a prior [ErikssonJankowiak2021].
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.polynomial.legendre import legvander
from scipy.linalg import cho_factor, cho_solve

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.surrogates.gp.fitting import Hyperparameters, Likelihood, LogNormal

ALIKE = (0.5, 1.0, 2.0, 4.0, 8.0)
"""Lengths of all inputs that are tried, in units of sqrt(d)."""

UNEXPLAINED = 0.2
"""Variance that stands for what is not explained yet, where that of the values is 1."""

LENGTHS = (0.4, 1.0, 2.5)
"""That are tried for an input, where a side goes from -1 to 1."""

PROMISING, MOST = 2, 8
"""Inputs that are tried at each step, and inputs that are chosen at most."""

DEGREE = 4
"""Of the polynomials."""

TINY = 1e-300

LEAST_GAIN = 2.0
"""Of the logarithm of the likelihood, below which no more inputs are chosen."""


def screened_starts(
    likelihood_at: Callable[[float], Likelihood],
    hyper: Hyperparameters,
    points: FloatArray,
    values: FloatArray,
    diagonal: float | FloatArray,
) -> FloatArray:
    """Return logarithms (2, p) from which to climb.

    Parameters
    ----------
    likelihood_at : callable
        What is climbed, with a variance more on the diagonal.
    hyper : Hyperparameters
        Length-scales among its free parameters, one an input.
    points, values : (n, d) and (n,) arrays
    diagonal : float or (n,) array
    """
    lengths = np.array(hyper.free) == "length_scale"
    moves = hyper.moves
    own = moves[lengths[moves.argmax(axis=1)]] > 0.0  # (q, p), a row for inputs that are tied
    likelihood = likelihood_at(0.0)
    alike = np.tile(hyper.logarithms, (len(ALIKE), 1))
    alike[:, lengths] = np.log(np.sqrt(len(own)) * np.array(ALIKE))[:, None]
    best = int(np.argmax([likelihood(start)[0] for start in alike]))

    tolerant = likelihood_at(UNEXPLAINED)
    current = hyper.logarithms
    current[lengths] = LogNormal.of_length_scales(len(own)).center
    value, chosen = tolerant(current)[0], np.zeros(len(own), dtype=np.bool_)
    curves = _curves(points)
    while chosen.sum() < min(MOST, len(own)):
        gains = _explained(hyper.at(current), points, values, diagonal + UNEXPLAINED, curves)
        promise = np.where(chosen, -np.inf, (own[:, lengths] * gains).max(axis=1))
        found = -np.inf
        for j in np.argsort(-promise, kind="stable")[:PROMISING].tolist():
            for length in LENGTHS:
                trial = current.copy()
                trial[own[j]] = np.log(length)
                if (reached := tolerant(trial)[0]) > found:
                    found, taken, moved = reached, j, trial
        if not found > value + LEAST_GAIN:
            break
        chosen[taken] = True
        current, value = moved, found
    return np.stack([alike[best], current])


def _curves(points: FloatArray) -> FloatArray:
    """Return Legendre polynomials of each input: (m, n, d), each scaled to [-1, 1]."""
    low, high = points.min(axis=0), points.max(axis=0)
    width = np.where(high > low, high - low, 1.0)
    return np.moveaxis(legvander(2.0 * (points - low) / width - 1.0, DEGREE)[..., 1:], -1, 0)


def _explained(
    hyper: Hyperparameters,
    points: FloatArray,
    values: FloatArray,
    diagonal: float | FloatArray,
    curves: FloatArray,
) -> FloatArray:
    """Return what curves of each input alone explain (d,) of what is left."""
    covariance = hyper.kernel(points, points) + np.diag(np.zeros(len(points)) + diagonal)
    factor = cho_factor(covariance, lower=True, check_finite=False)
    weights = cho_solve(factor, values, check_finite=False)
    solved = cho_solve(factor, curves.swapaxes(0, 1).reshape(len(points), -1), check_finite=False)
    sizes = (curves * solved.reshape(len(points), DEGREE, -1).swapaxes(0, 1)).sum(axis=1)
    explained = np.square(np.einsum("n,mnd->md", weights, curves)) / np.maximum(sizes, TINY)
    return np.asarray(explained.sum(axis=0))
