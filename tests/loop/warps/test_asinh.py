"""The asinh warp: small gaps to the best value stay, and large ones become their logarithm."""

from __future__ import annotations

import doctest
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import nnbo_mip as nm
import nnbo_mip.loop.warps.asinh as asinh
from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.errors import InputError
from nnbo_mip.loop.warps.asinh import Asinh
from nnbo_mip.loop.warps.warping import warp_of

numbers = st.lists(st.floats(-1e12, 1e12, allow_subnormal=False), min_size=1, max_size=40)
shares = st.sampled_from((0.05, 0.2, 0.35, 0.5, 0.8, 1.0))


def test_the_example() -> None:
    assert doctest.testmod(asinh).failed == 0


def test_by_hand() -> None:
    """Gaps 0, 1, 2, 3, 10 to the best value 5; the median gap is 2."""
    warped = warp_of("asinh:share=0.5").learn([4.0, 5.0, -5.0, 3.0, 2.0])
    expected = 5.0 - 2.0 * np.arcsinh([0.5, 0.0, 5.0, 1.0, 1.5])
    assert warped.values == pytest.approx(expected, rel=1e-15)


@given(numbers, shares)
def test_the_order_is_kept_and_nothing_moves_away_from_the_best(y: list[float], s: float) -> None:
    told = np.array(y)
    values = Asinh(s).learn(told).values
    order = np.argsort(told, kind="stable")
    assert (np.diff(values[order]) >= 0.0).all()
    assert values.max() == told.max()
    assert (values >= told).all()


@given(numbers, shares)
def test_there_and_back(y: list[float], share: float) -> None:
    told = np.array(y)
    warped = Asinh(share).learn(told)
    # A gap of many widths is a difference of the last digits of its logarithm.
    width = np.quantile(told.max() - told, share)
    assume(np.ptp(told) < 1e6 * max(width, 1e-300))
    assume(np.ptp(told) > 1e-6 * np.abs(told).max())
    assert warped.outward(warped.values) == pytest.approx(told, abs=1e-6 * np.ptp(told))


def test_better_values_than_the_best_keep_their_units() -> None:
    warped = Asinh(0.5).learn([0.0, 1.0, 5.0])
    assert warped.outward([5.0, 7.5]).tolist() == [5.0, 7.5]


@pytest.mark.parametrize("y", [[], [1.0], [2.0, 2.0], [1.0, 5.0, 5.0, 5.0]])
def test_values_without_a_width_stay_as_they_are(y: list[float]) -> None:
    warped = Asinh(0.5).learn(y)
    assert warped.values.tolist() == y
    assert warped.outward([7.0]).tolist() == [7.0]


@pytest.mark.parametrize("y", [[-1.7e308, 1.7e308, 0.0], [-1.7e308, 0.0, -1e-300], [5e-324, 0.0]])
def test_the_largest_and_smallest_numbers_stay_numbers(y: list[float]) -> None:
    warped = Asinh(0.5).learn(y)
    assert np.isfinite(warped.values).all()
    assert np.isfinite(warped.outward([*warped.values, -1.7e308])).all()
    assert (np.argsort(warped.values, kind="stable") == np.argsort(y, kind="stable")).all()


@pytest.mark.parametrize("share", [0.0, 1.5, "half", float("nan")])
def test_shares_that_are_none_are_refused(share: object) -> None:
    with pytest.raises(InputError, match="share"):
        Asinh(share)  # type: ignore[arg-type]


def test_a_run_resumes_with_the_same_warp(tmp_path: Path) -> None:
    def value(x: FloatArray) -> float:
        return float(np.exp(5.0 * x[0]) + x[1] ** 2)

    box, path = [(-1.0, 1.0)] * 2, tmp_path / "run.db"
    options = {"maximizer": "lbfgs:classic", "initial": 6, "warp": "asinh:share=0.2"}
    whole = nm.BayesianOptimizer(box, **options)
    begun = nm.BayesianOptimizer(box, **options, journal=path)
    for _ in range(8):
        for one in (whole, begun):
            asked = one.ask()
            one.tell(asked, value(asked.x))
    again = nm.BayesianOptimizer.open(path)
    assert again.settings.warp == Asinh(0.2)
    assert again.ask().x.tolist() == whole.ask().x.tolist()


def test_beyond_the_worst_value_the_way_back_goes_on_as_steeply_as_there() -> None:
    """And not as e to the power of it, which is no number soon."""
    warped = Asinh(0.5).learn([0.0, -1.0, -100.0])
    worst = float(warped.values.min())
    slope = np.hypot(1.0, 100.0)
    assert warped.outward([worst - 2.0])[0] == pytest.approx(-100.0 - 2.0 * slope, rel=1e-9)
    assert warped.outward([worst - 1e3])[0] > -1e6
