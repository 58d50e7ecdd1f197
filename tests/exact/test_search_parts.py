"""Frontier, splitter, monitor, primal side, results."""

from __future__ import annotations

import math

import numpy as np
import pytest

from nnbo_mip.core.errors import InputError
from nnbo_mip.core.terms import Measure
from nnbo_mip.exact.branching import boxes
from nnbo_mip.exact.branching.frontier import WORKING_SIZE, Frontier, Splitter
from nnbo_mip.exact.search.monitor import Monitor
from nnbo_mip.exact.search.primal import climb, gradient_ascent
from nnbo_mip.exact.search.problem import Problem
from nnbo_mip.network.graph.graph import Network
from nnbo_mip.space.domain import Domain, Grid
from tests.exact.random_problems import mixed_domain, random_network, random_problem


def test_problem_refuses_what_does_not_fit():
    two = Network.from_layers([([[1.0, 2.0], [3.0, 4.0]], [0.0, 1.0])])
    with pytest.raises(InputError, match="maximize one output; got 2"):
        Problem(two, Domain([1, 2], [3, 4]))
    with pytest.raises(InputError, match="reads 2 inputs"):
        Problem(two.objective("y1"), Domain([1, 2, 3], [4, 5, 6]))


@pytest.mark.parametrize("value", [-3.5, 0.0, 1e-9, 7.25, 1e12])
@pytest.mark.parametrize("gap", [1e-9, 1e-4, 0.1])
def test_a_bound_at_the_cutoff_closes_the_gap(value, gap):
    assert Measure.NATURAL.closes(value, Measure.NATURAL.cutoff(value, gap), gap)
    above = value + 1.01 * gap * max(1.0, abs(value))
    assert not Measure.NATURAL.closes(value, above, gap)
    assert not Measure.NATURAL.closes(-math.inf, -math.inf, gap)


def test_frontier_loses_no_box_and_never_understates_the_bound():
    rng = np.random.default_rng(0)
    frontier = Frontier(np.zeros((2, 0)), np.zeros((2, 0)), np.zeros(0))
    total = 3 * WORKING_SIZE
    bounds = rng.random(total)
    for part in np.array_split(np.arange(total), 7):
        ends = np.vstack([part, -part]).astype(float)
        frontier.push(ends, ends + 0.5, bounds[part])
    assert len(frontier) == total
    seen = []
    while len(frontier):
        assert frontier.largest_bound() == bounds[np.setdiff1d(np.arange(total), seen)].max()
        frontier.discard(-np.inf)
        lower, upper, popped, _ = frontier.pop(50_000, depth_first=len(seen) % 2 == 1)
        assert (upper == lower + 0.5).all()
        assert (popped == bounds[lower[0].astype(int)]).all()
        seen.extend(lower[0].astype(int))
    assert sorted(seen) == list(range(total))


def test_the_box_with_the_largest_bound_never_waits():
    rng = np.random.default_rng(4)
    frontier = Frontier(np.zeros((1, 0)), np.zeros((1, 0)), np.zeros(0))
    for _ in range(6):  # half of the first boxes wait when the better ones arrive
        part = rng.random(WORKING_SIZE)
        frontier.push(part[None, :], part[None, :], part)
    for _ in range(30):
        largest = frontier.largest_bound()
        _, _, popped, _ = frontier.pop(10_000, depth_first=False)
        assert popped.max() == largest
        frontier.push(popped[None, ::2], popped[None, ::2], 0.5 * popped[::2])


def test_discard_reports_the_largest_bound_it_dropped():
    frontier = Frontier(np.zeros((1, 4)), np.ones((1, 4)), np.array([1.0, 4.0, 2.0, 3.0]))
    assert frontier.discard(2.5) == 2.0
    assert len(frontier) == 2
    assert frontier.discard(0.0) == -np.inf


def test_children_cover_every_admissible_point_of_a_box():
    domain = Domain(
        [-2.0, 1.0, 0.5],
        [3.0, 9.0, 4.5],
        [None, Grid.uniform(1.0, 2.0, 5), Grid.listed([0.5, 4.5])],
    )
    rng = np.random.default_rng(1)
    points = domain.sample(500, rng)
    for weights in (np.array([1.0, 0.0, 0.0]), np.array([0.0, 5.0, 1.0]), np.zeros(3)):
        split = Splitter(domain).split(
            domain.lower[:, None], domain.upper[:, None], weights[:, None]
        )
        assert not split.unsplittable.any()
        inside = (split.lower.T[:, None] <= points) & (points <= split.upper.T[:, None])
        assert inside.all(axis=2).any(axis=0).all()
        assert (split.upper - split.lower).prod(axis=0).max() < 0.75 * np.prod([5.0, 8.0, 4.0])


def test_points_have_no_children():
    domain = Domain([2.0, 1.0], [2.0, 9.0], [None, Grid.uniform(1.0, 2.0, 5)])
    ends = np.array([[2.0, 2.0], [3.0, 3.0]])
    split = Splitter(domain).split(ends, np.array([[2.0, 2.0], [3.0, 5.0]]), np.ones((2, 2)))
    assert split.unsplittable.tolist() == [True, False]
    assert split.lower.T.tolist() == [[2.0, 3.0], [2.0, 5.0]]


def test_monitor_keeps_only_admissible_points():
    problem = random_problem(2, 2, (5,))
    monitor = Monitor(problem, 1e-4)
    outside = problem.domain.upper + 1.0
    monitor.offer(outside[None, :])
    assert monitor.best_x is None
    inside = problem.domain.sample(10, np.random.default_rng(0))
    monitor.offer(np.vstack([outside, inside]))
    assert monitor.best_value == problem.value(monitor.best_x) == problem.values(inside).max()


def test_monitor_reports_are_throttled_and_time_runs_out():
    reports = []
    monitor = Monitor(random_problem(2, 2, (5,)), 1e-4, time_limit=0.0, callback=reports.append)
    for k in range(50):
        monitor.report("boxes", 1.5, boxes=k)
    assert [report.counters["boxes"] for report in reports] == [0]
    assert reports[0].bound == 1.5
    assert monitor.should_stop()
    assert monitor.remaining() == 0.0


@pytest.mark.parametrize("seed", range(6))
def test_climbing_finds_the_certified_maximum(seed):
    problem = random_problem(seed, 5, (16, 16))
    monitor = Monitor(problem, 1e-6)
    climb(problem, monitor, seed=seed)
    found = monitor.best_value
    result = boxes.solve(problem, boxes.BoxOptions(), Monitor(problem, 1e-6))
    assert result.status == "optimal"
    assert found >= result.bound - 1e-5 * max(1.0, abs(found))


def test_climbing_respects_grids_groups_and_rows():
    for seed in range(4):
        rng = np.random.default_rng(seed)
        problem = Problem(random_network(rng, 6, (10, 10)), mixed_domain(rng))
        monitor = Monitor(problem, 1e-4)
        climb(problem, monitor)
        assert problem.domain.admissible(monitor.best_x[None, :])[0]
        sampled = problem.values(problem.domain.sample(300, rng)).max()
        assert monitor.best_value >= sampled


def test_gradient_ascent_never_ends_below_its_start():
    problem = random_problem(4, 3, (12, 12))
    starts = problem.domain.sample(40, np.random.default_rng(3))
    ends = gradient_ascent(problem, starts, Monitor(problem, 1e-4))
    assert (problem.values(ends) >= problem.values(starts)).all()
    assert problem.domain.admissible(ends).all()
    assert problem.values(ends).mean() > problem.values(starts).mean()
