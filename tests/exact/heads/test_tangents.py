"""The envelope of tangents, and confidence bounds of smooth posteriors against dense grids."""

from __future__ import annotations

from decimal import Decimal, getcontext

import numpy as np
import pytest

from nnbo_mip.core.errors import UnsupportedError
from nnbo_mip.exact.heads import sequence, tangents
from nnbo_mip.exact.heads.sequence import Sequence, SequenceOptions
from nnbo_mip.exact.heads.tangents import Envelope, SmoothPlane, envelope, raw_of
from nnbo_mip.network.graph.builder import GraphBuilder
from nnbo_mip.scores.functions.linear import LinearHead
from nnbo_mip.scores.posteriors.compiled import SmoothPosterior
from tests.exact.heads.sequence_cases import (
    L_MAX,
    L_MIN,
    OPTIONS,
    case,
    check,
    check_closed,
    grid,
    small_domain,
    smooth_posterior,
)
from tests.exact.heads.test_linear import claims_without_search


def posterior_in_decimals(posterior: SmoothPosterior, r: float) -> Decimal:
    getcontext().prec = 50
    l_max = Decimal(posterior.l_max)
    exponent = -(Decimal(r) + Decimal(posterior.l_min)) / l_max
    return Decimal(posterior.factor) * l_max * (1 - exponent.exp())


def envelope_in_decimals(above: Envelope, r: float) -> Decimal:
    getcontext().prec = 50
    total = Decimal(above.offset) + Decimal(above.slope) * Decimal(r)
    for decrement, meet in zip(above.decrements, above.breaks, strict=True):
        total -= Decimal(decrement) * max(Decimal(r) - Decimal(meet), Decimal(0))
    return total


@pytest.mark.parametrize("seed", range(30))
def test_the_envelope_is_above_the_posterior_in_exact_arithmetic(seed: int) -> None:
    rng = np.random.default_rng(seed)
    l_max = 10.0 ** rng.uniform(-3, 3)
    posterior = smooth_posterior(0, 1)
    posterior = SmoothPosterior(
        posterior.network, l_max * 10.0 ** rng.uniform(-6, -0.1), l_max, 10.0 ** rng.uniform(-3, 3)
    )
    largest = l_max * 10.0 ** rng.uniform(-1, 2.5)
    points = np.concatenate([[0.0], rng.uniform(0.0, min(largest, 30.0 * l_max), 6)])
    points = np.concatenate([points, points[1:3] + 2e-6 * l_max])
    above = envelope(posterior, points, largest)
    looked_at = np.concatenate([points, above.breaks, rng.uniform(0.0, largest, 100), [largest]])
    tightest = Decimal(1)
    for r in looked_at[looked_at <= largest]:
        excess = envelope_in_decimals(above, float(r)) - posterior_in_decimals(posterior, float(r))
        assert excess >= 0
        tightest = min(tightest, excess / Decimal(posterior.factor * l_max))
    assert tightest < Decimal("1e-9")


@pytest.mark.parametrize("seed", range(42))
def test_confidence_bounds_against_a_grid(seed: int) -> None:
    inputs, domain = 1 + seed % 2, small_domain(seed, 1 + seed % 2)
    posterior = smooth_posterior(seed, inputs, factor=[0.7, 4.0][seed % 2])
    head = LinearHead(1.0, [2.0, 0.5, 20.0][seed % 3], -0.4)
    problem, monitor = case(posterior, head, domain)
    result = tangents.solve(problem, OPTIONS, monitor)
    check_closed(problem, monitor, result, grid(domain))
    assert len(result.steps) <= 6


@pytest.mark.parametrize(
    "head", [LinearHead(1.0, 1e6), LinearHead(0.0, 1.0), LinearHead(1.0, 0.0, 2.0)]
)
def test_extreme_weights(head: LinearHead) -> None:
    domain = small_domain(5, 2)
    problem, monitor = case(smooth_posterior(5, 2), head, domain)
    check_closed(problem, monitor, tangents.solve(problem, OPTIONS, monitor), grid(domain))


@pytest.mark.parametrize("shift", [-40.0, 40.0])
def test_raw_uncertainty_far_from_zero(shift: float) -> None:
    domain = small_domain(6, 2)
    posterior = smooth_posterior(6, 2, raw_shift=shift)
    problem, monitor = case(posterior, LinearHead(1.0, 2.0), domain)
    result = tangents.solve(problem, OPTIONS, monitor)
    check_closed(problem, monitor, result, grid(domain))
    limit = L_MIN if shift < 0.0 else 100.0
    assert result.x is not None
    expected = -L_MAX * np.expm1(-limit / L_MAX)
    assert posterior.std(result.x)[0] == pytest.approx(expected, rel=1e-6)


def test_an_output_that_is_no_single_relu_is_taken_as_it_is() -> None:
    builder = GraphBuilder(2)
    slope = builder.affine(builder.input, np.array([[1.0, -0.5]]))
    bent = builder.relu(builder.shift(slope, 0.2))
    network = builder.finish({"mean": slope, "relu_raw": builder.scale(bent, 0.5)})
    assert raw_of(network).bias[0] == 0.0
    domain = small_domain(6, 2)
    posterior = SmoothPosterior(network, L_MIN, L_MAX, 1.0)
    problem, monitor = case(posterior, LinearHead(-0.0, 1.0), domain)
    check_closed(problem, monitor, tangents.solve(problem, OPTIONS, monitor), grid(domain))


def test_a_tangent_is_not_added_twice() -> None:
    domain = small_domain(6, 2)
    problem, monitor = case(smooth_posterior(6, 2), LinearHead(1.0, 2.0), domain)
    assert isinstance(problem.posterior, SmoothPosterior)
    plane = SmoothPlane(problem.posterior, domain, Sequence(OPTIONS, monitor))
    points = grid(domain)
    inside = points[[int(problem.posterior.std(points).argmax())]]
    assert plane.refine(inside)
    assert not plane.refine(inside)


def test_every_linear_problem_keeps_its_tangents() -> None:
    domain = small_domain(9, 2)
    problem, monitor = case(smooth_posterior(9, 2), LinearHead(1.0, 2.0), domain)
    result = tangents.solve(problem, OPTIONS, monitor)
    assert all(len(step.tangents) > 1 and step.tangents[0] == 0.0 for step in result.steps)
    assert min(step.bound for step in result.steps) == result.bound


def test_a_lowered_bound_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sequence, "run", claims_without_search)
    domain = small_domain(7, 2)
    problem, monitor = case(smooth_posterior(7, 2), LinearHead(1.0, 2.0), domain)
    result = tangents.solve(problem, OPTIONS, monitor)
    with pytest.raises(AssertionError):
        check(problem, monitor, result, grid(domain))


def test_an_interrupted_search_keeps_a_bound_that_holds() -> None:
    domain = small_domain(8, 2)
    problem, monitor = case(smooth_posterior(8, 2), LinearHead(1.0, 2.0), domain)
    options = SequenceOptions(method="boxes", most_problems=1)
    result = tangents.solve(problem, options, monitor)
    check(problem, monitor, result, grid(domain))
    assert np.isfinite(result.bound)


def test_a_negative_weight_of_the_std_is_declined() -> None:
    problem, monitor = case(smooth_posterior(0, 2), LinearHead(1.0, -1.0), small_domain(0, 2))
    with pytest.raises(UnsupportedError, match="negative weight"):
        tangents.solve(problem, OPTIONS, monitor)
