"""Split ReLU layers into blocks that do not read each other.

The members of an ensemble are often stored as one block-diagonal network. Neurons that
are connected by nonzero weights between ReLU layers form components; each becomes a
chain of layers of its own, which is exact: weights only move, and zero blocks go.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from nnbo_mip.network.affine import Affine, Matrix
from nnbo_mip.network.graph import Network
from nnbo_mip.network.matrices import nonzero_columns, tidy

Rows: TypeAlias = npt.NDArray[np.intp]

MEAN_BLOCK_SIZE = 4
"""Smaller blocks are not worth a layer each: an entrywise layer would become one a neuron."""


def split_components(network: Network) -> Network:
    """Return the same function with each layer split along its independent components.

    Parameters
    ----------
    network : Network
        Any network.

    Returns
    -------
    Network
        The network itself when there is nothing to split. Neurons of a layer that are
        connected to no other ReLU layer stay together in one block.
    """
    blocks = _blocks(network)
    if all(len(parts) == 1 for parts in blocks):
        return network
    number: dict[tuple[int, int], int] = {}
    for position, parts in enumerate(blocks, start=1):
        for part in range(len(parts)):
            number[position, part] = len(number) + 1
    layers = [
        _split_columns(layer.rows(rows), blocks, number)
        for layer, parts in zip(network.layers, blocks, strict=True)
        for rows in parts
    ]
    head = _split_columns(network.head, blocks, number)
    return Network(
        network.n_inputs, tuple(layers), head, network.output_names, network.float32_difference
    )


def _blocks(network: Network) -> list[list[Rows]]:
    """Return, for each ReLU layer, its neurons in groups.

    The groups of a layer are the components of the net up to some layer T, for the
    largest T that separates it: an ensemble is split as a whole, and two nets that meet
    in a last ReLU are split up to there.
    """
    starts = np.cumsum([0, *(layer.width for layer in network.layers)])
    blocks = [[np.arange(layer.width)] for layer in network.layers]
    for last in range(2, len(network.layers) + 1):
        label = _components(network, starts, last)
        for position in range(last):
            own = label[starts[position] : starts[position + 1]]
            parts = [np.flatnonzero(own == part) for part in np.unique(own)]
            if 1 < len(parts) <= own.size / MEAN_BLOCK_SIZE:
                blocks[position] = parts
    return blocks


def _components(network: Network, starts: Rows, last: int) -> Rows:
    """Return each neuron's component within layers 1 to `last`, -1 where unconnected."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    readers, sources = [np.empty(0, dtype=np.intp)], [np.empty(0, dtype=np.intp)]
    for position, layer in enumerate(network.layers[:last], start=1):
        for source, matrix in layer.terms.items():
            if source > 0:
                rows, columns = matrix.nonzero()
                readers.append(rows + starts[position - 1])
                sources.append(columns + starts[source - 1])
    edges = (np.concatenate(readers), np.concatenate(sources))
    n = int(starts[-1])
    graph = coo_array((np.ones(edges[0].size), edges), shape=(n, n))
    label = connected_components(graph, directed=False)[1]
    return np.where(np.isin(np.arange(n), np.concatenate(edges)), label, -1)


def _split_columns(
    affine: Affine, blocks: Sequence[Sequence[Rows]], number: dict[tuple[int, int], int]
) -> Affine:
    """Read the blocks of each source instead of the whole source, without zero terms."""
    terms: dict[int, Matrix] = {}
    for source, matrix in affine.terms.items():
        if source == 0:
            terms[0] = matrix
            continue
        for part, columns in enumerate(blocks[source - 1]):
            block = matrix[:, columns]
            if nonzero_columns(block).any():
                terms[number[source, part]] = tidy(block)
    return Affine(affine.bias, terms)
