"""KLIEP and least squares against ratios that are known."""

from __future__ import annotations

import numpy as np
import pytest

from nnbo_mip.surrogates.ratios.estimators.kernel_odds import KernelOdds, kernel
from nnbo_mip.surrogates.ratios.estimators.kliep import Kliep
from nnbo_mip.surrogates.ratios.estimators.labels import Labels
from nnbo_mip.surrogates.ratios.estimators.ulsif import (
    Ulsif,
    fitted_weights,
    loss,
    moments,
    relative,
)

RNG = np.random.default_rng(0)
GOOD, BAD = RNG.normal(0.3, 0.15, (150, 1)), RNG.uniform(-1.0, 1.0, (300, 1))
X = np.vstack([GOOD, BAD])
LABELS = Labels(np.arange(450) < 150, 1.0 / 3.0)
LINE = np.linspace(-0.8, 0.8, 81)[:, None]
EXACT = np.exp(-0.5 * ((LINE[:, 0] - 0.3) / 0.15) ** 2) / (0.15 * np.sqrt(2.0 * np.pi)) / 0.5


def estimate(name: str) -> KernelOdds:
    made = {"kliep": Kliep(), "ulsif": Ulsif(), "rulsif": relative()}[name]
    return made.estimate(X, LABELS, seed=0)


@pytest.mark.parametrize("name", ["kliep", "ulsif"])
def test_plain_ratios_are_near_the_exact_one(name: str) -> None:
    found = estimate(name).plain_ratio(LINE)
    assert np.corrcoef(found, EXACT)[0, 1] > 0.9
    assert np.abs(found - EXACT).mean() < 0.35 * np.abs(1.0 - EXACT).mean()
    assert LINE[found.argmax(), 0] == pytest.approx(0.3, abs=0.1)


def test_the_relative_ratio_is_near_the_exact_one() -> None:
    found = estimate("rulsif").plain_ratio(LINE)
    share = LABELS.share
    assert np.abs(found - EXACT / (share * EXACT + 1.0 - share)).mean() < 0.2
    assert LINE[found.argmax(), 0] == pytest.approx(0.3, abs=0.1)


def test_kliep_has_mean_one_over_the_bad_points_and_no_better_weights_nearby() -> None:
    made, width = Kliep(iterations=3000), 0.2
    weights = made.weights(GOOD, BAD, width)
    felt = kernel(BAD, GOOD, width)
    assert (weights >= 0.0).all()
    assert (felt @ weights).mean() == pytest.approx(1.0, abs=1e-9)

    def likelihood(w: np.ndarray) -> float:  # type: ignore[type-arg]
        w = w / (felt @ w).mean()
        return float(np.log(kernel(GOOD, GOOD, width) @ w).mean())

    best, rng = likelihood(weights), np.random.default_rng(1)
    for _ in range(50):
        assert likelihood(weights * np.exp(0.3 * rng.normal(size=150))) < best + 1e-4


def test_least_squares_are_least() -> None:
    H, h = moments(GOOD, BAD, GOOD[:20], 0.2, 0.3)
    weights = np.linalg.solve(H + 0.01 * np.eye(20), h)
    assert fitted_weights(H, h, 0.01) == pytest.approx(np.maximum(weights, 0.0))
    penalized = loss(weights, H + 0.01 * np.eye(20), h)
    rng = np.random.default_rng(2)
    for _ in range(20):
        other = weights + 0.1 * rng.normal(size=20)
        assert loss(other, H + 0.01 * np.eye(20), h) > penalized
