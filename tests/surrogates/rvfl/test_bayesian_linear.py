"""The weights' posterior against independent forms of it, and the evidence against SciPy."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.stats import multivariate_normal

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.errors import InputError, TrainingError
from nnbo_mip.surrogates.rvfl.bayesian_linear import (
    CholeskyPosterior,
    SpectralPosterior,
    Spectrum,
    WeightPosterior,
    posterior_of,
)
from nnbo_mip.surrogates.rvfl.evidence import learn_alpha
from nnbo_mip.surrogates.rvfl.features import RandomFeatures
from tests.surrogates.rvfl.evidence import log_evidence

BETA = 1000.0


class Regression(NamedTuple):
    psi: FloatArray
    y: FloatArray
    probes: FloatArray


def regression(
    n: int, k: int, activation: str = "relu", seed: int = 0, noise: float = 0.0
) -> Regression:
    """Return features of n random points in 3 dimensions, values there, and more features."""
    rng = np.random.default_rng(seed)
    features = RandomFeatures.draw(k - 3, 3, activation, True, rng)
    u = rng.standard_normal((n, 3))
    y = np.sin(2.0 * u[:, 0]) + u[:, 1] * u[:, 2] + noise * rng.standard_normal(n)
    y = y / np.abs(y).max()
    return Regression(features.evaluate(u), y, features.evaluate(rng.uniform(-3, 3, (50, 3))))


def both(data: Regression, alpha: float) -> tuple[WeightPosterior, WeightPosterior]:
    spectrum = Spectrum.of(data.psi, data.y)
    return (
        SpectralPosterior.of(spectrum, alpha, BETA),
        CholeskyPosterior.of(data.psi, data.y, alpha, BETA),
    )


SHAPES = [(1, 40), (7, 40), (40, 40), (90, 40), (60, 300)]


@pytest.mark.parametrize(("n", "k"), SHAPES)
@pytest.mark.parametrize("alpha", [0.3, 20.0])
@pytest.mark.parametrize("activation", ["relu", "tanh"])
def test_svd_cholesky_and_a_gaussian_process_on_the_features_agree(
    n: int, k: int, alpha: float, activation: str
) -> None:
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import ConstantKernel, DotProduct

    data = regression(n, k, activation)
    linear = DotProduct(sigma_0=0.0, sigma_0_bounds="fixed")
    kernel = ConstantKernel(1.0 / alpha, "fixed") * linear
    process = GaussianProcessRegressor(kernel, alpha=1.0 / BETA, optimizer=None)
    process.fit(data.psi, data.y)
    mean, std = process.predict(data.probes, return_std=True)
    for posterior in both(data, alpha):
        np.testing.assert_allclose(data.probes @ posterior.mean, mean, rtol=0, atol=1e-8)
        np.testing.assert_allclose(np.sqrt(posterior.variance(data.probes)), std, rtol=0, atol=1e-8)


@pytest.mark.parametrize(("n", "k"), SHAPES)
def test_both_solvers_have_the_textbook_moments(n: int, k: int) -> None:
    data, alpha = regression(n, k), 2.0
    precision = alpha * np.eye(k) + BETA * data.psi.T @ data.psi
    covariance = np.linalg.inv(precision)
    mean = np.linalg.solve(precision, BETA * data.psi.T @ data.y)
    for posterior in both(data, alpha):
        np.testing.assert_allclose(posterior.mean, mean, rtol=0, atol=1e-8)
        np.testing.assert_allclose(posterior.covariance(), covariance, rtol=0, atol=1e-8)


@pytest.mark.parametrize(("n", "k"), SHAPES)
def test_a_root_times_its_transpose_is_the_covariance(n: int, k: int) -> None:
    data = regression(n, k)
    for posterior in both(data, 0.7):
        product = posterior.spread(posterior.whiten(data.probes))
        np.testing.assert_allclose(product, data.probes @ posterior.covariance(), atol=1e-10)


def test_samples_have_the_posteriors_mean_and_covariance() -> None:
    data = regression(6, 9)
    for posterior in both(data, 1.5):
        rng = np.random.default_rng(0)
        weights = np.array([posterior.sample(rng, 2.0) for _ in range(20_000)])
        covariance = posterior.covariance()
        largest = covariance.max()
        error = np.abs(np.cov(weights.T) / 4.0 - covariance).max()
        assert error < 0.03 * largest
        assert np.abs(weights.mean(axis=0) - posterior.mean).max() < 0.05 * np.sqrt(largest)


def test_no_variance_is_negative_where_the_difference_of_large_numbers_would_be() -> None:
    # Weak prior, strong data: |psi|^2 - |V^T psi|^2 loses every digit here.
    data = regression(30, 200)
    posterior = SpectralPosterior.of(Spectrum.of(data.psi, data.y), 1e-12, BETA)
    variance = posterior.variance(data.psi)
    assert (variance >= 0.0).all()
    naive = np.square(data.psi).sum(1) - np.square(data.psi @ posterior.right).sum(1)
    assert (naive < 0.0).any()


def test_known_weights_have_no_variance() -> None:
    posterior = SpectralPosterior.known(np.array([1.0, -2.0]))
    assert np.array_equal(posterior.variance(np.array([[3.0, 4.0]])), [0.0])
    assert np.array_equal(posterior.sample(np.random.default_rng(0)), [1.0, -2.0])


def test_posteriors_come_back_from_their_arrays() -> None:
    data = regression(5, 12)
    for posterior in both(data, 1.0):
        again = posterior_of(posterior.to_arrays())
        assert type(again) is type(posterior)
        assert np.array_equal(again.whiten(data.probes), posterior.whiten(data.probes))


def test_cholesky_refuses_a_prior_that_vanishes_in_rounding() -> None:
    data = regression(5, 40)
    with pytest.raises(InputError, match="solver='svd'"):
        CholeskyPosterior.of(data.psi, data.y, 1e-20, BETA)


# -- evidence -----------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "k"), SHAPES)
@pytest.mark.parametrize("alpha", [0.02, 3.0])
def test_the_evidence_is_the_density_of_the_values(n: int, k: int, alpha: float) -> None:
    data = regression(n, k)
    covariance = data.psi @ data.psi.T / alpha + np.eye(n) / BETA
    expected = multivariate_normal(np.zeros(n), covariance).logpdf(data.y)
    found = log_evidence(Spectrum.of(data.psi, data.y), alpha, BETA)
    np.testing.assert_allclose(found, expected, rtol=1e-8)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("activation", ["relu", "tanh"])
@pytest.mark.parametrize(
    ("n", "k", "noise"), [(4, 40, 0), (20, 300, 0), (60, 300, 0.3), (90, 40, 0)]
)
def test_the_fixed_point_is_where_the_evidence_is_largest(
    n: int, k: int, noise: float, activation: str, seed: int
) -> None:
    data = regression(n, k, activation, seed, noise)
    spectrum = Spectrum.of(data.psi, data.y)
    alpha = learn_alpha(spectrum, BETA, tolerance=1e-9, max_iterations=10_000)

    def loss(log_alpha: float) -> float:
        return -log_evidence(spectrum, float(np.exp(log_alpha)), BETA)

    best = -loss(np.log(alpha))
    for factor in (0.5, 2.0):
        assert best > log_evidence(spectrum, factor * alpha, BETA)
    grid = np.linspace(-12.0, 12.0, 241)
    start = grid[np.argmin([loss(point) for point in grid])]
    found = minimize_scalar(loss, bounds=(start - 0.1, start + 0.1), options={"xatol": 1e-9})
    np.testing.assert_allclose(np.log(alpha), found.x, atol=1e-5)
    np.testing.assert_allclose(best, -found.fun, atol=1e-8)


def test_alpha_stops_where_the_function_is_no_larger_than_the_noise() -> None:
    data = regression(6, 40)
    spectrum = Spectrum.of(data.psi, np.zeros(6))
    alpha = learn_alpha(spectrum, BETA, tolerance=1e-6, max_iterations=100)
    np.testing.assert_allclose(np.square(data.psi).sum(1).mean() / alpha, 1.0 / BETA)


@pytest.mark.parametrize("seed", range(5))
def test_alpha_stays_large_enough_for_both_solvers(seed: int) -> None:
    # Smooth features and values of pure noise: the evidence asks for enormous weights.
    rng = np.random.default_rng(seed)
    features = RandomFeatures.draw(200, 1, "tanh", False, rng)
    psi, y = features.evaluate(rng.standard_normal((60, 1))), rng.standard_normal(60)
    spectrum = Spectrum.of(psi, y)
    alpha = learn_alpha(spectrum, BETA, tolerance=1e-6, max_iterations=1000)
    np.testing.assert_allclose(alpha, BETA * spectrum.sizes[0] ** 2 / 1e14)
    assert np.isfinite(CholeskyPosterior.of(psi, y, alpha, BETA).variance(psi)).all()


def test_features_that_are_zero_leave_alpha_at_its_start() -> None:
    spectrum = Spectrum.of(np.zeros((3, 5)), np.array([1.0, 0.0, -1.0]))
    assert learn_alpha(spectrum, BETA, tolerance=1e-6, max_iterations=100) == 1.0


def test_an_iteration_that_does_not_settle_is_said() -> None:
    data = regression(20, 40)
    with pytest.raises(TrainingError, match="max_iterations"):
        learn_alpha(Spectrum.of(data.psi, data.y), BETA, tolerance=1e-6, max_iterations=1)
