"""Mann-Whitney, Friedman and Nemenyi against examples by hand and published tables."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from nnbo_mip.core.errors import InputError
from nnbo_mip.lab.statistics.tests import (
    areas,
    critical_difference,
    friedman,
    least_instances,
    mann_whitney,
    stratified_ranks,
)


def test_the_share_of_pairs_counts_ties_by_half() -> None:
    # Pairs (a, b): 1<2 1<2 1<4, 2=2 2=2 2<4, 3>2 3>2 3<4: 5 wins, 2 ties of 9.
    assert mann_whitney([1.0, 2.0, 3.0], [2.0, 2.0, 4.0]).share == pytest.approx(6.0 / 9.0)


def test_p_of_apart_samples_is_that_of_counting() -> None:
    outcome = mann_whitney([1.0, 2.0, 3.0], [4.0, 5.0, 6.0])
    assert outcome.share == 1.0
    assert outcome.p == pytest.approx(2.0 / 20.0)  # 2 of the 20 ways to choose 3 of 6 ranks


def test_p_is_symmetric_and_of_equal_values_one() -> None:
    a, b = [0.3, 0.1, 0.9, 0.4], [0.2, 0.9, 1.4, 2.0]
    assert mann_whitney(a, b).p == pytest.approx(mann_whitney(b, a).p)
    assert mann_whitney(a, b).share == pytest.approx(1.0 - mann_whitney(b, a).share)
    equal = mann_whitney([2.0, 2.0], [2.0, 2.0, 2.0])
    assert (equal.share, equal.p) == (0.5, 1.0)


def test_a_sample_without_values_is_refused() -> None:
    with pytest.raises(InputError, match="got 0 and 2"):
        mann_whitney([], [1.0, 2.0])


def test_the_area_is_the_mean_height() -> None:
    assert areas(np.array([[4.0, 2.0, 0.0], [1.0, 1.0, 1.0]])).tolist() == [2.0, 1.0]


def curves(final: float, before: float, n: int = 10) -> np.ndarray:
    """Return curves that differ a little between instances."""
    return np.column_stack([before + 0.01 * np.arange(n), np.full(n, final) + 1e-3 * np.arange(n)])


def test_equal_ends_are_told_apart_by_their_areas() -> None:
    soon, late, worst = curves(0.1, 0.2), curves(0.1, 0.9), curves(5.0, 6.0)
    assert stratified_ranks([soon, late, worst]).tolist() == [1, 2, 3]
    assert stratified_ranks([late, soon, worst]).tolist() == [2, 1, 3]
    assert stratified_ranks([soon, soon, worst]).tolist() == [1, 1, 3]


def test_ends_count_before_areas() -> None:
    assert stratified_ranks([curves(0.1, 9.0), curves(0.5, 0.6)]).tolist() == [1, 2]


def test_few_instances_cannot_reach_the_level() -> None:
    n = least_instances()
    assert n == 8
    assert 2 / 3432 > 0.0005 > 2 / 12870  # 7 and 8 of each: 14 choose 7, 16 choose 8
    good, bad = np.arange(n)[:, None] * 1.0, 100.0 + np.arange(n)[:, None]
    assert stratified_ranks([good, bad]).tolist() == [1, 2]
    assert stratified_ranks([good[:7], bad[:7]]).tolist() == [1, 1]


def test_friedman_by_hand() -> None:
    # Ranks 1 2 3, 1 2 3, 2 1 3: means 4/3, 5/3, 3; 12 * 3 / 12 * (4/9 + 1/9 + 1) = 14/3.
    found = friedman([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [8.0, 7.0, 9.0]])
    assert found.ranks == pytest.approx([4 / 3, 5 / 3, 3.0])
    assert found.statistic == pytest.approx(14.0 / 3.0)
    assert found.p == pytest.approx(np.exp(-7.0 / 3.0))  # chi^2 with two degrees of freedom
    assert found.blocks == 3


def test_friedman_with_ties_by_hand() -> None:
    # Ranks 1.5 1.5 3 and 1 2.5 2.5; means 1.25 2 2.75; 12 * 2 / 12 * 2 * 0.5625 = 2.25;
    # two ties of two: 1 - 12 / (2 * 3 * 8) = 0.75.
    found = friedman([[1.0, 1.0, 2.0], [1.0, 5.0, 5.0]])
    assert found.ranks.tolist() == [1.25, 2.0, 2.75]
    assert found.statistic == pytest.approx(3.0)


def test_friedman_agrees_with_scipy() -> None:
    values = np.random.default_rng(2).integers(0, 6, size=(20, 4)).astype(float)
    expected = stats.friedmanchisquare(*values.T)
    found = friedman(values)
    assert found.statistic == pytest.approx(expected.statistic)
    assert found.p == pytest.approx(expected.pvalue)


def test_friedman_where_all_is_tied() -> None:
    found = friedman([[1.0, 1.0], [2.0, 2.0]])
    assert (found.statistic, found.p) == (0.0, 1.0)
    assert found.ranks.tolist() == [1.5, 1.5]


def test_friedman_needs_two_methods() -> None:
    with pytest.raises(InputError, match="two methods at least"):
        friedman([[1.0], [2.0]])


@pytest.mark.parametrize(("methods", "q"), [(2, 1.960), (3, 2.343), (5, 2.728), (10, 3.164)])
def test_critical_differences_are_those_of_the_printed_table(methods: int, q: float) -> None:
    scale = np.sqrt(methods * (methods + 1) / (6.0 * 14))
    assert critical_difference(methods, 14) == pytest.approx(q * scale, rel=1e-3)


def test_groups_are_the_largest_that_cannot_be_told_apart() -> None:
    # Over many blocks, 1 and 2 rank close together, and 3 far behind.
    rng = np.random.default_rng(0)
    close = rng.normal(size=(40, 2))
    found = friedman(np.column_stack([close[:, 0], 50.0 + close[:, 0], close[:, 1]]))
    assert [sorted(group.tolist()) for group in found.groups()] == [[0, 2]]
    few = friedman([[1.0, 2.0, 3.0]])
    assert [sorted(group.tolist()) for group in few.groups()] == [[0, 1, 2]]
