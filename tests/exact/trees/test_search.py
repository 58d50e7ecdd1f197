"""The search over cells against all cells of small forests."""

from __future__ import annotations

import math

import numpy as np
import pytest

from nnbo_mip.exact.branching.boxes import BoxOptions
from nnbo_mip.exact.heads.maximize_head import Ways, maximize_head
from nnbo_mip.exact.heads.sequence import SequenceOptions
from nnbo_mip.exact.scores.problem import HeadProblem
from nnbo_mip.exact.search.monitor import Monitor
from nnbo_mip.exact.trees.cells import TreeCells
from nnbo_mip.exact.trees.scores import tree_scores
from nnbo_mip.exact.trees.search import TreeSearch
from nnbo_mip.scores.base.abstract import Head
from nnbo_mip.scores.functions.empirical import EmpiricalImprovement
from nnbo_mip.scores.functions.entropy import MaxValueEntropy
from nnbo_mip.scores.functions.improvement import ExpectedImprovement
from nnbo_mip.scores.functions.linear import LinearHead
from nnbo_mip.scores.functions.noisy import AugmentedEI, QuantileImprovement
from nnbo_mip.scores.functions.probability import ProbabilityOfImprovement
from nnbo_mip.scores.objective import Objective
from nnbo_mip.scores.posteriors.trees import TreePosterior
from nnbo_mip.space.domain import Domain
from nnbo_mip.space.grid import Grid
from tests.exact.trees.forests import best_score, random_forest, representatives

HEADS: dict[str, Head] = {
    "mean": LinearHead(1.0, 0.0),
    "ucb": LinearHead(1.0, 2.0, 0.25),
    "cautious": LinearHead(0.5, -1.0),
    "ei": ExpectedImprovement(0.3),
    "logei": ExpectedImprovement(0.3, log=True),
    "pi": ProbabilityOfImprovement(0.4),
    "mes": MaxValueEntropy(0.6),
    "aei": AugmentedEI(0.2, noise=0.3),
    "eqi": QuantileImprovement(0.1, noise=0.3, beta=0.8),
    "empirical_ei": EmpiricalImprovement(0.1, "ei"),
    "empirical_pi": EmpiricalImprovement(0.5, "pi"),
}

GAP = 1e-6


def domain_of(kind: str, rng: np.random.Generator) -> Domain:
    """Return a domain of at most three coordinates."""
    if kind == "box":
        d = int(rng.integers(1, 4))
        return Domain(rng.uniform(-1.0, -0.5, d), rng.uniform(0.25, 1.5, d))
    if kind == "point":
        return Domain([0.5, -1.0], [0.5, 1.0])
    if kind == "integers":
        grids = [Grid.uniform(-1.0, 2.0, 4), None, Grid.listed([-1.0, 0.0, 0.5, 0.75])]
        return Domain([-1.0, -0.5, -1.0], [2.0, 1.0, 0.75], grids)
    if kind == "categories":
        return Domain([0.0] * 3 + [-1.0], [1.0] * 3 + [1.0], one_hot=[(0, 1, 2)])
    if kind == "rows":
        A = rng.normal(size=(2, 2))
        return Domain([-1.0, -0.75], [1.0, 1.25], A=A, b=A @ rng.uniform(-0.7, 0.9, 2))
    if kind == "integer rows":
        grids = [Grid.uniform(-1.0, 2.0, 7), Grid.uniform(0.0, 3.0, 4)]
        A = rng.normal(size=(1, 2))
        return Domain([-1.0, 0.0], [2.0, 3.0], grids, A=A, b=A @ np.array([0.3, 1.2]))
    d = int(rng.integers(1, 3))
    domain = Domain([-1.0] * d, [0.75] * d)
    return domain.away_from(rng.uniform(-1.0, 0.75, (4, d)), rng.uniform(0.05, 0.5, 4))


KINDS = ("box", "point", "integers", "categories", "rows", "integer rows", "holes")


def maximized(problem: HeadProblem, method: str = "bab") -> tuple[float, float, str, str]:
    monitor = Monitor(problem, GAP, 30.0)
    result = maximize_head(Ways(problem), SequenceOptions(method), monitor)
    if result.x is not None:
        assert problem.domain.admissible(result.x[None, :])[0]
        assert monitor.best_value == problem.value(result.x)
    return monitor.best_value, monitor.bound, result.status, result.kind


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(2))
def test_the_maximum_is_that_of_all_cells(kind: str, seed: int) -> None:
    rng = np.random.default_rng([seed, KINDS.index(kind)])
    domain = domain_of(kind, rng)
    posterior = random_forest(domain, rng)
    for name, head in HEADS.items():
        problem = HeadProblem(Objective(posterior, head), domain)
        best = best_score(problem)
        value, bound, status, _ = maximized(problem)
        if status == "infeasible":
            assert best == -math.inf
            continue
        assert bound >= best, name
        if kind != "rows":
            assert value == best or problem.measure.closes(value, best, GAP), name
            assert status == "optimal", name
        else:
            assert status in ("optimal", "feasible")
            assert value >= best or problem.measure.closes(value, best, GAP), name


@pytest.mark.parametrize("seed", range(6))
def test_bounds_of_boxes_hold_at_all_their_points(seed: int) -> None:
    rng = np.random.default_rng(seed)
    domain = domain_of("box", rng)
    posterior = random_forest(domain, rng, n_trees=5)
    cells = TreeCells(posterior.trees, domain)
    points = representatives(posterior, domain)
    places = cells.cells_of(points)
    a = np.minimum(*(rng.integers(0, cells.last + 1, (2, 60, domain.dimension))))
    b = np.minimum(a + rng.integers(0, 5, a.shape), cells.last)
    a[:5] = b[:5]
    inside = ((places >= a[:, None]) & (places <= b[:, None])).all(axis=2)
    for name, head in HEADS.items():
        problem = HeadProblem(Objective(posterior, head), domain)
        values = problem.values(points)
        scores = tree_scores(problem, cells)
        for level in (-math.inf, float(np.median(values)), float(values.max())):
            scored = scores.bound(a, b, level)
            for box in range(len(a)):
                largest = values[inside[box]].max()
                assert scored.bound[box] >= largest or largest <= level, (name, box)
                if (a[box] == b[box]).all():
                    assert scored.coordinate[box] == -1
                if scored.coordinate[box] >= 0:
                    j, after = scored.coordinate[box], scored.after[box]
                    assert a[box, j] <= after < b[box, j]


@pytest.mark.parametrize("kind", KINDS)
def test_points_lie_in_the_cells_that_hold_them(kind: str) -> None:
    rng = np.random.default_rng(3)
    domain = domain_of(kind, rng)
    posterior = random_forest(domain, rng, n_trees=6)
    cells = TreeCells(posterior.trees, domain)
    points = representatives(posterior, domain)
    places = cells.cells_of(points)
    for ends in (cells.closure, cells.floats):
        lower, upper = ends(places, places)
        assert ((lower <= points) & (points <= upper)).all()
    # A node sends a point where it sends its cell.
    trees = posterior.trees
    for node in np.flatnonzero(trees.feature >= 0):
        j = trees.feature[node]
        left = points[:, j] <= trees.threshold[node]
        assert np.array_equal(left, places[:, j] <= cells.cut[node])
    _, _, feasible = cells.tightened(places, places)
    assert feasible.all()


def test_a_search_can_be_continued_box_by_box() -> None:
    rng = np.random.default_rng(8)
    domain = Domain([-1.0] * 3, [0.5] * 3)
    posterior = random_forest(domain, rng, n_trees=12, depth=4)
    problem = HeadProblem(Objective(posterior, HEADS["ucb"]), domain)
    monitor = Monitor(problem, GAP)
    search, bounds = TreeSearch(problem, BoxOptions(), monitor), [math.inf]
    while len(search.frontier):
        bounds.append(search.advance(1).bound)
        assert bounds[-1] <= bounds[-2]
        assert bounds[-1] >= monitor.best_value
    assert bounds[-1] == pytest.approx(best_score(problem), abs=1e-9)


def test_an_empty_domain_is_infeasible() -> None:
    domain = Domain([-1.0], [1.0]).away_from([[0.0]], 1.5)
    posterior = random_forest(domain, np.random.default_rng(0))
    assert maximized(HeadProblem(Objective(posterior, HEADS["ei"]), domain))[2] == "infeasible"


def test_values_near_overflow_prove_nothing() -> None:
    nodes = np.array([[-1.0, 0.0, -1.0, -1.0, 1e200, 0.0]])
    posterior = TreePosterior(nodes, np.zeros(1), 1.0)
    problem = HeadProblem(Objective(posterior, HEADS["mean"]), Domain([-1.0], [1.0]))
    value, bound, status, _ = maximized(problem)
    assert (bound, status) == (math.inf, "heuristic")
    assert value <= bound
