"""Functions of the normal distribution against 60 digits, into both tails."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from scipy.special import ndtr

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.scores.base.normal import (
    LOG_H_AT_ZERO,
    SWITCH,
    improvement,
    improvement_below,
    inverse_improvement,
    tail_ratios,
)
from nnbo_mip.scores.functions.improvement import log_expectation, margin_at_log_level


def log_h(u: npt.ArrayLike) -> FloatArray:
    u = np.asarray(u, dtype=np.float64)
    return log_expectation(u, np.ones_like(u))


def inverse_log_h(w: npt.ArrayLike) -> FloatArray:
    w = np.asarray(w, dtype=np.float64)
    return margin_at_log_level(np.ones_like(w), w)


# log(phi(u) + u Phi(u)), from arithmetic with 80 to 900 digits.
LOG_H = [
    (-1e12, -5.000000000000000000001e23),
    (-1e6, -500000000028.5499596491),
    (-1234.5, -762010.2807831192871511),
    (-60.0, -1809.108460182272179414),
    (-37.5, -711.2947484475127222745),
    (-20.0, -206.9178385094250978539),
    (-10.0, -55.55312203612235592718),
    (-5.5, -19.5430714528241053993),
    (-4.25, -12.98591038280975182053),
    (-4.0, -11.8490615775506631112),
    (-3.75, -10.76951953892348243084),
    (-3.0, -7.869686059603028517112),
    (-1.5, -3.529935920805709851479),
    (-1.0, -2.48512102571264133676),
    (-0.25, -1.250558955335222442827),
    (-1e-9, -0.9189385344579868793812),
    (0.0, -0.9189385332046727417803),
    (1e-9, -0.9189385319513586047502),
    (0.5, -0.3598276837450638185882),
    (0.75, -0.1265082068919529809315),
    (1.0, 0.08002621884930694002916),
    (3.0, 1.098739665327707772686),
    (8.0, 2.07944154167983593769),
    (40.0, 3.688879454113936302852),
    (1e6, 13.81551055796427410411),
]


@pytest.mark.parametrize(("u", "expected"), LOG_H)
def test_log_h_is_accurate_everywhere(u: float, expected: float) -> None:
    assert abs(float(log_h(u)) - expected) <= 2e-14 + 1e-15 * abs(expected)


@pytest.mark.parametrize(("u", "expected"), [pair for pair in LOG_H if pair[1] > -690.0])
def test_h_is_accurate_until_it_underflows(u: float, expected: float) -> None:
    # The exponential of the reference is itself off by a rounding of its argument.
    assert float(improvement(u)) == pytest.approx(np.exp(expected), rel=1e-12)


def test_far_out_nothing_warns() -> None:
    far = np.array([-np.inf, -1e300, -1e160, 1e160, np.inf])
    assert np.array_equal(log_h(far)[:3], [-np.inf] * 3)
    assert np.array_equal(improvement(far), [0.0, 0.0, 0.0, 1e160, np.inf])
    np.testing.assert_allclose(log_h(-1e150), -5e299, rtol=1e-15)


def test_tail_ratios_meet_where_the_method_changes() -> None:
    below, above = np.nextafter(SWITCH, 0.0), SWITCH
    for left, right in zip(tail_ratios(below), tail_ratios(above), strict=True):
        assert float(left) == pytest.approx(float(right), rel=5e-14)


def test_tail_ratios_are_what_they_are_called() -> None:
    a = np.linspace(0.0, 12.0, 97)
    mills, excess, again = tail_ratios(a)
    phi = np.exp(-0.5 * a**2) / np.sqrt(2.0 * np.pi)
    np.testing.assert_allclose(mills, ndtr(-a) / phi, rtol=1e-13)
    np.testing.assert_allclose(excess, 1.0 / mills - a, rtol=0.0, atol=1e-14)
    np.testing.assert_allclose(again, 1.0 / excess - a, rtol=0.0, atol=1e-12)


def test_the_slope_of_log_h_is_one_over_the_excess() -> None:
    a, step = np.geomspace(0.1, 1e3, 40), 1e-5
    slope = (log_h(-a + step) - log_h(-a - step)) / (2.0 * step)
    np.testing.assert_allclose(1.0 / tail_ratios(a)[1], slope, rtol=1e-6)


def test_the_inverse_returns_what_went_in() -> None:
    u = np.concatenate([-np.geomspace(1e8, 1e-8, 300), [0.0], np.geomspace(1e-8, 600.0, 300)])
    back = inverse_log_h(log_h(u))
    assert np.max(np.abs(back - u) / (1.0 + np.abs(u))) <= 1e-14
    assert inverse_log_h(-np.inf) == -np.inf
    assert float(inverse_log_h(LOG_H_AT_ZERO)) == pytest.approx(0.0, abs=1e-15)
    assert float(inverse_improvement(1e300)) == 1e300


@pytest.mark.parametrize("a", [0.3, 2.0, 3.9, 4.1, 9.0])
def test_h_is_the_mean_excess(a: float) -> None:
    t = a + np.linspace(0.0, 40.0, 400_001)
    values = (t - a) * np.exp(-0.5 * t**2) / np.sqrt(2.0 * np.pi)
    assert float(improvement_below(a)) == pytest.approx(np.trapezoid(values, t), rel=1e-7)
