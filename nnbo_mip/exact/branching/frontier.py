"""The open boxes of a search, ordered loosely by bound."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from nnbo_mip.core.arrays import FloatArray

WORKING_SIZE = 1 << 16
"""Boxes at work; beyond it the less promising half is put aside."""

_Block = tuple[FloatArray, FloatArray, FloatArray]


class Frontier:
    """Open boxes with the bounds they inherited.

    The boxes at work are few, so that choosing the best of them stays cheap; the others
    wait in blocks. A block comes back when one of its boxes has a larger bound than all
    boxes at work: no box waits while its bound is the one that is reported.

    Parameters
    ----------
    lower, upper : (d, n) arrays
    bound : (n,) array
    """

    def __init__(self, lower: FloatArray, upper: FloatArray, bound: FloatArray) -> None:
        self._lower, self._upper, self._bound = lower, upper, bound
        self._waiting: list[_Block] = []
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

    def pop(self, count: int, depth_first: bool) -> tuple[FloatArray, FloatArray, FloatArray]:
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
        popped = (self._lower[:, taken], self._upper[:, taken], self._bound[taken])
        self._keep(~taken)
        return popped

    def push(self, lower: FloatArray, upper: FloatArray, bound: FloatArray) -> None:
        """Add boxes."""
        self._lower = np.concatenate([self._lower, lower], axis=1)
        self._upper = np.concatenate([self._upper, upper], axis=1)
        self._bound = np.concatenate([self._bound, bound])
        if len(self._bound) > WORKING_SIZE:
            self._put_aside()

    def _put_aside(self) -> None:
        """Let the less promising half of the boxes at work wait."""
        half = len(self._bound) // 2
        order = np.argpartition(-self._bound, half)
        low = np.sort(order[half:])
        self._waiting.append((self._lower[:, low], self._upper[:, low], self._bound[low]))
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
            self._lower, self._upper = self._lower[:, chosen], self._upper[:, chosen]
            self._bound = self._bound[chosen]
