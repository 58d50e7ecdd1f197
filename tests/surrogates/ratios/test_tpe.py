"""Parzen estimators: the contract, densities that integrate to one, ratios that know the best."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.integrate import trapezoid

import nnbo_mip as nm
from nnbo_mip.core.errors import InputError, UnsupportedError
from nnbo_mip.surrogates.ratios.estimators.parzen import RULES, Parzen
from nnbo_mip.surrogates.ratios.tpe import Tpe
from nnbo_mip.testing.surrogate_contract import SurrogateContract


class TestTpe(SurrogateContract):
    def make(self, **options: Any) -> Tpe:
        return Tpe(**options)


class TestWithoutPrior(SurrogateContract):
    def make(self, **options: Any) -> Tpe:
        return Tpe(gamma=0.4, prior_weight=0.0, width_factor=1.5, widths="scott", **options)


@pytest.mark.parametrize("n", [0, 1, 7, 150])
@pytest.mark.parametrize("prior", [0.0, 1.0])
@pytest.mark.parametrize("rule", RULES)
def test_densities_integrate_to_one_over_the_box(n: int, prior: float, rule: str) -> None:
    centers = np.random.default_rng(n).uniform(-1.0, 1.0, (n, 1))
    grid = np.linspace(-1.0, 1.0, 20_001)
    density = np.exp(Parzen.of(centers, 1.0, prior, rule).log_density(grid[:, None]))
    assert trapezoid(density, grid) == pytest.approx(1.0, abs=1e-4)


def test_a_width_is_the_distance_to_the_farther_neighbour() -> None:
    centers = np.array([[-0.5], [0.0], [0.9]])
    widths = Parzen.of(centers, 1.0, 1.0).widths
    np.testing.assert_allclose(widths, [[0.5], [0.9], [0.9]])
    assert (Parzen.of(np.zeros((200, 1)), 1.0, 1.0).widths >= 2.0 / 101.0).all()


def test_the_ratio_is_largest_where_good_points_are_dense_and_bad_ones_rare() -> None:
    X = np.random.default_rng(0).uniform(-1.0, 1.0, (60, 2))
    y = -np.square(X - 0.4).sum(axis=1)
    belief = Tpe().fit(X, y)
    best = nm.maximize(belief, "ratio", nm.Space.box([-1, -1], [1, 1]).model(), maximizer="lbfgs")
    assert np.square(np.asarray(best.x) - 0.4).sum() < 1.0 / np.pi  # the best quarter of the box
    points = np.random.default_rng(1).uniform(-1.0, 1.0, (2000, 2))
    near = np.square(points - 0.4).sum(axis=1) < 0.1
    assert belief.ratio(points[near]).mean() > 2.5 * belief.ratio(points).mean()
    assert belief.ratio(X).max() <= 1.0 / belief.share


def test_those_that_prove_are_refused_with_what_to_take() -> None:
    belief = Tpe().fit([[0.1], [0.5], [0.9]], [0.0, 1.0, 0.2])
    domain = nm.Space.box([-1], [1]).model()
    for maximizer in ("mip", "bab", "enumerate"):
        with pytest.raises(
            UnsupportedError, match='take the surrogate "bore" with estimator="net"'
        ):
            nm.maximize(belief, "ratio", domain, maximizer=maximizer)


@pytest.mark.parametrize(
    "options",
    [
        {"gamma": 0.0},
        {"gamma": 1.0},
        {"prior_weight": -1.0},
        {"width_factor": 0.0},
        {"widths": "wide"},
    ],
)
def test_options_that_are_none_are_refused(options: dict[str, float]) -> None:
    with pytest.raises(InputError, match=next(iter(options))):
        Tpe(**options)  # type: ignore[arg-type]
