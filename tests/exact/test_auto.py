from __future__ import annotations

import numpy as np
import pytest

from nnbo_mip.exact import auto
from nnbo_mip.exact.search.monitor import Monitor
from nnbo_mip.exact.search.options import EngineOptions
from nnbo_mip.exact.search.problem import Problem
from nnbo_mip.network.graph.graph import Network
from nnbo_mip.space.domain import Domain, Grid
from nnbo_mip.testing.exact_maximum import exact_maximum
from tests.exact.random_problems import mixed_domain, random_network, random_problem


def solve(problem, gap=1e-5, bab=False):
    run = auto.solve_bab if bab else auto.solve
    return run(problem, EngineOptions(seed=1), Monitor(problem, gap))


@pytest.mark.parametrize("bab", [False, True])
@pytest.mark.parametrize(("inputs", "widths"), [(1, (9, 9)), (2, (7, 5)), (4, (5, 4)), (7, (4,))])
def test_every_dimension_is_closed(inputs, widths, bab):
    problem = random_problem(inputs, inputs, widths)
    result = solve(problem, bab=bab)
    assert (result.status, result.kind) == ("optimal", "rigorous")
    assert exact_maximum(problem.network, problem.domain, budget=3_000_000).value <= result.bound


def test_the_likelier_engine_goes_first():
    assert "boxes" in solve(random_problem(3, 4, (24, 24))).counters
    assert "nodes" in solve(random_problem(3, 4, (12, 12))).counters
    assert "nodes" in solve(random_problem(3, 9, (8, 8))).counters


@pytest.mark.parametrize(("inputs", "widths"), [(5, (30, 30)), (8, (60, 60)), (12, (50, 50))])
def test_both_engines_have_had_a_turn_before_any_has_a_long_one(inputs, widths):
    problem = random_problem(8, inputs, widths)
    rounds = auto._rounds(problem, EngineOptions(), Monitor(problem, 1e-9))
    for _ in range(2):
        assert sorted(turn.engine for turn in next(rounds)) == ["boxes", "phases"]
    seconds = auto._seconds_for_phases_and_boxes(inputs, problem.network.n_relus)
    first, second = next(seconds), next(seconds)
    assert all(a < b < np.inf for a, b in zip(first, second, strict=True))
    assert max(first) < 5.0


def test_a_turn_says_how_much_of_its_budget_it_spent():
    problem = random_problem(3, 3, (12, 12))
    for turn in next(auto._rounds(problem, EngineOptions(), Monitor(problem, 1e-9))):
        assert turn.run()[1] < 1.0
    boxes = auto._BoxTurns(problem, EngineOptions(), Monitor(problem, 1e-9))
    assert boxes.turn(count=1).run()[1] == 1.0


def test_a_small_finite_domain_is_enumerated():
    rng = np.random.default_rng(2)
    grids = [Grid.uniform(-1.0, 0.5, 9), Grid.uniform(2.0, 1.0, 5), Grid.listed([0.1, 0.7, 3.0])]
    domain = Domain([-1.0, 2.0, 0.1], [3.0, 6.0, 3.0], grids)
    problem = Problem(random_network(rng, 3, (10, 10)), domain)
    result = solve(problem, gap=1e-9)
    assert result.status == "optimal"
    assert result.engine == "enumerate"


def test_mixed_domains_are_closed():
    rng = np.random.default_rng(3)
    problem = Problem(random_network(rng, 6, (8, 6)), mixed_domain(rng))
    result = solve(problem)
    assert result.status == "optimal"
    assert problem.values(problem.domain.sample(3000, rng)).max() <= result.bound


def test_long_grids_skip_the_phases():
    grids = [Grid.uniform(1.0, 1.0, 10**7), *[None] * 7]
    domain = Domain([1.0] + [-0.5] * 7, [1e7] + [1.5] * 7, grids)
    rng = np.random.default_rng(4)
    network = random_network(rng, 8, (6,))
    first = network.layers[0].dense(0) * np.array([1e-7] + [1.0] * 7)
    scaled = Network.from_layers(
        [(first, network.layers[0].bias), (network.head.dense(1), network.head.bias)]
    )
    result = solve(Problem(scaled, domain), gap=1e-3)
    assert result.status == "optimal"
    assert result.x[0] == np.round(result.x[0])


def test_an_empty_domain_is_infeasible_whoever_notices():
    network = random_problem(5, 3, (4,)).network
    domain = Domain([1.0] * 3, [2.0] * 3, A=[[1.0, 1.0, 1.0]], b=[2.0])
    assert solve(Problem(network, domain)).status == "infeasible"


def test_time_that_is_up_gives_a_valid_open_answer():
    problem = random_problem(6, 6, (40, 40))
    result = auto.solve(problem, EngineOptions(), Monitor(problem, 1e-9, time_limit=1e-9))
    assert result.time_limited
    assert result.status in ("feasible", "heuristic")
    assert result.value <= result.bound


def test_weights_beyond_float64_are_not_proven_anything_about():
    wild = Network.from_layers([([[1e200], [-1e200]], [0.5, 1.0]), ([[1e200, -1e200]], [0.0])])
    result = solve(Problem(wild, Domain([-0.5], [2.0])))
    assert (result.status, result.kind, result.bound) == ("heuristic", "none", np.inf)
    assert "so large" in result.message


def test_a_gap_below_rounding_ends_without_waiting_for_the_clock():
    problem = random_problem(7, 2, (6, 6))
    result = solve(problem, gap=0.0)
    assert result.bound - result.value < 1e-9
    assert not result.time_limited
