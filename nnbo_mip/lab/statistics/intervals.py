r"""Means and medians of samples, with bootstrapped 95 % intervals.

    interval of a statistic = 2.5 % and 97.5 % quantiles of the statistic of resampled instances
    t interval              = mean -+ t_{0.975, n-1} sd / sqrt(n)

The resampling has a fixed seed, so that the same results have the same intervals.

>>> import numpy as np
>>> from nnbo_mip.lab.statistics.intervals import interval_of
>>> interval_of(np.array([1.0, 2.0, 6.0]))
Interval(value=3.0, low=1.0, high=6.0)

References
----------
Efron and Tibshirani (1993), the bootstrap [EfronTibshirani1993].
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial

import numpy as np
from scipy import stats

from nnbo_mip.core.arrays import FloatArray, IntArray

LEVEL = 0.95
RESAMPLES = 10_000
SEED = 20_000

CURVE_RESAMPLES = 2000
"""For every point of a curve."""

BLOCK = 4096
"""Columns that are resampled together, so that a long curve needs no more memory."""

Statistic = Callable[..., FloatArray]
"""`np.mean` or `np.median`."""

TAILS = (0.5 * (1.0 - LEVEL), 0.5 * (1.0 + LEVEL))


@dataclass(frozen=True)
class Interval:
    """A figure and its 95 % interval; NaN ends where one value is all there is."""

    value: float
    low: float
    high: float

    @property
    def is_above_zero(self) -> bool:
        """Whether all of it is above 0."""
        return self.low > 0.0


@dataclass(frozen=True, eq=False)
class Band:
    """A statistic of every column of a sample and its 95 % intervals.

    Parameters
    ----------
    value, low, high : (m,) arrays
        NaN ends where one row is all there is.
    """

    value: FloatArray
    low: FloatArray
    high: FloatArray

    def at(self, column: int) -> Interval:
        """Return one column."""
        return Interval(
            float(self.value[column]), float(self.low[column]), float(self.high[column])
        )


def bootstrapped(
    values: FloatArray, statistic: Statistic, resamples: int = RESAMPLES
) -> tuple[FloatArray, FloatArray]:
    """Return both ends of the interval of a statistic over the first axis.

    Parameters
    ----------
    values : (n, …) array
        One entry an instance.
    statistic : callable
        Takes an array and ``axis``.
    resamples : int
    """
    n = len(values)
    if n < 2:
        nothing = np.full(values.shape[1:], np.nan)
        return nothing, nothing
    drawn = statistic(values[_resampled(n, resamples)], axis=0)
    low, high = np.quantile(drawn, TAILS, axis=0)
    return low, high


def interval_of(values: FloatArray, statistic: Statistic = np.mean) -> Interval:
    """Return a statistic of values (n,) with its bootstrapped interval."""
    if statistic is np.median:
        return median_band(values[:, None], RESAMPLES).at(0)  # the same, by ranks
    low, high = bootstrapped(values, statistic)
    return Interval(float(statistic(values, axis=0)), float(low), float(high))


def t_interval_of(values: FloatArray) -> Interval:
    """Return the mean of values (n,) with its t interval."""
    n, mean = len(values), float(np.mean(values))
    if n < 2:
        return Interval(mean, np.nan, np.nan)
    reach = float(stats.t.ppf(TAILS[1], n - 1) * np.std(values, ddof=1) / np.sqrt(n))
    return Interval(mean, mean - reach, mean + reach)


def p_of(values: FloatArray) -> float:
    """Return the two-sided p-value of the mean of values (n,) being 0, by the bootstrap.

    Twice the share of resampled means on the other side of 0, or at it, one of which is always
    counted; 1 for fewer than two values.
    """
    if len(values) < 2:
        return 1.0
    drawn = np.mean(values[_resampled(len(values), RESAMPLES)], axis=0)
    sides = min(int(np.sum(drawn <= 0.0)), int(np.sum(drawn >= 0.0)))
    return min(1.0, 2.0 * (1 + sides) / (1 + RESAMPLES))


def t_p_of(values: FloatArray) -> float:
    """Return the two-sided p-value of the mean of values (n,) being 0, by Student's test."""
    if len(values) < 2:
        return 1.0
    mean, error = float(np.mean(values)), float(np.std(values, ddof=1) / np.sqrt(len(values)))
    if error == 0.0:
        return 1.0 if mean == 0.0 else 0.0
    return float(2.0 * stats.t.sf(abs(mean) / error, len(values) - 1))


def mean_band(values: FloatArray, resamples: int = CURVE_RESAMPLES) -> Band:
    """Return the means of the columns of values (n, m), with intervals as of `bootstrapped`.

    A resample is a row of counts, so that all resampled means are one product of matrices.
    """
    return _by_blocks(partial(_mean_band, resamples=resamples), values)


def _mean_band(values: FloatArray, resamples: int) -> Band:
    n = len(values)
    if n < 2:
        return _alone(values)
    low, high = np.quantile(_counted(n, resamples) @ values / n, TAILS, axis=0)
    return Band(np.mean(values, axis=0), low, high)


def median_band(values: FloatArray, resamples: int = CURVE_RESAMPLES) -> Band:
    """Return the medians of the columns of values (n, m), with bootstrapped intervals.

    A resampled median depends on the ranks of two middle values alone; ranks are resampled once
    for all columns, and each pair of ranks is looked up once, with how often it was drawn.
    """
    return _by_blocks(partial(_median_band, resamples=resamples), values)


def _median_band(values: FloatArray, resamples: int) -> Band:
    n = len(values)
    if n < 2:
        return _alone(values)
    ordered = np.sort(values, axis=0)
    middle = np.sort(_resampled(n, resamples), axis=0)[[(n - 1) // 2, n // 2]]
    pairs, counts = np.unique(middle, axis=1, return_counts=True)
    drawn = 0.5 * (ordered[pairs[0]] + ordered[pairs[1]])
    whole = np.median(values, axis=0)
    low, high = (np.where(np.isnan(whole), np.nan, _quantile(drawn, counts, p)) for p in TAILS)
    return Band(whole, low, high)


def _by_blocks(band: Callable[[FloatArray], Band], values: FloatArray) -> Band:
    """Return the band of values (n, m), made of `BLOCK` columns at a time."""
    starts = range(0, max(values.shape[1], 1), BLOCK)
    parts = [band(values[:, start : start + BLOCK]) for start in starts]
    if len(parts) == 1:
        return parts[0]
    value, low, high = (
        np.concatenate([getattr(part, name) for part in parts]) for name in ("value", "low", "high")
    )
    return Band(value, low, high)


def _quantile(values: FloatArray, counts: IntArray, part: float) -> FloatArray:
    """Return `np.quantile` of the columns of values (k, m), each row there `counts` times."""
    order = np.argsort(values, axis=0)
    sums = np.cumsum(counts[order], axis=0)
    place = part * (int(np.sum(counts)) - 1)
    below, above = (
        np.take_along_axis(
            values,
            np.take_along_axis(order, np.argmax(sums > at, axis=0)[None, :], axis=0),
            axis=0,
        )[0]
        for at in (np.floor(place), np.ceil(place))
    )
    made: FloatArray = below + (place - np.floor(place)) * (above - below)
    return made


def _alone(values: FloatArray) -> Band:
    """Return what can be said of one row, or of none."""
    nothing = np.full(values.shape[1:], np.nan)
    return Band(values[0] if len(values) else nothing, nothing, nothing)


@lru_cache(maxsize=8)
def _resampled(n: int, resamples: int) -> IntArray:
    """Return the rows (n, resamples) of which resamples are made."""
    rows = np.random.default_rng(SEED).integers(0, n, (n, resamples))
    rows.setflags(write=False)
    return rows


@lru_cache(maxsize=8)
def _counted(n: int, resamples: int) -> FloatArray:
    """Return how often each row is in each resample (resamples, n)."""
    counts = np.apply_along_axis(np.bincount, 0, _resampled(n, resamples), minlength=n)
    made: FloatArray = counts.T.astype(np.float64)
    made.setflags(write=False)
    return made
