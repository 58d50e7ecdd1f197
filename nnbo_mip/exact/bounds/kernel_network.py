"""A network as a handful of flat arrays, for compiled kernels."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from nnbo_mip.core.arrays import FloatArray, IntArray
from nnbo_mip.exact.search.rounding import RoundingModel
from nnbo_mip.network.graph.affine import dense
from nnbo_mip.network.graph.graph import Network


class KernelNetwork(NamedTuple):
    """A network; all units share one numbering, the inputs first.

    Attributes
    ----------
    offsets : (L + 3,) ints
        Source k (0 the input, 1 … L the ReLU layers, L + 1 the outputs) holds the units
        ``offsets[k]`` to ``offsets[k + 1]``.
    bias, errors : (units,) arrays
        Biases (0 for the inputs) and rounding constants of each unit.
    pair_start : (L + 3,) ints
        Layer t reads the pairs ``pair_start[t]`` to ``pair_start[t + 1]``.
    pair_source, pair_weights, pair_column : (pairs,) ints
        Source of a pair, where its weights start, where its columns start.
    weights, magnitudes : arrays
        Weights of all pairs, one source unit after the other, and their absolute values.
    column_first, column_last : (columns,) ints
        Range of target units outside which a column is zero.
    wants_forms, reads_forms : (L + 2,) bools
        Whether a layer's affine forms are needed later; whether it is bounded by forms.
    """

    offsets: IntArray
    bias: FloatArray
    errors: FloatArray
    pair_start: IntArray
    pair_source: IntArray
    pair_weights: IntArray
    pair_column: IntArray
    weights: FloatArray
    magnitudes: FloatArray
    column_first: IntArray
    column_last: IntArray
    wants_forms: npt.NDArray[np.bool_]
    reads_forms: npt.NDArray[np.bool_]


def kernel_network(
    network: Network, rounding: RoundingModel, output_forms: bool = False
) -> KernelNetwork:
    """Lay a network out for the kernels; `output_forms` if the outputs are bounded by forms."""
    affines = [*network.layers, network.head]
    widths = [network.n_inputs, *(affine.width for affine in affines)]
    offsets = np.concatenate([[0], np.cumsum(widths)]).astype(np.int64)
    pair_start, sources, weight_starts, column_starts = [0, 0], [], [], []
    blocks: list[FloatArray] = []
    first: list[int] = []
    last: list[int] = []
    size = 0
    for affine in affines:
        for source in affine.terms:
            columns = dense(affine.terms[source]).T  # one row a source unit
            sources.append(source)
            weight_starts.append(size)
            column_starts.append(len(first))
            blocks.append(columns.ravel())
            size += columns.size
            for column in columns:
                used = np.flatnonzero(column)
                first.append(int(used[0]) if len(used) else 0)
                last.append(int(used[-1]) + 1 if len(used) else 0)
        pair_start.append(len(sources))
    weights = np.concatenate([*blocks, np.zeros(0)])
    reads = np.array([False] + [any(k > 0 for k in affine.terms) for affine in affines])
    wants = np.zeros(len(affines) + 1, dtype=bool)
    for t in range(len(affines) - (0 if output_forms else 1), 0, -1):
        for source in affines[t - 1].terms:
            wants[source] |= source > 0
    return KernelNetwork(
        offsets=offsets,
        bias=np.concatenate([np.zeros(network.n_inputs), *(a.bias for a in affines)]),
        errors=np.concatenate([np.zeros(network.n_inputs), *rounding.layers, rounding.outputs]),
        pair_start=np.array(pair_start, dtype=np.int64),
        pair_source=np.array(sources, dtype=np.int64),
        pair_weights=np.array(weight_starts, dtype=np.int64),
        pair_column=np.array(column_starts, dtype=np.int64),
        weights=weights,
        magnitudes=np.abs(weights),
        column_first=np.array(first, dtype=np.int64),
        column_last=np.array(last, dtype=np.int64),
        wants_forms=wants,
        reads_forms=reads,
    )
