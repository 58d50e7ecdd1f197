r"""Skip connections folded into plain layers, for peers that know only sequential nets.

ReLU layers are first put on levels (one more than the highest level they read) and the
layers of a level are stacked. A map c on level t that reads a level s < t - 1 gets *carry
neurons* on the levels between, one a row, that hold what c has read so far:

    C_{s+1} = relu(W_s h_s + o_{s+1}),     C_{j+1} = relu(C_j - o_j + W_j h_j + o_{j+1}).

The offsets o come from interval arithmetic over the box and make every carry neuron's
pre-activation positive there, so that relu is the identity and the function is unchanged.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.network.graph.affine import Affine
from nnbo_mip.network.graph.graph import Network

Layers: TypeAlias = list[tuple[FloatArray, FloatArray]]
"""``[(W, b), …]`` with W (out, in); ReLU after all but the last."""

MARGIN = 1e-3
"""Relative distance of a carry neuron's pre-activation from 0, far above any tolerance."""


def fold_skips(network: Network, lower: FloatArray, upper: FloatArray) -> Layers:
    """Return plain layers that compute the network's outputs on ``lower <= x <= upper``."""
    return _Folding(network, lower, upper).layers()


def evaluate(layers: Layers, points: FloatArray) -> FloatArray:
    """Forward pass of plain layers: (n, d) to (n, m)."""
    hidden = points
    for weight, bias in layers[:-1]:
        hidden = np.maximum(hidden @ weight.T + bias, 0.0)
    weight, bias = layers[-1]
    return np.asarray(hidden @ weight.T + bias)


class _Folding:
    """The stacked levels of one network, and what is carried through them."""

    def __init__(self, network: Network, lower: FloatArray, upper: FloatArray) -> None:
        self.maps: list[Affine] = [*network.layers, network.head]
        self.level = [0]
        for affine in network.layers:
            self.level.append(1 + max((self.level[k] for k in affine.terms), default=0))
        self.depth = max(self.level) + 1
        self.level.append(self.depth)
        self.width = [network.source_width(k) for k in range(len(self.maps))]
        self.low, self.high = _interval_bounds(network, lower, upper)

    def layers(self) -> Layers:
        result: Layers = []
        columns = {("h", 0): 0}
        offsets: dict[int, FloatArray] = {}
        width = self.width[0]
        for level in range(1, self.depth + 1):
            parts: list[tuple[FloatArray, FloatArray]] = []
            next_columns: dict[tuple[str, int], int] = {}
            next_offsets: dict[int, FloatArray] = {}
            row = 0
            for index, affine in enumerate(self.maps, start=1):
                carried = self._first_read(affine) < level < self.level[index]
                if not carried and level != self.level[index]:
                    continue
                weight = self._rows(affine, level, columns, width, index)
                shift = -offsets[index] if index in offsets else np.zeros(affine.width)
                if self.level[index] == level:
                    parts.append((weight, affine.bias + shift))
                    next_columns["h", index] = row
                else:
                    offset = self._offset(affine, level)
                    parts.append((weight, shift + offset))
                    next_columns["carry", index] = row
                    next_offsets[index] = offset
                row += affine.width
            result.append(
                (np.concatenate([w for w, _ in parts]), np.concatenate([b for _, b in parts]))
            )
            columns, offsets, width = next_columns, next_offsets, row
        return result

    def _first_read(self, affine: Affine) -> int:
        """Lowest level a map reads; a constant map reads none."""
        return min((self.level[k] for k in affine.terms), default=self.depth)

    def _rows(
        self,
        affine: Affine,
        level: int,
        columns: dict[tuple[str, int], int],
        width: int,
        index: int,
    ) -> FloatArray:
        """Weights of a map on the level below: its own terms there, and its carry."""
        weight = np.zeros((affine.width, width))
        for source in affine.terms:
            if self.level[source] == level - 1:
                start = columns["h", source]
                weight[:, start : start + self.width[source]] = affine.dense(source)
        if ("carry", index) in columns:
            start = columns["carry", index]
            weight[:, start : start + affine.width] = np.eye(affine.width)
        return weight

    def _offset(self, affine: Affine, level: int) -> FloatArray:
        """Make what a map has read below `level` positive over the box."""
        lowest = np.zeros(affine.width)
        for source in affine.terms:
            if self.level[source] < level:
                weight = affine.dense(source)
                lowest += np.minimum(weight * self.low[source], weight * self.high[source]).sum(1)
        return MARGIN * (1.0 + np.abs(lowest)) - lowest


def _interval_bounds(
    network: Network, lower: FloatArray, upper: FloatArray
) -> tuple[list[FloatArray], list[FloatArray]]:
    """Interval bounds of every source."""
    low, high = [lower], [upper]
    for affine in network.layers:
        bottom, top = affine.bias.copy(), affine.bias.copy()
        for source in affine.terms:
            weight = affine.dense(source)
            bottom += np.minimum(weight * low[source], weight * high[source]).sum(axis=1)
            top += np.maximum(weight * low[source], weight * high[source]).sum(axis=1)
        low.append(np.maximum(bottom, 0.0))
        high.append(np.maximum(top, 0.0))
    return low, high
