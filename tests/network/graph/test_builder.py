"""Every operation of the builder against the same operation in NumPy."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.errors import InputError
from nnbo_mip.network.graph.affine import Affine, is_sparse
from nnbo_mip.network.graph.builder import GraphBuilder
from tests.network.strategies import assert_close, seeds

WEIGHTS = np.array([[1.5, -2.0, 0.25], [0.0, 3.0, -1.0], [-0.5, 0.75, 2.0], [1.0, 1.0, 1.0]])
BIAS = np.array([0.3, -1.1, 0.0, 2.0])
POINTS = np.random.default_rng(7).normal(0.4, 1.5, (200, 3))
SLOPES = np.array([0.1, -0.5, 1.0, 2.0])
LOW, HIGH = np.array([-np.inf, -0.5, 0.2, -np.inf]), np.array([1.0, np.inf, 0.7, np.inf])

Build = Callable[[GraphBuilder, Affine], Affine]
Compute = Callable[[FloatArray], FloatArray]

UNARY: dict[str, tuple[Build, Compute]] = {
    "relu": (lambda g, z: g.relu(z), lambda z: np.maximum(z, 0.0)),
    "leaky relu, a slope an entry": (
        lambda g, z: g.leaky_relu(z, SLOPES),
        lambda z: np.where(z > 0.0, z, SLOPES * z),
    ),
    "clip": (lambda g, z: g.clip(z, -0.3, 0.9), lambda z: np.clip(z, -0.3, 0.9)),
    "clip below": (lambda g, z: g.clip(z, lower=0.4), lambda z: np.maximum(z, 0.4)),
    "clip above": (lambda g, z: g.clip(z, upper=-0.4), lambda z: np.minimum(z, -0.4)),
    "clip by infinities": (lambda g, z: g.clip(z, -np.inf, np.inf), lambda z: z),
    "clip, limits an entry": (lambda g, z: g.clip(z, LOW, HIGH), lambda z: np.clip(z, LOW, HIGH)),
    "clip with crossed limits": (
        lambda g, z: g.clip(z, 2.0, -1.0),
        lambda z: np.minimum(np.maximum(z, 2.0), -1.0),
    ),
    "absolute": (lambda g, z: g.absolute(z), np.abs),
    "scale": (lambda g, z: g.scale(z, SLOPES), lambda z: SLOPES * z),
    "shift": (lambda g, z: g.shift(z, BIAS), lambda z: z + BIAS),
    "select": (lambda g, z: g.select(z, [3, 0, 3]), lambda z: z[:, [3, 0, 3]]),
    "affine of affine": (
        lambda g, z: g.affine(z, WEIGHTS.T, [1.0, 2.0, 3.0]),
        lambda z: z @ WEIGHTS + [1.0, 2.0, 3.0],
    ),
    "sparse affine": (lambda g, z: g.affine(z, csr_array(WEIGHTS.T)), lambda z: z @ WEIGHTS),
    "maximum with a constant": (
        lambda g, z: g.maximum(z, g.constant(BIAS)),
        lambda z: np.maximum(z, BIAS),
    ),
}

BINARY: dict[str, tuple[Callable[..., Affine], Callable[..., FloatArray]]] = {
    "add": (GraphBuilder.add, np.add),
    "subtract": (GraphBuilder.subtract, np.subtract),
    "maximum": (GraphBuilder.maximum, np.maximum),
    "minimum": (GraphBuilder.minimum, np.minimum),
    "concatenate": (
        lambda g, a, b: g.concatenate([a, b]),
        lambda a, b: np.concatenate([a, b], axis=1),
    ),
}


def _start() -> tuple[GraphBuilder, Affine, FloatArray]:
    builder = GraphBuilder(3)
    return builder, builder.affine(builder.input, WEIGHTS, BIAS), POINTS @ WEIGHTS.T + BIAS


@pytest.mark.parametrize("name", UNARY)
def test_an_operation_of_one_value(name: str) -> None:
    build, compute = UNARY[name]
    builder, value, numbers = _start()
    network = builder.finish(build(builder, value))
    assert_close(network(POINTS), compute(numbers))


@pytest.mark.parametrize("name", UNARY)
def test_an_operation_of_one_value_behind_relus(name: str) -> None:
    build, compute = UNARY[name]
    builder, value, numbers = _start()
    network = builder.finish(build(builder, builder.add(builder.relu(value), value)))
    assert_close(network(POINTS), compute(np.maximum(numbers, 0.0) + numbers))


@pytest.mark.parametrize("name", BINARY)
def test_an_operation_of_two_values(name: str) -> None:
    build, compute = BINARY[name]
    builder, value, numbers = _start()
    network = builder.finish(build(builder, builder.relu(value), builder.scale(value, SLOPES)))
    assert_close(network(POINTS), compute(np.maximum(numbers, 0.0), SLOPES * numbers))


@given(seeds, st.lists(st.sampled_from(sorted(UNARY)), min_size=1, max_size=6))
def test_chains_of_operations(seed: int, names: list[str]) -> None:
    builder, value, numbers = _start()
    rng = np.random.default_rng(seed)
    for name in names:
        build, compute = UNARY[name]
        mixing = rng.normal(0.0, 0.6, (4, value.width))
        value, numbers = builder.affine(value, mixing, BIAS), numbers @ mixing.T + BIAS
        value, numbers = build(builder, value), compute(numbers)
    assert_close(builder.finish(value)(POINTS), numbers, magnitude=np.abs(numbers).max())


def test_weights_that_are_only_read_through_relus_are_kept_bit_for_bit() -> None:
    builder, value, _ = _start()
    second = np.array([[0.1, 0.2, 0.3, 1e-30]])
    network = builder.finish(builder.affine(builder.relu(value), second, [1 / 3]))
    np.testing.assert_array_equal(network.layers[0].dense(0), WEIGHTS)
    np.testing.assert_array_equal(network.layers[0].bias, BIAS)
    np.testing.assert_array_equal(network.head.dense(1), second)


def test_a_relu_of_joined_members_keeps_them_apart() -> None:
    builder, value, numbers = _start()
    members = [builder.relu(builder.scale(value, k + 1.0)) for k in range(3)]
    second = [builder.affine(m, (k + 1) * WEIGHTS.T) for k, m in enumerate(members)]
    joined = builder.relu(builder.concatenate(second))
    network = builder.finish(joined)
    assert [layer.width for layer in network.layers] == [4, 4, 4, 3, 3, 3]
    assert [sorted(layer.terms) for layer in network.layers[3:]] == [[1], [2], [3]]
    assert not any(is_sparse(w) for layer in network.layers for w in layer.terms.values())
    hidden = [np.maximum((k + 1) * numbers, 0.0) for k in range(3)]
    expected = [np.maximum(h @ ((k + 1) * WEIGHTS), 0.0) for k, h in enumerate(hidden)]
    assert_close(network(POINTS), np.concatenate(expected, axis=1))


def test_relu_rows_return_to_their_places_after_being_kept_apart() -> None:
    builder, value, numbers = _start()
    first, second = builder.relu(value), builder.relu(value.negated())
    joined = builder.concatenate([first, second, builder.input, builder.constant([5.0])])
    mixed = builder.shift(builder.select(joined, [6, 1, 9, 4, 11, 0]), -0.5)
    together = [np.maximum(numbers, 0.0), np.maximum(-numbers, 0.0), POINTS]
    parts = np.concatenate([*together, np.full((len(POINTS), 1), 5.0)], axis=1)
    expected = np.maximum(parts[:, [6, 1, 9, 4, 11, 0]] - 0.5, 0.0)
    assert_close(builder.finish(builder.relu(mixed))(POINTS), expected)


def test_layers_that_nobody_reads_are_dropped() -> None:
    builder, value, numbers = _start()
    builder.relu(value)
    kept = builder.relu(builder.scale(value, -1.0))
    builder.relu(kept)
    network = builder.finish(kept)
    assert network.n_relus == 4
    assert_close(network(POINTS), np.maximum(-numbers, 0.0))


def test_named_outputs_of_several_entries_are_numbered() -> None:
    builder, value, numbers = _start()
    network = builder.finish({"all": value, "first": builder.select(value, [0])})
    assert network.output_names == ("all0", "all1", "all2", "all3", "first")
    assert_close(network.evaluate(POINTS, "first"), numbers[:, 0])


def test_what_does_not_fit_is_refused() -> None:
    builder, value, _ = _start()
    with pytest.raises(InputError, match=r"shape \(m, 4\).*got shape \(4, 3\)"):
        builder.affine(value, WEIGHTS)
    with pytest.raises(InputError, match=r"equally many entries.*got 4 and 3"):
        builder.add(value, builder.input)
    with pytest.raises(InputError, match="limits of a clip"):
        builder.clip(value, lower=np.nan)
    with pytest.raises(InputError, match="limits of a clip"):
        builder.clip(value, lower=np.inf)
    with pytest.raises(InputError, match="at least one input"):
        GraphBuilder(0)
    with pytest.raises(InputError, match="must be finite"):
        builder.finish(builder.scale(builder.scale(value, 1e200), 1e200))


def test_a_folded_matrix_that_is_absurdly_large_is_refused_before_it_is_made() -> None:
    builder = GraphBuilder(20_000)
    narrow = builder.affine(builder.input, np.ones((1, 20_000)))
    with pytest.raises(InputError, match=r"20000 x 20000.*too large"):
        builder.affine(narrow, np.ones((20_000, 1)))
    with pytest.raises(InputError, match="too large"):
        builder.select(narrow, np.zeros(20_000, dtype=int))
