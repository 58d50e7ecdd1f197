from __future__ import annotations

import numpy as np
import pytest

from nnbo_mip.exact.bounds.flat import flatten, undecided_system
from nnbo_mip.exact.bounds.lp_bounds import tighten_above, tighten_layers
from nnbo_mip.exact.search.monitor import Monitor
from nnbo_mip.exact.search.problem import Problem
from tests.exact.random_problems import mixed_domain, random_network, random_problem


def preactivations_of(flat, problem, points):
    """Return z (n, K) of the undecided ReLUs."""
    layers = problem.network.preactivations(points)
    return np.column_stack([layers[p - 1][:, i] for p, i in flat.place])


@pytest.mark.parametrize("skips", [False, True])
def test_flat_system_is_the_network(skips):
    problem = random_problem(21, 3, (9, 8, 6), skips)
    flat, bounds = undecided_system(problem, problem.domain.lower, problem.domain.upper)
    assert 0 < flat.n_relus < problem.network.n_relus  # some were stable, some were not
    assert flatten(problem.network, bounds).n_relus == flat.n_relus
    points = problem.domain.sample(200, np.random.default_rng(0))
    z = preactivations_of(flat, problem, points)
    columns = np.hstack([points, np.maximum(z, 0.0)])
    np.testing.assert_allclose(columns @ flat.weights.T + flat.bias, z, rtol=1e-9, atol=1e-9)
    values = columns @ flat.objective + flat.constant
    np.testing.assert_allclose(values, problem.values(points), rtol=1e-9, atol=1e-9)


def test_tightened_layers_are_true_and_tighter():
    problem = random_problem(22, 4, (12, 12, 12))
    lower, upper = problem.domain.lower, problem.domain.upper
    flat, _ = undecided_system(problem, lower, upper)
    tight = tighten_layers(problem, flat, lower, upper, Monitor(problem, 1e-4))
    z = preactivations_of(flat, problem, problem.domain.sample(3000, np.random.default_rng(1)))
    assert (tight.low <= z.min(axis=0)).all()
    assert (z.max(axis=0) <= tight.high).all()
    assert (tight.high <= flat.high).all()
    assert (tight.high - tight.low).sum() < 0.95 * (flat.high - flat.low).sum()


def test_rows_of_the_domain_tighten_the_first_layer():
    rng = np.random.default_rng(3)
    problem = Problem(random_network(rng, 6, (10,)), mixed_domain(rng))
    lower, upper, _ = problem.domain.tighten(problem.domain.lower, problem.domain.upper)
    flat, _ = undecided_system(problem, lower, upper)
    tight = tighten_layers(problem, flat, lower, upper, Monitor(problem, 1e-4))
    z = preactivations_of(flat, problem, problem.domain.sample(2000, rng))
    assert (tight.low <= z.min(axis=0)).all()
    assert (z.max(axis=0) <= tight.high).all()
    assert (tight.high < flat.high - 1e-6).any()


def test_points_above_the_level_stay_inside_what_is_left():
    problem = random_problem(23, 3, (10, 10))
    lower, upper = problem.domain.lower, problem.domain.upper
    flat, _ = undecided_system(problem, lower, upper)
    points = problem.domain.sample(4000, np.random.default_rng(2))
    values = problem.values(points)
    level = float(np.quantile(values, 0.98))
    answer = tighten_above(problem, flat, lower, upper, level, Monitor(problem, 1e-4))
    assert answer is not None
    tight, new_lower, new_upper = answer
    above = points[values >= level]
    assert (new_lower <= above).all()
    assert (above <= new_upper).all()
    z = preactivations_of(flat, problem, above)
    assert (tight.low <= z.min(axis=0)).all()
    assert (z.max(axis=0) <= tight.high).all()
    assert np.prod(new_upper - new_lower) < 0.99 * np.prod(upper - lower)


def test_a_level_that_nothing_reaches_is_proven():
    problem = random_problem(24, 3, (8, 8))
    lower, upper = problem.domain.lower, problem.domain.upper
    flat, _ = undecided_system(problem, lower, upper)
    assert tighten_above(problem, flat, lower, upper, 1e6, Monitor(problem, 1e-4)) is None
