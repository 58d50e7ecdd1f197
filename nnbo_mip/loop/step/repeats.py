"""How much each value deviates, where points that were measured several times say that it differs.

A noise that is learned is the same for all values. Where a point has several of them, they tell its
size there. Bartlett's test asks whether such points agree on it. Where they clearly do not, a point
with m values, whose squares about their mean add up to S, has the variance

    (PRIOR s^2 + S) / (PRIOR + m - 1),

that of its values beside PRIOR more that agree with the common one, s^2. All others keep s^2.

References
----------
Bartlett (1937), a test of equal variances [Bartlett1937].
"""

from __future__ import annotations

import numpy as np
from scipy.special import chdtrc

from nnbo_mip.core.arrays import FloatArray

PRIOR = 2.0
"""Degrees of freedom of the common variance."""

CLEARLY = 0.01
"""Probability below which equal variances are given up."""

LEAST_SHARE = 1e-6
"""Of the common variance: values that repeat exactly have at least this."""


def deviations_by_point(X: FloatArray, y: FloatArray, common: float) -> FloatArray:
    """Return the deviations (n,) of values.

    Parameters
    ----------
    X, y : (n, d) and (n,) arrays
        Points and their values.
    common : float
        The deviation of values of which nothing else is known, above zero.
    """
    _, place, times = np.unique(X, axis=0, return_inverse=True, return_counts=True)
    place = place.ravel()
    means = np.bincount(place, y) / times
    squares = np.asarray(np.bincount(place, np.square((y - means[place]) / common)), np.float64)
    free = np.asarray(times - 1, np.float64)
    if not _clearly_differ(squares[free > 0.0], free[free > 0.0]):
        return np.full(len(y), common)
    variances = np.where(free > 0.0, (PRIOR + squares) / (PRIOR + free), 1.0)
    return np.asarray(common * np.sqrt(variances[place]))


def _clearly_differ(squares: FloatArray, free: FloatArray) -> bool:
    """Whether sums of squares (k,) of so many degrees of freedom are not of one variance."""
    k, total = len(free), free.sum()
    if k < 2 or not squares.any():
        return False
    pooled = squares.sum() / total
    shares = np.maximum(squares / free / pooled, LEAST_SHARE)
    correction = 1.0 + ((1.0 / free).sum() - 1.0 / total) / (3.0 * (k - 1.0))
    return bool(chdtrc(k - 1.0, -(free @ np.log(shares)) / correction) < CLEARLY)
