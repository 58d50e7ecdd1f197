"""The learned embedding: a bent surface is found, runs stay on it, journals make it again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nnbo_mip as nm
from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.loop.embeddings.autoencoder import Autoencoder
from nnbo_mip.loop.embeddings.embeddings import embedding_of
from nnbo_mip.space import Categorical, Integer, Real, Space
from tests.loop.runs import advance, figures, optimizer, same

SIDES = 12
SPACE = Space.box([-3.0] * SIDES, [5.0] * SIDES)
TURNS = np.random.default_rng(5).uniform(-1.6, 1.6, (2, SIDES))
SHIFTS = np.random.default_rng(6).uniform(-1.0, 1.0, SIDES)
QUICK: dict[str, Any] = {"dimension": 2, "hidden": 16, "epochs": 400, "learning_rate": 0.02}


def surface(t: FloatArray) -> FloatArray:
    """Return points (n, 12) of a bent surface of two dimensions, in the user's units."""
    return np.asarray(1.0 + 4.0 * 0.8 * np.sin(t @ TURNS + SHIFTS))


EXAMPLES = surface(np.random.default_rng(7).uniform(-1.0, 1.0, (120, 2)))
FRESH = surface(np.random.default_rng(8).uniform(-0.9, 0.9, (40, 2)))
BEST = surface(np.array([[0.35, -0.4]]))[0]


def distance(x: Any) -> float:
    """Return how far a point is from one of the surface."""
    return float(np.square(np.asarray(x) - BEST).sum())


@pytest.fixture(scope="module")
def learned() -> Any:
    return Autoencoder(EXAMPLES, **QUICK).embedded(SPACE, seed=0)


def test_fresh_points_of_the_surface_are_reconstructed(learned: Any) -> None:
    model = SPACE.encode(FRESH)
    back = learned.lift(learned.codes(model))
    error = np.square(back - model).mean() / model.var(axis=0).mean()
    known = SPACE.encode(EXAMPLES)
    directions = np.linalg.svd(known - known.mean(axis=0))[2][:2]
    off = model - known.mean(axis=0)
    plane = np.square(off - off @ directions.T @ directions).mean() / model.var(axis=0).mean()
    assert error < 0.01
    assert error < 0.1 * plane  # what the principal components alone leave


def test_examples_lie_in_the_box_of_codes_and_reach_its_faces(learned: Any) -> None:
    codes = learned.codes(SPACE.encode(EXAMPLES))
    assert codes.min(axis=0) == pytest.approx([-1.0, -1.0])
    assert codes.max(axis=0) == pytest.approx([1.0, 1.0])
    assert learned.model().dimension == 2


def test_images_are_recognized_and_other_points_refused(learned: Any) -> None:
    Z = np.random.default_rng(1).uniform(-0.9, 0.9, (15, 2))
    X = learned.decode(Z)
    again = learned.decode(learned.encode(X))
    assert again == pytest.approx(X, abs=1e-5)
    with pytest.raises(nm.InputError, match="image of a point of the embedding"):
        learned.encode(X[0] + 0.5 * np.eye(SIDES)[4])


def test_one_point_and_a_batch_have_the_same_images_to_the_last_bit(learned: Any) -> None:
    Z = np.random.default_rng(0).uniform(-1.0, 1.0, (30, 2))
    assert (learned.lift(Z) == np.concatenate([learned.lift(z) for z in Z])).all()


def test_a_run_in_code_space_finds_what_a_run_in_the_space_does_not() -> None:
    options: dict[str, Any] = {"surrogate": "gp:n_restarts=0", "seed": 1, "initial": 6}
    options["region"] = "none"
    quick = {"maximizer": "lbfgs:raw_samples=64,starts=2"}
    embedding = Autoencoder(EXAMPLES, **QUICK)
    bent = nm.optimize(distance, SPACE, 14, embedding=embedding, **options, **quick)
    plain = nm.optimize(distance, SPACE, 14, **options, **quick)
    assert bent.fun < 0.5  # of up to some hundred
    assert bent.fun < 0.2 * plain.fun


def test_a_resumed_run_has_the_same_embedding_to_the_last_bit(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    embedding = Autoencoder(EXAMPLES[:40], dimension=2, hidden=4, epochs=20)
    whole = optimizer(SPACE, embedding=embedding, initial=3, seed=2)
    asked = advance(whole, 6, distance)
    begun = optimizer(SPACE, embedding=embedding, initial=3, seed=2, journal=path)
    advance(begun, 4, distance)
    rest = advance(nm.BayesianOptimizer.open(path), 2, distance)
    for one, other in zip(asked[4:], rest, strict=True):
        assert figures(one) == figures(other)
        assert same(one.x, other.x)


def test_it_is_described_and_made_again() -> None:
    space = Space([Real("a", 0.0, 1.0), Integer("n", 0, 40), Real("c", 1.0, 3.0)])
    rows = [{"a": k / 20, "n": 2 * k, "c": 1.0 + k / 10} for k in range(20)]
    given = {"name": "autoencoder", "examples": rows, "dimension": 1, "hidden": 4, "epochs": 50}
    embedding = embedding_of(given)
    assert embedding == embedding_of(given)
    embedded = embedding.embedded(space, 0)
    assert embedded is not None
    x = embedded.decode([0.2])
    assert isinstance(x["n"], int)
    assert x["n"] == pytest.approx(40 * x["a"], abs=1.5)  # the examples are a line


def test_equal_examples_are_one_point() -> None:
    embedded = Autoencoder([[1.0] * SIDES] * 5, dimension=2, epochs=5).embedded(SPACE, 0)
    assert embedded.decode([0.3, -0.7]) == pytest.approx(np.ones(SIDES), abs=1e-6)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"examples": "table"}, "examples must be a list"),
        ({"examples": [1.0, 2.0]}, "each example must be a point"),
        ({"dimension": 0}, "dimension"),
        ({"hidden": 0}, "hidden"),
        ({"epochs": 0}, "epochs"),
        ({"learning_rate": 0.0}, "learning_rate"),
    ],
)
def test_options_that_are_none_are_refused(options: dict[str, Any], match: str) -> None:
    with pytest.raises(nm.InputError, match=match):
        Autoencoder(**options)


def test_what_cannot_be_learned_is_refused() -> None:
    with pytest.raises(nm.InputError, match="more examples than its dimension, 2; got 0"):
        optimizer(SPACE, embedding="autoencoder")
    with pytest.raises(nm.InputError, match="as many dimensions as the space has sides, 12"):
        Autoencoder(EXAMPLES, dimension=13).embedded(SPACE, 0)
    with pytest.raises(nm.InputError, match="numbers only"):
        Autoencoder([{"act": "x"}], dimension=1).embedded(
            Space([Categorical("act", ["x", "y"])]), 0
        )
