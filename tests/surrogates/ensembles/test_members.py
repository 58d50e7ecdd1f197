"""The belief of members against its formulas, at every spread, scale and kind of noise."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from nnbo_mip.surrogates.base.abstract import Capability
from nnbo_mip.surrogates.base.observations import Standardization
from nnbo_mip.surrogates.ensembles.members import SPREADS, MemberBelief
from nnbo_mip.surrogates.ensembles.stack import Stack

M, D, WIDTH = 4, 2, 6
X = np.random.default_rng(3).uniform(-1.5, 1.5, (30, D))
UNITS = Standardization(np.array([0.3, -0.1]), np.array([0.7, 2.0]), 5.0, 3.0)


def belief_of(outputs: int = 1, members: int = M, **options: object) -> MemberBelief:
    rng = np.random.default_rng(0)
    stack = Stack(
        (rng.normal(size=(members, WIDTH, D)), rng.normal(size=(members, outputs, WIDTH))),
        (rng.normal(size=(members, WIDTH)), rng.normal(size=(members, outputs))),
    )
    return MemberBelief("deep_ensemble", stack, UNITS, **options)


def raw(belief: MemberBelief) -> np.ndarray:
    """Return the members' standardized outputs (M, n, m)."""
    return belief.stack.evaluate((X - UNITS.x_center) / UNITS.x_scale)


def spread_of(values: np.ndarray, spread: str) -> np.ndarray:
    """Return the spread (n,) of values (M, n)."""
    if spread == "mad":
        return np.array(
            [np.mean([abs(a - np.mean(column)) for a in column]) for column in values.T]
        )
    variance = np.array([np.mean(column**2) - np.mean(column) ** 2 for column in values.T])
    return variance if spread == "variance" else np.sqrt(variance)


@pytest.mark.parametrize("spread", SPREADS)
@pytest.mark.parametrize("scale", [1.0, 0.2, 7.0])
def test_values_are_the_formulas(spread: str, scale: float) -> None:
    belief = belief_of(spread=spread).scaled(scale)
    values = raw(belief)[:, :, 0]
    np.testing.assert_allclose(belief.mean(X), 5.0 + 3.0 * values.mean(axis=0), rtol=1e-12)
    expected = scale * 3.0 * spread_of(values, spread)
    np.testing.assert_allclose(belief.std(X), expected, rtol=1e-9)


@pytest.mark.parametrize("spread", SPREADS)
@pytest.mark.parametrize("scale", [1.0, 0.2, 7.0])
def test_scaled_members_have_the_scaled_spread(spread: str, scale: float) -> None:
    belief = belief_of(spread=spread).scaled(scale)
    standardized = (belief.members(X).T - 5.0) / 3.0
    np.testing.assert_allclose(3.0 * spread_of(standardized, spread), belief.std(X), rtol=1e-9)
    np.testing.assert_allclose(belief.members(X).mean(axis=1), belief.mean(X), rtol=1e-12)


@pytest.mark.parametrize("spread", SPREADS)
@pytest.mark.parametrize("outputs", [1, 2])
@pytest.mark.parametrize("members", [1, M])
@pytest.mark.parametrize("scale", [1.0, 3.0])
def test_the_network_is_the_belief(spread: str, outputs: int, members: int, scale: float) -> None:
    belief = belief_of(outputs, members, spread=spread).scaled(scale)
    network = belief.network()
    names = {"mean", *(f"member{index}" for index in range(members))}
    assert set(network.output_names) == names | ({"std"} if spread == "mad" else set())
    np.testing.assert_allclose(network.evaluate(X, "mean"), belief.mean(X), rtol=1e-11)
    for index in range(members):
        member = network.evaluate(X, f"member{index}")
        np.testing.assert_allclose(member, belief.members(X)[:, index], rtol=1e-11, atol=1e-11)
    if spread == "mad":
        np.testing.assert_allclose(network.evaluate(X, "std"), belief.std(X), atol=1e-11)


def test_a_std_with_noise_is_no_output_of_the_network() -> None:
    belief = belief_of(2, spread="mad", include_noise=True)
    assert "std" not in belief.network().output_names


@pytest.mark.parametrize("spread", SPREADS)
@pytest.mark.parametrize("constant", [0.0, 0.4])
@pytest.mark.parametrize("outputs", [1, 2])
def test_noise_is_added_in_squares_and_not_scaled(
    spread: str, constant: float, outputs: int
) -> None:
    plain = belief_of(outputs, spread=spread, noise=constant).scaled(2.0)
    variances = np.log(1.0 + np.exp(raw(plain)[:, :, 1])) if outputs == 2 else np.zeros((M, 30))
    noise = np.sqrt(9.0 * variances.mean(axis=0) + constant**2)
    np.testing.assert_allclose(plain.noise_std(X), noise, rtol=1e-12)
    included = replace(plain, include_noise=True)
    total = np.sqrt(plain.std(X) ** 2 + noise**2)
    np.testing.assert_allclose(included.std(X), total, rtol=1e-12)
    assert (Capability.NOISE in plain.capabilities) == (outputs == 2 or constant > 0.0)
    assert np.array_equal(included.predict(X, return_std=True)[1], included.std(X))


@pytest.mark.parametrize("spread", SPREADS)
@pytest.mark.parametrize("outputs", [1, 2])
@pytest.mark.parametrize("include", [False, True])
def test_gradients_are_difference_quotients(spread: str, outputs: int, include: bool) -> None:
    belief = belief_of(outputs, spread=spread, noise=0.4, include_noise=include).scaled(1.7)
    local, step = belief.differentiate(X), 1e-6
    np.testing.assert_allclose(local.mean, belief.mean(X), rtol=1e-12)
    np.testing.assert_allclose(local.std, belief.std(X), rtol=1e-12)
    member_slopes = belief.member_gradients(X)
    for axis, unit in enumerate(np.eye(D)):
        ahead, behind = X + step * unit, X - step * unit
        for slope, values in (
            (local.mean_gradient[:, axis], belief.mean),
            (local.std_gradient[:, axis], belief.std),
            (member_slopes[:, :, axis], belief.members),
        ):
            quotient = (values(ahead) - values(behind)) / (2.0 * step)
            np.testing.assert_allclose(slope, quotient, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("spread", SPREADS)
def test_one_member_has_no_spread_and_finite_slopes(spread: str) -> None:
    belief = belief_of(members=1, spread=spread)
    assert (belief.std(X) == 0.0).all()
    assert (belief.differentiate(X).std_gradient == 0.0).all()


def test_draws_are_the_members_each_as_likely() -> None:
    belief = belief_of().scaled(3.0)
    functions = 5.0 + 3.0 * raw(belief)[:, :, 0]
    counts = np.zeros(M)
    for seed in range(400):
        drawn = belief.draw(seed)
        nearest = np.abs(functions - drawn.mean(X)).max(axis=1)
        counts[np.argmin(nearest)] += 1
        assert nearest.min() < 1e-9
        assert (drawn.std(X) == 0.0).all()
    # 400 draws over four members: 100 each with deviation 8.7.
    assert np.abs(counts - 100.0).max() < 40.0
    assert np.array_equal(belief.draw(7).mean(X), belief.draw(7).mean(X))
