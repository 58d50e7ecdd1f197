"""The prior of length-scales: against a search over a lattice, and what it is good for."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import multivariate_normal, norm

from nnbo_mip.core.errors import InputError
from nnbo_mip.surrogates.gp.fitting import LogNormal
from nnbo_mip.surrogates.gp.gp import GaussianProcess
from nnbo_mip.surrogates.gp.kernels import Kernel


@pytest.mark.usefixtures("with_gpytorch")
@pytest.mark.parametrize("backend", ["sklearn", "gpytorch"])
def test_the_length_scale_is_the_most_probable_one(backend: str) -> None:
    rng = np.random.default_rng(0)
    X = rng.uniform(-1.0, 1.0, (8, 3))
    y = np.sin(3.0 * X[:, 0]) + 0.3 * X[:, 1]
    surrogate = GaussianProcess(
        length_scale_prior="dimension", amplitude_bounds="fixed", alpha=1e-4, backend=backend
    )
    found = np.log(surrogate.fit(X, y).kernel.length_scale[0])
    values = (y - y.mean()) / y.std()

    def density(logarithm: float) -> float:
        kernel = Kernel("rbf", np.full(3, np.exp(logarithm)))
        covariance = kernel(X, X) + 1e-4 * np.eye(8)
        prior = norm(np.sqrt(2.0) + 0.5 * np.log(3.0) + np.log(2.0), np.sqrt(3.0))
        # Three length-scales that are one and the same have one prior.
        return float(multivariate_normal(np.zeros(8), covariance).logpdf(values)) + float(
            prior.logpdf(logarithm)
        )

    lattice = np.linspace(-2.0, 4.0, 1201)
    best = lattice[np.argmax([density(t) for t in lattice])]
    alone = GaussianProcess(amplitude_bounds="fixed", alpha=1e-4, backend=backend).fit(X, y)
    assert found == pytest.approx(best, abs=0.01)
    assert abs(np.log(alone.kernel.length_scale[0]) - best) > 0.02  # the prior moved it


def test_the_typical_length_grows_with_the_root_of_the_dimension() -> None:
    ratio = LogNormal.of_length_scales(25).center - LogNormal.of_length_scales(1).center
    assert np.exp(ratio) == pytest.approx(5.0)


def test_inputs_that_do_not_matter_get_long_length_scales() -> None:
    """Twelve values in ten inputs say little: without a prior some length-scales collapse."""
    rng = np.random.default_rng(3)
    X = rng.uniform(-1.0, 1.0, (12, 10))
    y = np.sin(2.0 * X[:, 0])
    options = {"kernel": "matern", "ard": True, "n_restarts": 2}
    lengths = GaussianProcess(length_scale_prior="dimension", **options).fit(X, y)
    assert lengths.kernel.length_scale.argmin() == 0
    assert lengths.kernel.length_scale[1:].min() > 2.0


def test_few_values_tell_no_input_from_another_and_many_do() -> None:
    rng = np.random.default_rng(1)
    options = {"kernel": "matern", "ard": True, "n_restarts": 2}

    def spread_of(prior: str, n: int, used: slice) -> float:
        X = rng.uniform(-1.0, 1.0, (n, 8))
        y = np.sin(2.0 * X[:, used]).sum(axis=1)
        lengths = GaussianProcess(length_scale_prior=prior, **options).fit(X, y).length_scales
        return float(np.log(lengths.max() / lengths.min()))

    alike = [spread_of("hierarchical", 9, slice(None)) for _ in range(5)]
    apart = [spread_of("dimension", 9, slice(None)) for _ in range(5)]
    assert np.median(alike) < 1.0 < 2.0 < np.median(apart)
    assert spread_of("hierarchical", 60, slice(2)) > 2.0


@pytest.mark.parametrize("prior", [LogNormal(0.4, 1.5), LogNormal(0.4, 1.5, 0.3)])
def test_slopes_of_a_prior_are_those_of_its_density(prior: LogNormal) -> None:
    at = np.array([0.3, -0.8, 2.0, 0.1])
    density, slopes = prior.log_density(at)
    for j in range(4):
        step = 1e-6 * (np.arange(4) == j)
        change = prior.log_density(at + step)[0] - prior.log_density(at - step)[0]
        assert change / 2e-6 == pytest.approx(slopes[j], rel=1e-6, abs=1e-8)
    assert density < prior.log_density(np.full(4, 0.4))[0] == pytest.approx(0.0, abs=1e-15)


def test_one_length_scale_has_the_prior_of_their_mean() -> None:
    one, other = (
        LogNormal(0.4, 1.5, apart).log_density(np.array([1.0])) for apart in (0.3, np.inf)
    )
    assert one[0] == pytest.approx(other[0])
    assert one[1] == pytest.approx(other[1])


def test_an_unknown_prior_is_refused() -> None:
    with pytest.raises(InputError, match="length_scale_prior"):
        GaussianProcess(length_scale_prior="gamma")
