"""A network that is not its model is noticed, and rounding is no difference."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.errors import UnsupportedError
from nnbo_mip.network.graph.affine import Affine, Matrix, dense
from nnbo_mip.network.graph.graph import Network
from nnbo_mip.network.importers.probe import (
    DOUBLE,
    Precision,
    attempt,
    largest_difference,
    rounding_difference,
)
from nnbo_mip.network.importers.probe_points import probe_points
from tests.network.strategies import random_network, seeds

SINGLE = Precision(2.0**-23, float(np.finfo(np.float32).max))


def _plain(widths: list[int], seed: int = 4, shift: float = 0.0) -> Network:
    rng = np.random.default_rng(seed)
    sizes = list(zip(widths[1:], widths, strict=False))
    layers = [(rng.normal(size=size), rng.normal(size=size[0]) + shift) for size in sizes]
    return Network.from_layers(layers)


def _in_float32(network: Network, points: FloatArray) -> FloatArray:
    """Run the network as a framework in float32 would."""
    sources = [points.astype(np.float32)]
    for affine in (*network.layers, network.head):
        total = np.tile(affine.bias.astype(np.float32), (len(points), 1))
        for source, matrix in affine.terms.items():
            total = total + sources[source] @ dense(matrix).astype(np.float32).T
        sources.append(np.maximum(total, np.float32(0.0)))
    return np.asarray(total, dtype=np.float64)


def _changed(network: Network, position: int, change: Callable[[Affine], Affine]) -> Network:
    layers = [*network.layers, network.head]
    layers[position] = change(layers[position])
    return replace(network, layers=tuple(layers[:-1]), head=layers[-1])


def _moved(affine: Affine, row: int, column: int, step: float) -> Affine:
    bias, terms = affine.bias.copy(), {k: dense(w).copy() for k, w in affine.terms.items()}
    if column < 0:
        bias[row] += step
    for matrix in terms.values() if column >= 0 else ():
        matrix[row, column] += step
    given: dict[int, Matrix] = dict(terms)
    return Affine(bias, given)


@pytest.mark.parametrize("widths", [[2, 5, 4, 2], [6, 3, 3, 3, 3, 1]])
def test_a_weight_that_is_a_millionth_off_is_noticed(widths: list[int]) -> None:
    network = _plain(widths)
    points = probe_points(network)
    seen, noticed = network.evaluate(points), 0
    for position, affine in enumerate((*network.layers, network.head)):
        for row in range(affine.width):
            for column in range(-1, affine.terms[position].shape[1]):
                other = _changed(
                    network, position, lambda a, r=row, c=column: _moved(a, r, c, 1e-6)
                )
                if np.array_equal(other.evaluate(points), seen):
                    continue  # of a neuron that is off at all points
                noticed += 1
                with pytest.raises(UnsupportedError, match="more than rounding explains"):
                    largest_difference(other, points, seen, DOUBLE, "the model")
    assert noticed > 0.75 * sum(a.width * (a.terms[k].shape[1] + 1) for k, a in _numbered(network))


def _numbered(network: Network) -> list[tuple[int, Affine]]:
    return list(enumerate((*network.layers, network.head)))


@pytest.mark.parametrize("where", [0.3, 30.0, 3e4, -1e7])
def test_a_kink_far_away_is_probed_on_both_sides(where: float) -> None:
    network = Network.from_layers([([[1.0, 0.5]], [-where]), ([[1.0]], [0.0])])
    points = probe_points(network)
    (z,) = network.preactivations(points)
    assert (z > 0.0).any()
    assert (z < 0.0).any()
    linear = Network.from_layers([([[1.0, 0.5]], [-where])])
    with pytest.raises(UnsupportedError, match="more than rounding explains"):
        largest_difference(linear, points, network.evaluate(points), DOUBLE, "the model")


def test_kinks_of_deep_layers_are_probed_on_both_sides() -> None:
    network = _plain([3, 6, 6, 6, 1], shift=5.0)
    signs = [np.sign(z) for z in network.preactivations(probe_points(network))]
    assert all(((s > 0.0).any(axis=0) & (s < 0.0).any(axis=0)).any() for s in signs)


def test_corners_of_the_box_are_probed() -> None:
    points = probe_points(_plain([3, 4, 1]))
    corners = points[(np.abs(points) == 1.0).all(axis=1)]
    assert len(np.unique(corners, axis=0)) == 8
    assert ((np.abs(points) < 1.0).all(axis=1)).sum() >= 32


@given(seeds)
def test_rounding_is_no_difference(seed: int) -> None:
    network = random_network(seed)
    points = probe_points(network).astype(np.float32).astype(np.float64)
    single = replace(network, layers=tuple(map(_rounded, network.layers)))
    single = replace(single, head=_rounded(network.head))
    seen = _in_float32(single, points)
    difference = largest_difference(single, points, seen, SINGLE, "the model")
    assert difference == np.abs(seen - single.evaluate(points)).max()


def _rounded(affine: Affine) -> Affine:
    terms: dict[int, Matrix] = {
        k: dense(w).astype(np.float32).astype(np.float64) for k, w in affine.terms.items()
    }
    return Affine(affine.bias.astype(np.float32).astype(np.float64), terms)


def test_float32_of_a_deep_net_is_still_a_sharp_comparison() -> None:
    # Magnitudes multiplied layer by layer would allow anything here.
    network = _rounded_network(_plain([8, *[64] * 10, 1]))
    points = probe_points(network).astype(np.float32).astype(np.float64)
    seen = _in_float32(network, points)
    largest_difference(network, points, seen, SINGLE, "the model")
    other = _changed(network, 3, lambda a: Affine(1.1 * a.bias, {3: 1.1 * a.dense(3)}))
    with pytest.raises(UnsupportedError, match="more than rounding explains"):
        largest_difference(other, points, seen, SINGLE, "the model")


def _rounded_network(network: Network) -> Network:
    layers = tuple(map(_rounded, network.layers))
    return replace(network, layers=layers, head=_rounded(network.head))


def test_an_output_of_many_that_is_off_is_noticed() -> None:
    network = _plain([3, 20, 20, 300])
    points = probe_points(network)
    seen = network.evaluate(points)
    assert largest_difference(network, points, seen, DOUBLE, "the model") == 0.0
    for column in range(0, 300, 7):
        wrong = seen.copy()
        wrong[:, column] += 1e-4
        with pytest.raises(UnsupportedError, match=f"output 'y{column}'"):
            largest_difference(network, points, wrong, DOUBLE, "the model")


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
def test_answers_that_are_no_numbers_are_a_difference(wrong: float) -> None:
    network = _plain([2, 3, 1])
    points = probe_points(network)
    seen = network.evaluate(points)
    seen[1] = wrong
    with pytest.raises(UnsupportedError, match=r"where the model gives -?(nan|inf)"):
        largest_difference(network, points, seen, DOUBLE, "the model")


def test_points_beyond_the_range_of_the_model_do_not_count() -> None:
    network = Network.from_layers([([[1e4]], [0.0]), ([[1e30]], [0.0])])
    points = np.array([[1e-3], [1e6]])
    seen = np.array([[1e31], [np.inf]])
    assert largest_difference(network, points, seen, SINGLE, "the model") == 0.0
    assert rounding_difference(network, points, seen) == 0.0
    with pytest.raises(UnsupportedError, match="overflows at all of them"):
        largest_difference(network, points[1:], seen[1:], SINGLE, "the model")


def test_another_number_of_rows_is_refused() -> None:
    network = _plain([2, 3, 1])
    points = probe_points(network)
    with pytest.raises(UnsupportedError, match="each row of the output"):
        largest_difference(network, points, network.evaluate(points)[:2], DOUBLE, "the model")


def test_a_model_that_fails_is_reported() -> None:
    assert attempt(lambda: 3) == (3, "")
    assert attempt(lambda: 1 // 0)[0] is None
    assert "ZeroDivisionError" in attempt(lambda: 1 // 0)[1]


@pytest.mark.parametrize("n_inputs", [1, 50, 1 << 21])
def test_probing_stays_within_its_memory(n_inputs: int) -> None:
    network = Network(n_inputs, (), Affine(np.zeros(1), {0: np.ones((1, n_inputs))}))
    points = probe_points(network)
    assert 3 <= len(points) <= 256
    assert points.size <= max(256 * 50, 3 * n_inputs)
