"""Proofs in slices: as wide as closes, within the whole search, said in the suggestion."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nnbo_mip as nm
from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.exact.search.result import SearchResult
from nnbo_mip.loop.optimizer import BayesianOptimizer
from nnbo_mip.loop.step.slices import widest_slice
from nnbo_mip.maximizers.base.abstract import Proposal
from nnbo_mip.space import Categorical, Domain, Integer, Real, Space

FORTY = Space.box([-1.0] * 40, [1.0] * 40)


@dataclass
class Prover:
    """Claims to close slices of up to so many coordinates, in boxes that grow by a factor."""

    most: int
    growth: float = 4.0
    asked: list[int] = field(default_factory=list)

    def __call__(self, domain: Domain, good: FloatArray) -> Proposal:
        moving = int((domain.lower < domain.upper).sum())
        self.asked.append(moving)
        assert domain.admissible(good[None])[0]
        closed = moving <= self.most
        x = good.copy()
        x[domain.lower < domain.upper] += 0.01
        boxes = {"boxes": math.ceil(self.growth**moving)}
        status = "optimal" if closed else "feasible"
        found = SearchResult(status=status, x=x, value=0.0, counters=boxes)
        return Proposal(found=found, maximizer="bab", seconds=0.0, evaluations=0)


def widest(prover: Prover, late: bool = False, d: int = 40) -> Any:
    domain = Space.box([-1.0] * d, [1.0] * d).model()
    sides = [(j,) for j in reversed(range(d))]
    return widest_slice(prover, domain, np.zeros(d), sides, 20, lambda: late)


def test_slices_grow_while_the_next_is_foreseen_to_be_cheap() -> None:
    prover = Prover(most=40, growth=4.0)
    answer = widest(prover)
    assert prover.asked == sorted(set(prover.asked))
    assert prover.asked[:2] == [1, 2]
    assert answer.region.moving == prover.asked[-1] < 12
    dear = Prover(most=40, growth=60.0)
    assert widest(dear).region.moving < answer.region.moving


def test_the_widest_that_closed_is_returned_around_the_answer_before_it() -> None:
    prover = Prover(most=3, growth=1.5)
    answer = widest(prover)
    assert prover.asked == [1, 2, 4]
    assert answer.region.moving == 2
    assert answer.proposal.status == "optimal"
    assert "proven in 2 of 40 coordinates" in answer.said
    moved = np.flatnonzero(answer.proposal.x)
    assert moved.tolist() == [38, 39]  # the last coordinates are the first to be freed
    held = np.setdiff1d(np.arange(40), moved)
    assert (answer.region.lower[held] == answer.proposal.x[held]).all()


def test_where_not_one_closes_the_open_answer_is_given() -> None:
    answer = widest(Prover(most=0))
    assert answer.proposal.status == "feasible"
    assert answer.region.moving == 1
    assert answer.said == ""


def test_where_all_coordinates_close_the_proof_is_about_the_whole_space() -> None:
    prover = Prover(most=40, growth=1.0)
    answer = widest(prover, d=6)
    assert prover.asked[-1] == 6
    assert answer.region is None
    assert answer.said == ""


def test_time_that_is_up_ends_it() -> None:
    prover = Prover(most=40, growth=1.0)
    widest(prover, late=True)
    assert prover.asked == [1]


def quadratic(x: FloatArray) -> float:
    return float(np.square(np.asarray(x) - 0.3).sum())


def asked(count: int, **options: Any) -> tuple[BayesianOptimizer, list[Any]]:
    run = BayesianOptimizer(FORTY, initial=8, seed=3, time_limit=20.0, **options)
    suggestions = []
    for _ in range(8 + count):
        suggestions.append(run.ask())
        run.tell(suggestions[-1].x, quadratic(suggestions[-1].x))
    return run, suggestions[8:]


@pytest.mark.parametrize("family", ["gp", "spherical_linear", None])
def test_every_step_is_proven_and_says_of_what(family: str | None) -> None:
    run, steps = asked(3, surrogate=family, acquisition="ei", region="slices")
    for one in steps:
        assert one.status == "optimal"
        assert one.region is not None
        assert 1 <= one.region.moving < 40
        assert one.region.coordinates == 40
        assert f"proven in {one.region.moving} of 40 coordinates" in one.message
        place = FORTY.encode(one.x)[0]
        assert (one.region.lower <= place).all()
        assert (place <= one.region.upper).all()
        points = np.random.default_rng(0).uniform(one.region.lower, one.region.upper, (500, 40))
        assert one.proposal.objective.score(points).max() <= one.bound
        assert f"in {one.region.moving} of 40 coordinates" in str(one)
    narrow = min(steps, key=lambda one: one.region.moving)
    assert narrow.check(time_limit=300.0).confirmed
    assert run.best is not None


def test_a_proof_costs_no_score_beside_the_search_alone() -> None:
    """The same model by ascents alone scores no better than the slice through its answer."""
    for family in ("gp", "spherical_linear"):
        _, (sliced,) = asked(1, surrogate=family, acquisition="ei", region="slices")
        found = sliced.proposal.objective
        _, (searched,) = asked(
            1, surrogate=family, acquisition="ei", region="slices", maximizer="lbfgs"
        )
        assert searched.region is None  # nothing is proven, so nothing is limited
        assert searched.status == "heuristic"
        place = FORTY.encode(searched.x)
        ratio = float(found.score(place)[0]) / sliced.value
        assert ratio < 1.05


def test_a_draw_on_the_sphere_is_proven_whole() -> None:
    _, (one,) = asked(1, surrogate="spherical_linear", region="slices")
    assert one.head == "ts"
    assert one.status == "optimal"
    assert one.region is None


def test_mixed_spaces_rows_and_a_journal(tmp_path: Path) -> None:
    sides = [
        *(Real(f"r{j}", 0.0, 1.0) for j in range(16)),
        *(Integer(f"n{j}", 0, 9) for j in range(6)),
        Categorical("act", ["relu", "tanh", "elu"]),
    ]
    space = Space(sides, [nm.LinearConstraint({"r0": 1.0, "r1": 1.0, "r2": 1.0}, "<=", 1.5)])
    path = tmp_path / "run.db"
    run = BayesianOptimizer(space, initial=6, seed=0, journal=path)
    assert run.settings.region.name == "slices"
    for _ in range(9):
        one = run.ask()
        value = sum((one.x[f"r{j}"] - 0.4) ** 2 for j in range(16)) + (one.x["act"] != "tanh")
        run.tell(one.x, float(value))
    assert one.status in ("optimal", "feasible")
    assert one.region is not None
    assert one.region.coordinates == 23
    kept = BayesianOptimizer.open(path).suggestions[-1]
    assert kept.region is not None
    assert kept.region.moving == one.region.moving
    assert np.array_equal(kept.region.lower, one.region.lower)


@pytest.mark.parametrize("value", [0.0, 1e300])
def test_values_that_are_all_equal_and_a_wide_space(value: float) -> None:
    run = BayesianOptimizer([(0.0, 1.0)] * 60, initial=3, seed=0)
    for _ in range(6):
        one = run.ask()
        run.tell(one.x, value)
    assert not one.is_initial
    assert np.isfinite(one.x).all()


def test_five_thousand_inputs_and_three_values() -> None:
    run = nm.BayesianOptimizer([(0.0, 1.0)] * 5000, initial=3, seed=0)
    for _ in range(4):
        one = run.ask()
        run.tell(one.x, float(one.x[:3].sum()))
    assert not one.is_initial
    assert one.x.shape == (5000,)


def test_inputs_that_are_constant() -> None:
    run = nm.BayesianOptimizer([(0.0, 1.0)] * 25 + [(2.0, 2.0)] * 5, initial=5, seed=0)
    for _ in range(7):
        one = run.ask()
        run.tell(one.x, float(one.x.sum()))
    assert (one.x[25:] == 2.0).all()
    assert one.region is None or one.region.moving <= 25
