r"""What is said of two methods that have the same seeds: paired differences of regrets.

    regret after k evaluations  = min of the first k values - optimum, not below 0
    log10 regret                = log10(max(regret, 1e-9))

Intervals and p-values are those of `nnbo_mip.lab.statistics.intervals`. A difference is whole where
all four intervals are on the same side of 0; its p-value is the largest of the four.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.lab.statistics.intervals import (
    Interval,
    interval_of,
    p_of,
    t_interval_of,
    t_p_of,
)

FLOOR = 1e-9
"""Below which regrets count as the same in log10: constants of optima are not better known."""


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
    p : float
        The largest two-sided p-value of the four; 1 where they are not on one side of 0.
    """

    seeds: int
    regret: Interval
    regret_t: Interval
    log: Interval
    log_t: Interval
    p: float

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
            _largest_p(plain, logs),
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


def _largest_p(plain: FloatArray, logs: FloatArray) -> float:
    if len(plain) < 2 or float(np.mean(plain)) * float(np.mean(logs)) <= 0.0:
        return 1.0
    return max(test(values) for values in (plain, logs) for test in (p_of, t_p_of))
