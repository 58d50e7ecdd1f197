"""Kernels, likelihoods and posteriors equal closed forms, scikit-learn's and GPyTorch's."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from scipy.special import gamma, kv
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process import kernels as theirs

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.surrogates.gp.fitting import Hyperparameters
from nnbo_mip.surrogates.gp.gp import LIKELIHOODS, GaussianProcess, GpBelief
from nnbo_mip.surrogates.gp.kernels import FORMS, Kernel
from nnbo_mip.testing.surrogate_contract import sample
from tests.surrogates.gpytorch_likelihood import gpytorch_kernel, import_gpytorch

LENGTHS = np.array([0.4, 1.3, 0.8])
OTHER_LENGTHS = (0.7, 1.1)

SHAPES: dict[str, tuple[Kernel, Any]] = {
    "rbf": (Kernel("rbf", LENGTHS), theirs.RBF(LENGTHS)),
    "matern 0.5": (Kernel("matern", LENGTHS, nu=0.5), theirs.Matern(LENGTHS, nu=0.5)),
    "matern 1.5": (Kernel("matern", LENGTHS, nu=1.5), theirs.Matern(LENGTHS, nu=1.5)),
    "matern 2.5": (Kernel("matern", LENGTHS, nu=2.5), theirs.Matern(LENGTHS, nu=2.5)),
    "matern 0.8": (Kernel("matern", LENGTHS, nu=0.8), theirs.Matern(LENGTHS, nu=0.8)),
    "matern 1": (Kernel("matern", LENGTHS, nu=1.0), theirs.Matern(LENGTHS, nu=1.0)),
    "matern 7.3": (Kernel("matern", LENGTHS, nu=7.3), theirs.Matern(LENGTHS, nu=7.3)),
    "matern 30": (Kernel("matern", LENGTHS, nu=30.0), theirs.Matern(LENGTHS, nu=30.0)),
    "rational_quadratic": (
        Kernel("rational_quadratic", np.full(3, 0.6), mixture=0.7),
        theirs.RationalQuadratic(0.6, 0.7),
    ),
}


# -- kernels --------------------------------------------------------------------------


@pytest.mark.parametrize("name", SHAPES)
def test_kernels_equal_scikit_learns(name: str) -> None:
    ours, kernel = SHAPES[name]
    rng = np.random.default_rng(2)
    A, B = rng.uniform(-2.0, 3.0, (30, 3)), rng.uniform(-2.0, 3.0, (20, 3))
    B[:5] = A[:5] + 1e-7 * rng.standard_normal((5, 3))
    np.testing.assert_allclose(ours(A, B), kernel(A, B), rtol=1e-11, atol=1e-14)
    np.testing.assert_allclose(ours(A, A).diagonal(), 1.0, rtol=1e-14)
    louder = replace(ours, amplitude=2.5)
    np.testing.assert_allclose(louder(A, B), 2.5 * ours(A, B), rtol=1e-15)


@pytest.mark.parametrize(
    ("nu", "closed"),
    [
        (0.5, lambda r: np.exp(-r)),
        (1.5, lambda r: (1 + math.sqrt(3) * r) * np.exp(-math.sqrt(3) * r)),
        (2.5, lambda r: (1 + math.sqrt(5) * r + 5 / 3 * r**2) * np.exp(-math.sqrt(5) * r)),
    ],
)
def test_matern_has_its_closed_forms_and_the_bessel_form(
    nu: float, closed: Callable[[FloatArray], FloatArray]
) -> None:
    x = np.linspace(0.1, 3.7, 40)
    values = Kernel("matern", np.array([0.9]), nu=nu)(x[:, None], np.zeros((1, 1)))[:, 0]
    z = math.sqrt(2 * nu) * x / 0.9
    np.testing.assert_allclose(values, closed(x / 0.9), rtol=1e-13)
    np.testing.assert_allclose(values, 2 ** (1 - nu) / gamma(nu) * z**nu * kv(nu, z), rtol=1e-11)


@pytest.mark.parametrize("name", SHAPES)
def test_gradients_of_kernels_are_those_of_their_values(name: str) -> None:
    ours = replace(SHAPES[name][0], amplitude=1.7)
    rng = np.random.default_rng(3)
    A, B, weights = rng.uniform(1.0, 3.0, (6, 3)), rng.uniform(0.0, 2.0, (9, 3)), rng.normal(size=9)
    gradient, step = ours.pull(A, B, weights), 1e-6
    for axis, unit in enumerate(np.eye(3)):
        slope = (ours(A + step * unit, B) - ours(A - step * unit, B)) @ weights / (2.0 * step)
        np.testing.assert_allclose(gradient[:, axis], slope, rtol=1e-6, atol=1e-8)
    # A point's own kernel has no slope there, cusp or not.
    np.testing.assert_array_equal(ours.pull(A[:1], A[:1], np.ones(1)), 0.0)


@pytest.mark.parametrize("name", SHAPES)
def test_random_waves_have_the_kernel_as_covariance(name: str) -> None:
    ours = SHAPES[name][0]
    A = np.array([[0.0, 0.0, 0.0], [0.1, -0.2, 0.3], [0.5, 0.4, 0.1], [1.0, -1.0, 0.9]])
    count = 200_000
    phases = A @ ours.frequencies(count, np.random.default_rng(4)).T
    waves = np.cos(phases[:, None, :] - phases[None, :, :])
    errors = np.abs(waves.mean(axis=2) - ours(A, A))
    assert (errors <= 5.0 * waves.std(axis=2) / math.sqrt(count) + 1e-12).all()


# -- equal to scikit-learn and GPyTorch -----------------------------------------------


@pytest.mark.parametrize("kernel", FORMS)
@pytest.mark.parametrize("normalize", [True, False])
@pytest.mark.parametrize("noise", [0.0, 0.03])
def test_mean_and_std_equal_scikit_learns(kernel: str, normalize: bool, noise: float) -> None:
    X, y = sample(25, 3)
    X = 2.0 * X + 1.0
    made = GaussianProcess(
        kernel=kernel,
        nu=1.5,
        length_scale=0.8,
        amplitude=1.6,
        mixture=0.9,
        noise=noise,
        length_scale_bounds="fixed",
        amplitude_bounds="fixed",
        mixture_bounds="fixed",
        alpha=1e-6,
        normalize=normalize,
    )
    shapes = {
        "rbf": theirs.RBF(0.8),
        "matern": theirs.Matern(0.8, nu=1.5),
        "rational_quadratic": theirs.RationalQuadratic(0.8, 0.9),
    }
    full = theirs.ConstantKernel(1.6) * shapes[kernel] + theirs.WhiteKernel(max(noise, 1e-30))
    model = GaussianProcessRegressor(full, alpha=1e-6, optimizer=None, normalize_y=normalize)
    probes = np.random.default_rng(5).uniform(-2.0, 4.0, (60, 3))
    mean, std = model.fit(X, y).predict(probes, return_std=True)
    belief = made.fit(X, y)
    np.testing.assert_allclose(belief.mean(probes), mean, rtol=1e-8, atol=1e-8)
    observed = np.hypot(belief.std(probes), belief.noise_std(probes))
    np.testing.assert_allclose(observed, std, rtol=1e-8, atol=1e-8)


def _likelihood(belief: GpBelief, y: FloatArray) -> float:
    """Return the log likelihood of the values that a belief was fitted to."""
    whitened = np.linalg.solve(belief.factor, (y - y.mean()) / y.std())
    value = -0.5 * whitened @ whitened - np.log(belief.factor.diagonal()).sum()
    return float(value - 0.5 * len(y) * math.log(2.0 * math.pi))


@pytest.mark.parametrize(
    ("options", "kernel"),
    [
        ({}, theirs.ConstantKernel() * theirs.RBF()),
        (
            {"kernel": "matern", "ard": True, "n_restarts": 3},
            theirs.ConstantKernel() * theirs.Matern([1.0, 1.0], nu=2.5),
        ),
        (
            {"kernel": "rational_quadratic", "n_restarts": 3},
            theirs.ConstantKernel() * theirs.RationalQuadratic(),
        ),
        (
            {"noise": 0.1, "noise_bounds": (1e-5, 1e5), "alpha": 1e-10},
            theirs.ConstantKernel() * theirs.RBF() + theirs.WhiteKernel(0.1),
        ),
        (
            {"noise": 0.1},
            theirs.ConstantKernel() * theirs.RBF() + theirs.WhiteKernel(0.1, "fixed"),
        ),
    ],
)
def test_a_fit_is_as_likely_as_scikit_learns_and_predicts_the_same(
    options: dict[str, Any], kernel: Any
) -> None:
    X, y = sample(20, 2)
    y = y + 0.1 * np.random.default_rng(8).standard_normal(20)
    made = GaussianProcess(**options)
    model = GaussianProcessRegressor(
        kernel, alpha=made.alpha, normalize_y=True, n_restarts_optimizer=10, random_state=0
    ).fit(X, y)
    belief = made.fit(X, y)
    assert _likelihood(belief, y) >= model.log_marginal_likelihood_value_ - 1e-6
    probes = np.random.default_rng(9).uniform(-1.0, 1.0, (50, 2))
    mean, std = model.predict(probes, return_std=True)
    # Both climbs end where the gradient is 1e-5, not where it is zero.
    np.testing.assert_allclose(belief.mean(probes), mean, atol=1e-3 * y.std())
    observed = np.hypot(belief.std(probes), belief.noise_std(probes))
    np.testing.assert_allclose(observed, std, atol=1e-3 * y.std())


@pytest.mark.usefixtures("with_gpytorch")
@pytest.mark.parametrize(
    ("backend", "kernel", "ard"),
    [
        (backend, kernel, ard)
        for backend in ("direct", "sklearn", "gpytorch")
        for kernel in FORMS
        for ard in (False, True)
        if (backend, kernel, ard) != ("sklearn", "rational_quadratic", True)
    ],
)
def test_likelihoods_and_their_gradients_are_the_gaussian_density(
    backend: str, kernel: str, ard: bool
) -> None:
    X, y = sample(9, 2)
    lengths = np.array(OTHER_LENGTHS) if ard else np.full(2, 0.8)
    ranges = dict.fromkeys(("amplitude", "length_scale", "noise"), (1e-3, 1e3))
    if kernel == "rational_quadratic":
        ranges["mixture"] = (1e-3, 1e3)
    hyper = Hyperparameters(Kernel(kernel, lengths, 1.4, 1.5, 0.7), 0.2, ranges, ard)

    def density(logarithms: FloatArray) -> float:
        at = hyper.at(logarithms)
        covariance = at.kernel(X, X) + (0.01 + at.noise) * np.eye(9)
        size = np.linalg.slogdet(2.0 * math.pi * covariance)[1]
        return float(-0.5 * (y @ np.linalg.solve(covariance, y) + size))

    here = hyper.logarithms + 0.3
    value, gradient = LIKELIHOODS[backend](hyper, X, y, 0.01)(here)
    assert len(hyper.free) == 3 + ard + (kernel == "rational_quadratic")
    assert value == pytest.approx(density(here), rel=1e-10)
    for entry, unit in enumerate(np.eye(len(here))):
        slope = (density(here + 1e-5 * unit) - density(here - 1e-5 * unit)) / 2e-5
        assert gradient[entry] == pytest.approx(slope, rel=1e-6, abs=1e-7), hyper.free[entry]


@pytest.mark.parametrize("kernel", FORMS)
def test_mean_and_std_equal_gpytorchs(kernel: str) -> None:
    gpytorch = import_gpytorch()
    X, y = sample(15, 2)
    made = GaussianProcess(
        kernel=kernel,
        nu=1.5,
        ard=True,
        length_scale=OTHER_LENGTHS,
        amplitude=1.6,
        mixture=0.9,
        length_scale_bounds="fixed",
        amplitude_bounds="fixed",
        mixture_bounds="fixed",
        alpha=1e-4,
        normalize=False,
    )
    belief = made.fit(X, y)

    class Model(gpytorch.models.ExactGP):  # type: ignore[misc, name-defined]
        def __init__(self, likelihood: Any) -> None:
            super().__init__(torch.from_numpy(X), torch.from_numpy(y), likelihood)
            hyper = Hyperparameters(belief.kernel, 0.0, {}, True)
            self.mean_module = gpytorch.means.ZeroMean()
            self.covar_module = gpytorch_kernel(hyper)

        def forward(self, x: Any) -> Any:
            distribution = gpytorch.distributions.MultivariateNormal
            return distribution(self.mean_module(x), self.covar_module(x))

    likelihood = gpytorch.likelihoods.FixedNoiseGaussianLikelihood(
        torch.full((15,), 1e-4, dtype=torch.float64)
    )
    model = Model(likelihood).eval()
    probes = np.random.default_rng(5).uniform(-1.5, 1.5, (40, 2))
    with torch.no_grad(), gpytorch.settings.fast_computations(False, False, False):
        predicted = model(torch.from_numpy(probes))
    np.testing.assert_allclose(belief.mean(probes), predicted.mean.numpy(), rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(
        belief.std(probes), predicted.variance.sqrt().numpy(), rtol=1e-7, atol=1e-8
    )


@pytest.mark.usefixtures("with_gpytorch")
@pytest.mark.parametrize("backend", ["sklearn", "gpytorch"])
def test_all_backends_find_the_same(backend: str) -> None:
    X, y = sample(20, 2)
    options: dict[str, Any] = {"kernel": "matern", "ard": True, "n_restarts": 2}
    ours = GaussianProcess(**options).fit(X, y)
    other = GaussianProcess(backend=backend, **options).fit(X, y)
    probes = np.random.default_rng(9).uniform(-1.0, 1.0, (50, 2))
    np.testing.assert_allclose(ours.mean(probes), other.mean(probes), atol=1e-3)
    np.testing.assert_allclose(ours.std(probes), other.std(probes), atol=1e-3)


def test_restarts_find_what_one_climb_misses() -> None:
    X = np.linspace(-0.9, 1.0, 30)[:, None]
    y = np.sin(25.0 * X[:, 0]) + 0.3 * X[:, 0]
    options: dict[str, Any] = {"noise": 0.5, "noise_bounds": (1e-5, 10.0)}
    stuck = GaussianProcess(n_restarts=0, **options).fit(X, y)
    found = GaussianProcess(n_restarts=10, **options).fit(X, y)
    assert np.abs(stuck.mean(X) - y).max() > 0.5
    assert np.abs(found.mean(X) - y).max() < 0.05


def _bowl(X: FloatArray) -> FloatArray:
    return np.asarray(100.0 * (X[:, 1] - 2.0 * X[:, 0] ** 2) ** 2 + (0.5 - X[:, 0]) ** 2)


def _ripples(X: FloatArray) -> FloatArray:
    return np.asarray(np.sin(4.0 * X[:, 0]) + X.sum(axis=1))


@pytest.mark.parametrize("f", [_bowl, _ripples])
@pytest.mark.parametrize("ard", [False, True])
def test_the_first_climb_does_not_leap_into_a_corner(
    f: Callable[[FloatArray], FloatArray], ard: bool
) -> None:
    X = np.random.default_rng(220).uniform(-1.0, 1.0, (20, 2))
    y = f(X)
    kernel = theirs.ConstantKernel() * theirs.RBF([1.0, 1.0] if ard else 1.0)
    model = GaussianProcessRegressor(kernel, alpha=1e-7, normalize_y=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # that it ends at its bounds
        theirs_alone = model.fit(X, y).log_marginal_likelihood_value_
    climbed = _likelihood(GaussianProcess(ard=ard, n_restarts=0).fit(X, y), y)
    searched = _likelihood(GaussianProcess(ard=ard, n_restarts=20).fit(X, y), y)
    assert climbed > theirs_alone + 10.0
    assert climbed == pytest.approx(searched, abs=1e-3)
