r"""Tests of whether methods differ: Mann-Whitney in two stages, Friedman with Nemenyi, Holm.

Two stages (Dewancker and others): two methods are compared by a Mann-Whitney test of their final
figures; where it is not significant, by one of the areas under their curves; where that is not
either, they are tied. A method's rank is 1 + the number of methods that beat it. Two tests at the
level 0.0005 keep 0.001 together. The share of pairs that a wins is

    (1 / (n m)) sum_{i,j} [a_i < b_j] + [a_i = b_j] / 2.

Friedman: with R_j the mean rank of method j over n blocks, k methods, and t the sizes of the
groups of ties within blocks,

    chi^2 = (12 n / (k (k + 1)) sum_j (R_j - (k + 1) / 2)^2)
            / (1 - sum_t (t^3 - t) / (n k (k^2 - 1))),
    critical difference = q_{0.05, k, inf} / sqrt(2) sqrt(k (k + 1) / (6 n))    (Nemenyi)

with q the studentized range. Small figures are good.

Holm: of m p-values in ascending order the k-th becomes the largest of (m - j + 1) p_(j), j <= k.

References
----------
Dewancker et al. (2016), two stages [Dewancker2016].
Demšar (2006), Friedman's test and Nemenyi's critical difference [Demsar2006].
Holm (1979), the correction for many tests [Holm1979].
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import stats

from nnbo_mip.core.arrays import FloatArray, IntArray
from nnbo_mip.core.errors import InputError
from nnbo_mip.lab.statistics.ranks import mean_ranks

STAGE_LEVEL = 0.0005
FRIEDMAN_LEVEL = 0.05


@dataclass(frozen=True)
class MannWhitney:
    """The outcome of one test of samples a and b.

    Parameters
    ----------
    share : float
        Of the pairs (a_i, b_j) that a wins by being smaller, ties half; 0.5 means no difference.
    p : float
        Two-sided; 1 where all values are equal.
    """

    share: float
    p: float


def mann_whitney(a: npt.ArrayLike, b: npt.ArrayLike) -> MannWhitney:
    """Compare two samples; exact up to 8 values without ties, else the normal approximation.

    Parameters
    ----------
    a, b : (n,) and (m,) arrays
        At least one value each.
    """
    first, second = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    if not first.size or not second.size:
        raise InputError(
            f"a test needs values of both samples; got {first.size} and {second.size}; leave "
            "methods without results out."
        )
    if np.all(np.concatenate([first, second]) == first[0]):
        return MannWhitney(0.5, 1.0)
    outcome = stats.mannwhitneyu(first, second, alternative="two-sided")
    share = 1.0 - outcome.statistic / (first.size * second.size)
    return MannWhitney(float(share), float(outcome.pvalue))


def areas(curves: FloatArray) -> FloatArray:
    """Return the mean heights (n,) of curves (n, m): their areas over a width of one."""
    made: FloatArray = np.mean(curves, axis=1)
    return made


def stratified_ranks(curves: Sequence[FloatArray], level: float = STAGE_LEVEL) -> IntArray:
    """Return the ranks (k,) of methods: 1 + the number of those that beat it.

    Parameters
    ----------
    curves : sequence of (n, m) arrays
        One entry a method; rows are instances, columns evaluations.
    level : float
        Of each test.
    """
    made = np.ones(len(curves), dtype=np.int64)
    for i, one in enumerate(curves):
        for j in range(i + 1, len(curves)):
            winner = _winner(one, curves[j], level)
            made[j] += winner == 1
            made[i] += winner == -1
    return made


def least_instances(level: float = STAGE_LEVEL) -> int:
    """Return how many instances of each method a test needs to be able to reach a level."""
    n = 1
    while 2.0 / math.comb(2 * n, n) > level:
        n += 1
    return n


def _winner(one: FloatArray, other: FloatArray, level: float) -> int:
    """Return 1 if the first is better, -1 if the second is, 0 if that cannot be told."""
    for measure in (_last, areas):
        outcome = mann_whitney(measure(one), measure(other))
        if outcome.p < level:
            return 1 if outcome.share > 0.5 else -1
    return 0


def _last(curves: FloatArray) -> FloatArray:
    return curves[:, -1]


@dataclass(frozen=True, eq=False)
class Friedman:
    """Mean ranks over blocks, and how far they must differ to be told apart.

    Parameters
    ----------
    ranks : (k,) array
        Means over the blocks.
    blocks : int
        n.
    statistic, p : float
        Of the test that all methods are alike; 0 and 1 where every block ties all of them.
    difference : float
        The critical difference of Nemenyi.
    """

    ranks: FloatArray
    blocks: int
    statistic: float
    p: float
    difference: float

    def groups(self) -> list[IntArray]:
        """Return the largest sets of methods that cannot be told apart, the best ranks first."""
        order = np.argsort(self.ranks, kind="stable")
        sorted_ranks = self.ranks[order]
        ends = np.searchsorted(sorted_ranks, sorted_ranks + self.difference, side="right")
        found, reached = [], 0
        for begin, end in enumerate(ends):
            if end > max(reached, begin + 1):
                found.append(order[begin:end])
                reached = int(end)
        return found


def friedman(figures: npt.ArrayLike, level: float = FRIEDMAN_LEVEL) -> Friedman:
    """Compare methods over blocks, such as instances with the same starts.

    Parameters
    ----------
    figures : (n, k) array
        One row a block, one column a method; at least one row and two columns.
    level : float
        Of the critical difference.
    """
    values = np.asarray(figures, dtype=float)
    if values.ndim != 2 or values.shape[0] < 1 or values.shape[1] < 2:
        raise InputError(
            "the figures must have a row for each block and a column for each of two methods at "
            f"least; got shape {values.shape}; leave methods without results out."
        )
    n, k = values.shape
    within = mean_ranks(values)
    means = np.mean(within, axis=0)
    ties = sum(
        float(np.sum(sizes**3 - sizes))
        for sizes in (np.unique(row, return_counts=True)[1] for row in within)
    )
    correction = 1.0 - ties / (n * k * (k * k - 1.0))
    spread = 12.0 * n / (k * (k + 1.0)) * float(np.sum((means - 0.5 * (k + 1.0)) ** 2))
    statistic = spread / correction if correction > 0.0 else 0.0
    return Friedman(
        ranks=means,
        blocks=n,
        statistic=statistic,
        p=float(stats.chi2.sf(statistic, k - 1)),
        difference=critical_difference(k, n, level),
    )


def holm(p: npt.ArrayLike) -> FloatArray:
    """Return p-values (n,) corrected for there being n of them; at most 1.

    >>> holm([0.01, 0.04, 0.03]).round(3).tolist()
    [0.03, 0.06, 0.06]
    """
    values = np.asarray(p, dtype=float)
    order = np.argsort(values, kind="stable")
    scaled = values[order] * np.arange(len(values), 0, -1)
    made = np.empty_like(values)
    made[order] = np.minimum(np.maximum.accumulate(scaled), 1.0)
    return made


def critical_difference(methods: int, blocks: int, level: float = FRIEDMAN_LEVEL) -> float:
    """Return how far mean ranks over blocks must differ to be told apart (Nemenyi)."""
    q = float(stats.studentized_range.ppf(1.0 - level, methods, np.inf)) / np.sqrt(2.0)
    return float(q * np.sqrt(methods * (methods + 1.0) / (6.0 * blocks)))
