"""The network itself: evaluation, gradient, outputs, fingerprint, refusals."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from scipy.sparse import csr_array

from nnbo_mip.core.errors import InputError
from nnbo_mip.network.graph.affine import Affine, dense
from nnbo_mip.network.graph.graph import Network
from tests.network.strategies import assert_close, networks, random_network

POINTS = np.random.default_rng(9).normal(0.3, 1.5, (30, 4))


@given(networks)
def test_evaluation_is_the_formula(network: Network) -> None:
    for point in POINTS[:3, : network.n_inputs]:
        sources = [point]
        for affine in network.layers:
            total = affine.bias + sum(dense(w) @ sources[k] for k, w in affine.terms.items())
            sources.append(np.maximum(total, 0.0))
        head = network.head
        expected = head.bias + sum(dense(w) @ sources[k] for k, w in head.terms.items())
        assert_close(network(point), expected[None, :])


@given(networks)
def test_the_gradient_is_the_slope_of_the_local_piece(network: Network) -> None:
    points = POINTS[:, : network.n_inputs]
    values, gradients = network.value_and_gradient(points, 0)
    assert_close(values, network.evaluate(points, 0))
    step = 1e-7
    for j in range(network.n_inputs):
        moved = points.copy()
        moved[:, j] += step
        same = np.ones(len(points), dtype=bool)
        for a, b in zip(network.preactivations(points), network.preactivations(moved), strict=True):
            same &= ((a > 0.0) == (b > 0.0)).all(axis=1)
        slope = (network.evaluate(moved, 0) - values) / step
        np.testing.assert_allclose(slope[same], gradients[same, j], rtol=1e-4, atol=1e-4)


@given(networks)
def test_weighted_outputs_and_negation(network: Network) -> None:
    points = POINTS[:, : network.n_inputs]
    weights = {name: 0.5 - 2.0 * k for k, name in enumerate(network.output_names)}
    expected = network(points) @ np.array(list(weights.values()))
    assert_close(network.objective(weights)(points)[:, 0], expected, magnitude=10.0)
    assert_close(network.objective(network.output_names[-1])(points)[:, 0], network(points)[:, -1])
    np.testing.assert_array_equal(network.negated()(points), -network(points))


def test_a_large_batch_is_evaluated_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    network = random_network(17)
    points = POINTS[:, : network.n_inputs]
    whole = network(points)
    monkeypatch.setattr("nnbo_mip.network.graph.graph.EVALUATION_BLOCK", 20)
    assert_close(network(points), whole)
    assert network(points[:0]).shape == (0, network.n_outputs)


def test_the_fingerprint_tells_functions_apart_and_not_storage() -> None:
    weights = np.array([[1.0, 0.0], [0.0, -2.0]])
    head = Affine(np.zeros(1), {1: np.ones((1, 2))})
    first = Network(2, (Affine(np.ones(2), {0: weights}),), head)
    second = Network(2, (Affine(np.ones(2), {0: csr_array(weights)}),), head)
    third = Network(2, (Affine(np.ones(2), {0: np.nextafter(weights, 9.0)}),), head)
    renamed = Network(2, first.layers, head, ("other",))
    assert first.fingerprint == second.fingerprint
    assert len({first.fingerprint, third.fingerprint, renamed.fingerprint}) == 3


def test_names_are_not_joined_in_the_fingerprint() -> None:
    layers = [(np.arange(6.0).reshape(3, 2), [0.0, 1.0, 2.0])]
    first = Network.from_layers(layers, output_names=["mean", "std", "mean\0std"])
    second = Network.from_layers(layers, output_names=["mean\0std", "mean", "std"])
    assert first.fingerprint_of(1) == second.fingerprint_of(1)  # the old way
    assert first.fingerprint != second.fingerprint
    assert first.fingerprint_of(1) != first.fingerprint == first.fingerprint_of(2)
    lone = Network.from_layers(layers, output_names=["a", "b", "\ud800"])
    assert lone.fingerprint != first.fingerprint


def test_a_network_cannot_be_changed() -> None:
    weights = np.array([[1.0, 2.0]])
    network = Network.from_layers([(weights, [0.5])])
    weights[0, 0] = 9.0
    assert network([[1.0, 1.0]])[0, 0] == 3.5
    with pytest.raises(ValueError, match="read-only"):
        network.head.dense(0)[0, 0] = 9.0
    with pytest.raises(TypeError):
        network.head.terms[1] = weights  # type: ignore[index]


def test_what_is_no_network_is_refused() -> None:
    with pytest.raises(InputError, match="at least one"):
        Network.from_layers([])
    with pytest.raises(InputError, match=r"layer 1 holds NaN or infinity"):
        Network.from_layers([([[np.inf]], [0.0]), ([[1.0]], [0.0])])
    with pytest.raises(InputError, match=r"got a weight matrix of shape \(1, 3\)"):
        Network.from_layers([([[1.0], [2.0]], [0.0, 1.0]), ([[1.0, 2.0, 3.0]], [0.0])])
    with pytest.raises(InputError, match="the weight matrix of source 0 must have 2 rows"):
        Network.from_layers([([[1.0, 2.0]], [0.0, 1.0])])
    with pytest.raises(InputError, match="got source 2; reorder"):
        Network(1, (Affine(np.ones(1), {2: np.ones((1, 1))}),), Affine(np.ones(1), {}))
    with pytest.raises(InputError, match="different names"):
        Network.from_layers([(np.ones((2, 1)), np.ones(2))], ["same", "same"])


def test_what_cannot_be_asked_is_refused() -> None:
    network = Network.from_layers([(np.ones((2, 3)), np.ones(2))], ["mean", "std"])
    with pytest.raises(InputError, match="one of mean, std; got 'width'"):
        network.evaluate(POINTS[:, :3], "width")
    with pytest.raises(InputError, match="one of mean, std; got None"):
        network.gradient(POINTS[:, :3])
    with pytest.raises(InputError, match=r"shape \(n, 3\).*got shape \(30, 4\)"):
        network(POINTS)


def test_networks_can_be_copied_and_sent_to_other_processes():
    network = Network.from_layers([([[1.5, -2.0]], [0.5]), ([[3.0]], [-1.0])])
    for twin in (copy.deepcopy(network), pickle.loads(pickle.dumps(network))):
        assert twin.fingerprint == network.fingerprint
        with pytest.raises(ValueError, match="read-only"):
            twin.head.bias[0] = 7.0


@pytest.mark.parametrize(
    "layers",
    [
        [(1.0, 2.0, 3.0)],
        [([["a"]], [0.0])],
        [([[1.0]], ["a"])],
        [([[1j]], [0.0])],
        [([[1.0], [1.0, 2.0]], [0.0, 0.0])],
        [([[10**400]], [0.0])],
        [7],
    ],
)
def test_layers_that_are_no_pairs_of_numbers_are_refused_in_a_sentence(layers: list) -> None:
    with pytest.raises(InputError, match=r"must (be pairs|hold real numbers).*; got .*; "):
        Network.from_layers(layers)


@pytest.mark.parametrize("names", ["ab", [3], (None,)])
def test_output_names_must_be_strings(names: object) -> None:
    with pytest.raises(InputError, match="sequence of strings"):
        Network.from_layers([([[1.0]], [0.0])], output_names=names)


def test_points_must_be_numbers() -> None:
    with pytest.raises(InputError, match=r"points must be numbers of shape \(n, 1\)"):
        Network.from_layers([([[1.0]], [0.0])])("abc")
