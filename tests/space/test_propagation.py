from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nnbo_mip.core.errors import InputError
from nnbo_mip.space import Domain, Grid
from tests.space.strategies import domains


@given(domains(), st.integers(0, 2**32))
def test_no_admissible_point_is_cut_off(drawn: tuple[Domain, np.ndarray], seed: int) -> None:
    domain, x = drawn
    if not domain.admissible(x)[0]:  # b was computed with rounding, so x may just miss
        return
    rng = np.random.default_rng(seed)
    n = 16
    lower = np.minimum(x, domain.lower + rng.random((n, x.size)) * (domain.upper - domain.lower))
    upper = np.maximum(x, domain.upper - rng.random((n, x.size)) * (domain.upper - domain.lower))
    lower[0], upper[0] = x, x
    lower[1], upper[1] = -np.inf, np.inf
    low, high, feasible = domain.tighten(lower, upper)
    assert feasible.all()
    assert (low <= x).all()
    assert (x <= high).all()
    assert (low >= lower).all()
    assert (high <= upper).all()


@given(domains(), st.integers(0, 2**32))
def test_what_is_left_out_holds_nothing(drawn: tuple[Domain, np.ndarray], seed: int) -> None:
    domain, _ = drawn
    rng = np.random.default_rng(seed)
    ends = domain.lower + rng.random((2, 12, domain.dimension)) * (domain.upper - domain.lower)
    lower, upper = ends.min(axis=0), ends.max(axis=0)
    low, high, feasible = domain.tighten(lower, upper)
    points = lower[:, None, :] + rng.random((12, 40, 1)) * (upper - lower)[:, None, :]
    for j, grid in enumerate(domain.grids):
        if grid is not None:
            points[..., j] = grid.value(grid.nearest(points[..., j]))
    for i in range(12):
        within = ((lower[i] <= points[i]) & (points[i] <= upper[i])).all(axis=1)
        found = points[i][within & domain.admissible(points[i])]
        assert feasible[i] or not len(found)
        assert ((low[i] <= found) & (found <= high[i])).all()


def test_ends_land_on_grids() -> None:
    domain = Domain([0, 0], [9, 4], [Grid.uniform(1, 2, 5), Grid.listed([0.5, 3.0, 4.0])])
    low, high, feasible = domain.tighten([[1.5, 0.6], [3.2, 0.0]], [[6.9, 3.9], [4.8, 9.0]])
    assert low[0].tolist() == [3, 3.0]
    assert high[0].tolist() == [5, 3.0]
    assert feasible.tolist() == [True, False]


def test_rows_propagate_through_integers() -> None:
    # 3 a + 5 b = 34 over a in 1..9, b in 2..7: a = 3, b = 5 and a = 8, b = 2
    domain = Domain(
        [1, 2],
        [9, 7],
        [Grid.uniform(1, 1, 9), Grid.uniform(2, 1, 6)],
        A=[[3, 5], [-3, -5]],
        b=[34, -34],
    )
    low, high, feasible = domain.tighten(domain.lower, domain.upper)
    assert (low.tolist(), high.tolist()) == ([3, 2], [8, 5])
    assert feasible.shape == ()
    low, high, feasible = domain.tighten([4, 2], [9, 7])
    assert (low.tolist(), high.tolist(), bool(feasible)) == ([8, 2], [8, 2], True)
    assert not domain.tighten([4, 3], [7, 7])[2]


def test_one_hot_groups_follow_their_logic() -> None:
    domain = Domain([0] * 3, [1] * 3, one_hot=[(0, 1, 2)])
    lower = [[0, 0, 0], [0, 1, 0], [0, 0, 0], [0, 0, 0], [1, 1, 0], [0.5, 0, 0]]
    upper = [[1, 1, 1], [1, 1, 1], [0, 1, 0], [0, 0, 0], [1, 1, 1], [1, 1, 1]]
    low, high, feasible = domain.tighten(lower, upper)
    assert feasible.tolist() == [True, True, True, False, False, True]
    assert low[[0, 1, 2, 5]].tolist() == [[0, 0, 0], [0, 1, 0], [0, 1, 0], [1, 0, 0]]
    assert high[[0, 1, 2, 5]].tolist() == [[1, 1, 1], [0, 1, 0], [0, 1, 0], [1, 0, 0]]


def test_groups_and_rows_work_together() -> None:
    # with the second level on, x + 3 <= 4 leaves [0.25, 1]
    domain = Domain([0.25, 0, 0], [3, 1, 1], one_hot=[(1, 2)], A=[[1, 0, 3]], b=[4])
    low, high, feasible = domain.tighten([1.5, 0, 0], [3, 1, 1])
    assert feasible
    assert (low.tolist(), high.tolist()) == ([1.5, 1, 0], [3, 1, 0])


def test_the_slack_of_rows_counts_as_inside() -> None:
    domain = Domain([99.0], [101.0], A=[[1.0]], b=[100.0])
    _, high, _ = domain.tighten([99.0], [101.0])
    assert domain.row_limit[0] <= high[0] <= np.nextafter(domain.row_limit[0], np.inf) + 1e-12
    assert domain.tighten([domain.row_limit[0]], [101.0])[2]
    assert not domain.tighten([100.001], [101.0])[2]


@pytest.mark.parametrize("right", [-1.0, -1e-6])
def test_a_constant_row_can_empty_the_domain(right: float) -> None:
    domain = Domain([99.0], [101.0], A=[[0.0]], b=[right])
    assert not domain.tighten([99.0], [101.0])[2]
    assert not domain.admissible([100.0])[0]


def test_a_box_is_only_intersected() -> None:
    domain = Domain([99, -3], [101, -1])
    low, high, feasible = domain.tighten([[98, -2], [102, -2]], [[100, 5], [103, 5]])
    assert low[0].tolist() == [99, -2]
    assert high[0].tolist() == [100, -1]
    assert feasible.tolist() == [True, False]


def test_subnormal_coefficients_do_not_overflow_into_cuts() -> None:
    domain = Domain([99, -3], [101, -1], A=[[5e-324, 1.0], [1e-300, 0.0]], b=[-1.5, 1.0])
    low, high, feasible = domain.tighten(domain.lower, domain.upper)
    assert feasible
    assert low.tolist() == [99, -3]
    assert high[0] == 101
    assert high[1] == pytest.approx(-1.5, abs=1e-8)


def test_infeasible_boxes_do_not_overflow_other_rows() -> None:
    domain = Domain([99, 99], [101, 101], A=[[1e-217, -1.0], [-2.0, 1.0]], b=[-100, -98])
    low, high, feasible = domain.tighten(
        [[99.5, 99.1], [1e300, -np.inf]], [[99.6, 99.2], [np.inf] * 2]
    )
    assert not feasible.any()
    assert ((low >= 99) & (low <= 101) & (high >= 99) & (high <= 101)).all()


@pytest.mark.parametrize(
    ("lower", "upper", "message"),
    [
        ([[0.0]], [[1.0]], "shape"),
        ([0.0, 0.0], [[1.0, 1.0]], "shape"),
        ([np.nan, 0.0], [1.0, 1.0], "nan"),
    ],
)
def test_bad_boxes_are_refused(lower: list, upper: list, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Domain([99, -3], [101, -1]).tighten(lower, upper)
