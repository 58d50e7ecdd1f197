"""Runs of few evaluations: models choose at least half of them, and early ones if asked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nnbo_mip as nm
from tests.loop.runs import optimizer

# Eight units are soon sure of themselves.
pytestmark = pytest.mark.filterwarnings("ignore::nnbo_mip.core.errors.ModelWarning")

QUICK: dict[str, Any] = {
    "surrogate": "brvfl:n_hidden=8",
    "maximizer": "random:evaluations=50",
    "region": None,
}


def sides(d: int) -> list[tuple[float, float]]:
    return [(0.0, 1.0)] * d


def total(x: Any) -> float:
    return float(np.sum(np.square(np.asarray(x) - 0.3)))


def starts_of(result: nm.OptimizeResult) -> int:
    return sum(one.is_initial for one in result.optimizer.suggestions)


@pytest.mark.parametrize(
    ("d", "n_evals", "starts"), [(2, 30, 5), (8, 12, 6), (20, 40, 10), (20, 16, 8), (20, 1, 1)]
)
def test_models_choose_half_of_a_short_run(d: int, n_evals: int, starts: int) -> None:
    result = nm.optimize(total, sides(d), n_evals, **QUICK)
    assert (result.nfev, starts_of(result)) == (n_evals, starts)
    assert result.optimizer.settings.steps == max(1, n_evals - starts)


def test_the_points_of_a_short_run_are_the_first_ones_of_a_long_one() -> None:
    short = nm.optimize(total, sides(8), 12, **QUICK)
    long = nm.optimize(total, sides(8), 20, **QUICK)
    assert np.array_equal(short.x_iters[:6], long.x_iters[:6])


def test_past_values_and_a_short_run() -> None:
    X = np.random.default_rng(0).uniform(size=(14, 8))
    rows = nm.optimize(total, sides(8), 3, past=(X, [total(x) for x in X]), **QUICK)
    assert starts_of(rows) == 0
    few = nm.optimize(total, sides(8), 4, past=(X[:1], [total(X[0])]), **QUICK)
    assert starts_of(few) == 2
    named = nm.optimize(total, sides(8), 8, initial=7, **QUICK)
    assert starts_of(named) == 7


def test_a_short_run_goes_on_as_a_longer_one(tmp_path: Path) -> None:
    path = tmp_path / "run.sqlite"
    nm.optimize(total, sides(8), 4, journal=path, **QUICK)
    result = nm.optimize(total, sides(8), 7, journal=path, **QUICK)
    assert (result.nfev, starts_of(result)) == (7, 2)
    with pytest.raises(nm.InputError, match=r"other settings: options\['initial'\]"):
        nm.optimize(total, sides(8), 8, journal=path, initial=5, **QUICK)


@pytest.mark.parametrize("initial", [1, 2])
def test_a_model_may_choose_from_the_second_value_on(initial: int) -> None:
    run = optimizer(sides(2), initial=initial, surrogate="gp")
    asked = []
    for _ in range(4):
        asked.append(run.ask())
        run.tell(asked[-1], total(asked[-1].x))
    assert [one.is_initial for one in asked] == [True] * initial + [False] * (4 - initial)
