"""The belief of formulas is what it says, so that tests may lean on it."""

from __future__ import annotations

import numpy as np
import pytest

from nnbo_mip.surrogates import Capability
from nnbo_mip.testing.analytic_belief import ALL, AnalyticBelief

X = np.random.default_rng(0).uniform(-1.0, 1.0, (20, 3))


def test_members_have_the_mean_and_the_spread_of_the_belief() -> None:
    belief = AnalyticBelief(d=3, scale=2.0)
    members = belief.members(X)
    np.testing.assert_allclose(members.mean(axis=1), belief.mean(X))
    np.testing.assert_allclose(members.std(axis=1), belief.std(X))
    np.testing.assert_allclose(belief.mean(X), np.sin(1.3 * X + np.arange(3)).sum(axis=1))


@pytest.mark.parametrize("belief", [AnalyticBelief(d=3), AnalyticBelief(d=3).draw(4)])
def test_gradients_are_difference_quotients(belief: AnalyticBelief) -> None:
    local, slopes, step = belief.differentiate(X), belief.member_gradients(X), 1e-6
    for axis, unit in enumerate(step * np.eye(3)):
        for values, gradient in (
            (belief.mean, local.mean_gradient[:, axis]),
            (belief.std, local.std_gradient[:, axis]),
            (belief.members, slopes[:, :, axis]),
        ):
            slope = (values(X + unit) - values(X - unit)) / (2.0 * step)
            np.testing.assert_allclose(gradient, slope, atol=1e-8)


def test_it_comes_back_from_its_arrays() -> None:
    belief = AnalyticBelief(3, 7, 0.5, 0.2, offered=ALL - {Capability.NOISE}).scaled(2.0).draw(1)
    again = AnalyticBelief.from_arrays(belief.to_arrays())
    assert again.capabilities == belief.capabilities
    assert np.array_equal(again.members(X), belief.members(X))
    assert not again.std(X).any()
    assert np.array_equal(again.noise_std(X), np.full(20, 0.2))
