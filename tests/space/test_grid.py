from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nnbo_mip.core.errors import InputError
from nnbo_mip.space import Grid
from tests.space.strategies import grids


def sample_indices(grid: Grid) -> np.ndarray:
    return np.unique(np.linspace(0, grid.count - 1, 23).astype(np.int64))


@given(grids())
def test_every_value_finds_its_own_index(grid: Grid) -> None:
    k = sample_indices(grid)
    values = grid.value(k)
    np.testing.assert_array_equal(grid.index_below(values), k)
    np.testing.assert_array_equal(grid.index_above(values), k)
    np.testing.assert_array_equal(grid.nearest(values), k)
    assert grid.contains(values).all()
    assert (np.diff(values) > 0).all()


@given(grids(), st.floats(-1e13, 1e13))
def test_indices_bracket_any_number(grid: Grid, x: float) -> None:
    below, above = int(grid.index_below(x)), int(grid.index_above(x))
    assert below == above or above == below + 1
    if below >= 0:
        assert grid.value(below) <= x
    if below + 1 < grid.count:
        assert grid.value(below + 1) > x
    if above < grid.count:
        assert grid.value(above) >= x
    if above > 0:
        assert grid.value(above - 1) < x


@given(grids(), st.floats(-1e13, 1e13))
def test_nearest_is_nearest_in_exact_arithmetic(grid: Grid, x: float) -> None:
    def distance(k: int) -> Fraction:
        return abs(Fraction(float(grid.value(k))) - Fraction(x))

    k = int(grid.nearest(x))
    for other in (k - 1, k + 1):
        if 0 <= other < grid.count:
            # the comparison is made in float64, so equally near up to rounding may go either way
            assert distance(k) <= distance(other) + Fraction(float(np.spacing(abs(x) + 1e6)))


def test_indices_just_beside_a_value() -> None:
    grid = Grid.uniform(0.1, 0.1, 31)
    k = np.arange(31)
    values = grid.value(k)
    np.testing.assert_array_equal(grid.index_below(np.nextafter(values, -np.inf)), k - 1)
    np.testing.assert_array_equal(grid.index_above(np.nextafter(values, np.inf)), k + 1)


@pytest.mark.parametrize("grid", [Grid.uniform(3.0, 2.0, 5), Grid.listed([3.0, 4.5, 11.0])])
def test_infinities_lie_beyond_the_ends(grid: Grid) -> None:
    assert grid.index_below(-np.inf) == -1
    assert grid.index_below(np.inf) == grid.count - 1
    assert grid.index_above(np.inf) == grid.count
    assert grid.index_above(-np.inf) == 0
    assert grid.nearest(np.inf) == grid.count - 1
    assert grid.nearest(-np.inf) == 0


def test_a_billion_values_cost_no_memory() -> None:
    grid = Grid.uniform(1.0, 1.0, 10**9)
    assert grid.value(123_456_788) == 123_456_789.0
    assert grid.index_below(987_654_321.5) == 987_654_320
    assert grid.listed_values is None


def test_the_last_value_can_be_pinned() -> None:
    grid = Grid.uniform(0.1, 0.1, 3, 0.3)
    assert grid.value(2) == 0.3 != 0.1 + 2 * 0.1
    assert grid.contains(0.3)
    assert not grid.contains(0.1 + 2 * 0.1)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Grid.uniform(0.0, 1.0, 0), "1 to 2"),
        (lambda: Grid.uniform(0.0, 1.0, 2**49), "1 to 2"),
        (lambda: Grid.uniform(0.0, 0.0, 3), "step > 0"),
        (lambda: Grid.uniform(0.0, -1.0, 3), "step > 0"),
        (lambda: Grid.uniform(np.nan, 1.0, 3), "finite"),
        (lambda: Grid.uniform(0.0, 1.0, 3, 2.5), "up to rounding"),
        (lambda: Grid.uniform(4.0, 1.0, 1, 4.1), "up to rounding"),
        (lambda: Grid.uniform(1e16, 1.0, 3), "cannot tell"),
        (lambda: Grid.listed([]), "at least one"),
        (lambda: Grid.listed([2.0, 1.0]), "strictly increasing"),
        (lambda: Grid.listed([1.0, 1.0]), "strictly increasing"),
        (lambda: Grid.listed([1.0, np.inf]), "finite"),
        (lambda: Grid.uniform(3.0, 2.0, 5).value(5), "0..4"),
        (lambda: Grid.uniform(3.0, 2.0, 5).value(-1), "0..4"),
        (lambda: Grid.uniform(3.0, 2.0, 5).nearest(np.nan), "nan"),
    ],
)
def test_bad_grids_are_refused(make: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make()  # type: ignore[operator]


def test_listed_values_are_read_only() -> None:
    values = np.array([1.0, 4.0])
    grid = Grid.listed(values)
    values[0] = 3.0
    assert grid.value(0) == 1.0
    with pytest.raises(ValueError, match="read-only"):
        grid.listed_values[0] = 2.0  # type: ignore[index]


def test_repr_names_what_makes_it() -> None:
    assert repr(Grid.uniform(3.0, 2.0, 5)) == "Grid.uniform(3.0, 2.0, 5, 11.0)"
    assert repr(Grid.listed([3.0, 4.5])) == "Grid.listed([3.  4.5])"
