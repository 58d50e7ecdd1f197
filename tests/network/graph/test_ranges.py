"""Ranges of pre-activations hold in rational arithmetic, not only up to rounding."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.errors import InputError
from nnbo_mip.network.graph.affine import Affine
from nnbo_mip.network.graph.graph import Network
from nnbo_mip.network.graph.ranges import affine_range, preactivation_ranges
from tests.network.strategies import points_in, random_box, random_network, seeds


def _exact_preactivations(network: Network, point: FloatArray) -> list[list[Fraction]]:
    sources = [[Fraction(x) for x in point.tolist()]]
    result = []
    for layer in network.layers:
        row = [Fraction(b) for b in layer.bias.tolist()]
        for source in layer.terms:
            for i, weights in enumerate(layer.dense(source).tolist()):
                row[i] += sum(
                    Fraction(w) * h for w, h in zip(weights, sources[source], strict=True)
                )
        result.append(row)
        sources.append([max(z, Fraction(0)) for z in row])
    return result


@given(seeds, st.sampled_from([1e-310, 1e-4, 1.0, 1e4]))
def test_no_exact_preactivation_lies_outside(seed: int, scale: float) -> None:
    network = random_network(seed, scale=scale)
    lower, upper = random_box(seed, network.n_inputs)
    ranges = preactivation_ranges(network, lower, upper)
    for point in points_in(lower, upper, 8, seed):
        for row, (low, high) in zip(_exact_preactivations(network, point), ranges, strict=True):
            for z, a, b in zip(row, low.tolist(), high.tolist(), strict=True):
                assert Fraction(a) <= z <= Fraction(b)


def test_both_ends_of_one_layer_are_attained_up_to_rounding() -> None:
    affine = Affine(np.array([0.5]), {0: np.array([[2.0, -3.0, 0.0]])})
    low, high = affine_range(affine, [(np.array([1.0, -2.0, 7.0]), np.array([4.0, -1.0, 9.0]))])
    np.testing.assert_allclose([low[0], high[0]], [0.5 + 2 + 3, 0.5 + 8 + 6], rtol=1e-14)


def test_a_rounded_sum_is_moved_outwards() -> None:
    tenths = Affine(np.array([0.1]), {0: np.array([[0.1, 0.1]])})
    point = np.array([1.0, 2.0])
    (low,), (high,) = affine_range(tenths, [(point, point)])
    exact = Fraction(0.1) * 4
    assert Fraction(low) <= exact <= Fraction(high)
    assert low < high


def test_sums_without_negative_terms_keep_a_lower_end_of_zero() -> None:
    nonnegative = Affine(np.array([0.0]), {0: np.array([[0.1, 0.3]])})
    (low,), _ = affine_range(nonnegative, [(np.zeros(2), np.array([1.0, 3.0]))])
    assert low == 0.0


def test_overflow_gives_infinite_ends_and_no_nan() -> None:
    huge = Affine(np.array([1.0]), {0: np.array([[1e200, -1e200]])})
    side = np.array([1e200, 1e200])
    low, high = affine_range(huge, [(0.5 * side, side)])
    assert low[0] == -np.inf
    assert high[0] == np.inf


def test_known_ranges_are_intersected_and_carried_on() -> None:
    network = Network.from_layers([([[1.0]], [0.0]), ([[2.0]], [1.0]), ([[1.0]], [0.0])])
    known = [(np.array([-9.0]), np.array([3.0])), (np.array([-np.inf]), np.array([np.inf]))]
    first, second = preactivation_ranges(network, [1.0], [5.0], known)
    np.testing.assert_allclose(np.concatenate(first), [1.0, 3.0], rtol=1e-14)
    np.testing.assert_allclose(np.concatenate(second), [3.0, 7.0], rtol=1e-14)


def test_boxes_and_known_ranges_that_do_not_fit_are_refused() -> None:
    network = Network.from_layers([([[1.0, 2.0]], [0.0]), ([[2.0]], [1.0])])
    with pytest.raises(InputError, match=r"lower\[1\]=3.0 > upper\[1\]=1.0"):
        preactivation_ranges(network, [0.5, 3.0], [2.0, 1.0])
    with pytest.raises(InputError, match=r"must have shape \(2,\)"):
        preactivation_ranges(network, [0.5], [2.0])
    with pytest.raises(InputError, match="must be finite"):
        preactivation_ranges(network, [0.5, np.nan], [2.0, 1.0])
    with pytest.raises(InputError, match="a pair for each ReLU layer"):
        preactivation_ranges(network, [0.5, 0.7], [2.0, 1.0], [])
