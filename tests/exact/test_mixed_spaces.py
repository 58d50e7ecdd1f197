"""Exact steps over levels, grids and conditions: closed, sound, and never beyond enumeration."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import nnbo_mip as nm
from nnbo_mip.acquisitions.base.catalogue import registry as acquisitions
from nnbo_mip.loop.settings.defaults import surrogate_for
from nnbo_mip.space import Categorical, Integer, LinearConstraint, Ordinal, Real, Space

FINITE = [
    Categorical("c", ["p", "q", "r"]),
    Integer("n", 1, 7, log=True),
    Ordinal("o", [1, 2, 8, 9], log=False),
    Ordinal("s", ["small", "medium", "large"], when={"c": ["p", "q"]}),
    Integer("k", 0, 4, when={"c": "q"}, default=0),
    Categorical("d", [False, True], when={"c": "q"}),
]
CONTINUOUS = [
    *FINITE[:4],
    Real("a", 1e-3, 1.0, log=True, when={"c": ["q", "r"]}),
    Real("b", 0.0, 1.0, when={"c": "r"}, default=1.0),
]
ROW = LinearConstraint({"o": 1.0, ("c", "q"): 4.0}, "<=", 9.0)


def everything(space: Space) -> np.ndarray:
    """Return all points of a finite space, in model coordinates, by the user's values."""
    values = [
        list(one.levels)
        if isinstance(one, Categorical | Ordinal)
        else list(range(one.lower, one.upper + 1))  # type: ignore[attr-defined]
        for one in space.dimensions
    ]
    rows = [dict(zip(space.dim_names, row, strict=True)) for row in itertools.product(*values)]
    points = np.unique(space.encode(rows), axis=0)
    return np.asarray(points[space.model().admissible(points)])


def learned(space: Space, seed: int) -> tuple[Any, np.ndarray, np.ndarray]:
    """Return a process about a random function, and what it learned from."""
    domain, rng = space.model(), np.random.default_rng(seed)
    X = domain.sample(14, rng)
    slope = rng.standard_normal(X.shape[1])
    y = np.sin(2.0 * X @ slope) + X @ rng.standard_normal(X.shape[1])
    family = nm.surrogates.create(surrogate_for("gp", domain.n_parameters))
    return family.with_categories(domain.one_hot).fit(X, y), X, y


@pytest.mark.parametrize("acquisition", ["ei", "ucb"])
@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("rows", [(), ROW])
def test_the_maximum_over_a_finite_space_is_that_of_enumeration(
    acquisition: str, seed: int, rows: Any
) -> None:
    space = Space(FINITE, rows)
    belief, X, y = learned(space, seed)
    proposal = nm.maximize(
        belief, acquisition, space.model(), X=X, y=y, seed=seed, gap=1e-6, time_limit=200
    )
    assert proposal.status == "optimal"
    points = everything(space)
    scores = acquisitions.create(acquisition).scorer(belief, X, y).score(points)
    assert proposal.x is not None
    assert (points == proposal.x).all(axis=1).any()
    assert proposal.value == pytest.approx(scores.max(), rel=2e-6)
    assert proposal.bound >= scores.max()


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_no_random_point_is_beyond_the_bound(seed: int) -> None:
    space = Space(CONTINUOUS, ROW)
    domain = space.model()
    belief, X, y = learned(space, seed)
    scorer = acquisitions.create("ei").scorer(belief, X, y)
    proposal = nm.maximize(belief, "ei", domain, X=X, y=y, seed=seed, time_limit=200)
    assert proposal.status == "optimal"
    assert proposal.x is not None
    assert domain.admissible(proposal.x[None])[0]
    assert np.array_equal(domain.held(proposal.x[None]), proposal.x[None])
    attack = domain.sample(20_000, np.random.default_rng(seed))
    near = np.clip(
        proposal.x + 0.02 * np.random.default_rng(1).standard_normal((2000, domain.dimension)),
        domain.lower,
        domain.upper,
    )
    repaired = [domain.repair(point) for point in near[:300]]
    attack = np.vstack([attack, *[point[None] for point in repaired if point is not None]])
    assert scorer.score(attack).max() <= proposal.bound


def test_a_network_is_certified_and_checked_over_conditions() -> None:
    space = Space(CONTINUOUS, ROW)
    domain = space.model()
    rng = np.random.default_rng(3)
    weights = [rng.standard_normal((8, domain.dimension)), rng.standard_normal((1, 8))]
    network = nm.Network.from_layers(
        [(weights[0], rng.standard_normal(8)), (weights[1], np.zeros(1))]
    )
    best = network.evaluate(domain.sample(20_000, rng))[:, 0].max()
    for method in ("bab", "mip"):
        result = nm.certify(network, domain, method=method, time_limit=200)
        assert result.status == "optimal"
        assert best <= result.bound
        assert isinstance(result.x, np.ndarray)
        assert np.array_equal(domain.held(result.x[None]), result.x[None])
        assert result.certificate.check(network).verdict == "confirmed"
