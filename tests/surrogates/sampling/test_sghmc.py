"""Adaptive stochastic-gradient HMC: moments, scales, the rule of the average."""

from __future__ import annotations

import numpy as np

from nnbo_mip.surrogates.sampling.sghmc import AdaptiveSghmc

DEVIATIONS = np.array([0.3, 1.0, 3.0])


def test_moments_of_a_gaussian_of_unequal_scales_from_noisy_gradients() -> None:
    rng = np.random.default_rng(0)
    chains = AdaptiveSghmc(DEVIATIONS * rng.standard_normal((200, 3)), rng, step=0.05)
    draws = []
    for index in range(1500):
        noisy = chains.position / DEVIATIONS**2 + 0.3 * rng.standard_normal((200, 3)) / DEVIATIONS
        chains.advance(noisy, adapt=index < 500)
        if index >= 500:
            draws.append(chains.position)
    flat = np.array(draws).reshape(-1, 3) / DEVIATIONS
    assert np.abs(flat.mean(axis=0)).max() < 0.1
    np.testing.assert_allclose(flat.std(axis=0), 1.0, rtol=0.15)
    # Gradients have the size of 1 / deviation, so scales have that of the deviation.
    np.testing.assert_allclose(np.median(chains.scales, axis=0) / DEVIATIONS, 1.0, rtol=0.6)


def test_one_step_is_the_rule_by_hand() -> None:
    gradient = np.array([[3.0, -0.5]])
    chains = AdaptiveSghmc(np.zeros((1, 2)), np.random.default_rng(1), step=0.1, friction=0.2)
    # tau = g' = v = 1 first: the averages move half way, and tau stays 1.
    square = 0.5 + 0.5 * gradient**2
    scale = 1.0 / np.sqrt(square)
    noise = np.sqrt(2.0 * 0.01 * 0.2 * scale - 1e-4)
    expected = -0.01 * scale * gradient
    expected = expected + noise * np.random.default_rng(1).standard_normal((1, 2))
    chains.advance(gradient, adapt=True)
    np.testing.assert_allclose(chains.position, expected, rtol=1e-12)
    np.testing.assert_allclose(chains.scales, scale, rtol=1e-12)


def test_scales_stay_after_burn_in() -> None:
    chains = AdaptiveSghmc(np.ones((2, 3)), np.random.default_rng(2))
    chains.advance(np.full((2, 3), 5.0), adapt=True)
    before = chains.scales
    chains.advance(np.full((2, 3), 50.0), adapt=False)
    assert np.array_equal(chains.scales, before)
