"""Weights so small that products vanish: bounds hold in real arithmetic, nothing overflows."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

import nnbo_mip as nm
from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.exact.bounds.compiled_relaxation import CompiledRelaxer
from nnbo_mip.exact.bounds.relaxation import Relaxer
from nnbo_mip.exact.branching.preactivations import proven_bounds
from nnbo_mip.exact.checking.dyadic import Dyadic
from nnbo_mip.exact.checking.recheck_bounds import BoxBounder
from nnbo_mip.exact.checking.recheck_leaf import Leaf, _candidates
from nnbo_mip.exact.search.monitor import Monitor
from nnbo_mip.exact.search.problem import Problem
from tests.exact.backends.extras import needs_gurobi, needs_scip

Layers = list[tuple[FloatArray, FloatArray]]
SIZES = (5e-324, 1e-310, 1e-308, 1e-250, 1e-160, 1e-60, 1.0, 1.0, 1e3, 1e30)


def exact_values(layers: Layers, x: FloatArray) -> list[list[Fraction]]:
    """Return all pre-activations, and the output, in rational arithmetic."""
    values, h = [], [Fraction(float(entry)) for entry in x]
    for weights, bias in layers:
        z = [
            Fraction(float(b)) + sum(Fraction(float(w)) * v for w, v in zip(row, h, strict=True))
            for row, b in zip(weights, bias, strict=True)
        ]
        values.append(z)
        h = [max(entry, Fraction(0)) for entry in z]
    return values


def tiny_net(seed: int) -> tuple[Layers, FloatArray, FloatArray]:
    rng = np.random.default_rng(seed)
    d = int(rng.integers(1, 4))
    widths = [d, *rng.integers(1, 4, size=rng.integers(1, 4)), 1]
    layers = []
    for incoming, width in itertools.pairwise(widths):
        shape = [(1, 1), (width, 1), (1, incoming), (width, incoming)][rng.integers(4)]
        weights = rng.normal(size=(width, incoming)) * rng.choice(SIZES, size=shape)
        layers.append((weights, rng.normal(size=width) * rng.choice((*SIZES, 0.0))))
    lower = rng.normal(size=d) * rng.choice(SIZES)
    return layers, lower, lower + np.abs(rng.normal(size=d)) * rng.choice((*SIZES, 0.0, 1e10))


# Backwards, -5e-324 times 0.43 loses half of a coefficient that meets an input of 1e10.
LOST: Layers = [
    (np.array([[0.0, 0.42574], [0.0, -0.37765]]), np.zeros(2)),
    (np.array([[-5e-324, -5e-324], [0.26, 0.0]]), np.zeros(2)),
    (np.array([[838.0, -0.1489]]), np.zeros(1)),
    (np.array([[523.0]]), np.array([-2.9])),
]
LOST_BOX = np.array([223.0, -808.0]), np.array([3.4e9, 1.03e10])


@pytest.mark.parametrize("seed", ["lost", *range(60)])
def test_every_bound_holds_in_rational_arithmetic(seed: int | str) -> None:
    layers, lower, upper = (LOST, *LOST_BOX) if isinstance(seed, str) else tiny_net(seed)
    network = nm.Network.from_layers(layers)
    problem = Problem(network, nm.Domain(lower, upper))
    if not problem.rounding.is_useful:
        return
    box = lower[:, None], upper[:, None]
    bounder = BoxBounder(network, lower, upper)
    tops = [
        problem.rounding.magnitude,
        *(
            kind(network, problem.rounding).bound(*box, -np.inf, 2).bound[0]
            for kind in (Relaxer, CompiledRelaxer)
        ),
        bounder.planes(*box).largest[0],
    ]
    bounds = proven_bounds(problem, Monitor(problem, 1e-4, 60.0))
    ends = np.stack(bounder.ends(lower, upper))
    rng = np.random.default_rng(1)
    for share in (0.0, 1.0, *rng.uniform(size=3), *rng.integers(0, 2, size=(3, lower.size))):
        x = np.clip(lower + share * (upper - lower), lower, upper)
        *hidden, output = exact_values(layers, x)
        assert all(output[0] <= Fraction(float(top)) for top in tops)
        for z, (low, high) in zip(hidden, bounds, strict=True):
            _assert_between(low, z, high)
        _assert_between(ends[0], [entry for z in hidden for entry in z], ends[1])


def _assert_between(low: FloatArray, values: list[Fraction], high: FloatArray) -> None:
    for least, value, largest in zip(low, values, high, strict=True):
        assert Fraction(float(least)) <= value <= Fraction(float(largest))


@pytest.mark.parametrize("method", ["enumerate", "boxes", "phases", "mip", "auto"])
def test_a_maximum_below_every_float_is_not_called_zero(method: str) -> None:
    layers = [(1e-310 * np.eye(2), np.zeros(2)), (np.array([[1e-200, 2e-200]]), np.zeros(1))]
    network = nm.Network.from_layers(layers)
    result = nm.certify(network, [(-1.0, 2.0), (0.5, 1.5)], method=method)
    assert result.value == 0.0
    assert 0.0 < result.bound < 1e-290
    assert result.certificate.check(network).confirmed


@pytest.mark.parametrize(
    ("solver", "formulation"),
    [
        ("highs", "bigm"),
        ("highs", "partition"),
        ("cbc", "bigm"),
        pytest.param("scip", "sos1", marks=needs_scip),
        pytest.param("gurobi", "bigm", marks=needs_gurobi),
        pytest.param("gurobi", "sos1", marks=needs_gurobi),
        pytest.param("gurobi", "partition", marks=needs_gurobi),
    ],
)
@pytest.mark.parametrize("size", [5e-324, 1e-310, 2.3e-308, 1e-160])
def test_integer_programs_of_tiny_weights_do_not_overflow(
    solver: str, formulation: str, size: float
) -> None:
    """Warnings are errors here."""
    rng = np.random.default_rng(3)
    hidden = rng.normal(size=(4, 2))
    hidden[1] *= size
    hidden[:, 1] *= size
    layers = [(hidden, np.array([0.1, size, -size, 0.2])), (rng.normal(size=(1, 4)), [0.3])]
    network = nm.Network.from_layers(layers)
    space = nm.Space.box([-1.0, 0.5], [2.0, 1e5])
    result = nm.certify(network, space, method="mip", solver=solver, formulation=formulation)
    assert result.status == "optimal"
    assert result.certificate.check(network).confirmed


@pytest.mark.parametrize("slope", [5e-324, 1e-310, 1e-200, 1.0])
def test_programs_for_multipliers_of_a_leaf_have_finite_numbers(slope: float) -> None:
    leaf = Leaf(np.array([-1.0]), np.array([1.0]), [], [])
    conditions = [Dyadic.of(np.array([slope, 1.0])), Dyadic.of(np.array([-slope, -1.0]))]
    found = list(_candidates(Dyadic.of(np.array([2.0, 0.5])), conditions, leaf))
    assert len(found) > 1
    assert np.isfinite(found).all()
