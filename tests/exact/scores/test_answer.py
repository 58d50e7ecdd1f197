"""What is said of a result: units, names, kinds, counters."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from nnbo_mip.core.terms import Kind
from nnbo_mip.exact.scores.problem import answer, assemble, joint_kind
from nnbo_mip.exact.search.result import Proof, SearchResult, Step
from nnbo_mip.scores.base.abstract import Head
from nnbo_mip.scores.functions.empirical import EmpiricalImprovement
from nnbo_mip.scores.functions.entropy import MaxValueEntropy
from nnbo_mip.scores.functions.improvement import ExpectedImprovement
from nnbo_mip.scores.functions.linear import LinearHead
from nnbo_mip.scores.functions.probability import ProbabilityOfImprovement
from tests.exact.heads.sequence_cases import case, clip_readout, small_domain

DOMAIN = small_domain(1, 2)


def step(bound: float = 1.0, kind: Kind = "rigorous", **options: object) -> Step:
    found = SearchResult(value=bound, bound=bound, kind=kind, proof=Proof("boxes"))
    return Step({"mean": 1.0}, replace(found, **options))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("head", "name"),
    [
        (ExpectedImprovement(0.0), "ei"),
        (ExpectedImprovement(0.0, log=True), "logei"),
        (ProbabilityOfImprovement(0.0), "pi"),
        (MaxValueEntropy(0.0), "mes"),
        (EmpiricalImprovement(0.0, "pi"), "empirical_pi"),
        (LinearHead(), "mean"),
        (LinearHead(1.0, 2.0), "ucb"),
        (LinearHead(1.0, -2.0), "linear"),
    ],
)
def test_heads_are_named_as_acquisitions_are(head: Head, name: str) -> None:
    assert head.name == name


@pytest.mark.parametrize("threshold", [-5.0, 40.0])
def test_scores_below_1e_12_are_answered_as_logarithms(threshold: float) -> None:
    problem, monitor = case(clip_readout(1, 2), ExpectedImprovement(threshold), DOMAIN)
    monitor.offer(DOMAIN.lower[None, :])
    logarithm = monitor.best_value
    monitor.tighten(logarithm + 0.01, "rigorous", Proof("test"))
    engine_result = monitor.result(Proof("test"), monitor.bound, "rigorous", counters={})
    result = answer(problem, engine_result)
    assert result.gap == pytest.approx(0.01)
    if threshold == 40.0:
        assert (result.score, result.value) == ("logei", logarithm)
        assert result.bound == logarithm + 0.01
    else:
        assert result.score == "ei"
        assert math.log(result.value) == pytest.approx(logarithm)
        assert math.log(result.bound) == pytest.approx(logarithm + 0.01)


def test_a_joint_proof_is_as_good_as_its_weakest_step() -> None:
    assert joint_kind([step(), step()]) == "rigorous"
    assert joint_kind([step(), step(kind="solver")]) == "solver"
    assert joint_kind([step(kind="none"), step(kind="solver")]) == "none"


def test_steps_add_up() -> None:
    problem, monitor = case(clip_readout(1, 2), LinearHead(), DOMAIN)
    monitor.offer(DOMAIN.lower[None, :])
    monitor.tighten(monitor.best_value + 1.0, "solver", Proof("test"))
    steps = [
        step(counters={"boxes": 3, "evaluations": 9}),
        step(counters={"boxes": 4, "nodes": 1}, message="One sentence."),
    ]
    result = assemble("way", problem, monitor, steps, "Another.")
    assert dict(result.counters) == {
        "linear_problems": 2,
        "boxes": 7,
        "nodes": 1,
        "evaluations": monitor.evaluations,
    }
    assert (result.engine, result.kind, result.status) == ("way (boxes)", "solver", "feasible")
    assert result.message == "Another. One sentence."
    assert len(result.steps) == 2
    assert not result.time_limited
    assert assemble("way", problem, monitor, [*steps, step(time_limited=True)]).time_limited


def test_an_empty_space_has_no_gap() -> None:
    problem, monitor = case(clip_readout(1, 2), ExpectedImprovement(0.0), DOMAIN)
    empty = Step({"mean": 1.0}, SearchResult(bound=-math.inf, kind="rigorous"))
    assert empty.is_empty
    assert not step().is_empty
    result = assemble("way", problem, monitor, [empty])
    assert (result.status, result.x) == ("infeasible", None)
    assert math.isnan(result.gap)


def test_without_a_proof_the_bound_is_infinite() -> None:
    problem, monitor = case(clip_readout(1, 2), ExpectedImprovement(0.0), DOMAIN)
    monitor.offer(DOMAIN.lower[None, :])
    result = assemble("way", problem, monitor, [])
    assert (result.status, result.kind, result.bound) == ("heuristic", "none", np.inf)
