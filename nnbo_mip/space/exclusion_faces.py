r"""`ExclusionFaces`: the exclusions of a domain as its grids see them, and boxes beside them.

With the exclusion's ends l < u in coordinate j, a box leaves it on one side of a face:

    x_j <= below_j      (l, or the largest value of the grid that is not above it)
    x_j >= above_j      (u, or the smallest value of the grid that is not below it)

so that what is left of a box is covered by one piece for each face within the box. Taking
the coordinates one after another, a later piece may be limited to the exclusion's side of the
earlier ones, ``inner_low <= x_j <= inner_high``: closed on real coordinates, where the face
itself lies in both, and strictly inside on grids, where the pieces are then disjoint.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nnbo_mip.core.arrays import BoolArray, FloatArray, IntArray
from nnbo_mip.space.exclusions import ExclusionBoxes
from nnbo_mip.space.grid import Grid


@dataclass(frozen=True, eq=False)
class ExclusionFaces:
    """Exclusion boxes with their faces moved onto the grids.

    Parameters
    ----------
    exclusions : ExclusionBoxes
    below, above : (n, d) arrays
        See the module; infinite where the grid has no such value.
    inner_low, inner_high : (n, d) arrays
        The exclusion's side; crossed where no value of the grid lies in the exclusion.
    """

    exclusions: ExclusionBoxes
    below: FloatArray
    above: FloatArray
    inner_low: FloatArray
    inner_high: FloatArray

    @classmethod
    def of(cls, exclusions: ExclusionBoxes, grids: Sequence[Grid | None]) -> ExclusionFaces:
        """Move the faces of exclusions onto grids."""
        below, above = exclusions.lower.copy(), exclusions.upper.copy()
        inner_low, inner_high = exclusions.lower.copy(), exclusions.upper.copy()
        for j, grid in enumerate(grids):
            if grid is None or not len(exclusions):
                continue
            last_below, first_above = grid.index_below(below[:, j]), grid.index_above(above[:, j])
            below[:, j] = _values(grid, last_below)
            above[:, j] = _values(grid, first_above)
            inner_low[:, j] = _values(grid, last_below + 1)
            inner_high[:, j] = _values(grid, first_above - 1)
        return cls(exclusions, below, above, inner_low, inner_high)

    @property
    def hold_a_value(self) -> BoolArray:
        """(n,) whether some point on the grids lies in the exclusion."""
        return np.asarray((self.inner_low <= self.inner_high).all(axis=1))

    def shrink(self, low: FloatArray, high: FloatArray, feasible: BoolArray) -> bool:
        """Cut exclusions off boxes (m, d) that they cover in all coordinates, or in all but one.

        Works in place, where feasible; ends must lie on the grids. Returns whether an end
        was moved.
        """
        candidates = np.flatnonzero(feasible)
        box, exclusion = np.nonzero(self.exclusions.meeting(low[candidates], high[candidates]))
        box = candidates[box]
        covered = (self.exclusions.lower[exclusion] < low[box]) & (
            high[box] < self.exclusions.upper[exclusion]
        )
        count = covered.sum(axis=1)
        feasible[box[count == low.shape[1]]] = False
        chosen = np.flatnonzero(count == low.shape[1] - 1)
        if not chosen.size:
            return False
        box, exclusion, j = box[chosen], exclusion[chosen], covered[chosen].argmin(axis=1)
        below, above = self.below[exclusion, j], self.above[exclusion, j]
        stays_below, stays_above = below >= low[box, j], above <= high[box, j]
        feasible[box[~stays_below & ~stays_above]] = False
        at_low, at_high = stays_above & ~stays_below, stays_below & ~stays_above
        np.maximum.at(low, (box[at_low], j[at_low]), above[at_low])
        np.minimum.at(high, (box[at_high], j[at_high]), below[at_high])
        feasible[box] &= (low[box] <= high[box]).all(axis=1)
        return bool(at_low.any() or at_high.any())

    def pieces(
        self, low: FloatArray, high: FloatArray, exclusion: IntArray, order: IntArray
    ) -> tuple[FloatArray, FloatArray, IntArray]:
        """Cover what one exclusion leaves of each box by boxes beside it.

        Parameters
        ----------
        low, high : (m, d) arrays
            Boxes, each of which its exclusion meets.
        exclusion : (m,) int array
            Which exclusion is left out.
        order : (m, d) int array
            In which order the coordinates are taken: later pieces are thinner.

        Returns
        -------
        low, high, box : (p, d), (p, d), (p,) arrays
            The pieces, and the boxes they are part of. They overlap on faces at most. Ends
            are on the grids where those of the box are.
        """
        rest_low, rest_high, box = low.copy(), high.copy(), np.arange(len(low))
        lows, highs, owners = [rest_low[:0]], [rest_high[:0]], [box[:0]]
        for step in range(low.shape[1]):
            rows, j = np.arange(len(box)), order[box, step]
            of = exclusion[box]
            below, above = self.below[of, j], self.above[of, j]
            for end, at, new in (
                ("high", below >= rest_low[rows, j], below),
                ("low", above <= rest_high[rows, j], above),
            ):
                piece_low, piece_high = rest_low[at], rest_high[at]
                ends = piece_high if end == "high" else piece_low
                ends[np.arange(len(ends)), j[at]] = new[at]
                lows.append(piece_low)
                highs.append(piece_high)
                owners.append(box[at])
            rest_low[rows, j] = np.maximum(rest_low[rows, j], self.inner_low[of, j])
            rest_high[rows, j] = np.minimum(rest_high[rows, j], self.inner_high[of, j])
            left = rest_low[rows, j] <= rest_high[rows, j]
            rest_low, rest_high, box = rest_low[left], rest_high[left], box[left]
        return np.concatenate(lows), np.concatenate(highs), np.concatenate(owners)


def _values(grid: Grid, index: IntArray) -> FloatArray:
    """Return values of a grid, minus or plus infinity beyond its ends."""
    values = grid.value(np.clip(index, 0, grid.count - 1))
    return np.where(index < 0, -np.inf, np.where(index >= grid.count, np.inf, values))
