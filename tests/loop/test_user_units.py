"""What is asked lies where its proof holds, also where float64 has few numbers to choose of."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import nnbo_mip as nm
from nnbo_mip.loop.user_units import Within, in_user_units, resolution
from nnbo_mip.space import Categorical, Integer, Real, Space

COARSE = Space.box([1e9], [1e9 + 1e-5])
"""Of 84 numbers, 0.024 apart in model coordinates."""


@pytest.mark.parametrize(
    ("lower", "upper"),
    [(1.7e9, 1.7e9 + 60.0), (1e6, 1e6 + 1e-3), (1000.1, 1000.2), (-1e9 - 1e-5, -1e9)],
)
def test_a_point_on_the_face_of_a_hole_stays_out_of_it(lower: float, upper: float) -> None:
    space = Space.box([lower, lower], [upper, upper])
    rng = np.random.default_rng(0)
    known = space.encode(space.decode(space.model().sample(6, rng)))
    within = Within(space.model(), known, 0.05)
    kept = 0
    for index in range(200):
        z = known[index % 6].copy()
        z[index % 2] += 0.05 * (1.0 if index % 3 else -1.0)
        z[1 - index % 2] += rng.uniform(-0.05, 0.05)
        z = np.clip(z, -1.0, 1.0)
        if not within.holds(z[None])[0]:
            continue
        x, place = in_user_units(space, z, within)
        assert np.array_equal(place, space.encode(x)[0])
        assert within.holds(place[None])[0]
        assert np.abs(place - z).max() <= 0.2
        kept += 1
    assert kept > 20


def test_a_point_on_the_edge_of_a_region_stays_within() -> None:
    space = Space.box([100.0] * 3, [101.0] * 3)
    rng = np.random.default_rng(1)
    for _ in range(100):
        centre = space.encode(space.decode(space.model().sample(1, rng)))[0]
        lower, upper = np.maximum(centre - 0.1, -1.0), np.minimum(centre + 0.1, 1.0)
        domain = space.model().restrict(lower, upper)
        z = np.where(rng.uniform(size=3) < 0.5, lower, upper)
        _, place = in_user_units(space, z, Within(domain, centre[None], 0.0))
        assert domain.admissible(place[None])[0]
        assert np.abs(place - z).max() < 1e-12


def test_grids_and_categories_are_not_moved_and_rows_are_kept() -> None:
    rows = [nm.LinearConstraint({"a": 1.0, "n": 1.0}, "<=", 1000.35)]
    space = Space(
        [Real("a", 1000.1, 1000.2), Integer("n", 0, 5), Categorical("c", ["u", "v"])], rows
    )
    domain = space.model()
    # On the row: of a rounding to either side only one is admissible.
    z = domain.sample(50, np.random.default_rng(2))
    z[:, 0] = np.minimum(z[:, 0], 1.0)
    for one in z:
        x, place = in_user_units(space, one, Within(domain, z[:0], 0.0))
        assert (place[1:] == one[1:]).all()
        assert space.numeric().admissible(space.to_numeric(x))[0]


def test_where_no_number_is_left_the_nearest_is_taken() -> None:
    known = COARSE.encode([[1e9 + k * 2.0**-23] for k in range(84)])
    z = known[40] + 0.01
    x, place = in_user_units(COARSE, z, Within(COARSE.model(), known, 1e-3))
    assert np.abs(place - z).max() <= 0.013
    assert np.array_equal(COARSE.encode(x)[0], place)


def test_how_far_apart_numbers_are() -> None:
    assert resolution(COARSE) == pytest.approx(2.0 / 84.0)
    assert 2.0**-54 <= resolution(Space.box([-1.0], [1.0])) <= 2.0**-52
    assert resolution(Space([Real("r", 1e-6, 1.0, log=True), Integer("n", 0, 3)])) < 1e-15
    assert resolution(Space([Integer("n", 10**6, 10**6 + 3), Real("f", 2.0, 2.0)])) == 0.0


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
