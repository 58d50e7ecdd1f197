"""Kernel density regression: the contract, Nadaraya and Watson, widths, equivariance."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from nnbo_mip.core.errors import InputError
from nnbo_mip.surrogates.densities.held_out import DELTAS
from nnbo_mip.surrogates.densities.kde import Kde
from nnbo_mip.testing.surrogate_contract import SurrogateContract, sample


class TestKde(SurrogateContract):
    def make(self, **options: Any) -> Kde:
        return Kde(candidates=18, **options)


class TestNormalBlend(SurrogateContract):
    def make(self, **options: Any) -> Kde:
        return Kde(candidates=18, blend="normal", **options)


def test_the_mean_is_alpha_times_nadaraya_watson() -> None:
    X, y = sample(20, 2)
    probes = np.random.default_rng(3).uniform(-1.0, 1.0, (50, 2))
    belief = Kde(candidates=18).fit(X, y)
    width = 1.0 / belief.joint.whiteners[0, 0, 0]  # type: ignore[attr-defined]
    u, points = (X - X.mean(axis=0)) / X.std(axis=0), (probes - X.mean(axis=0)) / X.std(axis=0)
    v = (y - y.mean()) / y.std()
    squares = np.square(points[:, None] - u).sum(axis=2)
    kernels = np.exp(-0.5 * squares / width**2)
    average = kernels @ v / kernels.sum(axis=1)
    density = kernels.mean(axis=1) / (2.0 * np.pi * width**2)
    s = 20 * density * belief.background.delta
    alpha = s / (s + 1.0)
    np.testing.assert_allclose(belief.mean(probes), y.mean() + y.std() * alpha * average)


def test_the_widths_score_nearly_as_well_as_any_of_a_dense_grid() -> None:
    rng = np.random.default_rng(0)
    X = rng.uniform(-1.0, 1.0, (30, 1))
    y = np.sin(3.0 * X[:, 0]) + 0.1 * rng.standard_normal(30)
    u, v = (X - X.mean(axis=0)) / X.std(axis=0), (y - y.mean()) / y.std()
    chosen = Kde()._tuned(u, v)
    # The same by hand, one observation left out after the other with 30 folds.
    scores = [
        _left_out(u[:, 0], v, x_width, y_width, delta)
        for x_width in np.geomspace(0.04, 0.5, 7)
        for y_width in np.geomspace(0.04, 0.5, 7)
        for delta in DELTAS[::2]
    ]
    assert chosen.score >= max(scores) - 0.02
    assert chosen.score == pytest.approx(_left_out(u[:, 0], v, *chosen.setting, chosen.delta))
    assert chosen == Kde()._tuned(u, v)


def test_a_narrow_hyper_prior_decides_and_a_wide_one_changes_nothing() -> None:
    X, y = sample(20, 2)
    u, v = (X - X.mean(axis=0)) / X.std(axis=0), (y - y.mean()) / y.std()
    narrow = Kde(hyper_prior=0.02, candidates=800)._tuned(u, v)
    np.testing.assert_allclose(narrow.setting, 20.0 ** (-1.0 / 7.0), rtol=0.05)
    assert narrow.delta == pytest.approx(1.0)
    assert Kde(hyper_prior=1e6)._tuned(u, v).setting == Kde()._tuned(u, v).setting


def _left_out(u: Any, v: Any, x_width: float, y_width: float, delta: float) -> float:
    n = len(v)

    def normal(z: Any, width: float) -> Any:
        return np.exp(-0.5 * np.square(z / width)) / (width * np.sqrt(2.0 * np.pi))

    total = 0.0
    for i in range(n):
        rest = np.arange(n) != i
        at_u = normal(u[i] - u[rest], x_width)
        joint, marginal = (at_u * normal(v[i] - v[rest], y_width)).mean(), at_u.mean()
        weight = (n - 1) * delta
        blended = (weight * joint + normal(v[i], 10.0)) / (weight * marginal + 1.0)
        total += np.log(blended)
    return float(total / n)


def test_another_unit_of_y_changes_the_unit_and_nothing_else() -> None:
    X, y = sample(15, 2)
    probes = np.random.default_rng(3).uniform(-1.0, 1.0, (30, 2))
    plain = Kde(candidates=18).fit(X, y)
    other = Kde(candidates=18).fit(X, 7.0 - 3.0 * y)  # a reflection, too
    np.testing.assert_allclose(other.mean(probes), 7.0 - 3.0 * plain.mean(probes))
    np.testing.assert_allclose(other.std(probes), 3.0 * plain.std(probes))
    values = plain.mean(probes) + 0.3
    np.testing.assert_allclose(
        other.mixture(probes).log_density(7.0 - 3.0 * values),
        plain.mixture(probes).log_density(values) - np.log(3.0),
    )


def test_far_from_the_data_only_the_background_is_left() -> None:
    X, y = sample(12, 2)
    belief = Kde(candidates=18, background=4.0).fit(X, y)
    assert belief.mean([[40.0, -40.0]])[0] == pytest.approx(y.mean())
    assert belief.std([[40.0, -40.0]])[0] == pytest.approx(2.0 * y.std())


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"x_width": (0.3, 0.1)}, "x_width must be"),
        ({"y_width": 0.1}, "each end of y_width"),
        ({"delta": 0.0}, "delta"),
        ({"delta": "tuned"}, "delta"),
        ({"background": -1.0}, "background"),
        ({"blend": "sum"}, "mixture, normal"),
        ({"folds": 1}, "folds"),
        ({"candidates": 3}, "candidates"),
        ({"hyper_prior": -1.0}, "hyper_prior"),
        ({"seed": -1}, "seed"),
    ],
)
def test_options_that_are_none_are_refused(options: dict[str, Any], match: str) -> None:
    with pytest.raises(InputError, match=match):
        Kde(**options)
