"""Which simplices are cut, and where: those whose bound is not yet good enough.

A ReLU is *open* on a simplex if its sign changes there by more than rounding. With many
open ReLUs the simplex is large for this function, and its longest edge is halved: all
relaxations shrink. With few left, the cut goes where the function bends: through the zero
of the open ReLU with the largest impact on the bound, among those whose pre-activation is
(nearly) affine on the simplex, so that the zero is known. A few such cuts and no ReLU is
open. Simplices without an open ReLU are finished.

Lengths are measured by what a step may do to the output, so that a coordinate to which
the network hardly reacts is hardly ever cut.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nnbo_mip.core.arrays import BoolArray, FloatArray, IntArray
from nnbo_mip.exact.enumeration.forms import LayerForms
from nnbo_mip.exact.enumeration.simplices import Geometry, children, edges
from nnbo_mip.space.domain import Grid

MANY_OPEN = 10
"""Open ReLUs from which the longest edge is halved instead."""

SMALLEST_SHARE = 2.0**-40
"""A sign change this small against the pre-activation's range counts as rounding."""

KNOWN_ZERO = 0.125
"""Radius of a pre-activation, against its smaller side, up to which its zero is known."""


@dataclass(frozen=True, eq=False)
class Cuts:
    """A cut for each of B simplices.

    Parameters
    ----------
    edge : (2, B) int array
        The vertices a and b between which it is cut.
    replacement : (2, B, d) array
        What replaces b in the first child and a in the second.
    drifts : (B,) int array
        1 where the children need not cover the simplex exactly.
    possible : (B,) bool array
        False where the simplex is finished.
    """

    edge: IntArray
    replacement: FloatArray
    drifts: IntArray
    possible: BoolArray


def choose_cuts(
    geometry: Geometry,
    vertices: FloatArray,
    layers: tuple[LayerForms, ...],
    impact: tuple[FloatArray, ...],
    scale: FloatArray,
) -> Cuts:
    """Choose a cut for every simplex.

    Parameters
    ----------
    geometry : Geometry
    vertices : (V, B, d) array
    layers : tuple of LayerForms
    impact : tuple of (B, n_l) arrays
    scale : (d,) array
        Weights of the coordinates in the length of an edge.
    """
    batch = np.arange(vertices.shape[1])
    if not layers:
        nowhere = np.zeros((2, batch.size), dtype=np.int64)
        return Cuts(nowhere, vertices[:2], nowhere[0], np.zeros(batch.size, dtype=bool))
    first, second = edges(vertices.shape[0])
    length = np.linalg.norm((vertices[second] - vertices[first]) * scale, axis=2)  # (E, B)
    end_share = geometry.end_share(vertices[first], vertices[second])
    rounding = np.maximum(SMALLEST_SHARE, 2.0 * end_share.min(axis=0))
    count, zeros = _open_relus(layers, impact, rounding)
    share = _zero_share(zeros[first], zeros[second])
    smaller_part = np.minimum(share, 1.0 - share)
    crossed = (smaller_part > end_share) & (count <= MANY_OPEN)
    halved = (end_share < 0.5) & ~crossed.any(axis=0)
    gain = np.where(crossed, smaller_part * length, np.where(halved, length, -1.0))
    chosen = gain.argmax(axis=0)
    edge = np.stack([first[chosen], second[chosen]])
    share = np.where(halved, 0.5, share)[chosen, batch]
    new = geometry.new_vertices(vertices, (edge[0], edge[1]), share)
    possible = (gain[chosen, batch] >= 0.0) & (count > 0)
    return Cuts(edge, np.stack([new.points, new.points]), new.drifts, possible)


def between_grid_values(cuts: Cuts, vertices: FloatArray, coordinate: int, grid: Grid) -> Cuts:
    """Move the cuts of intervals (2, B, d) to the neighbours on a grid, one for each child."""
    low = grid.index_above(vertices[0, :, coordinate])
    high = grid.index_below(vertices[1, :, coordinate])
    below = grid.index_below(cuts.replacement[0, :, coordinate])
    below = np.clip(below, low, np.maximum(high - 1, low))
    replacement = vertices.copy()
    replacement[0, :, coordinate] = grid.value(below)
    replacement[1, :, coordinate] = grid.value(np.minimum(below + 1, high))
    return Cuts(cuts.edge, replacement, cuts.drifts, cuts.possible & (low < high))


def _open_relus(
    layers: tuple[LayerForms, ...], impact: tuple[FloatArray, ...], rounding: FloatArray
) -> tuple[IntArray, FloatArray]:
    """Return how many ReLUs are open (B,), and the values (V, B) of the one to cut at.

    Parameters
    ----------
    layers : tuple of LayerForms
    impact : tuple of (B, n_l) arrays
    rounding : (B,) array
        The smaller side of a sign change, against the larger, that counts as rounding.
    """
    batch = rounding.size
    index = np.arange(batch)
    count = np.zeros(batch, dtype=np.int64)
    best, values = np.full(batch, -1.0), np.zeros((layers[0].center.shape[0], batch))
    for layer, height in zip(layers, impact, strict=True):
        if layer.center.shape[2] == 0:
            continue
        low, high = -layer.low, layer.high
        open_here = np.minimum(low, high) > rounding[:, None] * np.maximum(low, high)
        count += open_here.sum(axis=1)
        candidate = open_here
        if layer.radius is not None:
            center = layer.center
            known = np.minimum(-center.min(axis=0), center.max(axis=0))
            candidate = open_here & (layer.radius.max(axis=0) <= KNOWN_ZERO * known)
        score = np.where(candidate, height, -1.0)
        relu = score.argmax(axis=1)
        better = score[index, relu] > best
        best = np.where(better, score[index, relu], best)
        values = np.where(better, layer.center[:, index, relu], values)
    return count, values


def _zero_share(first: FloatArray, second: FloatArray) -> FloatArray:
    """Return where on an edge a function with these end values is zero; 0 where nowhere."""
    crosses = np.sign(first) * np.sign(second) < 0.0
    return np.where(crosses, first / np.where(crosses, first - second, 1.0), 0.0)


@dataclass(frozen=True, eq=False)
class Children:
    """Simplices that are about to be bounded.

    Parameters
    ----------
    vertices : (V, n, d) array
    bound : (n,) array
        What is already known of them.
    drifts : (n,) int array
        Cuts behind them that need not cover exactly.
    new_points : (m, d) array
        Vertices that were not there before.
    new_owner : (m,) int array
        A simplex of which each new point is a vertex.
    """

    vertices: FloatArray
    bound: FloatArray
    drifts: IntArray
    new_points: FloatArray
    new_owner: IntArray


class Frontier:
    """Open simplices: vertices, bound, drifts and where to cut.

    Parameters
    ----------
    vertex_count, dimension : int
        V and d.
    """

    def __init__(self, vertex_count: int, dimension: int) -> None:
        self._vertices = np.empty((vertex_count, 0, dimension))
        self._replacement = np.empty((2, 0, dimension))
        self._edge = np.empty((2, 0), dtype=np.int64)
        self._bound = np.empty(0)
        self._drifts = np.empty(0, dtype=np.int64)

    def __len__(self) -> int:
        return len(self._bound)

    def largest_bound(self) -> float:
        """Return the largest bound of an open simplex, -inf when there is none."""
        return float(self._bound.max(initial=-np.inf))

    def push(
        self,
        vertices: FloatArray,
        bound: FloatArray,
        drifts: IntArray,
        cuts: Cuts,
        chosen: BoolArray,
    ) -> None:
        """Add the chosen ones among some simplices."""
        self._vertices = np.concatenate([self._vertices, vertices[:, chosen]], axis=1)
        self._replacement = np.concatenate([self._replacement, cuts.replacement[:, chosen]], axis=1)
        self._edge = np.concatenate([self._edge, cuts.edge[:, chosen]], axis=1)
        self._bound = np.concatenate([self._bound, bound[chosen]])
        self._drifts = np.concatenate([self._drifts, (drifts + cuts.drifts)[chosen]])

    def discard(self, level: float) -> float:
        """Drop simplices that are not above a level; return the largest bound dropped."""
        keep = self._bound > level
        dropped = float(self._bound[~keep].max(initial=-np.inf))
        self._keep(keep)
        return dropped

    def cut(self, count: int) -> Children:
        """Remove the `count` simplices with the largest bounds and return their children."""
        taken = np.zeros(len(self), dtype=bool)
        if count < len(self):
            taken[np.argpartition(-self._bound, count)[:count]] = True
        else:
            taken[:] = True
        edge, replacement = self._edge[:, taken], self._replacement[:, taken]
        size = int(taken.sum())
        same = bool((replacement[0] == replacement[1]).all())
        result = Children(
            vertices=children(self._vertices[:, taken], (edge[0], edge[1]), replacement),
            bound=np.tile(self._bound[taken], 2),
            drifts=np.tile(self._drifts[taken], 2),
            new_points=replacement[0] if same else np.concatenate(list(replacement)),
            new_owner=np.arange(size if same else 2 * size),
        )
        self._keep(~taken)
        return result

    def _keep(self, chosen: BoolArray) -> None:
        self._vertices = self._vertices[:, chosen]
        self._replacement = self._replacement[:, chosen]
        self._edge = self._edge[:, chosen]
        self._bound, self._drifts = self._bound[chosen], self._drifts[chosen]
