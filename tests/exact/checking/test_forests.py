"""Checks of claims about trees, against all cells and against true and false claims."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

import nnbo_mip as nm
from nnbo_mip.exact.checking.heads.forest import ForestRecheck
from nnbo_mip.exact.checking.heads.forest_score import forest_score
from nnbo_mip.exact.scores.problem import HeadProblem
from nnbo_mip.scores.objective import Objective
from nnbo_mip.testing.surrogate_contract import sample
from tests.exact.trees.forests import random_forest, representatives
from tests.exact.trees.test_search import HEADS, KINDS, domain_of


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(2))
def test_the_least_true_level_is_proven_and_a_lower_one_is_not(kind: str, seed: int) -> None:
    rng = np.random.default_rng([seed, 9, KINDS.index(kind)])
    domain = domain_of(kind, rng)
    posterior = random_forest(domain, rng)
    points = representatives(posterior, domain)
    if not len(points):
        return
    for name, head in HEADS.items():
        objective = Objective(posterior, head)
        values = objective.score(points)
        best = float(values.max())
        if not math.isfinite(best):
            continue
        scores = forest_score(objective)
        assert scores is not None
        low, high = scores.interval(points)
        assert (low <= values).all(), name
        assert (values <= high).all(), name
        level = float(high[values.argmax()]) + 1e-9 * (1.0 + abs(best))
        if kind != "rows":  # the representatives need not hold the best point there
            answer = ForestRecheck(objective, domain, scores, level).run(20.0)
            assert answer.verdict == "proved", name
        below = best - 1e-3 * (1.0 + abs(best))
        if float(low.max()) <= below:
            continue  # a member meets the threshold exactly, and rounding hides whether it does
        answer = ForestRecheck(objective, domain, scores, below).run(20.0)
        assert answer.verdict == "counterexample", name
        assert answer.x is not None
        assert domain.admissible(answer.x[None, :])[0]
        assert objective.score(answer.x[None, :])[0] > below


@pytest.mark.parametrize("seed", range(3))
def test_bounds_of_boxes_hold_at_all_their_points(seed: int) -> None:
    rng = np.random.default_rng(seed)
    domain = domain_of("box", rng)
    posterior = random_forest(domain, rng, n_trees=5)
    points = representatives(posterior, domain)
    pairs = points[rng.integers(len(points), size=(40, 2))]
    lower, upper = pairs.min(axis=1).T, pairs.max(axis=1).T
    inside = ((lower.T[:, None] <= points) & (points <= upper.T[:, None])).all(axis=2)
    for name, head in HEADS.items():
        objective = HeadProblem(Objective(posterior, head), domain).objective
        values, scores = objective.score(points), forest_score(objective)
        assert scores is not None
        bound, _ = scores.bound(lower, upper)
        for box in range(40):
            assert bound[box] >= values[inside[box]].max(), name


@pytest.mark.parametrize("acquisition", ["mean", "ucb:beta=2", "ei", "pi", "mes", "empirical_pi"])
def test_certificates_are_confirmed_and_altered_ones_refuted(acquisition: str) -> None:
    X, y = sample(20, 2)
    belief = nm.surrogates.create("random_forest", n_trees=10, seed=0).fit(X, y)
    domain = nm.Space.box([-1.0, -0.75], [0.5, 1.0]).model()
    proposal = nm.maximize(belief, acquisition, domain, X=X, y=y)
    answer = proposal.check(time_limit=30.0)
    assert answer.confirmed, str(answer)
    certificate, objective = proposal.certificate, proposal.objective
    assert certificate is not None
    assert objective is not None
    worse = belief.trees.nodes.copy()
    worse[:, 4] += 1.0
    altered = Objective(replace(objective.posterior, nodes=worse), objective.head)
    assert certificate.check(altered).verdict == "refuted"
