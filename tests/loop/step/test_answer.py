"""What is said of a suggestion is true of the point that the user evaluates."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import nnbo_mip as nm
from nnbo_mip.loop.policies.escape import Escaped
from nnbo_mip.loop.record.suggestion import Suggestion
from nnbo_mip.loop.step.answer import OPENED, suggested
from nnbo_mip.loop.warps.warping import as_floats
from nnbo_mip.space import Space

# In these units most points change when they are decoded and encoded again.
SPACE = Space.box([0.1, 1e3], [0.7, 1e3 + 3e-3])
X = SPACE.model().sample(9, np.random.default_rng(1))
Y = -np.square(X - 0.2).sum(axis=1)
BELIEF = nm.surrogates.create("brvfl", n_hidden=12, seed=0).fit(X, Y)


def answer(acquisition: str, place: Any, **parts: Any) -> tuple[Suggestion, Any]:
    """Return the suggestion of a proposal that was moved to a place, and the scorer."""
    chosen = nm.acquisitions.create(acquisition)
    scorer = chosen.scorer(BELIEF, X, Y)
    proposal = nm.maximize(BELIEF, chosen, SPACE.model(), maximizer="bab", X=X, y=Y)
    found = replace(proposal.found, x=place, value=math.nan, gap=math.nan, **parts)
    moved = replace(proposal, found=found)
    escaped = Escaped(moved, 1.0, 1.0, 0.0)
    return suggested(SPACE, -1.0, BELIEF, scorer, escaped, as_floats, 1e-4), scorer


def moved_by_decoding() -> np.ndarray[Any, Any]:
    points = SPACE.model().sample(200, np.random.default_rng(2))
    again = SPACE.encode(SPACE.decode(points))
    return np.asarray(points[(points != again).any(axis=1)])


@pytest.mark.parametrize("acquisition", ["ucb", "ei", "pi", "logei"])
def test_value_and_gap_are_those_of_the_decoded_point(acquisition: str) -> None:
    place = moved_by_decoding()[0]
    said, scorer = answer(acquisition, place)
    z = SPACE.encode(said.x)
    assert not np.array_equal(z[0], place)
    score = float(scorer.score(z)[0])
    assert said.value == score
    if acquisition in ("ei", "pi"):
        assert said.gap == pytest.approx(math.log(said.bound) - math.log(score), rel=1e-9)
    else:
        assert said.gap == said.bound - score
    assert said.mean == -float(BELIEF.mean(z)[0])
    assert said.std == float(BELIEF.std(z)[0])


def test_scores_that_were_answered_as_logarithms_stay_logarithms() -> None:
    place = moved_by_decoding()[1]
    said, scorer = answer("ei", place, score="logei", bound=2.0)
    score = float(scorer.score(SPACE.encode(said.x))[0])
    assert said.value == pytest.approx(math.log(score), rel=1e-9)
    assert said.gap == 2.0 - said.value


def test_a_point_that_decoding_does_not_move_keeps_its_figures() -> None:
    points = np.array([[1.0, -1.0]])
    said, _ = answer("ucb", points[0])
    assert math.isnan(said.value)
    assert said.x.tolist() == [0.7, 1e3]


def test_a_gap_that_rounding_opened_is_no_longer_optimal() -> None:
    place = moved_by_decoding()[0]
    wide, _ = answer("ucb", place)
    assert wide.gap > 1e-4  # the place is no maximum
    assert wide.status == "feasible"
    score = wide.value
    close, _ = answer("ucb", place, bound=score + 0.9e-4)
    assert close.status == "optimal"
    assert not close.message
    open_, _ = answer("ucb", place, bound=score + 1.1e-4)
    assert open_.status == "feasible"
    assert open_.message == OPENED


def test_no_score_lies_above_its_bound() -> None:
    place = moved_by_decoding()[0]
    score = answer("ucb", place)[0].value
    said, _ = answer("ucb", place, bound=np.nextafter(score, -np.inf))
    assert (said.value, said.bound, said.gap, said.status) == (score, score, 0.0, "optimal")
