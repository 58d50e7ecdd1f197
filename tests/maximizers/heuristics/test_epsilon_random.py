"""A random point now and then, another maximizer's choice else."""

from __future__ import annotations

import numpy as np
import pytest

import nnbo_mip as nm
from nnbo_mip.core.errors import InputError, UnsupportedError
from nnbo_mip.maximizers.heuristics.epsilon_random import SAID
from nnbo_mip.testing.analytic_belief import AnalyticBelief

SQUARE = nm.Space.box([-1.0, -1.0], [1.0, 1.0]).model()


def propose(seed: int, spec: str = "epsilon_random:share=0.3,inner=sobol") -> nm.Proposal:
    return nm.maximize(AnalyticBelief(), "mean", SQUARE, maximizer=spec, seed=seed)


def test_so_many_proposals_are_random_and_the_others_those_of_the_inner_one() -> None:
    found = [propose(seed) for seed in range(200)]
    random = [one for one in found if one.message == SAID]
    assert 40 <= len(random) <= 80
    best = propose(0, "sobol").value
    assert all(one.value > best - 0.01 for one in found if one.message != SAID)
    assert np.ptp([one.value for one in random]) > 0.5
    assert {one.maximizer for one in found} == {"epsilon_random"}
    assert np.array_equal(propose(3).x, propose(3).x)  # type: ignore[arg-type]


def test_random_points_are_admissible_and_no_observed_ones() -> None:
    domain = nm.Space([nm.Integer("i", 0, 3), nm.Categorical("c", ["a", "b"])]).model()
    starts = domain.sample(3, np.random.default_rng(0))
    for seed in range(20):
        proposal = nm.maximize(
            AnalyticBelief(d=3),
            "mean",
            domain,
            maximizer="epsilon_random:share=0.9,inner=random",
            starts=starts,
            seed=seed,
        )
        assert domain.admissible(np.asarray(proposal.x)[None, :]).all()
        if proposal.message == SAID:
            assert proposal.evaluations == 1


def test_what_the_inner_one_cannot_serve_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="network"):
        propose(0, "epsilon_random:inner=mip")
    for share in (-0.1, 1.0):
        with pytest.raises(InputError, match="share must be a number >= 0 and < 1"):
            propose(0, f"epsilon_random:share={share}")
    with pytest.raises(InputError, match="maximizer must be one of"):
        propose(0, "epsilon_random:inner=nobody")
