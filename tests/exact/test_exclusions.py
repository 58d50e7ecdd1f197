"""Every engine over domains with exclusions, against exact arithmetic, grids and each other."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nnbo_mip as nm
from nnbo_mip.exact.branching import phases
from nnbo_mip.exact.branching.preactivations import proven_bounds
from nnbo_mip.exact.enumeration.rows import Rows
from nnbo_mip.exact.enumeration.simplices import Geometry
from nnbo_mip.exact.formulation import FORMULATIONS, encode
from nnbo_mip.exact.formulation.export import export
from nnbo_mip.exact.search.monitor import Monitor
from nnbo_mip.exact.search.primal import climb
from nnbo_mip.exact.search.primal_exclusions import boxes_beside
from nnbo_mip.exact.search.problem import Problem
from nnbo_mip.space.domain import Domain, ExclusionBoxes, Grid
from nnbo_mip.testing.exact_maximum import exact_maximum
from tests.exact.backends.extras import needs_gurobi, needs_scip
from tests.exact.exclusion_cases import exclusion_case, peak
from tests.exact.random_problems import random_network

WAYS: list[Any] = [
    pytest.param({"method": "boxes"}, id="boxes"),
    pytest.param({"method": "phases"}, id="phases"),
    pytest.param({"method": "bab"}, id="bab"),
    pytest.param({"method": "auto"}, id="auto"),
    pytest.param({"method": "mip"}, id="mip:highs"),
    pytest.param({"method": "mip", "formulation": "partition"}, id="mip:highs:partition"),
    pytest.param({"method": "mip", "solver": "scip"}, id="mip:scip", marks=needs_scip),
    pytest.param(
        {"method": "mip", "solver": "scip", "formulation": "sos1"},
        id="mip:scip:sos1",
        marks=needs_scip,
    ),
    pytest.param({"method": "mip", "solver": "gurobi"}, id="mip:gurobi", marks=needs_gurobi),
    pytest.param(
        {"method": "mip", "solver": "gurobi", "formulation": "sos1"},
        id="mip:gurobi:sos1",
        marks=needs_gurobi,
    ),
]
EXACT: list[Any] = [*WAYS, pytest.param({"method": "enumerate"}, id="enumerate")]


def away(problem: Problem, points: Any, eps: float) -> Problem:
    return Problem(problem.network, problem.domain.away_from(points, eps))


def assert_right(problem: Problem, result: nm.CertifyResult, status: str = "optimal") -> None:
    """Compare a result with the maximum in real arithmetic, which has no tolerance at all."""
    true = exact_maximum(problem.network, problem.domain)
    if true.value is None:
        assert result.status == "infeasible"
        return
    assert result.status == status
    assert result.bound >= true.value
    assert problem.domain.admissible(result.x)[0]
    assert result.value <= float(true.value) + problem.rounding.output
    assert result.gap <= 1e-4 * max(1.0, abs(result.value))


# -- small problems ---------------------------------------------------------------------------


@pytest.mark.parametrize("options", WAYS)
@pytest.mark.parametrize("block", range(4))
def test_random_problems_have_their_exact_maximum(options: dict[str, Any], block: int) -> None:
    for seed in range(8 * block, 8 * block + 8):
        problem = exclusion_case(seed)
        assert_right(problem, nm.certify(problem.network, problem.domain, **options))


def test_enumerated_problems_have_their_exact_maximum() -> None:
    for seed in range(60):
        problem = exclusion_case(seed)
        free = [
            g is None and a < b
            for g, a, b in zip(
                problem.domain.grids, problem.domain.lower, problem.domain.upper, strict=True
            )
        ]
        if sum(free) <= 2:
            result = nm.certify(problem.network, problem.domain, method="enumerate")
            assert_right(problem, result)


@pytest.mark.parametrize("seed", range(4))
def test_the_judge_agrees_with_a_dense_grid(seed: int) -> None:
    rng = np.random.default_rng(seed)
    network = random_network(rng, 2, (6,))
    domain = Domain([-1.0, -2.0], [2.0, 1.0]).away_from(rng.uniform(-1, 1, (6, 2)), 0.5)
    axes = [np.linspace(a, b, 241) for a, b in zip(domain.lower, domain.upper, strict=True)]
    points = np.stack(np.meshgrid(*axes), axis=-1).reshape(-1, 2)
    points = points[domain.admissible(points)]
    best = float(network.evaluate(points, 0).max())
    true = exact_maximum(network, domain)
    assert true.value is not None
    steepest = np.abs(network.value_and_gradient(points)[1]).sum(axis=1).max()
    assert best <= float(true.value) + 1e-12
    assert float(true.value) <= best + 2.0 * steepest * 3.0 / 240


# -- an exclusion over the maximum ---------------------------------------------------------------


@pytest.mark.parametrize("options", EXACT)
def test_a_exclusion_exactly_over_the_maximizer(options: dict[str, Any]) -> None:
    problem, top = peak(2, 0)
    problem = away(problem, top, 0.25)
    result = nm.certify(problem.network, problem.domain, **options)
    assert_right(problem, result)
    assert result.x is not None
    assert np.abs(result.x - top).max() >= 0.25


@pytest.mark.parametrize("options", WAYS)
def test_a_exclusion_over_the_maximizer_in_five_dimensions(options: dict[str, Any]) -> None:
    problem, top = peak(5, 1)
    slopes = problem.network.head.dense(1)[0]
    problem = away(problem, top, 0.25)
    # The cheapest face: its slope times the distance.
    best = 1.0 - 0.25 * np.abs(slopes).min()
    result = nm.certify(problem.network, problem.domain, **options)
    assert result.status == "optimal"
    assert result.bound >= best - 1e-9
    assert result.value == pytest.approx(best, abs=2e-4)


@pytest.mark.parametrize("options", EXACT)
def test_exclusions_side_by_side_push_the_maximum_past_all_of_them(options: dict[str, Any]) -> None:
    problem, top = peak(2, 2)
    steps = np.array(list(itertools.product((-0.1, 0.0, 0.1), repeat=2)))
    problem = away(problem, top + steps, 0.1)
    slopes = np.abs(problem.network.head.dense(1)[0])
    result = nm.certify(problem.network, problem.domain, **options)
    assert result.value == pytest.approx(1.0 - 0.2 * slopes.min(), abs=2e-4)
    assert result.bound >= 1.0 - 0.2 * slopes.min() - 1e-9


@pytest.mark.parametrize("options", EXACT)
def test_two_exclusions_that_touch_leave_their_common_face(options: dict[str, Any]) -> None:
    problem, top = peak(2, 3)
    low, high = [[-2.0, -2.0], [top[0], -2.0]], [[top[0], 2.0], [2.0, 2.0]]
    problem = Problem(
        problem.network, Domain([-1, -1], [1, 1], exclusions=ExclusionBoxes(low, high))
    )
    result = nm.certify(problem.network, problem.domain, **options)
    assert result.x is not None
    assert result.x[0] == top[0]
    assert_right(problem, result)


@pytest.mark.parametrize("options", EXACT)
def test_a_maximum_on_whole_numbers_moves_to_the_next_one(options: dict[str, Any]) -> None:
    tent = nm.Network.from_layers([([[1.0], [-1.0]], [-3.0, 3.0]), ([[-1.0, -2.0]], [0.0])])
    whole = Domain([0.0], [9.0], [Grid.uniform(0.0, 1.0, 10)])
    result = nm.certify(tent, whole.away_from([3.0], 1e-10), **options)
    assert (result.status, result.x.tolist(), result.value) == ("optimal", [4.0], -1.0)
    assert nm.certify(tent, whole.away_from([3.0], 1.5), **options).x.tolist() == [5.0]


@pytest.mark.parametrize("options", EXACT)
def test_a_category_can_be_kept_away_from(options: dict[str, Any]) -> None:
    network = nm.Network.from_layers([(np.eye(3), [0.0, 0.0, 0.0]), ([[3.0, 2.0, 1.0]], [0.0])])
    domain = Domain([0, 0, 0], [1, 1, 1], None, [(0, 1, 2)]).away_from([1.0, 0.0, 0.0], 0.5)
    result = nm.certify(network, domain, **options)
    assert (result.status, result.x.tolist()) == ("optimal", [0.0, 1.0, 0.0])


@pytest.mark.parametrize("options", EXACT)
def test_the_maximum_where_a_row_meets_a_face(options: dict[str, Any]) -> None:
    # The shortest way back to the row leads into the exclusion.
    network = nm.Network.from_layers([([[1.0, 0.0]], [0.0]), ([[1.0]], [0.0])])
    exclusions = ExclusionBoxes([[0.5463477939106132, -0.33303027550195585]], [[3.6, 3.8]])
    row, limit = [[0.6113632504202824, -1.4511930290293962]], [2.019216622327124]
    domain = Domain(
        [1.4070446504140595, -1.3974533126125772], [4.44, 2.57], None, (), row, limit, exclusions
    )
    assert_right(Problem(network, domain), nm.certify(network, domain, **options))


# -- nothing is left --------------------------------------------------------------------------


@pytest.mark.parametrize("options", EXACT)
def test_exclusions_that_leave_nothing_are_infeasible(options: dict[str, Any]) -> None:
    problem, _ = peak(2, 4)
    low, high = [[-2.0, -2.0], [-0.1, -2.0]], [[0.0, 2.0], [2.0, 2.0]]
    domain = Domain([-1, -1], [1, 1], exclusions=ExclusionBoxes(low, high))
    result = nm.certify(problem.network, domain, **options)
    assert result.status == "infeasible"
    assert "2 exclusion boxes leave no point" in result.message
    assert result.certificate.check(problem.network, domain).confirmed


@pytest.mark.parametrize("options", EXACT)
def test_what_a_row_leaves_can_lie_in_a_exclusion(options: dict[str, Any]) -> None:
    problem, _ = peak(2, 5)
    exclusions = ExclusionBoxes([[-2.0, -2.0]], [[0.6, 0.6]])
    domain = Domain(
        [-1, -1],
        [1, 1],
        None,
        (),
        [[1.0, 1.0], [1.0, 0.0], [0.0, 1.0]],
        [0.5, 0.55, 0.55],
        exclusions,
    )
    assert nm.certify(problem.network, domain, **options).status == "infeasible"


# -- certificates -----------------------------------------------------------------------------


def test_certificates_name_their_exclusions_and_are_confirmed(tmp_path: Path) -> None:
    problem, top = peak(3, 6)
    relaxed = problem.domain
    problem = away(problem, [top, top + 0.3], 0.2)
    result = nm.certify(problem.network, problem.domain, method="boxes")
    result.certificate.save(tmp_path / "claim.json")
    claim = nm.Certificate.load(tmp_path / "claim.json")
    assert claim.check(problem.network).confirmed
    assert claim.check(problem.network, problem.domain).confirmed
    assert claim.check(problem.network, relaxed).refuted


# -- parts ------------------------------------------------------------------------------------


def test_climbing_passes_exclusions_over_the_maximum() -> None:
    problem, top = peak(4, 7)
    slopes = np.abs(problem.network.head.dense(1)[0])
    problem = away(problem, [top], 0.3)
    monitor = Monitor(problem, 1e-4)
    climb(problem, monitor)
    assert monitor.best_value == pytest.approx(1.0 - 0.3 * slopes.min(), abs=1e-6)


@pytest.mark.parametrize("seed", range(10))
def test_boxes_beside_exclusions_hold_their_point_and_meet_no_exclusion(seed: int) -> None:
    rng = np.random.default_rng(seed)
    domain = Domain([-1, -1, -1], [1, 1, 1]).away_from(rng.uniform(-1, 1, (12, 3)), 0.3)
    points = domain.sample(50, rng)
    lower, upper = boxes_beside(domain, points, rng.normal(size=points.shape))
    assert ((lower <= points) & (points <= upper)).all()
    assert not domain.exclusions.meeting(lower, upper).any()


def test_vertices_move_back_to_a_row_and_not_into_a_exclusion() -> None:
    exclusions = ExclusionBoxes([[-5.0, 0.0]], [[5.0, 5.0]])
    domain = Domain([-1, -1], [1, 1], None, (), [[1.0, -1.0]], [0.5], exclusions)
    vertices = np.array([[-1.0, 0.0], [-1.0, -1.0], [0.5 + 1e-8, 0.0]])  # the last one is outside
    rows = Rows(domain, Geometry(domain, (0, 1)))
    moved = rows.moved_inside(vertices[2:], vertices[:, None, :])
    assert domain.admissible(moved)[0]
    assert moved[0] == pytest.approx([0.5, 0.0], abs=1e-6)


def test_points_off_the_grid_have_boxes_beside_exclusions_too() -> None:
    domain = Domain([1.0, 0.0], [1.5, 4.0], [Grid.uniform(1.0, 0.5, 2), None])
    domain = domain.away_from([[1.0, 3.0]], 0.25)
    lower, upper = boxes_beside(domain, np.array([[1.3, 3.0]]), np.array([[-1.0, 0.0]]))
    assert (lower.tolist(), upper.tolist()) == ([[1.25, 0.0]], [[1.5, 4.0]])


@pytest.mark.parametrize("method", ["boxes", "phases", "enumerate"])
@pytest.mark.parametrize("seed", range(6))
def test_rigorous_bounds_hold_to_the_last_digits(method: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    problem, top = peak(2, 10 + seed)
    problem = away(problem, [top, top + rng.uniform(-0.2, 0.2, 2)], 0.2)
    true = exact_maximum(problem.network, problem.domain).value
    assert true is not None
    result = nm.certify(problem.network, problem.domain, method=method, gap=1e-10)
    assert result.bound >= true
    assert result.bound <= float(true) + 1e-9


@pytest.mark.parametrize("ascends", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_a_phase_search_loses_no_point_among_many_exclusions(ascends: bool, seed: int) -> None:
    rng = np.random.default_rng(seed)
    problem = Problem(random_network(rng, 3, (10, 8)), Domain(-np.ones(3), np.ones(3)))
    first = nm.certify(problem.network, problem.domain, method="boxes")
    problem = away(problem, first.x + 0.2 * rng.normal(size=(4, 3)), 0.4)
    best = nm.certify(problem.network, problem.domain, method="boxes", gap=1e-7)
    monitor = Monitor(problem, 1e-6)
    points = problem.domain.sample(64, rng)
    monitor.offer(points[problem.values(points).argmin()][None, :])  # much is above the cut-off
    options = phases.PhaseOptions(ascends=ascends, nodes_before_ascent=2, nodes_per_call=2)
    result = phases.solve(problem, options, monitor)
    assert result.status == "optimal"
    assert result.bound >= best.value
    assert result.value >= best.value - 1e-5 * max(1.0, abs(best.value))


def test_a_long_phase_search_cuts_nodes_at_exclusions() -> None:
    rng = np.random.default_rng(8)
    problem = Problem(random_network(rng, 4, (14, 14)), Domain(-np.ones(4), np.ones(4)))
    first = nm.certify(problem.network, problem.domain, method="boxes")
    problem = away(problem, first.x + 0.05 * rng.normal(size=(6, 4)), 0.3)
    best = nm.certify(problem.network, problem.domain, method="boxes", gap=1e-6)
    for options in (phases.PhaseOptions(nodes_before_ascent=3), phases.PhaseOptions(ascends=False)):
        monitor = Monitor(problem, 1e-4)
        result = phases.solve(problem, options, monitor)
        assert result.status == "optimal"
        assert result.bound >= best.value
        assert result.value >= best.value - 1e-4 * max(1.0, abs(best.value))


@pytest.mark.filterwarnings("ignore::nnbo_mip.core.errors.UncertifiedWarning")
@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("seed", range(12))
def test_programs_hold_admissible_points_and_none_in_a_exclusion(
    formulation: str, seed: int
) -> None:
    problem = exclusion_case(seed)
    domain = problem.domain
    if not domain.tighten(domain.lower, domain.upper)[2] or not len(domain.exclusions):
        return
    rng = np.random.default_rng(seed)
    encoding = encode(problem, proven_bounds(problem, Monitor(problem, 1e-4)), formulation)
    for point in domain.sample(20, rng):
        assert encoding.model.violation(encoding.complete(point)) <= 1e-8
    middle = 0.5 * (
        np.maximum(domain.exclusions.lower, domain.lower)
        + np.minimum(domain.exclusions.upper, domain.upper)
    )
    for point in middle[domain.without_exclusions.admissible(middle)]:
        columns = encoding.complete(point)
        assert encoding.inputs.exclusions is not None
        # No choice of the binaries that hold at this point satisfies the sum of its exclusion.
        assert encoding.model.violation(columns) >= 0.9


@pytest.mark.parametrize("ending", [".lp", ".mps"])
def test_exclusions_are_written_to_files(tmp_path: Path, ending: str) -> None:
    import highspy

    problem, top = peak(2, 9)
    slopes = np.abs(problem.network.head.dense(1)[0])
    problem = away(problem, top, 0.25)
    encoding = encode(problem, proven_bounds(problem, Monitor(problem, 1e-4)))
    export(encoding.model, tmp_path / f"model{ending}")
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    solver.readModel(str(tmp_path / f"model{ending}"))
    solver.run()
    value = solver.getInfo().objective_function_value * (-1.0 if ending == ".mps" else 1.0)
    assert value == pytest.approx(1.0 - 0.25 * slopes.min(), abs=1e-5)
