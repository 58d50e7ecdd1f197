"""Points at which an imported network is compared with its model.

They lie inside the box [-1, 1]^d and at its corners, on both sides of the kinks of the network, and
inside and at the corners of the box that these kinks span, which is where the model was trained,
whatever the units.
"""

from __future__ import annotations

import math

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.network.graph.graph import Network

N_PROBES = 256
SEED = 20_240_229
WORK = 1 << 32
"""Multiplications that the comparison may take, with the slopes of every output."""
MAX_NUMBERS = 1 << 23
"""Coordinates that the probe points may have together."""
LAYERS_PROBED = 16
OUTPUTS_PROBED = 32
"""Outputs whose slopes are taken, where a network has more."""
NEWTON_STEPS = 4


def probe_points(network: Network, widest: int = 1) -> FloatArray:
    """Return the seeded points at which a network is compared, at most 256 and at least 3.

    There are fewer for networks that are large: the work of the comparison is limited.

    Parameters
    ----------
    network : Network
    widest : int
        The most numbers that the model keeps at once for one point.
    """
    rng = np.random.default_rng(SEED)
    weights = sum(
        math.prod(w.shape) if isinstance(w, np.ndarray) else w.nnz
        for affine in (*network.layers, network.head)
        for w in affine.terms.values()
    )
    slopes = min(network.n_outputs, OUTPUTS_PROBED) + 1
    affordable = WORK // (4 * (weights + network.n_inputs) * slopes)
    count = min(N_PROBES, affordable, MAX_NUMBERS // max(network.n_inputs, widest))
    share = max(1, count // 8)
    cube = np.ones(network.n_inputs)
    inside = _of_box(rng, -cube, cube, max(2, 2 * share), share)
    if count < 8:
        return inside
    kinks = _kinks(network, rng, inside, 2 * share)
    if not len(kinks):
        return inside
    low, high = np.quantile(kinks, [0.1, 0.9], axis=0)
    return np.concatenate([inside, kinks, _of_box(rng, low, high, 2 * share, share)])


def _of_box(
    rng: np.random.Generator, low: FloatArray, high: FloatArray, n_inside: int, n_corners: int
) -> FloatArray:
    """Return points inside a box, and corners of it."""
    inside = rng.uniform(size=(n_inside, low.size))
    corners = rng.integers(0, 2, (n_corners, low.size))
    share: FloatArray = np.concatenate([inside, corners])
    return low * (1.0 - share) + high * share


def _kinks(
    network: Network, rng: np.random.Generator, starts: FloatArray, count: int
) -> FloatArray:
    """Return points on both sides of where ReLUs switch, found by Newton's method, (<= n, d)."""
    depth = len(network.layers)
    chosen = np.unique(np.linspace(1, depth, min(depth, LAYERS_PROBED, count // 2)).astype(int))
    found = [np.empty((0, network.n_inputs))]
    for position in chosen.tolist():
        layer = network.layers[position - 1]
        each = min(layer.width, len(starts), max(1, count // (2 * len(chosen))))
        rows = rng.choice(layer.width, each, replace=False)
        neurons = Network(network.n_inputs, network.layers[: position - 1], layer.rows(rows))
        points = rng.choice(starts, each, replace=False)
        with np.errstate(all="ignore"):
            before = np.abs(np.diagonal(neurons.evaluate(points)))
            for _ in range(NEWTON_STEPS):
                slopes = neurons.pull_back(points, np.eye(each))
                squared = np.einsum("ij,ij->i", slopes, slopes)
                steps = np.diagonal(neurons.evaluate(points)) / squared
                points = points - steps[:, None] * slopes
            # Where the method jumped into the distance, it found no kink.
            reached = np.abs(np.diagonal(neurons.evaluate(points))) <= 1e-3 * before
            aside = 1e-3 * (1.0 + np.linalg.norm(points, axis=1)) / np.sqrt(squared)
            sides = [points - aside[:, None] * slopes, points + aside[:, None] * slopes]
        found += [side[reached & np.isfinite(side).all(axis=1)] for side in sides]
    return np.concatenate(found)
