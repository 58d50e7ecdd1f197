"""Hybrid Monte Carlo: reversibility, energy error, moments, the step size, the ring."""

from __future__ import annotations

import numpy as np
import pytest

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.errors import InputError
from nnbo_mip.surrogates.sampling.energy import thinned
from nnbo_mip.surrogates.sampling.hmc import HybridMonteCarlo, StepRule, leapfrog
from tests.surrogates.sampling.chains import sample_hmc

FACTOR = np.linalg.cholesky(0.5 * np.eye(10) + 0.5)
COVARIANCE = FACTOR @ FACTOR.T
PRECISION = np.linalg.inv(COVARIANCE)


def gaussian(x: FloatArray) -> tuple[FloatArray, FloatArray]:
    gradient = x @ PRECISION
    return 0.5 * (gradient * x).sum(axis=1), gradient


def banana(x: FloatArray) -> tuple[FloatArray, FloatArray]:
    """y ~ N(x^2, 0.25), x ~ N(0, 1)."""
    off = x[:, 1] - np.square(x[:, 0])
    slope = np.stack([x[:, 0] - 8.0 * off * x[:, 0], 4.0 * off], axis=1)
    return 0.5 * np.square(x[:, 0]) + 2.0 * np.square(off), slope


def ring(x: FloatArray) -> tuple[FloatArray, FloatArray]:
    radius = np.linalg.norm(x, axis=1)
    return 2.0 * np.square(radius - 5.0), (4.0 * (1.0 - 5.0 / radius))[:, None] * x


def total(value: FloatArray, momentum: FloatArray) -> FloatArray:
    return np.asarray(value + 0.5 * np.square(momentum).sum(axis=1))


@pytest.mark.parametrize("energy", [banana, ring])
def test_leapfrog_goes_back_where_it_came_from(energy) -> None:  # type: ignore[no-untyped-def]
    rng = np.random.default_rng(0)
    x, p = 1.0 + 0.3 * rng.standard_normal((8, 2)), rng.standard_normal((8, 2))
    there, speed, _, gradient = leapfrog(energy, x, p, energy(x)[1], 0.05, 40)
    assert np.abs(there - x).max() > 0.5
    back, reverse, _, _ = leapfrog(energy, there, -speed, gradient, 0.05, 40)
    assert np.abs(back - x).max() < 1e-10
    assert np.abs(reverse + p).max() < 1e-10


def test_leapfrog_preserves_volume() -> None:
    x, step = np.array([[0.7, 0.2, -0.3, 0.9]]), 1e-6

    def flow(state: FloatArray) -> FloatArray:
        q, p = state[:, :2], state[:, 2:]
        return np.hstack(leapfrog(banana, q, p, banana(q)[1], 0.1, 7)[:2])

    jacobian = np.vstack([(flow(x + step * e) - flow(x - step * e)) for e in np.eye(4)])
    assert abs(np.linalg.det(jacobian / (2.0 * step)) - 1.0) < 1e-7


def test_the_error_of_the_energy_falls_with_the_square_of_the_step() -> None:
    rng = np.random.default_rng(1)
    x, p = rng.standard_normal((50, 2)), rng.standard_normal((50, 2))
    value, gradient = banana(x)
    errors = []
    for step in (0.02, 0.01, 0.005):
        _, speed, after, _ = leapfrog(banana, x, p, gradient, step, round(1.0 / step))
        errors.append(np.abs(total(after, speed) - total(value, p)).mean())
    assert 3.6 < errors[0] / errors[1] < 4.4
    assert 3.8 < errors[1] / errors[2] < 4.2


def test_moments_of_a_correlated_gaussian_and_the_target_acceptance() -> None:
    chains = HybridMonteCarlo(
        np.zeros((50, 10)), np.random.default_rng(2), 10, 0.05, StepRule(largest=1.0)
    )
    draws, accepted = sample_hmc(gaussian, chains, 200, 1000)
    assert abs(accepted - 0.9) < 0.05
    flat = draws.reshape(-1, 10)
    assert np.abs(flat.mean(axis=0)).max() < 0.05
    assert np.abs(np.cov(flat.T) - COVARIANCE).max() < 0.05


def test_moments_of_a_banana() -> None:
    rng = np.random.default_rng(3)
    chains = HybridMonteCarlo(rng.standard_normal((200, 2)), rng, 40, 0.1)
    draws, _ = sample_hmc(banana, chains, 100, 300)
    means = draws.mean(axis=0)
    errors = means.std(axis=0, ddof=1) / np.sqrt(200.0)
    assert (np.abs(means.mean(axis=0) - [0.0, 1.0]) < 3.5 * errors).all()
    assert errors.max() < 0.1


def test_the_ring_is_travelled_all_round() -> None:
    chains = HybridMonteCarlo(np.array([[5.0, 0.0]]), np.random.default_rng(4), 30, 0.1)
    draws, accepted = sample_hmc(ring, chains, 100, 900)
    angles = np.histogram(np.arctan2(*draws[:, 0].T), 12, (-np.pi, np.pi))[0]
    assert (angles > 20).all()
    assert accepted > 0.8


@pytest.mark.parametrize("freeze", [True, False])
def test_the_step_is_frozen_after_burn_in(freeze: bool) -> None:
    chains = HybridMonteCarlo(np.zeros((4, 10)), np.random.default_rng(5), 5, 0.05)
    sample_hmc(gaussian, chains, 50, 1)
    settled = chains.step
    sample_hmc(gaussian, chains, 0, 20, freeze=freeze)
    assert (chains.step == settled) == freeze


def test_the_step_follows_the_average_before_it_within_its_limits() -> None:
    rule = StepRule(smallest=0.01, largest=0.02)
    assert rule.next_step(0.015, 0.95) == 0.015 * 1.02
    assert rule.next_step(0.015, 0.9) == 0.015 * 0.98
    assert rule.next_step(0.02, 1.0) == 0.02
    assert rule.next_step(0.01, 0.0) == 0.01
    assert rule.next_average(0.5, 1.0) == pytest.approx(0.55)
    chains = HybridMonteCarlo(np.zeros((4, 10)), np.random.default_rng(6), 5, 0.015, rule)
    chains.average = 0.95
    acceptance = chains.advance(gaussian)
    assert chains.step == 0.015 * 1.02
    assert chains.average == pytest.approx(0.9 * 0.95 + 0.1 * acceptance.mean())


def test_a_path_that_leaves_the_numbers_is_rejected() -> None:
    chains = HybridMonteCarlo(np.full((3, 2), 2.0), np.random.default_rng(7), 30, 50.0)
    acceptance = chains.advance(banana, adapt=False)
    assert (acceptance == 0.0).all()
    assert (chains.position == 2.0).all()


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"target": 1.0}, "target"),
        ({"increase": 1.0}, "increase"),
        ({"decrease": 1.0}, "decrease"),
        ({"smallest": 0.0}, "smallest"),
        ({"smallest": 0.5}, "exceed the largest"),
        ({"memory": 1.0}, "memory"),
    ],
)
def test_rules_that_are_none_are_refused(options: dict[str, float], match: str) -> None:
    with pytest.raises(InputError, match=match):
        StepRule(**options)


def test_thinning_keeps_equally_spaced_draws_and_the_last() -> None:
    draws = np.arange(10)
    assert thinned(draws, 5).tolist() == [1, 3, 5, 7, 9]
    assert thinned(draws, 3).tolist() == [2, 5, 9]
    assert thinned(draws, 1).tolist() == [9]
    assert thinned(draws, 99).tolist() == draws.tolist()
