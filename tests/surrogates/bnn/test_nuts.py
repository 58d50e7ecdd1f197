"""Bayesian networks by NUTS: the contract, densities, chains of the sources."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import nnbo_mip as nm
from nnbo_mip.core.errors import InputError
from nnbo_mip.surrogates.bnn.data import NetworkData
from nnbo_mip.surrogates.bnn.nuts import BnnHierarchical, BnnInverse, BnnSimple, NutsNetwork
from nnbo_mip.surrogates.bnn.posteriors import CollapsedPosterior, NetworkPosterior, ScaledPosterior
from nnbo_mip.surrogates.sampling.nuts import sample_nuts
from nnbo_mip.testing.surrogate_contract import SurrogateContract, sample
from tests.surrogates.sampling.test_nuts import r_hat

pytest.importorskip("nutpie")

SHORT: dict[str, Any] = {"tune": 40, "draws": 40, "max_depth": 4, "kept": 8}


class TestSimple(SurrogateContract):
    def make(self, **options: Any) -> BnnSimple:
        return BnnSimple(hidden=(4,), **SHORT, **options)


class TestHierarchicalRelu(SurrogateContract):
    def make(self, **options: Any) -> BnnHierarchical:
        return BnnHierarchical(
            hidden=(4,), activation="relu", scale_rate=1.0, include_noise=True, **SHORT, **options
        )


class TestInverse(SurrogateContract):
    def make(self, **options: Any) -> BnnInverse:
        return BnnInverse(hidden=(4, 3), spread="mad", chains=2, **SHORT, **options)


def posteriors(data: NetworkData) -> list[NetworkPosterior]:
    return [
        ScaledPosterior(data, 2.0, (2.0, 200.0)),
        ScaledPosterior(data, 2.0, (2.0, 200.0), (2.0, 0.5)),
        CollapsedPosterior(data, 1.5, (1000.0, 1.0)),
    ]


@pytest.mark.parametrize("which", [0, 1, 2])
def test_gradients_of_the_energies(which: int) -> None:
    data = NetworkData.of(*sample(9, 2), (4,), "sigmoid", False, None)
    posterior = posteriors(data)[which]
    rng = np.random.default_rng(0)
    first = np.append(np.zeros(data.layout.size), posterior.first_coordinates)
    position = first + 0.3 * rng.standard_normal((3, len(first)))
    _, gradient = posterior(position)
    for column, unit in enumerate(1e-6 * np.eye(len(first))):
        slope = (posterior(position + unit)[0] - posterior(position - unit)[0]) / 2e-6
        np.testing.assert_allclose(gradient[:, column], slope, rtol=2e-5, atol=1e-3)


def test_the_collapsed_energy_is_the_integral_over_the_noise() -> None:
    data = NetworkData.of(*sample(5, 2), (3,), "tanh", False, None)
    posterior = CollapsedPosterior(data, 1.0, (3.0, 0.7))
    z = np.random.default_rng(1).standard_normal((2, data.layout.size))
    misfit, _ = data.misfit(z)
    logarithms = np.linspace(-6.0, 6.0, 4001)  # of the variance
    rest = (-(3.0 + 2.5) * logarithms) - (0.7 + 0.5 * misfit[:, None]) * np.exp(-logarithms)
    marginal = np.log(np.trapezoid(np.exp(rest), logarithms, axis=1))
    expected = 0.5 * np.square(z).sum(axis=1) - marginal
    found, _ = posterior(z)
    assert found[0] - found[1] == pytest.approx(expected[0] - expected[1], rel=1e-8)


def test_the_noise_given_the_weights_is_inverse_gamma() -> None:
    data = NetworkData.of(*sample(5, 2), (3,), "tanh", False, None)
    posterior = CollapsedPosterior(data, 1.0, (30.0, 3.0))
    draws = np.zeros((4000, 1, data.layout.size))
    _, noise = posterior.weights(draws, np.random.default_rng(2))
    shape, scale = 32.5, 3.0 + 0.5 * np.square(data.misfit.v).sum()
    assert np.square(noise).mean() == pytest.approx(scale / (shape - 1.0), rel=0.02)


@pytest.mark.parametrize("family", [BnnSimple, BnnHierarchical])
def test_a_sinusoid_through_three_points(family: type[NutsNetwork]) -> None:
    X = np.array([[-0.8], [0.1], [0.7]])
    y = np.sin(3.0 * X[:, 0])
    belief = family(tune=150, draws=100, max_depth=6).fit(X, y)
    noise = belief.noise
    assert (np.abs(belief.mean(X) - y) < 3.0 * noise + 3.0 * belief.std(X) / np.sqrt(10.0)).all()
    assert noise < 0.1
    between = belief.std(np.array([[-0.4], [0.4], [-1.0], [1.0]]))
    assert between.mean() > 5.0 * belief.std(X).mean()


def test_function_values_mix_on_a_tiny_network() -> None:
    X, y = sample(6, 1)
    surrogate = BnnInverse(hidden=(3,), variance_shape=5.0, variance_scale=1.0)
    data = NetworkData.of(X, y, (3,), "tanh", True, None)
    posterior = surrogate.posterior(data)
    start = np.stack([posterior.start(rng) for rng in np.random.default_rng(0).spawn(4)])
    draws = sample_nuts(posterior, start, 100, 200, seed=0, max_depth=6)
    values = data.layout.stack(draws.reshape(-1, draws.shape[-1]), "tanh").evaluate(
        np.array([[-1.0], [0.2], [1.0]])
    )[:, :, 0]
    by_chain = values.reshape(200, 4, 3)
    assert max(r_hat(by_chain[:, :, point]) for point in range(3)) < 1.05


def test_presets_are_the_chains_of_the_sources() -> None:
    for name in ("bnn_simple", "bnn_hierarchical"):
        made = nm.surrogates.create(f"{name}:source")
        assert (made.tune, made.draws, made.max_depth, made.kept) == (2500, 1000, 8, 500)
        assert (made.hidden, made.activation, made.chains) == ((10,), "sigmoid", 1)
        assert (made.noise_shape, made.noise_rate) == (2.0, 200.0)
    assert nm.surrogates.create("bnn_simple:source").prior_scale == 100.0
    hierarchical = nm.surrogates.create("bnn_hierarchical:source")
    assert (hierarchical.scale_shape, hierarchical.scale_rate) == (2.0, 0.02)
    wide = nm.surrogates.create("bnn:source")
    assert (wide.hidden, wide.chains, wide.tune, wide.draws) == ((50, 50, 50), 4, 500, 500)
    assert (wide.variance_shape, wide.variance_scale, wide.kept) == (1000.0, 1.0, 2000)
    assert nm.surrogates.create("bnn:fast", kept=10).kept == 10


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"hidden": ()}, "hidden"),
        ({"activation": "sine"}, "relu, tanh, sigmoid"),
        ({"prior_scale": 0.0}, "prior_scale"),
        ({"noise_rate": -1.0}, "noise_rate"),
        ({"chains": 0}, "chains"),
        ({"tune": 0}, "tune"),
        ({"max_depth": 0}, "max_depth"),
        ({"kept": 0}, "kept"),
        ({"standardize": 1}, "standardize"),
        ({"spread": "range"}, "spread"),
        ({"include_noise": "no"}, "include_noise"),
        ({"seed": -1}, "seed"),
    ],
)
def test_options_that_are_none_are_refused(options: dict[str, Any], match: str) -> None:
    with pytest.raises(InputError, match=match):
        BnnSimple(**options)


def test_further_options_that_are_none_are_refused() -> None:
    with pytest.raises(InputError, match="scale_shape"):
        BnnHierarchical(scale_shape=0.0)
    with pytest.raises(InputError, match="variance_scale"):
        BnnInverse(variance_scale=0.0)
