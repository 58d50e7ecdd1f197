r"""The network as one triangular system in its undecided ReLUs.

Stable ReLUs are eliminated: a dead one is 0, an always active one is its own
pre-activation. What is left, over the input x (d,) and the undecided h (K,), is

    z = bias + G_x x + G_h h,   h = max(z, 0),      f = constant + c_x . x + c_h . h,

with G_h strictly lower triangular. One such system serves the linear programs of
`exact.bounds.simplex`, whatever the graph of the network was.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.budget import reserve
from nnbo_mip.exact.bounds.relaxation import Relaxer
from nnbo_mip.exact.search.problem import Problem
from nnbo_mip.network.graph.affine import Affine, dense
from nnbo_mip.network.graph.graph import Network

ARRAYS = 10
"""Arrays (K, d + K) that a search over a system holds beside the two of each layer."""


@dataclass(frozen=True, eq=False)
class FlatSystem:
    """A network over the columns (x_1 … x_d, h_1 … h_K).

    Parameters
    ----------
    weights : (K, d + K) array
        G; row j reads columns before ``d + j`` only.
    bias : (K,) array
    low, high : (K,) arrays
        Proven pre-activation bounds, ``low < 0 < high``.
    objective : (d + K,) array
    constant : float
    level : (K,) int array
        Layer of each ReLU, for tightening layer by layer.
    place : (K, 2) int array
        Layer (from 1) and index in the layer of each ReLU.
    """

    weights: FloatArray
    bias: FloatArray
    low: FloatArray
    high: FloatArray
    objective: FloatArray
    constant: float
    level: np.ndarray[tuple[int], np.dtype[np.int64]]
    place: np.ndarray[tuple[int, int], np.dtype[np.int64]]

    @property
    def n_relus(self) -> int:
        """K, the number of undecided ReLUs."""
        return len(self.bias)

    @property
    def n_inputs(self) -> int:
        """d, the number of inputs."""
        return int(self.weights.shape[1]) - len(self.bias)


Bounds = list[tuple[FloatArray, FloatArray]]
"""Proven pre-activation bounds (l, u), one pair of (n_l,) arrays a layer."""


def flatten(network: Network, bounds: Bounds) -> FlatSystem:
    """Eliminate the stable ReLUs of a network with one output.

    Parameters
    ----------
    network : Network
    bounds : list of (l, u)
        Proven pre-activation bounds, one pair a ReLU layer.
    """
    undecided = [np.flatnonzero((low < 0.0) & (high > 0.0)) for low, high in bounds]
    d, total = network.n_inputs, sum(len(index) for index in undecided)
    columns = 1 + d + total  # constant, input, undecided ReLUs
    sizes = [float(np.prod(term.shape)) for one in network.layers for term in one.terms.values()]
    held = columns * (2.0 * sum(layer.width for layer in network.layers) + ARRAYS * total)
    reserve(
        f"a dense system of {total} undecided ReLUs",
        n_bytes=8.0 * (held + max(sizes, default=0.0)),
        operations=2.0 * columns * sum(sizes),
    )
    identity = np.zeros((d, columns))
    identity[:, 1 : 1 + d] = np.eye(d)
    expressions = [identity]
    rows: list[FloatArray] = []
    place: list[tuple[int, int]] = []
    for position, (layer, (low, _), index) in enumerate(
        zip(network.layers, bounds, undecided, strict=True), start=1
    ):
        z = _express(layer, expressions)
        h = np.where((low >= 0.0)[:, None], z, 0.0)
        h[index] = 0.0
        h[index, 1 + d + len(place) + np.arange(len(index))] = 1.0
        expressions.append(h)
        rows.append(z[index])
        place.extend((position, int(i)) for i in index)
    system = np.vstack(rows) if rows else np.zeros((0, columns))
    head = _express(network.head, expressions)[0]
    lows = [low[index] for (low, _), index in zip(bounds, undecided, strict=True)]
    highs = [high[index] for (_, high), index in zip(bounds, undecided, strict=True)]
    places = np.array(place, dtype=np.int64).reshape(-1, 2)
    return FlatSystem(
        weights=np.ascontiguousarray(system[:, 1:]),
        bias=np.ascontiguousarray(system[:, 0]),
        low=np.concatenate([*lows, np.zeros(0)]),
        high=np.concatenate([*highs, np.zeros(0)]),
        objective=np.ascontiguousarray(head[1:]),
        constant=float(head[0]),
        level=places[:, 0].copy(),
        place=places,
    )


def undecided_system(
    problem: Problem, lower: FloatArray, upper: FloatArray, known: Bounds | None = None
) -> tuple[FlatSystem, Bounds]:
    """Flatten a problem's network with backward-relaxation bounds over a box.

    Parameters
    ----------
    problem : Problem
    lower, upper : (d,) arrays
        The box.
    known : list of (l, u), optional
        Proven bounds to intersect with.
    """
    lines = Relaxer(problem.network, problem.rounding, tight=True).lines(
        lower[:, None], upper[:, None]
    )
    bounds = [(line.low[:, 0], line.high[:, 0]) for line in lines]
    if known is not None:
        bounds = [
            (np.maximum(low, known_low), np.minimum(high, known_high))
            for (low, high), (known_low, known_high) in zip(bounds, known, strict=True)
        ]
    return flatten(problem.network, bounds), bounds


def with_flat_bounds(bounds: Bounds, flat: FlatSystem) -> Bounds:
    """Return layer bounds with those of a flat system written into them."""
    result = [(low.copy(), high.copy()) for low, high in bounds]
    for (position, index), low, high in zip(flat.place, flat.low, flat.high, strict=True):
        result[position - 1][0][index] = max(result[position - 1][0][index], low)
        result[position - 1][1][index] = min(result[position - 1][1][index], high)
    return result


def _express(affine: Affine, expressions: list[FloatArray]) -> FloatArray:
    """Write an affine map of the sources as rows over (1, x, h)."""
    result = np.zeros((affine.width, expressions[0].shape[1]))
    result[:, 0] = affine.bias
    for source in affine.terms:
        result += dense(affine.terms[source]) @ expressions[source]
    return result
