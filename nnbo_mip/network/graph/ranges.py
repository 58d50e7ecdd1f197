r"""Rigorous ranges of pre-activations over a box, by interval arithmetic.

Over ``l <= h <= u`` the smallest value of ``z_i = b_i + sum_j W_ij h_j`` is

    b_i + sum_j max(W_ij, 0) l_j + sum_j min(W_ij, 0) u_j.

Computed in floating point with n nonzero summands s_j, it is off by at most
``gamma_n sum_j |s_j|`` with ``gamma_n = n u / (1 - n u)`` and ``u = 2^-53``, plus half of
the smallest subnormal number a product; the ends are moved outward by that much. Zero
summands cost nothing, so that a sum of nonnegative terms keeps its lower end of exactly 0.

References
----------
Moore et al. (2009), interval arithmetic [Moore2009].
Higham (2002), gamma_n, errors of dot products [Higham2002].
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.errors import InputError
from nnbo_mip.network.graph.affine import Affine, Matrix
from nnbo_mip.network.graph.graph import Network

Range: TypeAlias = tuple[FloatArray, FloatArray]
"""Lower and upper ends, (n,) each."""

UNIT_ROUNDOFF = 2.0**-53
SMALLEST_SUBNORMAL = 2.0**-1074


def check_box(network: Network, lower: npt.ArrayLike, upper: npt.ArrayLike) -> Range:
    """Return the sides of a box as float64 arrays, or say what is wrong with them."""
    low, high = np.asarray(lower, dtype=np.float64), np.asarray(upper, dtype=np.float64)
    expected = (network.n_inputs,)
    if low.shape != expected or high.shape != expected:
        raise InputError(
            f"lower and upper must have shape {expected}, one entry an input; "
            f"got {low.shape} and {high.shape}; reshape them."
        )
    if not (np.isfinite(low).all() and np.isfinite(high).all()):
        raise InputError(
            "lower and upper must be finite; got NaN or infinity; bound every dimension."
        )
    if bool((low > high).any()):
        worst = int(np.argmax(low > high))
        raise InputError(
            f"lower must be <= upper in every dimension; got lower[{worst}]={low[worst]} > "
            f"upper[{worst}]={high[worst]}; swap them or drop the dimension."
        )
    return low, high


def preactivation_ranges(
    network: Network,
    lower: npt.ArrayLike,
    upper: npt.ArrayLike,
    known: Sequence[Range] | None = None,
) -> list[Range]:
    """Bound every pre-activation over ``lower <= x <= upper``, in real arithmetic.

    Parameters
    ----------
    network : Network
        With L ReLU layers.
    lower, upper : (d,) array
        The box.
    known : sequence of L (lower, upper) pairs, optional
        Proven ranges from elsewhere; the intersection is taken and carried on.

    Returns
    -------
    list of L (lower, upper) pairs
    """
    sources = [check_box(network, lower, upper)]
    if known is not None:
        _check_known(network, known)
    ranges: list[Range] = []
    for position, layer in enumerate(network.layers):
        low, high = affine_range(layer, sources)
        if known is not None:
            low = np.maximum(low, known[position][0])
            high = np.minimum(high, known[position][1])
        ranges.append((low, high))
        sources.append((np.maximum(low, 0.0), np.maximum(high, 0.0)))
    return ranges


def affine_range(affine: Affine, sources: Sequence[Range]) -> Range:
    """Bound an affine map, given the ranges of its sources."""
    negated = affine.negated()
    return _lower_end(affine, sources), -_lower_end(negated, sources)


def _lower_end(affine: Affine, sources: Sequence[Range]) -> FloatArray:
    total = affine.bias.copy()
    magnitude = np.abs(affine.bias)
    summands = (affine.bias != 0.0).astype(np.float64)
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        for source, matrix in affine.terms.items():
            positive, negative = _signed_parts(matrix)
            for part, end in zip((positive, negative), sources[source], strict=True):
                total += part @ end
                magnitude += abs(part) @ np.abs(end)
                summands += (part != 0.0).astype(np.float64) @ (end != 0.0)
        product = summands * UNIT_ROUNDOFF
        gamma = product / (1.0 - product)
        error = gamma * magnitude * (1.0 + 4.0 * gamma) + summands * SMALLEST_SUBNORMAL
        widened = np.where(summands > 1.0, np.nextafter(total - error, -np.inf), total)
    # One product alone is rounded too, unless it is the bias itself or a multiple of zero.
    alone = (summands == 1.0) & (affine.bias == 0.0)
    widened = np.where(alone, np.nextafter(total, -np.inf), widened)
    return np.where(np.isnan(widened), -np.inf, widened)


def _signed_parts(matrix: Matrix) -> tuple[Matrix, Matrix]:
    """Split a matrix into its positive and its negative entries."""
    if isinstance(matrix, np.ndarray):
        return np.maximum(matrix, 0.0), np.minimum(matrix, 0.0)
    positive, negative = matrix.copy(), matrix.copy()
    positive.data = np.maximum(matrix.data, 0.0)
    negative.data = np.minimum(matrix.data, 0.0)
    positive.eliminate_zeros()
    negative.eliminate_zeros()
    return positive, negative


def _check_known(network: Network, known: Sequence[Range]) -> None:
    shapes = [(np.shape(low), np.shape(high)) for low, high in known]
    expected = [((layer.width,), (layer.width,)) for layer in network.layers]
    if shapes != expected:
        raise InputError(
            f"known ranges must have the shapes {expected}, a pair for each ReLU layer; "
            f"got {shapes}; compute them for this network."
        )
