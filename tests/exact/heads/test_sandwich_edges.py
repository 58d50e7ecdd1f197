"""EI far away, where the std vanishes, on empty spaces, cut short, and with false bounds."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm

from nnbo_mip.core.errors import UnsupportedError
from nnbo_mip.exact.heads import sandwich, sequence
from nnbo_mip.exact.heads.sequence import Sequence, SequenceOptions
from nnbo_mip.exact.scores.problem import Step
from nnbo_mip.exact.search.monitor import Monitor
from nnbo_mip.network.graph.builder import GraphBuilder
from nnbo_mip.scores.functions.improvement import ExpectedImprovement
from nnbo_mip.scores.functions.linear import LinearHead
from nnbo_mip.scores.logarithms import LEAST_LOG
from nnbo_mip.scores.posteriors.readouts import PlainReadout
from nnbo_mip.space.domain import Domain
from tests.exact.heads.sequence_cases import (
    OPTIONS,
    case,
    check,
    check_closed,
    clip_readout,
    grid,
    mad_readout,
    members_readout,
    small_domain,
    smooth_readout,
    threshold_near,
)
from tests.exact.heads.test_linear import claims_without_search
from tests.exact.random_problems import mixed_domain

MAKERS = (clip_readout, smooth_readout, mad_readout)


# -- far away ----------------------------------------


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("offset", [30.0, 1e3, -1e3])
def test_a_threshold_far_away(make: Any, offset: float) -> None:
    domain = small_domain(11, 2)
    readout = make(11, 2)
    problem, monitor = case(readout, ExpectedImprovement(float(offset)), domain)
    result = sandwich.solve(problem, OPTIONS, monitor)
    check(problem, monitor, result, grid(domain))
    if offset == 30.0:
        assert result.status == "optimal"
        assert result.score == "logei"
        assert result.value < -12.0 * math.log(10.0)
        assert result.gap <= 1e-4
    if offset < 0.0:
        assert result.status == "optimal"
        assert result.value == pytest.approx(1e3, rel=0.1)


def test_improvements_of_1e_30_are_told_apart() -> None:
    # A point that scores e times the other's 1e-31 must not be taken for a tie.
    builder = GraphBuilder(1)
    tilt = builder.affine(builder.input, np.array([[0.1]]))
    network = builder.finish({"mean": tilt, "std": builder.constant([1.0])})
    domain = Domain([-0.9], [1.1])
    problem, monitor = case(PlainReadout(network), ExpectedImprovement(11.5), domain)
    result = sandwich.solve(problem, OPTIONS, monitor)
    check_closed(problem, monitor, result, grid(domain))
    assert result.score == "logei"
    assert math.exp(result.value) == pytest.approx(1e-31, rel=10.0)
    assert result.x == pytest.approx([1.1], abs=1e-4)


def test_negative_xi_is_a_lower_threshold() -> None:
    domain = small_domain(3, 2)
    readout = smooth_readout(3, 2)
    best = threshold_near(readout, domain, 0.0)
    for xi in (-0.5, -5.0):
        problem, monitor = case(readout, ExpectedImprovement(best + xi), domain)
        result = sandwich.solve(problem, OPTIONS, monitor)
        check_closed(problem, monitor, result, grid(domain))
        assert result.value >= -xi


# -- std 0 ---------------------------------------------------------------------------------


def constant_std(std: float) -> PlainReadout:
    builder = GraphBuilder(2)
    bump = builder.absolute(builder.input)
    mean = builder.affine(bump, np.array([[-1.0, -0.5]]))
    return PlainReadout(builder.finish({"mean": mean, "std": builder.constant([std])}))


def test_a_std_of_zero_everywhere() -> None:
    domain = small_domain(3, 2)
    points = grid(domain)
    readout = constant_std(0.0)
    top = float(readout.mean(points).max())
    problem, monitor = case(readout, ExpectedImprovement(top - 0.5), domain)
    result = sandwich.solve(problem, OPTIONS, monitor)
    check_closed(problem, monitor, result, points)
    assert result.value == pytest.approx(0.5, abs=0.02)
    problem, monitor = case(readout, ExpectedImprovement(top + 0.5), domain)
    result = sandwich.solve(problem, OPTIONS, monitor)
    check(problem, monitor, result, points)
    assert (result.score, result.value, result.status) == ("logei", LEAST_LOG, "optimal")


def test_a_std_of_zero_where_the_mean_is_best() -> None:
    # The mean is largest at 0.3, where the std vanishes.
    builder = GraphBuilder(1)
    away = builder.absolute(builder.shift(builder.input, -0.3))
    network = builder.finish({"mean": away.negated(), "std": builder.scale(away, 0.8)})
    domain = Domain([-1.0], [0.9])
    for threshold in (-0.2, 0.0, 0.4):
        problem, monitor = case(PlainReadout(network), ExpectedImprovement(threshold), domain)
        result = sandwich.solve(problem, OPTIONS, monitor)
        check_closed(problem, monitor, result, grid(domain))


# -- spaces ----------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(2))
def test_grids_categories_and_rows(seed: int) -> None:
    rng = np.random.default_rng(seed)
    domain = mixed_domain(rng)
    points = domain.sample(2000, rng)
    readout = (clip_readout, smooth_readout)[seed](seed, 6)
    threshold = float(readout.mean(points).max())
    problem, monitor = case(readout, ExpectedImprovement(threshold), domain)
    result = sandwich.solve(problem, OPTIONS, monitor)
    check_closed(problem, monitor, result, points)


def test_a_space_of_one_point() -> None:
    domain = Domain([0.3, -0.2], [0.3, -0.2])
    problem, monitor = case(clip_readout(1, 2), ExpectedImprovement(0.5), domain)
    result = sandwich.solve(problem, OPTIONS, monitor)
    check_closed(problem, monitor, result, domain.lower[None, :])


def test_an_empty_space_is_infeasible() -> None:
    domain = Domain([0.0, 0.0], [1.0, 1.0], A=[[1.0, 1.0]], b=[-1.0])
    problem, monitor = case(clip_readout(8, 2), ExpectedImprovement(0.0), domain)
    result = sandwich.solve(problem, OPTIONS, monitor)
    assert (result.status, result.x, result.bound) == ("infeasible", None, -np.inf)


# -- stopping --------------------------------------------------------------------------------


@pytest.mark.parametrize("problems", [1, 2, 3, 4])
def test_a_sequence_that_is_cut_short_keeps_a_bound_that_holds(problems: int) -> None:
    domain = small_domain(14, 2)
    readout = smooth_readout(14, 2)
    threshold = threshold_near(readout, domain, 0.1)
    problem, monitor = case(readout, ExpectedImprovement(threshold), domain)
    result = sandwich.solve(problem, SequenceOptions(most_problems=problems), monitor)
    check(problem, monitor, result, grid(domain))


@pytest.mark.parametrize("after", [0, 1, 2, 3])
def test_an_interruption_returns_the_best_so_far(
    monkeypatch: pytest.MonkeyPatch, after: int
) -> None:
    domain = small_domain(14, 2)
    readout = clip_readout(14, 2)
    threshold = threshold_near(readout, domain, 0.1)
    problem, monitor = case(readout, ExpectedImprovement(threshold), domain)
    solved, honest = [0], sequence.run

    def run(*arguments: Any) -> Any:
        if solved[0] == after:
            monitor.interrupt()
        solved[0] += 1
        return honest(*arguments)

    monkeypatch.setattr(sequence, "run", run)
    result = sandwich.solve(problem, SequenceOptions(method="boxes"), monitor)
    check(problem, monitor, result, grid(domain))
    assert len(result.steps) <= after + 3
    assert result.time_limited or result.status == "optimal"


def test_no_time_at_all() -> None:
    domain = small_domain(14, 2)
    problem, _ = case(clip_readout(14, 2), ExpectedImprovement(0.5), domain)
    monitor = Monitor(problem, 1e-4, 1e-9)
    result = sandwich.solve(problem, SequenceOptions(method="boxes"), monitor)
    check(problem, monitor, result, grid(domain))
    assert result.time_limited
    assert result.status == "feasible"


# -- what would be false ---------------------------------------------------------------------


def test_a_lowered_bound_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sequence, "run", claims_without_search)
    monkeypatch.setattr(sandwich, "SAMPLE", 3)
    domain = small_domain(7, 2)
    readout = clip_readout(7, 2)
    threshold = threshold_near(readout, domain, 0.2)
    problem, monitor = case(readout, ExpectedImprovement(threshold), domain)
    result = sandwich.solve(problem, OPTIONS, monitor)
    with pytest.raises(AssertionError):
        check(problem, monitor, result, grid(domain))


def test_one_lowered_bound_is_noticed_at_its_step(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = Sequence.maximize

    def lowered(self: Sequence, *arguments: Any, **options: Any) -> Step:
        step = honest(self, *arguments, **options)
        if len(self.steps) == 2:
            step = replace(step, found=replace(step.found, bound=step.bound - 1e-3))
            self.steps[-1] = step
        return step

    monkeypatch.setattr(Sequence, "maximize", lowered)
    domain = small_domain(13, 1)
    readout = clip_readout(13, 1)
    threshold = threshold_near(readout, domain, 0.1)
    problem, monitor = case(readout, ExpectedImprovement(threshold), domain)
    result = sandwich.solve(problem, OPTIONS, monitor)
    with pytest.raises(AssertionError):
        check(problem, monitor, result, grid(domain))


def test_a_tolerance_widens_the_corners(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = Sequence.maximize

    def loose(self: Sequence, *arguments: Any, **options: Any) -> Step:
        step = honest(self, *arguments, **options)
        self.steps[-1] = replace(step, found=replace(step.found, bound=step.bound + 0.05))
        return self.steps[-1]

    domain = small_domain(7, 2)
    readout = clip_readout(7, 2)
    threshold = threshold_near(readout, domain, 0.2)
    problem, monitor = case(readout, ExpectedImprovement(threshold), domain)
    tight = sandwich.solve(problem, OPTIONS, monitor)
    monkeypatch.setattr(Sequence, "maximize", loose)
    problem, monitor = case(readout, ExpectedImprovement(threshold), domain)
    widened = sandwich.solve(problem, SequenceOptions(most_problems=20), monitor)
    gradient = norm.cdf(-5.0)  # the std is far from vanishing here, so EI moves with the lines
    assert widened.bound > tight.bound * (1.0 + gradient)
    assert widened.status == "feasible"


def test_a_head_that_is_not_convex_is_declined() -> None:
    domain = small_domain(0, 2)
    for readout, head in (
        (clip_readout(0, 2), LinearHead(1.0, 1.0)),
        (members_readout(0, 2), ExpectedImprovement(0.0)),
    ):
        problem, monitor = case(readout, head, domain)
        with pytest.raises(UnsupportedError, match="a sandwich must apply"):
            sandwich.solve(problem, OPTIONS, monitor)
