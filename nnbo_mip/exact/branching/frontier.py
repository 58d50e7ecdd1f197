"""The open boxes of a search, ordered loosely by bound."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from nnbo_mip.network.affine import FloatArray

WORKING_SIZE = 1 << 16
"""Boxes at work; beyond it the less promising half is put aside until the rest is done."""


class Frontier:
    """Open boxes with the bounds they inherited.

    The boxes at work are few, so that choosing the best of them stays cheap; the others
    wait in blocks and come back, newest block first, when the work runs out.

    Parameters
    ----------
    lower, upper : (d, n) arrays
    bound : (n,) array
    """

    def __init__(self, lower: FloatArray, upper: FloatArray, bound: FloatArray) -> None:
        self._lower, self._upper, self._bound = lower, upper, bound
        self._waiting: list[tuple[FloatArray, FloatArray, FloatArray]] = []

    def __len__(self) -> int:
        return len(self._bound) + sum(len(block[2]) for block in self._waiting)

    def largest_bound(self) -> float:
        """Return the largest bound of an open box, -inf when there is none."""
        bounds = [self._bound, *(block[2] for block in self._waiting)]
        return max((float(b.max()) for b in bounds if len(b)), default=-np.inf)

    def discard(self, level: float) -> float:
        """Drop boxes at work that are not above a level; return the largest bound dropped."""
        if not len(self._bound) and self._waiting:
            self._lower, self._upper, self._bound = self._waiting.pop()
        keep = self._bound > level
        dropped = float(self._bound[~keep].max(initial=-np.inf))
        self._keep(keep)
        return dropped

    def pop(self, count: int, depth_first: bool) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Remove and return boxes at work: those of the largest bounds, or the newest."""
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
            half = len(self._bound) // 2
            order = np.argpartition(-self._bound, half)
            low = np.sort(order[half:])
            self._waiting.append((self._lower[:, low], self._upper[:, low], self._bound[low]))
            keep = np.ones(len(self._bound), dtype=bool)
            keep[low] = False
            self._keep(keep)

    def _keep(self, chosen: npt.NDArray[np.bool_]) -> None:
        if not chosen.all():
            self._lower, self._upper = self._lower[:, chosen], self._upper[:, chosen]
            self._bound = self._bound[chosen]
