"""Sum-product network regression: the contract, structure, brute force, EM, superfluous parts."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.errors import InputError
from nnbo_mip.surrogates.base.mixture import log_normal
from nnbo_mip.surrogates.densities.spn import Spn
from nnbo_mip.surrogates.densities.sum_product import SumProductNetwork, check_track, random_track
from nnbo_mip.surrogates.densities.sum_product_em import learn
from nnbo_mip.testing.surrogate_contract import SurrogateContract, sample


class TestSpn(SurrogateContract):
    def make(self, **options: Any) -> Spn:
        return Spn(channels=3, candidates=8, folds=2, n_restarts=1, epochs=20, **options)


class TestTracks(SurrogateContract):
    def make(self, **options: Any) -> Spn:
        return Spn(
            channels=2,
            tracks=2,
            candidates=8,
            folds=2,
            n_restarts=2,
            epochs=20,
            blend="normal",
            **options,
        )


def _network(d: int, channels: int, tracks: int, seed: int = 0) -> SumProductNetwork:
    """Return a network of random parameters."""
    rng = np.random.default_rng(seed)

    def shares(*shape: int) -> FloatArray:
        drawn = rng.uniform(0.1, 1.0, shape)
        axes = (-2, -1) if len(shape) > 1 else (0,)
        return np.asarray(drawn / drawn.sum(axis=axes, keepdims=True))

    return SumProductNetwork(
        np.stack([random_track(d + 1, rng) for _ in range(tracks)]),
        rng.uniform(-1.0, 1.0, (tracks, d + 1, channels)),
        rng.uniform(0.2, 0.6, (tracks, d + 1, channels)),
        shares(tracks, d - 1, channels, channels, channels),
        shares(tracks, channels, channels),
        shares(tracks),
    )


def _enumerated(network: SumProductNetwork, u: FloatArray) -> FloatArray:
    """Return A_c(u) (T C) by adding up every sub-network, one child chosen at each sum."""
    c, found = network.n_channels, []
    for index, share in enumerate(network.tracks):
        means, stds = network.leaf_means[index], network.leaf_stds[index]
        # A region: for each of its values the list of (coefficient, leaf of each variable).
        regions: list[list[list[tuple[float, dict[int, int]]]]] = [
            [[(1.0, {variable: k})] for k in range(c)] for variable in range(network.n_inputs + 1)
        ]
        weights = (*network.inner[index], network.root[index][None])
        for (left, right), weight in zip(network.pairs[index], weights, strict=True):
            regions.append(
                [
                    [
                        (one[i, j] * p * q, a | b)
                        for i, j in itertools.product(range(c), repeat=2)
                        for (p, a), (q, b) in itertools.product(regions[left][i], regions[right][j])
                    ]
                    for one in weight
                ]
            )
        parts = np.zeros(c)
        for coefficient, leaves in regions[-1][0]:
            logs = [
                float(log_normal(u[v], means[v, k], stds[v, k]))
                for v, k in leaves.items()
                if v < network.n_inputs
            ]
            parts[leaves[network.n_inputs]] += share * coefficient * np.exp(sum(logs))
        found.append(parts)
    return np.concatenate(found)


@pytest.mark.parametrize(("d", "tracks"), [(1, 1), (2, 2), (3, 1)])
def test_the_conditional_is_that_of_all_sub_networks(d: int, tracks: int) -> None:
    network = _network(d, 2, tracks)
    U = np.random.default_rng(1).uniform(-1.5, 1.5, (5, d))
    parts = network.parts(U)
    for row, u in zip(np.exp(parts.logs), U, strict=True):
        np.testing.assert_allclose(row, _enumerated(network, u), rtol=1e-10)


@pytest.mark.parametrize("d", [1, 2, 4])
def test_the_density_has_the_integral_one(d: int) -> None:
    network = _network(d, 3, 2)
    # Importance sampling from a wide normal distribution.
    rng = np.random.default_rng(2)
    points = 1.5 * rng.standard_normal((40_000, d + 1))
    logs = network.parts(points[:, :-1]).log_joint(points[:, -1])
    drawn = log_normal(points, np.zeros(1), np.array(1.5)).sum(axis=1)
    ratios = np.exp(logs - drawn)
    assert ratios.mean() == pytest.approx(1.0, abs=4.0 * ratios.std() / 200.0)


def test_nothing_underflows_far_from_the_data() -> None:
    network = _network(3, 4, 2)
    far = np.full((2, 3), 300.0)
    assert np.isfinite(network.parts(far).logs).all()
    assert np.isfinite(network.slopes(far).logs).all()


def test_learning_never_lowers_what_it_maximizes() -> None:
    X, y = sample(40, 3)
    rng = np.random.default_rng(0)
    tracks = [random_track(4, rng) for _ in range(2)]
    present = np.ones((3, 40))
    present[1, ::2] = 0.0
    learned = learn(
        np.column_stack([X, y - y.mean()]), present, tracks, 4, np.full((3, 4), 8.0), 60, -1.0, rng
    )
    objectives = np.array(learned.objectives)
    assert objectives.shape == (60, 3)
    assert (np.diff(objectives, axis=0) >= -1e-9 * np.abs(objectives[:-1])).all()
    assert (objectives[-1] > objectives[0] + 10.0).all()


def test_an_observation_that_is_held_out_has_no_influence() -> None:
    X, y = sample(20, 2)
    data = np.column_stack([X, y - y.mean()])
    track = [random_track(3, np.random.default_rng(1))]
    shapes = np.full((1, 3), 5.0)
    present = np.ones((1, 20))
    present[0, 12:] = 0.0
    masked = learn(data, present, track, 3, shapes, 15, -1.0, np.random.default_rng(4))
    without = learn(
        data[:12], np.ones((1, 12)), track, 3, shapes, 15, -1.0, np.random.default_rng(4)
    )
    for name in ("leaf_means", "leaf_stds", "root", "inner"):
        np.testing.assert_allclose(
            getattr(masked.networks[0], name), getattr(without.networks[0], name), rtol=1e-9
        )


def test_superfluous_products_get_no_weight() -> None:
    """Three clusters on the diagonal need three of the nine products of three leaves an axis."""
    rng = np.random.default_rng(0)
    centers = rng.choice([-1.0, 0.0, 1.0], 150)
    data = centers[:, None] + 0.05 * rng.standard_normal((150, 2))
    track = [random_track(2, rng)]
    learned = learn(data, np.ones((8, 150)), track, 3, np.full((8, 2), 200.0), 200, 1e-7, rng)
    best = learned.networks[int(learned.objectives[-1].argmax())]
    weights = np.sort(best.root[0].ravel())
    assert (weights[:6] < 1e-3).all()
    assert (weights[6:] > 0.2).all()


def test_a_leaf_without_data_has_the_variance_of_the_prior() -> None:
    data = np.zeros((1, 2))
    learned = learn(
        data,
        np.ones((1, 1)),
        [random_track(2, np.random.default_rng(0))],
        4,
        np.array([[3.0, 9.0]]),
        40,
        -1.0,
        np.random.default_rng(1),
    )
    # The mode beta / (alpha + 1), drawn to 0 a little by the one observation.
    stds = np.square(learned.networks[0].leaf_stds[0])
    assert (stds[0] <= 1.0 / 4.0 + 1e-12).all()
    assert (stds[1] <= 1.0 / 10.0 + 1e-12).all()
    assert stds[0].max() > 1.0 / 5.0


@pytest.mark.parametrize("variables", [2, 3, 6, 9])
def test_tracks_are_binary_trees_of_least_depth(variables: int) -> None:
    pairs = random_track(variables, np.random.default_rng(0))
    check_track(pairs)
    depths = [0] * variables
    for left, right in pairs:
        depths.append(1 + max(depths[left], depths[right]))
    assert depths[-1] == int(np.ceil(np.log2(variables)))


@pytest.mark.parametrize(
    ("pairs", "match"),
    [
        ([[0, 0], [1, 2]], "share a variable"),
        ([[0, 1], [3, 1]], "share a variable"),
        ([[0, 4], [1, 2]], "not there yet"),
        ([[0, 1], [0, 2]], "leaves out"),
    ],
)
def test_what_is_no_tree_is_refused(pairs: list[list[int]], match: str) -> None:
    with pytest.raises(ValueError, match=match):
        check_track(np.array(pairs))


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"channels": 0}, "channels"),
        ({"tracks": 0}, "tracks"),
        ({"alpha": (2.0, 1.0)}, "alpha"),
        ({"candidates": 1}, "candidates"),
        ({"n_restarts": 0}, "n_restarts"),
        ({"delta": "free"}, "delta"),
        ({"tolerance": 0.0}, "tolerance"),
        ({"blend": "half"}, "mixture, normal"),
    ],
)
def test_options_that_are_none_are_refused(options: dict[str, Any], match: str) -> None:
    with pytest.raises(InputError, match=match):
        Spn(**options)
