"""Bayesian networks by hybrid Monte Carlo: the contract, the chain, proofs about its draws."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import nnbo_mip as nm
from nnbo_mip.core.errors import InputError
from nnbo_mip.surrogates.bnn.data import NetworkData
from nnbo_mip.surrogates.bnn.hmc import BnnHmc, NetworkEnergy
from nnbo_mip.testing.surrogate_contract import SurrogateContract, sample

SHORT: dict[str, Any] = {"burn_in": 40, "draws": 20, "n_leapfrog": 10, "kept": 6, "step": 0.01}


class TestTanh(SurrogateContract):
    def make(self, **options: Any) -> BnnHmc:
        return BnnHmc(hidden=(5,), chains=2, **SHORT, **options)


class TestReluTwoLayersCauchy(SurrogateContract):
    def make(self, **options: Any) -> BnnHmc:
        return BnnHmc(
            hidden=(5, 4),
            activation="relu",
            prior=("gaussian", "gaussian", "cauchy"),
            chains=1,
            spread="mad",
            **SHORT,
            **options,
        )


class TestSampledPrecisionsWithNoise(SurrogateContract):
    def make(self, **options: Any) -> BnnHmc:
        return BnnHmc(
            hidden=(5,),
            learn_scales=True,
            learn_noise=True,
            include_noise=True,
            by_width=True,
            freeze=False,
            **SHORT,
            **options,
        )


@pytest.mark.parametrize("learned", [False, True])
@pytest.mark.parametrize("prior", ["gaussian", "cauchy"])
def test_the_gradient_of_the_energy(prior: str, learned: bool) -> None:
    data = NetworkData.of(*sample(7, 2), (3, 2), "tanh", False, None)
    made = BnnHmc(hidden=(3, 2), prior=prior).prior_of(data.layout)
    rng = np.random.default_rng(0)
    tau = rng.gamma(2.0, size=(2, 3)) if learned else made.precisions(2)
    energy = NetworkEnergy(data, made, tau, np.array([3.0, 40.0]))
    theta = rng.standard_normal((2, data.layout.size))
    _, gradient = energy(theta)
    for column, unit in enumerate(1e-6 * np.eye(data.layout.size)):
        slope = (energy(theta + unit)[0] - energy(theta - unit)[0]) / 2e-6
        np.testing.assert_allclose(gradient[:, column], slope, rtol=1e-5, atol=1e-5)


def test_draws_of_a_linear_problem_are_those_of_the_exact_posterior() -> None:
    # Relu units whose inputs are all positive, with the hidden layer nearly fixed by its prior,
    # leave a linear model of the last layer; its posterior is known.
    rng = np.random.default_rng(1)
    X = rng.uniform(-1.0, 1.0, (12, 1))
    y = X[:, 0] + 0.5 * rng.standard_normal(12)
    made = BnnHmc(
        hidden=(1,),
        activation="relu",
        prior_scale=(1e-3, 1.0),
        noise=0.5,
        chains=50,
        burn_in=60,
        draws=30,
        step=0.0005,
        largest_step=0.002,
        n_leapfrog=100,
    )
    data = NetworkData.of(X, y, (1,), "relu", False, None)
    theta, _, acceptance = made.sample(data)
    assert acceptance[60:].mean() > 0.6
    # The hidden value is about zero, so the offset alone explains y: mean of n values and prior.
    n, precision = 12, 1.0 / 0.25
    offset = theta[10:, :, -1]
    assert offset.mean() == pytest.approx(data.misfit.v.mean(), abs=0.05)
    exact = 1.0 / np.sqrt(1.0 + n * precision)
    assert offset.std() == pytest.approx(exact, rel=0.3)


def test_the_band_is_narrow_at_the_data_and_wide_away_from_them() -> None:
    rng = np.random.default_rng(0)
    X = rng.uniform(-1.0, 1.0, (20, 1))
    y = np.sin(7.0 * X[:, 0]) + np.cos(17.0 * X[:, 0]) + 0.1 * rng.standard_normal(20)
    made = BnnHmc(hidden=(30, 30), noise=0.1, chains=2, burn_in=300, draws=100, step=0.003)
    belief = made.fit(X, y)
    assert np.sqrt(np.square(belief.mean(X) - y).mean()) < 0.15
    grid = np.linspace(-1.0, 1.0, 401)[:, None]
    distances = np.abs(grid - X.T).min(axis=1)
    std = belief.std(grid)
    assert std[distances > 0.1].mean() > 2.5 * std[distances < 0.02].mean()


def test_mean_and_std_are_averages_over_draws_and_noise_is_an_option() -> None:
    X, y = sample(10, 2)
    made = BnnHmc(hidden=(4,), noise=0.2, **SHORT)
    plain = made.fit(X, y)
    noisy = BnnHmc(hidden=(4,), noise=0.2, include_noise=True, **SHORT).fit(X, y)
    members = plain.members(X)
    np.testing.assert_allclose(plain.mean(X), members.mean(axis=1))
    np.testing.assert_allclose(plain.std(X), members.std(axis=1))
    np.testing.assert_allclose(noisy.std(X), np.hypot(plain.std(X), 0.2 * y.std()))
    assert plain.noise == pytest.approx(0.2 * y.std())


def test_the_step_follows_the_acceptance_and_the_smallest_step_binds() -> None:
    data = NetworkData.of(*sample(10, 2), (5,), "tanh", False, None)
    made = BnnHmc(hidden=(5,), burn_in=300, draws=100, n_leapfrog=10, step=0.02, noise=0.1)
    _, _, acceptance = made.sample(data)
    assert abs(acceptance[300:].mean() - 0.9) < 0.1


def test_one_tanh_layer_and_relu_draws_are_certified() -> None:
    X, y = sample(12, 2)
    domain = nm.Space.box([-1.0, -1.0], [1.0, 1.0]).model()
    grid = np.stack(np.meshgrid(*[np.linspace(-1.0, 1.0, 41)] * 2), axis=-1).reshape(-1, 2)
    tanh = BnnHmc(hidden=(5,), **SHORT).fit(X, y)
    found = nm.maximize(tanh, "ucb:beta=2", domain, gap=1e-3)
    assert found.status == "optimal"
    assert found.bound >= (tanh.mean(grid) + 2.0 * tanh.std(grid)).max()
    relu = BnnHmc(hidden=(5,), activation="relu", spread="mad", **SHORT).fit(X, y)
    for acquisition in ("ucb:beta=2", "ts", "mean"):
        found = nm.maximize(relu, acquisition, domain, gap=1e-4)
        assert found.status == "optimal"
    best = nm.maximize(relu, "ucb:beta=2", domain, gap=1e-4)
    scores = relu.mean(grid) + 2.0 * relu.std(grid)
    assert best.value >= scores.max() - 1e-4
    assert best.bound >= scores.max()


def test_a_larger_kappa_chooses_a_wider_place() -> None:
    X, y = sample(8, 1)
    belief = BnnHmc(hidden=(5,), **SHORT).fit(X, y)
    domain = nm.Space.box([-1.0], [1.0]).model()
    stds = [
        float(belief.std(nm.maximize(belief, f"ucb:beta={beta}", domain, gap=1e-3).x)[0])
        for beta in (0.01, 10.0)
    ]
    assert stds[0] <= stds[1]
    mean = nm.maximize(belief, "mean", domain, gap=1e-3)
    assert mean.bound >= belief.mean(np.linspace(-1.0, 1.0, 201)[:, None]).max() - 1e-9


# So short a chain is far too sure of itself, and expects no gain anywhere.
@pytest.mark.filterwarnings(
    "ignore:the largest score is negligible:nnbo_mip.core.errors.ModelWarning"
)
def test_it_optimizes_by_its_name() -> None:
    space = nm.Space.box([0.0], [1.0])
    result = nm.optimize(
        lambda x: (6.0 * x[0] - 2.0) ** 2 * np.sin(12.0 * x[0] - 4.0),
        space,
        n_evals=7,
        initial=5,
        surrogate="bnn_hmc:hidden=(6,),burn_in=40,draws=20,n_leapfrog=10,kept=5",
        seed=0,
    )
    assert len(result.steps) == 2
    assert all(step.status == "optimal" for step in result.steps)


def test_the_preset_is_the_network_of_the_source() -> None:
    made = nm.surrogates.create("bnn_hmc:source")
    assert (made.hidden, made.activation, made.prior) == ((50, 50, 50), "tanh", "gaussian")
    assert (made.prior_scale, made.draws, made.kept, made.chains) == (1.0, 5000, 5000, 1)
    assert (made.acceptance, made.freeze) == (0.9, True)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"prior": "laplace"}, "gaussian, cauchy"),
        ({"prior": ("cauchy",)}, "each of the 2 layers"),
        ({"prior_scale": (1.0, 0.0)}, "prior_scale"),
        ({"prior_scale": [1.0]}, "each of the 2 layers"),
        ({"noise": 0.0}, "noise"),
        ({"hyper_shape": 0.0}, "hyper_shape"),
        ({"chains": 0}, "chains"),
        ({"burn_in": -1}, "burn_in"),
        ({"draws": 0}, "draws"),
        ({"n_leapfrog": 0}, "n_leapfrog"),
        ({"acceptance": 1.0}, "target"),
        ({"smallest_step": 1.0}, "exceed the largest"),
        ({"learn_noise": 1}, "learn_noise"),
        ({"activation": "sine"}, "activation"),
        ({"spread": "range"}, "spread"),
    ],
)
def test_options_that_are_none_are_refused(options: dict[str, Any], match: str) -> None:
    with pytest.raises(InputError, match=match):
        BnnHmc(**options)
