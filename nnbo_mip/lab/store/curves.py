r"""Best so far, and how far from the optimum it is: the metrics of a run.

With y_1 … y_n the observations of a unit, t_1 … t_n the values without noise, s = 1 under
minimize and -1 under maximize, and f* the optimum,

    best_k   = s min_{i <= k} s y_i,
    regret_k = min_{i <= k} s t_i - s f*.

Failed evaluations change nothing. Before the first value both are NaN.

>>> import numpy as np
>>> from nnbo_mip.lab.store.curves import best_so_far
>>> best_so_far(np.array([3.0, np.nan, 1.0, 2.0, 5.0, 4.0]), np.array([0, 4]), sign=1.0).tolist()
[3.0, 3.0, 1.0, 1.0, 5.0, 4.0]
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nnbo_mip.core.arrays import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Curves:
    """A metric of all finished instances of one method on one problem.

    Parameters
    ----------
    problem, method, metric : str
    starts : int
        Observations that all methods share; column `starts` is the first that a method chose.
    instances : (k,) array of int
    units : (k,) array of int
    values : (k, n) array
        After each observation; a run that ended early keeps its last value.
    """

    problem: str
    method: str
    metric: str
    starts: int
    instances: IntArray
    units: IntArray
    values: FloatArray


def best_so_far(values: FloatArray, begins: IntArray, sign: float | FloatArray) -> FloatArray:
    """Return the best value so far (n,) of runs that stand one after another.

    Parameters
    ----------
    values : (n,) array
        NaN for failures.
    begins : (k,) array of int
        Where each run begins.
    sign : float or (k,) array
        1 where small values are wanted, else -1.
    """
    best = np.empty_like(values)
    ends = np.append(begins, len(values))[1:]
    signs = np.broadcast_to(sign, begins.shape)
    for begin, end, turned in zip(begins, ends, signs, strict=True):
        best[begin:end] = turned * np.fmin.accumulate(turned * values[begin:end])
    return best
