"""Exact arithmetic against the fractions of the standard library."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nnbo_mip.exact.checking.dyadic import Dyadic, ExactNetwork
from nnbo_mip.network.graph.affine import Affine
from nnbo_mip.network.graph.graph import Network

FLOATS = st.floats(allow_nan=False, allow_infinity=False)
MODERATE = st.floats(-1e30, 1e30) | st.sampled_from([5e-324, -2.3e-310, 1e-300, 0.0, -0.0])


def fraction(number: Dyadic) -> Fraction:
    return Fraction(int(number.integers.item())) * Fraction(2) ** number.exponent


@given(FLOATS, FLOATS)
def test_sums_and_products_are_exact(a: float, b: float) -> None:
    x, y = Dyadic.of(a), Dyadic.of(b)
    assert fraction(x + y) == Fraction(a) + Fraction(b)
    assert fraction(x - y) == Fraction(a) - Fraction(b)
    assert fraction(x * y) == Fraction(a) * Fraction(b)
    assert x.exceeds(b) == (a > b)


@given(st.lists(FLOATS, min_size=1, max_size=5))
def test_floats_come_back_unchanged(values: list[float]) -> None:
    dyadic = Dyadic.of(np.array(values))
    np.testing.assert_array_equal(dyadic.floats(), np.array(values) + 0.0)
    assert fraction(dyadic.total()) == sum(map(Fraction, values), Fraction(0))


@given(st.lists(MODERATE, min_size=6, max_size=6), st.lists(MODERATE, min_size=3, max_size=3))
def test_matrix_products_are_exact(weights: list[float], x: list[float]) -> None:
    product = Dyadic.of(np.reshape(weights, (2, 3))) @ Dyadic.of(x)
    for row in range(2):
        expected = sum(
            (Fraction(w) * Fraction(v) for w, v in zip(weights[3 * row :], x, strict=False)),
            Fraction(0),
        )
        assert fraction(product[row]) == expected


@pytest.mark.parametrize(("level", "expected"), [(np.inf, False), (-np.inf, True)])
def test_every_number_lies_between_the_infinities(level: float, expected: bool) -> None:
    assert Dyadic.of(-7.5).exceeds(level) is expected


def test_a_network_with_skips_is_evaluated_exactly() -> None:
    rng = np.random.default_rng(5)
    network = Network(
        2,
        (
            Affine(rng.normal(size=3), {0: rng.normal(size=(3, 2))}),
            Affine(rng.normal(size=2), {0: rng.normal(size=(2, 2)), 1: rng.normal(size=(2, 3))}),
        ),
        Affine(rng.normal(size=1), {1: rng.normal(size=(1, 3)), 2: rng.normal(size=(1, 2))}),
    )
    x = np.array([0.3, -1.7])
    h: list[list[Fraction]] = [[Fraction(v) for v in x]]
    for affine in (*network.layers, network.head):
        z = [
            Fraction(affine.bias[i])
            + sum(
                Fraction(affine.dense(k)[i, j]) * value
                for k in affine.terms
                for j, value in enumerate(h[k])
            )
            for i in range(affine.width)
        ]
        h.append([max(value, Fraction(0)) for value in z])
    exact = ExactNetwork(network)
    assert fraction(exact.value(x)) == z[0]
    assert float(z[0]) == pytest.approx(float(network.evaluate(x)[0, 0]), rel=1e-14)


def test_pieces_agree_with_the_value_where_their_pattern_holds() -> None:
    rng = np.random.default_rng(8)
    layers = [(rng.normal(size=(4, 2)), rng.normal(size=4)), (rng.normal(size=(1, 4)), [0.25])]
    network = Network.from_layers(layers)
    x = np.array([1.5, -0.25])
    pattern = [network.preactivations(x)[0][0] > 0.0]
    preactivations, output = ExactNetwork(network).pieces(pattern)
    point = np.append(x, 1.0)
    assert preactivations[0].floats() @ point == pytest.approx(network.preactivations(x)[0][0])
    assert output.floats() @ point == pytest.approx(float(network.evaluate(x)[0, 0]))
