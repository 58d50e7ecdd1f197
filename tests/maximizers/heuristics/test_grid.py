"""The grid: its points, its refusals, and what it remembers."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import pytest

import nnbo_mip as nm
from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.errors import UnsupportedError
from nnbo_mip.maximizers import Proposal, Request, Target
from nnbo_mip.maximizers.heuristics.grid import Grid
from nnbo_mip.space import grid as values
from nnbo_mip.testing.analytic_belief import AnalyticBelief

LINE = nm.Domain([-1.0], [1.0])
SQUARE = nm.Domain([-1.0, -1.0], [1.0, 1.0])
STRIP = nm.Domain([-1.0, -1.0], [1.0, 1.0], A=[[1.0, 1.0], [-1.0, -1.0]], b=[0.0124, -0.0123])
"""It passes between the points of a grid of 21 x 21."""


class Counting(AnalyticBelief):
    """Says how many points it was asked about."""

    asked: ClassVar[list[int]] = []

    def predict(self, X: Any, return_std: bool = False) -> Any:
        self.asked.append(len(X))
        return super().predict(X, return_std)


def maximize(
    grid: Grid, domain: nm.Domain, belief: Any, name: str = "ucb", **options: Any
) -> Proposal:
    scorer = nm.acquisitions.create(name, **options).scorer(belief)
    return grid.maximize(Target(scorer, domain), Request())


def best_of(points: FloatArray, belief: Any) -> FloatArray:
    score = belief.mean(points) + belief.std(points)
    return np.asarray(points[score.argmax()])


def test_one_dimension_has_2000_points_with_both_ends() -> None:
    belief = AnalyticBelief(d=1)
    proposal = maximize(Grid(), LINE, belief)
    assert proposal.evaluations == 2000
    assert np.array_equal(proposal.x, best_of(np.linspace(-1.0, 1.0, 2000)[:, None], belief))


def test_two_dimensions_have_200_points_a_side() -> None:
    belief, side = AnalyticBelief(), np.linspace(-1.0, 1.0, 200)
    proposal = maximize(Grid(), SQUARE, belief)
    assert proposal.evaluations == 40_000
    mesh = np.stack(np.meshgrid(side, side, indexing="ij"), axis=-1).reshape(-1, 2)
    assert np.array_equal(proposal.x, best_of(mesh, belief))


def test_three_points_a_side_are_the_ends_and_the_middle() -> None:
    belief = AnalyticBelief(d=3)
    domain = nm.Domain([-1.0, 0.0, 0.2], [1.0, 0.5, 0.2])
    proposal = maximize(Grid(points=3), domain, belief)
    assert proposal.evaluations == 9
    mesh = np.array([[a, b, 0.2] for a in (-1.0, 0.0, 1.0) for b in (0.0, 0.25, 0.5)])
    assert np.array_equal(proposal.x, best_of(mesh, belief))


def test_integers_take_all_their_values_and_categories_all_their_levels() -> None:
    belief = AnalyticBelief(d=5)
    steps = values.Grid.uniform(-1.0, 0.25, 9)
    free = [steps, None, None, None, None]
    domain = nm.Domain([-1.0, -1.0, 0, 0, 0], [0.5, 1.0, 1, 1, 1], free, one_hot=[(2, 3, 4)])
    proposal = maximize(Grid(points=11), domain, belief)
    assert proposal.evaluations == 7 * 11 * 3
    mesh = np.array(
        [
            [a, b, *level]
            for a in np.arange(-1.0, 0.51, 0.25)
            for b in np.linspace(-1.0, 1.0, 11)
            for level in np.eye(3)
        ]
    )
    assert np.array_equal(proposal.x, best_of(mesh, belief))


def test_points_that_violate_a_row_are_left_out() -> None:
    belief = AnalyticBelief()
    domain = nm.Domain([-1.0, -1.0], [1.0, 1.0], A=[[1.0, 1.0]], b=[0.0])
    side = np.linspace(-1.0, 1.0, 21)
    mesh = np.stack(np.meshgrid(side, side, indexing="ij"), axis=-1).reshape(-1, 2)
    proposal = maximize(Grid(points=21), domain, belief)
    assert np.array_equal(proposal.x, best_of(mesh[domain.admissible(mesh)], belief))


@pytest.mark.parametrize("options", [{"points": 11}, {}])
def test_too_large_grids_are_refused_with_their_size(options: dict[str, Any]) -> None:
    d, size = (6, "1,771,561") if options else (20, "1,048,576")
    domain = nm.Domain(-np.ones(d), np.ones(d))
    with pytest.raises(UnsupportedError, match=f"{size} points.*take fewer points"):
        maximize(Grid(**options), domain, AnalyticBelief(d=d))


def test_another_threshold_or_scale_computes_nothing_anew() -> None:
    grid, belief = Grid(points=50), Counting()
    Counting.asked.clear()
    for incumbent in (0.5, 0.9):
        maximize(grid, SQUARE, belief, "ei", incumbent=incumbent)
    assert sum(Counting.asked) < 2500 + 20
    Counting.asked.clear()
    for factor in (2.0, 4.0, 0.3):
        proposal = maximize(grid, SQUARE, belief.scaled(factor), "ei", incumbent=0.9)
        fresh = maximize(Grid(points=50), SQUARE, AnalyticBelief(scale=factor), "ei", incumbent=0.9)
        assert np.array_equal(proposal.x, fresh.x)
        assert proposal.value == fresh.value
        assert proposal.evaluations == 0
    assert sum(Counting.asked) <= 3 * (64 + 10)


def test_another_belief_or_another_grid_is_computed() -> None:
    grid = Grid(points=50)
    maximize(grid, SQUARE, AnalyticBelief(), "ei", incumbent=0.5)
    draw = AnalyticBelief().draw(3)
    assert maximize(grid, SQUARE, draw, "ei", incumbent=0.5).evaluations == 2500
    smaller = SQUARE.restrict([-1.0, -1.0], [0.5, 1.0])
    assert maximize(grid, smaller, AnalyticBelief(), "ei", incumbent=0.5).evaluations == 2500


# -- rows ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["ucb", "ei"])
def test_where_rows_admit_no_point_of_the_grid_the_answer_says_so(name: str) -> None:
    options = {"incumbent": 0.5} if name == "ei" else {}
    proposal = maximize(Grid(points=21), STRIP, AnalyticBelief(), name, **options)
    assert STRIP.admissible(np.asarray(proposal.x)[None, :])[0]
    assert proposal.message == (
        "no point of the grid is admissible, so the answer is some other admissible point; take "
        '"auto", "lbfgs" or "random".'
    )


def test_it_says_so_beside_given_starts_as_well() -> None:
    starts = STRIP.sample(2, np.random.default_rng(0))
    scorer = nm.acquisitions.create("ucb").scorer(AnalyticBelief())
    proposal = Grid(points=21).maximize(Target(scorer, STRIP), Request(starts=starts))
    assert proposal.value == scorer.score(starts).max()
    assert "no point of the grid" in proposal.message


def test_a_grid_with_an_admissible_point_says_nothing() -> None:
    wider = nm.Domain([-1.0, -1.0], [1.0, 1.0], A=STRIP.A, b=[0.0124, 0.0])
    assert maximize(Grid(points=21), wider, AnalyticBelief()).message == ""


def test_equalities_of_continuous_coordinates_are_refused_and_those_of_integers_are_not() -> None:
    rows: dict[str, Any] = {"A": [[1.0, 1.0], [-1.0, -1.0]], "b": [0.5, -0.5]}
    steps = values.Grid.uniform(-1.0, 0.25, 9)
    for free in ([None, None], [steps, None]):
        domain = nm.Domain([-1.0, -1.0], [1.0, 1.0], free, **rows)
        with pytest.raises(UnsupportedError, match=r"no equalities of continuous.*take"):
            maximize(Grid(points=21), domain, AnalyticBelief())
    whole = nm.Domain([-1.0, -1.0], [1.0, 1.0], [steps, steps], **rows)
    assert maximize(Grid(points=21), whole, AnalyticBelief()).evaluations == 7
    fixed = nm.Domain([-1.0, 0.25], [1.0, 0.25], [steps, None], **rows)
    assert maximize(Grid(points=21), fixed, AnalyticBelief()).evaluations == 1


def test_a_belief_that_changed_at_one_spot_only_is_computed() -> None:
    """Everywhere but there it has the means and stds of the one that is remembered."""
    X = np.random.default_rng(0).uniform(-1.0, 1.0, (20, 2))
    y = np.sin(3.0 * X[:, 0])
    options: dict[str, Any] = {
        "length_scale": 0.02,
        "length_scale_bounds": "fixed",
        "amplitude_bounds": "fixed",
        "normalize": False,
    }
    surrogate = nm.surrogates.create("gp", **options)
    places = np.linspace(-1.0, 1.0, 41)
    for place in np.random.default_rng(1).choice(places, (8, 2)):
        grid = Grid(points=41)
        maximize(grid, SQUARE, surrogate.fit(X, y))
        belief = surrogate.fit(np.vstack([X, place]), np.append(y, 3.0))
        proposal = maximize(grid, SQUARE, belief)
        assert proposal.x == pytest.approx(place)
        assert proposal.value > 2.9


def test_one_that_is_fresh_remembers_nothing() -> None:
    grid = Grid(points=20)
    maximize(grid, SQUARE, AnalyticBelief())
    assert maximize(grid, SQUARE, AnalyticBelief()).evaluations == 0
    assert maximize(grid.fresh(), SQUARE, AnalyticBelief()).evaluations == 400
    assert grid.fresh() == grid
    outer = nm.maximizers.create("epsilon_random", inner=grid)
    assert outer.fresh() == outer
