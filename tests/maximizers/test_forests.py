"""Random forests through the public doors: maximize, certificates, files, runs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import nnbo_mip as nm
from nnbo_mip.core.errors import UnsupportedError
from nnbo_mip.scores.objective import Objective
from nnbo_mip.surrogates import Belief
from nnbo_mip.testing.surrogate_contract import sample

DOMAIN = nm.Space.box([-1.0, -0.75], [0.5, 1.0]).model()
ACQUISITIONS = (
    *("mean", "ucb:beta=2", "ts", "ei", "logei", "pi", "mes", "aei:noise=0.1", "eqi:noise=0.1"),
    *("empirical_ei:xi=-0.5", "empirical_pi"),
)


def forest() -> tuple[Belief, np.ndarray, np.ndarray]:
    X, y = sample(25, 2)
    return nm.surrogates.create("random_forest", n_trees=12, seed=0).fit(X, y), X, y


@pytest.mark.parametrize("acquisition", ACQUISITIONS)
def test_every_acquisition_is_certified_and_no_sample_is_better(acquisition: str) -> None:
    belief, X, y = forest()
    if acquisition.startswith("empirical_ei"):
        acquisition = f"empirical_ei:incumbent={y.max() - 0.5}"
    proposal = nm.maximize(belief, acquisition, DOMAIN, X=X, y=y)
    assert proposal.status == "optimal"
    assert proposal.kind == "rigorous"
    scorer = nm.acquisitions.create(acquisition).scorer(belief, X, y)
    points = np.random.default_rng(0).uniform(DOMAIN.lower, DOMAIN.upper, (5000, 2))
    scores = scorer.score(points)
    assert scores.max() <= (np.exp(proposal.bound) if proposal.head == "logpi" else proposal.bound)
    found = nm.maximize(belief, acquisition, DOMAIN, X=X, y=y, maximizer="random")
    assert found.value <= proposal.bound


def test_an_integer_program_proves_the_mean_and_refuses_the_rest() -> None:
    belief, _, y = forest()
    by_boxes = nm.maximize(belief, "mean", DOMAIN)
    by_program = nm.maximize(belief, "mean", DOMAIN, maximizer="mip")
    assert by_program.status == by_boxes.status == "optimal"
    assert by_program.value == by_boxes.value
    assert by_program.kind == "solver"
    with pytest.raises(UnsupportedError, match="sequence of linear problems"):
        nm.maximize(belief, "ei", DOMAIN, y=y, maximizer="mip")
    with pytest.raises(UnsupportedError, match="not enumerated"):
        nm.maximize(belief, "mean", DOMAIN, maximizer="enumerate")


def test_a_wider_belief_has_wider_members() -> None:
    belief, _, y = forest()
    wide = belief.scaled(2.0)
    points = np.random.default_rng(0).uniform(-1.0, 1.0, (20, 2))
    np.testing.assert_allclose(wide.members(points).mean(axis=1), belief.mean(points))
    assert nm.maximize(wide, f"empirical_ei:incumbent={y.max()}", DOMAIN).status == "optimal"


def test_an_objective_on_trees_comes_back_from_its_file(tmp_path: Path) -> None:
    belief, _, y = forest()
    proposal = nm.maximize(belief, "ei", DOMAIN, y=y)
    assert proposal.objective is not None
    proposal.objective.save(tmp_path / "trees.npz")
    loaded = Objective.load(tmp_path / "trees.npz")
    assert loaded.fingerprint == proposal.objective.fingerprint
    points = np.random.default_rng(0).uniform(-1.0, 1.0, (20, 2))
    assert np.array_equal(loaded.score(points), proposal.objective.score(points))


def test_a_run_over_integers_and_categories_is_proven() -> None:
    space = nm.Space(
        [nm.Real("u", 0.0, 3.0), nm.Integer("k", 1, 6), nm.Categorical("c", ["a", "b", "z"])],
        constraints=[nm.LinearConstraint({"u": 2.0, "k": 1.0}, "<=", 8.0)],
    )
    cost = {"a": 1.0, "b": 0.0, "z": 2.0}

    def bowl(x: dict[str, object]) -> float:
        return (float(x["u"]) - 1.3) ** 2 + (int(x["k"]) - 3) ** 2 + cost[str(x["c"])]

    surrogate = {"name": "random_forest", "n_trees": 8}
    result = nm.optimize(bowl, space, n_evals=16, surrogate=surrogate, seed=0)
    assert {step.status for step in result.steps} == {"optimal"}
    assert all(2.0 * o.x["u"] + o.x["k"] <= 8.0 + 1e-8 for o in result.history)
    made = nm.BayesianOptimizer(space, surrogate=surrogate, maximizer="mip", acquisition="mean")
    assert made.ask().status == "initial"
    with pytest.raises(UnsupportedError, match="needs networks"):
        nm.BayesianOptimizer(space, surrogate=surrogate, maximizer="enumerate")
