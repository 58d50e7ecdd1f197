"""Density ratios of two known densities: which estimator finds the shape, and where the peak is.

Good points have the density l = 0.3 N(2, 1) + 0.7 N(-3, 0.5), bad ones g = N(0, 2). The relative
ratio l / (gamma l + (1 - gamma) g) is largest near -3.2. Points are divided by 8.
"""

from __future__ import annotations

import numpy as np
from scipy.stats import norm

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.surrogates.ratios.estimators.catalogue import registry
from nnbo_mip.surrogates.ratios.estimators.labels import Labels, ratio_of_odds
from nnbo_mip.surrogates.ratios.estimators.odds import Odds
from nnbo_mip.surrogates.ratios.estimators.parzen import Parzen, ParzenOdds

REACH = 8.0
"""Points lie in [-8, 8]."""

GRID = np.linspace(-6.0, 6.0, 4801)

ESTIMATORS = {
    "net, 2 x 32": "net:epochs=1000",
    "net, 3 x 32": "net:hidden=(32,32,32),epochs=1000",
    "forest": "forest:min_leaf=20",
    "boosting": "boosting",
    "SVM": "svm",
    "KLIEP": "kliep",
    "uLSIF": "ulsif",
    "RuLSIF": "rulsif",
}
"""By the names of the table; the kernel densities of TPE come last."""


def good_density(x: FloatArray) -> FloatArray:
    """Return l."""
    return np.asarray(0.3 * norm.pdf(x, 2.0, 1.0) + 0.7 * norm.pdf(x, -3.0, 0.5))


def bad_density(x: FloatArray) -> FloatArray:
    """Return g."""
    return np.asarray(norm.pdf(x, 0.0, 2.0))


def exact_ratio(x: FloatArray, gamma: float) -> FloatArray:
    """Return the relative ratio."""
    good = good_density(x)
    return np.asarray(good / (gamma * good + (1.0 - gamma) * bad_density(x)))


def drawn(n: int, gamma: float, seed: int) -> tuple[FloatArray, Labels]:
    """Return n points, the share gamma of them good."""
    rng = np.random.default_rng(seed)
    count = round(gamma * n)
    wide = rng.uniform(size=count) < 0.3
    good = np.where(wide, rng.normal(2.0, 1.0, count), rng.normal(-3.0, 0.5, count))
    points = np.append(good, rng.normal(0.0, 2.0, n - count))
    inside = np.abs(points) < REACH
    labels = (np.arange(n) < count)[inside]
    return points[inside, None] / REACH, Labels(labels, float(labels.mean()))


def kernel_densities(X: FloatArray, labels: Labels) -> Odds:
    """Return the ratio of two Parzen densities, as TPE has it, without its uniform component."""
    good, bad = (Parzen.of(X[mask], 1.0, 0.0, "scott") for mask in (labels.good, ~labels.good))
    return ParzenOdds(good, bad, labels.share)


def errors(odds: Odds, share: float) -> tuple[float, float]:
    """Return how far the peak is from the exact one, and the mean error of the ratio under l."""
    found = odds.mean(GRID[:, None] / REACH)
    exact = exact_ratio(GRID, share)
    peak = float(np.median(GRID[found == found.max()]))
    weights = good_density(GRID) / good_density(GRID).sum()
    error = float((weights * np.abs(ratio_of_odds(found, share) - exact)).sum())
    return abs(peak - float(GRID[exact.argmax()])), error


def toy_rows(n: int, gamma: float, seeds: int) -> dict[str, list[tuple[float, float]]]:
    """Return the errors of every estimator for every seed."""
    rows: dict[str, list[tuple[float, float]]] = {name: [] for name in ESTIMATORS}
    rows["kernel densities"] = []
    for seed in range(seeds):
        X, labels = drawn(n, gamma, seed)
        for name, spec in ESTIMATORS.items():
            odds = registry.create(spec).estimate(X, labels, seed)
            rows[name].append(errors(odds, labels.share))
        rows["kernel densities"].append(errors(kernel_densities(X, labels), labels.share))
    return rows
