"""The open boxes of a search, ordered loosely by bound.

`Splitter` splits boxes in two, across real coordinates at the middle, across grids between values.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.space.domain import Domain

WORKING_SIZE = 1 << 16
"""Boxes at work; beyond it the less promising half is put aside."""

Marks: TypeAlias = npt.NDArray[np.int8]
"""What a search keeps of each box beside its ends and bound, (k, n); for most, k = 0."""

Boxes: TypeAlias = tuple[FloatArray, FloatArray, FloatArray, Marks]
"""Ends (d, n) twice, bounds (n,), marks (k, n)."""


class Frontier:
    """Open boxes with the bounds they inherited.

    The boxes at work are few, so that choosing the best of them stays cheap; the others
    wait in blocks. A block comes back when one of its boxes has a larger bound than all
    boxes at work: no box waits while its bound is the one that is reported.

    Parameters
    ----------
    lower, upper : (d, n) arrays
    bound : (n,) array
    marks : (k, n) int8 array, optional
    """

    def __init__(
        self, lower: FloatArray, upper: FloatArray, bound: FloatArray, marks: Marks | None = None
    ) -> None:
        self._lower, self._upper, self._bound = lower, upper, bound
        self._marks = _no_marks(bound) if marks is None else marks
        self._waiting: list[Boxes] = []
        self._waiting_bounds: list[float] = []

    def __len__(self) -> int:
        return len(self._bound) + sum(len(block[2]) for block in self._waiting)

    def largest_bound(self) -> float:
        """Return the largest bound of an open box, -inf when there is none."""
        return max(float(self._bound.max(initial=-np.inf)), *self._waiting_bounds, -np.inf)

    def discard(self, level: float) -> float:
        """Drop boxes at work that are not above a level; return the largest bound dropped."""
        if not len(self._bound) and self._waiting:
            self._recall(len(self._waiting) - 1)
        keep = self._bound > level
        dropped = float(self._bound[~keep].max(initial=-np.inf))
        self._keep(keep)
        return dropped

    def pop(self, count: int, depth_first: bool) -> Boxes:
        """Remove and return boxes: those of the largest bounds, or the newest at work."""
        if not depth_first and self._waiting:
            block = int(np.argmax(self._waiting_bounds))
            if self._waiting_bounds[block] > self._bound.max(initial=-np.inf):
                self._recall(block)
        taken = np.zeros(len(self._bound), dtype=bool)
        if depth_first or len(self._bound) <= count:
            taken[-count:] = True
        else:
            taken[np.argpartition(-self._bound, count)[:count]] = True
        popped = self._chosen(taken)
        self._keep(~taken)
        return popped

    def push(
        self, lower: FloatArray, upper: FloatArray, bound: FloatArray, marks: Marks | None = None
    ) -> None:
        """Add boxes."""
        self._lower = np.concatenate([self._lower, lower], axis=1)
        self._upper = np.concatenate([self._upper, upper], axis=1)
        self._bound = np.concatenate([self._bound, bound])
        added = _no_marks(bound) if marks is None else marks
        self._marks = np.concatenate([self._marks, added], axis=1)
        if len(self._bound) > WORKING_SIZE:
            self._put_aside()

    def _put_aside(self) -> None:
        """Let the less promising half of the boxes at work wait."""
        half = len(self._bound) // 2
        order = np.argpartition(-self._bound, half)
        low = np.sort(order[half:])
        self._waiting.append(self._chosen(low))
        self._waiting_bounds.append(float(self._bound[low].max()))
        keep = np.ones(len(self._bound), dtype=bool)
        keep[low] = False
        self._keep(keep)

    def _recall(self, index: int) -> None:
        """Bring a block that waits back to work."""
        self._waiting_bounds.pop(index)
        self.push(*self._waiting.pop(index))

    def _keep(self, chosen: npt.NDArray[np.bool_]) -> None:
        if not chosen.all():
            self._lower, self._upper, self._bound, self._marks = self._chosen(chosen)

    def _chosen(self, index: npt.NDArray[np.bool_] | npt.NDArray[np.intp]) -> Boxes:
        lower, upper = self._lower[:, index], self._upper[:, index]
        return lower, upper, self._bound[index], self._marks[:, index]


def _no_marks(bound: FloatArray) -> Marks:
    return np.zeros((0, len(bound)), dtype=np.int8)


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
    """Chooses a coordinate a box and makes the two children.

    Parameters
    ----------
    domain : Domain
    unit : (d,) array, optional
        In which widths are compared; those of the domain without it.
    narrow : float
        Share of the widest coordinate below which another one is not split.
    """

    def __init__(
        self, domain: Domain, unit: FloatArray | None = None, narrow: float = NARROW
    ) -> None:
        self.grids, self._narrow = domain.grids, narrow
        widths = domain.upper - domain.lower
        self._scale = np.where(widths > 0.0, widths, 1.0)[:, None]
        self._unit = self._scale if unit is None else unit[:, None]
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
        splittable = np.where(self._real, width / self._scale > SMALLEST_WIDTH, width > 0.0)
        share = np.where(splittable, share, 0.0)
        wide = splittable & (share >= self._narrow * share.max(axis=0))
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
