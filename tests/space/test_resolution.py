"""What is said of a suggestion holds, also where float64 has few numbers to choose of."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import nnbo_mip as nm
from nnbo_mip.space import Integer, Real, Space
from nnbo_mip.space.same_point import resolution

COARSE = Space.box([1e9], [1e9 + 1e-5])
"""Of 84 numbers, 0.024 apart in model coordinates."""


def test_one_coarse_side_keeps_no_other_from_small_steps() -> None:
    """Beside 80 numbers of x0 there are as many of x1 as ever."""
    run = nm.BayesianOptimizer(
        Space.box([1e15, 0.0], [1e15 + 10.0, 1.0]), "brvfl:n_hidden=20", "ei", initial=6, seed=0
    )
    asked = []
    for _ in range(14):
        one = run.ask()
        asked.append(tuple(np.asarray(one.x).tolist()))
        run.tell(one, ((one.x[0] - 1e15) / 10.0 - 0.5) ** 2 + (one.x[1] - 0.3217) ** 2)
        assert one.eps in (0.0, 1e-4) or one.eps == pytest.approx(0.05)
    assert len(set(asked)) == 14
    assert [one.eps for one in run.suggestions[6:]].count(1e-4) >= 6


def test_how_far_apart_numbers_are() -> None:
    assert resolution(COARSE) == pytest.approx(2.0 / 84.0)
    assert 2.0**-54 <= resolution(Space.box([-1.0], [1.0])) <= 2.0**-52
    assert resolution(Space([Real("r", 1e-6, 1.0, log=True), Integer("n", 0, 3)])) < 1e-15
    assert resolution(Space([Integer("n", 10**6, 10**6 + 3), Real("f", 2.0, 2.0)])) == 0.0


# A run of these finds the minimum, of which there is no better, with most points yet to come.
@pytest.mark.filterwarnings(
    "ignore:the largest score is negligible:nnbo_mip.core.errors.ModelWarning"
)
@pytest.mark.parametrize(
    ("space", "options"),
    [
        (
            Space.box([1.7e9], [1.7e9 + 60.0]),
            {
                "surrogate": "brvfl:n_hidden=10",
                "acquisition": "mean",
                "escape": "exclude:first=0.2,last=0.05",
            },
        ),
        (COARSE, {"surrogate": "brvfl:n_hidden=10", "acquisition": "ei"}),
        (
            Space.box([100.0, 100.0], [101.0, 101.0]),
            {"surrogate": "brvfl:n_hidden=10", "region": "trust:length=0.05", "escape": None},
        ),
    ],
)
def test_no_suggestion_scores_above_its_bound(space: Space, options: dict[str, Any]) -> None:
    lower, upper = space.numeric().lower, space.numeric().upper
    for seed in range(2):
        run = nm.BayesianOptimizer(space, initial=4, seed=seed, steps=10, **options)
        asked = []
        for _ in range(14):
            one = run.ask()
            asked.append(tuple(np.asarray(one.x).tolist()))
            run.tell(one, float(np.square((np.asarray(one.x) - lower) / (upper - lower)).sum()))
            if one.is_initial:
                continue
            assert one.value <= one.bound
            assert one.gap >= 0.0
            assert (one.status == "optimal") == (one.gap <= 1e-4)
        if options.get("escape", "exclude") is not None:
            assert len(set(asked)) == 14
