"""The two branch-and-bound engines against the exact maximum, and against each other."""

from __future__ import annotations

import numpy as np
import pytest

from nnbo_mip.core.errors import InputError
from nnbo_mip.exact.branching import boxes, phases
from nnbo_mip.exact.branching.boxes import BoxOptions
from nnbo_mip.exact.branching.phases import PhaseOptions
from nnbo_mip.exact.search.monitor import Monitor
from nnbo_mip.exact.search.problem import Problem
from nnbo_mip.network.graph.graph import Network
from nnbo_mip.space.domain import Domain, Grid
from nnbo_mip.testing.exact_maximum import exact_maximum
from tests.exact.random_problems import mixed_domain, random_network, random_problem

ENGINES = [(boxes, BoxOptions), (phases, PhaseOptions)]
GAP = 1e-6


def run(engine, problem, gap=GAP, **options):
    module, options_type = engine
    return module.solve(problem, options_type(**options), Monitor(problem, gap))


def check(problem, result):
    """A claim of optimality, checked against the exact maximum without any slack."""
    exact = exact_maximum(problem.network, problem.domain, budget=3_000_000).value
    assert exact is not None
    assert exact <= result.bound
    assert result.kind == "rigorous"
    assert problem.domain.admissible(result.x[None, :])[0]
    assert result.value == problem.value(result.x)
    assert result.status == "optimal"
    assert result.bound - result.value <= GAP * max(1.0, abs(result.value))


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("seed", range(12))
def test_boxes_of_real_coordinates(engine, seed):
    inputs = 1 + seed % 3
    check(p := random_problem(seed, inputs, (5, 4), skips=seed % 2 == 1), run(engine, p))


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("seed", range(8))
def test_grids_groups_and_rows(engine, seed):
    rng = np.random.default_rng(seed)
    problem = Problem(random_network(rng, 6, (5, 4)), mixed_domain(rng))
    check(problem, run(engine, problem))


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("exponent", [-4, 4])
def test_adversarial_scales(engine, exponent):
    plain = random_problem(5, 2, (6, 5))
    scale = 10.0**exponent
    layers = [(a.dense(i) * scale, a.bias * scale) for i, a in enumerate(plain.network.layers)]
    head = plain.network.head
    network = Network.from_layers([*layers, (head.dense(2) / scale, head.bias)])
    problem = Problem(network, plain.domain)
    check(problem, run(engine, problem))


@pytest.mark.parametrize("engine", ENGINES)
def test_degenerate_sides_and_single_points(engine):
    network = random_problem(6, 3, (5, 5)).network
    line = Problem(network, Domain([0.5, -2.0, 3.0], [0.5, 1.0, 3.0]))
    check(line, run(engine, line))
    point = Problem(network, Domain([0.5, -2.0, 3.0], [0.5, -2.0, 3.0]))
    check(point, run(engine, point))


@pytest.mark.parametrize("engine", ENGINES)
def test_networks_without_undecided_relus(engine):
    linear = Problem(Network.from_layers([([[2.0, -3.0]], [0.25])]), Domain([1, -2], [3, 5]))
    assert run(engine, linear).value == 12.25
    check(linear, run(engine, linear))
    dead = Network.from_layers([([[1.0], [-1.0]], [-90.0, -90.0]), ([[1.0, 1.0]], [0.5])])
    check(p := Problem(dead, Domain([-1.0], [2.0])), run(engine, p))


@pytest.mark.parametrize("engine", ENGINES)
def test_empty_sets_are_infeasible(engine):
    network = random_problem(7, 2, (4,)).network
    domain = Domain([1.0, 2.0], [2.0, 3.0], A=[[1.0, 1.0]], b=[1.0])
    result = run(engine, Problem(network, domain))
    assert (result.status, result.x, result.bound) == ("infeasible", None, -np.inf)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_row_that_only_integers_violate_is_infeasible(engine):
    # 2 x + 2 y = 3 has real solutions and no integer ones.
    grids = [Grid.uniform(0.0, 1.0, 4), Grid.uniform(0.0, 1.0, 4)]
    domain = Domain([0, 0], [3, 3], grids, A=[[2.0, 2.0], [-2.0, -2.0]], b=[3.0, -3.0])
    result = run(engine, Problem(random_problem(8, 2, (4,)).network, domain))
    assert result.status == "infeasible"


@pytest.mark.parametrize("seed", range(4))
def test_engines_agree_where_enumeration_is_too_large(seed):
    problem = random_problem(seed, 4, (16, 16))
    one, two = run(ENGINES[0], problem, 1e-5), run(ENGINES[1], problem, 1e-5)
    assert one.status == two.status == "optimal"
    assert one.value <= two.bound
    assert two.value <= one.bound
    assert problem.values(problem.domain.sample(5000, np.random.default_rng(0))).max() <= one.bound


@pytest.mark.parametrize("engine", ENGINES)
def test_same_seed_same_answer(engine):
    problem = random_problem(9, 3, (10, 10))
    one, two = run(engine, problem, seed=4), run(engine, problem, seed=4)
    assert (one.value, one.bound, dict(one.counters)) == (two.value, two.bound, dict(two.counters))
    assert (one.x == two.x).all()


def test_a_small_budget_gives_a_valid_open_bound():
    problem = random_problem(10, 5, (24, 24, 24))
    best = run(ENGINES[1], problem, 1e-4).value
    few_boxes = run(ENGINES[0], problem, max_boxes=50)
    few_nodes = run(ENGINES[1], problem, max_nodes=3, tightening_rounds=0)
    assert few_nodes.counters["nodes"] <= 3
    for result in (few_boxes, few_nodes):
        assert result.status == "feasible"
        assert best <= result.bound < np.inf
    assert few_boxes.counters["boxes"] <= 50


def test_a_box_search_that_goes_on_ends_where_one_in_a_single_go_does():
    problem = random_problem(14, 3, (9, 7))
    search = boxes.BoxSearch(problem, BoxOptions(), Monitor(problem, GAP))
    bounds, counted = [np.inf], 0
    while True:
        result = search.advance(7)
        assert result.bound <= bounds[-1]
        bounds.append(result.bound)
        counted += result.counters["boxes"]
        if result.counters["boxes"] < 7:
            break
    assert len(bounds) > 4
    assert counted == search.boxes
    check(problem, result)


def test_tightening_under_the_cut_off_keeps_the_optimum():
    problem = random_problem(11, 5, (24, 24))
    plain = run(ENGINES[1], problem, 1e-4, tightening_rounds=0)
    early = run(ENGINES[1], problem, 1e-4, nodes_before_tightening=1, nodes_per_call=1)
    assert plain.status == early.status == "optimal"
    assert plain.value <= early.bound
    assert early.value <= plain.bound


def test_wide_networks_take_the_batched_relaxation():
    problem = random_problem(12, 1, (1100,))
    result = run(ENGINES[0], problem, 1e-4)
    assert result.status == "optimal"
    grid = np.linspace(problem.domain.lower, problem.domain.upper, 20_001)
    assert problem.values(grid).max() <= result.bound


def test_long_grids_are_refused_by_phases_and_taken_by_boxes():
    domain = Domain([1.0], [1e9], [Grid.uniform(1.0, 1.0, 10**9)])
    network = Network.from_layers([([[1e-9], [-1e-9]], [-0.3, 0.7]), ([[-1.0, -1.0]], [0.0])])
    problem = Problem(network, domain)
    with pytest.raises(InputError, match='use the method "bab"'):
        run(ENGINES[1], problem)
    result = run(ENGINES[0], problem)
    assert result.status == "optimal"
    assert result.x[0] == np.round(result.x[0])


def test_an_interrupted_search_returns_what_it_has():
    problem = random_problem(13, 6, (40, 40))
    for module, options in ENGINES:
        monitor = Monitor(problem, 1e-9, callback=lambda _: None)
        monitor.interrupt()
        result = module.solve(problem, options(), monitor)
        assert result.time_limited
        assert result.status == "feasible"
        assert result.value <= result.bound


@pytest.mark.parametrize("options", [{"max_boxes": 0}, {"max_open": 1}])
def test_bad_box_options(options):
    with pytest.raises(InputError, match="at least"):
        BoxOptions(**options)


def test_bad_phase_options():
    with pytest.raises(InputError, match="at least"):
        PhaseOptions(nodes_per_call=0)
