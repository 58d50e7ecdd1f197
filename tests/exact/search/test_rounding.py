from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from nnbo_mip.exact.search.rounding import gamma, rounding_model
from nnbo_mip.network.graph.graph import Network
from tests.exact.random_problems import asymmetric_box, random_network


def rational_pass(network: Network, point: np.ndarray) -> tuple[list[list[Fraction]], Fraction]:
    """Return the pre-activations and the output of a network in rational arithmetic."""
    sources = [[Fraction(float(v)) for v in point]]
    before = []
    for affine in (*network.layers, network.head):
        z = []
        for row in range(affine.width):
            total = Fraction(float(affine.bias[row]))
            for source in affine.terms:
                weights = affine.dense(source)[row]
                pairs = zip(weights, sources[source], strict=True)
                total += sum(Fraction(float(w)) * h for w, h in pairs)
            z.append(total)
        before.append(z)
        sources.append([max(v, Fraction(0)) for v in z])
    return before[:-1], before[-1][0]


@pytest.mark.parametrize("scale", [1e-4, 1.0, 1e4])
def test_forward_pass_stays_within_the_constants(scale):
    rng = np.random.default_rng(3)
    plain = random_network(rng, 3, (7, 5, 4), skips=True)
    network = Network(
        3,
        tuple(type(a)(a.bias, {k: scale * w for k, w in a.terms.items()}) for a in plain.layers),
        plain.head,
    )
    domain = asymmetric_box(rng, 3)
    model = rounding_model(network, domain.lower, domain.upper)
    for point in domain.sample(10, rng):
        layers, output = rational_pass(network, point)
        for computed, exact, error in zip(
            network.preactivations(point[None, :]), layers, model.layers, strict=True
        ):
            for j, value in enumerate(exact):
                assert abs(Fraction(float(computed[0, j])) - value) <= Fraction(float(error[j]))
        difference = abs(Fraction(float(network(point[None, :])[0, 0])) - output)
        assert difference <= Fraction(model.output)


def test_constants_are_small_and_grow_with_the_box():
    rng = np.random.default_rng(4)
    network = random_network(rng, 2, (6, 6))
    small = rounding_model(network, np.array([1.0, 2.0]), np.array([1.5, 2.5]))
    large = rounding_model(network, np.array([-90.0, 2.0]), np.array([1.5, 250.0]))
    assert 0.0 < small.output < 1e-11 * small.magnitude
    assert large.output > 5.0 * small.output


def test_subnormal_weights_get_an_absolute_error():
    network = Network.from_layers([(np.full((2, 1), 5e-324), [0.0, 0.0]), ([[1.0, 1.0]], [0.0])])
    model = rounding_model(network, np.array([0.3]), np.array([0.4]))
    assert model.output > 0.0


def test_gamma_is_infinite_where_the_theory_ends():
    assert gamma(10) > 10 * 2.0**-53
    assert gamma(2**53) == float("inf")
