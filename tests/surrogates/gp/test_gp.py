"""Gaussian processes equal scikit-learn's and GPyTorch's, and stay defined on bad data."""

from __future__ import annotations

import contextlib
import math
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm

import nnbo_mip as nm
from nnbo_mip.core.errors import InputError, UnsupportedError
from nnbo_mip.surrogates import Capability, Surrogate
from nnbo_mip.surrogates.gp.gp import GaussianProcess, GpBelief
from nnbo_mip.surrogates.gp.kernels import FORMS, Kernel
from nnbo_mip.testing.surrogate_contract import SurrogateContract, sample


class TestDefaultGp(SurrogateContract):
    def make(self, **options: Any) -> Surrogate:
        return GaussianProcess(n_restarts=1, **options)


class TestNoisyMaternGp(SurrogateContract):
    def make(self, **options: Any) -> Surrogate:
        return GaussianProcess(
            kernel="matern",
            ard=True,
            noise=1e-2,
            noise_bounds=(1e-6, 1.0),
            n_restarts=0,
            standardize_inputs=True,
            **options,
        )


class TestFixedRationalQuadraticGp(SurrogateContract):
    def make(self, **options: Any) -> Surrogate:
        return GaussianProcess(
            kernel="rational_quadratic",
            length_scale=0.5,
            length_scale_bounds="fixed",
            amplitude_bounds="fixed",
            mixture_bounds="fixed",
            **options,
        )


class TestArdRationalQuadraticGp(SurrogateContract):
    def make(self, **options: Any) -> Surrogate:
        return GaussianProcess(kernel="rational_quadratic", ard=True, n_restarts=0, **options)


# -- pure use, draws, files -----------------------------------------------------------


def test_pure_is_the_same_process_that_is_not_to_be_scaled() -> None:
    X, y = sample(8, 2)
    scaled, pure = (nm.surrogates.create(name, n_restarts=0) for name in ("gp", "pgp"))
    assert scaled.scalable
    assert not pure.scalable
    probes = X + 0.1
    assert isinstance(pure, GaussianProcess)
    np.testing.assert_array_equal(pure.fit(X, y).std(probes), scaled.fit(X, y).std(probes))
    assert replace(pure, pure=False) == scaled


def test_the_preset_knows_its_options() -> None:
    made = nm.surrogates.create("pgp:kernel=matern,nu=1.5,length_scale_bounds=(0.1, 10.0)")
    assert made == GaussianProcess(
        kernel="matern", nu=1.5, length_scale_bounds=(0.1, 10.0), pure=True
    )
    with pytest.raises(InputError, match="did you mean 'kernel'"):
        nm.surrogates.create("pgp", kernle="rbf")


@pytest.mark.parametrize("kernel", FORMS)
def test_draws_have_the_mean_and_covariance_of_the_posterior(kernel: str) -> None:
    X, y = sample(6, 1)
    made = GaussianProcess(
        kernel=kernel,
        nu=1.5,
        length_scale=0.3,
        noise=0.01,
        length_scale_bounds="fixed",
        amplitude_bounds="fixed",
        mixture_bounds="fixed",
    )
    belief = made.fit(X, y).scaled(2.0)
    probes = np.array([[-0.83], [-0.2], [0.11], [0.13], [0.9]])
    paths = np.array([belief.draw(seed).mean(probes) for seed in range(1000)])
    size = belief.units.y_scale
    k, root = belief.kernel(probes, X) * size**2, belief.factor * size
    half = np.linalg.solve(root, k.T)
    covariance = 4.0 * (belief.kernel(probes, probes) * size**2 - half.T @ half)
    np.testing.assert_allclose(np.sqrt(covariance.diagonal()), belief.std(probes), rtol=1e-9)
    off = paths - belief.mean(probes)
    error = np.abs(off.mean(axis=0)) / (belief.std(probes) / math.sqrt(1000))
    assert error.max() < 4.5
    products = off[:, :, None] * off[:, None, :]
    error = np.abs(products.mean(axis=0) - covariance) / (products.std(axis=0) / math.sqrt(1000))
    assert error.max() < 4.5
    # One draw's values are normal: the last of these statistics is that of the whole law.
    assert abs((off < norm.ppf(0.1) * belief.std(probes)).mean() - 0.1) < 0.03


def test_a_draw_is_one_smooth_function_through_noise_free_data(tmp_path: Path) -> None:
    X, y = sample(8, 2)
    belief = GaussianProcess(n_restarts=0).fit(X, y)
    draw = belief.draw(5)
    np.testing.assert_allclose(draw.mean(X), y, atol=2e-3)
    probes = np.random.default_rng(6).uniform(-1.0, 1.0, (20, 2))
    assert np.array_equal(draw.mean(probes), belief.draw(5).mean(probes))
    assert np.abs(draw.mean(probes) - belief.draw(6).mean(probes)).max() > 1e-3
    assert np.array_equal(draw.std(probes), np.zeros(20))
    local = draw.differentiate(probes)
    for axis, unit in enumerate(np.eye(2)):
        slope = (draw.mean(probes + 1e-5 * unit) - draw.mean(probes - 1e-5 * unit)) / 2e-5
        np.testing.assert_allclose(local.mean_gradient[:, axis], slope, rtol=1e-5, atol=1e-5)
    assert np.array_equal(local.std_gradient, np.zeros((20, 2)))
    assert draw.draw(1) is draw
    draw.save(tmp_path / "draw.npz")
    assert np.array_equal(nm.surrogates.load(tmp_path / "draw.npz").mean(probes), draw.mean(probes))


def test_many_points_are_taken_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = sample(8, 2)
    belief = GaussianProcess(n_restarts=0).fit(X, y)
    probes = np.random.default_rng(6).uniform(-1.0, 1.0, (50, 2))
    whole = belief.differentiate(probes)
    monkeypatch.setattr("nnbo_mip.core.arrays.BLOCK", 2 * 56)
    parts = belief.differentiate(probes)
    for name in ("mean", "std", "mean_gradient", "std_gradient"):
        np.testing.assert_allclose(getattr(parts, name), getattr(whole, name), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", ["length_scale", "factor", "weights", "x_scale"])
def test_a_file_whose_arrays_do_not_fit_is_refused(name: str, tmp_path: Path) -> None:
    X, y = sample(4, 2)
    arrays = GaussianProcess(n_restarts=0).fit(X, y).to_arrays()
    with pytest.raises(ValueError, match=name):
        GpBelief.from_arrays({**arrays, name: arrays[name][:-1]})
    with pytest.raises(ValueError, match="kernel"):
        GpBelief.from_arrays({**arrays, "kernel": np.array("linear")})


# -- data that are hard ---------------------------------------------------------------


@pytest.mark.parametrize("alpha", [0.0, 1e-7])
@pytest.mark.parametrize("n_restarts", [0, 3])
def test_repeated_points_are_believed_to_have_their_average(alpha: float, n_restarts: int) -> None:
    X = np.array([[-0.7], [-0.7], [0.2], [0.2], [0.2], [0.9]])
    y = np.array([1.0, 2.0, 5.0, 5.0, 5.0, 3.0])
    belief = GaussianProcess(alpha=alpha, n_restarts=n_restarts).fit(X, y)
    np.testing.assert_allclose(belief.mean([[-0.7], [0.2], [0.9]]), [1.5, 5.0, 3.0], atol=1e-2)
    assert (belief.std([[-0.7], [0.2], [0.9]]) < 0.05).all()
    assert belief.std([[0.55]]) > belief.std([[0.2]])


def test_the_diagonal_is_raised_only_where_it_must_be() -> None:
    X, y = sample(10, 2)
    twice = np.concatenate([X, X])
    fixed: dict[str, Any] = {"length_scale_bounds": "fixed", "amplitude_bounds": "fixed"}
    assert GaussianProcess(alpha=0.0, **fixed).fit(X, y).diagonal == 0.0
    assert GaussianProcess(alpha=1e-7, **fixed).fit(twice, np.tile(y, 2)).diagonal == 1e-7
    raised = GaussianProcess(alpha=0.0, **fixed).fit(twice, np.tile(y, 2)).diagonal
    assert raised == 1e-10


def test_a_factor_of_rounding_errors_is_not_believed() -> None:
    # LAPACK factorizes about half of these matrices, with last pivots that are pure rounding.
    factorized = 0
    for seed in range(20):
        X = np.random.default_rng(seed).uniform(-1.0, 1.0, (8, 1))
        kernel = Kernel("rbf", np.array([3.0]))
        with contextlib.suppress(np.linalg.LinAlgError):
            np.linalg.cholesky(kernel(X, X))
            factorized += 1
        made = GaussianProcess(
            alpha=0.0, length_scale=3.0, length_scale_bounds="fixed", amplitude_bounds="fixed"
        )
        y = np.where(X[:, 0] > 0.0, 2.0, 1.0)
        belief = made.fit(X, y)
        assert np.square(belief.factor.diagonal()).min() > 80.0 * np.finfo(np.float64).eps
    assert factorized >= 5


@pytest.mark.parametrize("values", [[2.5], [4.0, 4.0, 4.0], [1e12, 1e12 * (1 + 2e-16), 1e12]])
def test_values_that_do_not_vary_keep_the_hyper_parameters(values: list[float]) -> None:
    X = np.linspace(-0.8, 0.6, len(values))[:, None]
    belief = GaussianProcess(length_scale=0.3, amplitude=2.0).fit(X, values)
    assert belief.kernel.length_scale == [0.3]
    assert belief.kernel.amplitude == 2.0
    np.testing.assert_allclose(belief.mean([[-0.8], [5.0]]), values[0], rtol=1e-9)
    assert belief.std([[40.0]]) == pytest.approx(math.sqrt(2.0), rel=1e-6)


@pytest.mark.parametrize("size", [1e-300, 1e-12, 1e12, 1e300])
def test_the_size_of_y_only_scales_the_belief(size: float) -> None:
    X, y = sample(10, 2)
    made = GaussianProcess(n_restarts=1, noise=0.01)
    plain, sized = made.fit(X, y), made.fit(X, size * y)
    probes = np.random.default_rng(3).uniform(-1.0, 1.0, (20, 2))
    np.testing.assert_allclose(sized.mean(probes) / size, plain.mean(probes), rtol=1e-4)
    np.testing.assert_allclose(sized.std(probes) / size, plain.std(probes), rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(sized.noise_std(probes) / size, plain.noise_std(probes), rtol=1e-9)


def test_a_known_range_of_y_takes_the_place_of_standardizing() -> None:
    X, y = sample(10, 2)
    fixed: dict[str, Any] = {"length_scale_bounds": "fixed", "amplitude_bounds": "fixed"}
    belief = GaussianProcess(y_range=(-2.0, 6.0), **fixed).fit(X, y)
    unit = GaussianProcess(normalize=False, **fixed).fit(X, (y - 2.0) / 4.0)
    probes = X + 0.2
    np.testing.assert_allclose(belief.mean(probes), 2.0 + 4.0 * unit.mean(probes), rtol=1e-9)
    np.testing.assert_allclose(belief.std(probes), 4.0 * unit.std(probes), rtol=1e-6)
    np.testing.assert_allclose(belief.std([[90.0, 90.0]]), 4.0, rtol=1e-9)


def test_standardized_inputs_need_no_other_length_scale() -> None:
    X, y = sample(10, 2)
    made = GaussianProcess(standardize_inputs=True, n_restarts=0)
    far = 1e4 + 300.0 * X
    np.testing.assert_allclose(
        made.fit(far, y).mean(far + 30.0), made.fit(X, y).mean(X + 0.1), rtol=1e-5
    )
    local = made.fit(far, y).differentiate(far + 30.0)
    near = made.fit(X, y).differentiate(X + 0.1)
    np.testing.assert_allclose(
        300.0 * local.mean_gradient, near.mean_gradient, rtol=1e-3, atol=1e-3
    )


def test_ard_sees_which_input_matters() -> None:
    X, _ = sample(30, 2)
    belief = GaussianProcess(ard=True, n_restarts=2).fit(X, np.sin(4.0 * X[:, 0]))
    assert belief.kernel.length_scale[1] > 20.0 * belief.kernel.length_scale[0]


# -- options --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"kernel": "linear"}, "kernel must be one of rbf"),
        ({"backend": "gpflow"}, "backend must be one of direct, sklearn"),
        ({"nu": 0.0}, "nu must be"),
        ({"nu": 31.0}, "nu must be"),
        ({"alpha": -1e-9}, "alpha must be"),
        ({"noise": -1.0}, "noise must be"),
        ({"n_restarts": -1}, "n_restarts must be"),
        ({"seed": 1.5}, "seed must be"),
        ({"ard": "yes"}, "ard must be True or False"),
        ({"length_scale": 0.0}, "length_scale must be"),
        ({"length_scale": (1.0, 2.0)}, "ard=True"),
        ({"length_scale_bounds": (1.0, 1.0)}, "low < high"),
        ({"length_scale_bounds": 3.0}, "each end of length_scale_bounds"),
        ({"length_scale_bounds": "free"}, "each end of length_scale_bounds"),
        ({"amplitude_bounds": (0.0, 1.0)}, "each end of amplitude_bounds"),
        ({"mixture": 3.0, "mixture_bounds": (4.0, 5.0)}, "mixture must lie within"),
        ({"noise_bounds": (1e-6, 1.0)}, "noise must be a number > 0"),
        ({"y_range": (0.0, 1.0), "normalize": False}, "drop one of them"),
        (
            {"kernel": "rational_quadratic", "ard": True, "backend": "sklearn"},
            "backend='direct'",
        ),
    ],
)
def test_options_that_make_no_sense_are_refused(options: dict[str, Any], match: str) -> None:
    with pytest.raises((InputError, UnsupportedError), match=match):
        GaussianProcess(**options)


def test_length_scales_must_be_as_many_as_inputs() -> None:
    X, y = sample(5, 3)
    with pytest.raises(InputError, match="each of the 3 inputs"):
        GaussianProcess(ard=True, length_scale=(1.0, 2.0)).fit(X, y)


def test_noise_is_offered_where_there_is_some() -> None:
    assert Capability.NOISE not in GaussianProcess().capabilities
    assert Capability.NOISE in GaussianProcess(noise=0.1).capabilities
    X, y = sample(40, 1)
    noisy = y + 0.5 * np.random.default_rng(4).standard_normal(40)
    made = GaussianProcess(noise=0.1, noise_bounds=(1e-6, 10.0), n_restarts=2)
    assert made.fit(X, noisy).noise_std([[0.0]]) == pytest.approx([0.5], abs=0.15)
    assert made.fit(X, y).noise_std([[0.0]]) < 0.01


def test_predicting_needs_no_library_of_the_fit(tmp_path: Path) -> None:
    X, y = sample(5, 2)
    GaussianProcess(n_restarts=0).fit(X, y).save(tmp_path / "belief.npz")
    script = f"""
import sys, nnbo_mip as nm
belief = nm.surrogates.load({str(tmp_path / "belief.npz")!r})
belief.differentiate([[0.1, 0.2]]), belief.draw(0).mean([[0.1, 0.2]])
assert not {{"torch", "sklearn"}} & set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", script], check=True, cwd=Path(__file__).parents[3])


def noisy_sample() -> tuple[Any, Any, Any]:
    X, y = sample(12, 2, seed=5)
    return X, y, np.linspace(0.0, 2.0, 12) * np.std(y)


@pytest.mark.usefixtures("with_gpytorch")
@pytest.mark.parametrize("backend", ["direct", "sklearn", "gpytorch"])
def test_told_deviations_are_variances_on_the_diagonal(backend: str) -> None:
    """By hand: mean k (K + diag(noise^2))^-1 y and its std, with given hyper-parameters."""
    X, y, noise = noisy_sample()
    gp = GaussianProcess(
        backend=backend,
        length_scale_bounds="fixed",
        amplitude_bounds="fixed",
        normalize=False,
        alpha=1e-6,
    )
    belief = gp.fit_with_noise(X, y, noise)
    points = np.random.default_rng(0).uniform(-1.0, 1.0, (7, 2))
    square = ((X[:, None] - X[None]) ** 2).sum(-1)
    K = np.exp(-0.5 * square) + np.diag(1e-6 + noise**2)
    k = np.exp(-0.5 * ((points[:, None] - X[None]) ** 2).sum(-1))
    assert belief.mean(points) == pytest.approx(k @ np.linalg.solve(K, y), rel=1e-8)
    variance = 1.0 - np.einsum("ij,ji->i", k, np.linalg.solve(K, k.T))
    assert belief.std(points) == pytest.approx(np.sqrt(variance), rel=1e-6)


@pytest.mark.usefixtures("with_gpytorch")
@pytest.mark.parametrize("backend", ["sklearn", "gpytorch"])
def test_likelihoods_with_told_deviations_agree(backend: str) -> None:
    X, y, noise = noisy_sample()
    own = GaussianProcess(n_restarts=2).fit_with_noise(X, y, noise)
    other = GaussianProcess(n_restarts=2, backend=backend).fit_with_noise(X, y, noise)
    assert other.kernel.length_scale == pytest.approx(own.kernel.length_scale, rel=1e-3)
    assert other.mean(X) == pytest.approx(own.mean(X), rel=1e-3, abs=1e-3 * np.ptp(y))


def test_told_deviations_are_in_the_units_of_y_and_none_change_nothing() -> None:
    X, y, noise = noisy_sample()
    gp = GaussianProcess(n_restarts=0)
    small, large = gp.fit_with_noise(X, y, noise), gp.fit_with_noise(X, 1e3 * y, 1e3 * noise)
    assert large.mean(X) == pytest.approx(1e3 * small.mean(X), rel=1e-6)
    assert np.array_equal(gp.fit(X, y).mean(X), gp.fit_with_noise(X, y, np.zeros(12)).mean(X))
    errors = np.abs(small.mean(X) - y)
    assert errors[0] < 1e-3 * np.ptp(y) < errors[-1]


def test_a_belief_with_told_deviations_is_stored_and_maximized_with_a_proof(tmp_path: Path) -> None:
    X, y, noise = noisy_sample()
    belief = GaussianProcess(n_restarts=0).fit_with_noise(X, y, noise)
    belief.save(tmp_path / "belief.npz")
    again = nm.surrogates.load(tmp_path / "belief.npz")
    assert np.array_equal(again.std(X), belief.std(X))
    assert np.array_equal(again.draw(3).mean(X), belief.draw(3).mean(X))
    domain = nm.Space.box([-1.0, -1.0], [1.0, 1.0]).model()
    proposal = nm.maximize(belief, "ei", domain, y=y)
    assert proposal.status == "optimal"
    side = np.linspace(-1.0, 1.0, 101)
    grid = np.array(np.meshgrid(side, side)).reshape(2, -1).T
    scores = nm.acquisitions.create("ei").scorer(belief, y=y).score(grid)
    assert scores.max() <= proposal.bound
    assert proposal.check().confirmed


@pytest.mark.parametrize("noise", [[0.1], -1.0, [np.nan] * 12, "much"])
def test_deviations_that_are_none_are_refused(noise: Any) -> None:
    X, y, _ = noisy_sample()
    with pytest.raises(InputError, match="noise must be"):
        GaussianProcess().fit_with_noise(X, y, noise)
