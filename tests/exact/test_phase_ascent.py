"""The dual ascent: proven bounds of nodes, and searches that use it from their first nodes on."""

from __future__ import annotations

import numpy as np
import pytest

from nnbo_mip.exact.bounds.flat import undecided_system
from nnbo_mip.exact.bounds.program import build_program
from nnbo_mip.exact.bounds.similar_programs import bound_similar
from nnbo_mip.exact.branching.ascent_nodes import CHUNK, AscentNodes, NodeHeap, as_rows, tiled
from nnbo_mip.exact.branching.phase_ascent import AscentOptions, AscentSearch
from nnbo_mip.exact.branching.phases import PhaseOptions, is_for_ascent, solve
from nnbo_mip.exact.search.monitor import Monitor
from nnbo_mip.exact.search.problem import Problem
from nnbo_mip.network.graph.graph import Network
from nnbo_mip.space.domain import Domain
from nnbo_mip.testing.exact_maximum import exact_maximum
from tests.exact.random_problems import random_problem

GAP = 1e-6


class NothingCutOff(Monitor):
    """A monitor with a cut-off below every value."""

    cutoff = -1e3


def root(problem):
    """The program of a problem and a monitor that knows the box's lower corner."""
    lower, upper = problem.domain.lower, problem.domain.upper
    monitor = Monitor(problem, GAP)
    monitor.offer(lower[None, :])
    flat, _ = undecided_system(problem, lower, upper)
    return build_program(problem, flat, lower, upper), monitor


def searched(problem, options, node_limit=10**6):
    """A search from the root, and the bounds of the nodes it left open."""
    program, monitor = root(problem)
    search = AscentSearch(problem, program, monitor, options)
    nothing_fixed = np.zeros((1, program.n_relus), dtype=np.int8)
    _, bounds = search.run(nothing_fixed, np.full(1, np.inf), node_limit)
    return search, bounds


@pytest.mark.parametrize("options", [AscentOptions(), AscentOptions(programs=False, batch=128)])
@pytest.mark.parametrize("seed", range(6))
def test_a_search_by_ascent_finds_and_proves_the_maximum(seed, options):
    problem = random_problem(seed, 1 + seed % 3, (5, 4), skips=seed % 2 == 1)
    search, left = searched(problem, options)
    exact = exact_maximum(problem.network, problem.domain, budget=3_000_000).value
    assert len(left) == 0
    assert exact <= search.settled <= search.monitor.cutoff
    assert search.monitor.best_value >= exact - GAP * max(1.0, abs(float(exact)))


@pytest.mark.parametrize("limit", [1, 3])
def test_what_a_stopped_search_leaves_open_covers_the_maximum(limit):
    problem = random_problem(11, 3, (8, 8))
    search, left = searched(problem, AscentOptions(stalled_share=1.0, batch=1), limit)
    exact = exact_maximum(problem.network, problem.domain, budget=3_000_000).value
    assert len(left) > 0
    assert exact <= max(search.settled, left.max())


@pytest.mark.parametrize("seed", range(3))
def test_ascent_and_simplex_bound_the_points_of_a_node(seed):
    """No sampled point that has a node's phases scores above either of its bounds."""
    problem = random_problem(seed, 3, (6, 6))
    program, _ = root(problem)
    monitor = NothingCutOff(problem, GAP)
    rng = np.random.default_rng(seed)
    k = program.n_relus
    y = rng.uniform(size=(400, program.n_inputs + k))
    for j in range(k):  # a ReLU reads columns before its own
        y[:, program.n_inputs + j] = np.maximum(y @ program.weights[j] + program.bias[j], 0.0)
    values = program.constant + y @ program.objective
    active = y[:, program.n_inputs :] > 0.0
    fixed = rng.random(active.shape) < 0.4
    phases = np.where(fixed, np.where(active, 1, -1), 0).astype(np.int8)
    by_program, branch, _, _ = bound_similar(program, phases, monitor.cutoff, monitor.should_stop)
    assert (by_program >= values - 1e-12).all()
    assert (np.take_along_axis(phases, np.maximum(branch, 0)[:, None], 1)[branch >= 0] == 0).all()
    search = AscentSearch(problem, program, monitor, AscentOptions(programs=False))
    slopes = (phases > 0).astype(np.float32)
    zeros, none = np.zeros_like(slopes), np.full(len(phases), -1)
    nodes = AscentNodes(phases, slopes, zeros, zeros, np.full(len(phases), np.inf), none)
    ascended = search.improved(nodes, 200)
    assert len(ascended) == len(nodes)
    assert (ascended.bounds >= values - 1e-12).all()
    # The ascent works on the dual of the same programs.
    assert (ascended.bounds >= by_program - 1e-9).all()
    assert np.median(ascended.bounds - by_program) < 0.1 * np.ptp(values)


def test_an_engine_that_ascends_at_once_agrees_with_one_that_never_does():
    problem = random_problem(8, 5, (10, 10))
    early = solve(
        problem, PhaseOptions(nodes_before_ascent=1, nodes_per_call=1), Monitor(problem, GAP)
    )
    never = solve(problem, PhaseOptions(ascends=False), Monitor(problem, GAP))
    assert early.status == never.status == "optimal"
    assert early.bound >= never.value
    assert never.bound >= early.value


def test_weights_that_float32_cannot_hold_are_left_to_the_simplex():
    plain = random_problem(3, 2, (4, 4))
    assert is_for_ascent(plain, root(plain)[0])
    network = Network.from_layers([([[1.0], [1.0]], [-0.5, 0.3]), ([[1.0, -1.0]], [1e20])])
    huge = Problem(network, Domain([-1.0], [1.0]))
    assert not is_for_ascent(huge, root(huge)[0])


def test_heap_returns_every_node_and_the_largest_bounds_first():
    rng = np.random.default_rng(0)
    bounds = rng.normal(size=3 * CHUNK + 5)
    column = np.zeros((len(bounds), 2), dtype=np.float32)
    nodes = AscentNodes(
        column.astype(np.int8), column, column, column, bounds, np.arange(len(bounds))
    )
    heap = NodeHeap()
    heap.push(nodes)
    assert heap.largest_bound() == bounds.max()
    (first,) = heap.pop(1)
    assert first.bounds.min() >= np.sort(bounds)[-CHUNK:].min()
    rest = AscentNodes.join(heap.pop(len(heap)))
    assert sorted([*first.branch, *rest.branch]) == list(range(len(bounds)))
    assert len(heap) == 0


@pytest.mark.parametrize("count", [1, CHUNK, CHUNK + 3])
def test_tiles_hold_the_rows(count):
    rows = np.arange(count * 3.0).reshape(count, 3)
    assert tiled(rows).shape == (-(-count // CHUNK), 3, CHUNK)
    assert (as_rows(tiled(rows), count) == rows).all()
