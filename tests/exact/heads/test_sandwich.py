"""EI between found points and the corners of a polygon, against dense grids."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import norm

from nnbo_mip.exact.heads import sandwich
from nnbo_mip.exact.heads.sequence import SequenceOptions
from nnbo_mip.scores.functions.improvement import ExpectedImprovement
from tests.exact.heads.sequence_cases import (
    OPTIONS,
    case,
    check_closed,
    clip_posterior,
    grid,
    mad_posterior,
    small_domain,
    smooth_posterior,
    threshold_near,
)

MAKERS = (clip_posterior, smooth_posterior, mad_posterior)


@pytest.mark.parametrize("seed", range(48))
def test_expected_improvement_against_a_grid(seed: int) -> None:
    inputs, domain = 1 + seed % 2, small_domain(seed, 1 + seed % 2)
    posterior = MAKERS[seed % 3](seed, inputs)
    threshold = threshold_near(posterior, domain, [0.0, -0.3, 0.2, -2.0, 0.5][seed % 5])
    head = ExpectedImprovement(threshold, log=seed % 7 == 0)
    problem, monitor = case(posterior, head, domain)
    result = sandwich.solve(problem, OPTIONS, monitor)
    check_closed(problem, monitor, result, grid(domain))
    assert 2 <= len(result.steps) <= 10
    assert result.kind == "rigorous"


def test_the_value_is_that_of_the_textbook_formula() -> None:
    domain = small_domain(2, 2)
    posterior = clip_posterior(2, 2)
    threshold = threshold_near(posterior, domain, 0.0)
    problem, monitor = case(posterior, ExpectedImprovement(threshold), domain)
    result = sandwich.solve(problem, OPTIONS, monitor)
    mean, std = (float(one[0]) for one in posterior.moments(result.x))
    u = (mean - threshold) / std
    assert result.score == "ei"
    assert result.value == pytest.approx(std * (norm.pdf(u) + u * norm.cdf(u)), rel=1e-9)
    assert math.log(result.bound / result.value) <= 1e-4


def test_a_line_that_hides_a_corner_is_solved_again() -> None:
    # Tangents leave this line above the level of the chord that repeats it.
    domain = small_domain(5218, 3)
    problem, monitor = case(
        smooth_posterior(5218, 3), ExpectedImprovement(0.2658530251839033), domain
    )
    result = sandwich.solve(problem, SequenceOptions(seed=5218), monitor)
    points = domain.sample(20000, np.random.default_rng(0))
    check_closed(problem, monitor, result, points)


def test_an_integer_program_proves_as_well() -> None:
    domain = small_domain(2, 2)
    posterior = clip_posterior(2, 2)
    threshold = threshold_near(posterior, domain, 0.1)
    problem, monitor = case(posterior, ExpectedImprovement(threshold), domain)
    result = sandwich.solve(problem, SequenceOptions(method="mip"), monitor)
    check_closed(problem, monitor, result, grid(domain))
    assert result.kind == "solver"
    assert "mip:highs" in result.engine
