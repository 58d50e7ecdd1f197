"""Block-diagonal networks are split along their blocks."""

from __future__ import annotations

import numpy as np
from hypothesis import given

from nnbo_mip.network.graph.affine import Affine
from nnbo_mip.network.graph.components import split_components
from nnbo_mip.network.graph.graph import Network
from tests.network.strategies import assert_close, networks

RNG = np.random.default_rng(2)
POINTS = RNG.normal(0.3, 2.0, (100, 3))


def _blocks(members: int, width: int) -> np.ndarray:
    matrix = np.zeros((members * width, members * width))
    for k in range(members):
        own = slice(k * width, (k + 1) * width)
        matrix[own, own] = RNG.normal(size=(width, width))
    return matrix


def _shuffled(network: Network) -> Network:
    """Permute the neurons of the first two layers, so that blocks are not contiguous."""
    first, second = network.layers[:2]
    one, two = RNG.permutation(first.width), RNG.permutation(second.width)
    layers = (
        first.rows(one),
        Affine(second.bias[two], {1: second.dense(1)[two][:, one]}),
        *(Affine(a.bias, {2: a.dense(2)[:, two]}) for a in network.layers[2:]),
    )
    head = network.head
    source = len(network.layers)
    weights = head.dense(source)[:, two] if source == 2 else head.dense(source)
    return Network(3, layers, Affine(head.bias, {source: weights}))


def test_the_members_of_an_ensemble_become_chains() -> None:
    first = (RNG.normal(size=(20, 3)), RNG.normal(size=20))
    second = (_blocks(4, 5), RNG.normal(size=20))
    network = _shuffled(Network.from_layers([first, second, (RNG.normal(size=(1, 20)), [0.5])]))
    split = split_components(network)
    assert [layer.width for layer in split.layers] == [5] * 8
    assert sorted(next(iter(layer.terms)) for layer in split.layers[4:]) == [1, 2, 3, 4]
    assert_close(split(POINTS), network(POINTS))


def test_nets_that_meet_in_a_last_relu_are_split_up_to_there() -> None:
    first = (RNG.normal(size=(12, 3)), RNG.normal(size=12))
    second = (_blocks(2, 6), RNG.normal(size=12))
    third = (RNG.normal(size=(2, 12)), RNG.normal(size=2))
    network = _shuffled(Network.from_layers([first, second, third, ([[1.0, -2.0]], [0.1])]))
    split = split_components(network)
    assert [layer.width for layer in split.layers] == [6, 6, 6, 6, 2]
    assert_close(split(POINTS), network(POINTS))


def test_what_has_no_blocks_is_returned_as_it_is() -> None:
    dense = Network.from_layers(
        [
            (RNG.normal(size=(8, 3)), np.ones(8)),
            (RNG.normal(size=(8, 8)), np.ones(8)),
            (np.ones((1, 8)), [0]),
        ]
    )
    shallow = Network.from_layers([(RNG.normal(size=(8, 3)), np.ones(8)), (np.ones((1, 8)), [0])])
    entrywise = Network.from_layers(
        [(RNG.normal(size=(8, 3)), np.ones(8)), (np.eye(8), -np.ones(8)), (np.ones((1, 8)), [0])]
    )
    for network in (dense, shallow, entrywise):
        assert split_components(network) is network


@given(networks)
def test_the_function_stays(network: Network) -> None:
    points = np.random.default_rng(5).normal(0.3, 2.0, (20, network.n_inputs))
    split = split_components(network)
    assert split.n_relus == network.n_relus
    assert_close(split(points), network(points), magnitude=10.0)
