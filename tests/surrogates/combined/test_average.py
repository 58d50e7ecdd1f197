"""Averages of surrogates: the contract, weights by held-out values, mixtures of mixtures."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import nnbo_mip as nm
from nnbo_mip.core.errors import InputError
from nnbo_mip.surrogates.combined.average import Average, stacked
from nnbo_mip.testing.surrogate_contract import SurrogateContract, sample

QUICK = ("brvfl:n_hidden=10", "kde:candidates=8")


class TestAverage(SurrogateContract):
    def make(self, **options: Any) -> Average:
        return Average(QUICK, folds=2, **options)


class TestWithMembers(SurrogateContract):
    def make(self, **options: Any) -> Average:
        return Average(("empirical", "elm:n_members=3"), folds=2, **options)


def test_weights_maximize_the_density_of_held_out_values() -> None:
    logs = np.random.default_rng(0).normal(size=(40, 3))

    def score(weights: Any) -> float:
        return float(np.log(np.exp(logs) @ weights).sum())

    best = stacked(logs)
    assert best.sum() == pytest.approx(1.0)
    for other in np.random.default_rng(1).dirichlet(np.ones(3), 300):
        assert score(best) >= score(other) - 1e-9


def test_who_knows_better_gets_the_weight() -> None:
    assert stacked(np.array([[0.0, -50.0], [0.0, -40.0]])) == pytest.approx([1.0, 0.0])
    X, y = sample(40, 2)
    belief = Average(("gp:n_restarts=1", "empirical")).fit(X, y)
    assert belief.weights[0] > 0.99


def test_levels_of_values_and_smooth_ones_are_both_seen() -> None:
    """Where values jump between two levels the kernel density is heard."""
    rng = np.random.default_rng(2)
    X = rng.uniform(-1.0, 1.0, (60, 1))
    y = np.where(rng.uniform(size=60) < 0.5, 1.0, -1.0) + 0.05 * X[:, 0]
    belief = Average(("gp:noise=0.1,noise_bounds=(1e-4,2.0),n_restarts=1", "kde")).fit(X, y)
    assert belief.weights[1] > 0.8


def test_a_loop_takes_it(tmp_path: Any) -> None:
    result = nm.optimize(
        lambda x: float((x[0] - 0.3) ** 2),
        [(-1.0, 1.0)],
        n_evals=8,
        surrogate={"name": "average", "members": list(QUICK), "folds": 2},
        acquisition="ei_mixture",
        maximizer="random:evaluations=200",
        initial=5,
        journal=tmp_path / "run.db",
        seed=0,
    )
    assert result.fun < 0.05
    assert nm.BayesianOptimizer.open(tmp_path / "run.db").settings.surrogate.name == "average"


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"members": ("gp",)}, "two or more"),
        ({"members": "gp"}, "two or more"),
        ({"members": ("gp", "kdee")}, "did you mean 'kde'"),
        ({"folds": 1}, "folds"),
        ({"seed": -1}, "seed"),
    ],
)
def test_options_that_are_none_are_refused(options: dict[str, Any], match: str) -> None:
    with pytest.raises(InputError, match=match):
        Average(**options)
