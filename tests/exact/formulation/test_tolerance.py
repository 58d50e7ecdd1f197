"""What tolerances can do to bounds and claims, against what they do."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from nnbo_mip.exact.backends import SolveRequest, get_backend
from nnbo_mip.exact.bounds.interval import interval_bounds
from nnbo_mip.exact.formulation import Tolerances, bound_inflation, encode
from nnbo_mip.exact.formulation.model import MARGIN
from nnbo_mip.exact.formulation.tolerance import claim_allowance
from nnbo_mip.testing.exact_maximum import exact_maximum
from tests.exact.random_problems import random_problem


@pytest.mark.parametrize("formulation", ["bigm", "partition"])
@pytest.mark.parametrize("seed", range(6))
def test_moving_rows_and_bounds_moves_the_optimum_by_no_more(formulation: str, seed: int) -> None:
    problem = random_problem(seed, 2, (5, 4))
    bounds = interval_bounds(problem.network, problem.domain.lower, problem.domain.upper)
    encoding = encode(problem, bounds, formulation)
    model, slack = encoding.model, 1e-4
    relaxed = replace(
        model,
        row_lower=model.row_lower - slack,
        row_upper=model.row_upper + slack,
        column_lower=model.column_lower - np.where(model.integer, 0.0, slack),
        column_upper=model.column_upper + np.where(model.integer, 0.0, slack),
    )
    exact = float(exact_maximum(problem.network, problem.domain).value)
    moved = get_backend("highs").solve(relaxed, SolveRequest()).objective
    allowance = claim_allowance(encoding, Tolerances(slack, 0.0, 0.0))
    assert exact < moved <= exact + allowance
    assert allowance < 2000.0 * slack


@pytest.mark.parametrize("seed", range(6))
def test_a_leaking_binary_moves_the_optimum_by_no_more(seed: int) -> None:
    problem = random_problem(seed, 2, (5, 4))
    bounds = interval_bounds(problem.network, problem.domain.lower, problem.domain.upper)
    encoding = encode(problem, bounds)
    model, leak = encoding.model, 1e-3
    # Rows "on" and "off" hold y with a coefficient of at most 1: y off by `leak` is this.
    switched = np.array([name.startswith(("on", "off")) for name in model.row_names])
    leaking = replace(model, row_upper=model.row_upper + np.where(switched, leak, 0.0))
    exact = float(exact_maximum(problem.network, problem.domain).value)
    moved = get_backend("highs").solve(leaking, SolveRequest()).objective
    assert exact < moved <= exact + claim_allowance(encoding, Tolerances(0.0, leak, 0.0))


@pytest.mark.parametrize("formulation", ["bigm", "partition"])
@pytest.mark.parametrize("seed", range(6))
def test_admissible_points_survive_any_tolerance_below_the_margin(
    formulation: str, seed: int
) -> None:
    problem = random_problem(seed, 2, (5, 4), skips=True)
    bounds = interval_bounds(problem.network, problem.domain.lower, problem.domain.upper)
    encoding = encode(problem, bounds, formulation)
    model, moved = encoding.model, 0.99 * MARGIN
    inwards = np.where(model.integer, 0.0, moved)
    tightened = replace(
        model,
        row_lower=model.row_lower + moved,
        row_upper=model.row_upper - moved,
        column_lower=model.column_lower + inwards,
        column_upper=model.column_upper - inwards,
    )
    corners = [problem.domain.lower, problem.domain.upper]
    for point in [*corners, *problem.domain.sample(20, np.random.default_rng(seed))]:
        assert tightened.violation(encoding.complete(point)) == 0.0


def test_the_dual_side_is_added_to_bounds() -> None:
    problem = random_problem(3, 3, (5, 4))
    bounds = interval_bounds(problem.network, problem.domain.lower, problem.domain.upper)
    encoding = encode(problem, bounds)
    rounding = bound_inflation(encoding, Tolerances(1e-6, 1e-6, 0.0))
    assert 0.0 < rounding < 1e-11
    one, two = (bound_inflation(encoding, Tolerances(0.0, 0.0, t)) for t in (1e-6, 2e-6))
    assert one > 1e-5
    assert two - rounding == pytest.approx(2.0 * (one - rounding))


def test_claims_may_exceed_the_pass_by_what_the_margin_explains() -> None:
    problem = random_problem(3, 3, (5, 4))
    bounds = interval_bounds(problem.network, problem.domain.lower, problem.domain.upper)
    encoding = encode(problem, bounds)
    allowance = claim_allowance(encoding, Tolerances(0.0, 0.0, 0.0))
    assert 1e-8 < allowance < 1e-5
    assert claim_allowance(encoding, Tolerances(1e-7, 0.0, 0.0)) > 2.0 * allowance
    assert claim_allowance(encoding, Tolerances(0.0, 1e-7, 0.0)) > allowance
