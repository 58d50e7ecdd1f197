"""Figures of the sources that only the right functions, domains and scalings give."""

from __future__ import annotations

import numpy as np
import pytest

from tests.problems.catalogue import create

# Smallest regrets on linspace(-1, 1, 2000), resp. on 200 x 200 points, in scaled units.
SMALLEST = [
    ("forrester", "8.2547e-7 6.6958e-6 1.9446e-5 3.6952e-5 6.2660e-5"),
    ("levy:dimension=1,source=004", "1.7626e-6 2.6331e-6 1.8301e-5 2.0912e-5 5.2249e-5"),
    ("sinone", "1.8039e-5 4.2875e-5 2.2659e-4 3.0038e-4 6.6914e-4"),
    ("branin", "1.370e-6 2.113e-5 2.420e-5"),
    ("rosenbrock", "7.81e-8 8.77e-8 1.77e-7"),
    ("camelback", "1.022e-5 1.022e-5 1.157e-5 1.157e-5 4.240e-5"),
    ("perm", "2.797e-6 2.861e-6 5.121e-6"),
    ("goldstein_price", "6.58e-7 1.21e-6 2.42e-6"),
]

# Medians of final regrets: single grid regrets, and means of two neighbours in the order.
SINGLE = [
    ("forrester", "8.25e-7 6.70e-6 6.27e-5"),
    ("levy:dimension=1,source=004", "1.76e-6 2.09e-5 5.66e-5 1.04e-4"),
    ("sinone", "1.80e-5 3.00e-4 6.69e-4 7.90e-4"),
]
MIDPOINTS = [
    ("forrester", "2.82e-5 4.98e-5"),
    ("levy:dimension=1,source=004", "2.20e-6 3.75e-5 5.44e-5"),
    ("sinone", "5.45e-4 7.29e-4"),
]

# Scaled mean best regret of 8 and of 72 uniform points.
RANDOM_SCALED = [
    ("branin", 4.3e-2, 4.6e-3),
    ("rosenbrock", 1.5e-3, 2.8e-5),
    ("camelback", 1.7e-2, 3.3e-3),
    ("perm", 1.0e-1, 4.6e-3),
    ("goldstein_price:source=000", 8.7e-4, 5.2e-5),
    ("goldstein_price:source=004", 8.7e-4 * 13.2, 6.8e-4),
]

# Mean best regret of 200 uniform points, in units of y.
RANDOM_RAW = [
    ("bohachevsky", 92.0),
    ("branin", 0.254),
    ("camelback", 0.102),
    ("goldstein_price", 9.96),
    ("hartmann3:source=000", 0.155),
    ("hartmann6", 1.03),
    ("levy:dimension=2,source=000", 0.287),
    ("levy:dimension=5,source=000", 7.3),
    ("levy:dimension=10,source=000", 41.4),
    ("rosenbrock:dimension=2,source=000", 3.9),
    ("rosenbrock:dimension=5,source=000", 2990.0),
    ("sintwo", 0.0063),
]


def on_grid(spec: str) -> np.ndarray:
    scaled = create(spec).scaled()
    axis = np.linspace(-1.0, 1.0, 2000 if scaled.domain.dimension == 1 else 200)
    axes = np.meshgrid(*[axis] * scaled.domain.dimension, indexing="ij")
    return np.sort(scaled.regret(np.stack([a.ravel() for a in axes], axis=1)))


@pytest.mark.parametrize(("spec", "printed"), SMALLEST)
def test_smallest_regrets_on_the_grid(spec, printed) -> None:
    expected = printed.split()
    assert rounded(on_grid(spec)[: len(expected)], expected) == [float(text) for text in expected]


@pytest.mark.parametrize(("spec", "printed"), SINGLE)
def test_medians_that_are_regrets_of_the_grid(spec, printed) -> None:
    smallest = on_grid(spec)[:12]
    for text in printed.split():
        assert float(text) in rounded(smallest, [text] * smallest.size)


@pytest.mark.parametrize(("spec", "printed"), MIDPOINTS)
def test_medians_that_are_means_of_two_regrets(spec, printed) -> None:
    smallest = on_grid(spec)[:12]
    means = np.array([0.5 * (one + other) for one in smallest for other in smallest])
    for text in printed.split():
        assert float(text) in rounded(means, [text] * means.size)


@pytest.mark.parametrize(("spec", "after_8", "after_72"), RANDOM_SCALED)
def test_random_search_in_scaled_units(spec, after_8, after_72) -> None:
    scaled = create(spec).scaled()
    U = np.random.default_rng(5).uniform(-1.0, 1.0, size=(2000 * 72, 2))
    regrets = scaled.regret(U).reshape(2000, 72)
    # Printed with two digits; the standard error of 2000 runs is about three percent.
    assert regrets[:, :8].min(axis=1).mean() == pytest.approx(after_8, rel=0.15)
    assert regrets.min(axis=1).mean() == pytest.approx(after_72, rel=0.15)


@pytest.mark.parametrize(("spec", "after_200"), RANDOM_RAW)
def test_random_search_in_units_of_y(spec, after_200) -> None:
    problem = create(spec)
    box = problem.space.numeric()
    X = np.random.default_rng(11).uniform(box.lower, box.upper, size=(400 * 200, box.dimension))
    best = problem.regret(X).reshape(400, 200).min(axis=1)
    assert best.mean() == pytest.approx(after_200, rel=0.2)


def rounded(values: np.ndarray, like: list[str]) -> list[float]:
    """Round to as many digits as each printed number has."""
    digits = [len(text.split("e")[0].replace(".", "")) for text in like]
    return [float(f"{value:.{n - 1}e}") for value, n in zip(values, digits, strict=True)]
