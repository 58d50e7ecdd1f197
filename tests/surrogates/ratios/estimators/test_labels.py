"""Labels, the relation of ratios, and the identity of expected improvement and a ratio."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.stats import norm

from nnbo_mip.surrogates.ratios.estimators.labels import (
    SURE,
    Labels,
    odds_of_probability,
    odds_of_ratio,
    ratio_of_odds,
    slope_of_odds,
)


@pytest.mark.parametrize("n", [3, 4, 5, 10, 37, 200])
@pytest.mark.parametrize("gamma", [0.05, 0.15, 1 / 3, 0.5, 0.9])
def test_the_share_of_good_ones_is_gamma_and_both_classes_have_members(
    n: int, gamma: float
) -> None:
    y = np.random.default_rng(n).normal(size=n)
    labels = Labels.of(y, gamma)
    assert abs(labels.good.mean() - gamma) < 1.0 / n
    assert 0 < labels.good.sum() < n
    assert labels.share == labels.good.mean()
    assert y[labels.good].min() > y[~labels.good].max()


@pytest.mark.parametrize(
    ("n", "annealing", "good"), [(8, 0.5, 4), (40, 0.0, 20), (40, 0.5, 10), (40, 1.0, 5)]
)
def test_an_annealed_share_shrinks_from_ten_observations_on(
    n: int, annealing: float, good: int
) -> None:
    y = np.random.default_rng(n).normal(size=n)
    assert Labels.of(y, 0.5, annealing).good.sum() == good


@pytest.mark.parametrize(
    ("y", "good"),
    [
        ([5.0], [True]),
        ([2.0, 2.0, 2.0], [True, True, True]),
        ([1.0, 2.0], [False, True]),
        ([0.0, 0.0, 0.0, 0.0, 1.0], [False, False, False, False, True]),
        ([0.0, 1.0, 1.0, 1.0, 1.0], [False, True, True, True, True]),
        ([3.0, 1.0, 1.0, 0.0, 0.0, 0.0], [True, False, False, False, False, False]),
    ],
)
def test_ties_go_where_the_share_is_nearer(y: list[float], good: list[bool]) -> None:
    assert Labels.of(y, 0.3).good.tolist() == good


def test_only_ranks_matter() -> None:
    y = np.random.default_rng(0).normal(size=50)
    assert np.array_equal(Labels.of(y, 0.2).good, Labels.of(np.exp(3.0 * y), 0.2).good)


def test_nothing_known_is_a_ratio_of_one() -> None:
    labels = Labels.of([1.0, 1.0], 0.25)
    assert labels.are_all_good
    assert ratio_of_odds(np.array([labels.prior_odds]), labels.share) == pytest.approx([1.0])


def good_density(x: np.ndarray) -> np.ndarray:  # type: ignore[type-arg]
    return np.asarray(0.3 * norm.pdf(x, 2.0, 1.0) + 0.7 * norm.pdf(x, -3.0, 0.5))


def bad_density(x: np.ndarray) -> np.ndarray:  # type: ignore[type-arg]
    return np.asarray(norm.pdf(x, 0.0, 2.0))


@pytest.mark.parametrize("gamma", [0.25, 1 / 3, 0.5])
def test_relative_ratios_of_the_toy_are_the_probabilities_over_gamma(gamma: float) -> None:
    x = np.linspace(-8.0, 8.0, 500)
    l, g = good_density(x), bad_density(x)  # noqa: E741 - the names of the densities
    odds = odds_of_ratio(l / g, gamma)
    relative = ratio_of_odds(odds, gamma)
    assert relative == pytest.approx(l / (gamma * l + (1.0 - gamma) * g), rel=1e-12)
    assert relative == pytest.approx(1.0 / (gamma + (1.0 - gamma) * g / l), rel=1e-12)
    assert relative.max() <= 1.0 / gamma
    probability = gamma * l / (gamma * l + (1.0 - gamma) * g)
    assert gamma * relative == pytest.approx(probability, rel=1e-12)
    assert np.array_equal(np.argsort(relative), np.argsort(l / g))


@pytest.mark.parametrize(
    ("gamma", "peak", "probability"), [(0.25, 3.024, 0.756), (1 / 3, 2.469, 0.823)]
)
def test_the_numbers_of_the_toy(gamma: float, peak: float, probability: float) -> None:
    def relative(x: float) -> float:
        at = np.array([x])
        return -float(
            ratio_of_odds(odds_of_ratio(good_density(at) / bad_density(at), gamma), gamma)[0]
        )

    found = minimize_scalar(relative, bounds=(-4.0, -2.0), method="bounded")
    assert found.x == pytest.approx(-3.2, abs=5e-3)
    assert -found.fun == pytest.approx(peak, abs=1e-3)
    assert -gamma * found.fun == pytest.approx(probability, abs=1e-3)
    plain = minimize_scalar(
        lambda x: -float(good_density(np.array([x]))[0] / bad_density(np.array([x]))[0]),
        bounds=(-4.0, -2.0),
        method="bounded",
    )
    assert -plain.fun == pytest.approx(9.296, abs=1e-3)


def test_expected_improvement_is_proportional_to_the_relative_ratio() -> None:
    # y is standard normal and wanted large; x | y is l above tau and g below: the model of TPE.
    rng, gamma, n = np.random.default_rng(0), 0.25, 2_000_000
    tau = norm.ppf(1.0 - gamma)
    y = rng.normal(size=n)
    is_good = y > tau
    wide = rng.uniform(size=n) < 0.3
    from_good = np.where(wide, rng.normal(2.0, 1.0, n), rng.normal(-3.0, 0.5, n))
    x = np.where(is_good, from_good, rng.normal(0.0, 2.0, n))
    edges = np.linspace(-5.0, 5.0, 41)
    cells = np.digitize(x, edges) - 1
    inside = (cells >= 0) & (cells < 40)
    counts = np.bincount(cells[inside], minlength=40)
    gains = np.bincount(cells[inside], weights=np.maximum(y - tau, 0.0)[inside], minlength=40)
    improvement = gains / counts
    fine = np.linspace(-5.0, 5.0, 40_001)[:-1].reshape(40, 1000)
    l, g = good_density(fine).mean(axis=1), bad_density(fine).mean(axis=1)  # noqa: E741
    relative = l / (gamma * l + (1.0 - gamma) * g)
    assert np.corrcoef(improvement, relative)[0, 1] > 0.999


def test_log_odds_go_on_rising_where_estimates_leave_the_unit_interval() -> None:
    p = np.linspace(-0.2, 1.2, 4001)
    odds = odds_of_probability(p)
    assert (np.diff(odds) > 0.0).all()
    inner = (p > SURE) & (p < 1.0 - SURE)
    assert odds[inner] == pytest.approx(np.log(p[inner] / (1.0 - p[inner])))
    numeric = np.gradient(odds, p)
    assert slope_of_odds(p)[1:-1] == pytest.approx(numeric[1:-1], rel=0.2)
