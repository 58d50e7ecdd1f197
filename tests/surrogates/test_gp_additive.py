"""Gaussian processes that are sums over groups: the contract, the likelihood, what they are for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import multivariate_normal

import nnbo_mip as nm
from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.errors import InputError, UnsupportedError
from nnbo_mip.surrogates.gp.direct import direct_likelihood
from nnbo_mip.surrogates.gp.fitting import Hyperparameters
from nnbo_mip.surrogates.gp.gp import GaussianProcess
from nnbo_mip.surrogates.gp.kernels import Kernel
from nnbo_mip.surrogates.gp.sklearn import sklearn_likelihood
from nnbo_mip.testing.surrogate_contract import SurrogateContract

PAIRS = tuple((2 * k, 2 * k + 1) for k in range(5))


class TestAdditive(SurrogateContract):
    def make(self, **options: Any) -> GaussianProcess:
        return _Reshaped(n_restarts=1, kernel="matern", ard=True, **options)


class _Reshaped(GaussianProcess):
    """One group an input, however many there are: the contract tries one and two."""

    def fit(self, X: Any, y: Any) -> Any:
        columns = np.asarray(X).shape[1] if np.ndim(X) == 2 else 0
        groups = tuple((k,) for k in range(columns)) or None
        return GaussianProcess(
            kernel="matern", ard=True, n_restarts=1, groups=groups, seed=self.seed
        ).fit(X, y)


def _kernel(form: str = "matern") -> Kernel:
    return Kernel(form, np.array([0.5, 0.8, 1.2]), 1.7, 2.5, groups=((0, 2), (1,)))


def test_the_kernel_is_the_sum_of_those_of_its_groups() -> None:
    rng = np.random.default_rng(0)
    A, B = rng.uniform(-1.0, 1.0, (4, 3)), rng.uniform(-1.0, 1.0, (6, 3))
    first = Kernel("matern", np.array([0.5, 1.2]), 0.85, 2.5)(A[:, [0, 2]], B[:, [0, 2]])
    second = Kernel("matern", np.array([0.8]), 0.85, 2.5)(A[:, [1]], B[:, [1]])
    np.testing.assert_allclose(_kernel()(A, B), first + second, rtol=1e-12)
    one = Kernel("rbf", np.array([0.5, 0.8]), 1.7, groups=((0, 1),))
    plain = Kernel("rbf", np.array([0.5, 0.8]), 1.7)
    np.testing.assert_allclose(one(A[:, :2], B[:, :2]), plain(A[:, :2], B[:, :2]), rtol=1e-12)


def test_random_waves_have_the_kernel_as_their_covariance() -> None:
    rng = np.random.default_rng(1)
    kernel, x, y = _kernel("rbf"), np.array([[0.1, 0.4, -0.3]]), np.array([[-0.2, 0.1, 0.2]])
    waves = kernel.frequencies(200_000, rng)
    assert kernel.amplitude * np.cos((x - y) @ waves.T).mean() == pytest.approx(
        kernel(x, y)[0, 0], abs=0.01
    )


@pytest.mark.parametrize("ard", [True, False])
@pytest.mark.parametrize("form", ["matern", "rational_quadratic"])
def test_the_likelihood_is_that_of_the_normal_distribution(ard: bool, form: str) -> None:
    rng = np.random.default_rng(2)
    X, y = rng.uniform(-1.0, 1.0, (12, 3)), rng.standard_normal(12)
    kernel = _kernel(form) if ard else Kernel(form, np.full(3, 0.7), 1.7, groups=((0, 2), (1,)))
    ranges = {"amplitude": (1e-3, 1e3), "length_scale": (1e-3, 1e3), "noise": (1e-6, 1.0)}
    if form == "rational_quadratic":
        ranges["mixture"] = (1e-3, 1e3)
    hyper = Hyperparameters(kernel, 0.1, ranges, ard)
    likelihood, start = direct_likelihood(hyper, X, y, 1e-3), hyper.logarithms
    covariance = kernel(X, X) + (0.1 + 1e-3) * np.eye(12)
    value, gradient = likelihood(start)
    assert value == pytest.approx(multivariate_normal(np.zeros(12), covariance).logpdf(y))
    for place, unit in enumerate(1e-6 * np.eye(len(start))):
        slope = (likelihood(start + unit)[0] - likelihood(start - unit)[0]) / 2e-6
        assert gradient[place] == pytest.approx(slope, rel=1e-5, abs=1e-6)


def test_one_group_of_all_inputs_has_the_likelihood_of_scikit_learn() -> None:
    rng = np.random.default_rng(3)
    X, y = rng.uniform(-1.0, 1.0, (10, 2)), rng.standard_normal(10)
    ranges = {"amplitude": (1e-3, 1e3), "length_scale": (1e-3, 1e3)}
    lengths = np.array([0.5, 0.8])
    grouped = Hyperparameters(Kernel("rbf", lengths, 1.3, groups=((0, 1),)), 0.0, ranges, True)
    plain = Hyperparameters(Kernel("rbf", lengths, 1.3), 0.0, ranges, True)
    ours = direct_likelihood(grouped, X, y, 1e-4)(grouped.logarithms)
    theirs = sklearn_likelihood(plain, X, y, 1e-4)(plain.logarithms)
    assert ours[0] == pytest.approx(theirs[0])
    np.testing.assert_allclose(ours[1], theirs[1], rtol=1e-6)


def additive(X: FloatArray) -> FloatArray:
    """Return a sum (n,) over five pairs of inputs, largest at 0.4 everywhere: 5."""
    off = 1.6 * (X - 0.4)
    return np.asarray(
        sum(
            np.cos(off[:, a] + off[:, b]) * np.exp(-((off[:, a] - off[:, b]) ** 2))
            for a, b in PAIRS
        )
    )


def test_known_groups_help_with_ten_inputs() -> None:
    """The error on fresh points, and the best of a short run by the upper confidence bound."""
    rng = np.random.default_rng(4)
    X, fresh = rng.uniform(-1.0, 1.0, (60, 10)), rng.uniform(-1.0, 1.0, (500, 10))
    options: dict[str, Any] = {"kernel": "rbf", "n_restarts": 0}
    errors, best = [], []
    for groups in (PAIRS, None):
        belief = GaussianProcess(groups=groups, **options).fit(X, additive(X))
        errors.append(float(np.abs(belief.mean(fresh) - additive(fresh)).mean()))
        result = nm.optimize(
            lambda x: float(additive(np.asarray(x)[None])[0]),
            nm.Space.box([-1.0] * 10, [1.0] * 10),
            n_evals=32,
            surrogate=GaussianProcess(groups=groups, **options),
            acquisition="ucb:beta=1",
            maximizer="lbfgs:raw_samples=64,starts=2",
            direction="maximize",
            initial=20,
            region="none",
            seed=0,
        )
        best.append(result.fun)
    assert errors[0] < 0.6 * errors[1]
    assert best[0] > best[1]


def test_nothing_is_proven_of_sums_and_it_is_said() -> None:
    X = np.random.default_rng(5).uniform(-1.0, 1.0, (8, 2))
    belief = GaussianProcess(groups=((0,), (1,)), n_restarts=0).fit(X, X.sum(axis=1))
    domain = nm.Space.box([-1.0, -1.0], [1.0, 1.0]).model()
    with pytest.raises(UnsupportedError, match="a sum over 2 groups; drop the groups"):
        nm.maximize(belief, "ucb", domain, maximizer="bab")
    assert nm.maximize(belief, "ucb", domain, maximizer="lbfgs").status == "heuristic"


@pytest.mark.parametrize("groups", [(), ((0, 0),), ((0,), (2,)), (0, 1), "01", ((),), ((0.5,),)])
def test_groups_that_are_none_are_refused(groups: Any) -> None:
    with pytest.raises(InputError, match="groups must be"):
        GaussianProcess(groups=groups)


def test_combinations_that_are_none_are_refused() -> None:
    with pytest.raises(InputError, match="each of the 3 inputs once"):
        GaussianProcess(groups=((0,), (1,))).fit(np.zeros((2, 3)), [0.0, 1.0])
    with pytest.raises(UnsupportedError, match="backend='direct'"):
        GaussianProcess(groups=((0,), (1,)), backend="sklearn")
