"""Ordinals: tables of values as one coordinate, by rank, by value or by logarithm."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from nnbo_mip.core.errors import InputError
from nnbo_mip.loop.designs.spread import Uniform
from nnbo_mip.space import Categorical, LinearConstraint, Ordinal, Real, Space

BATCH = [16, 32, 64, 256]


@pytest.mark.parametrize(
    ("log", "places"),
    [
        (None, [-1.0, -1.0 / 3.0, 1.0 / 3.0, 1.0]),
        (False, [-1.0, -1.0 + 2.0 * 16 / 240, -1.0 + 2.0 * 48 / 240, 1.0]),
        (True, [-1.0, -0.5, 0.0, 1.0]),
    ],
)
def test_models_see_ranks_or_numbers_or_logarithms(log: bool | None, places: list[float]) -> None:
    space = Space([Ordinal("batch", BATCH, log=log)])
    points = [{"batch": level} for level in BATCH]
    assert np.allclose(space.encode(points)[:, 0], places, atol=1e-12)
    assert space.decode(space.encode(points)) == points
    assert space.to_numeric(points)[:, 0].tolist() == BATCH
    assert np.array_equal(space.encode(space.decode(space.encode(points))), space.encode(points))


def test_labels_have_ranks_and_come_back_as_they_were_given() -> None:
    space = Space([Ordinal("size", ["small", "medium", "large"]), Ordinal("mixed", [True, "a", 2])])
    x = {"size": "medium", "mixed": 2}
    assert space.to_numeric(x).tolist() == [[1.0, 2.0]]
    assert space.encode(x).tolist() == [[0.0, 1.0]]
    assert space.decode([0.3, 0.9]) == x
    assert space.clip(x) == x
    assert type(space.decode([0.0, -1.0])["mixed"]) is bool


def test_numbers_that_lost_digits_are_meant_as_the_level() -> None:
    rate = Ordinal("rate", [0.1, 0.3, 1])
    assert rate.checked(np.float32(0.1)) == 0.1
    assert type(rate.checked(1.0)) is int
    assert rate.clipped(0.7) == 1
    assert rate.clipped(-5) == 0.1
    with pytest.raises(InputError, match=r"must be one of \[0.1, 0.3, 1\]; got 0.2; the nearest"):
        rate.checked(0.2)
    with pytest.raises(InputError, match="must be a real number; got True"):
        rate.checked(True)


def test_a_single_level_is_a_fixed_side() -> None:
    space = Space([Ordinal("one", [7]), Ordinal("word", ["a"]), Real("x", 0.0, 1.0)])
    assert space.encode({"one": 7, "word": "a", "x": 1.0}).tolist() == [[0.0, 0.0, 1.0]]
    assert space.sample(1, seed=0)[0]["word"] == "a"
    with pytest.raises(InputError, match="got 8"):
        space.encode({"one": 8, "word": "a", "x": 1.0})


def test_samples_have_all_levels_equally_often() -> None:
    space = Space([Ordinal("a", BATCH), Ordinal("b", BATCH, log=True), Ordinal("c", list("xyz"))])
    points = space.sample(3000, seed=1)
    for name, levels in (("a", BATCH), ("b", BATCH), ("c", list("xyz"))):
        counts = [sum(point[name] == level for point in points) for level in levels]
        assert min(counts) > 3000 / len(levels) - 150


def test_constraints_count_numbers_where_models_see_them() -> None:
    rows = LinearConstraint({"batch": 1.0, "x": 100.0}, "<=", 80.0)
    space = Space([Ordinal("batch", BATCH, log=False), Real("x", 0.0, 1.0)], rows)
    points = space.sample(50, seed=0)
    assert all(point["batch"] + 100.0 * point["x"] <= 80.0 + 1e-6 for point in points)
    assert {point["batch"] for point in points} == {16, 32, 64}
    design = Uniform(n=20).points(space, seed=0)
    assert space.model().admissible(design).all()
    with pytest.raises(InputError, match="ranks: say log=False"):
        Space([Ordinal("batch", BATCH), Real("x", 0.0, 1.0)], rows)


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (lambda: Ordinal("b", [16, 64, 32]), "must increase; got 64 before 32; sort them"),
        (lambda: Ordinal("b", [16, 32, 32]), "must be distinct; got 32 more than once"),
        (lambda: Ordinal("b", ["s", "m", "s"]), "must be distinct; got 's' more than once"),
        (lambda: Ordinal("b", []), "at least one level; got none"),
        (lambda: Ordinal("b", "small"), "must be a sequence; got 'small'"),
        (lambda: Ordinal("b", [1, float("nan")]), "strings, numbers or booleans; got nan"),
        (lambda: Ordinal("b", [1, float("inf")]), "must be finite; got inf"),
        (lambda: Ordinal("b", [0, 1], log=True), "needs levels > 0; got 0"),
        (lambda: Ordinal("b", ["s", "m"], log=True), "needs levels that are numbers"),
        (lambda: Ordinal("b", [1, 2], log=2), "must be True, False or left out; got 2"),  # type: ignore[arg-type]
        (lambda: Ordinal("", [1, 2]), "non-empty string"),
    ],
)
def test_bad_tables_are_refused_in_one_sentence(made: Any, message: str) -> None:
    with pytest.raises(InputError, match=message) as refused:
        made()
    assert "\n" not in str(refused.value)


def test_ordinals_survive_dicts_and_files() -> None:
    space = Space([Ordinal("batch", BATCH, log=True), Ordinal("size", ["s", "m"])])
    again = Space.from_dict(space.to_dict())
    assert again == space
    assert again.dimensions == space.dimensions
    assert again != Space([Ordinal("batch", BATCH), Ordinal("size", ["s", "m"])])
    assert repr(space) == "Space([Ordinal('batch', [16, 32, 64, 256], log=True), " + (
        "Ordinal('size', ['s', 'm'])])"
    )


def test_spaces_without_them_have_the_fingerprints_they_had() -> None:
    space = Space([Real("x", 0.0, 1.0), Categorical("c", ["a", "b"])])
    assert space.to_dict()["dimensions"] == [
        {"kind": "real", "name": "x", "lower": 0.0, "upper": 1.0, "log": False, "step": None},
        {"kind": "categorical", "name": "c", "levels": ["a", "b"]},
    ]
