"""The searches that were written for checking, over domains with exclusions."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import pytest

from nnbo_mip.exact.checking.recheck import recheck
from nnbo_mip.exact.checking.recheck_exclusions import ExclusionBoxes
from nnbo_mip.exact.checking.recheck_phases import recheck_phases
from nnbo_mip.exact.checking.reproof import reprove
from nnbo_mip.exact.checking.sweep import Recheck
from nnbo_mip.exact.search.problem import Problem
from nnbo_mip.exact.search.result import Proof
from nnbo_mip.space.domain import Domain
from nnbo_mip.space.domain import ExclusionBoxes as DomainHoles
from nnbo_mip.testing.exact_maximum import exact_maximum
from tests.exact.exclusion_cases import exclusion_case, peak

SECONDS = 20.0
Search = Callable[[Problem, float, float], Recheck]


@pytest.mark.parametrize("search", [recheck, recheck_phases])
@pytest.mark.parametrize("block", range(3))
def test_bounds_are_proven_and_nothing_below_the_maximum(search: Search, block: int) -> None:
    for seed in range(10 * block, 10 * block + 10):
        problem = exclusion_case(seed)
        true = exact_maximum(problem.network, problem.domain).value
        if true is None:
            assert search(problem, 0.0, SECONDS).verdict == "proved"
            continue
        unit = max(1.0, abs(float(true)))
        assert search(problem, float(true) + 1e-6 * unit, SECONDS).verdict == "proved"
        for below in (1e-9, 1e-3):
            answer = search(problem, float(true) - below * unit, SECONDS)
            assert answer.verdict != "proved"
            if answer.verdict == "counterexample":
                assert answer.x is not None
                assert problem.domain.admissible(answer.x)[0]


def test_nothing_left_is_proven_and_a_single_point_is_found() -> None:
    for seed in range(60):
        problem = exclusion_case(seed)
        true = exact_maximum(problem.network, problem.domain).value
        answer = recheck(problem, -np.inf, SECONDS)
        assert answer.verdict == ("proved" if true is None else "counterexample")


@pytest.mark.parametrize("seed", range(12))
def test_a_claim_that_ignores_or_widens_exclusions_is_refuted(seed: int) -> None:
    problem = exclusion_case(seed)
    true = exact_maximum(problem.network, problem.domain).value
    if true is not None:
        level = float(true) - 1e-4 * max(1.0, abs(float(true)))
        deadline = time.perf_counter() + SECONDS
        verdict, _ = reprove(problem, level, 1.0, None, Proof("boxes"), deadline, 0)
        assert verdict == "refuted"


@pytest.mark.parametrize("search", [recheck, recheck_phases])
def test_the_maximum_on_a_face_can_be_confirmed_to_the_last_digits(search: Search) -> None:
    problem, top = peak(2, 0)
    domain = problem.domain.away_from(top, 0.25)
    problem = Problem(problem.network, domain)
    true = exact_maximum(problem.network, domain).value
    assert true is not None
    assert search(problem, np.nextafter(float(true), np.inf) + 1e-13, SECONDS).verdict == "proved"


@pytest.mark.parametrize("seed", range(10))
def test_cuts_keep_every_admissible_point(seed: int) -> None:
    rng = np.random.default_rng(seed)
    domain = Domain([-1, -1, -1], [1, 1, 1]).away_from(rng.uniform(-1, 1, (3, 3)), 0.5)
    exclusions = ExclusionBoxes(domain)
    points = np.concatenate(
        [
            domain.sample(300, rng),
            rng.choice(
                np.concatenate([domain.exclusions.lower, domain.exclusions.upper]).ravel(), (300, 3)
            ),
        ]
    )
    points = points[domain.admissible(points)]
    lower, upper, owner = exclusions.cut(0, -np.ones((3, 1)), np.ones((3, 1)), rng.random(3))
    assert (owner == 0).all()
    held = (lower.T[:, None] <= points) & (points <= upper.T[:, None])
    assert held.all(axis=2).any(axis=0).all()
    assert exclusions.meeting(lower[:, 0], upper[:, 0]) != 0


def test_faces_of_closed_boxes_are_kept() -> None:
    domain = Domain([-1, -1], [1, 1], exclusions=exclusions_of([[-0.5, -2.0]], [[1.0, 0.25]]))
    exclusions = ExclusionBoxes(domain)
    # The closed exclusion is a box whose faces are admissible, and so is a slab along one of them.
    lower, upper = (
        np.array([[-0.5, 0.0, 0.0], [-1, -1, 0.25]]),
        np.array([[1.0, 1, 0.5], [0.25, 0, 1]]),
    )
    new_lower, new_upper, feasible = exclusions.shrink(lower, upper)
    assert feasible.all()
    assert new_lower.T.tolist() == [[-0.5, -1.0], [1.0, -1.0], [0.0, 0.25]]
    assert new_upper.T.tolist() == [[1.0, 0.25], [1.0, 0.0], [0.5, 1.0]]
    # What ends at a face of the exclusion keeps it as a box of no width.
    cut_lower, cut_upper, _ = exclusions.cut(
        0, -np.ones((2, 1)), np.ones((2, 1)), np.array([2.0, 1.0])
    )
    boxes = np.hstack([cut_lower.T, cut_upper.T]).tolist()
    assert boxes == [[-1, -1, -0.5, 1], [1, -1, 1, 1], [-0.5, 0.25, 1, 1]]


def exclusions_of(lower: list[list[float]], upper: list[list[float]]) -> DomainHoles:
    return DomainHoles(np.array(lower), np.array(upper))
