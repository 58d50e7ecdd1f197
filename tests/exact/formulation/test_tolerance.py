"""The bound inflation: what tolerances can do, against what they do."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from nnbo_mip.exact.backends import SolveRequest, get_backend
from nnbo_mip.exact.formulation import Tolerances, bound_inflation, encode
from nnbo_mip.exact.formulation.tolerance import claim_allowance
from nnbo_mip.exact.interval import interval_bounds
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
    inflation = bound_inflation(encoding, Tolerances(slack, 0.0, 0.0))
    assert exact < moved <= exact + inflation + 1e-6
    assert inflation < 2000.0 * slack


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
    inflation = bound_inflation(encoding, Tolerances(0.0, leak, 0.0))
    assert exact < moved <= exact + inflation + 1e-6


def test_inflation_grows_with_every_tolerance() -> None:
    problem = random_problem(3, 3, (5, 4))
    bounds = interval_bounds(problem.network, problem.domain.lower, problem.domain.upper)
    encoding = encode(problem, bounds)
    nothing = bound_inflation(encoding, Tolerances(0.0, 0.0, 0.0))
    assert 0.0 < nothing < 1e-11  # what is rounded in the objective
    for tolerances in (
        Tolerances(1e-6, 0.0, 0.0),
        Tolerances(0.0, 1e-6, 0.0),
        Tolerances(0.0, 0.0, 1e-6),
    ):
        assert bound_inflation(encoding, tolerances) > 1e-6
    assert claim_allowance(encoding, Tolerances(0.0, 0.0, 0.0)) > 1e-8  # the margin of the rows
