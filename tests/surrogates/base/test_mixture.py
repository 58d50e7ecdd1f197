"""Mixtures and the background: moments, densities and limits, by integration."""

from __future__ import annotations

import numpy as np
import pytest

import nnbo_mip as nm
from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.surrogates.base.mixture import Mixture
from nnbo_mip.surrogates.densities.background import BLENDS, Background
from nnbo_mip.surrogates.densities.gaussian_joint import GaussianJoint
from nnbo_mip.testing.surrogate_contract import sample

V = np.linspace(-80.0, 80.0, 40_001)


def _joint() -> GaussianJoint:
    rng = np.random.default_rng(0)
    return GaussianJoint.of_kernels(rng.normal(size=(6, 2)), rng.normal(size=6), 0.4, 0.3)


@pytest.mark.parametrize("blend", BLENDS)
def test_the_blended_density_is_integrated(blend: str) -> None:
    background, joint = Background(6, 0.7, 100.0, blend), _joint()
    U = np.random.default_rng(1).normal(size=(4, 2))
    mixture = background.mixture(joint.parts(U))
    for row, u in enumerate(U):
        density = _density(joint, background, u)
        assert np.trapezoid(density, V) == pytest.approx(1.0, abs=1e-6)
        mean = np.trapezoid(V * density, V)
        variance = np.trapezoid(np.square(V - mean) * density, V)
        assert mixture.mean[row] == pytest.approx(mean, abs=1e-6)
        assert mixture.std[row] == pytest.approx(np.sqrt(variance), rel=1e-6)
        one = Mixture(*(part[[row] * len(V)] for part in _parts(mixture)))
        np.testing.assert_allclose(np.exp(one.log_density(V)), density, rtol=1e-6, atol=1e-12)


def _density(joint: GaussianJoint, background: Background, u: FloatArray) -> FloatArray:
    """Return the blended density by `Background.log_density`, which tunes."""
    parts = joint.parts(np.tile(u, (len(V), 1)))
    mean, variance = parts.moments()
    logs = background.log_density(V, parts.log_marginal, parts.log_joint(V), mean, variance)
    return np.exp(logs)


def _parts(mixture: Mixture) -> tuple[FloatArray, FloatArray, FloatArray]:
    return mixture.weights, mixture.means, mixture.stds


@pytest.mark.parametrize("blend", BLENDS)
def test_the_background_is_all_far_away_and_nothing_near_much_data(blend: str) -> None:
    joint, near, far = _joint(), np.zeros((1, 2)), np.full((1, 2), 50.0)
    none = Background(6, 1.0, 100.0, blend).mixture(joint.parts(far))
    assert none.mean[0] == pytest.approx(0.0, abs=1e-12)
    assert none.std[0] == pytest.approx(10.0)
    much = Background(6, 1e12, 100.0, blend).mixture(joint.parts(near))
    mean, variance = joint.parts(near).moments()
    assert much.mean[0] == pytest.approx(mean[0])
    assert much.std[0] == pytest.approx(np.sqrt(variance[0]), rel=1e-6)


def test_the_joint_form_of_the_blend_is_the_conditional_one() -> None:
    joint, background = _joint(), Background(6, 0.7, 100.0, "mixture")
    U, v = np.random.default_rng(1).normal(size=(9, 2)), np.linspace(-2.0, 2.0, 9)
    parts = joint.parts(U)
    s = 6 * 0.7 * np.exp(parts.log_marginal)
    prior = np.exp(-0.5 * v**2 / 100.0) / np.sqrt(200.0 * np.pi)
    conditional = np.exp(parts.log_joint(v) - parts.log_marginal)
    blended = s / (s + 1.0) * conditional + prior / (s + 1.0)
    np.testing.assert_allclose(background.mixture(parts).log_density(v), np.log(blended))


@pytest.mark.parametrize(
    "spec", ["elm:n_members=6", "deep_ensemble:n_members=3,hidden=(6,),epochs=20,noisy=True"]
)
def test_members_are_a_mixture_of_equal_weights(spec: str) -> None:
    X, y = sample(9, 2)
    belief = nm.surrogates.create(spec, seed=0).fit(X, y)
    mixture = belief.mixture(X)
    assert np.array_equal(mixture.means, belief.members(X))
    assert np.ptp(mixture.weights) == 0.0
    assert not mixture.stds.any()


def test_noise_that_is_included_is_in_the_components() -> None:
    X, y = sample(9, 2)
    spec = "deep_ensemble:n_members=3,hidden=(6,),epochs=20,noisy=True,include_noise=True"
    belief = nm.surrogates.create(spec, seed=0).fit(X, y)
    mixture = belief.mixture(X)
    np.testing.assert_allclose(
        np.sqrt(np.square(mixture.stds).mean(axis=1)), belief.noise_std(X), rtol=1e-9
    )
    np.testing.assert_allclose(mixture.std, belief.std(X))
