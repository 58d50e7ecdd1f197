"""Splitting boxes in two, across real coordinates at the middle, across grids between values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.space.domain import Domain

NARROW = 0.45
"""Coordinates narrower than this share of the widest are not split: without the rule the
boxes grow long and thin and the search may not end."""

SMALLEST_WIDTH = 1e-12
"""Share of the domain's width below which a real coordinate is not split any further."""


@dataclass(frozen=True, eq=False)
class Split:
    """Children of a batch of boxes.

    Parameters
    ----------
    lower, upper : (d, 2 n) arrays
        First the n left children, then the n right ones, of the boxes that could be split.
    unsplittable : (B,) bool array
        Boxes that have no children: single points, or as narrow as is useful.
    """

    lower: FloatArray
    upper: FloatArray
    unsplittable: npt.NDArray[np.bool_]


class Splitter:
    """Chooses a coordinate a box and makes the two children."""

    def __init__(self, domain: Domain) -> None:
        self.grids = domain.grids
        widths = domain.upper - domain.lower
        self._unit = np.where(widths > 0.0, widths, 1.0)[:, None]
        self._real = np.array([grid is None for grid in domain.grids])[:, None]

    def split(self, lower: FloatArray, upper: FloatArray, weights: FloatArray) -> Split:
        """Split each box (d, B) across the coordinate of the largest weight times width.

        Parameters
        ----------
        lower, upper : (d, B) arrays
        weights : (d, B) array
            How much a unit of width of each coordinate adds to the bound; non-negative.
        """
        width = upper - lower
        share = width / self._unit
        splittable = np.where(self._real, share > SMALLEST_WIDTH, width > 0.0)
        share = np.where(splittable, share, 0.0)
        wide = splittable & (share >= NARROW * share.max(axis=0))
        # Shares break ties where the weights vanish.
        score = np.where(wide, weights * width, -1.0)
        flat = score.max(axis=0) <= 0.0
        score = np.where(flat, np.where(wide, share, -1.0), score)
        unsplittable = np.asarray(~splittable.any(axis=0))
        chosen = score.argmax(axis=0)[~unsplittable]
        lower, upper = lower[:, ~unsplittable], upper[:, ~unsplittable]
        boxes = np.arange(len(chosen))
        left_end, right_start = self._cut(lower[chosen, boxes], upper[chosen, boxes], chosen)
        left_upper, right_lower = upper.copy(), lower.copy()
        left_upper[chosen, boxes] = left_end
        right_lower[chosen, boxes] = right_start
        return Split(
            np.concatenate([lower, right_lower], axis=1),
            np.concatenate([left_upper, upper], axis=1),
            unsplittable,
        )

    def _cut(
        self, low: FloatArray, high: FloatArray, coordinate: npt.NDArray[np.intp]
    ) -> tuple[FloatArray, FloatArray]:
        """Return where the left child ends and the right one starts, one entry a box."""
        middle = 0.5 * low + 0.5 * high
        left_end, right_start = middle, middle.copy()
        for j in np.unique(coordinate):
            grid = self.grids[j]
            if grid is None:
                continue
            mine = coordinate == j
            index = (grid.index_above(low[mine]) + grid.index_below(high[mine])) // 2
            left_end[mine] = grid.value(index)
            right_start[mine] = grid.value(index + 1)
        return left_end, right_start
