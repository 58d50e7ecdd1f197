"""Gaussian mixture regression: the contract, lines, known components, conditionals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.errors import InputError
from nnbo_mip.surrogates.densities.gaussian_joint import GaussianJoint
from nnbo_mip.surrogates.densities.gmm import Gmm
from nnbo_mip.testing.surrogate_contract import SurrogateContract, sample


class TestGmm(SurrogateContract):
    def make(self, **options: Any) -> Gmm:
        return Gmm(n_components=(1, 3), n_restarts=2, folds=3, **options)


class TestNormalBlend(SurrogateContract):
    def make(self, **options: Any) -> Gmm:
        return Gmm(n_components=2, n_restarts=2, folds=2, blend="normal", **options)


def test_one_component_is_linear_regression() -> None:
    X, y = sample(40, 2)
    belief = Gmm(n_components=1, ridge=1e-12).fit(X, y)
    u, v = (X - X.mean(axis=0)) / X.std(axis=0), (y - y.mean()) / y.std()
    slope = np.linalg.lstsq(u, v, rcond=None)[0]
    mean, variance = belief.joint.parts(u).moments()
    np.testing.assert_allclose(mean, u @ slope, atol=1e-9)
    np.testing.assert_allclose(variance, np.square(v - u @ slope).mean(), rtol=1e-6)


def _three_components() -> tuple[FloatArray, FloatArray, FloatArray]:
    weights = np.array([0.5, 0.3, 0.2])
    means = np.array([[-1.0, -1.0], [0.2, 1.0], [1.2, -0.5]])
    covariances = np.array(
        [[[0.04, 0.01], [0.01, 0.02]], [[0.02, -0.01], [-0.01, 0.04]], [[0.03, 0.0], [0.0, 0.01]]]
    )
    return weights, means, covariances


def test_known_components_are_found() -> None:
    weights, means, covariances = _three_components()
    rng = np.random.default_rng(0)
    of = rng.choice(3, 3000, p=weights)
    data = np.array([rng.multivariate_normal(means[k], covariances[k]) for k in of])
    joint = Gmm()._learned(data[:, :1], data[:, 1], 3, 3)
    order = np.argsort(joint.centers[:, 0])
    np.testing.assert_allclose(np.exp(joint.log_weights)[order], weights, atol=0.03)
    np.testing.assert_allclose(joint.centers[order, 0], means[:, 0], atol=0.03)
    np.testing.assert_allclose(joint.offsets[order], means[:, 1], atol=0.03)
    slopes = covariances[:, 0, 1] / covariances[:, 0, 0]
    np.testing.assert_allclose(joint.directions[order, 0], slopes, atol=0.1)


def test_the_parts_are_the_joint_density() -> None:
    weights, means, covariances = _three_components()
    joint = GaussianJoint.of_covariances(weights, means, covariances)
    points = np.random.default_rng(1).uniform(-2.0, 2.0, (40, 2))
    density = sum(
        w * multivariate_normal(m, S).pdf(points)
        for w, m, S in zip(weights, means, covariances, strict=True)
    )
    parts = joint.parts(points[:, :1])
    np.testing.assert_allclose(np.exp(parts.log_joint(points[:, 1])), density, rtol=1e-9)
    # The conditional has the integral 1, as joint and marginal belong together.
    v = np.linspace(-6.0, 6.0, 4001)
    for u in (-1.0, 0.3, 2.0):
        there = joint.parts(np.full((len(v), 1), u))
        values = np.exp(there.log_joint(v) - there.log_marginal)
        assert np.trapezoid(values, v) == pytest.approx(1.0, abs=1e-9)


def test_em_never_lowers_the_likelihood_that_more_steps_would_raise() -> None:
    X, y = sample(60, 2)
    logs = []
    for epochs in (1, 2, 4, 8, 16):
        made = Gmm(epochs=epochs, tolerance=1e-12)._learned(X, y, 4, 1)
        logs.append(float(made.parts(X).log_joint(y).mean()))
    assert logs == sorted(logs)
    assert logs[-1] > logs[0]


def test_never_more_components_than_half_the_observations() -> None:
    X, y = sample(9, 2)
    belief = Gmm(n_components=(20,), n_restarts=1, folds=3).fit(X, y)
    assert belief.joint.n_parts == 3  # six of nine are learned from


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"n_components": 0}, "n_components"),
        ({"n_components": (1, 0.5)}, "n_components"),
        ({"n_restarts": 0}, "n_restarts"),
        ({"ridge": 0.0}, "ridge"),
        ({"delta": -1.0}, "delta"),
        ({"background": 0.0}, "background"),
        ({"blend": "none"}, "mixture, normal"),
        ({"epochs": 0}, "epochs"),
        ({"tolerance": 0.0}, "tolerance"),
    ],
)
def test_options_that_are_none_are_refused(options: dict[str, Any], match: str) -> None:
    with pytest.raises(InputError, match=match):
        Gmm(**options)
