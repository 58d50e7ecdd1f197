"""Simplified and split networks are the same functions, and smaller."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.errors import InputError
from nnbo_mip.network.graph.affine import Affine
from nnbo_mip.network.graph.graph import Network
from nnbo_mip.network.graph.simplify import drop_unread_neurons, simplify
from tests.network.strategies import (
    assert_close,
    networks,
    points_in,
    random_box,
    random_network,
    seeds,
)


def _magnitude(network: Network, points: FloatArray) -> float:
    """Bound the numbers that are added up inside a network."""

    def absolute(affine: Affine) -> Affine:
        return Affine(np.abs(affine.bias), {k: abs(w) for k, w in affine.terms.items()})

    layers = tuple(absolute(layer) for layer in network.layers)
    magnitudes = Network(network.n_inputs, layers, absolute(network.head))
    return float(magnitudes(np.abs(points)).max())


@given(seeds, st.sampled_from([1e-4, 1.0, 1e4]))
def test_the_function_over_the_box_stays(seed: int, scale: float) -> None:
    network = random_network(seed, scale=scale)
    lower, upper = random_box(seed, network.n_inputs)
    small = network.simplify(lower, upper)
    assert small.n_relus <= network.n_relus
    assert small.output_names == network.output_names
    points = points_in(lower, upper, 100, seed)
    assert_close(small(points), network(points), magnitude=_magnitude(network, points))


@given(networks, seeds)
def test_a_smaller_box_leaves_no_more_relus(network: Network, seed: int) -> None:
    lower, upper = random_box(seed, network.n_inputs)
    middle = 0.25 * lower + 0.75 * upper
    small = network.simplify(lower, upper)
    assert network.simplify(lower, middle).n_relus <= small.n_relus
    assert small.simplify(lower, upper).n_relus <= small.n_relus


@given(networks, seeds)
def test_a_point_leaves_at_most_neurons_at_their_kink(network: Network, seed: int) -> None:
    point, _ = random_box(seed, network.n_inputs)
    assert network.simplify(point, point).n_relus == sum(
        int((np.abs(z) < 1e-9).sum()) for z in network.simplify(point, point).preactivations(point)
    )


def test_dead_neurons_go_and_active_ones_are_folded() -> None:
    first = (np.array([[1.0], [1.0], [1.0]]), np.array([-10.0, 10.0, -3.0]))
    second = (np.array([[5.0, 2.0, 1.0]]), np.array([-20.0]))
    network = Network.from_layers([first, second, (np.array([[-1.0]]), np.array([0.5]))])
    small = simplify(network, [2.0], [7.0])
    # 5 * 0 + 2 * (x + 10) + relu(x - 3) - 20 = 2 x + relu(x - 3) > 0 on [2, 7].
    assert small.n_relus == 1
    np.testing.assert_array_equal(small.head.dense(0), [[-2.0]])
    np.testing.assert_array_equal(small.head.dense(1), [[-1.0]])
    points = np.linspace(2.0, 7.0, 50)[:, None]
    assert_close(small(points), 0.5 - 2.0 * points - np.maximum(points - 3.0, 0.0))


def test_a_relu_of_a_relu_is_one_relu() -> None:
    rng = np.random.default_rng(3)
    first = (rng.normal(size=(6, 2)), rng.normal(size=6))
    network = Network.from_layers([first, (np.eye(6), np.zeros(6)), (np.ones((1, 6)), [1.0])])
    assert simplify(network, [-1.5, -2.0], [2.0, 1.0]).n_relus <= 6


def test_tighter_bounds_from_elsewhere_are_used() -> None:
    # relu(x) - relu(x - 1) - 2 <= -1, which interval arithmetic does not see.
    first = (np.array([[1.0], [1.0]]), np.array([0.0, -1.0]))
    network = Network.from_layers([first, ([[1.0, -1.0]], [-2.0]), ([[3.0]], [0.25])])
    assert network.simplify([-4.0], [5.0]).n_relus == 3
    bounds = [(np.full(2, -9.0), np.full(2, 9.0)), (np.array([-2.0]), np.array([-1.0]))]
    small = simplify(network, [-4.0], [5.0], bounds)
    assert small.n_relus == 0
    assert_close(small([[-3.0], [4.0]]), np.array([[0.25], [0.25]]))


def test_a_neuron_that_cannot_be_told_from_its_kink_stays() -> None:
    third = 1.0 / 3.0
    network = Network.from_layers([([[3.0]], [-1.0]), ([[1.0]], [0.0])])
    # 3 * fl(1/3) - 1 is a little below 0 although it rounds to 0.
    assert network.preactivations([[third]])[0] == 0.0
    assert simplify(network, [third], [4.0]).n_relus == 1


@given(networks)
def test_dropping_unread_neurons_is_exact(network: Network) -> None:
    small = drop_unread_neurons(network.objective(0))
    for affine in small.layers:
        assert affine.width > 0
    points = np.random.default_rng(5).normal(0.3, 2.0, (20, network.n_inputs))
    assert_close(small(points)[:, 0], network.evaluate(points, 0), _magnitude(network, points))
    read = np.zeros(small.n_relus, dtype=bool)
    starts = np.cumsum([0, *(layer.width for layer in small.layers)])
    for affine in (*small.layers, small.head):
        for source in affine.terms:
            if source:
                columns = affine.dense(source).any(axis=0)
                assert columns.any()
                read[starts[source - 1] : starts[source]] |= columns
    assert read.all()


def test_boxes_that_are_none_are_refused() -> None:
    network = random_network(11)
    with pytest.raises(InputError, match="lower must be <= upper"):
        network.simplify(np.ones(network.n_inputs), -np.ones(network.n_inputs))
