"""Enumeration against the exact maximum: without slack, at every scale."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nnbo_mip.core.errors import InputError
from nnbo_mip.exact import enumeration
from nnbo_mip.exact.enumeration import EnumerateOptions
from nnbo_mip.exact.search.monitor import Monitor
from nnbo_mip.exact.search.problem import Problem
from nnbo_mip.network.graph.affine import Affine
from nnbo_mip.network.graph.graph import Network
from nnbo_mip.space.domain import Domain, Grid
from nnbo_mip.testing import exact_maximum
from tests.exact.random_problems import mixed_domain, random_network, random_problem

TRAITS = ("zero rows", "ties", "dead", "always active", "subnormal", "integer weights")


def run(problem, gap=1e-6, **options):
    return enumeration.solve(problem, EnumerateOptions(**options), Monitor(problem, gap))


def check_claim(problem, result, gap=1e-6):
    """What must hold of every answer, however ill-conditioned the network."""
    exact = exact_maximum(problem.network, problem.domain, budget=3_000_000).value
    if exact is None:
        assert (result.status, result.x, result.bound) == ("infeasible", None, -np.inf)
        return
    assert result.kind == "rigorous"
    assert exact <= Fraction(result.bound)
    if result.x is not None:
        assert problem.domain.admissible(result.x[None, :])[0]
        assert result.value == problem.value(result.x)
    if result.status == "optimal":
        assert result.bound - result.value <= gap * max(1.0, abs(result.value))


def check(problem, result, gap=1e-6):
    check_claim(problem, result, gap)
    assert result.status == "optimal"


@st.composite
def adversarial_networks(draw, inputs):
    """Networks with one to three layers of at most five ReLUs, and what breaks provers."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    widths = tuple(draw(st.lists(st.integers(1, 5), min_size=1, max_size=3)))
    plain = random_network(rng, inputs, widths, skips=draw(st.booleans()))
    traits = draw(st.sets(st.sampled_from(TRAITS)))
    layers = [
        _scaled(_with_traits(layer, traits, rng), 10.0 ** draw(st.sampled_from((-4, 0, 0, 4))))
        for layer in plain.layers
    ]
    head = _scaled(plain.head, 10.0 ** draw(st.sampled_from((-4, 0, 4))))
    return Network(inputs, tuple(layers), head)


def _scaled(affine, factor):
    return Affine(affine.bias * factor, {k: w * factor for k, w in affine.terms.items()})


def _with_traits(affine, traits, rng):
    bias = affine.bias.copy()
    terms = {k: np.array(w) for k, w in affine.terms.items()}
    if "integer weights" in traits:
        bias, terms = np.round(2.0 * bias), {k: np.round(2.0 * w) for k, w in terms.items()}
    if "ties" in traits:
        bias[-1] = bias[0]
        for weights in terms.values():
            weights[-1] = weights[0]
    if "zero rows" in traits:
        bias[0] = 0.0
        for weights in terms.values():
            weights[0] = 0.0
    if "subnormal" in traits:
        for weights in terms.values():
            weights[rng.random(weights.shape) < 0.3] = 5e-324
    if "dead" in traits:
        bias[-1] = -1e3
    if "always active" in traits:
        bias[0] = 1e3
    return Affine(bias, terms)


def _asymmetric_ends(draw, inputs):
    offset = draw(st.sampled_from((0.0, 0.0, 100.0, -1e6)))
    width = draw(st.sampled_from((1.0, 1.0, 1e-3, 30.0)))
    lower = np.array([offset + draw(st.floats(-2.0, 1.0)) for _ in range(inputs)])
    return lower, lower + width * np.array([draw(st.floats(0.1, 2.0)) for _ in range(inputs)])


@st.composite
def boxes_with_rows(draw, inputs):
    lower, upper = _asymmetric_ends(draw, inputs)
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    A = rng.normal(size=(draw(st.integers(0, 3)), inputs))
    b = A @ rng.uniform(lower, upper)
    if draw(st.booleans()) and len(A):  # an equality: two rows of opposite sign
        A, b = np.vstack([A, -A[:1]]), np.append(b, -b[0])
    return Domain(lower, upper, A=A, b=b)


# -- property tests against the exact maximum ------------------------------------------------


@settings(max_examples=150)
@given(st.data())
def test_no_true_maximum_exceeds_the_bound_on_intervals(data):
    problem = Problem(data.draw(adversarial_networks(1)), data.draw(boxes_with_rows(1)))
    check_claim(problem, run(problem))


@settings(max_examples=150)
@given(st.data())
def test_no_true_maximum_exceeds_the_bound_in_polygons(data):
    problem = Problem(data.draw(adversarial_networks(2)), data.draw(boxes_with_rows(2)))
    check_claim(problem, run(problem))


@settings(max_examples=60)
@given(st.data())
def test_no_true_maximum_exceeds_the_bound_on_grids(data):
    lower, upper = _asymmetric_ends(data.draw, 2)
    steps = (upper - lower) / np.array([data.draw(st.integers(2, 90)), 7])
    counts = np.floor((upper - lower) / steps).astype(int) + 1
    grids = [Grid.uniform(*part) for part in zip(lower, steps, counts, strict=True)]
    kept = [data.draw(st.booleans()), data.draw(st.booleans())]
    chosen = [grid if keep else None for grid, keep in zip(grids, kept, strict=True)]
    problem = Problem(data.draw(adversarial_networks(2)), Domain(lower, upper, chosen))
    check_claim(problem, run(problem))


@pytest.mark.parametrize("seed", range(20))
def test_plain_networks_are_solved_to_a_small_gap(seed):
    problem = random_problem(seed, 1 + seed % 2, (6, 5, 4), skips=seed % 4 > 1)
    check(problem, run(problem, 1e-11), 1e-11)


@pytest.mark.parametrize("seed", range(8))
def test_grids_groups_and_rows(seed):
    rng = np.random.default_rng(seed)
    problem = Problem(random_network(rng, 6, (5, 4)), mixed_domain(rng))
    check(problem, run(problem))


@pytest.mark.parametrize("exponent", [-4, 4])
def test_networks_far_from_scale_one(exponent):
    plain = random_problem(5, 2, (6, 5))
    layers = tuple(_scaled(layer, 10.0**exponent) for layer in plain.network.layers)
    network = Network(2, layers, _scaled(plain.network.head, 10.0 ** -(2 * exponent)))
    problem = Problem(network, plain.domain)
    check(problem, run(problem))


# -- peculiar domains -------------------------------------------------------------------------


def test_a_corner_between_an_equality_and_a_box_side():
    # The optimum is where the line x + 2 y = 1 leaves the box; both its rows leave 1e-9.
    domain = Domain([-3.0, -1.0], [2.0, 4.0], A=[[1.0, 2.0], [-1.0, -2.0]], b=[1.0, -1.0])
    problem = Problem(Network.from_layers([([[-1.0, 0.1]], [9.0]), ([[3.0]], [0.0])]), domain)
    result = run(problem, 1e-8)
    check(problem, result, 1e-8)
    assert result.x == pytest.approx([-3.0, 2.0], abs=1e-8)


def test_degenerate_sides_and_single_points():
    network = random_problem(6, 3, (5, 5)).network
    line = Problem(network, Domain([0.5, -2.0, 3.0], [0.5, 1.0, 3.0]))
    check(line, run(line))
    point = Problem(network, Domain([0.5, -2.0, 3.0], [0.5, -2.0, 3.0]))
    result = run(point)
    check(point, result)
    assert result.counters["points"] == 1


def test_a_box_a_few_floats_wide():
    lower = np.array([1000.0, -3.0])
    upper = np.array([np.nextafter(lower[0], np.inf), -2.5])
    problem = Problem(random_network(np.random.default_rng(4), 2, (6, 4)), Domain(lower, upper))
    check_claim(problem, run(problem))


@pytest.mark.parametrize("sides", [([1.0, 2.0], [2.0, 3.0]), ([1.0, 2.0], [2.0, 2.0])])
def test_empty_sets_are_infeasible(sides):
    network = random_problem(7, 2, (4,)).network
    result = run(Problem(network, Domain(*sides, A=[[1.0, 1.0]], b=[1.0])))
    assert (result.status, result.x, result.bound) == ("infeasible", None, -np.inf)


def test_rows_that_only_together_leave_nothing_are_infeasible():
    # Each pair of these half-planes meets in the box; all three do not.
    A, b = [[1.0, 0.0], [-1.0, 1.0], [0.0, -1.0]], [1.0, 0.25, -1.75]
    network = random_problem(7, 2, (4,)).network
    result = run(Problem(network, Domain([-4.0, -3.0], [5.0, 6.0], A=A, b=b)))
    assert (result.status, result.bound) == ("infeasible", -np.inf)


def test_a_row_that_only_integers_violate_is_infeasible():
    grids = [Grid.uniform(0.0, 1.0, 4), Grid.uniform(0.0, 1.0, 4)]
    domain = Domain([0, 0], [3, 3], grids, A=[[2.0, 2.0], [-2.0, -2.0]], b=[3.0, -3.0])
    assert run(Problem(random_problem(8, 2, (4,)).network, domain)).status == "infeasible"


def test_a_long_grid_is_swept_and_keeps_its_values():
    domain = Domain([1.0], [1e9], [Grid.uniform(1.0, 1.0, 10**9)])
    for peak in (7.3e8, 7.3e8 + 0.375):
        layers = [([[1.0], [-1.0]], [-peak, peak]), ([[-1.0, -1.5]], [0.5])]
        problem = Problem(Network.from_layers(layers), domain)
        result = run(problem, 1e-4)
        assert (result.status, result.x[0]) == ("optimal", 7.3e8)
        assert result.value == 0.5 - 1.5 * (peak - 7.3e8)
        assert result.counters["simplices"] < 50


def test_no_value_of_a_swept_grid_is_skipped():
    # A spike of height 1 over one value of the grid, half a step wide, elsewhere a gentle slope.
    grid = Grid.uniform(-7.0, 1.0, 80)
    for peak in range(-7, 73):
        kinks = Affine(np.array([1.0, 0.0, -1.0]) - 4.0 * peak, {0: np.full((3, 1), 4.0)})
        head = Affine([0.0], {0: np.array([[0.001]]), 1: np.array([[1.0, -2.0, 1.0]])})
        result = run(Problem(Network(1, (kinks,), head), Domain([-7.0], [72.0], [grid])))
        assert (result.status, result.x[0]) == ("optimal", peak)


def test_a_long_grid_beside_a_short_one():
    domain = Domain(
        [-3.0, 10.0], [4.0, 900.0], [Grid.uniform(-3.0, 0.7, 11), Grid.uniform(10.0, 1.0, 891)]
    )
    layers = [([[0.9, -0.01], [-1.1, 0.004]], [0.3, 1.7]), ([[1.0, -1.3]], [0.0])]
    problem = Problem(Network.from_layers(layers), domain)
    check(problem, run(problem))


# -- peculiar networks ------------------------------------------------------------------------


def test_networks_without_undecided_relus():
    linear = Problem(Network.from_layers([([[2.0, -3.0]], [0.25])]), Domain([1, -2], [3, 5]))
    result = run(linear, 0.0)
    check_claim(linear, result)
    assert result.value == 12.25
    dead = Network.from_layers([([[1.0], [-1.0]], [-90.0, -90.0]), ([[1.0, 1.0]], [0.5])])
    check(p := Problem(dead, Domain([-1.0], [2.0])), run(p))


def test_a_sawtooth_of_many_pieces_is_swept():
    # Each of the nine layers folds [0, 1] once more: 512 teeth of height 1, shifted by a slope.
    fold = ([[2.0], [4.0]], [0.0, -2.0])
    layers = [fold] + [([[2.0, -2.0], [4.0, -4.0]], [0.0, -2.0])] * 8
    network = Network.from_layers([*layers, ([[1.0, -1.0]], [0.125])])
    problem = Problem(network, Domain([0.003], [0.998]))
    result = run(problem)
    check(problem, result)
    assert result.value == pytest.approx(1.125)


def test_a_plateau_needs_no_gap_to_end():
    # min(x, 1) + min(y, 1) is 2 on a whole rectangle: with gap 0 rounding ends the search.
    network = Network.from_layers(
        [([[-1.0, 0.0], [0.0, -1.0]], [1.0, 1.0]), ([[-1.0, -1.0]], [2.0])]
    )
    problem = Problem(network, Domain([-2.0, -0.5], [3.0, 7.0]))
    result = run(problem, 0.0, max_simplices=2000)
    check_claim(problem, result)
    assert result.value == 2.0
    assert result.bound <= 2.0 + 1e-13


def test_values_beyond_float64_give_no_proof():
    huge = [([[1e160], [-1e160]], [0.0, 1.0]), ([[1e160, 1.0]], [0.0])]
    with np.errstate(over="ignore"):
        result = run(Problem(Network.from_layers(huge), Domain([-1.0], [2.0])))
    assert (result.status, result.kind, result.bound) == ("heuristic", "none", np.inf)
    assert "float64" in result.message


# -- budgets, refusals, answers ---------------------------------------------------------------


def test_a_spent_budget_leaves_a_valid_bound():
    problem = random_problem(21, 2, (24, 24, 24))
    best = run(problem).value
    result = run(problem, max_simplices=10)
    assert result.status == "feasible"
    assert "max_simplices" in result.message
    assert best <= result.bound < np.inf


def test_an_interrupted_search_returns_what_it_has():
    for problem in (random_problem(13, 2, (20, 20)), _finite_problem()):
        monitor = Monitor(problem, 1e-9)
        monitor.interrupt()
        result = enumeration.solve(problem, EnumerateOptions(), monitor)
        assert result.time_limited
        assert result.status == "feasible"
        assert result.bound >= run(problem).value


def test_an_interruption_on_the_way_keeps_the_best_of_both():
    problem = random_problem(14, 2, (30, 30))
    monitor = Monitor(problem, 1e-12, callback=lambda progress: monitor.interrupt())
    result = enumeration.solve(problem, EnumerateOptions(), monitor)
    assert result.time_limited
    assert result.value <= run(problem, 1e-9).bound
    assert run(problem).value <= result.bound < problem.rounding.magnitude


def test_the_same_problem_gives_the_same_answer():
    problem = random_problem(9, 2, (16, 16))
    one, two = run(problem), run(problem)
    assert (one.value, one.bound, dict(one.counters)) == (two.value, two.bound, dict(two.counters))


def test_what_cannot_be_enumerated_is_refused_with_a_remedy():
    problem = random_problem(3, 3, (4,))
    assert enumeration.estimate_cost(problem) == np.inf
    with pytest.raises(InputError, match=r'at most 2 continuous .*got 3 \(0, 1, 2\).*"bab"'):
        run(problem)
    finite = _finite_problem()
    assert enumeration.estimate_cost(finite) < np.inf
    with pytest.raises(InputError, match=r"max_slices=10 .*got 36"):
        run(finite, max_slices=10)


def test_cost_grows_with_width_and_slices():
    narrow, wide = random_problem(1, 2, (8, 8)), random_problem(1, 2, (64, 64))
    assert enumeration.estimate_cost(narrow) < enumeration.estimate_cost(wide) / 30.0
    assert enumeration.estimate_cost(_finite_problem()) > 0.0


@pytest.mark.parametrize("options", [{"max_slices": 0}, {"max_simplices": 0}])
def test_bad_options(options):
    with pytest.raises(InputError, match="at least 1"):
        EnumerateOptions(**options)


def _finite_problem():
    grids = [Grid.uniform(-1.5, 0.5, 6), Grid.listed([0.0, 1.0, 5.0]), None, None]
    domain = Domain([-1.5, 0.0, 0.0, 0.0], [1.0, 5.0, 1.0, 1.0], grids, [(2, 3)])
    return Problem(random_network(np.random.default_rng(2), 4, (5, 4)), domain)
