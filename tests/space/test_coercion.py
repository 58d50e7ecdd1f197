from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.optimize

from nnbo_mip.core.errors import InputError
from nnbo_mip.space import Domain, Integer, LinearConstraint, Real, Space

BOX = Space.box([99, -3], [101, -1])


@pytest.mark.parametrize(
    "given",
    [
        BOX,
        [(99, 101), (-3, -1)],
        ((99, 101), (-3, -1)),
        [[99, 101], [-3, -1]],
        [np.array([99, 101]), (-3.0, -1.0)],
        scipy.optimize.Bounds([99, -3], [101, -1]),
    ],
)
def test_what_means_the_same_box(given: Any) -> None:
    assert Space.coerce(given) == BOX


def test_arrays_of_pairs() -> None:
    assert Space.coerce(np.array([[99, 101], [-3, -1], [2, 5]])) == Space.box(
        [99, -3, 2], [101, -1, 5]
    )
    assert Space.coerce(np.array([[99, 101]])) == Space.box([99], [101])


def test_scalar_ends_of_bounds_are_broadcast() -> None:
    given = scipy.optimize.Bounds([1.0, 2.0], 5.0)
    assert Space.coerce(given) == Space.box([1, 2], [5, 5])


def test_dicts_and_dimensions_make_named_spaces() -> None:
    assert Space.coerce({"a": (99, 101), "b": [-3, -1]}) == Space(
        [Real("a", 99, 101), Real("b", -3, -1)]
    )
    dimensions = [Real("a", 99, 101), Integer("n", 1, 7)]
    assert Space.coerce(dimensions) == Space(dimensions)


def test_domains_pass_through() -> None:
    domain = Domain([99], [101])
    assert Space.coerce(domain) is domain


def test_constraints_come_along() -> None:
    constraint = LinearConstraint({"x0": 1.0}, "<=", 100.0)
    assert Space.coerce([(99, 101), (-3, -1)], constraint).constraints == (constraint,)
    linear = scipy.optimize.LinearConstraint([[1.0, 0.0]], -np.inf, 100.0)
    assert Space.coerce([(99, 101), (-3, -1)], linear).constraints == (constraint,)
    with pytest.raises(InputError, match="its own constraints"):
        Space.coerce(BOX, constraint)
    with pytest.raises(InputError, match="its own constraints"):
        Space.coerce(BOX, [constraint])


@pytest.mark.parametrize(
    "given",
    [
        np.array([[99, -3, 2], [101, -1, 5]]),
        [[99, -3, 2], [101, -1, 5]],
        np.array([[99, 101], [-3, -1]]),
        [[-1, -1], [1, 1]],
        [[5, 2], [6, 3]],
        np.array([[99], [101]]),
    ],
)
def test_stacked_ends_are_refused_with_a_hint(given: Any) -> None:
    with pytest.raises(InputError, match=r"did you mean Space.box\(lower, upper\), or bounds.T"):
        Space.coerce(given)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([(101, 99)], "lower must be <= upper"),
        ([(99, np.inf)], "finite"),
        ([(99, 101, 103)], "one pair a dimension"),
        ([], "one pair a dimension"),
        ([("a", "b")], "real numbers"),
        ("box", "use one of these"),
        (3.0, "use one of these"),
        (None, "use one of these"),
        ({"a": 3.0}, "give both ends"),
        ({"a": (3.0,)}, "give both ends"),
        ({"a": Real("a", 2, 5)}, "dimensions in a list"),
        ({3: (2.0, 5.0)}, "non-empty string"),
        ({}, "at least one"),
        (scipy.optimize.Bounds([0.0], [np.inf]), "finite"),
        ([Real("a", 2, 5), (0, 1)], "Real, Integer, Ordinal or Categorical"),
    ],
)
def test_what_is_no_space_is_refused(given: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Space.coerce(given)
