"""Beliefs whose squares leave float64 are refused, by a sentence that says what to do."""

from __future__ import annotations

import numpy as np
import pytest

import nnbo_mip as nm

DOMAIN = nm.Space.box([-1.0, -1.0], [1.0, 1.0]).model()
X = np.random.default_rng(0).uniform(-1.0, 1.0, (8, 2))
Y = -np.square(X - 0.3).sum(axis=1)


@pytest.mark.parametrize("family", ["gp:n_restarts=0", "brvfl:n_hidden=10"])
@pytest.mark.parametrize("maximizer", ["auto", "lbfgs:weak", "random"])
@pytest.mark.parametrize("exponent", [-1000, -450, 550, 1000])
def test_far_from_one_they_are_refused(family: str, maximizer: str, exponent: int) -> None:
    y = np.ldexp(Y, exponent)
    belief = nm.surrogates.create(family).fit(X, y)
    for given in (y, None):
        acquisition = {"name": "ei", "incumbent": float(y.max())} if given is None else "ei"
        with pytest.raises(nm.InputError, match="must lie between 1e-120 and 1e\\+150 in size"):
            nm.maximize(belief, acquisition, DOMAIN, y=given, maximizer=maximizer)


@pytest.mark.parametrize("exponent", [-380, 300])
def test_up_to_there_bounds_hold(exponent: int) -> None:
    y = np.ldexp(Y, exponent)
    belief = nm.surrogates.create("brvfl", n_hidden=10).fit(X, y)
    proposal = nm.maximize(belief, "ei", DOMAIN, y=y)
    score = nm.acquisitions.create("ei").scorer(belief, y=y)
    probes = np.random.default_rng(1).uniform(-1.0, 1.0, (2000, 2))
    assert proposal.status == "optimal"
    assert proposal.value <= proposal.bound
    in_logarithms = proposal.head == "logei"
    with np.errstate(divide="ignore"):
        scores = np.log(score.score(probes)) if in_logarithms else score.score(probes)
    assert scores.max() <= proposal.bound


def test_where_the_values_are_ordinary_a_mean_may_vanish() -> None:
    """As trees on likelihoods do: far from the peak a leaf has 1e-170."""
    y = np.append(np.full(7, 1e-170), 1.0)
    belief = nm.surrogates.create("random_forest", n_trees=3).fit(X, y)
    assert nm.maximize(belief, "ei", DOMAIN, y=y).status == "optimal"


def test_trees_refuse_values_whose_variance_is_not_finite() -> None:
    with pytest.raises(nm.InputError, match="a standard deviation of at most 1e\\+150 for a"):
        nm.surrogates.create("random_forest").fit(X, np.ldexp(Y, 550))


def test_all_zeros_are_no_small_values() -> None:
    belief = nm.surrogates.create("brvfl", n_hidden=10).fit(X, np.zeros(8))
    assert nm.maximize(belief, "ucb", DOMAIN, y=np.zeros(8)).value >= 0.0


@pytest.mark.parametrize("family", ["tpe", "bore"])
def test_ratios_have_no_size(family: str) -> None:
    y = np.ldexp(Y, 540)
    belief = nm.surrogates.create(family).fit(X, y)
    found = nm.maximize(belief, "ratio", DOMAIN, X=X, y=y, maximizer="random:evaluations=100")
    assert found.x is not None
