r"""Ranks of methods, 1 the best, and what is counted of many lists of them.

    rank by interval   1 + number of methods whose interval is wholly below
    competition rank   1 + number of methods with a smaller figure
    Borda count        sum over lists of the number of methods that are ranked strictly worse
    firsts             number of lists in which the rank is 1; ties count

Small figures are good throughout. NaN, a method without a figure, is beaten by all that have one.

>>> from nnbo_mip.lab.statistics.ranks import borda, ranks, ranks_by_interval
>>> ranks([3.0, 1.0, 1.0, 2.0]).tolist()
[4, 1, 1, 3]
>>> ranks_by_interval([0.0, 1.5, 3.0], [2.0, 2.5, 4.0]).tolist()
[1, 1, 3]
>>> borda([[1, 1, 3], [2, 1, 3]]).tolist()
[2, 3, 0]
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.stats import rankdata

from nnbo_mip.core.arrays import FloatArray, IntArray
from nnbo_mip.core.errors import InputError


def ranks(figures: npt.ArrayLike) -> IntArray:
    """Return competition ranks (…, k) of figures (…, k), equal ones sharing the best."""
    made: IntArray = rankdata(_known(figures), method="min", axis=-1).astype(np.int64)
    return made


def mean_ranks(figures: npt.ArrayLike) -> FloatArray:
    """Return ranks (…, k) of figures (…, k), equal ones sharing their mean."""
    made: FloatArray = rankdata(_known(figures), method="average", axis=-1)
    return made


def ranks_by_interval(low: npt.ArrayLike, high: npt.ArrayLike) -> IntArray:
    """Return the ranks (k,) of intervals: a method is beaten by those that are wholly below.

    Parameters
    ----------
    low, high : (k,) arrays
        A method with NaN ends beats nobody, and nobody beats it.
    """
    lower, upper = np.asarray(low, dtype=float), np.asarray(high, dtype=float)
    if lower.shape != upper.shape or np.any(lower > upper):
        raise InputError(
            "intervals must have a lower and an upper end each, in this order; got "
            f"{lower.tolist()} and {upper.tolist()}; pass the lower ends first."
        )
    beaten: IntArray = 1 + np.sum(upper[:, None] < lower[None, :], axis=0)
    return beaten


def borda(lists: npt.ArrayLike) -> IntArray:
    """Return the Borda counts (k,) of lists of ranks (n, k)."""
    many = _lists(lists)
    counts: IntArray = np.sum(many[:, :, None] < many[:, None, :], axis=(0, 2))
    return counts


def firsts(lists: npt.ArrayLike) -> IntArray:
    """Return in how many of lists of ranks (n, k) each method is first."""
    counts: IntArray = np.sum(_lists(lists) == 1, axis=0)
    return counts


def _lists(lists: npt.ArrayLike) -> npt.NDArray[np.float64]:
    many = np.asarray(lists, dtype=float)
    if many.ndim != 2:
        raise InputError(
            f"lists of ranks must have shape (lists, methods); got shape {many.shape}; "
            "pass one row a list."
        )
    return many


def _known(figures: npt.ArrayLike) -> FloatArray:
    """Return figures with infinity in the place of NaN."""
    made = np.asarray(figures, dtype=float)
    return np.where(np.isnan(made), np.inf, made)
