"""Points that a belief draws itself: where they are, what they find, and who is refused."""

from __future__ import annotations

import numpy as np
import pytest

import nnbo_mip as nm
from nnbo_mip.core.errors import UncertifiedWarning, UnsupportedError
from nnbo_mip.maximizers import Request, Target, create
from nnbo_mip.surrogates import Belief
from nnbo_mip.surrogates.ratios.estimators.parzen import Parzen
from nnbo_mip.testing.maximizer_contract import DOMAINS, members

SQUARE = nm.Domain([-1.0, -1.0], [1.0, 1.0])


def belief(**options: object) -> Belief:
    X = np.random.default_rng(0).uniform(-1.0, 1.0, (40, 2))
    return nm.surrogates.create("tpe", **options).fit(X, -np.square(X - 0.4).sum(axis=1))


def target(domain: nm.Domain, learned: Belief) -> Target:
    return Target(nm.acquisitions.create("ratio").scorer(learned), domain)


@pytest.mark.parametrize("where", DOMAINS)
def test_the_point_is_admissible_and_its_value_is_its_score(where: str) -> None:
    asked = target(DOMAINS[where], belief())
    found = create("candidates").maximize(asked, Request(seed=3))
    assert found.x is not None
    assert asked.domain.admissible(found.x[None, :])[0]
    assert found.value == asked.score(found.x[None, :])[0]
    assert found.status == "heuristic"
    assert found.evaluations <= 24


def test_the_best_of_them_is_taken() -> None:
    learned = belief()
    drawn = learned.candidates(24, 5)
    found = create("candidates").maximize(target(SQUARE, learned), Request(seed=5))
    best = drawn[learned.latent().mean(drawn).argmax()]
    np.testing.assert_array_equal(found.x, best)


def test_observed_points_are_none_of_them() -> None:
    learned = belief()
    known = np.array([[0.4, 0.4]])
    found = create("candidates:evaluations=1").maximize(
        target(SQUARE, learned), Request(seed=1, starts=known)
    )
    assert not np.array_equal(found.x, known[0])


def test_they_follow_the_density_of_good_points() -> None:
    density = Parzen.of(np.array([[-0.9, 0.2], [0.5, 0.8], [0.6, -1.0]]), 0.4, 1.0)
    points = density.sample(40_000, np.random.default_rng(0))
    assert np.abs(points).max() <= 1.0
    edges = np.linspace(-1.0, 1.0, 6)
    counts, *_ = np.histogram2d(points[:, 0], points[:, 1], bins=[edges, edges])
    fine = np.linspace(-1.0, 1.0, 251)[:-1] + 0.004
    mesh = np.stack(np.meshgrid(fine, fine, indexing="ij"), axis=-1)
    mass = np.exp(density.log_density(mesh.reshape(-1, 2))).reshape(5, 50, 5, 50).mean(axis=(1, 3))
    expected = len(points) * mass * 0.16
    assert np.abs(counts - expected).max() < 5.0 * np.sqrt(expected.max())


def test_auto_takes_them() -> None:
    with pytest.warns(UncertifiedWarning):
        found = create("auto").maximize(target(SQUARE, belief()), Request(seed=5))
    assert found.maximizer == "candidates"


def test_beliefs_that_draw_none_are_refused() -> None:
    asked = Target(nm.acquisitions.create("ucb").scorer(members()), SQUARE)
    with pytest.raises(UnsupportedError, match='take the surrogate "tpe"'):
        create("candidates").maximize(asked, Request())


@pytest.mark.filterwarnings("ignore::nnbo_mip.core.errors.UncertifiedWarning")
def test_runs_are_better_than_random_points() -> None:
    problem = nm.problems.create("branin")
    ratios, random = [], []
    for seed in range(5):
        start = problem.space.sample(10, np.random.default_rng(seed))
        found = nm.optimize(
            problem,
            problem.space,
            60,
            surrogate="tpe",
            initial={"name": "given", "given": start.tolist()},
            seed=seed,
        )
        ratios.append(found.fun - problem.optimum)
        points = problem.space.sample(60, np.random.default_rng(seed))
        random.append(min(problem.evaluate(x) for x in points) - problem.optimum)
    assert np.median(ratios) < 0.3 * np.median(random)
