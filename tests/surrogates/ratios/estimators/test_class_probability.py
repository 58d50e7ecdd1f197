"""The probability of a class with normal log-odds, three ways."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit

from nnbo_mip.surrogates.ratios.estimators.class_probability import monte_carlo, probit, quadrature

MEANS = np.repeat(np.linspace(-20.0, 20.0, 41), 9)
VARIANCES = np.tile([0.0, 0.01, 0.3, 1.0, 10.0, 100.0, 1000.0, 5000.0, 10_000.0], 41)


def dense(f: float, v: float) -> float:
    z = np.linspace(-9.0, 9.0, 40_001)
    weights = np.exp(-0.5 * z**2)
    return float((expit(f + np.sqrt(v) * z) * weights).sum() / weights.sum())


def test_probit_is_within_a_fiftieth_of_dense_quadrature() -> None:
    exact = np.array([dense(f, v) for f, v in zip(MEANS, VARIANCES, strict=True)])
    assert np.abs(probit(MEANS, VARIANCES) - exact).max() < 0.02
    assert np.abs(quadrature(MEANS, VARIANCES)[0] - exact).max() < 1e-4


def test_monte_carlo_is_within_three_standard_errors() -> None:
    rng = np.random.default_rng(0)
    f, v = np.array([-3.0, 0.5, 2.0]), np.array([0.5, 4.0, 900.0])
    samples = f[:, None] + np.sqrt(v)[:, None] * rng.standard_normal((3, 20_000))
    estimate, slopes = monte_carlo(samples)
    error = expit(samples).std(axis=1) / np.sqrt(20_000)
    assert (np.abs(estimate - [dense(*pair) for pair in zip(f, v, strict=True)]) < 3 * error).all()
    assert slopes.shape == samples.shape


def test_derivatives_of_the_quadrature() -> None:
    f, v, step = np.linspace(-4.0, 4.0, 9), np.linspace(0.2, 30.0, 9), 1e-5
    _, by_f, by_v = quadrature(f, v)
    numeric_f = (quadrature(f + step, v)[0] - quadrature(f - step, v)[0]) / (2 * step)
    numeric_v = (quadrature(f, v + step)[0] - quadrature(f, v - step)[0]) / (2 * step)
    assert by_f == pytest.approx(numeric_f, abs=1e-8)
    assert by_v == pytest.approx(numeric_v, abs=1e-8)
