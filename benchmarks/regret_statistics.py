r"""What is said of samples of regrets.

    regret after k evaluations  = min of the first k values - optimum, not below 0
    log10 regret                = log10(max(regret, 1e-9))
    bootstrapped interval       = 2.5 % and 97.5 % quantiles of the statistic of resampled seeds
    t interval                  = mean -+ t_{0.975, n-1} sd / sqrt(n)

The resampling has a fixed seed, so that the same runs have the same table.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import numpy.typing as npt
from scipy import stats

from nnbo_mip.network.affine import FloatArray

LEVEL = 0.95
RESAMPLES = 10_000
SEED = 20_000
FLOOR = 1e-9
"""Below which regrets count as the same in log10: constants of optima are not better known."""

Statistic = Callable[..., FloatArray]
"""`np.mean` or `np.median`."""


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


def traces(values: npt.ArrayLike, optimum: float, evaluations: int) -> FloatArray:
    """Return regrets (evaluations,) after each evaluation; a run that was cut stays where it was.

    Parameters
    ----------
    values : (k,) array
        In order, to be minimized.
    optimum : float
    evaluations : int
    """
    best = np.minimum.accumulate(np.asarray(values, dtype=float))
    regret = np.maximum(best - optimum, 0.0)
    return np.concatenate([regret, np.full(evaluations - len(regret), regret[-1])])


def log10(regret: npt.ArrayLike) -> FloatArray:
    """Return the logarithms of regrets, of `FLOOR` at least."""
    made: FloatArray = np.log10(np.maximum(regret, FLOOR))
    return made


def bootstrapped(
    values: FloatArray, statistic: Statistic, resamples: int = RESAMPLES
) -> tuple[FloatArray, FloatArray]:
    """Return both ends of the interval of a statistic over the first axis.

    Parameters
    ----------
    values : (n, …) array
        One entry a seed.
    statistic : callable
        Takes an array and ``axis``.
    resamples : int
    """
    n = len(values)
    if n < 2:
        nothing = np.full(values.shape[1:], np.nan)
        return nothing, nothing
    rows = np.random.default_rng(SEED).integers(0, n, (n, resamples))
    drawn = statistic(values[rows], axis=0)
    tail = 0.5 * (1.0 - LEVEL)
    low, high = np.quantile(drawn, [tail, 1.0 - tail], axis=0)
    return low, high


def interval_of(values: FloatArray, statistic: Statistic = np.mean) -> Interval:
    """Return a statistic of values (n,) with its bootstrapped interval."""
    low, high = bootstrapped(values, statistic)
    return Interval(float(statistic(values, axis=0)), float(low), float(high))


def t_interval_of(values: FloatArray) -> Interval:
    """Return the mean of values (n,) with its t interval."""
    n, mean = len(values), float(np.mean(values))
    if n < 2:
        return Interval(mean, np.nan, np.nan)
    reach = float(stats.t.ppf(0.5 * (1.0 + LEVEL), n - 1) * np.std(values, ddof=1) / np.sqrt(n))
    return Interval(mean, mean - reach, mean + reach)


@dataclass(frozen=True)
class Difference:
    """Mean difference of two methods with the same seeds; above 0, the first one is worse.

    Parameters
    ----------
    seeds : int
        That both have.
    regret, regret_t : Interval
        Of the regrets themselves, bootstrapped and of Student.
    log, log_t : Interval
        Of their logarithms.
    """

    seeds: int
    regret: Interval
    regret_t: Interval
    log: Interval
    log_t: Interval

    @classmethod
    def of(cls, regret: FloatArray, rival: FloatArray) -> Difference:
        """Compare regrets (n,) at the end, seed by seed."""
        plain, logs = regret - rival, log10(regret) - log10(rival)
        return cls(
            len(regret),
            interval_of(plain),
            t_interval_of(plain),
            interval_of(logs),
            t_interval_of(logs),
        )

    @property
    def intervals(self) -> MappingProxyType[str, Interval]:
        """All four by name."""
        return MappingProxyType(
            {
                "regret, bootstrap": self.regret,
                "regret, t": self.regret_t,
                "log10, bootstrap": self.log,
                "log10, t": self.log_t,
            }
        )

    @property
    def is_wholly_worse(self) -> bool:
        """Whether one of the intervals is all above 0."""
        return any(interval.is_above_zero for interval in self.intervals.values())
