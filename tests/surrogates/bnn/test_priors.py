"""Priors of weights: energies, draws, what they say of functions as networks grow wide."""

from __future__ import annotations

import numpy as np
import pytest

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.errors import InputError
from nnbo_mip.surrogates.bnn.layout import Layout
from nnbo_mip.surrogates.bnn.priors import WeightPrior

LAYOUT = Layout(2, (4, 3))


@pytest.mark.parametrize("kinds", ["gaussian", "cauchy", ("gaussian", "gaussian", "cauchy")])
@pytest.mark.parametrize("by_width", [False, True])
def test_the_gradient_of_the_energy(kinds: str | tuple[str, ...], by_width: bool) -> None:
    prior = WeightPrior.of(LAYOUT, kinds, (0.5, 1.0, 2.0), by_width)
    theta = np.random.default_rng(0).standard_normal((2, LAYOUT.size))
    tau = prior.precisions(2)
    _, gradient = prior.energy(theta, tau)
    for column, unit in enumerate(1e-6 * np.eye(LAYOUT.size)):
        ahead, behind = prior.energy(theta + unit, tau)[0], prior.energy(theta - unit, tau)[0]
        np.testing.assert_allclose(gradient[:, column], (ahead - behind) / 2e-6, atol=1e-6)


def test_energies_by_hand() -> None:
    layout = Layout(1, (1,))
    theta = np.array([[3.0, 1.0, -2.0, 0.5]])
    gaussian = WeightPrior.of(layout, "gaussian", (2.0, 0.5), False)
    assert gaussian.energy(theta, gaussian.precisions(1))[0] == pytest.approx(
        [0.5 * (9.0 + 1.0) / 4.0 + 0.5 * (4.0 + 0.25) / 0.25]
    )
    cauchy = WeightPrior.of(layout, "cauchy", 2.0, False)
    assert cauchy.energy(theta, cauchy.precisions(1))[0] == pytest.approx(
        [np.log1p(np.array([9.0, 1.0, 4.0, 0.25]) / 4.0).sum()]
    )


def step_functions(kind: str, width: int, n_draws: int) -> FloatArray:
    """Draws (N, 200) of one layer of step units, Gaussian inside and `kind` outside."""
    layout = Layout(1, (width,))
    prior = WeightPrior.of(layout, ("gaussian", kind), (10.0, 1.0), True)
    grid = np.linspace(-1.0, 1.0, 200)
    rows = []
    for rng in np.random.default_rng(1).spawn(n_draws):
        (inner, bias), (outer, offset) = layout.split(prior.draw(1, rng))
        steps = np.sign(grid[:, None] * inner[0] + bias[0])
        rows.append((steps @ outer[0] + offset[0])[:, 0])
    return np.array(rows)


@pytest.mark.parametrize("width", [150, 10000])
def test_wide_gaussian_networks_are_gaussian_and_smooth_out_and_cauchy_ones_keep_jumps(
    width: int,
) -> None:
    n_draws = 200 if width == 150 else 16
    jumps = {}
    for kind in ("gaussian", "cauchy"):
        draws = step_functions(kind, width, n_draws)
        ranges = draws.max(axis=1) - draws.min(axis=1)
        jumps[kind] = np.median(np.abs(np.diff(draws, axis=1)).max(axis=1) / ranges)
    assert jumps["cauchy"] > 2.0 * jumps["gaussian"]
    assert jumps["cauchy"] > 0.3


def test_marginals_of_wide_gaussian_networks_have_kurtosis_three() -> None:
    prior = WeightPrior.of(Layout(1, (150,)), "gaussian", 1.0, True)
    theta = prior.draw(8000, np.random.default_rng(2))
    values = prior.layout.stack(theta, "tanh").evaluate(np.array([[0.7]]))[:, 0, 0]
    off = values - values.mean()
    assert abs((off**4).mean() / (off**2).mean() ** 2 - 3.0) < 0.25
    wild = WeightPrior.of(Layout(1, (150,)), ("gaussian", "cauchy"), 1.0, True)
    theta = wild.draw(8000, np.random.default_rng(2))
    off = wild.layout.stack(theta, "tanh").evaluate(np.array([[0.7]]))[:, 0, 0]
    assert (off**4).mean() / (off**2).mean() ** 2 > 100.0


@pytest.mark.parametrize("kind", ["gaussian", "cauchy"])
def test_precisions_follow_the_weights(kind: str) -> None:
    layout = Layout(1, (2000,))
    drawn_from = WeightPrior.of(layout, kind, (0.2, 3.0), True)
    theta = drawn_from.draw(1, np.random.default_rng(3))
    prior = WeightPrior.of(layout, kind, 1.0, True)
    rng, tau, found = np.random.default_rng(4), prior.precisions(1), []
    for _ in range(60):
        tau = prior.draw_precisions(theta, tau, 2.0, rng)
        found.append(tau[0])
    scales = 1.0 / np.sqrt(np.mean(found[30:], axis=0))
    np.testing.assert_allclose(scales, [0.2, 3.0], rtol=0.15)


def test_as_many_scales_as_layers_are_asked_for() -> None:
    with pytest.raises(InputError, match="each of the 3 layers"):
        WeightPrior.of(LAYOUT, "gaussian", (1.0, 2.0), False)
    with pytest.raises(InputError, match="each of the 3 layers"):
        WeightPrior.of(LAYOUT, ("gaussian",) * 2, 1.0, False)
