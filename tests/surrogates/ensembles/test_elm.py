"""Ensembles of extreme learning machines: the contract, least squares, interpolation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from nnbo_mip.core.errors import InputError
from nnbo_mip.surrogates.ensembles.elm import Elm
from nnbo_mip.testing.surrogate_contract import SurrogateContract, sample


class TestTanh(SurrogateContract):
    def make(self, **options: Any) -> Elm:
        return Elm(n_members=7, n_hidden=5, weight_range=2.0, **options)


class TestRelu(SurrogateContract):
    def make(self, **options: Any) -> Elm:
        return Elm(n_members=6, activation="relu", **options)


class TestReluMad(SurrogateContract):
    def make(self, **options: Any) -> Elm:
        return Elm(n_members=6, n_hidden=5, activation="relu", spread="mad", **options)


class TestCoarseRcond(SurrogateContract):
    def make(self, **options: Any) -> Elm:
        return Elm(n_members=9, activation="relu", rcond=1e-2, spread="variance", **options)


def test_the_default_is_500_members_of_10_tanh_units_in_10() -> None:
    made = Elm()
    assert (made.n_members, made.n_hidden, made.activation, made.weight_range) == (
        *(500, 10, "tanh", 10.0),
    )
    stack = made.fit(*sample(4, 2)).stack
    assert stack.weights[0].shape == (500, 10, 2)
    for drawn in (stack.weights[0], stack.biases[0]):
        assert -10.0 <= drawn.min() < -9.9
        assert 9.9 < drawn.max() <= 10.0
        assert abs(drawn.mean()) < 0.3


@pytest.mark.parametrize("n", [1, 3, 6, 10])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_members_interpolate_up_to_ten_observations(n: int, seed: int) -> None:
    X, y = sample(n, 3, seed=seed + 20)
    belief = Elm(seed=seed).fit(X, y)
    hidden = belief.stack.hidden(belief.units.inward(X))
    sizes = np.linalg.svd(hidden, compute_uv=False)
    # Two units that are saturated alike at all n points leave fewer than n directions.
    able = sizes[:, -1] > 1e-9 * sizes[:, 0]
    assert able.mean() > 0.99
    errors = np.abs(belief.members(X) - y[:, None]).max(axis=0)
    assert errors[able].max() < 1e-5 * max(y.std(), 1e-3)


@pytest.mark.parametrize("n", [2, 4, 6])
def test_the_spread_is_zero_at_the_data_and_not_elsewhere(n: int) -> None:
    X, y = sample(n, 2)
    belief = Elm().fit(X, y)
    assert belief.std(X).max() < 1e-8 * y.std()
    elsewhere = np.random.default_rng(0).uniform(-1.0, 1.0, (100, 2))
    assert np.median(belief.std(elsewhere)) > 0.1 * y.std()


@pytest.mark.parametrize("activation", ["tanh", "relu"])
@pytest.mark.parametrize("n", [4, 40])
def test_output_weights_are_the_least_squares_of_smallest_norm(n: int, activation: str) -> None:
    X, y = sample(n, 2)
    belief = Elm(n_members=30, activation=activation, rcond=1e-6).fit(X, y)
    hidden = belief.stack.hidden(belief.units.inward(X))
    values = (y - y.mean()) / y.std()
    for member in range(30):
        expected = np.linalg.lstsq(hidden[member], values, rcond=1e-6)[0]
        found = belief.stack.weights[1][member, 0]
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-8 * np.abs(expected).max())


def test_a_coarse_rcond_keeps_members_within_the_size_of_the_data() -> None:
    # As many observations as units: H is square and close to singular for some members.
    X, y = sample(10, 2, seed=0)
    elsewhere = np.random.default_rng(0).uniform(-1.0, 1.0, (400, 2))
    sizes = {
        rcond: np.abs(Elm(rcond=rcond).fit(X, y).members(elsewhere) - y.mean()).max() / y.std()
        for rcond in (1e-10, 1e-2)
    }
    assert sizes[1e-10] > 1e4
    assert sizes[1e-2] < 100.0


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"n_members": 0}, "n_members"),
        ({"n_hidden": 0}, "n_hidden"),
        ({"activation": "sigmoid"}, "relu, tanh"),
        ({"weight_range": 0.0}, "weight_range"),
        ({"rcond": 1.0}, "rcond"),
        ({"rcond": -1e-3}, "rcond"),
        ({"spread": "range"}, "std, variance, mad"),
        ({"y_range": (2.0, 1.0)}, "y_range"),
        ({"seed": 0.5}, "seed"),
    ],
)
def test_options_that_are_none_are_refused(options: dict[str, Any], match: str) -> None:
    with pytest.raises(InputError, match=match):
        Elm(**options)
