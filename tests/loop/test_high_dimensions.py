"""A hundred dimensions are no special case, whichever family learns and however it searches."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import nnbo_mip as nm
from nnbo_mip.loop.optimizer import BayesianOptimizer
from nnbo_mip.space import Integer, Real, Space
from tests.loop.runs import advance, figures, optimizer

D = 100

PROBLEM = nm.problems.create("embedded:problem=branin,dimension=100,coordinates=(19,64)")

FAMILIES = [
    "gp:n_restarts=0",
    "brvfl:n_hidden=20",
    "nomu:hidden=(8,),epochs=20",
    "deep_ensemble:hidden=(8,),epochs=20",
    "mc_dropout:hidden=(8,),epochs=20",
    "ervfl:n_hidden=8",
    "elm:n_hidden=8",
]


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_asks_and_bounds(family: str) -> None:
    acquisition = "mean" if family.startswith("elm") else "ucb"
    run = BayesianOptimizer(
        PROBLEM.space, family, acquisition, initial=6, time_limit=0.3, region="trust:length=0.4"
    )
    asked = advance(run, 8, PROBLEM)
    domain = PROBLEM.space.model()
    for one in asked[6:]:
        assert one.status in ("optimal", "feasible")
        assert one.bound >= one.value
        assert one.region is not None
        assert domain.admissible(PROBLEM.space.encode(one.x))[0]
        # No point that is drawn in the region scores above its bound.
        assert one.proposal is not None
        assert one.proposal.objective is not None
        points = np.random.default_rng(0).uniform(one.region.lower, one.region.upper, (500, D))
        assert one.proposal.objective.score(points).max() <= one.bound


def test_a_wide_space_of_integers_and_logarithms(tmp_path: Path) -> None:
    sides = [Integer(f"n{j}", 0, 9) for j in range(50)]
    space = Space([*sides, *(Real(f"r{j}", 1e-3, 1e3, log=True) for j in range(50))])

    def f(x: dict[str, float]) -> float:
        return float((x["n3"] - 7) ** 2 + np.log10(x["r5"]) ** 2)

    path = tmp_path / "run.db"
    for embedding in (None, "hashed:dimension=6"):
        target = path if embedding is None else None
        run = optimizer(space, region="trust", embedding=embedding, journal=target)
        asked = advance(run, 7, f)
        assert all(space.model().admissible(space.encode(one.x))[0] for one in asked)
    again = optimizer(space, region="trust")
    expected = advance(again, 7, f)
    stored = BayesianOptimizer.open(path).suggestions
    assert [figures(one) for one in stored] == [figures(one) for one in expected]
