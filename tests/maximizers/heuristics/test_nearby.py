"""Points around good ones: within bounds, few coordinates at a time, found where Sobol has none."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import nnbo_mip as nm
from nnbo_mip.core.errors import InputError
from nnbo_mip.maximizers.heuristics.lbfgs import MANY_INPUTS, Lbfgs
from nnbo_mip.maximizers.heuristics.nearby import nearby
from nnbo_mip.space import Integer, Real, Space


def test_few_coordinates_move_and_all_stay_within() -> None:
    domain = Space.box([0.0] * 200, [1.0] * 200).model()
    lower, upper = np.array(domain.lower), np.array(domain.upper)
    lower[:100] = upper[:100] = 0.25  # coordinates that are fixed stay so
    part = domain.restrict(lower, upper)
    centres = np.full((3, 200), 0.25)
    centres[1, 150] = 1.0
    points = nearby(part, centres, 300, seed=3)
    assert points.shape == (300, 200)
    assert (points >= lower).all()
    assert (points <= upper).all()
    moved = points != centres[np.arange(300) % 3]
    assert moved[1::3].any()
    assert moved.sum(axis=1).min() >= 1 - int((points[1::3, 150] == 1.0).any())
    assert moved.sum(axis=1).mean() < 25
    assert np.array_equal(points, nearby(part, centres, 300, seed=3))
    assert len(nearby(part, centres, 0, seed=3)) == 0


def test_a_peak_in_a_hundred_inputs_is_reached_from_the_best_point() -> None:
    rng = np.random.default_rng(0)
    d = 100
    X = rng.uniform(-1.0, 1.0, (60, d))
    y = -np.square(X[:, :3] - 0.4).sum(axis=1)
    belief = nm.surrogates.create(
        "gp:kernel=matern,ard=True,length_scale_prior=hierarchical,starts=screened,alpha=1e-6"
    ).fit(X, y)
    domain = Space.box([-1.0] * d, [1.0] * d).model()
    starts = X[np.argsort(-y)[:5]]

    def found(**options: Any) -> float:
        maximizer = Lbfgs(raw_samples=64, starts=4, **options)
        return nm.maximize(belief, "ei", domain, maximizer=maximizer, X=X, y=y, starts=starts).value

    assert found() == found(around=64)
    assert found() >= found(around=0)
    assert d > MANY_INPUTS


def test_integers_are_settled_on_their_grids() -> None:
    space = Space(
        [*(Integer(f"n{j}", 0, 9) for j in range(15)), *(Real(f"r{j}", 0, 1) for j in range(15))]
    )
    domain = space.model()
    rng = np.random.default_rng(1)
    X = domain.sample(30, rng)
    y = X.sum(axis=1)
    belief = nm.surrogates.create("spherical_linear").fit(X, y)
    starts = X[np.argsort(-y)[:5]]
    best = nm.maximize(
        belief, "ei", domain, maximizer="lbfgs:raw_samples=64", X=X, y=y, starts=starts
    )
    assert best.x is not None
    assert domain.admissible(best.x[None])[0]


def test_a_number_of_points_that_is_none_is_refused() -> None:
    with pytest.raises(InputError, match="around"):
        Lbfgs(around=-1)
