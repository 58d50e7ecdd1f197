"""Implicit variational networks: the contract, the hypernetwork, costs, a sinusoid."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import nnbo_mip as nm
from nnbo_mip.core.errors import InputError
from nnbo_mip.surrogates.bnn.data import NetworkData
from nnbo_mip.surrogates.bnn.hypernetwork import Hypernetwork
from nnbo_mip.surrogates.bnn.ivbnn import ImplicitTraining, Ivbnn
from nnbo_mip.surrogates.bnn.layout import Layout
from nnbo_mip.testing.surrogate_contract import SurrogateContract, sample

SHORT: dict[str, Any] = {"steps": 60, "critic_width": 16, "learning_rate": 1e-2}


class TestTanh(SurrogateContract):
    def make(self, **options: Any) -> Ivbnn:
        return Ivbnn(batch=32, n_members=8, **SHORT, **options)


class TestReluMad(SurrogateContract):
    def make(self, **options: Any) -> Ivbnn:
        return Ivbnn(
            activation="relu", spread="mad", batch=16, n_members=5, kappa=0.0, **SHORT, **options
        )


@pytest.mark.parametrize("activation", ["tanh", "relu"])
def test_misfits_are_those_of_the_networks(activation: str) -> None:
    data = NetworkData.of(*sample(7, 3), (6,), activation, True, None)
    training = ImplicitTraining(Ivbnn(activation=activation), data, torch.Generator())
    theta = torch.randn((5, data.layout.size), generator=torch.Generator().manual_seed(0))
    expected, _ = data.misfit(theta.numpy().astype(np.float64))
    np.testing.assert_allclose(training.misfits(theta).numpy(), expected, rtol=1e-4)


def test_the_prior_is_a_mixture_of_a_narrow_and_a_wide_normal_distribution() -> None:
    data = NetworkData.of(*sample(7, 3), (60,), "tanh", True, None)
    training = ImplicitTraining(Ivbnn(), data, torch.Generator().manual_seed(1))
    drawn = training.prior_sample(400).numpy()
    assert drawn.shape == (400, 301)
    assert drawn.var() == pytest.approx(0.2 + 0.8 * 25.0, rel=0.02)
    near = (np.abs(drawn) < 0.5).mean()  # 0.2 * 0.3829 + 0.8 * 0.0797
    assert near == pytest.approx(0.1403, abs=0.005)


def test_the_hypernetwork_makes_the_second_layer_from_the_first() -> None:
    layout = Layout(2, (4,))
    made = Hypernetwork(layout, 4, 5, torch.Generator().manual_seed(2))
    theta, log_codes = made.sample(9)
    assert theta.shape == (9, layout.size)
    assert log_codes.shape == (9,)
    assert (log_codes <= 0.0).all()
    first = layout.layers[0]
    again = made._second(theta[:, first])
    np.testing.assert_allclose(
        again.detach().numpy(), theta[:, layout.layers[1]].detach().numpy(), rtol=1e-5, atol=1e-5
    )


def test_networks_grow_with_the_data_up_to_a_limit() -> None:
    for n, width in ((4, 8), (30, 50)):
        belief = Ivbnn(batch=4, n_members=2, **{**SHORT, "steps": 1}).fit(*sample(n, 2))
        assert belief.stack.weights[0].shape == (2, width, 2)


def test_the_noise_falls_to_its_end() -> None:
    made = Ivbnn(steps=100, noise_start=1.0, noise_end=0.01)
    assert made.noise_at(0) == 1.0
    assert made.noise_at(40) == pytest.approx(0.1)
    assert made.noise_at(80) == made.noise_at(99) == pytest.approx(0.01)


def test_four_points_of_a_sinusoid() -> None:
    X = np.array([[-0.9], [-0.3], [0.2], [0.8]])
    y = np.sin(4.0 * X[:, 0])
    belief = Ivbnn().fit(X, y)
    assert np.abs(belief.mean(X) - y).max() < 3.0 * 0.05
    away = belief.std(np.array([[-0.6], [-0.05], [0.5], [-1.5], [1.5]]))
    assert away.mean() > 2.0 * belief.std(X).mean()


def test_the_preset_is_the_training_of_the_source() -> None:
    made = nm.surrogates.create("ivbnn:source")
    assert (made.width_per_point, made.code_size, made.kappa) == (2, 5, 2.0)
    assert (made.batch, made.n_members, made.critic_steps) == (100, 30, 40)
    assert (made.learning_rate, made.noise_start, made.noise_end) == (3e-5, 1.0, 0.002)
    assert made.critic_width == 0


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"batch": 5}, "even"),
        ({"kappa": -1.0}, "kappa"),
        ({"critic_width": -1}, "critic_width"),
        ({"code_size": 0}, "code_size"),
        ({"noise_end": 0.0}, "noise_end"),
        ({"activation": "sigmoid"}, "activation"),
        ({"steps": 0}, "steps"),
    ],
)
def test_options_that_are_none_are_refused(options: dict[str, Any], match: str) -> None:
    with pytest.raises(InputError, match=match):
        Ivbnn(**options)
