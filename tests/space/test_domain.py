from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nnbo_mip.core.errors import InputError
from nnbo_mip.space import Domain, Grid
from nnbo_mip.space.rows import separated
from tests.space.strategies import domains

MIXED = Domain(
    [99, -3, 0, 0, 0],
    [101, -1, 8, 1, 1],
    [None, None, Grid.uniform(1, 2, 4), None, None],
    [(3, 4)],
    [[1, 2, 1, 0, 0]],
    [99],
)


def exactly_admissible(domain: Domain, x: np.ndarray) -> bool:
    """The definition, in rational arithmetic and without vectors."""
    for j, grid in enumerate(domain.grids):
        if not domain.lower[j] <= x[j] <= domain.upper[j]:
            return False
        if grid is not None and grid.value(grid.nearest(x[j])) != x[j]:
            return False
    if any(sorted(x[list(group)])[-1] != 1 or sum(x[list(group)]) != 1 for group in domain.one_hot):
        return False
    for row, right in zip(domain.A, domain.b, strict=True):
        limit = float(right + 1e-9 * (1 + abs(right)))
        total = sum(Fraction(float(a)) * Fraction(float(v)) for a, v in zip(row, x, strict=True))
        if total > Fraction(limit):
            return False
    return True


@given(domains(), st.integers(0, 2**32), st.sampled_from([0.0, 1e-12, 1e-3]))
def test_admissible_is_the_definition_in_exact_arithmetic(
    drawn: tuple[Domain, np.ndarray], seed: int, shift: float
) -> None:
    domain, x = drawn
    rng = np.random.default_rng(seed)
    points = x + shift * rng.standard_normal((8, x.size)) * rng.integers(0, 2, (8, x.size))
    points[0] = x
    expected = [exactly_admissible(domain, point) for point in points]
    assert domain.admissible(points).tolist() == expected
    assert [bool(domain.admissible(point)[0]) for point in points] == expected


def test_rows_are_decided_exactly_at_their_limit() -> None:
    domain = Domain([0.0, 0.0], [4e8, 4e8], A=[[1.0, -1.0]], b=[0.0])
    limit = domain.row_limit[0]
    assert limit == 1e-9
    # In float64 the difference of two large numbers cannot show 1e-9; exactly, it is 2^-25.
    y = 2.0**28
    x = y + 2.0**-24
    assert not domain.admissible([x, y])[0]
    assert domain.admissible([y, y])[0]
    small = Domain([0.0], [1.0], A=[[3.0]], b=[1.0])
    edge = small.row_limit[0] / 3.0
    for candidate in (edge, np.nextafter(edge, 1.0), np.nextafter(edge, 0.0)):
        exact = 3 * Fraction(float(candidate)) <= Fraction(float(small.row_limit[0]))
        assert small.admissible([candidate])[0] == exact


def test_each_kind_of_violation_is_seen() -> None:
    good = np.array([99.5, -2.5, 3.0, 0.0, 1.0])
    assert MIXED.admissible(good)[0]
    for j, value in [
        (0, 98.9),
        (1, -0.5),
        (2, 2.0),
        (2, 3.0000001),
        (3, 1.0),
        (4, 0.5),
        (0, np.nan),
    ]:
        bad = good.copy()
        bad[j] = value
        assert not MIXED.admissible(bad)[0], (j, value)
    assert not MIXED.admissible([99.5, -2.5, 5.0, 0.0, 1.0])[0]  # the row: 99.5 > 99
    assert MIXED.admissible([[99.5, -2.5, 3, 0, 1], [99.5, -2.5, 3, 0, 0]]).tolist() == [
        True,
        False,
    ]
    assert MIXED.admissible(np.empty((0, 5))).shape == (0,)


def test_ends_move_onto_the_grid_and_members_become_binary() -> None:
    assert MIXED.lower.tolist() == [99, -3, 1, 0, 0]
    assert MIXED.upper.tolist() == [101, -1, 7, 1, 1]
    assert [grid is None for grid in MIXED.grids] == [True, True, False, False, False]
    assert MIXED.dimension == 5
    assert not MIXED.is_box


def test_arrays_are_copied_and_frozen() -> None:
    lower = np.array([99.0, -3.0])
    domain = Domain(lower, [101, -1], A=[[1, 1]], b=[97])
    lower[0] = 0.0
    assert domain.lower[0] == 99.0
    for array in (domain.lower, domain.upper, domain.A, domain.b, domain.row_limit):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0.0


def test_slack_grows_with_the_right_hand_side() -> None:
    domain = Domain([99.0], [101.0], A=[[1.0], [-1.0]], b=[100.0, -99.5])
    np.testing.assert_array_equal(domain.row_slack, 1e-9 * np.array([101.0, 100.5]))
    assert domain.admissible([100.0 + 1e-7])[0]
    assert not domain.admissible([100.0 + 1.1e-7])[0]


def test_restrict_intersects() -> None:
    inner = MIXED.restrict([0, -2.5, 2, 0, 0], [100, 5, 6, 1, 1])
    assert inner.lower.tolist() == [99, -2.5, 3, 0, 0]
    assert inner.upper.tolist() == [100, -1, 5, 1, 1]
    assert inner.one_hot == MIXED.one_hot
    with pytest.raises(InputError, match="lower must be <= upper"):
        MIXED.restrict([102, -3, 0, 0, 0], [103, -1, 8, 1, 1])
    with pytest.raises(InputError, match="value of the grid"):
        MIXED.restrict([99, -3, 3.5, 0, 0], [101, -1, 4.5, 1, 1])
    with pytest.raises(InputError, match="5 dimensions"):
        MIXED.restrict([99], [101])


@given(domains())
def test_fingerprints_tell_domains_apart(drawn: tuple[Domain, np.ndarray]) -> None:
    domain, _ = drawn
    same = Domain(domain.lower, domain.upper, domain.grids, domain.one_hot, domain.A, domain.b)
    assert same.fingerprint == domain.fingerprint
    if not domain.grids[0]:
        lower = domain.lower.copy()
        lower[0] = np.nextafter(lower[0], -np.inf)
        other = Domain(lower, domain.upper, domain.grids, domain.one_hot, domain.A, domain.b)
        assert other.fingerprint != domain.fingerprint
    more = Domain(
        domain.lower,
        domain.upper,
        domain.grids,
        domain.one_hot,
        np.vstack([domain.A, np.zeros(domain.dimension)]),
        [*domain.b, 1.0],
    )
    assert more.fingerprint != domain.fingerprint


def test_zero_signs_do_not_change_the_fingerprint() -> None:
    one = Domain([-0.0], [2.0], A=[[-0.0]], b=[-0.0])
    other = Domain([0.0], [2.0], A=[[0.0]], b=[0.0])
    assert one.fingerprint == other.fingerprint


def test_opposite_rows_are_one_equality() -> None:
    A = np.array([[1.0, 2.0], [3.0, 0.0], [-1.0, -2.0], [1.0, 2.0]])
    b = np.array([4.0, 5.0, -4.0 + 1e-9, 7.0])
    rows = separated(A, b, 1e-9 * (1 + np.abs(b)))
    assert rows.A.tolist() == [[3.0, 0.0], [1.0, 2.0]]
    assert rows.A_eq.tolist() == [[1.0, 2.0]]
    assert rows.b_eq == pytest.approx([4.0 - 5e-10], abs=1e-15)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1.0], [0.0]), r"lower\[0\]=1.0 > upper\[0\]=0.0; swap"),
        (([np.nan], [0.0]), r"finite.*lower\[0\]=nan"),
        (([0.0], [np.inf]), r"finite.*upper\[0\]=inf"),
        (([0.0, 1.0], [2.0]), "same length; got 2 and 1"),
        (([], []), "at least one dimension"),
        (([[0.0]], [[1.0]]), "one-dimensional"),
        ((["a"], ["b"]), "real numbers"),
        (([-1e308], [1e308]), "narrower"),
        (([0.0], [1.0], [None, None]), "one entry a dimension"),
        (([0.0], [1.0], ["integer"]), "Grid objects"),
        (([0.2], [0.8], [Grid.uniform(0, 1, 2)]), "value of the grid"),
        (([0.0, 0.0], [1.0, 1.0], None, [(0,), (0, 1)]), "disjoint"),
        (([0.0], [1.0], None, [()]), "non-empty"),
        (([0.0], [1.0], None, [(1,)]), "0..0"),
        (([0.0], [1.0], [Grid.uniform(0, 0.5, 3)], [(0,)]), "0 and 1"),
        (([0.1], [0.9], None, [(0,)]), "value of the grid"),
        (([0.0], [1.0], None, (), [[1.0]]), "both"),
        (([0.0], [1.0], None, (), [[1.0, 2.0]], [1.0]), r"shape \(1, 1\); got \(1, 2\)"),
        (([0.0], [1.0], None, (), [[np.nan]], [1.0]), "finite"),
        (([0.0], [1.0], None, (), [[1.0]], [np.inf]), "finite"),
        (([0.0], [1e300], None, (), [[1e300]], [1.0]), "rescale"),
        (([0.0], [1.0], None, (), [[1.0], [1.0, 2.0]], [1.0, 1.0]), "same length"),
    ],
)
def test_bad_domains_are_refused(arguments: tuple, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Domain(*arguments)


@pytest.mark.parametrize("points", [np.zeros((2, 4)), np.zeros(3), np.zeros((1, 1, 5)), "x", 1j])
def test_points_of_a_wrong_shape_are_refused(points: object) -> None:
    with pytest.raises(InputError, match=r"shape|real numbers"):
        MIXED.admissible(points)
