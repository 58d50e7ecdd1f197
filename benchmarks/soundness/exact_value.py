"""A network at one float64 point in rational arithmetic: no rounding, no engine's code."""

from __future__ import annotations

from fractions import Fraction

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.network.graph.affine import Affine
from nnbo_mip.network.graph.graph import Network

ZERO = Fraction(0)


def exact_value(network: Network, point: FloatArray) -> Fraction:
    """Return the only output of `network` at a float64 point (d,), exactly."""
    sources = [[Fraction(float(value)) for value in point]]
    for layer in network.layers:
        sources.append([max(value, ZERO) for value in _apply(layer, sources)])
    return _apply(network.head, sources)[0]


def _apply(affine: Affine, sources: list[list[Fraction]]) -> list[Fraction]:
    totals = [Fraction(float(bias)) for bias in affine.bias]
    for source, values in ((k, sources[k]) for k in affine.terms):
        weights = affine.dense(source)
        for row in range(affine.width):
            for column in weights[row].nonzero()[0]:
                if values[column]:
                    totals[row] += Fraction(float(weights[row, column])) * values[column]
    return totals
