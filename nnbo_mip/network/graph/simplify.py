r"""Make a network smaller without changing its function over a box.

Rigorous ranges prove of some ReLUs that they cannot change side over the box:

- dead, ``u <= 0``: the neuron is 0 and is dropped;
- always active, ``l >= 0``: the neuron equals its pre-activation, which is folded into
  the maps that read it (they then read the neuron's own sources).

Neurons that no output reads are dropped too. What is folded is rounded once more, so the
new network agrees with the old one to about 1e-15 of the magnitudes inside it, not bit
for bit; weights between neurons that stay are kept as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from nnbo_mip.network.graph.affine import Affine, Matrix
from nnbo_mip.network.graph.builder import GraphBuilder
from nnbo_mip.network.graph.graph import Network
from nnbo_mip.network.graph.matrices import nonzero_columns
from nnbo_mip.network.graph.ranges import Range, preactivation_ranges


def simplify(
    network: Network,
    lower: npt.ArrayLike,
    upper: npt.ArrayLike,
    preactivation_bounds: Sequence[Range] | None = None,
) -> Network:
    """Return a smaller network that is the same function on ``lower <= x <= upper``.

    Parameters
    ----------
    network : Network
        Any network.
    lower, upper : (d,) array
        Sides of the box; equal ones are legal.
    preactivation_bounds : sequence of (lower, upper) pairs, optional
        Proven bounds of each ReLU layer's pre-activations over the box, such as those
        of linear relaxations; interval arithmetic is used besides.

    Returns
    -------
    Network
        With the same inputs and outputs; outside the box it may differ.
    """
    ranges = preactivation_ranges(network, lower, upper, preactivation_bounds)
    return drop_unread_neurons(_without_stable(network, ranges))


def _without_stable(network: Network, ranges: Sequence[Range]) -> Network:
    """Rebuild the network with dead neurons dropped and always-active ones folded."""
    builder = GraphBuilder(network.n_inputs)
    values = [builder.input]
    for layer, (low, high) in zip(network.layers, ranges, strict=True):
        preactivation = _composed(builder, layer, values)
        active = low >= 0.0
        unstable = ~active & ~(high <= 0.0)
        rows = np.flatnonzero(unstable)
        parts = [preactivation.rows(np.flatnonzero(active))]
        parts += [builder.relu(preactivation.rows(rows))] if rows.size else []
        kept = np.concatenate([np.flatnonzero(active), rows])
        values.append(_scattered(builder.concatenate(parts), kept, layer.width, builder))
    head = _composed(builder, network.head, values)
    smaller = builder.finish(head)
    return replace(network, layers=smaller.layers, head=smaller.head)


def _composed(builder: GraphBuilder, affine: Affine, values: Sequence[Affine]) -> Affine:
    """Replace the sources of an affine map by values of the new network."""
    total = builder.constant(affine.bias)
    for source, matrix in affine.terms.items():
        total = builder.add(total, builder.affine(values[source], matrix))
    return total


def _scattered(
    value: Affine, index: npt.NDArray[np.intp], width: int, builder: GraphBuilder
) -> Affine:
    """Put the entries of a value at `index` among `width` ones, zero elsewhere."""
    padded = builder.concatenate([value, builder.constant(np.zeros(1))])
    place = np.full(width, value.width)
    place[index] = np.arange(value.width)
    return builder.select(padded, place)


def drop_unread_neurons(network: Network) -> Network:
    """Return the network without neurons that no output depends on, and without empty terms.

    Exact: what remains has the weights it had.
    """
    layers = list(network.layers)
    head = _without_empty_terms(network.head)
    readers = [head]
    for position in range(len(layers), 0, -1):
        read = np.zeros(layers[position - 1].width, dtype=bool)
        for reader in readers:
            if position in reader.terms:
                read |= nonzero_columns(reader.terms[position])
        layers[position - 1] = _without_empty_terms(layers[position - 1].rows(np.flatnonzero(read)))
        readers = [_columns_kept(reader, position, read) for reader in readers]
        readers.append(layers[position - 1])
    head, *backwards = readers
    return _without_empty_layers(network, tuple(reversed(backwards)), head)


def _columns_kept(affine: Affine, source: int, read: npt.NDArray[np.bool_]) -> Affine:
    if source not in affine.terms or read.all():
        return affine
    terms = dict(affine.terms)
    terms[source] = terms[source][:, np.flatnonzero(read)]
    return Affine(affine.bias, terms)


def _without_empty_terms(affine: Affine) -> Affine:
    if all(nonzero_columns(matrix).any() for matrix in affine.terms.values()):
        return affine
    terms: dict[int, Matrix] = {
        k: matrix for k, matrix in affine.terms.items() if nonzero_columns(matrix).any()
    }
    return Affine(affine.bias, terms)


def _without_empty_layers(network: Network, layers: tuple[Affine, ...], head: Affine) -> Network:
    kept = [k for k, layer in enumerate(layers, start=1) if layer.width]
    number = {0: 0} | {old: new for new, old in enumerate(kept, start=1)}
    *renumbered, last = (
        Affine(affine.bias, {number[k]: w for k, w in affine.terms.items() if k in number})
        for affine in (*(layers[k - 1] for k in kept), head)
    )
    return replace(network, layers=tuple(renumbered), head=last)
