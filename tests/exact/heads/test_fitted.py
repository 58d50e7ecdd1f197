"""Beliefs as they are fitted: the head of the belief itself against dense grids."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import norm

from nnbo_mip.exact.heads import linear, ratio, sandwich, tangents
from nnbo_mip.scores.functions.improvement import ExpectedImprovement
from nnbo_mip.scores.functions.linear import LinearHead
from nnbo_mip.scores.functions.probability import ProbabilityOfImprovement
from nnbo_mip.scores.posteriors.compiled import PlainPosterior, Posterior, SmoothPosterior
from nnbo_mip.space.domain import Domain
from nnbo_mip.surrogates import Belief, create
from nnbo_mip.surrogates.nomu.belief import NomuBelief
from tests.exact.heads.sequence_cases import OPTIONS, case, check_closed, grid

DOMAIN = Domain([-1.0, -0.8], [0.9, 1.0])
FAMILIES: dict[str, dict[str, Any]] = {
    "clip": {"hidden": (8, 8), "n_augmented": 40, "epochs": 40, "bounding": "clip"},
    "smooth": {"hidden": (8, 8), "n_augmented": 40, "epochs": 40, "bounding": "smooth"},
    "mad": {"hidden": (6, 6), "n_members": 3, "epochs": 40, "spread": "mad"},
}


@pytest.fixture(scope="module", params=sorted(FAMILIES))
def belief(request: pytest.FixtureRequest) -> Belief:
    rng = np.random.default_rng(5)
    X = rng.uniform(-1.0, 1.0, (12, 2))
    y = 40.0 + 9.0 * np.sin(3.0 * X[:, 0]) - 6.0 * X[:, 1] ** 2
    family = "deep_ensemble" if request.param == "mad" else "nomu"
    return create(family, seed=3, **FAMILIES[request.param]).fit(X, y)


def posterior_of(belief: Belief) -> Posterior:
    if isinstance(belief, NomuBelief) and belief.bounding.kind == "smooth":
        limits = belief.bounding.l_min, belief.bounding.l_max
        return SmoothPosterior(belief.network(), *limits, belief.std_factor)
    return PlainPosterior(belief.network())


@pytest.mark.parametrize("scale", [1.0, 2.5])
def test_the_upper_confidence_bound_of_a_scaled_belief(belief: Belief, scale: float) -> None:
    scaled, points = belief.scaled(scale), grid(DOMAIN)
    posterior = posterior_of(scaled)
    problem, monitor = case(posterior, LinearHead(1.0, 2.0), DOMAIN)
    way = tangents if isinstance(posterior, SmoothPosterior) else linear
    result = way.solve(problem, OPTIONS, monitor)
    check_closed(problem, monitor, result, points)
    expected = scaled.mean(points) + 2.0 * scaled.std(points)
    assert result.bound >= expected.max()
    at_x = scaled.mean(result.x[None, :]) + 2.0 * scaled.std(result.x[None, :])
    assert result.value == pytest.approx(float(at_x[0]), rel=1e-12)


@pytest.mark.parametrize("xi", [0.0, 3.0, -2.0])
def test_expected_improvement(belief: Belief, xi: float) -> None:
    points = grid(DOMAIN)
    mean, std = belief.mean(points), belief.std(points)
    threshold = float(mean.max()) + xi
    problem, monitor = case(posterior_of(belief), ExpectedImprovement(threshold), DOMAIN)
    result = sandwich.solve(problem, OPTIONS, monitor)
    check_closed(problem, monitor, result, points)
    assert len(result.steps) <= 10
    with np.errstate(divide="ignore", invalid="ignore"):
        u = (mean - threshold) / std
        expected = np.where(std > 0.0, std * (norm.pdf(u) + u * norm.cdf(u)), 0.0)
    if result.score == "ei":
        assert result.bound >= np.max(expected) * (1.0 - 1e-9)


def test_the_probability_of_improvement(belief: Belief) -> None:
    points = grid(DOMAIN)
    threshold = float(belief.mean(points).max()) + 2.0
    problem, monitor = case(posterior_of(belief), ProbabilityOfImprovement(threshold), DOMAIN)
    result = ratio.solve(problem, OPTIONS, monitor)
    check_closed(problem, monitor, result, points)
