r"""Performance and data profiles: which share of runs a method solves, and how soon.

A run is solved at the tolerance tau after the first t evaluations for which

    f_t - f_L <= tau (f_0 - f_L),

with f_t the best value so far, f_0 that of the shared starts and f_L the best one known. With t_r,m
the evaluations that method m takes on run r (infinite if it does not solve it) and d the dimension,

    performance profile of m at a   share of runs with t_r,m <= a min_m' t_r,m'
    data profile of m at a          share of runs with t_r,m <= a (d + 1).

Runs that no method solves count against all of them.

    target profile at t         share of pairs of a run and a target delta with f_t - f* <= delta

as COCO draws it over the evaluations divided by d, here without simulated restarts.

>>> from nnbo_mip.lab.statistics.profiles import data_profile, performance_profile
>>> times = [[2.0, 4.0], [3.0, float("inf")]]
>>> [part.tolist() for part in performance_profile(times)]
[[1.0, 2.0], [[1.0, 1.0], [0.0, 0.5]]]
>>> [part.tolist() for part in data_profile(times, [1, 1])]
[[1.0, 1.5, 2.0], [[0.5, 1.0, 1.0], [0.0, 0.0, 0.5]]]

References
----------
Dolan and Moré (2002), performance profiles [DolanMore2002].
Moré and Wild (2009), data profiles [MoreWild2009].
Hansen et al. (2021), targets [Hansen2021].
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from nnbo_mip.core.arrays import FloatArray

TARGETS = tuple(10.0 ** (2.0 - 0.2 * k) for k in range(51))
"""COCO's distances from the optimum: from 100 to 1e-8."""


def evaluations_to_solve(curves: FloatArray, starts: int, tolerance: float) -> FloatArray:
    """Return after how many evaluations (n, k) runs are solved, infinity for never.

    Parameters
    ----------
    curves : (n, k, m) array
        Distances >= 0 from the best value known, for every run, method and evaluation; runs share
        their first evaluations, so that all methods are measured from the same place.
    starts : int
        How many evaluations are shared.
    tolerance : float
        tau.
    """
    begin = np.max(curves[:, :, starts - 1], axis=1)
    solved = curves <= tolerance * begin[:, None, None]
    first = np.argmax(solved, axis=2) + 1.0
    made: FloatArray = np.where(np.any(solved, axis=2), first, np.inf)
    return made


def performance_profile(times: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Return ratios (m,), ascending from 1, and the share (k, m) that each method solves by then.

    Parameters
    ----------
    times : (n, k) array
        Evaluations that methods take on runs; infinity where they do not solve them.
    """
    taken = np.asarray(times, dtype=float)
    best = np.min(taken, axis=1, keepdims=True)
    return _shares(taken / np.where(np.isfinite(best), best, 1.0), least=1.0)


def data_profile(times: npt.ArrayLike, dimensions: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Return budgets (m,) in units of d + 1 evaluations, and the share (k, m) solved by then.

    Parameters
    ----------
    times : (n, k) array
    dimensions : (n,) array
        Of the problems of the runs.
    """
    taken = np.asarray(times, dtype=float)
    return _shares(taken / (np.asarray(dimensions, dtype=float)[:, None] + 1.0))


def target_profile(regrets: FloatArray, targets: npt.ArrayLike = TARGETS) -> FloatArray:
    """Return which share (m,) of the pairs of a run and a target is reached by each evaluation.

    Parameters
    ----------
    regrets : (n, m) array
        Best so far of each run.
    targets : (k,) array
    """
    reached = np.asarray(regrets)[:, :, None] <= np.asarray(targets, dtype=float)
    made: FloatArray = reached.mean(axis=(0, 2))
    return made


def _shares(costs: FloatArray, least: float | None = None) -> tuple[FloatArray, FloatArray]:
    """Return the distinct finite costs, and the share of the rows at or below each."""
    known = costs[np.isfinite(costs)]
    at = np.unique(known if least is None else np.append(known, least))
    ordered = np.sort(costs, axis=0)
    reached = [np.searchsorted(column, at, side="right") for column in ordered.T]
    return at, np.array(reached, dtype=float).reshape(costs.shape[1], len(at)) / len(costs)
