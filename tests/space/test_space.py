from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nnbo_mip.core.errors import InputError
from nnbo_mip.space import Categorical, Integer, LinearConstraint, Real, Space
from tests.space.strategies import spaces

TUNING = Space(
    [
        Real("lr", 1e-4, 1e-1, log=True),
        Integer("layers", 1, 7, step=2),
        Categorical("act", ["relu", "tanh"]),
        Real("x", 2.0, 5.0),
    ],
    constraints=[LinearConstraint({"x": 1.0, "layers": 2.0}, "<=", 9.0)],
)


@settings(max_examples=150)
@given(spaces(), st.integers(0, 2**32))
def test_sampled_points_survive_every_round_trip(space: Space, seed: int) -> None:
    points = space.sample(4, seed)
    raw = space.to_numeric(points)
    assert space.from_numeric(raw) == points
    assert space.numeric().admissible(raw).all()
    Z = space.encode(points)
    model = space.model()
    assert ((model.lower <= Z) & (model.upper >= Z)).all()
    again = space.decode(Z)
    for point, back, row in zip(points, again, raw, strict=True):
        assert space.decode(space.encode(point)[0]) == back
        for dimension in space.dimensions:
            value = point[dimension.name]
            if isinstance(dimension, Real) and dimension.step is None:
                assert back[dimension.name] == pytest.approx(value, rel=1e-12, abs=1e-9)
            else:
                assert back[dimension.name] == value
                assert type(back[dimension.name]) is type(value)
        assert row.shape == (model.dimension,)


@settings(max_examples=100)
@given(spaces(constrained=False), st.integers(0, 2**32))
def test_decoded_points_encode_to_where_they_came_from(space: Space, seed: int) -> None:
    model = space.model()
    Z = model.sample(5, np.random.default_rng(seed))
    back = space.encode(space.decode(Z))
    for j, grid in enumerate(model.grids):
        if grid is not None:
            np.testing.assert_array_equal(back[:, j], Z[:, j])
    corner = model.repair(model.upper)
    assert corner is not None
    np.testing.assert_array_equal(space.encode(space.decode(corner))[0], corner)


def test_the_two_domains_of_a_mixed_space() -> None:
    numeric, model = TUNING.numeric(), TUNING.model()
    assert TUNING.dim_names == ("lr", "layers", "act", "x")
    assert numeric.lower.tolist() == [1e-4, 1, 0, 0, 2]
    assert numeric.upper.tolist() == [1e-1, 7, 1, 1, 5]
    assert model.lower.tolist() == [-1, -1, 0, 0, -1]
    assert model.upper.tolist() == [1, 1, 1, 1, 1]
    assert numeric.one_hot == model.one_hot == ((2, 3),)
    grid = model.grids[1]
    assert grid is not None
    np.testing.assert_array_equal(grid.value(range(4)), [-1, -1 + 2 / 3, -1 + 4 / 3, 1])
    assert TUNING.numeric() is numeric
    point = {"lr": 1e-1, "layers": 3, "act": "tanh", "x": 2.75}
    assert TUNING.to_numeric(point).tolist() == [[1e-1, 3, 0, 1, 2.75]]
    assert TUNING.encode([point, point]).tolist() == [[1, -1 + 2 / 3, 0, 1, -0.5]] * 2


def test_a_box_speaks_in_arrays() -> None:
    space = Space.box([99, -3], [101, -1])
    assert space.encode([100, -1.5]).tolist() == [[0, 0.5]]
    assert space.encode([[99, -3], [101, -1]]).tolist() == [[-1, -1], [1, 1]]
    assert space.decode([0.0, 0.5]).tolist() == [100, -1.5]
    assert space.decode([[0.0, 0.5]]).tolist() == [[100, -1.5]]
    assert space.sample(3, 0).shape == (3, 2)
    assert space.sample(0, 0).shape == (0, 2)
    assert space.clip([500, -2]).tolist() == [101, -2]
    assert space.clip([[500, -2], [0, 0]]).tolist() == [[101, -2], [99, -1]]
    assert space.encode([]).shape == (0, 2)
    assert space.numeric().is_box
    assert space.dim_names == ("x0", "x1")


def test_degenerate_sides_are_legal() -> None:
    space = Space.box([99, -3], [101, -3])
    assert space.model().lower.tolist() == [-1, 0]
    assert space.model().upper.tolist() == [1, 0]
    assert space.encode([100, -3]).tolist() == [[0, 0]]
    assert space.decode([0.0, 0.0]).tolist() == [100, -3]
    single = Space([Categorical("c", ["only"]), Integer("n", 4, 4)])
    assert single.model().lower.tolist() == [1, 0]
    assert single.sample(2, 0) == [{"c": "only", "n": 4}] * 2
    assert single.decode(single.encode({"c": "only", "n": 4})) == [{"c": "only", "n": 4}]


def test_named_points_are_dicts_of_plain_python() -> None:
    point = TUNING.sample(1, 5)[0]
    assert [type(value) for value in point.values()] == [float, int, str, float]
    assert TUNING.sample(0, 5) == []
    assert TUNING.encode([]).shape == (0, 5)
    assert TUNING.decode(np.empty((0, 5))) == []
    clipped = TUNING.clip({"lr": 1.0, "layers": 4.6, "act": "relu", "x": 0})
    assert clipped == {"lr": 0.1, "layers": 5, "act": "relu", "x": 2.0}
    assert TUNING.clip([clipped]) == [clipped]


def test_a_billion_integers() -> None:
    space = Space([Integer("n", 1, 10**9), Real("x", 2.0, 5.0)])
    for n in (1, 2, 123_456_789, 10**9 - 1, 10**9):
        assert space.decode(space.encode({"n": n, "x": 2.5})[0])["n"] == n
    assert all(1 <= point["n"] <= 10**9 for point in space.sample(50, 0))


def test_log_dimensions_are_sampled_log_uniformly() -> None:
    space = Space([Real("lr", 1e-4, 1e-1, log=True), Integer("n", 1, 10_000, log=True)])
    points = space.sample(4000, 1)
    rates = np.log10([point["lr"] for point in points])
    assert abs(rates.mean() + 2.5) < 5 * 3 / np.sqrt(12 * 4000)
    sizes = np.log10([point["n"] for point in points])
    assert abs(sizes.mean() - 2.0) < 0.1


def test_seeds_and_generators() -> None:
    assert TUNING.sample(3, 4) == TUNING.sample(3, np.random.default_rng(4))
    assert TUNING.sample(3, 4) != TUNING.sample(3, 5)


def test_equality_is_by_content() -> None:
    same = Space(TUNING.dimensions, TUNING.constraints)
    assert same == TUNING
    assert hash(same) == hash(TUNING)
    assert same.fingerprint == TUNING.fingerprint
    assert Space(TUNING.dimensions) != TUNING
    assert Space.box([99], [101]) != Space([Real("x0", 99, 101)])
    assert Space([Categorical("c", [0, 1])]) != Space([Categorical("c", [False, True])])
    assert Space.box([99], [101]) == Space.box(np.array([99.0]), (101,))
    assert Space.box([99], [101]) != "a box"


def test_repr_can_be_typed() -> None:
    box = Space.box([99, -3], [101, -1], LinearConstraint({"x0": 1, "x1": 2}, ">=", 95))
    for space in (TUNING, box, Space.box([99], [101])):
        assert eval(repr(space)) == space


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (lambda: Space([]), "at least one"),
        (lambda: Space(Real("x", 2, 5)), "sequence of dimensions"),
        (lambda: Space([(0, 1)]), "Real, Integer, Ordinal or Categorical"),
        (lambda: Space([Real("x", 2, 5), Integer("x", 2, 5)]), "'x' more than once"),
        (lambda: Space.box([3.0], [2.0]), r"lower\[0\]=3.0 > upper\[0\]=2.0"),
        (lambda: Space.box([99], [np.inf]), "finite"),
        (lambda: Space.box([99, 2], [101]), "same length"),
        (lambda: Space.box(1, 2), "one-dimensional"),
        (lambda: Space.box([99], [101]).encode([98.0]), r"\[99.0, 101.0\]; got 98.0"),
        (lambda: Space.box([99], [101]).encode([np.nan]), "finite"),
        (lambda: Space.box([99], [101]).encode([1.0, 2.0]), "shape"),
        (lambda: Space.box([99], [101]).encode({"x0": 100}), "real numbers"),
        (lambda: Space.box([99], [101]).decode([np.nan]), "finite"),
        (lambda: Space.box([99], [101]).decode([0.0, 0.0]), "shape"),
        (lambda: Space.box([99], [101]).from_numeric([[[1.0]]]), "shape"),
        (lambda: Space.box([99], [101]).clip([np.nan]), "finite"),
        (lambda: TUNING.encode([1e-3, 3, 0, 2.5]), "name the values"),
        (lambda: TUNING.encode("lr"), "name the values"),
        (lambda: TUNING.encode(3), "name the values"),
        (lambda: TUNING.encode({"lr": 1e-3, "layers": 3, "act": "relu"}), "'x' is missing"),
        (
            lambda: TUNING.encode({"lr": 1e-3, "layer": 3, "act": "relu", "x": 2.0}),
            "did you mean 'layers'",
        ),
        (
            lambda: TUNING.encode({"lr": 1e-3, "layers": 4, "act": "relu", "x": 2.0}),
            "'layers' must be 1",
        ),
        (lambda: TUNING.decode([0.0, 0.0]), "one column a level"),
    ],
)
def test_bad_input_is_refused(act: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        act()
