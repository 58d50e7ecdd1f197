from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from nnbo_mip.network.graph.graph import Network
from nnbo_mip.space.domain import Domain, Grid
from nnbo_mip.testing import TooLargeError, exact_maximum

THIRD = Fraction(1, 3)

# relu(3 x - 2) - 4 relu(x - y): kinks at x = 2/3 and on the diagonal.
TWO_KINKS = Network.from_layers([([[3.0, 0.0], [1.0, -1.0]], [-2.0, 0.0]), ([[1.0, -4.0]], [0.5])])


def tent(peak: float) -> Network:
    """1 - |3 x - peak| as two ReLUs."""
    return Network.from_layers([([[3.0], [-3.0]], [-peak, peak]), ([[-1.0, -1.0]], [1.0])])


def test_a_kink_between_two_floats_is_hit_exactly() -> None:
    result = exact_maximum(tent(1.0), Domain([-0.2], [2.0]))
    assert result.value == 1
    assert result.x == (THIRD,)
    assert result.cells == 2


def test_a_kink_that_is_cut_twice_stays_one_point() -> None:
    repeated = Network.from_layers(
        [([[3.0], [3.0], [-3.0]], [-1.0, -1.0, 1.0]), ([[-0.5, -0.5, -1.0]], [1.0])]
    )
    result = exact_maximum(repeated, Domain([-0.2], [2.0]))
    assert (result.value, result.x, result.cells) == (1, (THIRD,), 2)


def test_the_arrangement_of_two_lines_in_a_rectangle() -> None:
    result = exact_maximum(TWO_KINKS, Domain([-1.0, -3.0], [2.0, 1.5]))
    # Rising in x with slope 3 until the diagonal costs 4: the best is x = y = 1.5.
    assert result.value == Fraction(3)
    assert result.x == (Fraction(3, 2), Fraction(3, 2))
    assert result.cells == 4


def test_rows_count_with_the_slack_that_the_domain_admits() -> None:
    domain = Domain([-1.0, -3.0], [2.0, 1.5], A=[[0.0, 1.0]], b=[1.25])
    result = exact_maximum(TWO_KINKS, domain)
    limit = Fraction(float(domain.row_limit[0]))
    assert limit > Fraction(5, 4)
    assert result.value == 3 * limit - 2 + Fraction(1, 2)


def test_rows_that_nothing_satisfies_leave_no_maximum() -> None:
    result = exact_maximum(TWO_KINKS, Domain([-1.0, -3.0], [2.0, 1.5], A=[[1.0, 1.0]], b=[-5.0]))
    assert result.value is None
    assert result.x == ()


def test_a_row_that_leaves_one_edge() -> None:
    domain = Domain([2.0, -3.0], [4.0, 1.5], A=[[1.0, 0.0]], b=[1.999999997])
    assert domain.row_limit[0] == 2.0
    result = exact_maximum(TWO_KINKS, domain)
    assert (result.value, result.x) == (Fraction(5, 2), (2, Fraction(3, 2)))


def test_grids_hide_the_kink() -> None:
    grid = Grid.uniform(-1.0, 0.5, 7)
    result = exact_maximum(tent(1.0), Domain([-0.7], [1.9], grids=[grid]))
    assert (result.value, result.x) == (Fraction(1, 2), (Fraction(1, 2),))


def test_one_hot_groups_and_a_continuous_coordinate() -> None:
    net = Network.from_layers([([[1.0, -2.0, 3.0]], [0.25]), ([[2.0]], [-1.0])])
    domain = Domain([0.0, 0.0, -1.0], [1.0, 1.0, 0.5], one_hot=[(0, 1)])
    result = exact_maximum(net, domain)
    assert (result.value, result.x) == (Fraction(9, 2), (1, 0, Fraction(1, 2)))


def test_a_point_gives_the_exact_value_that_float64_misses() -> None:
    # 1 + 2^-60 - 1, lost in any float64 pass.
    net = Network.from_layers([([[1.0], [2.0**-60]], [0.0, 0.0]), ([[1.0, 1.0]], [-1.0])])
    assert net.evaluate([[1.0]], 0)[0] == 0.0
    assert exact_maximum(net, Domain([1.0], [1.0])).value == Fraction(1, 2**60)


def test_subnormal_and_zero_weights() -> None:
    tiny = 5e-324
    net = Network.from_layers([([[tiny], [0.0]], [-tiny, -2.0]), ([[1.0, 7.0]], [0.0])])
    assert exact_maximum(net, Domain([-1.0], [3.0])).value == 2 * Fraction(tiny)


def test_a_network_without_relus_is_largest_at_a_corner() -> None:
    net = Network.from_layers([([[2.0, -3.0]], [0.5])])
    assert exact_maximum(net, Domain([-1.0, -2.0], [1.5, 4.0])).value == Fraction(19, 2)


def test_no_sampled_point_scores_above_and_some_come_close() -> None:
    rng = np.random.default_rng(5)
    for dimension, widths in ((1, (9, 7)), (2, (5, 4)), (3, (6,)), (4, (5,))):
        sizes = (dimension, *widths, 1)
        net = Network.from_layers(
            [(rng.normal(size=(n, m)), rng.normal(size=n)) for m, n in pairwise(sizes)]
        )
        domain = Domain([-0.7] * dimension, [1.1] * dimension)
        result = exact_maximum(net, domain)
        assert result.value is not None
        sampled = net.evaluate(domain.sample(20_000, rng), 0).max()
        assert sampled <= float(result.value) + 1e-12
        attained = net.evaluate([[float(c) for c in result.x]], 0)[0]
        assert attained == pytest.approx(float(result.value), abs=1e-12)


def test_a_spent_budget_is_said() -> None:
    with pytest.raises(TooLargeError, match="raise `budget`"):
        exact_maximum(TWO_KINKS, Domain([-1.0, -3.0], [2.0, 1.5]), budget=10)


def test_a_grid_beyond_the_budget_is_said() -> None:
    domain = Domain([0.0], [1e9], grids=[Grid.uniform(0.0, 1.0, 10**9 + 1)])
    with pytest.raises(TooLargeError, match="more than 200000 points"):
        exact_maximum(tent(1.0), domain)
