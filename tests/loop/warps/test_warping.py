"""Warps: the order is kept, the better half too, and terrible values come near."""

from __future__ import annotations

import doctest

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import norm

import nnbo_mip.loop.warps.warping as warping
from nnbo_mip.loop.warps.warping import warp_of

numbers = st.lists(st.floats(-1e12, 1e12, allow_subnormal=False), min_size=1, max_size=40)


def test_the_example():
    assert doctest.testmod(warping).failed == 0


def test_half_rank_by_hand():
    """Median 1, width sqrt((0 + 1 + 4) / 3); the lower two at the quantiles 0.1 and 0.3."""
    warped = warp_of("half_rank").learn([3.0, -7.0, 1.0, -1e9, 2.0])
    width = np.sqrt(5.0 / 3.0)
    expected = [3.0, 1.0 + width * norm.ppf(0.3), 1.0, 1.0 + width * norm.ppf(0.1), 2.0]
    assert warped.values == pytest.approx(expected, rel=1e-14)


def test_ties_below_the_median_stay_ties():
    warped = warp_of("half_rank").learn([5.0, -4.0, -4.0, 6.0, 7.0])
    assert warped.values[1] == warped.values[2]
    assert warped.values[1] == pytest.approx(5.0 + np.sqrt(5.0 / 3.0) * norm.ppf(0.2), rel=1e-14)


@given(numbers)
def test_the_order_is_kept(y):
    told = np.array(y)
    values = warp_of("half_rank").learn(told).values
    for i in range(len(told)):
        above, apart = told > told[i], values > values[i]
        assert (apart == above).all()


@given(numbers)
def test_the_better_half_is_kept(y):
    told = np.array(y)
    values = warp_of("half_rank").learn(told).values
    good = told >= np.sort(told)[len(told) // 2]
    assert (values[good] == told[good]).all()


@given(numbers)
def test_there_and_back(y):
    told = np.array(y)
    warped = warp_of("half_rank").learn(told)
    assume(np.ptp(warped.values) > 1e-6 * np.ptp(told))  # else rounding is all there is
    assert warped.outward(warped.values) == pytest.approx(told, abs=1e-6 * np.ptp(told))


def test_beyond_the_values_the_way_back_goes_on():
    warped = warp_of("half_rank").learn([0.0, 10.0, 20.0, 30.0, 40.0])
    low = warped.values.min()
    assert warped.outward([low - 2.0, 55.0]) == pytest.approx([-2.0, 55.0])


@pytest.mark.parametrize("y", [[1.0], [2.0, 2.0], [1.0, 5.0, 5.0], [1.0, 2.0]])
def test_values_without_a_width_stay_as_they_are(y):
    warped = warp_of("half_rank").learn(y)
    assert warped.values.tolist() == y
    assert warped.outward([7.0]).tolist() == [7.0]


def test_no_warp():
    warped = warp_of(None).learn([3.0, -1e9])
    assert warped.values.tolist() == [3.0, -1e9]
    assert warped.outward([1.0]).tolist() == [1.0]


@pytest.mark.parametrize("warp", ["none", "half_rank", "asinh"])
@given(y=numbers, among=st.floats(-0.5, 1.5))
def test_any_value_goes_the_way_of_its_neighbours(warp, y, among):
    """What was told arrives where it is, and any other value between its neighbours."""
    told = np.array(y)
    warped = warp_of(warp).learn(told)
    tolerance = 1e-9 * max(1.0, np.abs(warped.values).max())
    assert warped.inward(told) == pytest.approx(warped.values, abs=tolerance)
    value = told.min() + among * np.ptp(told)
    arrived = float(warped.inward([value])[0])
    below, above = warped.values[told <= value], warped.values[told >= value]
    assert arrived >= below.max(initial=-np.inf) - tolerance
    assert arrived <= above.min(initial=np.inf) + tolerance
