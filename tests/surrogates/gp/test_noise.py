"""Noise that nobody told, and noise that was: neither hides the function."""

from __future__ import annotations

import numpy as np
import pytest

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.errors import InputError
from nnbo_mip.surrogates.gp.gp import GaussianProcess
from nnbo_mip.surrogates.gp.noise import amplitude_prior

OPTIONS = {"kernel": "matern", "ard": True, "length_scale_prior": "dimension", "n_restarts": 1}


JOINT = {**OPTIONS, "length_scale_prior": "hierarchical"}


def wave(X: FloatArray) -> FloatArray:
    return np.asarray(np.sin(3.0 * X[:, 0]) + np.square(X[:, 1]))


def points(n: int, d: int = 2) -> FloatArray:
    return np.random.default_rng(0).uniform(-1.0, 1.0, (n, d))


@pytest.mark.parametrize("size", [1.0, 1e6])
def test_noise_is_learned_where_values_have_some(size: float) -> None:
    X = points(50)
    noisy = size * (wave(X) + 0.3 * np.random.default_rng(1).standard_normal(50))
    gp = GaussianProcess(learns_noise=True, **OPTIONS)
    found = gp.noise_in(X, noisy)
    assert found / size == pytest.approx(0.3, rel=0.35)
    belief = gp.fit(X, noisy)
    told = gp.fit_with_noise(X, noisy, found)
    np.testing.assert_array_equal(belief.mean(X), told.mean(X))
    assert np.abs(belief.mean(X) - size * wave(X)).mean() < 0.2 * size


def test_a_function_without_noise_is_learned_as_without_the_option() -> None:
    X = points(30)
    gp = GaussianProcess(learns_noise=True, **OPTIONS)
    assert gp.noise_in(X, wave(X)) == 0.0
    np.testing.assert_array_equal(
        gp.fit(X, wave(X)).mean(X), GaussianProcess(**OPTIONS).fit(X, wave(X)).mean(X)
    )
    assert gp.noise_in(X, np.ones(30)) == 0.0
    noisy = wave(X) + 0.3 * np.random.default_rng(1).standard_normal(30)
    assert GaussianProcess(**OPTIONS).noise_in(X, noisy) == 0.0


def test_many_values_are_thinned_before_the_noise_is_estimated() -> None:
    X = points(400)
    noisy = wave(X) + 0.3 * np.random.default_rng(1).standard_normal(400)
    gp = GaussianProcess(learns_noise=True, **OPTIONS)
    assert gp.noise_in(X, noisy) == pytest.approx(0.3, rel=0.2)


def test_told_noise_does_not_explain_everything() -> None:
    """With sixteen values and much noise the most likely amplitude is nothing at all."""
    X = points(16, 5)
    noisy = wave(X) + 0.8 * np.random.default_rng(2).standard_normal(16)
    belief = GaussianProcess(**OPTIONS).fit_with_noise(X, noisy, 0.8)
    share = np.square(0.8 / noisy.std())
    assert belief.kernel.amplitude > 0.05
    assert belief.std([[0.0] * 5])[0] > 0.1 * noisy.std()
    assert amplitude_prior(np.array([share])).center == pytest.approx(np.log(max(1 - share, 0.1)))


def test_values_that_are_noise_do_not_make_the_function_flat() -> None:
    """Length-scales of ten boxes were the most likely ones: only corners were worth a question."""
    X = points(12, 6)
    for seed in range(4):
        noise = 0.3 * np.random.default_rng(seed).standard_normal(12)
        belief = GaussianProcess(**JOINT).fit_with_noise(X, noise, 0.3)
        assert belief.length_scales.max() < 3.0


@pytest.mark.parametrize("size", [0.5, 1.0, 1.5])
def test_tiny_length_scales_do_not_pass_for_noise(size: float) -> None:
    """With those of a hundredth of the box every value was news, and no noise was found.

    A function of two values speaks for a noise by up to 0.9 in the logarithm, which a noise that
    hides the wave does not always exceed: one sample of four may pass for a rough function.
    """
    X = points(30)
    gp = GaussianProcess(learns_noise=True, **JOINT)
    samples = [size * np.random.default_rng(seed).standard_normal(30) for seed in range(4)]
    found = [gp.noise_in(X, wave(X) + noise) for noise in samples]
    believed = [one for one in found if one > 0.0]
    assert len(believed) >= 3
    assert believed == pytest.approx([size] * len(believed), rel=0.4)


def test_two_values_without_noise_have_none() -> None:
    X = points(9, 1)
    gp = GaussianProcess(learns_noise=True, **JOINT)
    assert gp.noise_in(X, np.where(np.arange(9) == 4, 1.0, 0.0)) == 0.0


def test_rough_functions_without_noise_have_none() -> None:
    X = points(40, 3)
    gp = GaussianProcess(learns_noise=True, **JOINT)
    assert gp.noise_in(X, np.abs(np.sin(4.0 * X)).sum(axis=1)) == 0.0
    assert gp.noise_in(X, np.floor(3.0 * X[:, 0])) == 0.0


def test_a_known_noise_and_one_that_is_learned_exclude_each_other() -> None:
    with pytest.raises(InputError, match="learns_noise"):
        GaussianProcess(learns_noise=True, noise=0.1)
