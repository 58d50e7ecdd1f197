"""Bayesian networks by adaptive SGHMC: the contract, the gradient, batches, presets."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import nnbo_mip as nm
from nnbo_mip.core.errors import InputError, TrainingError
from nnbo_mip.surrogates.bnn.data import NetworkData
from nnbo_mip.surrogates.bnn.sghmc import BnnSghmc
from nnbo_mip.testing.surrogate_contract import SurrogateContract, sample

SHORT: dict[str, Any] = {"burn_in": 150, "steps": 100, "every": 10, "kept": 6}


class TestTanh(SurrogateContract):
    def make(self, **options: Any) -> BnnSghmc:
        return BnnSghmc(hidden=(5,), chains=2, step=0.01, **SHORT, **options)


class TestReluBatches(SurrogateContract):
    def make(self, **options: Any) -> BnnSghmc:
        return BnnSghmc(
            hidden=(5, 4),
            activation="relu",
            batch=4,
            step=0.01,
            spread="mad",
            weak_prior=True,
            **SHORT,
            **options,
        )


@pytest.mark.parametrize("weak", [False, True])
def test_the_gradient_is_that_of_the_energy(weak: bool) -> None:
    made = BnnSghmc(hidden=(4,), weak_prior=weak, prior_scale=0.7, noise=0.2, noise_spread=0.3)
    data = NetworkData.of(*sample(9, 2), (4,), "tanh", True, None)
    size = data.layout.size

    def energy(position: np.ndarray) -> np.ndarray:
        theta, r = position[:, :-1], position[:, -1]
        value = 0.5 * data.misfit(theta)[0] * np.exp(-r) + 4.5 * r
        value += np.square(theta).sum(axis=1) / (2.0 * 0.49) / (size if weak else 1)
        return np.asarray(value + np.square(r - 2.0 * np.log(0.2)) / (2.0 * 0.09))

    position = np.random.default_rng(0).standard_normal((2, size + 1))
    gradient = made._gradient(data, data, position)
    for column, unit in enumerate(1e-6 * np.eye(size + 1)):
        slope = (energy(position + unit) - energy(position - unit)) / 2e-6
        np.testing.assert_allclose(gradient[:, column], slope, rtol=1e-5, atol=1e-4)


def test_the_gradient_of_a_batch_is_right_on_average() -> None:
    made = BnnSghmc(hidden=(4,), batch=5)
    data = NetworkData.of(*sample(30, 2), (4,), "tanh", True, None)
    position = 0.3 * np.random.default_rng(0).standard_normal((1, data.layout.size + 1))
    rng = np.random.default_rng(1)
    noisy = np.array(
        [made._gradient(data, made._batch(data, rng), position)[0] for _ in range(4000)]
    )
    exact = made._gradient(data, data, position)[0]
    errors = noisy.std(axis=0) / np.sqrt(len(noisy))
    assert (np.abs(noisy.mean(axis=0) - exact) < 4.0 * errors + 1e-9).all()


def test_it_learns_a_smooth_function_in_one_dimension() -> None:
    X = np.linspace(-1.0, 1.0, 15)[:, None]
    y = np.sin(3.0 * X[:, 0])
    belief = BnnSghmc(burn_in=1000, steps=500, every=25).fit(X, y)
    assert np.sqrt(np.square(belief.mean(X) - y).mean()) < 0.15 * y.std()
    assert belief.std(np.array([[2.0]]))[0] > 2.0 * belief.std(X).mean()


def test_chains_that_leave_the_numbers_are_said_so() -> None:
    with pytest.raises(TrainingError, match="smaller step"):
        BnnSghmc(hidden=(4,), activation="relu", step=1e6, **SHORT).fit(*sample(8, 2))


def test_draws_are_counted_after_burn_in() -> None:
    data = NetworkData.of(*sample(5, 1), (3,), "tanh", True, None)
    made = BnnSghmc(hidden=(3,), chains=3, burn_in=10, steps=25, every=10)
    assert made.sample(data).shape == (2, 3, data.layout.size + 1)
    made = BnnSghmc(hidden=(3,), chains=3, burn_in=10, steps=5, every=10)
    assert made.sample(data).shape == (1, 3, data.layout.size + 1)


def test_presets_are_those_of_the_sources() -> None:
    made = nm.surrogates.create("bnn_sghmc:source")
    assert (made.hidden, made.burn_in, made.steps, made.every) == ((50, 50, 50), 1000, 2000, 10)
    assert (made.friction, made.batch, made.kept) == (0.05, 20, 200)
    made = nm.surrogates.create("bnn_sghmc:robo")
    assert (made.hidden, made.steps, made.every, made.kept) == ((50, 50), 10000, 100, 100)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"prior_scale": 0.0}, "prior_scale"),
        ({"friction": 1.0}, "friction"),
        ({"step": 0.0}, "step"),
        ({"noise_spread": 0.0}, "noise_spread"),
        ({"batch": 0}, "batch"),
        ({"every": 0}, "every"),
        ({"weak_prior": 2}, "weak_prior"),
        ({"activation": "sine"}, "activation"),
    ],
)
def test_options_that_are_none_are_refused(options: dict[str, Any], match: str) -> None:
    with pytest.raises(InputError, match=match):
        BnnSghmc(**options)
