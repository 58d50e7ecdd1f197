r"""The cells of trees: what lies between two neighbouring thresholds of a coordinate.

Of coordinate j, with the thresholds e_1 < … < e_K that lie within [lower_j, upper_j) and
e_0 = lower_j, e_{K+1} = upper_j, cell k holds

    x_j in [e_0, e_1]     for k = 0,        x_j in (e_k, e_{k+1}]     for k > 0,

so that ``x_j <= e_k`` means a cell before k. A box is a range of cells a_j <= k <= b_j in each
coordinate: comparisons of whole numbers decide which way a node sends it, without rounding.

The faces of exclusions are edges too, so that a single cell lies within an exclusion or outside.
Linear rows, grids and groups are left to the domain's own propagation: it is given the closure of a
box, whose lower ends are the edges themselves, so that what it cuts off is cut off in real
arithmetic. Coordinates with a grid start at the next float64 number instead, which loses no value
of a grid.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from nnbo_mip.core.arrays import FloatArray, IntArray
from nnbo_mip.network.graph.tree_arrays import LEAF, TreeArrays
from nnbo_mip.space.domain import Domain

BoolArray = npt.NDArray[np.bool_]

Ranges = tuple[IntArray, IntArray, BoolArray]
"""First and last cells (n, d) of boxes, and which of them can hold an admissible point."""


class TreeCells:
    """Cells of all coordinates of a domain.

    Parameters
    ----------
    trees : TreeArrays
    domain : Domain

    Attributes
    ----------
    cut : (N,) array
        The last cell that a node sends to the left; -1 where it sends none.
    last : (d,) array
        The last cell of each coordinate.
    """

    def __init__(self, trees: TreeArrays, domain: Domain) -> None:
        self.trees, self.domain = trees, domain
        self._real = np.array([grid is None for grid in domain.grids])
        self._edges = [self._edges_of(j) for j in range(domain.dimension)]
        self.last = np.array([len(edges) for edges in self._edges], dtype=np.int64)
        self.cut = self._cuts()
        ends = zip(domain.lower, self._edges, domain.upper, strict=True)
        bounds = [np.concatenate([[low], edges, [high]]) for low, edges, high in ends]
        self._low = [edges[:-1] for edges in bounds]
        self._high = [edges[1:] for edges in bounds]
        self._first = [np.nextafter(edges[:-1], np.inf) for edges in bounds]
        for first, low in zip(self._first, domain.lower, strict=True):
            first[0] = low

    def root(self) -> tuple[IntArray, IntArray]:
        """Return the first and last cells (1, d) of the whole box."""
        return np.zeros((1, len(self.last)), dtype=np.int64), self.last[None, :].copy()

    def closure(self, a: IntArray, b: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return the ends (n, d) of closed boxes that contain all points of boxes of cells."""
        lows = [
            low[a[:, j]] if self._real[j] else self._first[j][a[:, j]]
            for j, low in enumerate(self._low)
        ]
        return np.stack(lows, axis=1), self._tops(b)

    def floats(self, a: IntArray, b: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return the least and the largest float64 numbers (n, d) of boxes of cells."""
        lows = [first[a[:, j]] for j, first in enumerate(self._first)]
        return np.stack(lows, axis=1), self._tops(b)

    def tightened(self, a: IntArray, b: IntArray) -> Ranges:
        """Shrink boxes to what the domain admits, without cutting an admissible point off."""
        if self.domain.is_box:
            return a, b, np.ones(len(a), dtype=np.bool_)
        lower, upper, feasible = self.domain.tighten(*self.closure(a, b))
        a, b = a.copy(), b.copy()
        for j, edges in enumerate(self._edges):
            a[:, j] = np.maximum(a[:, j], np.searchsorted(edges, lower[:, j], side="left"))
            b[:, j] = np.minimum(b[:, j], np.searchsorted(edges, upper[:, j], side="left"))
        feasible = feasible & (a <= b).all(axis=1)
        feasible[feasible] &= ~self._within_a_exclusion(a[feasible], b[feasible])
        return a, b, feasible

    def edge_above(self, coordinate: int, cells: IntArray) -> FloatArray:
        """Return the upper ends (n,) of cells (n,) of a coordinate."""
        return np.asarray(self._high[coordinate][cells])

    def cells_of(self, points: FloatArray) -> IntArray:
        """Return the cells (n, d) of points (n, d)."""
        columns = zip(self._edges, points.T, strict=True)
        return np.stack([np.searchsorted(edges, x, side="left") for edges, x in columns], axis=1)

    def middles(self, coordinate: int) -> FloatArray:
        """Return one number in each cell of a coordinate, a value of the grid where there is one.

        Cells without a value of the grid are left out.
        """
        first, high = self._first[coordinate], self._high[coordinate]
        grid = self.domain.grids[coordinate]
        if grid is None:
            return np.asarray(np.clip(0.5 * first + 0.5 * high, first, high))
        values = grid.value(np.unique(grid.nearest(np.clip(0.5 * first + 0.5 * high, first, high))))
        inside = (values >= self.domain.lower[coordinate]) & (
            values <= self.domain.upper[coordinate]
        )
        return np.asarray(values[inside])

    def _tops(self, b: IntArray) -> FloatArray:
        return np.stack([high[b[:, j]] for j, high in enumerate(self._high)], axis=1)

    def _edges_of(self, j: int) -> FloatArray:
        """Return the edges of a coordinate: thresholds and faces of exclusions."""
        found = [self.trees.threshold[self.trees.feature == j]]
        exclusions = self.domain.exclusions
        if len(exclusions):
            found += [exclusions.lower[:, j], np.nextafter(exclusions.upper[:, j], -np.inf)]
        edges = np.unique(np.concatenate(found) + 0.0)
        within = (edges >= self.domain.lower[j]) & (edges < self.domain.upper[j])
        return np.asarray(edges[within])

    def _cuts(self) -> IntArray:
        feature, threshold = self.trees.feature, self.trees.threshold
        cut = np.full(len(feature), LEAF, dtype=np.int64)
        for j, edges in enumerate(self._edges):
            mine = feature == j
            # Cell k holds x <= t where its upper end does not exceed t: e_{k+1} <= t.
            cut[mine] = np.searchsorted(edges, threshold[mine], side="right") - 1
            beyond = mine & (threshold >= self.domain.upper[j])
            cut[beyond] = len(edges)
        return cut

    def _within_a_exclusion(self, a: IntArray, b: IntArray) -> BoolArray:
        """Return which boxes of cells lie within one exclusion."""
        exclusions = self.domain.exclusions
        if not len(exclusions):
            return np.zeros(len(a), dtype=np.bool_)
        lower, upper = self.floats(a, b)
        inside = np.ones((len(a), len(exclusions)), dtype=np.bool_)
        for j in range(lower.shape[1]):
            inside &= (exclusions.lower[:, j] < lower[:, [j]]) & (
                upper[:, [j]] < exclusions.upper[:, j]
            )
        return np.asarray(inside.any(axis=1))
