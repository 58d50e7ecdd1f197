"""Metropolis and Gibbs: moments of a correlated Gaussian, a ring, precisions."""

from __future__ import annotations

import numpy as np
import pytest

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.surrogates.sampling.gibbs import draw_cauchy_precision, draw_precision
from tests.surrogates.sampling.chains import gibbs, metropolis

CORRELATION = 0.8
COVARIANCE = np.array([[1.0, CORRELATION], [CORRELATION, 1.0]])
PRECISION = np.linalg.inv(COVARIANCE)


def gaussian(x: FloatArray) -> FloatArray:
    return np.asarray(0.5 * np.einsum("ci,ij,cj->c", x, PRECISION, x))


def ring(x: FloatArray) -> FloatArray:
    """A ring of radius 5 and thickness 0.5."""
    return np.asarray(2.0 * np.square(np.linalg.norm(x, axis=1) - 5.0))


def assert_moments(draws: FloatArray) -> None:
    """Chains are independent, so their means tell the standard errors."""
    for part in (draws, np.einsum("nci,ncj->ncij", draws, draws)):
        means = part.mean(axis=0)
        exact = np.zeros(2) if part.ndim == 3 else COVARIANCE
        errors = means.std(axis=0, ddof=1) / np.sqrt(len(means))
        assert (np.abs(means.mean(axis=0) - exact) < 3.5 * errors).all()
        assert errors.max() < 0.02


def test_metropolis_has_the_moments_of_a_correlated_gaussian() -> None:
    start = np.random.default_rng(0).standard_normal((100, 2))
    draws, accepted = metropolis(gaussian, start, 1.2, 1000, np.random.default_rng(1), 100)
    assert 0.3 < accepted < 0.6
    assert_moments(draws)


def test_a_rejected_step_repeats_the_position() -> None:
    draws, accepted = metropolis(gaussian, np.zeros((1, 2)), 5.0, 500, np.random.default_rng(0))
    still = (draws[1:] == draws[:-1]).all(axis=(1, 2)).mean()
    assert 0.8 < still < 1.0
    assert abs(1.0 - accepted - still) < 0.01


def test_gibbs_has_the_moments_of_a_correlated_gaussian() -> None:
    def conditional(other: int):  # type: ignore[no-untyped-def]
        spread = np.sqrt(1.0 - CORRELATION**2)
        return lambda x, rng: CORRELATION * x[:, other] + spread * rng.standard_normal(len(x))

    start = np.full((100, 2), 3.0)
    rng = np.random.default_rng(2)
    assert_moments(gibbs([conditional(1), conditional(0)], start, 1000, rng, 50))


def test_a_short_random_walk_does_not_go_round_the_ring() -> None:
    start = np.array([[5.0, 0.0]])
    draws, _ = metropolis(ring, start, 0.3, 900, np.random.default_rng(3), 100)
    radii = np.linalg.norm(draws[:, 0], axis=1)
    assert abs(radii.mean() - 5.0) < 0.3
    angles = np.histogram(np.arctan2(*draws[:, 0].T), 12, (-np.pi, np.pi))[0]
    assert (angles == 0).any()


@pytest.mark.parametrize("cauchy", [False, True])
def test_precisions_are_found_again_from_many_values(cauchy: bool) -> None:
    rng = np.random.default_rng(4)
    drawn = rng.standard_cauchy((3, 20000)) if cauchy else rng.standard_normal((3, 20000))
    values = 0.5 * drawn
    tau = np.ones(3)
    kept = []
    for _ in range(60):
        if cauchy:
            tau = draw_cauchy_precision(values, tau, 2.0, 1.0, rng)
        else:
            tau = draw_precision(np.square(values).sum(axis=1), 20000, 2.0, 1.0, rng)
        kept.append(tau)
    np.testing.assert_allclose(np.mean(kept[30:], axis=0), 4.0, rtol=0.06)


def test_a_precision_without_values_has_its_own_mean() -> None:
    tau = draw_precision(np.zeros(20000), 0, 2.0, 0.5, np.random.default_rng(5))
    assert abs(tau.mean() - 4.0) < 0.1
    assert abs(tau.var() - 8.0) < 0.6


def test_cauchy_precisions_leave_their_distribution_alone() -> None:
    # tau ~ Gamma, values given tau, tau given values: the last has the distribution of the first.
    rng = np.random.default_rng(6)
    tau = rng.gamma(3.0, 1.0, 20000)
    values = rng.standard_cauchy((20000, 5)) / np.sqrt(tau)[:, None]
    again = draw_cauchy_precision(values, tau, 3.0, 1.0, rng)
    assert abs(again.mean() - 3.0) < 0.06
    assert abs(np.log(again).std() - np.log(tau).std()) < 0.02
