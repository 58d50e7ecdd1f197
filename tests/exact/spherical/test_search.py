"""The search over boxes on the sphere against dense grids, for every head and domain."""

from __future__ import annotations

import numpy as np
import pytest

import nnbo_mip as nm
from nnbo_mip.exact.heads.maximize_head import Ways, maximize_head
from nnbo_mip.exact.heads.sequence import SequenceOptions
from nnbo_mip.exact.scores.problem import HeadProblem
from nnbo_mip.exact.search.monitor import Monitor
from nnbo_mip.exact.search.result import SearchResult
from nnbo_mip.exact.spherical.relaxers import sphere_relaxer
from nnbo_mip.scores.base.abstract import Head
from nnbo_mip.scores.functions.empirical import EmpiricalImprovement
from nnbo_mip.scores.functions.entropy import MaxValueEntropy
from nnbo_mip.scores.functions.improvement import ExpectedImprovement
from nnbo_mip.scores.functions.linear import LinearHead
from nnbo_mip.scores.functions.noisy import AugmentedEI, QuantileImprovement
from nnbo_mip.scores.functions.probability import ProbabilityOfImprovement
from nnbo_mip.scores.objective import Objective
from nnbo_mip.scores.posteriors.spherical import SphericalPosterior
from nnbo_mip.space.domain import Domain
from tests.exact.spherical.spheres import (
    KINDS,
    domain_of,
    many_points,
    random_members,
    random_posterior,
)

HEADS: dict[str, Head] = {
    "mean": LinearHead(1.0, 0.0, -0.5),
    "half": LinearHead(0.5, 0.0, 2.0),
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

SECONDS = 1.0
"""Some heads do not close in any time that a test has; their bounds are looked at all the same."""

FIRM = ("mean", "half", "ucb", "empirical_ei")
"""Heads that must close in little work wherever there are no rows."""


def objective_of(name: str, d: int, rng: np.random.Generator) -> Objective:
    members = isinstance(HEADS[name], EmpiricalImprovement)
    return Objective((random_members if members else random_posterior)(d, rng), HEADS[name])


def solved(objective: Objective, domain: Domain, gap: float = 1e-3) -> SearchResult:
    problem = HeadProblem(objective, domain)
    monitor = Monitor(problem, gap, SECONDS)
    return maximize_head(Ways(problem), SequenceOptions("auto"), monitor)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", HEADS)
def test_no_point_of_a_dense_grid_scores_above_the_bound(name: str, kind: str) -> None:
    rng = np.random.default_rng([KINDS.index(kind), len(name)])
    domain = domain_of(kind, rng)
    objective = objective_of(name, domain.dimension, rng)
    result = solved(objective, domain)
    points = many_points(domain, 31)
    if result.status == "infeasible":
        assert not len(points)
        return
    assert result.kind == "rigorous"
    assert result.engine == "sphere"
    head = objective.head.searched if result.score == objective.head.searched.name else None
    scores = (Objective(objective.posterior, head) if head else objective).score(points)
    # A std of zero is lost in float64's rounding by some 1e-8 of the largest.
    assert scores.max() <= result.bound + 1e-7 * (1.0 + abs(result.bound))
    assert result.x is not None
    assert domain.admissible(result.x[None, :])[0]
    if name in FIRM and kind not in ("rows", "equality"):
        assert result.status == "optimal"
        assert result.value >= scores.max() - 1e-3 * max(1.0, abs(result.value))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(3))
def test_a_mean_closes_to_a_millionth_everywhere(kind: str, seed: int) -> None:
    rng = np.random.default_rng([seed, 5, KINDS.index(kind)])
    domain = domain_of(kind, rng)
    posterior = random_posterior(domain.dimension, rng)
    result = solved(Objective(posterior, LinearHead()), domain, 1e-6)
    points = many_points(domain, 41)
    if not len(points):
        return
    assert result.status == "optimal"
    assert posterior.mean(points).max() <= result.bound
    if kind in ("box", "far", "point", "integers", "categories"):
        assert result.counters["boxes"] <= 5


@pytest.mark.parametrize("name", HEADS)
def test_no_box_is_bounded_below_its_points(name: str) -> None:
    rng = np.random.default_rng(len(name))
    domain = Domain([-1.0] * 2, [1.0] * 2)
    for _ in range(6):
        objective = objective_of(name, 2, rng)
        problem = HeadProblem(objective, domain)
        ends = np.sort(rng.uniform(-1.0, 1.0, (2, 20, 2)) * 10.0 ** rng.uniform(-4.0, 0.0), axis=0)
        shares = rng.random((20, 200, 2))
        points = ends[0][:, None] + shares * (ends[1] - ends[0])[:, None]
        values = problem.values(points.reshape(-1, 2)).reshape(20, 200)
        level = float(np.quantile(values, 0.7))
        relaxer = sphere_relaxer(problem)
        assert relaxer is not None
        bound = np.maximum(relaxer.bound(ends[0], ends[1], level).bound, level)
        assert (values <= bound[:, None] + 1e-7 * (1.0 + np.abs(values))).all()


def test_holes_about_the_best_points_are_left_beside_in_a_hundred_inputs() -> None:
    rng = np.random.default_rng(0)
    d = 100
    posterior = random_posterior(d, rng)
    posterior = SphericalPosterior(
        posterior.center, posterior.rate / 10.0, posterior.weights, posterior.root, 1.0, 1.0
    )
    domain = Domain([-1.0] * d, [1.0] * d)
    objective = Objective(posterior, LinearHead())
    held = []
    value = np.inf
    for _ in range(4):
        given = domain.away_from(np.array(held), 0.1) if held else domain
        result = solved(objective, given, 1e-6)
        assert result.status == "optimal"
        assert result.x is not None
        assert result.value <= value + 1e-9
        value = result.value
        held.append(result.x)


@pytest.mark.parametrize("seed", range(4))
def test_ascents_do_not_beat_the_bound_of_a_draw(seed: int) -> None:
    rng = np.random.default_rng(seed)
    d = 30
    X = rng.uniform(-1.0, 1.0, (40, d))
    y = -np.square(X - 0.3).sum(axis=1)
    belief = nm.surrogates.create("spherical_linear").fit(X, y)
    box = Domain([-1.0] * d, [1.0] * d)
    proven = nm.maximize(belief, f"ts:seed={seed}", box)
    climbed = nm.maximize(belief, f"ts:seed={seed}", box, maximizer="lbfgs:starts=10", seed=seed)
    assert proven.status == "optimal"
    assert climbed.value <= proven.bound
    assert proven.value >= climbed.value - 1e-9 * abs(proven.value)


def test_an_empty_set_of_categories_is_infeasible() -> None:
    posterior = random_posterior(2, np.random.default_rng(0))
    domain = Domain([0.0, 0.0], [0.0, 0.0], one_hot=[(0, 1)])
    assert solved(Objective(posterior, LinearHead()), domain).status == "infeasible"


def test_a_crafted_root_longer_than_the_prior_is_still_bounded() -> None:
    rng = np.random.default_rng(4)
    plain = random_posterior(2, rng)
    crafted = SphericalPosterior(
        plain.center, plain.rate, plain.weights, 3.0 * plain.root, 1.0, 0.5
    )
    objective = Objective(crafted, LinearHead(1.0, 1.5))
    domain = Domain([-1.0, -1.0], [1.0, 1.0])
    result = solved(objective, domain)
    assert objective.score(many_points(domain, 201)).max() <= result.bound + 1e-7
