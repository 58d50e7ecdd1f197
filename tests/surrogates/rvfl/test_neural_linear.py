"""Networks with a Bayesian last layer: the contract, the posterior, proofs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import nnbo_mip as nm
from nnbo_mip.core.errors import InputError
from nnbo_mip.surrogates.rvfl.bayesian_linear import Spectrum
from nnbo_mip.surrogates.rvfl.brvfl import Brvfl
from nnbo_mip.surrogates.rvfl.neural_linear import NeuralLinear
from nnbo_mip.surrogates.rvfl.trained_features import TrainedFeatures
from nnbo_mip.testing.surrogate_contract import SurrogateContract, sample
from tests.surrogates.rvfl.evidence import log_evidence


class TestTwoLayers(SurrogateContract):
    def make(self, **options: Any) -> NeuralLinear:
        return NeuralLinear(hidden=(10, 6), epochs=60, **options)


class TestOneLayerWithNoise(SurrogateContract):
    def make(self, **options: Any) -> NeuralLinear:
        return NeuralLinear(hidden=(8,), epochs=40, alpha=0.5, include_noise=True, **options)


def test_the_last_weights_have_the_posterior_of_a_linear_model() -> None:
    X, y = sample(30, 2)
    belief = NeuralLinear(hidden=(12, 7), epochs=80, alpha=0.3, beta=50.0).fit(X, y)
    psi = belief.features.evaluate(X)
    assert psi.shape == (30, 8)
    assert (psi[:, -1] == 1.0).all()
    v = (y - y.mean()) / y.std()
    covariance = np.linalg.inv(0.3 * np.eye(8) + 50.0 * psi.T @ psi)
    probes = np.random.default_rng(0).uniform(-1.0, 1.0, (20, 2))
    at = belief.features.evaluate(probes)
    mean = y.mean() + y.std() * at @ covariance @ (50.0 * psi.T @ v)
    np.testing.assert_allclose(belief.mean(probes), mean, rtol=1e-6)
    std = y.std() * np.sqrt(np.einsum("nk,kl,nl->n", at, covariance, at))
    np.testing.assert_allclose(belief.std(probes), std, rtol=1e-6)


def test_alpha_has_the_largest_evidence_nearby() -> None:
    X, y = sample(40, 2)
    belief = NeuralLinear(epochs=100).fit(X, y)
    spectrum = Spectrum.of(belief.features.evaluate(X), (y - y.mean()) / y.std())
    best = log_evidence(spectrum, belief.alpha, 1000.0)
    assert best >= log_evidence(spectrum, 1.05 * belief.alpha, 1000.0)
    assert best >= log_evidence(spectrum, 0.95 * belief.alpha, 1000.0)


def test_training_makes_features_that_explain_more_than_random_ones() -> None:
    X, y = sample(60, 2)
    probes, truth = sample(400, 2, seed=3)
    trained = NeuralLinear().fit(X, y)
    random = Brvfl(n_hidden=16).fit(X, y)
    errors = [np.sqrt(np.mean((b.mean(probes) - truth) ** 2)) for b in (trained, random)]
    assert errors[0] < 0.5 * errors[1]


@pytest.mark.parametrize("acquisition", ["mean", "ucb:beta=2", "ei"])
def test_acquisitions_are_certified_and_checked(acquisition: str) -> None:
    X, y = sample(20, 2)
    belief = NeuralLinear(hidden=(8, 6), epochs=100).fit(X, y)
    domain = nm.Space.box([-1.0, -0.5], [0.75, 1.0]).model()
    proposal = nm.maximize(belief, acquisition, domain, X=X, y=y, gap=1e-3)
    assert proposal.status == "optimal"
    points = np.random.default_rng(0).uniform(domain.lower, domain.upper, (3000, 2))
    scores = nm.acquisitions.create(acquisition).scorer(belief, X, y).score(points)
    assert scores.max() <= proposal.bound
    assert proposal.check().confirmed


def test_a_wide_layer_that_does_not_fit_is_refused() -> None:
    arrays = NeuralLinear(hidden=(4, 3), epochs=5).fit(*sample(6, 2)).features.to_arrays()
    arrays["W1"] = np.zeros((3, 5))
    with pytest.raises(ValueError, match="fit together"):
        TrainedFeatures.from_arrays(arrays)


@pytest.mark.parametrize("bad", [{"hidden": ()}, {"alpha": -1.0}, {"beta": 0.0}, {"epochs": 0}])
def test_options_that_are_none_are_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=next(iter(bad))):
        NeuralLinear(**bad)
