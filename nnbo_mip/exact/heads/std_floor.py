r"""A proven lower bound on an output that is never negative, though no interval shows it.

A clip and an absolute value are sums of ReLUs whose sizes cancel,

    clip(z) = lo + relu(z - lo) - relu(z - hi),      abs(z) = 2 relu(z) - z,

so that intervals of the parts say little. Two exact remarks mend that:

* relu(z + p) - relu(z + q) >= min(p - q, 0), for two units with the same weights;
* relu(z) >= z / 2, which makes 2 relu(z) - z >= 0.

The first is applied wherever it can be; the second to the units of the last layers, with as
many layers as gives the best bound. Intervals bound the rest.
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from nnbo_mip.exact.search.rounding import gamma
from nnbo_mip.network.graph.affine import Affine
from nnbo_mip.network.graph.graph import Network
from nnbo_mip.network.graph.ranges import Range, affine_range, preactivation_ranges
from nnbo_mip.space.domain import Domain

SUBNORMAL = 5e-324


def proven_floor(network: Network, output: str, domain: Domain) -> float:
    """Return a lower bound on an output over the domain's box, in real arithmetic."""
    box = domain.lower, domain.upper
    with np.errstate(over="ignore", invalid="ignore"):
        sources: list[Range] = [box]
        for low, high in preactivation_ranges(network, *box):
            sources.append((np.maximum(low, 0.0), np.maximum(high, 0.0)))
        row = _Row(network, network.head.rows([network.output_index(output)]))
        row.take_pairs()
        best = row.lower_bound(sources)
        for layer in range(len(network.layers), 0, -1):
            if row.halve(layer):
                best = max(best, row.lower_bound(sources))
    return best


class _Row:
    """A sum ``c + sum_k v_k . h_k`` that is bounded from below, and rewritten on the way."""

    def __init__(self, network: Network, row: Affine) -> None:
        self._network = network
        self._constant = float(row.bias[0])
        self._weights = {k: row.dense(k)[0].copy() for k in row.terms}
        # Sizes of everything that was added up, so that rounding can be bounded.
        self._sizes = {k: np.abs(w) for k, w in self._weights.items()}
        self._constant_size = abs(self._constant)
        self._additions = 1

    def take_pairs(self) -> None:
        """Replace differences of units with the same weights by their least value."""
        for source in [k for k in self._weights if k > 0]:
            weights, layer = self._weights[source], self._network.layers[source - 1]
            alike: dict[tuple[bytes, float], list[int]] = defaultdict(list)
            for unit in np.flatnonzero(weights):
                rows = [layer.dense(k)[unit] + 0.0 for k in sorted(layer.terms)]
                key = np.concatenate([*rows, np.empty(0)]).tobytes()
                alike[key, abs(float(weights[unit]))].append(int(unit))
            for (_, size), units in alike.items():
                rising = [unit for unit in units if weights[unit] > 0.0]
                falling = [unit for unit in units if weights[unit] < 0.0]
                for up, down in zip(rising, falling, strict=False):
                    self._add_constant(size * min(layer.bias[up] - layer.bias[down], 0.0))
                    weights[[up, down]] = 0.0

    def halve(self, source: int) -> bool:
        """Replace the units of a layer that count positively by half of what they read."""
        weights = self._weights.get(source)
        if weights is None or not (weights > 0.0).any():
            return False
        layer, halves = self._network.layers[source - 1], 0.5 * np.maximum(weights, 0.0)
        self._add_constant(float(halves @ layer.bias), float(halves @ np.abs(layer.bias)))
        self._additions += len(halves)
        for k in layer.terms:
            matrix = layer.dense(k)
            width = matrix.shape[1]
            self._weights[k] = self._weights.get(k, np.zeros(width)) + halves @ matrix
            self._sizes[k] = self._sizes.get(k, np.zeros(width)) + halves @ np.abs(matrix)
        self._weights[source] = np.minimum(weights, 0.0)
        return True

    def lower_bound(self, sources: list[Range]) -> float:
        """Return a lower bound of what is left, over ranges of the input and the layers."""
        terms = {k: w[None, :] for k, w in self._weights.items() if np.isfinite(w).all()}
        if len(terms) < len(self._weights) or not np.isfinite(self._constant):
            return -np.inf
        low = affine_range(Affine(np.array([self._constant]), terms), sources)[0][0]
        total, summands = self._constant_size, self._additions + 2
        for k, sizes in self._sizes.items():
            reach = np.maximum(*(np.abs(end) for end in sources[k]))
            total += float(sizes @ reach)
            summands += len(sizes)
        return float(low - 2.0 * gamma(summands + self._additions) * total - summands * SUBNORMAL)

    def _add_constant(self, number: float, size: float | None = None) -> None:
        self._constant += number
        self._constant_size += abs(number) if size is None else size
        self._additions += 1
