from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from nnbo_mip.core.errors import FileFormatError
from nnbo_mip.space import Categorical, Domain, Grid, Integer, LinearConstraint, Real, Space
from tests.space.strategies import domains, spaces

DOMAIN = Domain(
    [99, 1, 0, 0, 0.5],
    [101, 7, 1, 1, 4],
    [None, Grid.uniform(1, 2, 4), None, None, Grid.listed([0.5, 3, 4])],
    [(2, 3)],
    [[1, 2, 0, 3, 0]],
    [110.1],
)
SPACE = Space(
    [
        Real("lr", 1e-4, 1e-1, log=True),
        Integer("layers", 1, 7, step=2),
        Categorical("act", ["relu", 3, False]),
        Real("x", 2.0, 5.0, step=0.5),
    ],
    [
        LinearConstraint({"x": 1.0, "layers": 2.0}, "<=", 9.0),
        LinearConstraint({("act", 3): 1.5}, ">=", 0.25),
    ],
)

BOX_FINGERPRINT = "8f633ecd98c8230fb3598b7a6ebaaa281c56e3cd624db67ee30362fa77cee3d7"
DOMAIN_FINGERPRINT = "362384722bd19330e195c453f617628e08b1d1a2009a6aca9094f42ba664f04f"


def through_json(data: dict[str, Any]) -> Any:
    return json.loads(json.dumps(data, allow_nan=False))


@given(domains())
def test_domains_survive_json(drawn: tuple[Domain, np.ndarray]) -> None:
    domain, _ = drawn
    again = Domain.from_dict(through_json(domain.to_dict()))
    assert again.fingerprint == domain.fingerprint
    np.testing.assert_array_equal(again.A, domain.A)
    np.testing.assert_array_equal(again.lower, domain.lower)
    assert again.one_hot == domain.one_hot


@given(spaces())
def test_spaces_survive_json(space: Space) -> None:
    again = Space.from_dict(through_json(space.to_dict()))
    assert again == space
    assert repr(again) == repr(space)
    assert again.numeric().fingerprint == space.numeric().fingerprint
    assert again.model().fingerprint == space.model().fingerprint


def test_boxes_and_levels_keep_their_kind() -> None:
    box = Space.box([99, -3], [101, -1], LinearConstraint({"x0": 1}, "<=", 100))
    again = Space.from_dict(through_json(box.to_dict()))
    assert again == box
    assert not again.is_named
    levels = Space.from_dict(through_json(SPACE.to_dict())).dimensions[2]
    assert isinstance(levels, Categorical)
    assert [type(level) for level in levels.levels] == [str, int, bool]


def test_fingerprints_are_stable() -> None:
    # part of stored certificates: a change of these is a change of the file format
    assert Space.box([99.0], [101.0]).fingerprint == BOX_FINGERPRINT
    assert Domain([99.0], [101.0]).fingerprint == DOMAIN_FINGERPRINT


def changed(data: dict[str, Any], path: list[Any], value: Any) -> Any:
    data = through_json(data)
    target = data
    for key in path[:-1]:
        target = target[key]
    target[path[-1]] = value
    return data


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (["format"], "nnbo_mip.space", "format"),
        (["version"], 2, "version 1"),
        (["version"], True, "version 1"),
        (["surplus"], 1, "unknown .'surplus'"),
        (["lower"], "99", "must be a list"),
        (["lower"], [99, 1, 0, 0, None], "finite numbers"),
        (["lower"], [99, 1, 0, 0, True], "finite numbers"),
        (["lower"], [99, 1, 0, 0, float("nan")], "finite numbers"),
        (["upper", 0], float("inf"), "finite numbers"),
        (["upper", 0], 10**400, "finite numbers"),
        (["upper", 0], 98, "lower must be <= upper"),
        (["upper"], [1], "same length"),
        (["grids", 1, "count"], 2.0, "integers"),
        (["grids", 1, "count"], 2**60, "1 to 2"),
        (["grids", 1, "step"], -1, "step"),
        (["grids", 1], {"values": [2, 1]}, "strictly increasing"),
        (["grids", 1], {"first": 1}, "missing"),
        (["grids", 1], 3, "expected a dict"),
        (["one_hot"], [[0.5]], "integers"),
        (["one_hot"], [[9]], "0..4"),
        (["A", 0], [1.0], "shape"),
        (["A"], [[1.0], [1.0, 2.0]], "real numbers"),
        (["b"], [], "shape"),
    ],
)
def test_altered_domains_are_refused(path: list[Any], value: Any, message: str) -> None:
    with pytest.raises(FileFormatError, match=message):
        Domain.from_dict(changed(DOMAIN.to_dict(), path, value))


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (["format"], None, "format"),
        (["named"], 1, "true or false"),
        (["named"], False, "continuous and called x0"),
        (["dimensions"], [], "at least one"),
        (["dimensions"], {}, "must be a list"),
        (["dimensions", 0], "lr", "one of the kinds"),
        (["dimensions", 0, "kind"], "Real", "one of the kinds"),
        (["dimensions", 0, "kind"], ["real"], "one of the kinds"),
        (["dimensions", 0, "lower"], -1, "lower > 0"),
        (["dimensions", 0, "lower"], "1e-4", "real number"),
        (["dimensions", 0, "extra"], 0, "unknown"),
        (["dimensions", 1, "lower"], 1.5, "whole"),
        (["dimensions", 1, "name"], "x", "more than once"),
        (["dimensions", 2, "levels"], "relu", "sequence"),
        (["dimensions", 2, "levels"], [None, 3], "strings"),
        (["constraints", 0, "sense"], "<", "sense"),
        (["constraints", 0, "bound"], "9", "finite numbers"),
        (["constraints", 0, "terms"], [], "at least one"),
        (["constraints", 0, "terms", 0], ["x"], "stored term"),
        (["constraints", 0, "terms", 0], [["x"], 1.0], "stored term"),
        (["constraints", 0, "terms", 0], ["y", 1.0], "must name dimensions"),
        (["constraints", 0, "terms", 0], ["lr", 1.0], "logarithmic"),
        (["constraints", 1, "terms", 0], ["act", [], 1.0], "stored term"),
        (["constraints", 0, "terms", 0, 1], None, "stored term"),
        (["constraints", 0, "terms", 0, 1], True, "finite numbers"),
        (["constraints", 0, "terms"], [["x", 1.0], ["x", 2.0]], "once"),
        (["constraints", 0], 3, "expected a dict"),
    ],
)
def test_altered_spaces_are_refused(path: list[Any], value: Any, message: str) -> None:
    with pytest.raises(FileFormatError, match=message):
        Space.from_dict(changed(SPACE.to_dict(), path, value))


@pytest.mark.parametrize("data", [None, 3, [], {}, "text"])
def test_what_is_no_dict_is_refused(data: Any) -> None:
    with pytest.raises(FileFormatError, match="expected a dict with format"):
        Space.from_dict(data)
    with pytest.raises(FileFormatError, match="expected a dict with format"):
        Domain.from_dict(data)
