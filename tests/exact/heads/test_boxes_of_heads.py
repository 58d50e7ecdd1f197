"""Boxes for heads against lattices, samples and the vertices of linear regions."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from nnbo_mip.exact.branching.boxes import BoxOptions
from nnbo_mip.exact.heads import boxes
from nnbo_mip.exact.scores.problem import HeadProblem
from nnbo_mip.exact.search.monitor import Monitor
from nnbo_mip.network.graph.graph import Network
from nnbo_mip.scores.functions.empirical import EmpiricalImprovement
from nnbo_mip.scores.functions.improvement import ExpectedImprovement
from nnbo_mip.scores.functions.linear import LinearHead
from nnbo_mip.scores.functions.probability import ProbabilityOfImprovement
from nnbo_mip.scores.logarithms import LEAST_LOG
from nnbo_mip.scores.objective import Objective
from nnbo_mip.scores.posteriors.compiled import MembersPosterior, PlainPosterior, QuadraticPosterior
from nnbo_mip.space.domain import Domain
from tests.exact.heads.random_heads import (
    DOMAINS,
    MOMENT_HEADS,
    POSTERIORS,
    domain_of,
    head_of,
    heads_on,
    points_of,
    random_posterior,
    threshold_for,
)

GAP = 1e-3
MOST_BOXES = 20_000


def solve(problem, gap=GAP, most=MOST_BOXES):
    return boxes.solve(problem, BoxOptions(max_boxes=most), Monitor(problem, gap))


def check(problem, result, points):
    """No point scores above the bound, and the value is that of an admissible point."""
    values = problem.values(points)
    assert values.max() <= result.bound + 1e-10 * (1.0 + abs(result.bound))
    assert result.x is not None
    assert problem.domain.admissible(result.x[None])[0]
    assert result.value == problem.value(result.x)
    assert result.kind == "rigorous"


# 6 posteriors x 5 domains x 10 heads less those that a posterior lacks: more than 300 cases.
@pytest.mark.parametrize("where", DOMAINS)
@pytest.mark.parametrize("kind", POSTERIORS)
def test_no_point_scores_above_the_bound(kind, where):
    rng = np.random.default_rng([POSTERIORS.index(kind), DOMAINS.index(where)])
    dimension = 3 if where == "one-hot" else int(rng.integers(1, 3))
    widths = tuple(int(w) for w in rng.integers(2, 7, size=int(rng.integers(1, 3))))
    posterior, domain = random_posterior(kind, rng, dimension, widths), domain_of(where, dimension)
    points = points_of(domain, rng)
    threshold = threshold_for(posterior, points, rng)
    for name in heads_on(posterior):
        problem = HeadProblem(Objective(posterior, head_of(name, threshold)), domain)
        result = solve(problem)
        check(problem, result, points)
        # Where EI vanishes on all points its logarithm has no finite gap to close.
        assert result.status == "optimal" or result.value == LEAST_LOG, name


def vertices(network, domain):
    """Every vertex of a linear region of a network of one or two layers, in two dimensions."""
    sides = [(row, offset) for row, offset in _sides(domain)]
    lines = list(zip(network.layers[0].dense(0), network.layers[0].bias, strict=True))
    found = []
    if len(network.layers) == 1:
        arrangements = [[*sides, *lines]]
    else:
        first, second = network.layers
        arrangements = []
        for pattern in itertools.product([0.0, 1.0], repeat=first.width):
            active = np.array(pattern)
            weights = second.dense(1) * active
            rows = weights @ first.dense(0)
            offsets = second.bias + weights @ first.bias
            arrangements.append([*sides, *lines, *zip(rows, offsets, strict=True)])
    for arrangement in arrangements:
        rows = np.array([row for row, _ in arrangement])
        offsets = np.array([offset for _, offset in arrangement])
        for i, j in itertools.combinations(range(len(rows)), 2):
            matrix = rows[[i, j]]
            if abs(np.linalg.det(matrix)) > 1e-12:
                found.append(np.linalg.solve(matrix, -offsets[[i, j]]))
    points = np.clip(np.array(found), domain.lower - 1.0, domain.upper + 1.0)
    near = np.all((points > domain.lower - 1e-9) & (points < domain.upper + 1e-9), axis=1)
    return np.clip(points[near], domain.lower, domain.upper)


def _sides(domain):
    for j in range(domain.dimension):
        yield np.eye(domain.dimension)[j], -domain.lower[j]
        yield np.eye(domain.dimension)[j], -domain.upper[j]


@pytest.mark.parametrize("kind", ["plain", "members", "variance", "noisy", "quadratic"])
@pytest.mark.parametrize("widths", [(12,), (5, 7)])
@pytest.mark.parametrize("name", ["ucb", "ei", "std"])
def test_convex_heads_are_largest_at_a_vertex_of_a_region(kind, widths, name):
    rng = np.random.default_rng([sum(widths), POSTERIORS.index(kind)])
    posterior, domain = random_posterior(kind, rng, 2, widths), domain_of("box", 2)
    threshold = float(posterior.mean(domain.sample(200, rng)).max())
    problem = HeadProblem(Objective(posterior, head_of(name, threshold)), domain)
    exact = float(problem.values(vertices(posterior.network, domain)).max())
    result = solve(problem, gap=1e-6)
    assert result.status == "optimal"
    assert result.value <= exact + 1e-9 * (1.0 + abs(exact))
    assert exact <= result.bound + 1e-9 * (1.0 + abs(exact))


def test_expected_improvement_and_its_logarithm_agree():
    rng = np.random.default_rng(7)
    posterior, domain = random_posterior("members", rng, 2, (6, 5)), domain_of("box", 2)
    threshold = float(posterior.mean(domain.sample(200, rng)).max())
    first, second = (
        solve(HeadProblem(Objective(posterior, ExpectedImprovement(threshold, log=log)), domain))
        for log in (False, True)
    )
    assert first.value == second.value
    problem = HeadProblem(Objective(posterior, ExpectedImprovement(threshold)), domain)
    assert problem.score(first.x) <= problem.score_above(first.bound)
    assert problem.score_above(first.bound) <= problem.score(first.x) * np.exp(GAP) * (1.0 + 1e-9)


def test_improvement_far_below_underflow_is_certified():
    rng = np.random.default_rng(2)
    posterior, domain = random_posterior("noisy", rng, 2, (6,)), domain_of("box", 2)
    far = float(posterior.mean(domain.sample(200, rng)).max()) + 100.0
    for head in (ExpectedImprovement(far), ProbabilityOfImprovement(far)):
        problem = HeadProblem(Objective(posterior, head), domain)
        result = solve(problem, gap=0.1)
        assert problem.score(result.x) == 0.0
        assert result.value < -1000.0
        assert result.status == "optimal"
        check(problem, result, points_of(domain, rng))


def test_probability_one_is_never_exceeded():
    rng = np.random.default_rng(4)
    posterior, domain = random_posterior("noisy", rng, 2, (6,)), domain_of("box", 2)
    low = float(posterior.mean(domain.sample(200, rng)).min()) - 50.0
    problem = HeadProblem(Objective(posterior, ProbabilityOfImprovement(low)), domain)
    result = solve(problem)
    assert result.status == "optimal"
    assert problem.score_above(result.bound) == 1.0


def test_members_that_reach_a_threshold_exactly_are_counted():
    """Two members touch the threshold at one point only, from below: a tie at the maximum."""
    layers = [([[1.0], [-1.0]], [0.0, 0.0]), ([[-1.0, -1.0]] * 3, [0.0, 0.0, 0.5])]
    network = Network.from_layers(layers, ("mean", "member0", "member1"))
    posterior, domain = MembersPosterior(network), Domain([-1.0], [2.0])
    at_tie = HeadProblem(Objective(posterior, EmpiricalImprovement(0.0, "pi")), domain)
    result = solve(at_tie)
    assert result.bound == 1.0
    assert result.value in (0.5, 1.0)  # the tie is one point; whoever misses it stays open
    above_tie = HeadProblem(Objective(posterior, EmpiricalImprovement(1e-6, "pi")), domain)
    result = solve(above_tie)
    assert (result.value, result.status) == (0.5, "optimal")
    assert result.bound <= 0.5 + GAP


def test_what_cannot_be_bounded_is_said_so():
    network = Network.from_layers([([[1e200], [1e200]], [0.0, 0.0])], ("mean", "std"))
    problem = HeadProblem(
        Objective(PlainPosterior(network), LinearHead(1.0, 1.0)), Domain([-1.0], [1.0])
    )
    result = solve(problem)
    assert (result.status, result.bound) == ("heuristic", np.inf)


def test_an_empty_space_is_infeasible():
    rng = np.random.default_rng(0)
    posterior = random_posterior("members", rng, 2, (4,))
    domain = Domain([-1.0, -1.0], [1.0, 1.0], A=[[1.0, 1.0]], b=[-3.0])
    assert (
        solve(HeadProblem(Objective(posterior, LinearHead(1.0, 1.0)), domain)).status
        == "infeasible"
    )


def test_a_search_that_is_cut_short_has_a_valid_bound():
    rng = np.random.default_rng(8)
    posterior, domain = random_posterior("members", rng, 2, (7, 6)), domain_of("box", 2)
    points = points_of(domain, rng)
    threshold = float(posterior.mean(points).max())
    for name in MOMENT_HEADS:
        problem = HeadProblem(Objective(posterior, head_of(name, threshold)), domain)
        result = solve(problem, gap=1e-9, most=3)
        check(problem, result, points)
        assert np.isfinite(result.bound)


def bayesian_features(units, dimension, seed):
    """Random features with the posterior root of 20 data, as a Bayesian RVFL network has."""
    rng = np.random.default_rng(seed)
    directions = rng.standard_normal((units, dimension))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    biases = rng.standard_normal(units)
    X = rng.uniform(-1.5, 1.5, (20, dimension))
    y = np.sin(2.0 * X).sum(axis=1)
    psi = np.maximum(X @ directions.T + biases, 0.0)
    lower = np.linalg.cholesky(np.eye(units) + 1000.0 * psi.T @ psi)
    weights = np.linalg.solve(lower.T, np.linalg.solve(lower, 1000.0 * psi.T @ y))
    head = np.vstack([weights, np.eye(units)])
    names = ("mean", *(f"feature{k}" for k in range(units)))
    network = Network.from_layers([(directions, biases), (head, np.zeros(units + 1))], names)
    return QuadraticPosterior(network, np.linalg.inv(lower)), float(y.max())


@pytest.mark.parametrize("name", ["ucb", "ei"])
def test_wide_features_take_few_boxes(name):
    """Interval ends would take tens of thousands: the bounds must be tight to second order."""
    posterior, best = bayesian_features(150, 2, seed=0)
    problem = HeadProblem(
        Objective(posterior, head_of(name, best)), Domain([-1.5, -1.5], [1.5, 1.5])
    )
    result = solve(problem, gap=1e-4)
    assert result.status == "optimal"
    assert result.counters["boxes"] < 1500
    check(problem, result, points_of(problem.domain, np.random.default_rng(0)))
