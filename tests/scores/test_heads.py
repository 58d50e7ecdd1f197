"""Heads against integrals, samples and many digits; their edges."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import ndtri
from scipy.stats import norm

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.errors import InputError
from nnbo_mip.scores.base.abstract import MomentHead, Trend
from nnbo_mip.scores.functions.empirical import EmpiricalImprovement
from nnbo_mip.scores.functions.entropy import CEILING, LARGEST_U, MaxValueEntropy
from nnbo_mip.scores.functions.improvement import LEVEL_ERROR, ExpectedImprovement
from nnbo_mip.scores.functions.linear import LinearHead
from nnbo_mip.scores.functions.noisy import AugmentedEI, QuantileImprovement
from nnbo_mip.scores.functions.probability import RATIO_ERROR, ProbabilityOfImprovement
from nnbo_mip.scores.functions.sampled_incumbents import NoisyImprovement

CASES = [(1.2, 0.5), (-0.7, 0.3), (0.4, 2.0), (0.5, 0.01), (-2.0, 1.0)]
THRESHOLD = 0.4
MOMENT_HEADS: list[MomentHead] = [
    ExpectedImprovement(0.0),
    ExpectedImprovement(0.0, log=True),
    ProbabilityOfImprovement(0.0),
    MaxValueEntropy(0.0),
    AugmentedEI(0.0, 0.1),
    AugmentedEI(0.0),
    NoisyImprovement((0.0, 0.3)),
    NoisyImprovement((0.0, 0.3), log=True),
    QuantileImprovement(0.0, 0.1),
    QuantileImprovement(0.0),
    LinearHead(1.0, 1e300),
    LinearHead(0.0, 1.0),
    LinearHead(1.0, -3.0, 0.5),
]


def expected(mean: float, std: float, gain: Any, cuts: list[float]) -> float:
    """Integrate a function of a normal variable."""
    ends = sorted({mean - 12.0 * std, mean + 12.0 * std, *cuts})
    ends = [end for end in ends if mean - 12.0 * std <= end <= mean + 12.0 * std]
    return sum(
        quad(lambda f: gain(f) * norm.pdf(f, mean, std), *pair, epsabs=1e-13, epsrel=1e-11)[0]
        for pair in pairwise(ends)
    )


def sample(mean: float, std: float, n: int = 100_000) -> FloatArray:
    """Draw a normal variable, once from each of n equal shares."""
    shares = (np.arange(n) + np.random.default_rng(0).uniform(size=n)) / n
    return np.asarray(mean + std * ndtri(shares))


def one(head: MomentHead, mean: float, std: float) -> float:
    return float(head.score([mean], [std])[0])


# -- against integrals and samples -----------------------------------------------------------


@pytest.mark.parametrize(("mean", "std"), CASES)
def test_ei_is_the_expected_gain(mean: float, std: float) -> None:
    integral = expected(mean, std, lambda f: max(f - THRESHOLD, 0.0), [THRESHOLD])
    ei = one(ExpectedImprovement(THRESHOLD), mean, std)
    assert ei == pytest.approx(integral, rel=1e-8, abs=1e-13)
    assert one(ExpectedImprovement(THRESHOLD, log=True), mean, std) == pytest.approx(np.log(ei))
    assert ei == pytest.approx(np.maximum(sample(mean, std) - THRESHOLD, 0.0).mean(), abs=1e-3)


@pytest.mark.parametrize(("mean", "std"), CASES)
def test_nei_is_the_mean_of_ei_over_incumbents(mean: float, std: float) -> None:
    thresholds = (0.4, -0.3, 2.0)
    eis = [one(ExpectedImprovement(threshold), mean, std) for threshold in thresholds]
    head = NoisyImprovement(thresholds)
    assert one(head, mean, std) == pytest.approx(np.mean(eis), rel=1e-14)
    assert one(replace(head, log=True), mean, std) == pytest.approx(np.log(np.mean(eis)))
    assert NoisyImprovement((0.4,)).mean_at_level(std, 0.1) == pytest.approx(
        float(ExpectedImprovement(0.4).mean_at_level(std, 0.1)), rel=1e-9
    )


@pytest.mark.parametrize(("mean", "std"), CASES)
def test_pi_is_the_probability_of_a_gain(mean: float, std: float) -> None:
    integral = expected(mean, std, lambda f: float(f >= THRESHOLD), [THRESHOLD])
    head = ProbabilityOfImprovement(THRESHOLD)
    assert one(head, mean, std) == pytest.approx(integral, rel=1e-8, abs=1e-13)
    assert one(head, mean, std) == pytest.approx((sample(mean, std) >= THRESHOLD).mean(), abs=1e-3)


@pytest.mark.parametrize(("mean", "std"), CASES)
@pytest.mark.parametrize("noise", [0.0, 0.2, 3.0])
def test_aei_discounts_ei_by_the_share_of_noise(mean: float, std: float, noise: float) -> None:
    integral = expected(mean, std, lambda f: max(f - THRESHOLD, 0.0), [THRESHOLD])
    discounted = integral * (1.0 - noise / math.sqrt(std**2 + noise**2))
    assert one(AugmentedEI(THRESHOLD, noise), mean, std) == pytest.approx(
        discounted, rel=1e-8, abs=1e-13
    )


@pytest.mark.parametrize(("mean", "std"), CASES)
@pytest.mark.parametrize(("noise", "beta"), [(0.0, 0.9), (0.2, 0.5), (0.2, 0.9), (3.0, 0.75)])
def test_eqi_is_the_expected_gain_of_the_quantile_after_one_observation(
    mean: float, std: float, noise: float, beta: float
) -> None:
    def gain(observed: float) -> float:
        weight = std**2 / (std**2 + noise**2)
        later_mean = mean + weight * (observed - mean)
        later_std = std * math.sqrt(1.0 - weight)
        return max(norm.ppf(1.0 - beta, later_mean, max(later_std, 1e-12)) - THRESHOLD, 0.0)

    total = math.hypot(std, noise)
    cut = mean + (THRESHOLD - mean + ndtri(beta) * std * noise / total) * total**2 / std**2
    integral = expected(mean, total, gain, [cut])
    head = QuantileImprovement(THRESHOLD, noise, beta)
    assert one(head, mean, std) == pytest.approx(integral, rel=1e-7, abs=1e-11)


@pytest.mark.parametrize(("mean", "std"), CASES)
def test_mes_is_the_entropy_that_a_known_optimum_takes(mean: float, std: float) -> None:
    cut = (THRESHOLD - mean) / std

    def weight(z: float) -> float:
        return math.exp(norm.logpdf(z) - norm.logcdf(cut))

    low = min(cut, 0.0) - 12.0
    entropy = -sum(
        quad(lambda z: weight(z) * math.log(weight(z)), *ends, epsabs=1e-13, limit=200)[0]
        for ends in ((low, min(cut, -1.0)), (min(cut, -1.0), min(cut, 8.0)))
        if ends[1] > ends[0]
    )
    gained = 0.5 * math.log(2.0 * math.pi * math.e) - entropy
    assert one(MaxValueEntropy(THRESHOLD), mean, std) == pytest.approx(gained, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize(("mean", "std"), CASES)
def test_empirical_improvement_converges_to_the_normal_one(mean: float, std: float) -> None:
    members = mean + std * np.random.default_rng(1).standard_normal((1, 100_000))
    ei = EmpiricalImprovement(THRESHOLD, "ei").score(members)[0]
    pi = EmpiricalImprovement(THRESHOLD, "pi").score(members)[0]
    if one(ProbabilityOfImprovement(THRESHOLD), mean, std) > 0.05:
        assert ei == pytest.approx(one(ExpectedImprovement(THRESHOLD), mean, std), rel=0.01)
    assert pi == pytest.approx(one(ProbabilityOfImprovement(THRESHOLD), mean, std), abs=5e-3)


def test_empirical_improvement_divides_by_all_members_and_counts_ties() -> None:
    members = np.array([[0.0, 1.0, 3.0, -5.0], [1.0, 1.0, 1.0, 1.0]])
    assert EmpiricalImprovement(1.0, "ei").score(members).tolist() == [0.5, 0.0]
    assert EmpiricalImprovement(1.0, "pi").score(members).tolist() == [0.5, 1.0]
    slopes = EmpiricalImprovement(1.0, "ei").gradient(members)
    assert slopes.tolist() == [[0.0, 0.0, 0.25, 0.0], [0.0] * 4]
    assert not EmpiricalImprovement(1.0, "pi").gradient(members).any()


# -- against many digits -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("margin", "std", "ei"),
    [
        (-3.0, 0.1, 1.6319567340914829931e-200),
        (-1.0, 0.05, 6.8500624736480529528e-92),
        (0.0, 2.0, 0.79788456080286535588),
        (0.001, 1e-06, 0.0010000000000000000208),
        (-0.001, 0.0001, 7.4745602545893490484e-29),
        (5.0, 0.5, 5.0),
        (-0.37, 1.7, 0.50920205920094923144),
        (-30.0, 1.0, 1.6319567340914011894e-199),
    ],
)
def test_ei_has_twelve_digits_in_the_tail(margin: float, std: float, ei: float) -> None:
    assert one(ExpectedImprovement(0.0), margin, std) == pytest.approx(ei, rel=1e-12)
    assert one(ExpectedImprovement(0.0, log=True), margin, std) == pytest.approx(
        math.log(ei), rel=1e-14, abs=1e-14
    )
    level = ExpectedImprovement(0.0).mean_at_level(std, ei)
    assert abs(float(level) - margin) <= LEVEL_ERROR * (abs(margin) + std)


@pytest.mark.parametrize(
    ("u", "information"),
    [
        (-37.0, 3.9277376915430449865e-297),
        (-10.0, 3.9234978435948149338e-22),
        (-3.0, 0.0080075685279366894888),
        (-0.5, 0.49623652374791476452),
        (0.0, 0.69314718055994530942),
        (0.1, 0.73302371915372651599),
        (2.0, 1.4099688008591910815),
        (3.99, 1.9068239177419419801),
        (4.01, 1.9109469060843947167),
        (10.0, 2.7408189806999107641),
        (30.0, 3.8223489448380415513),
        (45.0, 4.226586854221478175),
    ],
)
def test_mes_has_twelve_digits_on_both_sides(u: float, information: float) -> None:
    head = MaxValueEntropy(0.0)
    assert one(head, u, 1.0) == pytest.approx(information, rel=1e-12)
    assert head.ratio_at_level(information) == pytest.approx(u, rel=1e-11, abs=1e-11)


@pytest.mark.parametrize(
    ("u", "log_pi"),
    [
        (-1000.0, -500007.8266948121843098),
        (-40.0, -804.6084420137537881666),
        (-10.0, -53.23128515051247057835),
        (-1.0, -1.841021645009263505771),
        (0.0, -0.6931471805599453094172),
        (1.0, -0.1727537790234498895265),
        (8.0, -6.220960574271786058534e-16),
    ],
)
def test_log_pi_tells_apart_what_pi_does_not(u: float, log_pi: float) -> None:
    head = ProbabilityOfImprovement(0.0)
    assert float(head.log_score(u, 1.0)) == pytest.approx(log_pi, rel=1e-13)
    assert abs(head.ratio_at_log_level(log_pi) - u) <= RATIO_ERROR * (1.0 + abs(u))
    if log_pi > -700.0 and u < 5.0:
        assert abs(head.ratio_at_level(math.exp(log_pi)) - u) <= RATIO_ERROR * (1.0 + abs(u))


# -- shapes and gradients ----------------------------------------------------------------------


def test_ei_is_jointly_convex_on_random_segments() -> None:
    rng, head = np.random.default_rng(0), ExpectedImprovement(0.2)
    ends = [(0.2 + 3.0 * rng.standard_normal(20_000), rng.exponential(1.0, 20_000)) for _ in "ab"]
    ends[0][1][:2_000] = 0.0
    share = rng.uniform(0.0, 1.0, 20_000)
    inner = [share * a + (1.0 - share) * b for a, b in zip(*ends, strict=True)]
    chord = share * head.score(*ends[0]) + (1.0 - share) * head.score(*ends[1])
    assert (head.score(*inner) <= chord + 1e-13 * (1.0 + chord)).all()
    # And strictly so: a test that a linear function would pass shows little.
    assert (head.score(*inner) < chord - 1e-6).mean() > 0.5


def test_log_ei_is_not_convex_but_has_the_level_sets_of_ei() -> None:
    head, log_head = ExpectedImprovement(0.0), ExpectedImprovement(0.0, log=True)
    ends = log_head.score([-1.0, 3.0], [0.1, 0.1])
    assert one(log_head, 1.0, 0.1) > ends.mean()
    std = np.geomspace(1e-3, 1e10, 60)
    for level in (1e-300, 1e-30, 1e-3, 0.2, 4.0):
        np.testing.assert_allclose(
            log_head.mean_at_level(std, math.log(level)),
            head.mean_at_level(std, level),
            rtol=1e-11,
        )


@pytest.mark.parametrize("head", MOMENT_HEADS, ids=str)
def test_gradients_are_difference_quotients(head: MomentHead) -> None:
    rng = np.random.default_rng(9)
    mean, std, step = rng.standard_normal(200), rng.uniform(0.2, 2.0, 200), 1e-6
    by_mean, by_std = head.gradient(mean, std)
    if isinstance(head, LinearHead):
        assert (by_mean == head.mean_weight).all()
        assert (by_std == min(head.std_weight, 1e150)).all()
        return
    mean_slope = (head.score(mean + step, std) - head.score(mean - step, std)) / (2.0 * step)
    std_slope = (head.score(mean, std + step) - head.score(mean, std - step)) / (2.0 * step)
    np.testing.assert_allclose(by_mean, mean_slope, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(by_std, std_slope, rtol=1e-6, atol=1e-9)


def test_log_ei_has_a_gradient_where_ei_has_none_left() -> None:
    log_head = ExpectedImprovement(0.0, log=True)
    by_mean, by_std = log_head.gradient([-1e3], [1.0])
    assert by_mean[0] == pytest.approx(1e3, rel=1e-5)
    assert by_std[0] == pytest.approx(1e6, rel=1e-5)
    assert not np.any(ExpectedImprovement(0.0).gradient([-1e3], [1.0]))


def test_the_level_of_ei_is_concave_in_the_std_so_that_chords_cut_nothing_off() -> None:
    head = ExpectedImprovement(0.3)
    std = np.linspace(0.0, 4.0, 401)
    for level in (1e-12, 0.01, 0.5, 3.0):
        means = head.mean_at_level(std, level)
        assert (np.diff(means, 2) <= 1e-12).all()
        np.testing.assert_allclose(head.score(means, std)[1:], level, rtol=1e-9)


def test_eqi_falls_and_rises_with_the_std() -> None:
    head = QuantileImprovement(0.0, 0.1, 0.9)
    assert head.std_trend is Trend.MIXED
    std = np.array([0.0, 0.05, 1.0])
    scores = head.score(0.2, std)
    assert scores[1] < scores[0] < scores[2]
    assert np.array_equal(head.largest(0.2, std, std), scores)


# -- edges ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("head", MOMENT_HEADS, ids=str)
def test_no_size_of_mean_or_std_gives_nan_or_a_warning(head: MomentHead) -> None:
    std = np.array([0.0, 1e-300, 1e-10, 0.1, 1.0, 1e10, 1e300])
    mean = np.array([-1e300, -1.0, -1e-8, 0.0, 1e-8, 1.0, 1e300])[:, None]
    assert not np.isnan(head.score(mean, std)).any()
    assert not np.isnan(head.largest(mean, 0.0 * std, std)).any()
    for slopes in head.gradient(mean, std):
        assert np.isfinite(slopes).all()
    for level in (-np.inf, -1e5, -1.0, 0.0, 1e-300, 0.5, 1.0, 5.0, 1e5, np.inf):
        assert not np.isnan(head.mean_at_level(std, level)).any()


def test_certain_points_score_what_they_gain() -> None:
    mean = np.array([-1.0, 0.0, 2.0])
    assert ExpectedImprovement(0.0).score(mean, 0.0).tolist() == [0.0, 0.0, 2.0]
    assert ExpectedImprovement(0.0, log=True).score(mean, 0.0).tolist() == pytest.approx(
        [-np.inf, -np.inf, np.log(2.0)]
    )
    assert ProbabilityOfImprovement(0.0).score(mean, 0.0).tolist() == [0.0, 1.0, 1.0]
    assert AugmentedEI(0.0).score(mean, 0.0).tolist() == [0.0, 0.0, 2.0]
    assert AugmentedEI(0.0, 0.1).score(mean, 0.0).tolist() == [0.0, 0.0, 0.0]
    assert QuantileImprovement(0.0, 0.1).score(mean, 0.0).tolist() == [0.0, 0.0, 2.0]
    assert MaxValueEntropy(0.0).score(mean, 0.0).tolist() == [0.0, CEILING, CEILING]


def test_levels_that_every_mean_reaches_and_levels_of_certain_points() -> None:
    head, log_head = ExpectedImprovement(0.5), ExpectedImprovement(0.5, log=True)
    for level in (0.0, -1.0):
        assert head.mean_at_level([0.0, 1.0], level).tolist() == [-np.inf, -np.inf]
    assert log_head.mean_at_level([0.0, 1.0], -np.inf).tolist() == [-np.inf, -np.inf]
    assert head.mean_at_level(0.0, 2.0) == log_head.mean_at_level(0.0, math.log(2.0)) == 2.5
    assert AugmentedEI(0.5, 0.1).mean_at_level(0.0, 1e-9) == np.inf


def test_slopes_at_certain_points_are_limits() -> None:
    by_mean, by_std = ExpectedImprovement(0.0).gradient([-1.0, 0.0, 2.0], 0.0)
    assert by_mean.tolist() == [0.0, 0.5, 1.0]
    assert by_std == pytest.approx([0.0, norm.pdf(0.0), 0.0])
    by_mean, by_std = ExpectedImprovement(0.0, log=True).gradient([-1.0, 0.0, 2.0], 0.0)
    assert by_mean.tolist() == [0.0, 0.0, 0.5]
    assert by_std.tolist() == [0.0, 0.0, 0.0]


def test_ratios_at_levels_that_all_or_none_reach() -> None:
    pi, mes = ProbabilityOfImprovement(0.0), MaxValueEntropy(0.0)
    assert pi.ratio_at_level(0.0) == pi.ratio_at_level(-1.0) == -math.inf
    assert pi.ratio_at_level(1.0) == pi.ratio_at_level(1.5) == math.inf
    assert mes.ratio_at_level(0.0) == mes.ratio_at_level(-1.0) == -math.inf
    assert mes.ratio_at_level(CEILING) == pytest.approx(LARGEST_U)
    assert mes.ratio_at_level(CEILING + 1.0) == math.inf
    assert pi.mean_at_level([0.0, 2.0], 0.5).tolist() == [0.0, 0.0]
    assert pi.log_score([-1.0, 0.0, 1.0], 0.0).tolist() == [-np.inf, 0.0, 0.0]
    assert pi.mean_at_level([[0.0], [1.0]], [0.5, 2.0]).tolist() == [[0.0, np.inf]] * 2


def test_a_huge_beta_keeps_the_order_of_stds() -> None:
    scores = LinearHead(1.0, 1e300).score([5.0, 0.0, -5.0], [0.1, 0.2, 0.3])
    assert (np.diff(scores) > 0.0).all()
    assert np.isfinite(LinearHead(1.0, 1e300).score(0.0, 1e300))
    assert LinearHead(1e300, -1e300).score(1e300, 1e300) == 0.0


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, None, "0"])
def test_numbers_that_are_none_make_no_head(bad: Any) -> None:
    for kind in (ExpectedImprovement, ProbabilityOfImprovement, MaxValueEntropy, AugmentedEI):
        with pytest.raises(InputError, match="threshold"):
            kind(bad)
    for kind in (QuantileImprovement, EmpiricalImprovement):
        with pytest.raises(InputError, match="threshold"):
            kind(bad)
    with pytest.raises(InputError, match="std_weight"):
        LinearHead(1.0, bad)


def test_options_of_heads_are_checked() -> None:
    for make in (
        lambda: LinearHead(-1.0),
        lambda: AugmentedEI(0.0, -0.1),
        lambda: QuantileImprovement(0.0, beta=0.4),
        lambda: QuantileImprovement(0.0, beta=1.0),
        lambda: EmpiricalImprovement(0.0, "ucb"),
    ):
        with pytest.raises(InputError):
            make()
