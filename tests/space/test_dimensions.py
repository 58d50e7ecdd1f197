from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nnbo_mip.core.errors import InputError
from nnbo_mip.space import Categorical, Integer, Real
from tests.space.strategies import integer_dimensions, real_dimensions


@given(st.one_of(real_dimensions("x"), integer_dimensions("x")))
def test_grids_and_ends_survive_the_round_trip_exactly(dimension: Real | Integer) -> None:
    grid = dimension.grid(model=True)
    ends = dimension.ends(model=True)
    if grid is None:
        z = np.array(ends)
    else:
        z = grid.value(np.unique(np.linspace(0, grid.count - 1, 40).astype(np.int64)))
    raw = dimension.model_to_raw(z[:, None])
    np.testing.assert_array_equal(dimension.raw_to_model(raw)[:, 0], z)
    assert raw[0, 0] == dimension.lower
    assert raw[-1, 0] == dimension.upper
    assert (np.diff(raw[:, 0]) > 0).all() or grid is None


@given(real_dimensions("x"), st.floats(-1.5, 1.5))
def test_decoding_stays_inside_and_encoding_undoes_it(dimension: Real, z: float) -> None:
    raw = dimension.model_to_raw(np.array([[z]]))
    assert dimension.lower <= raw[0, 0] <= dimension.upper
    back = dimension.raw_to_model(raw)[0, 0]
    assert -1.0 <= back <= 1.0
    if dimension.step is None and dimension.lower < dimension.upper:
        # raw is rounded to float64, which in model coordinates is this much
        width = dimension.upper - dimension.lower
        coarse = 4 * np.spacing(abs(raw[0, 0])) / (raw[0, 0] if dimension.log else width)
        log_width = np.log(dimension.upper / dimension.lower) if dimension.log else 1.0
        assert back == pytest.approx(np.clip(z, -1, 1), abs=1e-14 + 4 * coarse / log_width)


@given(integer_dimensions("n"), st.integers(0, 2**32))
def test_integers_come_back_as_python_ints(dimension: Integer, seed: int) -> None:
    z = np.random.default_rng(seed).uniform(-1, 1, (20, 1))
    for value in dimension.values(dimension.model_to_raw(z)):
        assert type(value) is int
        assert dimension.lower <= value <= dimension.upper
        assert (value - dimension.lower) % dimension.step == 0
        assert dimension.checked(value) == value


def test_log_dimensions_are_logarithmic() -> None:
    rate = Real("lr", 1e-4, 1e-1, log=True)
    raw = rate.model_to_raw(np.array([[-1.0], [-1 / 3], [1 / 3], [1.0]]))
    np.testing.assert_allclose(raw[:, 0], [1e-4, 1e-3, 1e-2, 1e-1], rtol=1e-14)
    width = Integer("n", 1, 1000, log=True)
    grid = width.grid(model=True)
    assert grid is not None
    assert grid.count == 1000
    assert grid.value(9) == pytest.approx(-1 / 3, abs=1e-15)
    assert width.values(width.model_to_raw(np.array([[1 / 3 + 1e-4]]))) == [100]


def test_narrow_log_ranges_keep_their_digits() -> None:
    narrow = Real("x", 1e10, 1e10 + 1, log=True)
    raw = narrow.model_to_raw(np.array([[0.5]]))
    assert raw[0, 0] == pytest.approx(1e10 + 0.75, abs=1e-5)


def test_degenerate_sides_map_to_zero() -> None:
    for dimension in (Real("x", 2.5, 2.5), Real("x", 2.5, 2.5, log=True), Integer("x", 7, 7)):
        assert dimension.ends(model=True) == (0.0, 0.0)
        assert dimension.grid(model=True) is None
        assert dimension.grid(model=False) is None
        assert dimension.raw([dimension.lower]).tolist() == [[dimension.lower]]
        assert dimension.raw_to_model(np.array([[dimension.lower]])).tolist() == [[0.0]]
        assert dimension.values(np.array([[9.0]])) == [dimension.lower]


def test_values_meant_for_a_grid_are_taken_as_such() -> None:
    x = Real("x", 0.1, 0.7, step=0.1)
    assert x.checked(0.1 + 0.1 + 0.1) == x.checked(0.3)
    with pytest.raises(InputError, match=r"the nearest one is 0\.3"):
        x.checked(0.31)
    assert x.clipped(0.36) == pytest.approx(0.4)
    assert x.checked(0.7) == 0.7


def test_wholes_are_accepted_in_any_clothing() -> None:
    n = Integer("n", 1, 7, step=2)
    for value in (3, 3.0, np.int64(3), np.float32(3), np.array(3)):
        assert n.checked(value) == 3
        assert type(n.checked(value)) is int
    assert n.clipped(-9) == 1
    assert n.clipped(5.7) == 5


def test_levels_come_back_as_given() -> None:
    levels = ["relu", 3, 2.5, "3"]
    act = Categorical("act", levels)
    codes = act.raw(["3", 3, "relu", np.float64(2.5)])
    assert codes.tolist() == [[0, 0, 0, 1], [0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 1, 0]]
    back = act.values(codes)
    assert back == ["3", 3, "relu", 2.5]
    assert [type(level) for level in back] == [str, int, str, float]
    flag = Categorical("flag", [True, False])
    assert flag.values(flag.raw([False]))[0] is False
    assert Categorical("n", np.array([4, 8])).levels == (4, 8)
    assert type(Categorical("n", np.array([4, 8])).levels[0]) is int


def test_a_flag_is_not_a_number() -> None:
    with pytest.raises(InputError, match="one of"):
        Categorical("n", [0, 1]).checked(True)
    with pytest.raises(InputError, match="one of"):
        Categorical("flag", [True, False]).checked(1)


def test_repr_can_be_typed() -> None:
    for dimension in (
        Real("lr", 1e-4, 1e-1, log=True),
        Real("x", 2.0, 5.0, step=0.5),
        Integer("layers", 1, 7, step=2),
        Integer("n", 1, 1000, log=True),
        Categorical("act", ["relu", 3, True]),
    ):
        assert eval(repr(dimension)) == dimension


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Real("", 2.0, 5.0), "non-empty string"),
        (lambda: Real(3, 2.0, 5.0), "non-empty string"),
        (lambda: Real("x", 5.0, 2.0), "swap"),
        (lambda: Real("x", np.nan, 2.0), "lower of 'x' must be finite"),
        (lambda: Real("x", 2.0, np.inf), "upper of 'x' must be finite"),
        (lambda: Real("x", 2, 10**400), "upper of 'x' must be finite"),
        (lambda: Real("x", "2", 5.0), "real number"),
        (lambda: Real("x", True, 5.0), "real number"),
        (lambda: Real("x", 0.0, 5.0, log=True), "lower > 0"),
        (lambda: Real("x", -1e308, 1e308), "narrower"),
        (lambda: Real("x", 1e-300, 1e300, log=True), "narrower"),
        (lambda: Real("x", 2.0, 5.0, log=1), "True or False"),
        (lambda: Real("x", 2.0, 5.0, step=0.0), "step of 'x' must be > 0"),
        (lambda: Real("x", 2.0, 5.0, step=-1.0), "step of 'x' must be > 0"),
        (lambda: Real("x", 2.0, 5.0, step=0.7), "nearest such ends are 4.8 and 5.5"),
        (lambda: Real("x", 2.0, 5.0, step=1e-16), "larger step"),
        (lambda: Real("x", 1.0, 5.0, log=True, step=1e-5), "at most 100000"),
        (lambda: Integer("n", 1, 8, step=2), "nearest such ends are 7 and 9"),
        (lambda: Integer("n", 1, 7, step=0), "at least 1"),
        (lambda: Integer("n", 1.5, 7), "whole number"),
        (lambda: Integer("n", 7, 1), "swap"),
        (lambda: Integer("n", 0, 7, log=True), "lower > 0"),
        (lambda: Integer("n", 1, 10**6, log=True), "at most 100000"),
        (lambda: Integer("n", 1, 2**60), "2\\*\\*53"),
        (lambda: Integer("n", False, 3), "real number"),
        (lambda: Categorical("c", []), "at least one level"),
        (lambda: Categorical("c", "relu"), "must be a sequence"),
        (lambda: Categorical("c", ["a", "a"]), "more than once"),
        (lambda: Categorical("c", [1, True]), "more than once"),
        (lambda: Categorical("c", [None]), "strings, numbers or booleans"),
        (lambda: Categorical("c", [float("nan")]), "strings, numbers or booleans"),
        (lambda: Categorical("c", [float("inf")]), "finite"),
        (lambda: Real("x", 2.0, 5.0).checked(5.1), r"\[2.0, 5.0\]; got 5.1"),
        (lambda: Real("x", 2.0, 5.0).checked(np.nan), "finite"),
        (lambda: Real("x", 2.0, 5.0).checked("3"), "real number"),
        (lambda: Integer("n", 1, 7, step=2).checked(4), "the nearest value is"),
        (lambda: Integer("n", 1, 7, step=2).checked(9), r"\[1, 7\]; got 9"),
        (lambda: Categorical("c", ["a", "b"]).checked("d"), r"one of \['a', 'b'\]; got 'd'"),
        (lambda: Categorical("c", ["a", "b"]).clipped("d"), "one of"),
    ],
)
def test_bad_dimensions_and_values_are_refused(make: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make()
