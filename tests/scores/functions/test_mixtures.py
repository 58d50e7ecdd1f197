"""Scores of mixtures: closed forms, integrals, samples, quantiles."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from nnbo_mip.core.errors import InputError
from nnbo_mip.scores.functions.improvement import ExpectedImprovement
from nnbo_mip.scores.functions.mixtures import (
    MixtureImprovement,
    MixtureQuantile,
    SampledImprovement,
    distribution,
    quantiles,
)
from nnbo_mip.scores.functions.probability import ProbabilityOfImprovement

RNG = np.random.default_rng(0)
WEIGHTS = RNG.dirichlet(np.ones(4), 6)
MEANS = RNG.normal(size=(6, 4))
STDS = RNG.uniform(0.1, 1.5, (6, 4))
ONE = np.ones((6, 1))


def test_expected_improvement_is_the_integral() -> None:
    scores = MixtureImprovement(0.3).score(WEIGHTS, MEANS, STDS)
    for score, g, m, s in zip(scores, WEIGHTS, MEANS, STDS, strict=True):
        gain = quad(lambda y, *a: (y - 0.3) * (a[0] * norm.pdf(y, a[1], a[2])).sum(), 0.3, 15.0,
                    args=(g, m, s), epsabs=1e-11, limit=200)[0]  # fmt: skip
        assert score == pytest.approx(gain, abs=1e-8)


def test_one_component_is_the_normal_score() -> None:
    mean, std = MEANS[:, :1], STDS[:, :1]
    for mixed, plain in (
        (MixtureImprovement(0.3), ExpectedImprovement(0.3)),
        (MixtureImprovement(0.3, "pi"), ProbabilityOfImprovement(0.3)),
    ):
        assert np.array_equal(mixed.score(ONE, mean, std), plain.score(mean, std)[:, 0])
    for level, beta in ((0.841, 0.9986), (0.999, 3.0902), (0.3, -0.5244)):
        bound = MixtureQuantile(level).score(ONE, mean, std)
        np.testing.assert_allclose(bound, (mean + beta * std)[:, 0], atol=2e-4)


def test_samples_approach_the_exact_score_as_the_root_of_their_number() -> None:
    exact = MixtureImprovement(0.3).score(WEIGHTS, MEANS, STDS)
    errors = []
    for count in (50, 5000):
        off = [
            SampledImprovement(0.3, count, seed).score(WEIGHTS, MEANS, STDS) - exact
            for seed in range(12)
        ]
        errors.append(float(np.sqrt(np.square(off).mean())))
    assert 5.0 < errors[0] / errors[1] < 20.0  # ten, but for chance
    assert errors[1] < 0.02


def test_the_quantile_inverts_the_distribution() -> None:
    for level in (0.01, 0.5, 0.841, 0.999):
        q = quantiles(level, WEIGHTS, MEANS, STDS)
        np.testing.assert_allclose(distribution(q, WEIGHTS, MEANS, STDS), level, atol=1e-12)


def test_the_quantile_of_members_is_the_least_that_reaches_the_level() -> None:
    values = np.array([[1.0, 2.0, 3.0, 4.0]])
    shares, zeros = np.full((1, 4), 0.25), np.zeros((1, 4))
    for level, expected in ((0.2, 1.0), (0.5, 2.0), (0.6, 3.0), (0.99, 4.0)):
        q = quantiles(level, shares, values, zeros)
        assert q[0] == pytest.approx(expected)
        by_weight, by_mean, by_std = MixtureQuantile(level).gradient(shares, values, zeros)
        assert by_mean[0].tolist() == [float(value == expected) for value in values[0]]
        assert not by_weight.any()
        assert not by_std.any()


def test_a_component_without_weight_has_no_say() -> None:
    shares = np.array([[1.0, 0.0]])
    means, stds = np.array([[0.0, 1e9]]), np.array([[1.0, 1.0]])
    assert quantiles(0.841, shares, means, stds)[0] == pytest.approx(0.9986, abs=1e-4)


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: MixtureImprovement(np.nan), "threshold"),
        (lambda: MixtureImprovement(0.0, "ucb"), "ei, pi"),
        (lambda: SampledImprovement(0.0, 0), "n_samples"),
        (lambda: MixtureQuantile(1.0), "level"),
        (lambda: MixtureQuantile(0.5, np.inf), "constant"),
    ],
)
def test_numbers_that_are_none_are_refused(make: object, match: str) -> None:
    with pytest.raises(InputError, match=match):
        make()  # type: ignore[operator]
