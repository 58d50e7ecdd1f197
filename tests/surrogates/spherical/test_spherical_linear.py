"""Linear models on the sphere: the contract, evidence, draws, and sizes at the edge."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

import nnbo_mip as nm
from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.errors import InputError
from nnbo_mip.loop.settings.defaults import acquisition_for
from nnbo_mip.scores.posteriors.spherical import Sphere
from nnbo_mip.surrogates.spherical.evidence import Evidence, Scales, _likelihood
from nnbo_mip.surrogates.spherical.spherical_linear import SphericalLinear
from nnbo_mip.testing.surrogate_contract import SurrogateContract, sample


class TestSphericalLinear(SurrogateContract):
    def make(self, **options: Any) -> SphericalLinear:
        return SphericalLinear(**options)


class TestSphericalLinearOfGivenScales(SurrogateContract):
    def make(self, **options: Any) -> SphericalLinear:
        return SphericalLinear(most_steps=0, noise=0.001, **options)


def test_points_come_to_lie_on_the_sphere_and_slopes_are_those_of_differences() -> None:
    rng = np.random.default_rng(0)
    sphere = Sphere(rng.standard_normal(4), rng.uniform(0.1, 2.0, 4))
    X = rng.standard_normal((7, 4))
    psi = sphere.features(X)
    assert np.square(psi[:, :-1]).sum(axis=1) == pytest.approx(1.0, abs=1e-14)
    slopes = rng.standard_normal((7, 6))
    pulled = sphere.pull(X, slopes)
    for j in range(4):
        step = 1e-6 * np.eye(4)[j]
        change = (sphere.features(X + step) - sphere.features(X - step)) / 2e-6
        assert pulled[:, j] == pytest.approx((change * slopes).sum(axis=1), abs=1e-8)


def kernel(scales: Scales, X: FloatArray, Z: FloatArray) -> FloatArray:
    """Return c0 + c1 <P(x), P(z)>."""
    sphere = scales.sphere()
    a, b = sphere.features(X)[:, :-1], sphere.features(Z)[:, :-1]
    return np.asarray(scales.level_variance + scales.slope_variance * (a @ b.T))


@pytest.mark.parametrize(("n", "d"), [(5, 2), (12, 2), (6, 9)])
def test_mean_and_std_are_those_of_the_process(n: int, d: int) -> None:
    rng = np.random.default_rng(1)
    X, y = rng.uniform(-1.0, 1.0, (n, d)), rng.standard_normal(n)
    Z = rng.uniform(-1.0, 1.0, (20, d))
    belief = SphericalLinear(normalize=False, noise=0.05, most_steps=0).fit(X, y)
    scales = Scales(np.zeros(d), noise=0.05)
    inverse = np.linalg.inv(kernel(scales, X, X) + 0.05 * np.eye(n))
    k = kernel(scales, Z, X)
    assert belief.mean(Z) == pytest.approx(k @ inverse @ y, abs=1e-10)
    variance = 2.0 - np.einsum("ij,jk,ik->i", k, inverse, k)
    assert belief.std(Z) == pytest.approx(np.sqrt(variance), abs=1e-8)


@pytest.mark.parametrize(("n", "d"), [(4, 6), (9, 3)])
def test_evidence_is_that_of_a_normal_distribution_and_its_slopes_are_right(n: int, d: int) -> None:
    rng = np.random.default_rng(2)
    X, y = rng.uniform(-1.0, 1.0, (n, d)), rng.standard_normal(n)
    told = rng.uniform(0.0, 0.1, n)
    evidence = Evidence(X, y, told, learns_noise=True)

    def scales_at(numbers: FloatArray) -> Scales:
        share = float(1.0 / (1.0 + np.exp(-numbers[d])))
        c1, c0, noise = np.exp(numbers[d + 1 :]).tolist()
        return Scales(numbers[:d], share, c1, c0, noise)

    at = 0.4 * rng.standard_normal(d + 4)
    slopes = evidence.at(scales_at(at))[1]
    for j, step in enumerate(1e-6 * np.eye(d + 4)):
        ends = [evidence.at(scales_at(at + sign * step))[0] for sign in (1.0, -1.0)]
        assert slopes[j] == pytest.approx((ends[0] - ends[1]) / 2e-6, abs=1e-6)
    scales = scales_at(at)
    covariance = kernel(scales, X, X) + np.diag(told + scales.noise)
    value = _likelihood(scales.features(X), y, told + scales.noise)[0]
    expected = -0.5 * y @ np.linalg.solve(covariance, y) - 0.5 * np.linalg.slogdet(covariance)[1]
    assert value == pytest.approx(float(expected), abs=1e-9)


def test_draws_have_mean_and_spread_of_the_belief() -> None:
    X, y = sample(9, 2)
    belief = SphericalLinear().fit(X, y).scaled(2.0)
    Z = np.random.default_rng(0).uniform(-1.0, 1.0, (6, 2))
    values = np.array([belief.draw(seed).mean(Z) for seed in range(4000)])
    spread = belief.std(Z)
    assert np.abs(values.mean(axis=0) - belief.mean(Z)).max() < 0.08 * spread.max()
    assert values.std(axis=0) == pytest.approx(spread, rel=0.08)


def test_told_noise_is_believed() -> None:
    X = np.array([[-0.5], [-0.5], [0.5]])
    y = np.array([0.0, 1.0, 0.0])
    first = SphericalLinear().fit_with_noise(X, y, [1e-3, 10.0, 1e-3])
    second = SphericalLinear().fit_with_noise(X, y, [10.0, 1e-3, 1e-3])
    assert first.mean([[-0.5]])[0] < second.mean([[-0.5]])[0]
    assert first.std([[0.5]])[0] > 0.0


def test_an_input_that_matters_gets_the_larger_rate() -> None:
    rng = np.random.default_rng(5)
    X = rng.uniform(-1.0, 1.0, (40, 6))
    belief = SphericalLinear().fit(X, np.sin(2.0 * X[:, 2]))
    assert int(belief.rate.argmax()) == 2
    assert belief.rate[2] > 3.0 * np.delete(belief.rate, 2).max()


@pytest.mark.parametrize(("n", "d"), [(3, 5000), (3000, 2)])
def test_lopsided_sizes_are_learned_in_seconds(n: int, d: int) -> None:
    rng = np.random.default_rng(6)
    X = rng.uniform(-1.0, 1.0, (n, d))
    began = time.process_time()
    belief = SphericalLinear().fit(X, X.sum(axis=1))
    assert belief.directions.shape == (min(n, d + 2), d + 2)
    assert np.isfinite(belief.mean(X[:3])).all()
    assert time.process_time() - began < 10.0


@pytest.mark.parametrize(
    "y", [[2.5] * 6, [1e-30 * k for k in range(6)], [1e12 + k for k in range(6)]]
)
def test_constant_inputs_and_odd_values(y: list[float]) -> None:
    X = np.full((6, 3), 0.25)
    belief = SphericalLinear().fit(X, y)
    middle = float(np.mean(y))
    assert belief.mean(X[:1])[0] == pytest.approx(middle, abs=3.0 * float(np.ptp(y)) + 1e-9)
    proposal = nm.maximize(belief, "ts", nm.Space.box([-1.0] * 3, [1.0] * 3).model(), y=y)
    assert proposal.status == "optimal"
    assert proposal.check().confirmed


@pytest.mark.parametrize("options", [{"noise": 0.0}, {"share": 1.0}, {"most_steps": -1}])
def test_options_that_are_none_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=next(iter(options))):
        SphericalLinear(**options)


def test_a_run_of_many_inputs_takes_draws_and_certifies_every_step() -> None:
    assert acquisition_for(None, SphericalLinear()) == "ts"
    space = nm.Space.box([-1.0] * 50, [1.0] * 50)
    run = nm.optimize(
        lambda x: float(np.square(np.asarray(x) - 0.2).sum()),
        space,
        20,
        surrogate="spherical_linear",
        initial=8,
        seed=1,
    )
    steps = [step for step in run.steps if step.status != "initial"]
    assert len(steps) == 12
    assert all(step.status == "optimal" for step in steps)


def test_a_run_over_integers_and_categories_certifies_every_step() -> None:
    space = nm.Space(
        [
            nm.Real("a", 0.0, 5.0),
            nm.Integer("k", 1, 9),
            nm.Categorical("c", ["red", "green", "blue"]),
        ]
    )

    def cost(a: float, k: int, c: str) -> float:
        return (a - 2.0) ** 2 + abs(k - 4) + {"red": 0.0, "green": 1.0, "blue": 2.0}[c]

    run = nm.optimize(
        lambda p: cost(**p), space, 20, surrogate="spherical_linear", acquisition="mean", seed=0
    )
    steps = [step for step in run.steps if step.status != "initial"]
    assert steps
    assert all(step.status == "optimal" for step in steps)
