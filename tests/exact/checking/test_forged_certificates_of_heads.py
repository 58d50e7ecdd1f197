"""False certificates of heads: refuted, or left open, never confirmed."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from nnbo_mip.exact.certificates.certificate import Certificate
from nnbo_mip.scores.functions.linear import LinearHead
from nnbo_mip.scores.objective import Objective
from nnbo_mip.scores.posteriors.compiled import QuadraticPosterior
from nnbo_mip.space.domain import Domain
from tests.exact.checking.head_claims import (
    certified,
    forged,
    moved,
    objective_of,
    problem_of,
)
from tests.exact.heads.random_heads import MEMBER_HEADS, MOMENT_HEADS, POSTERIORS

SERVED = [
    (kind, name)
    for kind in POSTERIORS
    for name in (*MOMENT_HEADS, *(MEMBER_HEADS if kind in ("members", "variance", "noisy") else ()))
]


PROBLEM = problem_of("quadratic", "ei", seed=21)
OTHER = problem_of("quadratic", "ei", seed=22)
CERTIFICATE = certified(PROBLEM)
SANDWICHED = problem_of("plain", "ei", seed=4)
SANDWICH = certified(SANDWICHED, by_sequence=True)


def edited(mapping: Any, **changes: Any) -> dict[str, Any]:
    return {**mapping, **changes}


def test_an_altered_number_of_the_head_is_refuted() -> None:
    head = edited(CERTIFICATE.head, threshold=CERTIFICATE.head["threshold"] + 1e-9)  # type: ignore[index]
    assert forged(CERTIFICATE, head=head).check(objective_of(PROBLEM)).refuted
    changed = Objective(PROBLEM.posterior, replace(PROBLEM.head, threshold=1.0))  # type: ignore[type-var]
    assert CERTIFICATE.check(changed).refuted
    assert CERTIFICATE.check(Objective(PROBLEM.posterior, LinearHead(1.0, 1.0))).refuted


def test_a_head_that_is_none_is_refuted() -> None:
    for head in ({"class": "Greedy"}, {"class": "ExpectedImprovement"}, {"threshold": 1.0}):
        answer = replace(CERTIFICATE, head=head, digest="").check(objective_of(PROBLEM))
        assert answer.refuted
        assert "not one" in answer.reason


def test_an_altered_posterior_is_refuted() -> None:
    posterior = PROBLEM.posterior
    assert isinstance(posterior, QuadraticPosterior)
    head = PROBLEM.head
    root = posterior.root * np.array([1.0 + 1e-15, *np.ones(posterior.root.shape[1] - 1)])
    noisy = QuadraticPosterior(posterior.network, posterior.root, posterior.noise + 0.1)
    assert CERTIFICATE.check(Objective(noisy, head)).refuted
    assert CERTIFICATE.check(
        Objective(QuadraticPosterior(posterior.network, root, posterior.noise), head)
    ).refuted
    numbers = edited(CERTIFICATE.posterior, numbers={"noise": posterior.noise + 0.1})
    assert forged(CERTIFICATE, posterior=numbers).check(objective_of(PROBLEM)).refuted
    assert forged(CERTIFICATE, posterior=None).check(objective_of(PROBLEM)).refuted


def test_another_network_or_space_is_refuted() -> None:
    assert CERTIFICATE.check(objective_of(OTHER)).refuted
    elsewhere = Domain(PROBLEM.domain.lower, PROBLEM.domain.upper + 0.1)
    assert CERTIFICATE.check(objective_of(PROBLEM), elsewhere).refuted
    swapped = forged(CERTIFICATE, space=elsewhere.to_dict())
    assert swapped.check(objective_of(PROBLEM)).refuted
    wrong = forged(CERTIFICATE, network_fingerprint="0" * 64)
    assert wrong.check(objective_of(PROBLEM)).refuted


def test_a_wrong_point_or_value_is_refuted() -> None:
    objective = objective_of(PROBLEM)
    assert forged(CERTIFICATE, x=(5.0, 5.0)).check(objective).refuted
    for factor in (1.0 + 1e-9, 1.0 - 1e-9, 0.9):
        wrong = forged(CERTIFICATE, value=CERTIFICATE.value * factor)
        assert wrong.check(objective).refuted
    assert replace(CERTIFICATE, bound=0.5 * CERTIFICATE.bound).check(objective).refuted


def test_a_status_or_gap_that_does_not_fit_is_refuted() -> None:
    objective = objective_of(PROBLEM)
    looser = forged(CERTIFICATE, bound=2.0 * CERTIFICATE.bound)
    assert looser.status == "feasible"
    assert looser.check(objective).confirmed
    assert replace(looser, status="optimal", digest="").check(objective).refuted
    assert replace(CERTIFICATE, gap=0.0, digest="").check(objective).refuted
    tight = forged(CERTIFICATE, bound=CERTIFICATE.bound, requested_gap=2e-4)
    assert tight.check(objective).confirmed
    assert replace(tight, status="feasible", digest="").check(objective).refuted
    assert replace(CERTIFICATE, direction="minimize", digest="").check(objective).refuted
    assert replace(CERTIFICATE, kind="none", digest="").check(objective).refuted


def test_an_edited_file_is_refuted() -> None:
    content = json.loads(CERTIFICATE.to_json())
    content["head"]["threshold"] += 0.5
    assert Certificate.from_json(json.dumps(content)).check(objective_of(PROBLEM)).refuted


def test_lines_that_do_not_imply_the_bound_are_refuted() -> None:
    objective = objective_of(SANDWICHED)
    assert len(SANDWICH.sub_certificates) >= 2
    assert SANDWICH.check(objective).confirmed
    for left_out in range(len(SANDWICH.sub_certificates)):
        subs = tuple(s for k, s in enumerate(SANDWICH.sub_certificates) if k != left_out)
        answer = forged(SANDWICH, sub_certificates=subs).check(objective)
        assert answer.refuted == bool(subs)  # without any, the claim stands by itself
        assert not subs or "does not follow" in answer.reason


def test_lines_of_another_claim_are_refuted() -> None:
    objective = objective_of(SANDWICHED)
    other = certified(problem_of("plain", "ei", seed=7), by_sequence=True)
    assert forged(SANDWICH, sub_certificates=other.sub_certificates).check(objective).refuted
    whole = certified(SANDWICHED)
    assert forged(SANDWICH, sub_certificates=(whole,)).check(objective).refuted


def test_a_false_line_is_refuted() -> None:
    objective = objective_of(SANDWICHED)
    for position, sub in enumerate(SANDWICH.sub_certificates):
        lower = forged(sub, **{**nothing_found(), "bound": sub.bound - 0.05})
        subs = list(SANDWICH.sub_certificates)
        subs[position] = lower
        answer = forged(SANDWICH, sub_certificates=tuple(subs)).check(objective)
        assert answer.refuted
        assert f"sub-certificate {position}" in answer.reason


def nothing_found() -> dict[str, Any]:
    return {"x": None, "value": -math.inf}


@pytest.mark.parametrize(("kind", "name"), SERVED)
def test_a_bound_below_the_maximum_is_never_confirmed(kind: str, name: str) -> None:
    problem = problem_of(kind, name, seed=33, far=0.05)
    certificate = certified(problem)
    objective = objective_of(problem)
    low = problem.domain.sample(1, np.random.default_rng(0))[0]
    for share in (1e-2, 1e-9):
        bound = certificate.value - share * abs(certificate.value)
        for changes in (nothing_found(), moved(certificate, problem, low)):
            if changes["value"] <= bound:
                answer = forged(certificate, **changes, bound=bound).check(objective, seed=1)
                assert answer.refuted, (share, answer)
