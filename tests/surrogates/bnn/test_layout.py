"""Weights as vectors: the compiled misfit against stacks, gradients, sigmoids as tanh."""

from __future__ import annotations

import numpy as np
import pytest

from nnbo_mip.surrogates.bnn.data import NetworkData
from nnbo_mip.surrogates.bnn.layout import NETWORK_ACTIVATIONS, Layout, Misfit
from nnbo_mip.testing.surrogate_contract import sample


def test_three_layers_of_fifty_units_have_5251_weights() -> None:
    assert Layout(1, (50, 50, 50)).size == 5251
    layout = Layout(2, (3,))
    assert [(part.start, part.stop) for part in layout.groups] == [
        (0, 6),
        (6, 9),
        (9, 12),
        (12, 13),
    ]


@pytest.mark.parametrize("activation", NETWORK_ACTIVATIONS)
@pytest.mark.parametrize("hidden", [(6,), (5, 4), (3, 4, 2)])
def test_the_misfit_is_that_of_the_stack(activation: str, hidden: tuple[int, ...]) -> None:
    rng = np.random.default_rng(0)
    layout = Layout(2, hidden)
    theta = rng.standard_normal((4, layout.size))
    u, v = rng.standard_normal((9, 2)), rng.standard_normal(9)
    found, _ = Misfit(layout, activation, u, v)(theta)
    values = layout.stack(theta, activation).evaluate(u)[:, :, 0]
    np.testing.assert_allclose(found, np.square(values - v).sum(axis=1), rtol=1e-12)


@pytest.mark.parametrize("activation", NETWORK_ACTIVATIONS)
@pytest.mark.parametrize("hidden", [(6,), (5, 4), (3, 4, 2)])
def test_the_gradient_of_the_misfit(activation: str, hidden: tuple[int, ...]) -> None:
    rng = np.random.default_rng(1)
    layout = Layout(2, hidden)
    misfit = Misfit(layout, activation, rng.standard_normal((9, 2)), rng.standard_normal(9))
    theta = rng.standard_normal((3, layout.size))
    _, gradient = misfit(theta)
    step = 1e-6
    for column, unit in enumerate(np.eye(layout.size)):
        slope = (misfit(theta + step * unit)[0] - misfit(theta - step * unit)[0]) / (2.0 * step)
        np.testing.assert_allclose(gradient[:, column], slope, rtol=1e-6, atol=1e-6)


def test_a_unit_of_other_measure_changes_no_standardized_value() -> None:
    X, y = sample(15, 2)
    plain = NetworkData.of(X, y, (3,), "tanh", True, None)
    for size in (1e-9, 3.7, 1e12):
        scaled = NetworkData.of(X, size * y + 5.0 * size, (3,), "tanh", True, None)
        assert np.array_equal(scaled.misfit.v, plain.misfit.v)


def test_every_chain_has_its_share_of_the_members_and_the_noise_is_theirs() -> None:
    X, y = sample(15, 2)
    data = NetworkData.of(X, y, (3,), "relu", False, None)
    theta = np.random.default_rng(2).standard_normal((6, 2, data.layout.size))
    noise = np.arange(1.0, 13.0).reshape(6, 2)
    belief = data.belief("bnn_hmc", theta, noise, 4, "std", True)
    assert belief.stack.n_members == 4
    np.testing.assert_allclose(belief.noise / y.std(), np.sqrt((25 + 121 + 36 + 144) / 4.0))
    expected = data.layout.stack(theta[[2, 5, 2, 5], [0, 0, 1, 1]], "relu")
    assert np.array_equal(belief.stack.weights[0], expected.weights[0])
