"""A compiled sweep of a Gibbs chain over weights of which most are zero (`gibbs`)."""

from __future__ import annotations

import numpy as np

from nnbo_mip.core.compiled import compiled

CERTAIN = 40.0
"""Log odds whose exponential would no more be told from infinity."""


@compiled()
def sweep(columns, norms, weights, residual, noise, odds, slabs, order, uniform, normal):
    """Draw every weight once given the others, in place.

    Parameters
    ----------
    columns : (p, n) array
    norms : (p,) array
        Squared lengths of the columns.
    weights, residual : (p,) and (n,) arrays
        The state.
    noise : float
    odds, slabs : (p,) arrays
        Logarithms of the prior odds, and variances, of weights that are not zero.
    order, uniform, normal : (p,) arrays
    """
    for i in range(order.size):
        j = order[i]
        column, before = columns[j], weights[j]
        precision = norms[j] / noise + 1.0 / slabs[j]
        mean = (np.dot(column, residual) + norms[j] * before) / (noise * precision)
        log_odds = odds[j] + 0.5 * precision * mean * mean - 0.5 * np.log(slabs[j] * precision)
        after = 0.0
        if log_odds > CERTAIN or uniform[i] * (1.0 + np.exp(-log_odds)) < 1.0:
            after = mean + normal[i] / np.sqrt(precision)
        if after != before:
            weights[j] = after
            change = before - after
            for k in range(residual.size):
                residual[k] += change * column[k]
