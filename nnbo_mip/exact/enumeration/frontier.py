"""The simplices that are still to be cut, with their cuts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nnbo_mip.core.arrays import BoolArray, FloatArray, IntArray
from nnbo_mip.exact.enumeration.cuts import Cuts
from nnbo_mip.exact.enumeration.simplices import children


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
