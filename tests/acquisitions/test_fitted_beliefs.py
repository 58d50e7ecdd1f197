"""Acquisitions on beliefs that were fitted: values, gradients, and what suits which."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from scipy.stats import norm

import nnbo_mip as nm
from nnbo_mip.core.errors import UnsupportedError
from nnbo_mip.surrogates import Belief

SURROGATES = {
    "gp": "gp",
    "brvfl": "brvfl:n_hidden=40",
    "elm": "elm:n_members=12,activation=relu,weight_range=1.0",
    "elm_variance": "elm:n_members=12,spread=variance,weight_range=1.0",
    "elm_mad": "elm:n_members=12,activation=relu,spread=mad,weight_range=1.0",
}
MOMENTS = ("mean", "ucb:beta=2", "ei", "logei", "pi:xi=0.1", "mes", "aei", "nei", "eqi")
RNG = np.random.default_rng(11)
X = RNG.uniform(-1.0, 1.0, (9, 2))
Y = 3.0 + np.sin(2.0 * X[:, 0]) * np.cos(3.0 * X[:, 1])
PROBES = RNG.uniform(-1.0, 1.0, (60, 2))


@cache
def belief_of(name: str) -> Belief:
    return nm.surrogates.create(SURROGATES[name], seed=0).fit(X, Y)


def agreement(spec: str, belief: Belief) -> float:
    """Return the share of probes at which gradient and difference quotient agree."""
    scorer, step = nm.acquisitions.create(spec).scorer(belief, X, Y), 1e-6
    gradient, agreeing = scorer.gradient(PROBES), np.ones(len(PROBES), dtype=bool)
    for axis, unit in enumerate(np.eye(2)):
        ahead, behind = scorer.score(PROBES + step * unit), scorer.score(PROBES - step * unit)
        slope = (ahead - behind) / (2.0 * step)
        size = 1e-3 * (np.abs(slope).max() + 1e-9)
        agreeing &= np.isclose(gradient[:, axis], slope, rtol=1e-3, atol=size)
    return float(agreeing.mean())


@pytest.mark.parametrize("name", SURROGATES)
@pytest.mark.parametrize("spec", MOMENTS)
def test_gradients_of_fitted_beliefs(name: str, spec: str) -> None:
    # Kinks of relu beliefs lie within a step of a probe now and then.
    assert agreement(spec, belief_of(name)) >= 0.95


@pytest.mark.parametrize(
    ("name", "spec"),
    [
        ("elm", "empirical_ei"),
        ("elm", "ts"),
        ("brvfl", "empirical_ei:n_draws=6"),
        ("brvfl", "ts:seed=2"),
        ("gp", "empirical_ei:n_draws=3"),
        ("gp", "ts"),
    ],
)
def test_gradients_of_members_and_draws(name: str, spec: str) -> None:
    assert agreement(spec, belief_of(name)) >= 0.95


@pytest.mark.parametrize("name", SURROGATES)
def test_scores_are_the_formulas_of_mean_and_std(name: str) -> None:
    belief, best = belief_of(name), float(Y.max())
    mean, std = belief.mean(PROBES), belief.std(PROBES)
    u = (mean - best) / std

    def score(spec: str) -> np.ndarray:
        return nm.acquisitions.create(spec).scorer(belief, X, Y).score(PROBES)

    ei = (mean - best) * norm.cdf(u) + std * norm.pdf(u)
    np.testing.assert_allclose(score("ei"), ei, rtol=1e-6, atol=1e-12)
    np.testing.assert_allclose(score("pi"), norm.cdf(u), rtol=1e-9, atol=1e-15)
    np.testing.assert_allclose(score("ucb:beta=2,factor=1.5"), mean + 3.0 * std)
    np.testing.assert_allclose(score("mean"), mean)
    clear = ei > 1e-8
    np.testing.assert_allclose(score("logei")[clear], np.log(ei[clear]), rtol=1e-6)


def test_no_improvement_is_expected_at_the_data_of_a_noise_free_belief() -> None:
    belief = belief_of("gp")
    scores = nm.acquisitions.create("ei").scorer(belief, X, Y).score(X)
    assert scores.max() < 1e-3 * Y.std()
    assert nm.acquisitions.create("logei").scorer(belief, X, Y).score(X).max() < -7.0


def test_an_effective_best_is_one_of_the_means() -> None:
    belief = belief_of("brvfl")
    head = nm.acquisitions.create("aei").resolve(belief, X, Y)
    assert head.threshold in belief.mean(X)  # type: ignore[attr-defined]
    assert head.noise == pytest.approx(belief.noise_std(X)[0])  # type: ignore[attr-defined]


def test_a_brvfl_has_no_members_but_draws() -> None:
    with pytest.raises(UnsupportedError, match=r"a brvfl belief offers .*give n_draws=32"):
        nm.acquisitions.create("empirical_ei").resolve(belief_of("brvfl"), X, Y)
