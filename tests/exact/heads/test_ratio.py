"""PI and MES by Dinkelbach's steps and by the sandwich over (mean, raw), against dense grids."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm

from nnbo_mip.core.errors import UnsupportedError
from nnbo_mip.exact.heads import ratio, sandwich, sequence
from nnbo_mip.exact.heads.sequence import SequenceOptions
from nnbo_mip.network.graph.builder import GraphBuilder
from nnbo_mip.scores.functions.entropy import MaxValueEntropy
from nnbo_mip.scores.functions.improvement import ExpectedImprovement
from nnbo_mip.scores.functions.probability import ProbabilityOfImprovement
from nnbo_mip.scores.posteriors.compiled import PlainPosterior
from nnbo_mip.space.domain import Domain
from tests.exact.heads.sequence_cases import (
    OPTIONS,
    case,
    check,
    check_closed,
    clip_posterior,
    grid,
    mad_posterior,
    small_domain,
    smooth_posterior,
    threshold_near,
)
from tests.exact.heads.test_linear import claims_without_search
from tests.exact.random_problems import mixed_domain


@pytest.mark.parametrize("seed", range(60))
def test_ratios_against_a_grid(seed: int) -> None:
    inputs, domain = 1 + seed % 2, small_domain(seed, 1 + seed % 2)
    posterior = (clip_posterior, smooth_posterior)[seed % 4 > 1](seed, inputs)
    threshold = threshold_near(posterior, domain, [0.0, -0.05, 0.2, -0.02, 0.6][seed % 5])
    head = (ProbabilityOfImprovement, MaxValueEntropy)[seed % 3 == 0](threshold)
    problem, monitor = case(posterior, head, domain)
    result = ratio.solve(problem, OPTIONS, monitor)
    check_closed(problem, monitor, result, grid(domain))
    assert len(result.steps) <= 10
    assert result.kind == "rigorous"


@pytest.mark.parametrize("seed", range(15))
def test_a_std_without_a_lower_bound(seed: int) -> None:
    inputs, domain = 1 + seed % 2, small_domain(seed, 1 + seed % 2)
    posterior = mad_posterior(seed, inputs)
    threshold = threshold_near(posterior, domain, [0.0, 0.2, -0.05][seed % 3])
    problem, monitor = case(posterior, ProbabilityOfImprovement(threshold), domain)
    result = ratio.solve(problem, OPTIONS, monitor)
    check(problem, monitor, result, grid(domain))
    assert result.bound <= 1.0
    assert result.status == "optimal" or "take boxes" in result.message


def test_the_value_is_that_of_the_textbook_formula() -> None:
    domain = small_domain(2, 2)
    posterior = clip_posterior(2, 2)
    threshold = threshold_near(posterior, domain, 0.1)
    problem, monitor = case(posterior, ProbabilityOfImprovement(threshold), domain)
    result = ratio.solve(problem, OPTIONS, monitor)
    mean, std = (float(one[0]) for one in posterior.moments(result.x))
    assert result.score == "pi"
    assert result.value == pytest.approx(norm.cdf((mean - threshold) / std), rel=1e-9)
    assert math.log(result.bound / result.value) <= 1e-4


def test_where_the_std_counts_against_a_point_the_sandwich_takes_over() -> None:
    # The mean is above the threshold: a smaller std is better.
    domain = small_domain(4, 2)
    posterior = smooth_posterior(4, 2)
    threshold = threshold_near(posterior, domain, -0.03)
    problem, monitor = case(posterior, ProbabilityOfImprovement(threshold), domain)
    result = ratio.solve(problem, OPTIONS, monitor)
    check_closed(problem, monitor, result, grid(domain))
    assert result.engine.startswith("ratio sandwich")
    assert any("relu_raw" in step.weights for step in result.steps)
    assert 0.5 < result.value < 1.0


@pytest.mark.parametrize("make", [clip_posterior, smooth_posterior])
@pytest.mark.parametrize("threshold", [12.0, 1e3, -1e3])
def test_a_threshold_far_away(make: Any, threshold: float) -> None:
    domain = small_domain(11, 2)
    problem, monitor = case(make(11, 2), ProbabilityOfImprovement(threshold), domain)
    result = ratio.solve(problem, OPTIONS, monitor)
    check(problem, monitor, result, grid(domain))
    if threshold < 0.0:
        assert (result.value, result.bound, result.status) == (1.0, 1.0, "optimal")
    else:
        assert result.score == "logpi"
        assert result.value < math.log(1e-12)
    if threshold == 12.0:
        assert result.status == "optimal"


def test_where_nothing_varies_but_the_std() -> None:
    # mean - threshold = -0.5 everywhere: the largest std, here 0.9 at the upper end, is best.
    builder = GraphBuilder(1)
    std = builder.shift(builder.relu(builder.input), 0.1)
    network = builder.finish({"mean": builder.constant([1.0]), "std": std})
    domain = Domain([-0.7], [0.8])
    problem, monitor = case(PlainPosterior(network), ProbabilityOfImprovement(1.5), domain)
    result = ratio.solve(problem, OPTIONS, monitor)
    check_closed(problem, monitor, result, grid(domain))
    assert result.value == pytest.approx(norm.cdf(-0.5 / 0.9), rel=1e-3)
    problem, monitor = case(PlainPosterior(network), ProbabilityOfImprovement(0.9), domain)
    result = ratio.solve(problem, OPTIONS, monitor)
    check_closed(problem, monitor, result, grid(domain))
    assert result.value == pytest.approx(norm.cdf(0.1 / 0.1), rel=1e-3)


def test_a_std_of_zero_at_the_threshold_is_certain() -> None:
    # At 0.3 the std vanishes and the mean is 0: PI = 1 there for a threshold of 0.
    builder = GraphBuilder(1)
    away = builder.absolute(builder.shift(builder.input, -0.25))
    network = builder.finish({"mean": away.negated(), "std": builder.scale(away, 0.8)})
    domain = Domain([-1.0], [0.9])
    for threshold in (0.0, 0.1):
        posterior = PlainPosterior(network)
        problem, monitor = case(posterior, ProbabilityOfImprovement(threshold), domain)
        result = ratio.solve(problem, OPTIONS, monitor)
        at_the_kink = np.vstack([grid(domain), [[0.25]]])
        check(problem, monitor, result, at_the_kink)


@pytest.mark.parametrize("seed", range(2))
def test_grids_categories_and_rows(seed: int) -> None:
    rng = np.random.default_rng(seed)
    domain = mixed_domain(rng)
    points = domain.sample(2000, rng)
    posterior = (clip_posterior, smooth_posterior)[seed](seed, 6)
    threshold = float(posterior.mean(points).max()) + 1.0
    problem, monitor = case(posterior, ProbabilityOfImprovement(threshold), domain)
    result = ratio.solve(problem, OPTIONS, monitor)
    check_closed(problem, monitor, result, points)


@pytest.mark.parametrize("make", [clip_posterior, smooth_posterior])
@pytest.mark.parametrize("problems", [1, 2])
def test_a_sequence_that_is_cut_short_keeps_a_bound_that_holds(make: Any, problems: int) -> None:
    domain = small_domain(14, 2)
    posterior = make(14, 2)
    threshold = threshold_near(posterior, domain, -0.01)
    problem, monitor = case(posterior, ProbabilityOfImprovement(threshold), domain)
    result = ratio.solve(problem, SequenceOptions(most_problems=problems), monitor)
    check(problem, monitor, result, grid(domain))
    assert result.bound <= 1.0


def test_an_interruption_returns_the_best_so_far() -> None:
    domain = small_domain(14, 2)
    posterior = clip_posterior(14, 2)
    threshold = threshold_near(posterior, domain, 0.1)
    problem, monitor = case(posterior, ProbabilityOfImprovement(threshold), domain)
    monitor.interrupt()
    result = ratio.solve(problem, OPTIONS, monitor)
    check(problem, monitor, result, grid(domain))
    assert (result.status, result.bound) == ("feasible", 1.0)


@pytest.mark.parametrize("make", [clip_posterior, smooth_posterior, mad_posterior])
def test_a_lowered_bound_is_noticed(monkeypatch: pytest.MonkeyPatch, make: Any) -> None:
    monkeypatch.setattr(sequence, "run", claims_without_search)
    monkeypatch.setattr(sandwich, "SAMPLE", 3)
    domain = small_domain(9, 2)
    posterior = make(9, 2)
    threshold = threshold_near(posterior, domain, 0.2)
    problem, monitor = case(posterior, ProbabilityOfImprovement(threshold), domain)
    result = ratio.solve(problem, OPTIONS, monitor)
    with pytest.raises(AssertionError):
        check(problem, monitor, result, grid(domain))


def test_a_head_that_is_no_ratio_is_declined() -> None:
    problem, monitor = case(clip_posterior(0, 2), ExpectedImprovement(0.0), small_domain(0, 2))
    with pytest.raises(UnsupportedError, match="a ratio must be"):
        ratio.solve(problem, OPTIONS, monitor)
