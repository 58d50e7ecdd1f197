"""Ranks against published tables and lists by hand."""

from __future__ import annotations

import numpy as np
import pytest

from nnbo_mip.core.errors import InputError
from nnbo_mip.lab.statistics.ranks import borda, firsts, mean_ranks, ranks, ranks_by_interval

# Mean final regret in two dimensions and half the width of its 95 % interval, over 40 instances;
# methods NOMU, GP, DE, DO, pGP. Published as table A.5, and the ranks as table 6.6.
FINAL = {
    "branin": [
        (2.30e-5, 9.40e-6),
        (2.36e-6, 1.35e-6),
        (2.52e-5, 8.63e-6),
        (2.83e-4, 1.21e-4),
        (2.66e-4, 4.91e-4),
    ],
    "rosenbrock": [
        (2.54e-6, 6.53e-7),
        (5.47e-6, 2.12e-6),
        (1.08e-6, 3.62e-7),
        (6.18e-6, 3.27e-6),
        (7.55e-6, 2.58e-6),
    ],
    "camelback": [
        (1.33e-5, 2.89e-6),
        (4.00e-5, 1.14e-5),
        (7.57e-4, 3.73e-4),
        (1.02e-4, 3.86e-5),
        (8.40e-5, 5.44e-5),
    ],
    "perm": [
        (1.73e-5, 8.10e-6),
        (1.95e-5, 9.01e-6),
        (2.16e-5, 8.70e-6),
        (1.60e-4, 7.19e-5),
        (7.77e-4, 4.85e-4),
    ],
    "goldstein-price": [
        (1.42e-4, 7.47e-5),
        (1.16e-4, 5.48e-5),
        (2.19e-4, 8.57e-5),
        (3.44e-4, 1.39e-4),
        (9.58e-5, 3.38e-5),
    ],
}
PUBLISHED = {
    "branin": [2, 1, 2, 4, 1],
    "rosenbrock": [2, 3, 1, 2, 3],
    "camelback": [1, 2, 5, 3, 2],
    "perm": [1, 1, 1, 4, 5],
    "goldstein-price": [1, 1, 2, 3, 1],
}


@pytest.mark.parametrize("problem", FINAL)
def test_ranks_by_interval_are_those_that_were_published(problem: str) -> None:
    mean, half = np.array(FINAL[problem]).T
    assert ranks_by_interval(mean - half, mean + half).tolist() == PUBLISHED[problem]


def test_ranks_of_medians_are_those_that_were_published() -> None:
    # Table A.1, the second printed row of each function, and the median columns of table 6.1.
    assert ranks([8.25e-7, 8.25e-7, 8.25e-7, 8.25e-7, 8.25e-7]).tolist() == [1, 1, 1, 1, 1]
    assert ranks([8.73e-4, 1.41e-4, 4.98e-4, 4.55e-3, 1.60e-3]).tolist() == [3, 1, 2, 5, 4]
    assert ranks([2.56e-5, 4.25e-5, 4.25e-5, 5.66e-5, 1.04e-4]).tolist() == [1, 2, 2, 4, 5]


def test_intervals_that_touch_do_not_beat_each_other() -> None:
    assert ranks_by_interval([0.0, 1.0], [1.0, 2.0]).tolist() == [1, 1]
    assert ranks_by_interval([0.0, 1.0 + 1e-12], [1.0, 2.0]).tolist() == [1, 2]


def test_a_method_without_an_interval_neither_beats_nor_is_beaten() -> None:
    assert ranks_by_interval([0.0, np.nan, 5.0], [1.0, np.nan, 6.0]).tolist() == [1, 1, 2]


def test_ends_in_the_wrong_order_are_refused() -> None:
    with pytest.raises(InputError, match="pass the lower ends first"):
        ranks_by_interval([2.0, 0.0], [1.0, 1.0])


def test_equal_figures_share_a_rank_and_missing_ones_are_last() -> None:
    assert ranks([0.5, np.nan, 0.25, 0.25]).tolist() == [3, 4, 1, 1]
    assert mean_ranks([0.5, np.nan, 0.25, 0.25]).tolist() == [3.0, 4.0, 1.5, 1.5]
    assert mean_ranks([[2.0, 1.0], [1.0, 1.0]]).tolist() == [[2.0, 1.0], [1.5, 1.5]]


def test_borda_counts_methods_that_are_strictly_worse() -> None:
    lists = [
        [1, 2, 3, 4],  # 3 2 1 0
        [1, 1, 3, 4],  # 2 2 1 0: a tie wins nothing
        [2, 1, 2, 2],  # 0 3 0 0
        [1, 1, 1, 1],  # 0 0 0 0
    ]
    assert borda(lists).tolist() == [5, 7, 2, 0]


def test_the_largest_borda_count_is_that_of_the_source() -> None:
    always_first = [list(range(1, 14))] * 12
    assert borda(always_first)[0] == 144


def test_firsts_count_ties() -> None:
    assert firsts([[1, 2, 3], [1, 1, 3], [3, 1, 1]]).tolist() == [2, 2, 1]


def test_a_single_list_is_refused() -> None:
    with pytest.raises(InputError, match="one row a list"):
        borda([1, 2, 3])
