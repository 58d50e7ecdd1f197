"""Split ReLU layers into blocks that do not read each other.

The members of an ensemble are often stored as one block-diagonal network. Neurons that
are connected by nonzero weights between ReLU layers form components; each becomes a
chain of layers of its own, which is exact: weights only move, and zero blocks go.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from nnbo_mip.network.graph.affine import Affine, Matrix
from nnbo_mip.network.graph.graph import Network
from nnbo_mip.network.graph.matrices import nonzero_columns, nonzero_rows, tidy

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
    return replace(network, layers=tuple(layers), head=head)


def _blocks(network: Network) -> list[list[Rows]]:
    """Return, for each ReLU layer, its neurons in groups.

    The groups of a layer are the components of the net up to some layer T, for the
    largest T that separates it: an ensemble is split as a whole, and two nets that meet
    in a last ReLU are split up to there.
    """
    starts = np.cumsum([0, *(layer.width for layer in network.layers)])
    links = [_links(layer, k, starts) for k, layer in enumerate(network.layers)]
    blocks = [[np.arange(layer.width)] for layer in network.layers]
    for last in range(2, len(network.layers) + 1):
        label = _components(np.concatenate(links[:last], axis=1), int(starts[-1]))
        for position in range(last):
            own = label[starts[position] : starts[position + 1]]
            parts = [np.flatnonzero(own == part) for part in np.unique(own)]
            if 1 < len(parts) <= own.size / MEAN_BLOCK_SIZE:
                blocks[position] = parts
    return blocks


def _links(layer: Affine, position: int, starts: Rows) -> Rows:
    """Return pairs of neurons, (2, n), that connect what the weights of a layer connect.

    Rows with the same nonzero columns are linked to the first of them, and that one to
    the columns: a dense matrix takes as many pairs as it has rows and columns.
    """
    pairs = [np.empty((2, 0), dtype=np.intp)]
    for source, matrix in layer.terms.items():
        if source == 0:
            continue
        if isinstance(matrix, np.ndarray):
            packed = np.packbits(matrix != 0.0, axis=1)
            first, same = np.unique(packed, axis=0, return_index=True, return_inverse=True)[1:]
            reads = nonzero_rows(matrix)
            rows, columns = matrix[first].nonzero()
            alike = np.array([np.arange(same.size), first[same.ravel()]])[:, reads]
            pairs.append(alike + starts[position])
            rows = first[rows]
        else:
            rows, columns = matrix.nonzero()
        pairs.append(np.array([rows + starts[position], columns + starts[source - 1]]))
    return np.concatenate(pairs, axis=1)


def _components(links: Rows, count: int) -> Rows:
    """Return the component of each of `count` neurons, -1 where it has no link."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    graph = coo_array((np.ones(links.shape[1]), tuple(links)), shape=(count, count))
    label = connected_components(graph, directed=False)[1]
    return np.where(np.isin(np.arange(count), links), label, -1)


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
