"""What deviations are multiplied by, from values that a model did not see."""

from __future__ import annotations

import numpy as np
import pytest

import nnbo_mip as nm
from nnbo_mip.loop.judging.calibration import calibration, factor, left_out
from nnbo_mip.loop.step.training_set import TrainingSet

RNG = np.random.default_rng(3)


def sample(n: int = 12) -> TrainingSet:
    X = RNG.uniform(-1.0, 1.0, (n, 2))
    y = np.sin(3.0 * X[:, 0]) + X[:, 1] ** 2
    return TrainingSet(X, y, None, None, np.ones(n, dtype=np.bool_))


def test_a_left_out_value_is_what_a_process_says_that_never_saw_it() -> None:
    data = sample()
    surrogate = nm.surrogates.create(
        "gp", amplitude_bounds="fixed", length_scale_bounds="fixed", normalize=False, alpha=1e-4
    )
    z = left_out(surrogate.fit(data.X, data.y))
    for i in range(len(z)):
        others = np.arange(len(z)) != i
        belief = surrogate.fit(data.X[others], data.y[others])
        spread = np.hypot(belief.std(data.X[i : i + 1]), 1e-2)
        direct = (data.y[i] - belief.mean(data.X[i : i + 1])) / spread
        assert z[i] == pytest.approx(float(direct[0]), rel=1e-4)


def test_deviations_are_never_made_smaller() -> None:
    assert factor(np.full(20, 0.1)) == 1.0
    assert factor(np.empty(0)) == 1.0
    assert factor(np.array([np.nan, np.inf])) == 1.0


def test_wide_residuals_and_single_ones_count() -> None:
    assert factor(3.0 * RNG.standard_normal(10_000)) == pytest.approx(3.0, rel=0.2)
    lone = np.append(np.zeros(39), 25.0)
    assert factor(lone) == pytest.approx(25.0 / 2.5, rel=0.02)


def test_normal_residuals_change_little() -> None:
    found = [factor(RNG.standard_normal(40)) for _ in range(200)]
    assert np.median(found) < 1.15


@pytest.mark.parametrize("family", ["brvfl:n_hidden=20", "elm:n_hidden=8"])
def test_other_families_learn_anew(family: str) -> None:
    data = sample(16)
    surrogate = nm.surrogates.create(family, seed=0)
    belief = surrogate.fit(data.X, data.y)
    shrunk = belief.scaled(1e-3)

    def fit(X: object, y: object, noise: object) -> nm.surrogates.Belief:
        return surrogate.fit(X, y).scaled(1e-3)  # type: ignore[arg-type]

    assert calibration(shrunk, data, fit) > 10.0  # type: ignore[arg-type]
