"""Means and medians with their bootstrapped intervals."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from nnbo_mip.lab.statistics.intervals import (
    BLOCK,
    RESAMPLES,
    bootstrapped,
    interval_of,
    mean_band,
    median_band,
)


def test_the_band_of_the_mean_has_the_intervals_of_its_columns() -> None:
    values = np.random.default_rng(3).lognormal(size=(7, 4))
    band = mean_band(values, RESAMPLES)
    for j in range(4):
        alone = interval_of(values[:, j])
        assert band.at(j).value == pytest.approx(alone.value, rel=1e-12)
        assert band.at(j).low == pytest.approx(alone.low, rel=1e-12)
        assert band.at(j).high == pytest.approx(alone.high, rel=1e-12)


@pytest.mark.parametrize("n", [2, 7, 8, 31])
def test_the_band_of_the_median_resamples_ranks(n: int) -> None:
    values = np.sort(np.random.default_rng(n).normal(size=(n, 3)), axis=0)
    low, high = bootstrapped(values, np.median)
    band = median_band(values, RESAMPLES)
    assert band.value == pytest.approx(np.median(values, axis=0))
    assert band.low == pytest.approx(low)
    assert band.high == pytest.approx(high)
    shuffled = median_band(values[np.random.default_rng(0).permutation(n)], RESAMPLES)
    assert shuffled.low.tolist() == band.low.tolist()


def test_the_median_of_three_is_as_often_the_smallest_as_counting_says() -> None:
    drawn = [sorted(rows)[1] for rows in itertools.product(range(3), repeat=3)]
    assert drawn.count(0) / 27 == pytest.approx(7 / 27)
    # 7 of 27 resamples have the smallest value as their median, which is more than 2.5 %.
    band = median_band(np.array([[5.0], [1.0], [9.0]]), RESAMPLES)
    assert (band.at(0).low, band.at(0).value, band.at(0).high) == (1.0, 5.0, 9.0)


def test_the_interval_of_the_median_covers_it() -> None:
    rng = np.random.default_rng(5)
    samples = rng.exponential(size=(25, 400))  # 400 samples of 25
    band = median_band(samples)
    covered = np.mean((band.low <= np.log(2.0)) & (np.log(2.0) <= band.high))
    assert 0.90 <= covered <= 0.98


def test_one_row_has_no_interval_and_none_has_no_value() -> None:
    for band_of in (mean_band, median_band):
        one = band_of(np.array([[2.0, 1.0]]))
        assert one.value.tolist() == [2.0, 1.0]
        assert np.isnan(one.low).all()
        assert np.isnan(one.high).all()
        nothing = band_of(np.empty((0, 2)))
        assert np.isnan(nothing.value).tolist() == [True, True]


def test_a_column_without_values_says_nothing_and_disturbs_no_other() -> None:
    values = np.array([[np.nan, 1.0], [2.0, 3.0], [4.0, 8.0]])
    for band_of in (mean_band, median_band):
        band, whole = band_of(values), band_of(values[:, 1:])
        assert np.isnan(band.value[0])
        assert np.isnan(band.low[0])
        assert np.isnan(band.high[0])
        assert band.at(1) == whole.at(0)


@pytest.mark.parametrize("band", [mean_band, median_band])
def test_long_curves_are_resampled_a_part_at_a_time(band) -> None:
    rows = np.random.default_rng(0).normal(size=(5, 2 * BLOCK + 3))
    whole = band(rows)
    for column in (0, BLOCK - 1, BLOCK, 2 * BLOCK + 2):
        alone = band(rows[:, column : column + 1])
        got, wanted = whole.at(column), alone.at(0)
        assert (got.value, got.low, got.high) == pytest.approx(
            (wanted.value, wanted.low, wanted.high), abs=1e-12
        )
    assert len(whole.value) == len(whole.low) == len(whole.high) == 2 * BLOCK + 3
