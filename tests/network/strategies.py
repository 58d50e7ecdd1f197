"""Random networks, boxes and points for the tests of networks."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st
from scipy.sparse import csr_array

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.network.graph.affine import Affine, Matrix
from nnbo_mip.network.graph.graph import Network


def random_network(seed: int, *, scale: float = 1.0) -> Network:
    """Draw a network with skips, sparse and missing terms, zero rows and several outputs."""
    rng = np.random.default_rng(seed)
    widths = [int(rng.integers(1, 5))] + [int(n) for n in rng.integers(1, 7, rng.integers(0, 4))]
    layers = [
        _random_affine(rng, widths[: k + 1], widths[k + 1], scale) for k in range(len(widths) - 1)
    ]
    n_outputs = int(rng.integers(1, 4))
    head = _random_affine(rng, widths, n_outputs, scale)
    names = tuple(f"output {i}" for i in range(n_outputs))
    return Network(widths[0], tuple(layers), head, names)


def _random_affine(rng: np.random.Generator, widths: list[int], rows: int, scale: float) -> Affine:
    terms: dict[int, Matrix] = {}
    for source, width in enumerate(widths):
        # The previous layer is read most often, earlier ones and the input now and then.
        if rng.random() > (0.9 if source == len(widths) - 1 else 0.4):
            continue
        weights = rng.normal(0.1, scale, (rows, width))
        weights[rng.random((rows, width)) < 0.2] = 0.0
        terms[source] = csr_array(weights) if rng.random() < 0.3 else weights
    bias = rng.normal(-0.1, scale, rows)
    bias[rng.random(rows) < 0.2] = 0.0
    return Affine(bias, terms)


def random_box(seed: int, dimension: int) -> tuple[FloatArray, FloatArray]:
    """Draw a box that is neither symmetric nor at 0, of unequal sides, some of length 0."""
    rng = np.random.default_rng(seed)
    lower = rng.normal(0.7, 2.0, dimension)
    sides = rng.exponential(1.0, dimension) * (rng.random(dimension) > 0.15)
    return lower, lower + sides


def points_in(lower: FloatArray, upper: FloatArray, count: int, seed: int) -> FloatArray:
    """Draw points of a box, its corners among them."""
    rng = np.random.default_rng(seed)
    points = rng.uniform(lower, upper, (count, lower.size))
    corners = rng.random((count, lower.size)) < 0.5
    points[: count // 4] = np.where(corners, lower, upper)[: count // 4]
    return np.clip(points, lower, upper)


def assert_close(
    actual: FloatArray, expected: FloatArray, magnitude: FloatArray | float = 1.0
) -> None:
    """Compare to 1e-9 of the larger of the value and the magnitudes it is made of."""
    assert actual.shape == expected.shape
    allowed = 1e-9 * np.maximum(np.abs(expected), magnitude)
    assert (np.abs(actual - expected) <= allowed).all(), np.abs(actual - expected).max()


networks = st.integers(0, 2**32 - 1).map(random_network)
seeds = st.integers(0, 2**32 - 1)
