"""Ensembles of RVFL networks: the contract, and anchored MAP sampling against the posterior."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import nnbo_mip as nm
from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.errors import InputError
from nnbo_mip.surrogates.rvfl.bayesian_linear import Spectrum
from nnbo_mip.surrogates.rvfl.brvfl import Brvfl
from nnbo_mip.surrogates.rvfl.ervfl import Ervfl, anchored_weights
from nnbo_mip.surrogates.rvfl.evidence import learn_alpha
from nnbo_mip.surrogates.rvfl.features import RandomFeatures
from nnbo_mip.testing.surrogate_contract import SurrogateContract, sample

ALPHA, BETA = 2.0, 1000.0


class TestRelu(SurrogateContract):
    def make(self, **options: Any) -> Ervfl:
        return Ervfl(n_members=6, n_hidden=30, **options)


class TestReluWithDirectLink(SurrogateContract):
    def make(self, **options: Any) -> Ervfl:
        return Ervfl(n_members=5, n_hidden=20, direct_link=True, alpha=2.0, spread="mad", **options)


class TestTanhWithNoise(SurrogateContract):
    def make(self, **options: Any) -> Ervfl:
        return Ervfl(
            n_members=6,
            n_hidden=30,
            activation="tanh",
            include_noise=True,
            anchors="prior",
            **options,
        )


class TestVariance(SurrogateContract):
    def make(self, **options: Any) -> Ervfl:
        return Ervfl(n_members=5, n_hidden=20, spread="variance", **options)


class TestOneMember(SurrogateContract):
    def make(self, **options: Any) -> Ervfl:
        return Ervfl(n_members=1, n_hidden=20, direct_link=True, **options)


# -- anchored MAP sampling on shared features ---------------------------------------------


def shared_features(n: int, k: int) -> tuple[FloatArray, FloatArray]:
    """Return features (n, k) and values (n,)."""
    rng = np.random.default_rng(4)
    features = RandomFeatures.draw(k, 2, "relu", False, rng)
    u = rng.standard_normal((n, 2))
    return features.evaluate(u), np.sin(2.0 * u[:, 0]) - u[:, 1]


def exact_covariance(psi: FloatArray) -> FloatArray:
    return np.asarray(np.linalg.inv(ALPHA * np.eye(psi.shape[1]) + BETA * psi.T @ psi))


def members(psi: FloatArray, y: FloatArray, count: int, anchors: str = "posterior") -> FloatArray:
    """Return weights (count, k) of the package's sampler."""
    spectrum = Spectrum.of(psi, y)
    return np.array(
        [
            anchored_weights(psi, y, spectrum, ALPHA, BETA, anchors, np.random.default_rng(seed))
            for seed in range(count)
        ]
    )


def textbook_members(psi: FloatArray, y: FloatArray, lam: float, count: int) -> FloatArray:
    """Return MAP weights round anchors from N(0, lam I + lam^2 beta Psi^T Psi)."""
    k = psi.shape[1]
    rng = np.random.default_rng(0)
    anchor_covariance = lam * np.eye(k) + lam**2 * BETA * psi.T @ psi
    anchors = rng.multivariate_normal(np.zeros(k), anchor_covariance, count)
    right = ALPHA * anchors + BETA * psi.T @ y
    return np.asarray(right @ exact_covariance(psi))


def covariance_error(weights: FloatArray, exact: FloatArray) -> float:
    """Return the root-mean-square error of the entries, relative to the largest of them.

    The largest error would not tell: with 2000 draws an entry of the diagonal alone has a
    standard error of sqrt(2 / 2000) = 3 %.
    """
    error = np.cov(weights.T) - exact
    return float(np.sqrt(np.square(error).mean()) / exact.max())


SHAPES = pytest.mark.parametrize(("n", "k"), [(4, 8), (12, 8), (6, 30)])


@SHAPES
def test_the_weights_have_the_exact_posterior_covariance(n: int, k: int) -> None:
    psi, y = shared_features(n, k)
    exact = exact_covariance(psi)
    weights = members(psi, y, 2000)
    assert covariance_error(weights, exact) < 0.05
    mean = exact @ (BETA * psi.T @ y)
    assert np.abs(weights.mean(axis=0) - mean).max() < 0.1 * np.sqrt(exact.max())


@SHAPES
def test_the_covariance_converges_to_the_posteriors(n: int, k: int) -> None:
    psi, y = shared_features(n, k)
    assert covariance_error(members(psi, y, 20_000), exact_covariance(psi)) < 0.01


@SHAPES
def test_lam_must_be_one_over_alpha_and_not_alpha_over_beta(n: int, k: int) -> None:
    psi, y = shared_features(n, k)
    exact = exact_covariance(psi)
    assert covariance_error(textbook_members(psi, y, 1.0 / ALPHA, 2000), exact) < 0.05
    assert covariance_error(textbook_members(psi, y, ALPHA / BETA, 2000), exact) > 0.1


@SHAPES
def test_noise_on_the_values_is_the_same_as_the_wider_anchor(n: int, k: int) -> None:
    psi, y = shared_features(n, k)
    rng = np.random.default_rng(9)
    first, second = rng.standard_normal(k), rng.standard_normal(n)
    anchor = first / np.sqrt(ALPHA) + np.sqrt(BETA) / ALPHA * psi.T @ second
    expected = exact_covariance(psi) @ (ALPHA * anchor + BETA * psi.T @ y)
    spectrum = Spectrum.of(psi, y)
    found = anchored_weights(psi, y, spectrum, ALPHA, BETA, "posterior", np.random.default_rng(9))
    np.testing.assert_allclose(found, expected, atol=1e-8)


def test_anchors_from_the_prior_alone_are_narrower_than_the_posterior() -> None:
    psi, y = shared_features(12, 8)
    exact = exact_covariance(psi)
    weights = members(psi, y, 4000, anchors="prior")
    # (alpha Sigma) N(0, 1/alpha) has the covariance alpha Sigma^2.
    assert covariance_error(weights, ALPHA * exact @ exact) < 0.05
    assert np.trace(np.cov(weights.T)) < 0.9 * np.trace(exact)


# -- the ensemble -------------------------------------------------------------------------


def test_every_member_has_its_own_features_and_fits_the_data() -> None:
    X, y = sample(12, 2)
    belief = Ervfl(n_members=8).fit(X, y)
    assert belief.stack.weights[0].shape == (8, 300, 2)
    np.testing.assert_allclose(np.linalg.norm(belief.stack.weights[0], axis=2), 1.0)
    assert len(np.unique(belief.stack.biases[0])) == 8 * 300
    # Within the noise: the anchors make members differ at the data by 1/sqrt(beta).
    assert np.abs(belief.members(X) - y[:, None]).max() < 5.0 * belief.noise_std(X)[0]


def test_the_spread_is_about_that_of_the_bayesian_network() -> None:
    X, y = sample(15, 2)
    probes = np.random.default_rng(0).uniform(-1.5, 1.5, (200, 2))
    for options in ({}, {"direct_link": True}, {"activation": "tanh"}):
        exact = Brvfl(alpha=5.0, **options).fit(X, y).std(probes)
        spread = Ervfl(n_members=100, alpha=5.0, **options).fit(X, y).std(probes)
        assert 0.8 < np.median(spread / exact) < 1.25
        assert np.corrcoef(spread, exact)[0, 1] > 0.9


def test_alpha_is_learned_on_the_first_member_and_shared() -> None:
    X, y = sample(15, 2)
    first = np.random.default_rng(0).spawn(1)[0]
    features = RandomFeatures.draw(40, 2, "relu", False, first)
    u = (X - X.mean(axis=0)) / X.std(axis=0)
    values = (y - y.mean()) / y.std()
    alpha = learn_alpha(Spectrum.of(features.evaluate(u), values), 1000.0, 1e-6, 1000)
    learned = Ervfl(n_members=4, n_hidden=40).fit(X, y)
    given = Ervfl(n_members=4, n_hidden=40, alpha=alpha).fit(X, y)
    np.testing.assert_allclose(learned.stack.weights[1], given.stack.weights[1], rtol=1e-6)
    assert not np.allclose(alpha, 1.0)


def test_a_member_is_the_same_however_many_there_are() -> None:
    X, y = sample(9, 2)
    few, many = (Ervfl(n_members=m, n_hidden=20).fit(X, y).stack for m in (3, 7))
    for first, second in zip(few.weights, many.weights, strict=True):
        assert np.array_equal(first, second[:3])


def test_noise_is_reported_and_included_on_request() -> None:
    X, y = sample(12, 2)
    latent = Ervfl(n_members=5, n_hidden=20, beta=400.0).fit(X, y)
    total = Ervfl(n_members=5, n_hidden=20, beta=400.0, include_noise=True).fit(X, y)
    np.testing.assert_allclose(latent.noise_std(X), y.std() / 20.0)
    np.testing.assert_allclose(total.std(X), np.hypot(latent.std(X), y.std() / 20.0))


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"n_members": 0}, "n_members"),
        ({"n_hidden": 2.5}, "n_hidden"),
        ({"activation": "sigmoid"}, "relu, tanh"),
        ({"direct_link": None}, "True or False"),
        ({"alpha": -1.0}, "alpha"),
        ({"alpha": "learn"}, "evidence"),
        ({"beta": 0.0}, "beta"),
        ({"anchors": "both"}, "posterior, prior"),
        ({"spread": "range"}, "std, variance, mad"),
        ({"tolerance": 2.0}, "tolerance"),
        ({"max_iterations": 0}, "max_iterations"),
        ({"include_noise": "yes"}, "include_noise"),
        ({"y_range": (2.0, 1.0)}, "y_range"),
        ({"seed": -1}, "seed"),
    ],
)
def test_options_that_are_none_are_refused(options: dict[str, Any], match: str) -> None:
    with pytest.raises(InputError, match=match):
        Ervfl(**options)


PRESETS = {1: ("tanh", False), 2: ("tanh", True), 3: ("relu", False), 4: ("relu", True)}


@pytest.mark.parametrize(("number", "variant"), PRESETS.items())
def test_presets_are_the_four_variants(number: int, variant: tuple[str, bool]) -> None:
    activation, direct_link = variant
    assert nm.surrogates.create(f"ervfl{number}", seed=2) == Ervfl(
        n_members=50,
        n_hidden=300,
        activation=activation,
        direct_link=direct_link,
        alpha="evidence",
        beta=1000.0,
        include_noise=True,
        seed=2,
    )
    with pytest.raises(InputError, match="ervfl preset"):
        nm.surrogates.create(f"ervfl{number}", activation="relu")
