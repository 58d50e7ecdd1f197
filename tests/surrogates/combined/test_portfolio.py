"""Portfolios of families: the contract, values that are left out, the draw."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import norm

import nnbo_mip as nm
from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.errors import InputError, UnsupportedError
from nnbo_mip.surrogates.combined.portfolio import Portfolio
from nnbo_mip.surrogates.gp.belief import GpBelief
from nnbo_mip.surrogates.spherical.belief import SphericalBelief
from nnbo_mip.testing.surrogate_contract import SurrogateContract

QUICK = ("spherical_linear", "gp:kernel=matern,n_restarts=1")


class TestPortfolio(SurrogateContract):
    def make(self, **options: Any) -> Portfolio:
        return Portfolio(QUICK, **options)

    def test_the_belief_offers_what_the_surrogate_declared(self) -> None:
        """And what the member has beside it."""
        assert self.belief().capabilities >= self.make(seed=0).capabilities

    def test_the_belief_is_of_the_declared_type_and_family(self) -> None:
        """It is that of a member, under the member's name."""
        made, belief = self.make(), self.belief()
        assert isinstance(belief, made.belief_type)
        assert belief.family in {"gp", "spherical_linear"}


def slopes(n: int = 25, d: int = 30) -> tuple[FloatArray, FloatArray]:
    rng = np.random.default_rng(4)
    X = rng.uniform(-1.0, 1.0, (n, d))
    return X, X @ rng.standard_normal(d)


@pytest.mark.parametrize("told", [0.0, 0.3])
def test_a_value_left_out_is_expected_as_by_a_model_that_never_saw_it(told: float) -> None:
    """Against the formula of conditioning, written out, with the scales of all values."""
    X, y = slopes(12, 5)
    noise = np.full(12, told)
    for name in ("gp:kernel=matern,n_restarts=0,alpha=1e-3", "spherical_linear"):
        belief: Any = nm.surrogates.create(name).fit_with_noise(X, y, noise)
        unit = belief.units.y_scale
        values = belief.units.values_inward(y)
        if isinstance(belief, GpBelief):
            covariance = belief.kernel(X, X) + np.diag(np.zeros(12) + belief.diagonal)
        else:
            assert isinstance(belief, SphericalBelief)
            psi = belief._read.sphere.features(X) * belief.prior
            variance = (belief.noise / unit) ** 2 + (told / unit) ** 2
            covariance = psi @ psi.T + variance * np.eye(12)
        for i in (0, 5, 11):
            rest = np.arange(12) != i
            solved = np.linalg.solve(covariance[np.ix_(rest, rest)], covariance[rest, i])
            mean = solved @ values[rest]
            std = np.sqrt(covariance[i, i] - solved @ covariance[rest, i])
            expected = norm(mean, std).logpdf(values[i]) - np.log(unit)
            assert belief.left_out(X, y, noise)[i] == pytest.approx(expected, rel=1e-6)


def family(X: FloatArray, y: FloatArray, **options: Any) -> set[str]:
    """Return the families that some seeds draw."""
    return {Portfolio(seed=seed, **options).fit(X, y).family for seed in range(12)}


def test_planes_are_the_sphere_s_and_few_waves_the_process_s() -> None:
    X, y = slopes()
    assert family(X, y, least=0.0) == {"spherical_linear"}
    assert family(X, y) == {"spherical_linear", "gp"}
    X = np.random.default_rng(5).uniform(-1.0, 1.0, (60, 30))
    assert family(X, np.sin(6.0 * X[:, 7]) + X[:, 2] ** 2, least=0.0) == {"gp"}


def test_units_of_values_do_not_choose() -> None:
    X, y = slopes()
    for factor in (1e-6, 1e9):
        assert family(X, factor * y + 5.0, least=0.0) == {"spherical_linear"}


def test_constant_values_and_a_single_one_are_learned() -> None:
    X, _ = slopes(4)
    for n in (1, 4):
        belief = Portfolio().fit(X[:n], np.full(n, 3.0))
        assert belief.mean(X) == pytest.approx(3.0)


@pytest.mark.parametrize(
    ("members", "error"),
    [
        ("gp", InputError),
        (("gp",), InputError),
        (("gp", "brvfl"), UnsupportedError),
    ],
)
def test_members_that_cannot_be_compared_are_refused(members: Any, error: type) -> None:
    with pytest.raises(error, match="members must"):
        Portfolio(members)


def test_a_run_says_which_family_was_taken() -> None:
    sides = [(-1.0, 1.0)] * 22
    run = nm.BayesianOptimizer(sides, initial=6, seed=1)
    assert run.settings.surrogate.name == "portfolio"
    for _ in range(7):
        asked = run.ask()
        run.tell(asked.x, float(np.sum(asked.x)))
    assert "the family of this step is" in asked.message
    with pytest.raises(InputError, match="least"):
        Portfolio(least=1.5)
