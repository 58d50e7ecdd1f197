"""Conditional dimensions: left out where they are inactive, at their default in coordinates."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from nnbo_mip.core.errors import FileFormatError, InputError
from nnbo_mip.space import (
    Categorical,
    Domain,
    Integer,
    LinearConstraint,
    Ordinal,
    Real,
    Space,
)

DIMENSIONS = [
    Categorical("optimizer", ["adam", "sgd", "lbfgs"]),
    Real("momentum", 0.0, 1.0, when={"optimizer": "sgd"}, default=0.9),
    Real("rate", 1e-4, 1e-1, log=True, when={"optimizer": ["adam", "sgd"]}),
    Categorical("nesterov", [False, True], when={"optimizer": "sgd"}),
    Integer("power", 1, 5, when={"nesterov": True}),
    Ordinal("memory", [3, 10, 30], when={"optimizer": "lbfgs"}, default=3),
    Integer("units", 1, 4),
]
SPACE = Space(DIMENSIONS)
FINITE = Space(
    [
        Categorical("c", ["a", "b", "d"]),
        Integer("n", 0, 3, when={"c": ["b", "d"]}, default=2),
        Categorical("e", ["x", "y"], when={"c": "d"}),
        Ordinal("o", [1, 5, 7], when={"e": "y"}, default=7),
    ]
)
N_FINITE = 1 + 4 + 4 * (1 + 3)


def active(point: dict[str, Any]) -> set[str]:
    """What the space of the tests has at a point, said once more."""
    there = {"optimizer", "units"}
    if point["optimizer"] != "lbfgs":
        there.add("rate")
    else:
        there.add("memory")
    if point["optimizer"] == "sgd":
        there |= {"momentum", "nesterov"}
        if point["nesterov"]:
            there.add("power")
    return there


def test_points_have_the_dimensions_that_are_active() -> None:
    points = SPACE.sample(200, seed=0)
    assert all(set(point) == active(point) for point in points)
    assert sum(point["optimizer"] == "lbfgs" for point in points) > 40
    X = SPACE.model().sample(200, np.random.default_rng(0))
    assert SPACE.model().admissible(X).all()
    assert all(set(point) == active(point) for point in SPACE.decode(X))
    assert np.allclose(SPACE.encode(SPACE.decode(X)), X, atol=1e-12)


def test_an_inactive_value_makes_no_other_point() -> None:
    plain = {"optimizer": "adam", "rate": 1e-2, "units": 2}
    more = {**plain, "momentum": 0.1, "nesterov": True, "power": "nonsense", "memory": None}
    assert np.array_equal(SPACE.encode(plain), SPACE.encode(more))
    assert SPACE.decode(SPACE.encode(more)[0]).keys() == plain.keys()
    assert SPACE.clip(more).keys() == plain.keys()


def test_an_active_value_has_to_be_given_and_lie_inside() -> None:
    with pytest.raises(InputError, match="'momentum' is missing; add it"):
        SPACE.encode({"optimizer": "sgd", "rate": 1e-2, "nesterov": False, "units": 2})
    given = {"optimizer": "sgd", "rate": 1e-2, "momentum": 2.0, "nesterov": False, "units": 2}
    with pytest.raises(InputError, match="'momentum' must lie in"):
        SPACE.encode(given)
    with pytest.raises(InputError, match="'optimizer' must be one of"):
        SPACE.encode({"optimizer": "sdg", "rate": 1e-2, "units": 2})


def test_what_hangs_on_an_inactive_category_is_inactive() -> None:
    given = {"optimizer": "adam", "rate": 1e-2, "nesterov": True, "power": 3, "units": 1}
    assert "power" not in SPACE.clip(given)


def test_rows_and_grids_say_exactly_what_conditions_say() -> None:
    domain = FINITE.model()
    corners = [
        np.concatenate(parts)
        for parts in itertools.product(
            np.eye(3),
            [[value] for value in np.linspace(-1.0, 1.0, 4)],
            np.eye(2),
            [[-1.0], [0.0], [1.0]],
        )
    ]
    points = np.array(corners)
    n_grid = domain.grids[3]
    assert n_grid is not None
    points[:, 3] = n_grid.value(n_grid.nearest(points[:, 3]))
    admissible = points[domain.admissible(points)]
    assert len(admissible) == N_FINITE
    held = np.unique(domain.held(points), axis=0)
    assert np.array_equal(held, np.unique(admissible, axis=0))
    assert len({str(FINITE.decode(point)) for point in points}) == N_FINITE
    raw = FINITE.numeric()
    assert raw.admissible(FINITE.to_numeric(FINITE.decode(points))).all()


def test_model_rows_leave_the_default_alone() -> None:
    domain = Space(DIMENSIONS[:2]).model()
    x = np.array([1.0, 0.0, 0.0, 0.8])  # adam, at the default of 0.9
    off = np.array([1.0, 0.0, 0.0, 0.8 + 1e-6])
    assert domain.admissible([x])[0]
    assert not domain.admissible([off])[0]
    low, high, _ = domain.tighten([1.0, 0.0, 0.0, -1.0], [1.0, 0.0, 0.0, 1.0])
    assert abs(low[3] - 0.8) < 1e-8 > abs(high[3] - 0.8)
    repaired = domain.repair([0.9, 0.3, 0.1, -0.5])
    assert repaired is not None
    assert repaired.tolist() == [1.0, 0.0, 0.0, x[3]]


def test_the_rest_of_a_finite_space_is_found() -> None:
    from nnbo_mip.loop.designs.points import completed

    domain = FINITE.model()
    rng = np.random.default_rng(0)
    none = np.empty((0, domain.dimension))
    everything = completed(domain, none, 100, none, rng)
    assert len(everything) == N_FINITE
    last = completed(domain, none, 5, everything[1:], rng)
    assert np.array_equal(last, everything[:1])


def test_restricted_domains_keep_their_switches() -> None:
    domain = SPACE.model()
    lower, upper = domain.lower.copy(), domain.upper.copy()
    lower[3] = 0.95  # beyond the default of momentum: only sgd is left
    part = domain.restrict(lower, upper)
    points = part.sample(20, np.random.default_rng(0))
    assert (points[:, 1] == 1.0).all()
    assert domain.admissible(points).all()
    away = domain.away_from(points, 0.1)
    assert away.switches == domain.switches
    assert away.without_exclusions.fingerprint == domain.fingerprint


def test_constraints_count_an_inactive_one_at_its_default() -> None:
    rows = LinearConstraint({"momentum": 1.0, "units": 1.0}, "<=", 3.2)
    space = Space(DIMENSIONS, rows)
    points = space.sample(60, seed=3)
    assert all(point["units"] + point.get("momentum", 0.9) <= 3.2 + 1e-6 for point in points)
    assert {point["optimizer"] for point in points} == {"adam", "sgd", "lbfgs"}


def test_spaces_and_domains_survive_dicts() -> None:
    again = Space.from_dict(SPACE.to_dict())
    assert again == SPACE
    assert again.dimensions == SPACE.dimensions
    for domain in (SPACE.model(), SPACE.numeric()):
        stored = Domain.from_dict(domain.to_dict())
        assert stored.fingerprint == domain.fingerprint
        assert stored.switches == domain.switches
    data = SPACE.model().to_dict()
    data["switches"][0]["columns"] = [99]
    with pytest.raises(FileFormatError, match="switches must name coordinates"):
        Domain.from_dict(data)
    assert eval(repr(DIMENSIONS[2])) == DIMENSIONS[2]
    assert replace(DIMENSIONS[2], lower=1e-5).when == DIMENSIONS[2].when


def test_defaults_are_in_the_middle_unless_given() -> None:
    defaults = {one.name: one.default for one in DIMENSIONS if one.when}
    rate = defaults.pop("rate")
    assert rate == pytest.approx(1e-4 * 10**1.5)
    assert defaults == {"momentum": 0.9, "nesterov": False, "power": 3, "memory": 3}


C = Categorical("c", ["a", "b"])


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (lambda: [C, Real("x", 0, 1, when={"d": "a"})], "got 'd'; did you mean|must name a cat"),
        (lambda: [C, Real("x", 0, 1, when={"c": "z"})], "when of 'x': 'c' must be one of"),
        (lambda: [C, Real("x", 0, 1, when={"x": 1})], "must name a category; got Real"),
        (lambda: [C, Integer("n", 0, 1), Real("x", 0, 1, when={"n": 1})], "make it a Categorical"),
        (lambda: [C, Real("x", 0, 1, when={"c": []})], "at least one level; got none"),
        (lambda: [C, Real("x", 0, 1, when={})], "must map the name of a category"),
        (lambda: [C, Real("x", 0, 1, when="c")], "must map the name of a category"),
        (lambda: [C, Real("x", 0, 1, when=("c", "a"))], "must map the name of a category"),
        (lambda: [C, Real("x", 0, 1, when={1: "a"})], "must name categories; got 1"),
        (
            lambda: [C, Real("x", 0, 1, when={"c": "a"}, default=2)],
            "default of 'x': 'x' must lie in",
        ),
        (lambda: [C, Integer("x", 0, 4, when={"c": "a"}, default=1.5)], "default of 'x'"),
        (lambda: [C, Ordinal("x", [1, 2], when={"c": "a"}, default=3)], "default of 'x'"),
        (lambda: [C, Real("x", 0, 1, default=0.5)], "where its `when` does not hold; got 0.5"),
        (
            lambda: [
                Categorical("p", ["a", "b"], when={"q": "a"}),
                Categorical("q", ["a", "b"], when={"p": "a"}),
            ],
            "must not go in a circle; got p -> q -> p",
        ),
        (lambda: [Categorical("p", ["a"], when={"p": "a"})], "circle; got p -> p"),
    ],
)
def test_conditions_without_a_meaning_are_refused_in_one_sentence(made: Any, message: str) -> None:
    with pytest.raises(InputError, match=message) as refused:
        Space(made())
    assert "\n" not in str(refused.value)
