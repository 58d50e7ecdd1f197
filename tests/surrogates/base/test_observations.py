"""Observations are checked once, and standardizing is safe for every finite number."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.errors import InputError
from nnbo_mip.network.graph.builder import GraphBuilder
from nnbo_mip.surrogates.base.observations import (
    LEAST_SCALE,
    NEGLIGIBLE_SPREAD,
    Observations,
    Standardization,
    check_y_range,
)

LARGEST = np.finfo(np.float64).max

finite = st.floats(allow_nan=False, allow_infinity=False)
columns = hnp.arrays(np.float64, st.integers(1, 12), elements=finite)


def _of(y: Any, **options: Any) -> Standardization:
    values = np.asarray(y, dtype=np.float64)
    X = np.linspace(-1.0, 0.5, len(values))[:, None]
    return Standardization.of(Observations.of(X, values), False, True, **options)


def _exact_moments(values: FloatArray) -> tuple[Fraction, Fraction]:
    """Return mean and variance in rational arithmetic."""
    exact = [Fraction(float(value)) for value in values]
    mean = sum(exact, Fraction(0)) / len(exact)
    return mean, sum(((value - mean) ** 2 for value in exact), Fraction(0)) / len(exact)


# -- moments --------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1.0, 1e12, 1e-12, 1e300, 1e-300])
@pytest.mark.parametrize("shift", [0.0, 3.0, -1e4])
def test_standardized_values_have_mean_0_and_deviation_1(size: float, shift: float) -> None:
    y = size * (shift + np.random.default_rng(3).standard_normal(40))
    units = _of(y)
    v = units.values_inward(y)
    assert abs(v.mean()) < 1e-11
    assert abs(v.std() - 1.0) < 1e-11
    mean, variance = _exact_moments(y)
    assert units.y_center == pytest.approx(float(mean), rel=1e-12)
    assert Fraction(units.y_scale) ** 2 / variance == pytest.approx(1.0, rel=1e-9)


@given(y=columns)
def test_any_finite_values_are_standardized_to_finite_ones(y: FloatArray) -> None:
    units = _of(y)
    v = units.values_inward(y)
    assert math.isfinite(units.y_center)
    assert 0.0 < units.y_scale < math.inf
    assert np.isfinite(v).all()
    assert np.isfinite(1.0 / units.y_scale)


@given(y=columns)
def test_moments_are_those_of_rational_arithmetic(y: FloatArray) -> None:
    units = _of(y)
    mean, variance = _exact_moments(y)
    largest = Fraction(float(np.abs(y).max()))
    if units.y_scale == 1.0 and units.y_center == y[0] and variance != 1:
        # Said to be constant: then the deviation is rounding, or below the normal numbers.
        least = max(largest * Fraction(2 * NEGLIGIBLE_SPREAD), 2 * Fraction(LEAST_SCALE))
        assert variance <= least**2
        return
    assert abs(Fraction(units.y_center) - mean) <= largest * Fraction(1e-14)
    # The deviation's own error is a rounding error of the values' size.
    low, high = Fraction(units.y_scale) * (1 - Fraction(1e-9)), Fraction(units.y_scale)
    slack = largest * Fraction(1e-15)
    assert max(low - slack, Fraction(0)) ** 2 <= variance
    assert variance <= (high * (1 + Fraction(1e-9)) + slack) ** 2


@pytest.mark.parametrize(
    "y",
    [
        [4.25],
        [0.0],
        [0.1, 0.1, 0.1],
        [1e12, 1e12 * (1.0 + 2.3e-16), 1e12],
        [0.1 + 0.2, 0.3, 0.3],
        [-1e300, -1e300],
        [5e-324, 5e-324],
        [0.0, 5e-324],
        [3e-310, 2e-310, -1e-310],
        [LARGEST, LARGEST],
    ],
)
def test_values_that_do_not_vary_keep_the_scale_1(y: list[float]) -> None:
    units = _of(y)
    assert units.y_scale == 1.0
    assert units.y_center == y[0]
    assert np.abs(units.values_inward(np.array(y))).max() <= 1e-15 * max(1.0, abs(y[0]))


@pytest.mark.parametrize("y", [[0.0, 1e-300], [1.0, 1.0 + 1e-13], [-LARGEST, LARGEST]])
def test_values_that_vary_a_little_or_a_lot_are_no_constant(y: list[float]) -> None:
    v = _of(y).values_inward(np.array(y))
    np.testing.assert_allclose(v, [-1.0, 1.0], rtol=1e-2)


def test_columns_are_standardized_one_by_one_and_constant_ones_centered() -> None:
    rng = np.random.default_rng(4)
    X = np.column_stack([rng.normal(2.0, 5.0, 30), np.full(30, 7.5), rng.normal(-1e6, 1e-2, 30)])
    units = Standardization.of(Observations.of(X, X[:, 0]), True, True)
    u = units.inward(X)
    np.testing.assert_allclose(u.mean(axis=0), 0.0, atol=1e-6)
    np.testing.assert_allclose(u.std(axis=0), [1.0, 0.0, 1.0], atol=1e-6)
    assert units.x_scale[1] == 1.0


def test_nothing_is_standardized_unasked() -> None:
    X, y = np.array([[3.0], [4.0]]), np.array([5.0, 9.0])
    units = Standardization.of(Observations.of(X, y), False, False)
    assert np.array_equal(units.inward(X), X)
    assert np.array_equal(units.values_inward(y), y)


@given(
    X=hnp.arrays(np.float64, (5, 3), elements=st.integers(-(10**6), 10**6)),
    probe=hnp.arrays(np.float64, (4, 3), elements=st.integers(-(10**6), 10**6)),
)
def test_the_compiled_input_is_the_standardized_one(X: FloatArray, probe: FloatArray) -> None:
    units = Standardization.of(Observations.of(X, X[:, 0]), True, False)
    builder = GraphBuilder(3)
    network = builder.finish({"u": units.input_of(builder)})
    u = units.inward(probe)
    size = (np.abs(probe) + np.abs(units.x_center)) / units.x_scale
    for axis in range(3):
        off = np.abs(network.evaluate(probe, f"u{axis}") - u[:, axis])
        assert (off <= 1e-14 * size[:, axis]).all()


# -- a known range --------------------------------------------------------------------


def test_a_known_range_is_mapped_to_minus_one_and_one() -> None:
    units = _of([0.5, 0.7], y_range=(-2.0, 6.0))
    np.testing.assert_allclose(units.values_inward(np.array([-2.0, 2.0, 6.0])), [-1.0, 0.0, 1.0])


@given(ends=st.tuples(finite, finite).filter(lambda ends: ends[0] < ends[1]))
def test_any_range_maps_its_ends(ends: tuple[float, float]) -> None:
    low, high = ends
    half, largest = 0.5 * high - 0.5 * low, max(abs(low), abs(high))
    try:
        check_y_range(ends)
    except InputError:
        assert half < max(LEAST_SCALE, NEGLIGIBLE_SPREAD * largest)
        return
    units = _of([0.0, 1.0], y_range=ends)
    rounding = np.finfo(np.float64).eps * largest / half
    mapped = units.values_inward(np.array(ends))
    np.testing.assert_allclose(mapped, [-1.0, 1.0], rtol=0.0, atol=1e-15 + rounding)


@pytest.mark.parametrize(
    "y_range",
    [
        (1.0, 1.0),
        (2.0, 1.0),
        (0.0, np.nan),
        (-np.inf, 0.0),
        (0.0, 1.0, 2.0),
        3.0,
        "ab",
        ("a", "b"),
        ("1.0", "2.0"),
        ([1.0], [2.0]),
        (0.0, 5e-324),
        (1.0, 1.0 + 2.3e-16),
        (10**400, 1.0),
    ],
)
def test_what_is_no_range_is_refused(y_range: object) -> None:
    with pytest.raises(InputError, match=r"y_range must be None or a pair \(low, high\)"):
        check_y_range(y_range)


def test_no_range_and_lists_are_fine() -> None:
    check_y_range(None)
    check_y_range([0, 1])


# -- checks ---------------------------------------------------------------------------


def test_observations_are_copies_in_float64() -> None:
    X, y = np.array([[1, 2], [3, 4]]), np.array([5, 6])
    data = Observations.of(X, y)
    X[0, 0], y[0] = 99, 99
    assert (data.X[0, 0], data.y[0]) == (1.0, 5.0)
    assert data.X.dtype == data.y.dtype == np.float64
    assert data.X.flags.c_contiguous
    assert data.n_inputs == 2
    assert Observations.of(np.asfortranarray(np.ones((3, 2))), [1, 2, 3]).X.flags.c_contiguous


@pytest.mark.parametrize(
    ("X", "y", "match"),
    [
        ([[0.0], [np.nan]], [1.0, 2.0], r"X must be finite; row 1 holds \[nan\] \(1 such rows\)"),
        ([[0.0], [1.0]], [np.inf, np.nan], r"y must be finite; row 0 holds inf \(2 such rows\)"),
        ([[0.0]], [[1.0]], r"got shape \(1, 1\); pass y.ravel"),
        ([[0.0]], 1.0, r"y must have shape \(1,\)"),
        ([0.0, 1.0], [1.0, 2.0], r"X\[:, None\]"),
        (np.zeros((2, 0)), [1.0, 2.0], "one row a point"),
        (np.zeros((0, 2)), [], "at least one observation"),
        (np.zeros((2, 2, 2)), [1.0, 2.0], "one row a point"),
        ([[1.0], [2.0, 3.0]], [1.0, 2.0], "X must be an array of numbers"),
        ([["a"]], [1.0], "X must be an array of numbers"),
        ([[1.0]], ["b"], "y must be an array of numbers"),
        ([[1.0]], [None], "row 0"),
        ([[1j]], [1.0], "X must be an array of numbers"),
        ([[10**400]], [1.0], "X must be an array of numbers"),
    ],
)
def test_what_are_no_observations_is_refused(X: Any, y: Any, match: str) -> None:
    with pytest.raises(InputError, match=match):
        Observations.of(X, y)
