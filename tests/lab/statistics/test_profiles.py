"""Performance and data profiles of runs by hand."""

from __future__ import annotations

import numpy as np

from nnbo_mip.lab.statistics.profiles import data_profile, evaluations_to_solve, performance_profile


def test_a_run_is_solved_where_its_distance_fell_below_the_share_of_the_starts() -> None:
    curves = np.array(
        [
            # Two starts, the better one at 10; tau = 0.1 asks for 1.
            [[20.0, 10.0, 5.0, 1.0, 0.5], [20.0, 10.0, 10.0, 9.0, 1.1]],
            [[8.0, 4.0, 0.4, 0.4, 0.4], [8.0, 4.0, 3.0, 0.4, 0.0]],
        ]
    )
    assert evaluations_to_solve(curves, 2, 0.1).tolist() == [[4.0, np.inf], [3.0, 4.0]]


def test_a_run_whose_starts_are_the_optimum_is_solved_by_them() -> None:
    assert evaluations_to_solve(np.zeros((1, 2, 4)), 3, 0.1).tolist() == [[1.0, 1.0]]


TIMES = [[2.0, 4.0], [6.0, 3.0], [5.0, np.inf], [np.inf, np.inf]]


def test_the_performance_profile_at_one_is_the_share_of_wins() -> None:
    ratios, shares = performance_profile(TIMES)
    assert ratios.tolist() == [1.0, 2.0]
    assert shares.tolist() == [[0.5, 0.75], [0.25, 0.5]]


def test_equal_times_are_wins_of_both() -> None:
    ratios, shares = performance_profile([[3.0, 3.0]])
    assert ratios.tolist() == [1.0]
    assert shares.tolist() == [[1.0], [1.0]]


def test_the_data_profile_counts_in_simplex_gradients() -> None:
    budgets, shares = data_profile(TIMES, [1, 2, 4, 4])
    assert budgets.tolist() == [1.0, 2.0]
    assert shares.tolist() == [[0.5, 0.75], [0.25, 0.5]]


def test_nothing_solved_is_nothing_reached() -> None:
    ratios, shares = performance_profile([[np.inf, np.inf]])
    assert ratios.tolist() == [1.0]
    assert shares.tolist() == [[0.0], [0.0]]
    budgets, shares = data_profile([[np.inf, np.inf]], [2])
    assert budgets.tolist() == []
    assert shares.shape == (2, 0)
