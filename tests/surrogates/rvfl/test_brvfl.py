"""The Bayesian RVFL: the contract for every option, its features, its uncertainty, its presets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import kstest

import nnbo_mip as nm
from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.errors import InputError, UnsupportedError
from nnbo_mip.surrogates.rvfl.brvfl import Brvfl, BrvflBelief
from nnbo_mip.surrogates.rvfl.evidence import learn_alpha
from nnbo_mip.surrogates.rvfl.features import RandomFeatures
from nnbo_mip.testing.surrogate_contract import SurrogateContract, sample

VARIANTS: list[dict[str, Any]] = [
    {},
    {"direct_link": True},
    {"activation": "tanh"},
    {"activation": "tanh", "direct_link": True, "include_noise": True},
    {"direct_link": True, "include_noise": True, "solver": "cholesky"},
]


class TestRelu(SurrogateContract):
    def make(self, **options: Any) -> Brvfl:
        return Brvfl(n_hidden=60, **options)


class TestReluWithDirectLink(SurrogateContract):
    def make(self, **options: Any) -> Brvfl:
        return Brvfl(n_hidden=40, direct_link=True, alpha=2.0, **options)


class TestTanhWithNoise(SurrogateContract):
    def make(self, **options: Any) -> Brvfl:
        return Brvfl(n_hidden=40, activation="tanh", include_noise=True, **options)


class TestCholesky(SurrogateContract):
    def make(self, **options: Any) -> Brvfl:
        return Brvfl(n_hidden=40, solver="cholesky", direct_link=True, **options)


class TestOneFeature(SurrogateContract):
    def make(self, **options: Any) -> Brvfl:
        return Brvfl(n_hidden=1, include_noise=True, **options)


def probes(n: int = 30, d: int = 2) -> FloatArray:
    return np.random.default_rng(5).uniform(-1.5, 1.5, (n, d))


# -- random features ----------------------------------------------------------------------


@pytest.mark.parametrize("d", [1, 2, 7])
def test_directions_are_uniform_on_the_sphere_and_biases_normal(d: int) -> None:
    features = RandomFeatures.draw(5000, d, "relu", False, np.random.default_rng(0))
    norms = np.linalg.norm(features.directions, axis=1)
    np.testing.assert_allclose(norms, 1.0, rtol=1e-14)
    assert kstest(features.biases, "norm").pvalue > 0.05
    # Mean 0 and covariance I / d, each within four standard errors.
    assert np.abs(features.directions.mean(axis=0)).max() < 4.0 / np.sqrt(5000 * d)
    second = features.directions.T @ features.directions / 5000
    assert np.abs(second - np.eye(d) / d).max() < 4.0 / (d * np.sqrt(5000 / 2))


@pytest.mark.parametrize("activation", ["relu", "tanh"])
def test_there_are_as_many_features_as_units_and_inputs_with_a_direct_link(
    activation: str,
) -> None:
    u = probes(4, 3)
    for direct_link, count in ((False, 20), (True, 23)):
        rng = np.random.default_rng(1)
        features = RandomFeatures.draw(20, 3, activation, direct_link, rng)
        psi = features.evaluate(u)
        assert psi.shape == (4, count)
        assert features.n_features == count
        z = np.array(
            [
                [v @ point + b for v, b in zip(features.directions, features.biases, strict=True)]
                for point in u
            ]
        )
        expected = np.where(z > 0, z, 0) if activation == "relu" else np.tanh(z)
        np.testing.assert_allclose(psi[:, :20], expected, rtol=1e-12, atol=1e-14)
        assert np.array_equal(psi[:, 20:], u[:, : count - 20])


# -- the belief ---------------------------------------------------------------------------


@pytest.mark.parametrize("options", VARIANTS)
@pytest.mark.parametrize("n", [1, 9, 80])
def test_the_posterior_has_a_root_of_the_variance(options: dict[str, Any], n: int) -> None:
    belief = Brvfl(n_hidden=50, **options).fit(*sample(n, 2)).scaled(1.7)
    posterior, X = belief.posterior(), probes()
    psi = belief.features.evaluate(belief.units.inward(X))
    variance = np.square(psi @ posterior.root.T).sum(axis=1) + posterior.noise**2
    np.testing.assert_allclose(variance, belief.std(X) ** 2, rtol=1e-8, atol=1e-12)
    assert posterior.noise == (belief.noise_std(X)[0] if belief.include_noise else 0.0)


@pytest.mark.parametrize("direct_link", [False, True])
def test_the_network_gives_the_features_that_the_root_reads(direct_link: bool) -> None:
    belief = Brvfl(n_hidden=25, direct_link=direct_link).fit(*sample(9, 2))
    network, X, root = belief.network(), probes(), belief.posterior().root
    count = 27 if direct_link else 25
    assert network.output_names == ("mean", *(f"feature{k}" for k in range(count)))
    psi = np.column_stack([network.evaluate(X, f"feature{k}") for k in range(count)])
    np.testing.assert_allclose(np.linalg.norm(psi @ root.T, axis=1), belief.std(X), rtol=1e-7)


def test_one_feature_keeps_its_numbered_name() -> None:
    network = Brvfl(n_hidden=1).fit(*sample(5, 2)).network()
    assert network.output_names == ("mean", "feature0")


@pytest.mark.parametrize("options", VARIANTS)
def test_both_solvers_agree(options: dict[str, Any]) -> None:
    for n in (5, 60, 400):
        X, y = sample(n, 2)
        by = {s: Brvfl(**{**options, "solver": s}).fit(X, y) for s in ("svd", "cholesky")}
        assert by["svd"].alpha == by["cholesky"].alpha
        for values in ("mean", "std"):
            first, second = (getattr(belief, values)(probes()) for belief in by.values())
            np.testing.assert_allclose(first, second, rtol=0, atol=1e-8 * y.std())


def test_it_is_the_gaussian_process_with_a_linear_kernel_on_its_features() -> None:
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import ConstantKernel, DotProduct

    X, y = sample(25, 2)
    belief = Brvfl(n_hidden=80, direct_link=True, include_noise=True).fit(X, y)

    def features(points: FloatArray) -> FloatArray:
        return belief.features.evaluate((points - X.mean(axis=0)) / X.std(axis=0))

    linear = DotProduct(sigma_0=0.0, sigma_0_bounds="fixed")
    kernel = ConstantKernel(1.0 / belief.alpha, "fixed") * linear
    process = GaussianProcessRegressor(kernel, alpha=1e-3, optimizer=None)
    process.fit(features(X), (y - y.mean()) / y.std())
    mean, std = process.predict(features(probes()), return_std=True)
    np.testing.assert_allclose(belief.mean(probes()), y.mean() + y.std() * mean, atol=1e-8)
    expected = y.std() * np.sqrt(std**2 + 1e-3)
    np.testing.assert_allclose(belief.std(probes()), expected, atol=1e-8)


@pytest.mark.parametrize("options", VARIANTS)
def test_gradients_are_exact(options: dict[str, Any]) -> None:
    belief = Brvfl(n_hidden=30, **options).fit(*sample(12, 3)).scaled(1.3)
    X, step = probes(60, 3), 1e-6
    local = belief.differentiate(X)
    u = belief.units.inward(X)
    z = u @ belief.features.directions.T + belief.features.biases
    smooth = (np.abs(z) > 1e-4).all(axis=1)  # a difference quotient must not cross a kink
    assert smooth.sum() > 50
    for axis, unit in enumerate(np.eye(3)):
        for values, slopes in (
            (belief.mean, local.mean_gradient),
            (belief.std, local.std_gradient),
        ):
            quotient = (values(X + step * unit) - values(X - step * unit)) / (2.0 * step)
            np.testing.assert_allclose(slopes[smooth, axis], quotient[smooth], rtol=1e-5, atol=1e-6)


def test_draws_have_the_mean_and_the_std_of_the_belief() -> None:
    belief = Brvfl(n_hidden=40).fit(*sample(7, 2)).scaled(1.5)
    X = probes(12)
    draws = np.array([belief.draw(seed).mean(X) for seed in range(4000)])
    covariance = 1.5**2 * belief.units.y_scale**2
    psi = belief.features.evaluate(belief.units.inward(X))
    covariance = covariance * psi @ belief.weights.covariance() @ psi.T
    assert np.abs(draws.mean(axis=0) - belief.mean(X)).max() < 0.05 * belief.std(X).max()
    assert np.abs(np.cov(draws.T) - covariance).max() < 0.05 * covariance.max()
    np.testing.assert_allclose(draws.std(axis=0), belief.std(X), rtol=0.06)


def test_a_draw_is_a_belief_with_a_network_and_a_file(tmp_path: Path) -> None:
    belief = Brvfl(n_hidden=40, direct_link=True, include_noise=True).fit(*sample(7, 2))
    drawn, X = belief.draw(3), probes()
    assert np.array_equal(drawn.mean(X), belief.draw(3).mean(X))
    assert not np.allclose(drawn.mean(X), belief.draw(4).mean(X))
    np.testing.assert_allclose(drawn.network().evaluate(X, "mean"), drawn.mean(X), rtol=1e-9)
    assert not drawn.std(X).any()
    assert not drawn.differentiate(X).std_gradient.any()
    drawn.save(tmp_path / "draw.npz")
    assert np.array_equal(nm.surrogates.load(tmp_path / "draw.npz").mean(X), drawn.mean(X))


def test_noise_is_reported_and_included_on_request() -> None:
    X, y = sample(20, 2)
    latent = Brvfl(beta=400.0).fit(X, y)
    total = Brvfl(beta=400.0, include_noise=True).fit(X, y)
    np.testing.assert_allclose(latent.noise_std(probes()), y.std() / 20.0)
    expected = np.sqrt(latent.std(probes()) ** 2 + np.var(y) / 400.0)
    np.testing.assert_allclose(total.std(probes()), expected, rtol=1e-12)
    assert (latent.std(X) < latent.noise_std(X)).all()


def test_it_is_certain_at_the_data_and_less_so_far_away() -> None:
    X, y = sample(20, 2)
    belief = Brvfl().fit(X, y)
    assert np.abs(belief.mean(X) - y).max() < 0.1 * y.std()
    far = belief.std(np.array([[1.5, 1.5], [-1.5, 1.5], [1.5, -1.5], [-1.5, -1.5]]))
    assert far.min() > 3.0 * belief.std(X).max()


def test_one_observation_is_centered_and_keeps_its_scale() -> None:
    belief = Brvfl(alpha=1.0).fit([[0.3, -0.2]], [5.0])
    assert np.array_equal(belief.units.x_center, [0.3, -0.2])
    assert np.array_equal(belief.units.x_scale, [1.0, 1.0])
    np.testing.assert_allclose(belief.mean([[0.3, -0.2]]), 5.0)
    assert belief.std([[0.3, -0.2]]) < 0.04 < belief.std([[-1.0, 1.0]])


def test_a_constant_column_is_centered_and_keeps_its_scale() -> None:
    X, y = sample(15, 2)
    with_constant = np.column_stack([X[:, 0], np.full(15, 0.4), X[:, 1]])
    belief = Brvfl().fit(with_constant, y)
    assert belief.units.x_center[1] == 0.4
    assert belief.units.x_scale[1] == 1.0
    assert np.abs(belief.mean(with_constant) - y).max() < 0.1 * y.std()
    away = with_constant + np.array([0.0, 1.0, 0.0])
    assert belief.std(away).min() > belief.std(with_constant).max()


def test_many_points_are_evaluated_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    belief = Brvfl(n_hidden=20).fit(*sample(9, 2))
    whole = belief.differentiate(probes(50))
    monkeypatch.setattr("nnbo_mip.core.arrays.BLOCK", 2 * 20 * 7)
    parts = belief.differentiate(probes(50))
    for name in ("mean", "std", "mean_gradient", "std_gradient"):
        np.testing.assert_allclose(getattr(parts, name), getattr(whole, name), rtol=1e-10)
    np.testing.assert_allclose(belief.std(probes(50)), whole.std, rtol=1e-12)


def test_a_known_range_of_y_replaces_its_moments() -> None:
    belief = Brvfl(y_range=(-10.0, 30.0), alpha=1.0).fit(*sample(9, 2))
    assert (belief.units.y_center, belief.units.y_scale) == (10.0, 20.0)
    np.testing.assert_allclose(belief.noise_std(probes()), 20.0 / np.sqrt(1000.0))


def test_learning_alpha_decomposes_the_features_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[object] = []
    svd = np.linalg.svd
    monkeypatch.setattr("numpy.linalg.svd", lambda *a, **k: calls.append(a) or svd(*a, **k))
    belief = Brvfl().fit(*sample(40, 2))
    assert belief.alpha != 1.0
    assert len(calls) == 1


def test_alpha_is_the_evidences_or_the_users() -> None:
    from nnbo_mip.surrogates.rvfl.bayesian_linear import Spectrum

    X, y = sample(20, 2)
    belief = Brvfl().fit(X, y)
    psi = belief.features.evaluate(belief.units.inward(X))
    spectrum = Spectrum.of(psi, belief.units.values_inward(y))
    assert belief.alpha == learn_alpha(spectrum, 1000.0, 1e-6, 1000)
    assert Brvfl(alpha=7).fit(X, y).alpha == 7.0


# -- options ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"n_hidden": 0}, "n_hidden"),
        ({"activation": "sigmoid"}, "relu, tanh"),
        ({"direct_link": 1}, "True or False"),
        ({"alpha": 0.0}, "alpha"),
        ({"alpha": "learn"}, "evidence"),
        ({"beta": -1.0}, "beta"),
        ({"solver": "qr"}, "svd, cholesky"),
        ({"tolerance": 0.0}, "tolerance"),
        ({"max_iterations": 0}, "max_iterations"),
        ({"include_noise": "yes"}, "include_noise"),
        ({"y_range": (1.0, 1.0)}, "y_range"),
        ({"seed": -1}, "seed"),
    ],
)
def test_options_that_are_none_are_refused(options: dict[str, Any], match: str) -> None:
    with pytest.raises(InputError, match=match):
        Brvfl(**options)


def test_tanh_says_how_to_get_a_network() -> None:
    belief = Brvfl(n_hidden=5, activation="tanh").fit(*sample(4, 2))
    with pytest.raises(UnsupportedError, match="network"):
        belief.network()


PRESETS = {1: ("tanh", False), 2: ("tanh", True), 3: ("relu", False), 4: ("relu", True)}


@pytest.mark.parametrize(("number", "variant"), PRESETS.items())
def test_presets_are_the_four_variants(number: int, variant: tuple[str, bool]) -> None:
    made = nm.surrogates.create(f"brvfl{number}", seed=2)
    activation, direct_link = variant
    assert made == Brvfl(
        n_hidden=300,
        activation=activation,
        direct_link=direct_link,
        alpha="evidence",
        beta=1000.0,
        include_noise=True,
        seed=2,
    )


def test_presets_take_every_option_but_those_they_are_named_for() -> None:
    assert nm.surrogates.create("brvfl3:n_hidden=20,alpha=2.5").n_hidden == 20
    assert not nm.surrogates.create("brvfl3", include_noise=False).include_noise
    for option in ({"activation": "tanh"}, {"direct_link": True}, {"hidden": 3}):
        with pytest.raises(InputError, match="brvfl preset"):
            nm.surrogates.create("brvfl3", **option)


def test_a_presets_belief_is_saved_as_its_family(tmp_path: Path) -> None:
    belief = nm.surrogates.create("brvfl4", n_hidden=10).fit(*sample(4, 2))
    belief.save(tmp_path / "belief.npz")
    loaded = nm.surrogates.load(tmp_path / "belief.npz")
    assert isinstance(loaded, BrvflBelief)
    assert np.array_equal(loaded.std(probes()), belief.std(probes()))
