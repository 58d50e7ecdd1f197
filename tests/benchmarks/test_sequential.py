from __future__ import annotations

import numpy as np
import pytest

from benchmarks.certify.large_nomu import large_nomu
from benchmarks.certify.nomu import ucb
from benchmarks.certify.sequential import evaluate, fold_skips
from nnbo_mip.network.graph.affine import Affine
from nnbo_mip.network.graph.graph import Network

LOWER = np.array([-3.0, 0.5, 99.0])
UPPER = np.array([-1.0, 4.0, 101.0])


def affine(rng: np.random.Generator, rows: int, **widths: int) -> Affine:
    terms = {int(k[1:]): rng.standard_normal((rows, width)) for k, width in widths.items()}
    return Affine(rng.standard_normal(rows), terms)


def networks() -> dict[str, Network]:
    rng = np.random.default_rng(3)
    first, second = affine(rng, 4, h0=3), affine(rng, 5, h1=4)
    side = [affine(rng, 6, h0=3), affine(rng, 5, h3=6)]
    return {
        "plain": Network(3, (first, second), affine(rng, 1, h2=5)),
        "direct link": Network(3, (first,), affine(rng, 1, h0=3, h1=4)),
        "residual": Network(
            3, (first, second, affine(rng, 2, h0=3, h1=4, h2=5)), affine(rng, 1, h1=4, h3=2)
        ),
        "pair": ucb(
            [first, second, affine(rng, 1, h2=5)],
            side,
            affine(rng, 1, h2=5, h4=5),
            0.001,
            2.0,
        ),
        "constant layer": Network(
            3, (first, Affine(np.array([0.7, -0.2]), {})), affine(rng, 1, h1=4, h2=2)
        ),
        "affine": Network(3, (), affine(rng, 2, h0=3)),
    }


@pytest.mark.parametrize("name", list(networks()))
def test_folding_keeps_the_function_on_the_box(name) -> None:
    network = networks()[name]
    layers = fold_skips(network, LOWER, UPPER)
    rng = np.random.default_rng(5)
    points = np.vstack([rng.uniform(LOWER, UPPER, (200, 3)), LOWER, UPPER])
    expected = network.evaluate(points)
    scale = 1.0 + np.abs(expected).max()
    assert evaluate(layers, points) == pytest.approx(expected, abs=1e-10 * scale)


def test_carry_neurons_are_active_on_the_box_and_folding_is_local() -> None:
    network = networks()["direct link"]
    layers = fold_skips(network, LOWER, UPPER)
    assert [bias.size for _, bias in layers] == [5, 1]
    corners = np.array(np.meshgrid(*zip(LOWER, UPPER, strict=True))).reshape(3, -1).T
    carried = corners @ layers[0][0].T + layers[0][1]
    assert carried[:, -1].min() > 0.0 or carried[:, 0].min() > 0.0
    outside = LOWER - 1000.0
    assert evaluate(layers, outside[None, :]) != pytest.approx(network.evaluate(outside))


def test_ucb_is_mean_plus_clipped_raw_uncertainty() -> None:
    rng = np.random.default_rng(11)
    main = [affine(rng, 4, h0=3), affine(rng, 1, h1=4)]
    side = [affine(rng, 4, h0=3)]
    raw = affine(rng, 1, h1=4, h2=4)
    points = rng.uniform(LOWER, UPPER, (500, 3))
    hidden = [points]
    hidden.append(np.maximum(main[0].apply(hidden), 0.0))
    hidden.append(np.maximum(side[0].apply(hidden), 0.0))
    uncertainty = raw.apply(hidden)
    low, high = np.quantile(uncertainty, [0.3, 0.6])
    network = ucb(main, side, raw, lowest=low, highest=high, beta=2.5)
    expected = main[1].apply(hidden) + 2.5 * np.clip(uncertainty, low, high)
    assert network.evaluate(points) == pytest.approx(expected, rel=1e-12)


def test_large_nomu_has_the_published_number_of_weights() -> None:
    network = large_nomu(1)
    maps = (*network.layers, network.head)
    count = sum(affine.bias.size + sum(w.size for w in affine.terms.values()) for affine in maps)
    clip_copy = 2049  # layer 7 holds the raw output twice, once for each end of the clip
    clip_weights = 2  # and the head reads both
    assert network.n_relus == 6 * 1024 + 2
    assert count - clip_copy - clip_weights == 4_205_570
