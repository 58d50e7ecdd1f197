"""Repeated points tell how large the noise is there, where it clearly differs."""

from __future__ import annotations

import numpy as np
import pytest

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.loop.step.repeats import PRIOR, deviations_by_point

PLACES = np.array([0.0] * 6 + [1.0] * 6 + [0.5, 0.7])[:, None]


def values(first: float, second: float) -> FloatArray:
    z = np.random.default_rng(0).standard_normal(14)
    return np.concatenate([first * z[:6], 3.0 + second * z[6:12], [1.0, 2.0]])


def test_points_that_differ_clearly_have_deviations_of_their_own() -> None:
    y = values(0.01, 1.0)
    found = deviations_by_point(PLACES, y, 0.7)
    assert len(set(found[:6])) == len(set(found[6:12])) == 1
    assert found[0] < 0.6 * found[6]
    np.testing.assert_array_equal(found[12:], 0.7)
    squares = float(np.square(y[6:12] - y[6:12].mean()).sum())
    assert found[6] == pytest.approx(np.sqrt((PRIOR * 0.49 + squares) / (PRIOR + 5.0)))


@pytest.mark.parametrize("X", [PLACES, PLACES + np.arange(14.0)[:, None]], ids=["alike", "single"])
def test_otherwise_all_values_have_the_common_one(X: FloatArray) -> None:
    np.testing.assert_array_equal(deviations_by_point(X, values(0.5, 0.5), 0.5), 0.5)


def test_values_that_repeat_exactly_are_not_believed_to_be_exact() -> None:
    y = values(0.0, 1.0)
    assert deviations_by_point(PLACES, y, 0.7)[0] == pytest.approx(0.7 * np.sqrt(2.0 / 7.0))
    same = np.where(PLACES[:, 0] == 0.0, 1.0, 2.0)
    np.testing.assert_array_equal(deviations_by_point(PLACES, same, 0.7), 0.7)


def test_the_test_keeps_its_level() -> None:
    """Of samples with equal variances one in a hundred is called unequal."""
    rng = np.random.default_rng(1)
    X = np.repeat(np.arange(5.0), 4)[:, None]
    wrong = sum(
        bool((deviations_by_point(X, rng.standard_normal(20), 1.0) != 1.0).any())
        for _ in range(1000)
    )
    assert 2 <= wrong <= 25
