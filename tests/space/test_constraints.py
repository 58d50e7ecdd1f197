from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.optimize
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

from nnbo_mip.core.errors import InputError
from nnbo_mip.space import Categorical, Integer, LinearConstraint, Real, Space
from tests.space.strategies import spaces

DIMENSIONS = [
    Real("lr", 1e-4, 1e-1, log=True),
    Integer("layers", 1, 7, step=2),
    Categorical("act", ["relu", "tanh"]),
    Real("x", 2.0, 5.0),
    Real("fixed", 2.5, 2.5),
]


def test_rows_read_as_the_user_wrote_them() -> None:
    space = Space(
        DIMENSIONS,
        [
            LinearConstraint({"x": 1.0, "layers": 2.0}, "<=", 9.0),
            LinearConstraint({"x": 3.0, ("act", "tanh"): 4.0}, ">=", 1.0),
            LinearConstraint({"fixed": 2.0, "x": -1.0}, "==", 0.5),
        ],
    )
    numeric = space.numeric()
    assert numeric.A.tolist() == [
        [0, 2, 0, 0, 1, 0],
        [0, 0, 0, -4, -3, 0],
        [0, 0, 0, 0, -1, 2],
        [0, 0, 0, 0, 1, -2],
    ]
    assert numeric.b.tolist() == [9, -1, 0.5, -0.5]


def test_rows_are_moved_to_model_coordinates() -> None:
    space = Space(DIMENSIONS, LinearConstraint({"x": 1.0, "layers": 2.0, "fixed": 4.0}, "<=", 30.0))
    model = space.model()
    # x = 3.5 + 1.5 z, layers = 4 + 3 z, fixed = 2.5 + 0 z
    assert model.A.tolist() == [[0, 6, 0, 0, 1.5, 0]]
    assert model.b.tolist() == [30 - 3.5 - 8 - 10]


@settings(max_examples=60)
@given(spaces(), st.integers(0, 2**32))
def test_what_is_admissible_in_model_coordinates_decodes_to_admissible(
    space: Space, seed: int
) -> None:
    model, numeric = space.model(), space.numeric()
    rng = np.random.default_rng(seed)
    Z = model.lower + rng.random((60, model.dimension)) * (model.upper - model.lower)
    repaired = [model.repair(z) for z in Z[:3]]
    for z in (*Z, *(z for z in repaired if z is not None)):
        if model.admissible(z)[0]:
            assert numeric.admissible(space.to_numeric(space.decode(z)))[0]


@settings(max_examples=100)
@given(spaces(), st.integers(0, 2**32))
def test_points_within_the_constraints_are_admissible_in_both(space: Space, seed: int) -> None:
    numeric = space.numeric()
    rng = np.random.default_rng(seed)
    raw = space.to_numeric(space.sample(20, rng))
    exceeds = raw @ numeric.A.T > numeric.b
    inside = raw[~exceeds.any(axis=1)]
    model_points = space.encode(space.from_numeric(inside)) if len(inside) else inside
    assert numeric.admissible(raw).all()
    # encoding rounds z, which moves a row of coefficients a h by about 1e-16 |a h|
    if np.abs(space.model().A).max(initial=0.0) < 1e5 and len(inside):
        assert space.model().admissible(model_points).all()


@pytest.mark.parametrize(
    ("lower", "upper", "bound"), [(1e6, 1e6 + 1, 1e6 + 0.5), (-1e6, 3.0, 2.0), (-9.0, 2e6, -3.5)]
)
def test_moving_the_origin_does_not_widen_the_slack(
    lower: float, upper: float, bound: float
) -> None:
    space = Space.box([lower], [upper], LinearConstraint({"x0": 1.0}, "<=", bound))
    model, numeric = space.model(), space.numeric()
    edge = model.row_limit[0] / model.A[0, 0]
    assert model.admissible([np.nextafter(edge, -2)])[0]
    assert not model.admissible([edge + 1e-9])[0]
    decoded = space.decode([np.nextafter(edge, -2)])
    assert decoded[0] > bound  # part of the slack is there
    assert numeric.admissible(decoded)[0]


def test_equalities_of_integers_hold_in_model_coordinates() -> None:
    space = Space(
        [Integer("a", 1, 9), Integer("b", 2, 32, step=3)],
        LinearConstraint({"a": 3, "b": 1}, "==", 29),
    )
    X = space.sample(50, 3)
    assert {3 * x["a"] + x["b"] for x in X} == {29}
    assert space.model().admissible(space.encode(X)).all()


@given(st.sampled_from(["<=", ">=", "=="]))
def test_constant_rows_nothing_satisfies_are_legal(sense: str) -> None:
    bound = {"<=": -1.0, ">=": 1.0, "==": 1.0}[sense]
    space = Space.box([99], [101], LinearConstraint({"x0": 0.0}, sense, bound))
    assert not space.numeric().admissible([100.0])[0]
    assert not space.model().admissible([0.0])[0]
    with pytest.raises(InputError, match="satisfies the constraints"):
        space.sample(1, 0)


def test_scipy_constraints_mean_the_same() -> None:
    A = np.array([[1.0, 2.0], [0.0, 1.0], [3.0, 0.0]])
    given_one = scipy.optimize.LinearConstraint(A, [-np.inf, -2.0, 300.0], [97.0, -1.5, 300.0])
    space = Space.box([99, -3], [101, -1], constraints=given_one)
    assert space.constraints == (
        LinearConstraint({"x0": 1.0, "x1": 2.0}, "<=", 97.0),
        LinearConstraint({"x1": 1.0}, "<=", -1.5),
        LinearConstraint({"x1": 1.0}, ">=", -2.0),
        LinearConstraint({"x0": 3.0}, "==", 300.0),
    )
    sparse = scipy.optimize.LinearConstraint(scipy.sparse.csr_array(A), -np.inf, 97.0)
    assert len(Space.box([99, -3], [101, -1], [sparse, *space.constraints]).constraints) == 7
    nothing = scipy.optimize.LinearConstraint([[0.0, 0.0]], -np.inf, 1.0)
    assert Space.box([99, -3], [101, -1], nothing).numeric().A.tolist() == [[0, 0]]


def test_a_constraint_keeps_its_own_copy() -> None:
    terms = {"x": 1.0}
    constraint = LinearConstraint(terms, "<=", 4)
    terms["x"] = 2.0
    assert constraint.coefficients == {"x": 1.0}
    assert constraint == LinearConstraint({"x": 1}, "<=", 4.0)
    assert eval(repr(constraint)) == constraint
    assert hash(constraint) == hash(LinearConstraint({"x": 1}, "<=", 4.0))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: LinearConstraint({}, "<=", 1.0), "at least one"),
        (lambda: LinearConstraint([1.0], "<=", 1.0), "pass a dict"),
        (lambda: LinearConstraint({"x": 1.0}, "<", 1.0), "got '<'"),
        (lambda: LinearConstraint({"x": np.nan}, "<=", 1.0), "coefficient of 'x' must be finite"),
        (lambda: LinearConstraint({"x": 1.0}, "<=", np.inf), "bound of a constraint"),
        (lambda: LinearConstraint({"x": "1"}, "<=", 1.0), "real number"),
        (lambda: Space(DIMENSIONS, [LinearConstraint({"lr": 1.0}, "<=", 1.0)]), "logarithmic"),
        (lambda: Space(DIMENSIONS, [LinearConstraint({"act": 1.0}, "<=", 1.0)]), "name a level"),
        (lambda: Space(DIMENSIONS, [LinearConstraint({"y": 1.0}, "<=", 1.0)]), "got 'y'"),
        (
            lambda: Space(DIMENSIONS, [LinearConstraint({("act", "elu"): 1.0}, "<=", 1.0)]),
            "got .'act', 'elu'.",
        ),
        (lambda: Space(DIMENSIONS, [3.0]), "must be linear"),
        (lambda: Space(DIMENSIONS, 3.0), "ours or scipy"),
        (lambda: Space(DIMENSIONS, "x <= 3"), "ours or scipy"),
        (
            lambda: Space(DIMENSIONS, scipy.optimize.LinearConstraint(np.ones((1, 5)), 0, 1)),
            "goes by names",
        ),
        (
            lambda: Space.box([99], [101], scipy.optimize.LinearConstraint([[1.0, 2.0]], 0, 1)),
            "must have 1 columns",
        ),
        (
            lambda: Space.box([99], [101], scipy.optimize.LinearConstraint([[1.0]], np.nan, 1)),
            "finite",
        ),
        (
            lambda: Space.box(
                [99], [101], scipy.optimize.NonlinearConstraint(lambda x: x, 0.0, 1.0)
            ),
            "ours or scipy|must be linear",
        ),
    ],
)
def test_bad_constraints_are_refused(make: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make()
