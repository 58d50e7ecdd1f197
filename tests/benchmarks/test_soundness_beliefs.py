"""The attack on bounds finds what is wrong, and says nothing where nothing is."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.soundness.beliefs import FAMILIES, RATIOS, BeliefCase, draw
from benchmarks.soundness_beliefs import VIOLATION, attacked, fitted, judged, main, maximized
from nnbo_mip.space.domain import Domain

X = np.array([[-0.8], [-0.1], [0.4], [0.9]])
CASE = BeliefCase(
    0, X, np.array([0.1, 1.0, 0.3, -0.5]), "brvfl:n_hidden=20", "ei", Domain([-1.0], [1.0])
)


def test_a_true_bound_stands() -> None:
    assert judged(CASE, 5.0).word == "optimal, confirmed"


@pytest.mark.parametrize(
    ("forged", "said"),
    [
        ({"bound": 1e-9}, "value .* > bound"),
        ({"bound": 1e-9, "value": 1e-10}, "more than the bound"),
        ({"bound": 1e-9, "x": None, "value": -np.inf}, "more than the bound"),
        ({"bound": -np.inf, "x": None, "status": "infeasible"}, "is admissible, but the answer"),
    ],
)
def test_a_false_one_does_not(forged: dict[str, object], said: str) -> None:
    belief = fitted(CASE)
    proposal = maximized(CASE, belief, 5.0)
    assert attacked(CASE, belief, proposal) == ""
    found = attacked(CASE, belief, replace(proposal, found=replace(proposal.found, **forged)))  # type: ignore[arg-type]
    assert re.search(said, found)


def test_a_crash_is_a_violation_and_a_refusal_is_none() -> None:
    assert judged(replace(CASE, family="brvfl:n_hiden=3"), 1.0).word == "refused"
    broken = judged(replace(CASE, limits={"within": "nowhere"}), 1.0)
    assert (broken.word, "Traceback" in broken.sentence) == (VIOLATION, True)


def test_cases_are_functions_of_seed_and_index() -> None:
    first, again = draw(3, 17), draw(3, 17)
    assert str(first) == str(again)
    assert np.array_equal(first.X, again.X)
    drawn = [draw(0, index) for index in range(300)]
    assert {case.family for case in drawn} == {*FAMILIES, *RATIOS}
    assert all((case.acquisition == "ratio") == (case.family in RATIOS) for case in drawn)


def test_the_command_counts(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--n", "3", "--seed", "0", "--limit", "0.5"]) == 0
    assert "3 cases:" in capsys.readouterr().out
