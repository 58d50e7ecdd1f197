"""The open nodes of the phase search, best bound first, each stored by what it changed."""

from __future__ import annotations

import heapq

import numpy as np
import numpy.typing as npt

from nnbo_mip.core.arrays import FloatArray

_Entry = tuple[float, int, npt.NDArray[np.int32], FloatArray, FloatArray]


class PhaseQueue:
    """Nodes of one program.

    A node fixes a few dozen of the program's variables, so it is stored as their numbers
    and ends: a hundredth of what all ends would take.

    Parameters
    ----------
    low, high : (n + m,) arrays
        Ends of the program's variables at the root, which is the first node.
    """

    def __init__(self, low: FloatArray, high: FloatArray) -> None:
        self._low, self._high = low, high
        self._heap: list[_Entry] = []
        self._pushed = 0
        self.push(low, high, np.inf)

    def __len__(self) -> int:
        return len(self._heap)

    def largest_bound(self) -> float:
        """Return the largest bound of an open node, -inf when there is none."""
        return -self._heap[0][0] if self._heap else -np.inf

    def push(self, low: FloatArray, high: FloatArray, bound: float) -> None:
        """Add a node by its ends and its proven bound."""
        changed = np.flatnonzero((low != self._low) | (high != self._high)).astype(np.int32)
        entry = (-float(bound), self._pushed, changed, low[changed], high[changed])
        heapq.heappush(self._heap, entry)
        self._pushed += 1

    def pop(self) -> tuple[FloatArray, FloatArray, float]:
        """Remove the node of the largest bound and return its ends and bound."""
        negated, _, changed, changed_low, changed_high = heapq.heappop(self._heap)
        low, high = self._low.copy(), self._high.copy()
        low[changed], high[changed] = changed_low, changed_high
        return low, high, -negated
