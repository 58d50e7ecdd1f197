"""Posteriors are the beliefs themselves: mean, std and members agree at many points."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import nnbo_mip as nm
from nnbo_mip.core.errors import UnsupportedError
from nnbo_mip.network.graph.graph import Network
from nnbo_mip.scores.posteriors.compiled import (
    MembersPosterior,
    PlainPosterior,
    QuadraticPosterior,
    SmoothPosterior,
)
from nnbo_mip.scores.posteriors.process import ProcessPosterior
from nnbo_mip.scores.posteriors.tanh import TanhFeatures, TanhMembers
from nnbo_mip.surrogates.base.abstract import Belief, Capability

rng = np.random.default_rng(3)
X = rng.uniform(-1.0, 1.0, (9, 2))
Y = 40.0 + 7.0 * np.sin(3.0 * X[:, 0]) - X[:, 1]
POINTS = rng.uniform(-1.0, 1.0, (50, 2))


def fit(name, **options):
    return nm.surrogates.create(name, seed=1, **options).fit(X, Y)


SMALL = {"hidden": (6,), "epochs": 5}
BELIEFS = {
    "ensemble": ("deep_ensemble", {**SMALL, "n_members": 3}, MembersPosterior),
    "variance": ("deep_ensemble", {**SMALL, "spread": "variance"}, MembersPosterior),
    "mad": ("deep_ensemble", {**SMALL, "spread": "mad"}, PlainPosterior),
    "noisy": ("deep_ensemble", {**SMALL, "noisy": True}, MembersPosterior),
    "dropout": ("mc_dropout", {**SMALL, "passes": 4}, MembersPosterior),
    "elm": ("elm", {"activation": "relu", "n_members": 4, "n_hidden": 6}, MembersPosterior),
    "ervfl": ("ervfl", {"n_members": 4, "n_hidden": 8}, MembersPosterior),
    "ervfl with noise": (
        "ervfl",
        {"n_members": 4, "n_hidden": 8, "include_noise": True},
        MembersPosterior,
    ),
    "brvfl": ("brvfl", {"n_hidden": 20}, QuadraticPosterior),
    "brvfl with noise": ("brvfl", {"n_hidden": 20, "include_noise": True}, QuadraticPosterior),
    "brvfl with link": (
        "brvfl",
        {"n_hidden": 8, "direct_link": True, "solver": "cholesky"},
        QuadraticPosterior,
    ),
    "nomu": ("nomu", SMALL, PlainPosterior),
    "smooth nomu": ("nomu", {**SMALL, "bounding": "smooth"}, SmoothPosterior),
}


@pytest.mark.parametrize("case", BELIEFS)
def test_a_posterior_is_the_belief(case):
    name, options, kind = BELIEFS[case]
    fitted = fit(name, **options)
    for belief in (fitted, fitted.scaled(1.7)):
        posterior = belief.posterior()
        assert type(posterior) is kind
        scale = np.abs(belief.std(POINTS)).max() + 1e-3
        assert np.allclose(posterior.mean(POINTS), belief.mean(POINTS), rtol=1e-12)
        assert np.allclose(posterior.std(POINTS), belief.std(POINTS), atol=1e-11 * scale, rtol=1e-9)
        if Capability.MEMBERS in belief.capabilities:
            members = belief.posterior(members=True)
            assert np.allclose(members.members(POINTS), belief.members(POINTS), rtol=1e-12)


def test_draws_have_a_posterior_of_their_mean():
    for name, options in (("brvfl", {"n_hidden": 20}), ("deep_ensemble", SMALL)):
        drawn = fit(name, **options).draw(3)
        posterior = drawn.posterior()
        assert np.allclose(posterior.mean(POINTS), drawn.mean(POINTS), rtol=1e-12)
        assert np.abs(posterior.std(POINTS)).max() <= 1e-12


def test_noise_that_no_network_computes_is_refused():
    with pytest.raises(UnsupportedError, match="noise that varies"):
        fit("deep_ensemble", **SMALL, noisy=True, include_noise=True).posterior()
    belief = replace(fit("deep_ensemble", **SMALL, spread="mad"), include_noise=True, noise=0.3)
    with pytest.raises(UnsupportedError, match="beside a mean absolute deviation"):
        belief.posterior()
    assert belief.posterior(members=True).members(POINTS).shape == (50, 5)


class Other(Belief):
    """A belief of some other family."""

    family = "other"
    n_inputs = 1
    capabilities = frozenset({Capability.NETWORK})

    def __init__(self, names):
        self._names = names

    def network(self):
        rows = [[1.0], [0.5]][: len(self._names)]
        return Network.from_layers([(rows, [0.0, 1.0][: len(rows)])], self._names)

    def scaled(self, factor):
        return self

    def to_arrays(self):
        return {}

    @classmethod
    def from_arrays(cls, arrays):
        return cls(("mean",))


def test_other_families_serve_by_their_outputs():
    posterior = Other(("mean", "std")).posterior()
    assert posterior.std([[1.0]])[0] == 1.5
    with pytest.raises(UnsupportedError, match="outputs mean and std"):
        Other(("mean",)).posterior()


TANH = {"activation": "tanh", "n_hidden": 6}
CURVED = {
    "gp": ("gp", {}, ProcessPosterior),
    "gp, own units": (
        "gp",
        {"standardize_inputs": True, "ard": True, "noise": 0.1},
        ProcessPosterior,
    ),
    "gp, matern": ("gp", {"kernel": "matern", "nu": 1.5}, ProcessPosterior),
    "gp, rough": ("gp", {"kernel": "matern", "nu": 0.5, "normalize": False}, ProcessPosterior),
    "gp, rational": ("gp", {"kernel": "rational_quadratic", "mixture": 0.7}, ProcessPosterior),
    "elm": ("elm", {**TANH, "n_members": 4}, TanhMembers),
    "elm, variance": ("elm", {**TANH, "n_members": 4, "spread": "variance"}, TanhMembers),
    "ervfl": ("ervfl", {**TANH, "n_members": 4}, TanhMembers),
    "ervfl, noise": ("ervfl", {**TANH, "n_members": 4, "include_noise": True}, TanhMembers),
    "dropout": ("mc_dropout", {**SMALL, "passes": 4}, TanhMembers),
    "ensemble": ("deep_ensemble", SMALL, TanhMembers),
    "brvfl": ("brvfl", TANH, TanhFeatures),
    "brvfl, link": (
        "brvfl",
        {**TANH, "direct_link": True, "solver": "cholesky", "include_noise": True},
        TanhFeatures,
    ),
}


def as_tanh(belief):
    """The same weights with another activation: every shape of members is covered."""
    return replace(belief, stack=replace(belief.stack, activation="tanh"))


@pytest.mark.parametrize("case", CURVED)
def test_a_posterior_without_a_network_is_the_belief_with_its_gradients(case):
    name, options, kind = CURVED[case]
    fitted = as_tanh(fit(name, **options)) if options.get("epochs") else fit(name, **options)
    weights = np.linspace(0.5, 2.0, len(POINTS)), np.linspace(-1.0, 1.0, len(POINTS))
    for belief in (fitted, fitted.scaled(1.7)):
        posterior = belief.posterior()
        assert type(posterior) is kind
        assert posterior.n_inputs == 2
        local = belief.differentiate(POINTS)
        mean, std = posterior.moments(POINTS)
        assert np.allclose(mean, local.mean, rtol=1e-11)
        assert np.allclose(std, local.std, atol=1e-10 * np.abs(local.std).max(), rtol=1e-9)
        gradient = posterior.pull_moments(POINTS, lambda mean, std: weights)
        expected = weights[0][:, None] * local.mean_gradient
        expected = expected + weights[1][:, None] * local.std_gradient
        assert np.allclose(gradient, expected, atol=1e-7 * np.abs(expected).max())
        if Capability.MEMBERS in belief.capabilities:
            members = belief.posterior(members=True)
            assert np.allclose(members.members(POINTS), belief.members(POINTS), rtol=1e-11)
            shares = np.linspace(-1.0, 1.0, 50 * members.members(POINTS).shape[1]).reshape(50, -1)
            pulled = (shares[:, :, None] * belief.member_gradients(POINTS)).sum(axis=1)
            assert np.allclose(members.pull_members(POINTS, shares), pulled, atol=1e-9)


def test_curved_beliefs_without_bounds_are_refused():
    with pytest.raises(UnsupportedError, match="sum of many waves"):
        fit("gp").draw(1).posterior()
    with pytest.raises(UnsupportedError, match="matern with nu"):
        fit("gp", kernel="matern", nu=1.7).posterior()
    with pytest.raises(UnsupportedError, match="one hidden layer"):
        as_tanh(fit("deep_ensemble", hidden=(4, 4), epochs=2)).posterior()
    with pytest.raises(UnsupportedError, match="std or variance"):
        fit("elm", **TANH, spread="mad").posterior()
