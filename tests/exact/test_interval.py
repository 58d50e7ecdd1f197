"""Interval bounds are true in real arithmetic, and tight where they can be."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from nnbo_mip.exact.bounds.interval import head_interval, interval_bounds
from nnbo_mip.network.graph.affine import Affine
from nnbo_mip.network.graph.graph import Network
from tests.exact.random_problems import random_problem


@pytest.mark.parametrize("seed", range(10))
def test_no_sampled_point_leaves_the_bounds(seed: int) -> None:
    problem = random_problem(seed, 3, (6, 5, 4), skips=seed % 2 == 0)
    lower, upper = problem.domain.lower, problem.domain.upper
    bounds = interval_bounds(problem.network, lower, upper)
    points = problem.domain.sample(2000, np.random.default_rng(seed))
    for (low, high), z in zip(bounds, problem.network.preactivations(points), strict=True):
        assert np.all(low <= z.min(axis=0))
        assert np.all(z.max(axis=0) <= high)
    low, high = head_interval(problem.network, lower, upper, bounds)
    values = problem.values(points)
    assert low <= values.min()
    assert values.max() <= high


def test_one_layer_is_exact_up_to_rounding() -> None:
    layer = Affine(np.array([0.1]), {0: np.array([[3.0, -0.7, 1e-3]])})
    network = Network(3, (layer,), Affine(np.array([-1.0]), {1: np.array([[-2.0]])}))
    lower, upper = np.array([-1.0, 0.5, 2.0]), np.array([0.25, 4.0, 7.0])
    (low, high), *_ = interval_bounds(network, lower, upper)
    weights = [Fraction(w) for w in (3.0, -0.7, 1e-3)]
    best = Fraction(0.1) + weights[0] * Fraction(0.25) + weights[1] * Fraction(0.5)
    best += weights[2] * Fraction(7.0)
    worst = Fraction(0.1) - weights[0] + weights[1] * 4 + weights[2] * 2
    assert Fraction(float(high[0])) >= best
    assert Fraction(float(low[0])) <= worst
    assert high[0] - float(best) < 1e-13
    assert float(worst) - low[0] < 1e-13
    # The head reads -2 relu(z) with z in [low, high] around 0.
    assert head_interval(network, lower, upper, [(low, high)]) == pytest.approx(
        (-1.0 - 2.0 * float(best), -1.0), rel=1e-12
    )


def test_tighter_bounds_on_the_layers_tighten_the_head() -> None:
    problem = random_problem(3, 2, (5, 4))
    lower, upper = problem.domain.lower, problem.domain.upper
    bounds = interval_bounds(problem.network, lower, upper)
    points = problem.domain.sample(5000, np.random.default_rng(0))
    sampled = [(z.min(axis=0), z.max(axis=0)) for z in problem.network.preactivations(points)]
    wide = head_interval(problem.network, lower, upper, bounds)
    tight = head_interval(problem.network, lower, upper, sampled)
    assert wide[0] <= tight[0] < tight[1] <= wide[1]
    assert tight[1] - tight[0] < 0.99 * (wide[1] - wide[0])
