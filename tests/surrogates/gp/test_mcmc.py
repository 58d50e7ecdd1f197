"""Fully Bayesian Gaussian processes: the contract, the sampler, the mixture."""

from __future__ import annotations

import importlib.util
import sys
import warnings
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, Matern

import nnbo_mip as nm
from nnbo_mip.core.errors import InputError, MissingExtraError, UncertifiedWarning
from nnbo_mip.surrogates.gp.fitting import Hyperparameters
from nnbo_mip.surrogates.gp.kernels import Kernel
from nnbo_mip.surrogates.gp.mcmc import SampledProcess
from nnbo_mip.surrogates.gp.sampling import Chain, log_likelihood, log_prior, sample_hyperparameters
from nnbo_mip.testing.surrogate_contract import SurrogateContract, sample

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("emcee") is None, reason="extra mcmc is not installed"
)

SHORT: dict[str, Any] = {"burn_in": 3, "chain_length": 5}


class TestMatern(SurrogateContract):
    def make(self, **options: Any) -> SampledProcess:
        return SampledProcess(**SHORT, **options)


class TestRbfWithoutNoise(SurrogateContract):
    def make(self, **options: Any) -> SampledProcess:
        return SampledProcess(kernel="rbf", ard=False, noise=0.0, **SHORT, **options)


def hyper_of(d: int = 2, free: tuple[str, ...] = ("amplitude", "length_scale", "noise")) -> Any:
    ranges = dict.fromkeys(free, (1e-08, 100000000.0))
    return Hyperparameters(Kernel("matern", np.full(d, 0.7), 1.3), 0.01, ranges, ard=True)


def test_the_likelihood_is_that_of_scikit_learn() -> None:
    X, y = sample(20, 2)
    v = (y - y.mean()) / y.std()
    kernel = ConstantKernel(1.3) * Matern([0.7, 0.7], nu=2.5)
    model = GaussianProcessRegressor(kernel, alpha=0.01 + 1e-6, optimizer=None).fit(X, v)
    expected = model.log_marginal_likelihood_value_
    assert log_likelihood(hyper_of(), X, v, 1e-6) == pytest.approx(expected, rel=1e-10)


def test_the_priors_are_those_of_robo() -> None:
    hyper = hyper_of()
    assert hyper.free == ("amplitude", "length_scale", "length_scale", "noise")
    at = np.array([0.7, -3.0, 1.0, -4.0])
    moved = at + np.array([0.4, 1.0, -2.0, 0.0])
    difference = norm.logpdf(1.1) - norm.logpdf(0.7)
    assert log_prior(hyper, moved) - log_prior(hyper, at) == pytest.approx(difference)
    for coordinate, far in ((1, -10.0), (1, 3.0), (3, -21.0), (3, 2.5)):
        outside = at.copy()
        outside[coordinate] = far
        assert log_prior(hyper, outside) == -np.inf
    quiet, loud = at.copy(), at.copy()
    quiet[3], loud[3] = -10.0, 0.0
    ratio = np.log(np.log1p(3.0 * (0.1 / np.exp(-10.0)) ** 2) / np.log1p(3.0 * 0.1**2))
    assert log_prior(hyper, quiet) - log_prior(hyper, loud) == pytest.approx(ratio)


def test_walkers_sample_the_posterior() -> None:
    X, y = sample(12, 1)
    v = (y - y.mean()) / y.std()
    hyper = hyper_of(1, ("amplitude",))
    grid = np.linspace(-6.0, 8.0, 4001)
    logs = [
        log_prior(hyper, np.array([a])) + log_likelihood(hyper.at(np.array([a])), X, v, 1e-6)
        for a in grid
    ]
    weights = np.exp(np.array(logs) - max(logs))
    weights /= weights.sum()
    mean = float(weights @ grid)
    std = float(np.sqrt(weights @ (grid - mean) ** 2))
    found = sample_hyperparameters(hyper, X, v, 1e-6, Chain(120, 60, 40), seed=0)
    drawn = np.log([one.kernel.amplitude for one in found])
    assert drawn.mean() == pytest.approx(mean, abs=0.3 * std)
    assert drawn.std() == pytest.approx(std, rel=0.25)


def test_mean_and_std_are_those_of_the_mixture() -> None:
    X, y = sample(15, 2)
    belief = SampledProcess(**SHORT).fit(X, y)
    assert len(belief.processes) == 10  # three times amplitude and two length-scales, made even
    probes = np.random.default_rng(0).uniform(-1.0, 1.0, (6, 2))
    rng = np.random.default_rng(1)
    parts = [p.predict(probes, return_std=True) for p in belief.processes]
    draws = np.concatenate([m + s * rng.standard_normal((40_000, 6)) for m, s in parts])
    np.testing.assert_allclose(belief.mean(probes), draws.mean(axis=0), atol=0.02 * y.std())
    np.testing.assert_allclose(belief.std(probes), draws.std(axis=0), rtol=0.02)
    assert len({p.kernel.amplitude for p in belief.processes}) > 1


def test_more_uncertain_than_the_best_hyper_parameters() -> None:
    X, y = sample(8, 2)
    probes = np.random.default_rng(0).uniform(-1.0, 1.0, (200, 2))
    sampled = SampledProcess(burn_in=40, chain_length=40).fit(X, y)
    chosen = nm.surrogates.create("gp", kernel="matern", ard=True, seed=0).fit(X, y)
    assert np.median(sampled.std(probes)) > np.median(chosen.std(probes))


def test_constant_values_leave_one_middling_process() -> None:
    belief = SampledProcess().fit([[0.0], [0.5]], [2.0, 2.0])
    assert len(belief.processes) == 1


def test_it_is_maximized_without_a_proof_and_that_is_said() -> None:
    X, y = sample(10, 2)
    belief = SampledProcess(**SHORT).fit(X, y)
    domain = nm.Space.box([-1.0, -0.5], [0.75, 1.0]).model()
    with pytest.warns(UncertifiedWarning, match="network"):
        proposal = nm.maximize(belief, "ei", domain, X=X, y=y)
    assert proposal.status == "heuristic"


def test_a_run_learns_from_it() -> None:
    surrogate = {"name": "gp_mcmc", "burn_in": 5, "chain_length": 5}
    space = nm.Space.box([-1.0], [2.0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UncertifiedWarning)
        result = nm.optimize(
            lambda x: (x[0] - 0.3) ** 2, space, n_evals=14, surrogate=surrogate, seed=0
        )
    assert result.fun < 0.05
    assert any(step.status == "heuristic" for step in result.steps)


def test_the_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "emcee", None)
    with pytest.raises(MissingExtraError, match=r"nnbo_mip\[mcmc\]"):
        SampledProcess().fit(np.zeros((3, 1)), np.arange(3.0))


@pytest.mark.parametrize(
    "bad",
    [{"n_walkers": 7}, {"noise": "none"}, {"noise": -1.0}, {"kernel": "linear"}, {"burn_in": -1}],
)
def test_options_that_are_none_are_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=next(iter(bad))):
        SampledProcess(**bad)


def test_too_few_walkers_are_refused() -> None:
    with pytest.raises(InputError, match="twice the 5"):
        SampledProcess(n_walkers=8).fit(*sample(6, 3))
