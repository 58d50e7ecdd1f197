"""Density ratios in the loop: through the steps of everybody else, or refused in a sentence."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nnbo_mip as nm
from nnbo_mip.core.errors import UnsupportedError
from tests.loop.runs import BOX, advance, bowl, figures

NET: dict[str, Any] = {"name": "bore", "estimator": {"name": "net", "hidden": [6], "epochs": 80}}
LAPLACE: dict[str, Any] = {
    "name": "boggn",
    "hidden": [6],
    "epochs": 80,
    "prior_precision": 0.1,
    "weights": "last",
}
SEARCH: dict[str, Any] = {"maximizer": "random:evaluations=300", "initial": 5}
FOREST = {"name": "bore", "estimator": {"name": "forest", "n_trees": 10}}
FAMILIES: list[Any] = ["tpe", NET, LAPLACE, "bore:estimator=svm", FOREST]


def run(surrogate: Any, space: object = BOX, **options: Any) -> nm.BayesianOptimizer:
    return nm.BayesianOptimizer(space, **{"surrogate": surrogate, "seed": 0, **SEARCH, **options})


@pytest.mark.parametrize("surrogate", FAMILIES)
def test_a_run_minimizes_and_says_nothing_of_means(surrogate: Any) -> None:
    result = nm.optimize(bowl, BOX, 11, surrogate=surrogate, seed=0, **SEARCH)
    assert result.nfev == 11
    assert min(result.func_vals) <= min(result.func_vals[:5])
    steps = [step for step in result.steps if not step.is_initial]
    assert len(steps) == 6
    for step in steps:
        assert math.isnan(step.mean)
        assert math.isnan(step.std)
        assert math.isfinite(step.value)


def test_the_name_alone_is_enough_and_every_step_is_certified() -> None:
    optimizer = nm.BayesianOptimizer(BOX, surrogate="bore", initial=5, seed=0)
    asked = advance(optimizer, 7)[5:]
    assert [one.status for one in asked] == ["optimal", "optimal"]
    assert all(one.check().verdict == "confirmed" for one in asked)
    result = nm.optimize(bowl, BOX, 7, surrogate="bore", initial=5, seed=0)
    assert np.array_equal(result.x_iters[6], asked[1].x)


def test_maximizing_is_minimizing_the_negative() -> None:
    up = run(NET, direction="maximize")
    down = run(NET)
    first = advance(up, 8, lambda x: -bowl(x))
    second = advance(down, 8)
    assert all(np.array_equal(a.x, b.x) for a, b in zip(first, second, strict=True))


@pytest.mark.parametrize("surrogate", FAMILIES)
def test_integers_categories_and_rows_failures_and_duplicates(surrogate: Any) -> None:
    space = nm.Space(
        [nm.Real("r", 1.0, 3.0), nm.Integer("i", 0, 4), nm.Categorical("c", ["a", "b", "d"])],
        [nm.LinearConstraint({"r": 1.0, "i": 1.0}, "<=", 6.0)],
    )
    calls: list[Any] = []

    def fails_sometimes(x: Any) -> float:
        calls.append(x)
        if len(calls) % 3 == 0:
            raise ValueError("broken")
        return float((x["r"] - 1.5) ** 2 + x["i"] + (x["c"] != "b"))

    with pytest.warns(nm.EvaluationWarning):
        result = nm.optimize(fails_sometimes, space, 12, surrogate=surrogate, seed=1, **SEARCH)
    assert result.nfev == 12
    assert all(x["r"] + x["i"] <= 6.0 + 1e-6 for x in calls)
    assert all(x["i"] == int(x["i"]) and x["c"] in "abd" for x in calls)


@pytest.mark.parametrize("surrogate", FAMILIES)
def test_one_value_and_equal_values_are_enough_for_a_step(surrogate: Any) -> None:
    optimizer = run(surrogate, initial=1)
    asked = advance(optimizer, 4, lambda x: 7.0)
    assert len({tuple(one.x) for one in asked}) == 4


def test_an_exact_step_closes_where_nothing_is_known() -> None:
    asked = advance(run(NET, initial=1, maximizer="auto"), 3, lambda x: 7.0)
    assert [one.status for one in asked[1:]] == ["optimal", "optimal"]
    assert len({tuple(one.x) for one in asked}) == 3


@pytest.mark.parametrize("surrogate", ["tpe", FOREST, LAPLACE])
def test_warps_that_keep_the_order_change_nothing(surrogate: Any) -> None:
    plain = advance(run(surrogate, warp=None), 9)
    warped = advance(run(surrogate, warp="half_rank"), 9)
    assert all(np.array_equal(a.x, b.x) for a, b in zip(plain, warped, strict=True))


@pytest.mark.parametrize("batch", ["believer", "liar:value=worst", "liar:value=best", None])
@pytest.mark.parametrize("surrogate", ["tpe", NET])
def test_batches_take_pending_points_for_what_their_rule_says(surrogate: Any, batch: Any) -> None:
    optimizer = run(surrogate, batch=batch)
    advance(optimizer, 6)
    together = [optimizer.ask() for _ in range(3)]
    assert len({tuple(one.x) for one in together}) == 3


def test_thompson_batches_need_draws_which_boggn_has() -> None:
    optimizer = run(LAPLACE, batch="thompson")
    advance(optimizer, 6)
    assert len({tuple(optimizer.ask().x) for _ in range(3)}) == 3
    with pytest.raises(UnsupportedError, match=r"ts needs .* draws; .* choose .* or batch"):
        run(NET, batch="thompson")


@pytest.mark.parametrize("surrogate", FAMILIES)
def test_there_is_no_width_to_be_scaled(surrogate: Any) -> None:
    with pytest.raises(UnsupportedError, match="multiplies the uncertainty"):
        run(surrogate, scaling="mean_width")
    with pytest.raises(UnsupportedError, match="multiplies the uncertainty"):
        run(surrogate, escape="exponential")


@pytest.mark.parametrize("acquisition", ["ei", "ucb", "mean"])
def test_acquisitions_of_mean_and_std_are_refused(acquisition: str) -> None:
    with pytest.raises(UnsupportedError, match="needs a belief that offers mean"):
        run(NET, acquisition=acquisition)
    with pytest.raises(UnsupportedError, match="ratio needs a belief that offers ratio"):
        run("gp", acquisition="ratio")


@pytest.mark.parametrize("surrogate", [NET, LAPLACE, "tpe"])
def test_a_run_goes_on_from_its_journal_bit_for_bit(surrogate: Any, tmp_path: Path) -> None:
    whole = advance(run(surrogate), 9)
    path = tmp_path / "run.db"
    first = run(surrogate, journal=path)
    advance(first, 6)
    again = nm.BayesianOptimizer.open(path)
    rest = advance(again, 3)
    for a, b in zip(whole[6:], rest, strict=True):
        assert figures(a) == figures(b)


def test_a_random_point_now_and_then() -> None:
    optimizer = run("tpe", maximizer="epsilon_random:share=0.5,inner=lbfgs:weak")
    asked = advance(optimizer, 21)
    random = [one for one in asked if "random point" in one.message]
    assert 3 <= len(random) <= 13
