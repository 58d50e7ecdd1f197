r"""Which terms of one and of two inputs a sparse model chooses from, and their columns.

Candidates are every input, the square of every input that takes more than two values, and products
of two inputs of which one takes two values at most. Terms that are constant over the observations
say nothing and are left out; so are products within a category. Of more than `MOST_PRODUCTS`
products those are kept that are most correlated with the values (sure screening), so that time and
memory stay bounded.

A column is centered and divided by half its range, so that one prior of weights fits all.

References
----------
Fan and Lv (2008), screening by correlations [FanLv2008].
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nnbo_mip.core.arrays import BoolArray, FloatArray, IntArray
from nnbo_mip.scores.posteriors.pairs import ALONE

MOST_PRODUCTS = 4000
"""Products that are chosen from: a fit of 100 values then takes half a second."""

ROWS_AT_ONCE = 256
"""Inputs whose products with all others are looked at together."""

LEAST_SPREAD = 1e-9
"""Half ranges below it, of numbers of about 1, are rounding."""


@dataclass(frozen=True, eq=False)
class Terms:
    """Candidates and their values at the observations.

    Parameters
    ----------
    pairs : (p, 2) int array
        Inputs (j, k); k = -1 for an input alone, k = j for its square.
    columns : (p, n) array
        Centered values in units of `scale`.
    center, scale : (p,) arrays
        A term is ``center + scale * column``.
    """

    pairs: IntArray
    columns: FloatArray
    center: FloatArray
    scale: FloatArray

    @property
    def is_product(self) -> BoolArray:
        """Which terms (p,) are products of two inputs."""
        return np.asarray((self.pairs[:, 1] != ALONE) & (self.pairs[:, 0] != self.pairs[:, 1]))

    @staticmethod
    def of(X: FloatArray, y: FloatArray) -> Terms:
        """Return the candidates for points (n, d) and centered values (n,)."""
        inputs = np.arange(X.shape[1])
        two = np.array([len(np.unique(column)) <= 2 for column in X.T])
        alone = np.column_stack([inputs, np.full(len(inputs), ALONE)])
        squares = np.column_stack([inputs[~two], inputs[~two]])
        pairs = np.concatenate([alone, squares, _products(X, y, two)]).astype(np.int64)
        values = X.T[pairs[:, 0]]
        values = np.where(pairs[:, 1:] == ALONE, values, values * X.T[pairs[:, 1]])
        low, high = values.min(axis=1), values.max(axis=1)
        scale = 0.5 * high - 0.5 * low
        kept = scale > LEAST_SPREAD
        pairs, values, scale = pairs[kept], values[kept], scale[kept]
        center = values.mean(axis=1)
        return Terms(pairs, (values - center[:, None]) / scale[:, None], center, scale)


def _products(X: FloatArray, y: FloatArray, two: BoolArray) -> IntArray:
    """Return the products (p, 2) that are most correlated with the values."""
    d, n = X.shape[1], len(X)
    squares = np.square(X)
    varies = np.ptp(X, axis=0) > LEAST_SPREAD
    best_pairs, best = np.empty((0, 2), dtype=np.int64), np.empty(0)
    for start in range(0, d, ROWS_AT_ONCE):
        rows = np.arange(start, min(start + ROWS_AT_ONCE, d))
        mean = X[:, rows].T @ X / n
        spread = squares[:, rows].T @ squares / n - mean**2
        shared = np.abs((X[:, rows] * y[:, None]).T @ X) / n
        possible = (rows[:, None] < np.arange(d)) & (two[rows][:, None] | two)
        possible &= (spread > LEAST_SPREAD**2) & varies[rows][:, None] & varies
        j, k = np.nonzero(possible)
        score = shared[j, k] / np.sqrt(spread[j, k])
        best = np.concatenate([best, score])
        best_pairs = np.concatenate([best_pairs, np.column_stack([rows[j], k])])
        if len(best) > MOST_PRODUCTS:
            kept = np.sort(np.argsort(-best, kind="stable")[:MOST_PRODUCTS])
            best, best_pairs = best[kept], best_pairs[kept]
    return best_pairs
