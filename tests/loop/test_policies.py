"""Other policies in the same loop: grid, random points, gradients, a model without doubts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import ks_2samp

import nnbo_mip as nm
from nnbo_mip.loop.designs.designs import design_of
from nnbo_mip.space import Categorical, Integer, Real, Space
from tests.loop.runs import BOX, bowl, optimizer

MIXED = Space([Real("rate", 0.0, 1.0), Integer("n", 2, 4), Categorical("act", ["x", "y"])])


def test_grid_search_visits_every_point_once_and_stops() -> None:
    design = design_of("grid:per_side=4")
    assert len(design.points(BOX)) == 16
    result = nm.optimize(bowl, BOX, n_evals=16, initial="grid:per_side=4")
    visited = np.array([told.x for told in result.history])
    axes = [np.linspace(99.0, 101.0, 4), np.linspace(-3.0, -1.0, 4)]
    expected = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(16, 2)
    assert visited == pytest.approx(expected)
    assert all(step.status == "initial" for step in result.steps)


def test_a_grid_of_integers_and_levels_repeats_nothing() -> None:
    points = design_of("grid:per_side=5").points(MIXED)
    assert len(points) == 5 * 3 * 2
    assert len(np.unique(points, axis=0)) == len(points)
    again = design_of("grid:per_side=5").points(MIXED, known=points[3:6])
    assert np.array_equal(again, np.delete(points, [3, 4, 5], axis=0))
    with pytest.raises(nm.InputError, match="at most 100000 points; got 5 a side in 9"):
        design_of("grid").points(Space.box([0.0] * 9, [1.0] * 9))
    with pytest.raises(nm.InputError, match="per_side must be an integer >= 2"):
        design_of("grid:per_side=1")


def test_gradient_descent_tells_what_it_chose_itself(tmp_path: Path) -> None:
    """A policy of the user's own has the journal, the best point and a model later on."""
    run = optimizer(journal=tmp_path / "run.db")
    x = np.array([100.7, -2.8])
    for _ in range(40):
        run.tell(x, bowl(x))
        x = x - 0.2 * np.array([2.0 * (x[0] - 99.5), 4.0 * (x[1] + 1.5)])
    assert run.best is not None
    assert run.best.x == pytest.approx([99.5, -1.5], abs=1e-3)
    values = [told.y for told in run.history]
    assert values == sorted(values, reverse=True)
    again = nm.BayesianOptimizer.open(tmp_path / "run.db")
    assert len(again.history) == 40
    assert again.ask().status != "initial"  # forty points are more than an initial design


def test_a_model_without_doubts_exploits() -> None:
    options: dict[str, Any] = {"initial": 6, "seed": 3, "acquisition": "mean"}
    result = nm.optimize(bowl, BOX, n_evals=12, surrogate="gp", **options)
    assert result.fun < 0.51
    assert all(step.head == "mean" for step in result.steps if step.status != "initial")


def test_with_a_forecast_that_learns_nothing_the_loop_is_random_search() -> None:
    """Two hundred runs each, the point after two known ones."""
    space = Space.box([0.0], [1.0])
    options: dict[str, Any] = {
        "surrogate": "empirical",
        "maximizer": "random:evaluations=20",
        "initial": "uniform:n=2",
        "escape": "none",
    }
    chosen = []
    for seed in range(1000, 1200):
        run = nm.BayesianOptimizer(space, seed=seed, **options)
        for _ in range(2):
            run.tell(run.ask(), float(seed))
        chosen.append(float(run.ask().x[0]))
    drawn = [float(design_of("uniform:n=3").points(space, seed)[2, 0]) for seed in range(200)]
    assert ks_2samp(chosen, 0.5 * np.array(drawn) + 0.5).pvalue > 0.01
