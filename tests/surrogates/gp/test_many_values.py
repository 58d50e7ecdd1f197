"""Gaussian processes of many inputs and observations: the same likelihood, a shorter search."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.surrogates.gp import gp
from nnbo_mip.surrogates.gp.direct import MANY_INPUTS, direct_likelihood
from nnbo_mip.surrogates.gp.fitting import Hyperparameters
from nnbo_mip.surrogates.gp.gp import MOST_SEARCHED, SEARCHED, GaussianProcess
from nnbo_mip.surrogates.gp.kernels import Kernel
from nnbo_mip.surrogates.gp.sklearn import sklearn_likelihood


def waves(n: int, d: int) -> tuple[FloatArray, FloatArray]:
    X = np.random.default_rng(3).uniform(-1.0, 1.0, (n, d))
    return X, np.sin(3.0 * X[:, 0]) + X[:, 1] ** 2


@pytest.mark.parametrize(("form", "nu"), [("matern", 2.5), ("matern", 0.5), ("rbf", 2.5)])
@pytest.mark.parametrize("ard", [True, False])
@pytest.mark.parametrize("d", [MANY_INPUTS, MANY_INPUTS + 1, 60])
def test_distances_by_products_give_the_same_likelihood(
    form: str, nu: float, ard: bool, d: int
) -> None:
    X, y = waves(25, d)
    X[1] = X[0]  # where products lose digits
    if nu > 1.0:  # at a cusp the slope of such a pair is too steep for either formula
        X[2] = X[0] + 1e-7
    ranges = {"amplitude": (1e-5, 1e5), "length_scale": (1e-5, 1e5), "noise": (1e-6, 2.0)}
    lengths = np.linspace(1.0, 6.0, d) if ard else np.full(d, 3.0)
    hyper = Hyperparameters(Kernel(form, lengths, 1.4, nu), 0.05, ranges, ard)
    ours = direct_likelihood(hyper, X, y, 1e-4)(hyper.logarithms)
    theirs = sklearn_likelihood(hyper, X, y, 1e-4)(hyper.logarithms)
    assert ours[0] == pytest.approx(theirs[0], rel=1e-10)
    np.testing.assert_allclose(ours[1], theirs[1], rtol=1e-7, atol=1e-9)


def likelihood_of(options: GaussianProcess, X: FloatArray, y: FloatArray) -> float:
    """Return the log likelihood of all values where the fit of a process ended."""
    belief = options.fit(X, y)
    values = belief.units.values_inward(y)
    log_root = np.log(belief.factor.diagonal()).sum()
    return float(-0.5 * values @ belief.weights - log_root)


def test_a_part_of_many_values_leads_to_the_same_place(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = waves(MOST_SEARCHED + 20, 3)
    options = GaussianProcess(kernel="matern", ard=True, n_restarts=2, alpha=1e-6)
    sizes: list[int] = []

    def counted(hyper: Any, points: FloatArray, *rest: Any) -> Any:
        sizes.append(len(points))
        return direct_likelihood(hyper, points, *rest)

    monkeypatch.setitem(gp.LIKELIHOODS, "direct", counted)
    short = likelihood_of(options, X, y)
    assert sizes == [SEARCHED, len(X)]
    assert short == likelihood_of(options, X, y)  # the part is the seed's
    monkeypatch.setattr(gp, "MOST_SEARCHED", len(X))
    assert short == pytest.approx(likelihood_of(options, X, y), abs=0.05)
    assert sizes[-1:] == [len(X)]


def test_deviations_that_were_told_go_with_their_part() -> None:
    X, y = waves(MOST_SEARCHED + 20, 3)
    y = y + np.where(X[:, 0] > 0.0, 0.3, 0.0) * np.random.default_rng(1).standard_normal(len(y))
    told = np.where(X[:, 0] > 0.0, 0.3, 1e-3)
    belief = GaussianProcess(kernel="matern", n_restarts=1).fit_with_noise(X, y, told)
    exact = X[:, 0] < 0.0
    assert np.abs(belief.mean(X[exact]) - y[exact]).max() < 0.01
    assert np.abs(belief.mean(X[~exact]) - y[~exact]).mean() > 0.1
