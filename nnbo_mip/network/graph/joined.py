"""Several networks of the same inputs as one, with the layers they share kept once."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np

from nnbo_mip.core.errors import InputError
from nnbo_mip.network.graph.affine import Affine
from nnbo_mip.network.graph.builder import GraphBuilder
from nnbo_mip.network.graph.graph import Network


def joined(networks: Sequence[Network], names: Sequence[str], output: str) -> Network:
    """Return the network whose outputs are one output of each network.

    Parameters
    ----------
    networks : sequence of Network
        All of the same number of inputs.
    names : sequence of str
        What their outputs are called in the result.
    output : str
        The output that is taken of each.
    """
    if len({network.n_inputs for network in networks}) != 1:
        raise InputError(
            "networks that are joined must read the same inputs; got "
            f"{[network.n_inputs for network in networks]}; check them."
        )
    layers: list[Affine] = []
    known: dict[str, int] = {}
    rows: list[Affine] = []
    for network in networks:
        places = {0: 0}
        for position, layer in enumerate(network.layers, start=1):
            moved = _moved(layer, places)
            digest = hashlib.sha256()
            moved.update_hash(digest)
            place = known.setdefault(digest.hexdigest(), len(layers) + 1)
            if place > len(layers):
                layers.append(moved)
            places[position] = place
        rows.append(_moved(network.head.rows([network.output_index(output)]), places))
    together = GraphBuilder(networks[0].n_inputs).concatenate(rows)
    return Network(networks[0].n_inputs, tuple(layers), together, tuple(names))


def _moved(layer: Affine, places: dict[int, int]) -> Affine:
    """Return a map that reads its sources at other places; two at one place are added."""
    terms: dict[int, np.ndarray] = {}
    for source in layer.terms:
        weights = layer.dense(source)
        place = places[source]
        terms[place] = terms[place] + weights if place in terms else weights
    return Affine(layer.bias, terms)
