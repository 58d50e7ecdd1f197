from __future__ import annotations

import numpy as np
import pytest

from nnbo_mip.exact.bounds.compiled_relaxation import CompiledRelaxer
from nnbo_mip.exact.bounds.planes import largest_on_domain
from nnbo_mip.exact.bounds.relaxation import Relaxer
from nnbo_mip.exact.search.problem import Problem
from tests.exact.random_problems import mixed_domain, random_network, random_problem

SHAPES = [((6,), False), ((7, 5), False), ((6, 5, 4), False), ((5, 4, 4), True)]


def boxes_of(problem: Problem, rng: np.random.Generator, count: int):
    domain = problem.domain
    ends = np.sort(domain.sample(2 * count, rng).reshape(2, count, -1), axis=0)
    return ends[0].T.copy(), ends[1].T.copy()


def points_in(lower, upper, rng, count):
    return lower[None] + (upper - lower)[None] * rng.random((count, *lower.shape))


@pytest.mark.parametrize(("widths", "skips"), SHAPES)
@pytest.mark.parametrize("tight", [False, True])
def test_preactivations_lie_between_their_bounds(widths, skips, tight):
    problem = random_problem(11, 3, widths, skips)
    rng = np.random.default_rng(0)
    lower, upper = boxes_of(problem, rng, 20)
    lines = Relaxer(problem.network, problem.rounding, tight).lines(lower, upper)
    for points in points_in(lower, upper, rng, 30):
        for line, z in zip(lines, problem.network.preactivations(points.T), strict=True):
            assert (line.low <= z.T).all()
            assert (line.high >= z.T).all()


@pytest.mark.parametrize(("widths", "skips"), SHAPES)
@pytest.mark.parametrize("relaxer_type", [Relaxer, CompiledRelaxer])
@pytest.mark.parametrize("steps", [0, 4])
def test_planes_lie_above_the_network(widths, skips, relaxer_type, steps):
    problem = random_problem(12, 3, widths, skips)
    rng = np.random.default_rng(1)
    lower, upper = boxes_of(problem, rng, 20)
    planes = relaxer_type(problem.network, problem.rounding).bound(lower, upper, -np.inf, steps)
    for points in points_in(lower, upper, rng, 50):
        values = problem.values(points.T)
        heights = (planes.slopes * points).sum(axis=0) + planes.constant
        assert (values <= heights + 1e-12).all()
        assert (values <= planes.bound).all()


@pytest.mark.parametrize(("widths", "skips"), SHAPES)
def test_compiled_and_batched_relaxations_agree(widths, skips):
    problem = random_problem(13, 3, widths, skips)
    lower, upper = boxes_of(problem, np.random.default_rng(2), 25)
    batched = Relaxer(problem.network, problem.rounding)
    compiled = CompiledRelaxer(problem.network, problem.rounding)
    for level, steps in [(-np.inf, 0), (-np.inf, 3), (0.5, 3)]:
        one = batched.bound(lower, upper, level, steps)
        two = compiled.bound(lower, upper, level, steps)
        # Only where a deep layer has so few rows that the batched form carries them back
        # may they differ; none of these nets has one.
        np.testing.assert_allclose(one.bound, two.bound, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(one.slopes, two.slopes, rtol=1e-7, atol=1e-9)


def test_slope_steps_never_loosen_and_sometimes_tighten():
    problem = random_problem(14, 3, (12, 12))
    lower, upper = boxes_of(problem, np.random.default_rng(3), 40)
    relaxer = CompiledRelaxer(problem.network, problem.rounding)
    plain = relaxer.bound(lower, upper, -np.inf, 0).bound
    stepped = relaxer.bound(lower, upper, -np.inf, 5).bound
    assert (stepped <= plain).all()
    assert (stepped < plain - 1e-6).any()


def test_backward_rows_tighten_three_layers():
    problem = random_problem(15, 3, (12, 12, 12))
    lower, upper = problem.domain.lower[:, None], problem.domain.upper[:, None]
    loose = Relaxer(problem.network, problem.rounding).lines(lower, upper)[2]
    tight = Relaxer(problem.network, problem.rounding, tight=True).lines(lower, upper)[2]
    assert (tight.high - tight.low).sum() < (loose.high - loose.low).sum()


def test_a_point_box_is_bounded_by_the_value():
    problem = random_problem(16, 3, (8, 8))
    point = problem.domain.sample(1, np.random.default_rng(0))[0][:, None]
    for relaxer in (Relaxer, CompiledRelaxer):
        bound = relaxer(problem.network, problem.rounding).bound(point, point, -np.inf, 0).bound[0]
        value = problem.value(point[:, 0])
        assert value <= bound <= value + 1e-9


def test_planes_on_rows_and_groups_bound_admissible_points():
    rng = np.random.default_rng(5)
    domain = mixed_domain(rng)
    problem = Problem(random_network(rng, 6, (9, 7)), domain)
    low, high, _ = domain.tighten(domain.lower[None], domain.upper[None])
    planes = CompiledRelaxer(problem.network, problem.rounding).bound(low.T, high.T, -np.inf, 0)
    points = domain.sample(400, rng)
    for level in (-np.inf, float(problem.values(points).max())):
        corners, bound = largest_on_domain(planes, low.T, high.T, domain, level)
        heights = points @ planes.slopes[:, 0] + planes.constant[0]
        assert heights.max() <= bound[0] <= planes.bound[0] + 1e-12
        assert corners[3:6, 0].sum() == 1.0
    # The row cuts the corner of the box: the bound must profit.
    assert bound[0] < planes.bound[0] - 1e-3
