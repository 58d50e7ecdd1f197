"""Linear heads against dense grids; the published defects of an earlier program."""

from __future__ import annotations

import numpy as np
import pytest

from nnbo_mip.core.errors import UnsupportedError
from nnbo_mip.exact.heads import linear, sequence
from nnbo_mip.exact.heads.sequence import SequenceOptions
from nnbo_mip.exact.search.monitor import Monitor
from nnbo_mip.exact.search.problem import Problem
from nnbo_mip.exact.search.result import Proof, SearchResult
from nnbo_mip.network.graph.builder import GraphBuilder
from nnbo_mip.scores.functions.empirical import EmpiricalImprovement
from nnbo_mip.scores.functions.improvement import ExpectedImprovement
from nnbo_mip.scores.functions.linear import LinearHead
from nnbo_mip.scores.posteriors.compiled import PlainPosterior
from nnbo_mip.space.domain import Domain
from tests.exact.heads.sequence_cases import (
    L_MAX,
    L_MIN,
    OPTIONS,
    case,
    check,
    check_closed,
    clip_posterior,
    grid,
    mad_posterior,
    members_posterior,
    nomu_network,
    small_domain,
    smooth_posterior,
)
from tests.exact.random_problems import mixed_domain


@pytest.mark.parametrize("seed", range(24))
def test_confidence_bounds_against_a_grid(seed: int) -> None:
    inputs, domain = 1 + seed % 2, small_domain(seed, 1 + seed % 2)
    weight = [2.0, 0.0, -1.3, 0.4][seed % 4]
    posterior = (clip_posterior, mad_posterior)[seed % 3 == 0](seed, inputs)
    problem, monitor = case(posterior, LinearHead(0.7, weight, 0.3), domain)
    result = linear.solve(problem, OPTIONS, monitor)
    check_closed(problem, monitor, result, grid(domain))
    assert len(result.steps) == 1


@pytest.mark.parametrize("seed", range(12))
def test_empirical_improvement_against_a_grid(seed: int) -> None:
    inputs, domain = 1 + seed % 2, small_domain(seed, 1 + seed % 2)
    posterior, points = members_posterior(seed, inputs), grid(domain)
    threshold = float(posterior.mean(points).max()) + [0.0, 0.4, -2.0][seed % 3]
    problem, monitor = case(posterior, EmpiricalImprovement(threshold), domain)
    result = linear.solve(problem, OPTIONS, monitor)
    check_closed(problem, monitor, result, points)
    assert result.score == "empirical_ei"


@pytest.mark.parametrize("make", [smooth_posterior, members_posterior])
def test_the_mean_of_any_posterior(make: object) -> None:
    domain = small_domain(3, 2)
    assert callable(make)
    problem, monitor = case(make(3, 2), LinearHead(2.0, 0.0, -1.0), domain)
    check_closed(problem, monitor, linear.solve(problem, OPTIONS, monitor), grid(domain))


@pytest.mark.parametrize("weight", [1e6, -1e6])
def test_a_huge_factor_of_the_std(weight: float) -> None:
    domain = small_domain(5, 2)
    problem, monitor = case(clip_posterior(5, 2), LinearHead(1.0, weight), domain)
    check_closed(problem, monitor, linear.solve(problem, OPTIONS, monitor), grid(domain))


def test_nothing_but_a_constant() -> None:
    domain = small_domain(5, 2)
    problem, monitor = case(clip_posterior(5, 2), LinearHead(0.0, 0.0, 3.0), domain)
    result = linear.solve(problem, OPTIONS, monitor)
    check_closed(problem, monitor, result, grid(domain))
    assert result.value == 3.0


@pytest.mark.parametrize("seed", range(4))
def test_a_std_output_that_becomes_negative_counts_as_zero(seed: int) -> None:
    rng = np.random.default_rng(seed)
    builder = GraphBuilder(2)
    both = builder.affine(builder.input, rng.normal(size=(2, 2)))
    bent = builder.relu(both)
    network = builder.finish(
        {"mean": builder.select(both, [0]), "std": builder.shift(builder.select(bent, [1]), -0.5)}
    )
    domain = small_domain(seed, 2)
    for weight in (3.0, -3.0):
        problem, monitor = case(PlainPosterior(network), LinearHead(1.0, weight), domain)
        assert problem.posterior.std(grid(domain)).min() == 0.0
        check_closed(problem, monitor, linear.solve(problem, OPTIONS, monitor), grid(domain))


@pytest.mark.parametrize("seed", range(3))
def test_grids_categories_and_rows(seed: int) -> None:
    rng = np.random.default_rng(seed)
    domain = mixed_domain(rng)
    problem, monitor = case(clip_posterior(seed, 6), LinearHead(1.0, 2.0), domain)
    result = linear.solve(problem, OPTIONS, monitor)
    check_closed(problem, monitor, result, domain.sample(2000, rng))


# -- the published defects of the earlier NOMU program -------------------------------------


def test_a_mean_below_zero_is_no_obstacle() -> None:
    domain = small_domain(1, 2)
    problem, monitor = case(clip_posterior(1, 2, mean_shift=-50.0), LinearHead(1.0, 2.0), domain)
    result = linear.solve(problem, OPTIONS, monitor)
    check_closed(problem, monitor, result, grid(domain))
    assert -60.0 < result.bound < -40.0


def test_raw_uncertainty_below_zero_is_no_obstacle() -> None:
    domain = small_domain(2, 2)
    posterior = clip_posterior(2, 2, raw_shift=-50.0)
    problem, monitor = case(posterior, LinearHead(1.0, 2.0), domain)
    result = linear.solve(problem, OPTIONS, monitor)
    check_closed(problem, monitor, result, grid(domain))
    assert result.x is not None
    assert posterior.std(result.x)[0] == pytest.approx(L_MIN, abs=1e-12)


def test_a_clipped_std_is_the_clip_of_the_raw_one_where_it_is_found() -> None:
    places = set()
    for seed in (0, 4, 7, 11):
        domain, posterior = small_domain(seed, 2), clip_posterior(seed, 2)
        problem, monitor = case(posterior, LinearHead(1.0, 0.4), domain)
        result = linear.solve(problem, OPTIONS, monitor)
        check_closed(problem, monitor, result, grid(domain))
        assert result.x is not None
        raw, std = (posterior.network.evaluate(result.x, name)[0] for name in ("raw", "std"))
        assert std == pytest.approx(min(max(raw, L_MIN), L_MAX), abs=1e-12)
        places.add("below" if raw < L_MIN else "above" if raw > L_MAX else "between")
    assert places == {"below", "between", "above"}


def test_the_outside_scale_of_the_std_is_in_the_maximum() -> None:
    domain, points = small_domain(4, 2), grid(small_domain(4, 2))
    found = []
    for factor in (1.0, 7.0):
        posterior = clip_posterior(4, 2, factor=factor)
        problem, monitor = case(posterior, LinearHead(1.0, 2.0), domain)
        result = linear.solve(problem, OPTIONS, monitor)
        check_closed(problem, monitor, result, points)
        found.append(result)
    mean, std = clip_posterior(4, 2).moments(points)
    assert found[0].bound < (mean + 14.0 * std).max() <= found[1].bound


def test_every_coordinate_of_the_point_is_read_back() -> None:
    # -|x1 - 0.2| - |x2 + 0.6| - |x3 - 0.9| has its maximum at one point only.
    peak = np.array([0.2, -0.6, 0.9])
    builder = GraphBuilder(3)
    away = builder.absolute(builder.shift(builder.input, -peak))
    network = builder.finish(
        {"mean": builder.affine(away, -np.ones((1, 3))), "std": builder.constant([0.25])}
    )
    domain = Domain([-1.0, -0.9, -0.5], [0.8, 1.0, 1.0])
    for method in ("auto", "mip"):
        problem, monitor = case(PlainPosterior(network), LinearHead(1.0, 2.0), domain, gap=1e-6)
        result = linear.solve(problem, SequenceOptions(method=method), monitor)
        assert result.status == "optimal"
        assert result.x == pytest.approx(peak, abs=1e-5)
        assert result.value == pytest.approx(0.5, abs=1e-5)


@pytest.mark.parametrize("method", ["boxes", "phases", "mip"])
def test_values_far_beyond_any_fixed_constant(method: str) -> None:
    # An unchecked M = 20 would cut off every neuron of these nets.
    base, domain = nomu_network(6, 2, mean_shift=3.0), small_domain(6, 2)
    builder = GraphBuilder(2)
    big = builder.scale(builder.input, 1e4)
    bent = builder.relu(builder.affine(big, np.array([[1.0, -2.0], [-1.5, 0.5], [0.3, 1.0]])))
    network = builder.finish(
        {
            "mean": builder.affine(bent, np.array([[-1.0, 0.5, 0.25]])),
            "std": builder.clip(builder.select(bent, [2]), 10.0, 1e4),
        }
    )
    problem, monitor = case(PlainPosterior(network), LinearHead(1.0, 2.0), domain)
    result = linear.solve(problem, SequenceOptions(method=method), monitor)
    check_closed(problem, monitor, result, grid(domain))
    assert result.value > 100.0 > float(base.evaluate(grid(domain), "mean").max())


# -- honesty -----------------------------------------------------------------------------------


def claims_without_search(
    method: str, problem: Problem, choices: object, monitor: Monitor
) -> tuple[SearchResult, str]:
    """Claim that nothing is above what is known."""
    monitor.offer(problem.domain.lower[None, :])
    return monitor.result(Proof("liar"), monitor.cutoff, "rigorous", counters={}), ""


def test_a_lowered_bound_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sequence, "run", claims_without_search)
    domain = small_domain(7, 2)
    problem, monitor = case(clip_posterior(7, 2), LinearHead(1.0, 2.0), domain)
    result = linear.solve(problem, OPTIONS, monitor)
    with pytest.raises(AssertionError):
        check(problem, monitor, result, grid(domain))


def test_an_interrupted_search_keeps_a_bound_that_holds() -> None:
    domain = small_domain(8, 2)
    problem, monitor = case(clip_posterior(8, 2), LinearHead(1.0, 2.0), domain)
    monitor.interrupt()
    result = linear.solve(problem, SequenceOptions(method="boxes"), monitor)
    check(problem, monitor, result, grid(domain))
    assert np.isfinite(result.bound)


def test_an_empty_space_is_infeasible() -> None:
    domain = Domain([0.0, 0.0], [1.0, 1.0], A=[[1.0, 1.0]], b=[-1.0])
    problem, monitor = case(clip_posterior(8, 2), LinearHead(1.0, 2.0), domain)
    result = linear.solve(problem, OPTIONS, monitor)
    assert (result.status, result.x, result.bound) == ("infeasible", None, -np.inf)


@pytest.mark.parametrize(
    ("posterior", "head"),
    [
        (members_posterior(0, 2), EmpiricalImprovement(0.0, "pi")),
        (clip_posterior(0, 2), ExpectedImprovement(0.0)),
        (smooth_posterior(0, 2), LinearHead(1.0, 2.0)),
    ],
)
def test_what_is_no_sum_of_outputs_is_declined(posterior: object, head: object) -> None:
    problem, monitor = case(posterior, head, small_domain(0, 2))  # type: ignore[arg-type]
    assert linear.why_not(problem).endswith(".")
    with pytest.raises(UnsupportedError, match="one linear problem"):
        linear.solve(problem, OPTIONS, monitor)
