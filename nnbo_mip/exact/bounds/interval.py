r"""Interval bounds: what every ReLU can receive over a box, without any solver.

With ``W+ = max(W, 0)`` and ``W- = min(W, 0)``,

    l_t = b_t + sum_k (W+_{t,k} low_k + W-_{t,k} high_k),
    u_t = b_t + sum_k (W+_{t,k} high_k + W-_{t,k} low_k),

where ``low_0, high_0`` are the ends of the box and ``low_k = max(l_k, 0)``,
``high_k = max(u_k, 0)`` those of ReLU layer k. Both ends are then moved outwards by the
constants of `nnbo_mip.exact.search.rounding`, which makes them true in real arithmetic.

References
----------
Moore et al. (2009), interval arithmetic [Moore2009].
Gowal et al. (2018), interval bound propagation through networks [Gowal2018].
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.exact.search.rounding import rounding_model
from nnbo_mip.network.graph.affine import Affine, dense
from nnbo_mip.network.graph.graph import Network

LayerBounds = tuple[FloatArray, FloatArray]
"""Proven lower and upper ends (n,) of the pre-activations of one layer."""


def interval_bounds(network: Network, lower: FloatArray, upper: FloatArray) -> list[LayerBounds]:
    """Bound every pre-activation over the box ``lower <= x <= upper``.

    Parameters
    ----------
    network : Network
    lower, upper : (d,) arrays

    Returns
    -------
    list of (l, u)
        One pair of (n_t,) arrays a ReLU layer, true in real arithmetic.
    """
    errors = rounding_model(network, lower, upper).layers
    sources = [(lower, upper)]
    bounds: list[LayerBounds] = []
    for layer, error in zip(network.layers, errors, strict=True):
        low, high = _affine_interval(layer, sources)
        bounds.append((low - error, high + error))
        sources.append(relu_interval(bounds[-1]))
    return bounds


def head_interval(
    network: Network, lower: FloatArray, upper: FloatArray, bounds: Sequence[LayerBounds]
) -> tuple[float, float]:
    """Bound the only output, given proven bounds on all pre-activations.

    Parameters
    ----------
    network : Network
        With one output.
    lower, upper : (d,) arrays
    bounds : sequence of (l, u)
        One pair a ReLU layer, as `interval_bounds` or any tighter method gives.
    """
    error = rounding_model(network, lower, upper).output
    sources = [(lower, upper), *(relu_interval(pair) for pair in bounds)]
    low, high = _affine_interval(network.head, sources)
    return float(low[0] - error), float(high[0] + error)


def relu_interval(bounds: LayerBounds) -> LayerBounds:
    """Return the interval of ``max(z, 0)`` for z in the interval `bounds`."""
    return np.maximum(bounds[0], 0.0), np.maximum(bounds[1], 0.0)


def _affine_interval(affine: Affine, sources: Sequence[LayerBounds]) -> LayerBounds:
    low, high = affine.bias.copy(), affine.bias.copy()
    for source, matrix in affine.terms.items():
        weights = dense(matrix)
        positive, negative = np.maximum(weights, 0.0), np.minimum(weights, 0.0)
        source_low, source_high = sources[source]
        low += positive @ source_low + negative @ source_high
        high += positive @ source_high + negative @ source_low
    return low, high
