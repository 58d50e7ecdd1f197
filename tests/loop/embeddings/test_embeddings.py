"""Embeddings: models see few coordinates, users their own; what was asked is matched to both."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nnbo_mip as nm
from nnbo_mip.loop.embeddings.embeddings import embedding_of
from nnbo_mip.loop.optimizer import BayesianOptimizer
from nnbo_mip.space import Categorical, Integer, Real, Space
from nnbo_mip.space.embedded.embedded_space import EmbeddedSpace
from tests.loop.runs import advance, figures, optimizer, same

WIDE = Space.box([-3.0] * 12, [5.0] * 12)

MIXED = Space(
    [
        Real("rate", 1e-4, 1e-1, log=True),
        Integer("layers", 1, 9),
        Real("fixed", 2.5, 2.5),
        Real("step", 0.0, 1.0, step=0.125),
        Real("free", -1.0, 3.0),
    ]
)

EVERY = ["hashed:dimension=3", "rembo:dimension=3"]


def few(x: Any) -> float:
    """Return a value that depends on two of the coordinates."""
    return float((x[2] - 1.0) ** 2 + (x[7] + 0.5) ** 2)


def made(spec: str, space: Space = WIDE, seed: int = 0) -> EmbeddedSpace:
    embedded = embedding_of(spec).embedded(space, seed)
    assert embedded is not None
    return embedded


def test_hashed_sides_follow_one_coordinate_each_up_to_a_sign() -> None:
    matrix = made("hashed:dimension=5").matrix
    assert set(matrix.ravel()) == {-1.0, 0.0, 1.0}
    assert np.abs(matrix).sum(axis=1).tolist() == [1.0] * 12
    assert sorted(np.abs(matrix).sum(axis=0).tolist()) == [2.0, 2.0, 2.0, 3.0, 3.0]
    signs = [made("hashed:dimension=5", seed=seed).matrix.sum() for seed in range(100)]
    assert abs(np.mean(signs)) < 4.0 * np.sqrt(12.0 / 100.0)
    together = [
        bool((np.abs(made("hashed:dimension=5", seed=seed).matrix)[[2, 7]].sum(axis=0) == 2).any())
        for seed in range(200)
    ]
    # Of 66 pairs, 2 * 3 + 3 * 1 share a bucket.
    assert abs(np.mean(together) - 9.0 / 66.0) < 4.0 * np.sqrt(0.12 / 200.0)


def test_rembo_has_normal_directions_and_clips() -> None:
    matrix = made("rembo:dimension=4", Space.box([0.0] * 500, [1.0] * 500)).matrix
    assert abs(matrix.mean()) < 4.0 * 2.0 / np.sqrt(matrix.size)
    assert matrix.var() == pytest.approx(4.0, rel=4.0 * np.sqrt(2.0 / matrix.size))  # sqrt(e) A
    embedded = made("rembo:dimension=3")
    z = np.array([0.9, -0.2, 0.4])
    lifted = embedded.lift(z)[0]
    assert lifted == pytest.approx(np.clip(embedded.matrix @ z, -1.0, 1.0), abs=1e-15)
    assert embedded.decode(z) == pytest.approx(1.0 + 4.0 * lifted)


def test_one_point_and_a_batch_have_the_same_images_to_the_last_bit() -> None:
    for spec in EVERY:
        embedded = made(spec)
        Z = np.random.default_rng(0).uniform(-1.0, 1.0, (50, 3))
        assert (embedded.lift(Z) == np.concatenate([embedded.lift(z) for z in Z])).all()


@pytest.mark.parametrize("spec", EVERY)
@pytest.mark.parametrize("seed", [0, 1])
def test_images_are_recognized_and_other_points_refused(spec: str, seed: int) -> None:
    embedded = made(spec, seed=seed)
    Z = np.random.default_rng(seed).uniform(-0.2, 0.2, (20, 3))
    X = embedded.decode(Z)
    assert embedded.encode(X) == pytest.approx(Z, abs=1e-9)
    with pytest.raises(nm.InputError, match=r"image of a point of the embedding; .* in 'x\d+'"):
        embedded.encode(X[0] + 0.01 * np.eye(12)[4])


def test_images_that_were_clipped_are_recognized_where_enough_is_left() -> None:
    embedded = made("rembo:dimension=2")
    Z = np.random.default_rng(3).uniform(-0.7, 0.7, (30, 2))
    lifted = embedded.lift(Z)
    left = (np.abs(lifted) < 1.0).sum(axis=1)
    assert (left < 12).sum() > 10
    clipped = (left >= 2) & (left < 12)
    assert clipped.sum() > 5
    assert embedded.encode(embedded.decode(Z[clipped])) == pytest.approx(Z[clipped], abs=1e-8)
    ends = made("hashed:dimension=3").decode([1.0, -1.0, 0.5])
    assert made("hashed:dimension=3").encode(ends) == pytest.approx(np.array([[1.0, -1.0, 0.5]]))


def test_integers_steps_logarithms_and_fixed_sides() -> None:
    embedded = made("hashed:dimension=2", MIXED)
    assert embedded.matrix[2].tolist() == [0.0, 0.0]
    Z = np.random.default_rng(1).uniform(-1.0, 1.0, (40, 2))
    model = MIXED.model()
    for z, x in zip(Z, embedded.decode(Z), strict=True):
        place = MIXED.encode(x)[0]
        assert model.admissible(place[None])[0]
        lifted = embedded.lift(z)[0]
        assert x["fixed"] == 2.5
        assert place[0] == pytest.approx(lifted[0])  # logarithmic in x, linear here
        assert abs(place[1] - lifted[1]) <= 0.125 * (1.0 + 1e-9)  # half a step of layers
        assert abs(place[3] - lifted[3]) <= 0.125 * (1.0 + 1e-9)
        assert place[4] == pytest.approx(lifted[4])
    inner = Z[np.abs(Z).max(axis=1) < 0.9]
    assert embedded.encode(embedded.decode(inner)) == pytest.approx(inner, abs=1e-9)


def test_what_has_no_lines_or_rows_is_refused() -> None:
    with pytest.raises(nm.InputError, match=r"numbers only, .* got Categorical\('act'"):
        optimizer(
            Space([Real("a", 0, 1), Categorical("act", ["x", "y"])]), embedding="hashed:dimension=2"
        )
    rows = Space.box(
        [0.0, 0.0], [1.0, 1.0], [nm.LinearConstraint({"x0": 1.0, "x1": 1.0}, "<=", 1.0)]
    )
    with pytest.raises(nm.InputError, match="takes no constraints"):
        optimizer(rows, embedding="hashed:dimension=1")
    with pytest.raises(nm.InputError, match="as the space has sides, 4; got 5"):
        optimizer(MIXED, embedding="hashed:dimension=5")
    for spec, said in [("hashd", "did you mean 'hashed'"), ("rembo:dimension=0", "dimension must")]:
        with pytest.raises(nm.InputError, match=said):
            optimizer(WIDE, embedding=spec)


@pytest.mark.parametrize("spec", EVERY)
def test_a_run_learns_in_the_embedding_and_answers_in_the_space(spec: str) -> None:
    run = optimizer(WIDE, embedding=spec, initial=5, seed=2)
    asked = advance(run, 12, few)
    embedded = run.settings.embedded
    assert embedded is not None
    for one, told in zip(asked, run.history, strict=True):
        assert one.x.shape == (12,)
        assert one.z is not None
        assert same(one.x, embedded.decode(one.z))
        assert same(told.z, one.z)
    assert asked[-1].status == "heuristic"
    assert np.isfinite(asked[-1].mean)
    assert "an embedding of 3 coordinates" in str(asked[-1])


def test_the_size_of_models_is_that_for_the_embedding() -> None:
    wide = Space.box([0.0] * 20, [1.0] * 20)
    assert BayesianOptimizer(wide, "nomu").settings.surrogate.hidden == (16,)  # type: ignore[attr-defined]
    run = BayesianOptimizer(wide, "nomu", embedding="hashed:dimension=4")
    assert run.settings.surrogate.hidden == (32, 32)  # type: ignore[attr-defined]
    assert len(run.settings.initial.points(run.settings.search)) == 7  # 3 + e


def test_what_is_proven_is_proven_of_the_embedding() -> None:
    run = optimizer(WIDE, embedding="rembo:dimension=2", maximizer="bab")
    asked = advance(run, 6, few)[-1]
    assert asked.status == "optimal"
    assert asked.proposal is not None
    objective = asked.proposal.objective
    assert objective is not None
    Z = np.random.default_rng(0).uniform(-1.0, 1.0, (3000, 2))
    assert objective.score(Z).max() <= asked.bound
    assert asked.z is not None
    assert float(objective.score(asked.z)[0]) == pytest.approx(asked.value, rel=1e-9)
    assert asked.check().confirmed


@pytest.mark.parametrize("spec", EVERY)
def test_a_run_is_resumed_to_the_last_bit(tmp_path: Path, spec: str) -> None:
    options: dict[str, Any] = {"embedding": spec, "region": "trust:length=0.4", "seed": 7}
    whole = [figures(one) for one in advance(optimizer(WIDE, **options), 9, few)]
    path = tmp_path / "run.db"
    first = optimizer(WIDE, journal=path, **options)
    advance(first, 6, few)
    asked = first.ask()
    resumed = BayesianOptimizer.open(path)
    again = resumed.ask()
    assert figures(again) == figures(asked) == whole[6]
    resumed.tell(np.float32(again.x), few(again.x))  # digits are lost on the way
    assert resumed.pending == ()
    assert same(resumed.history[-1].z, asked.z)
    resumed = BayesianOptimizer.open(path)
    assert resumed.settings.embedded is not None
    assert first.settings.embedded is not None
    assert same(resumed.settings.embedded.matrix, first.settings.embedded.matrix)
    assert same(resumed.history[-1].z, asked.z)


def test_told_points_are_told_again_or_are_images_or_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    run = optimizer(WIDE, embedding="rembo:dimension=2", journal=path, seed=1)
    asked = advance(run, 4, few)
    embedded = run.settings.embedded
    assert embedded is not None
    corner = next(
        one for one in asked if one.z is not None and np.abs(embedded.lift(one.z)).max() == 1.0
    )
    run.tell(corner.x, 3.0)  # clipped, and known all the same
    assert same(run.history[-1].z, corner.z)
    z = np.array([0.05, -0.1])
    run.tell(embedded.decode(z), 2.0)
    assert run.history[-1].z == pytest.approx(z)
    with pytest.raises(nm.InputError, match="must be the image of a point of the embedding"):
        run.tell(np.linspace(-3.0, 5.0, 12), 1.0)
    with pytest.raises(nm.InputError, match="must be the image"):
        run.tell_table((np.linspace(-3.0, 5.0, 12)[None], [1.0]))
    with pytest.raises(nm.InputError, match="must be the image"):
        optimizer(WIDE, embedding="rembo:dimension=2", initial=[np.linspace(-3.0, 5.0, 12)])
    assert len(run.history) == 6
    stored = BayesianOptimizer.open(path)
    assert [told.z.tolist() for told in stored.history] == [told.z.tolist() for told in run.history]


def test_given_points_may_be_images() -> None:
    embedded = made("hashed:dimension=3", seed=0)
    free = optimizer(WIDE, embedding="hashed:dimension=3").settings.embedded
    assert free is not None
    x = free.decode([0.25, -0.5, 0.75])
    run = optimizer(WIDE, embedding="hashed:dimension=3", initial=[x])
    assert run.ask().x == pytest.approx(x)
    assert embedded.dimension == 3


def test_batches_failures_and_escape_under_an_embedding() -> None:
    run = optimizer(WIDE, embedding="hashed:dimension=3", escape="exclude:first=0.05,last=0.05")
    advance(run, 5, few)
    batch = run.ask(3)
    Z = np.array([one.z for one in batch] + [told.z for told in run.history])
    apart = np.abs(Z[:, None] - Z).max(axis=2) + np.eye(len(Z))
    assert apart.min() >= 0.05 * (1.0 - 1e-12)
    run.tell(batch, [None] * 3, failed=[True] * 3)
    assert run.ask().number == 8


def test_a_hundred_dimensions_through_a_few() -> None:
    """The optimum of a function of two variables is found though 98 others are there."""
    problem = nm.problems.create("embedded:problem=branin,dimension=100,coordinates=(19,64)")
    run = optimizer(
        problem.space,
        embedding="hashed:dimension=4",
        surrogate="gp:ard=True",
        maximizer="lbfgs:weak",
        initial=8,
        warp=None,
        seed=2,
    )
    advance(run, 24, problem)
    spread = problem.evaluate(problem.space.sample(24 * 200, seed=0)).reshape(200, 24)
    assert run.best is not None
    assert run.best.y is not None
    assert run.best.y < np.quantile(spread.min(axis=1), 0.02)  # 24 random points, 200 times
    assert run.best.y < problem.optimum + 0.1
