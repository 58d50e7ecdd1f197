r"""Outputs on a small box without rounding: one affine function a pattern of its undecided ReLUs.

Each pattern's affine functions are taken over the whole box, of which it holds only a part; that
loses the more the larger the box, and nothing where no ReLU is undecided. They stand in for
`OutputBounder`, a pattern for a box, so that what is made of sums of outputs need not know.
"""

from __future__ import annotations

from itertools import product

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.exact.checking.dyadic import Dyadic, ExactNetwork
from nnbo_mip.exact.checking.heads.outputs import RELATIVE, BoundedBoxes

MOST_UNDECIDED = 6
"""Largest number of undecided ReLUs whose patterns are gone through."""


def undecided(bounded: BoundedBoxes) -> FloatArray:
    """Return the number (B,) of ReLUs whose sign is not known on each box."""
    count = np.zeros(bounded.count)
    for low, high in bounded.ends:
        count += ((low < 0.0) & (high > 0.0)).sum(axis=0)
    return count


class ExactPieces:
    """Outputs at the vertices of one box, for all patterns.

    Parameters
    ----------
    network : ExactNetwork
    bounded : BoundedBoxes
        One box.
    """

    def __init__(self, network: ExactNetwork, bounded: BoundedBoxes) -> None:
        ends = [(low[:, 0], high[:, 0]) for low, high in bounded.ends]
        free = [(low < 0.0) & (high > 0.0) for low, high in ends]
        vertices = Dyadic.of(_vertices(bounded))
        values = []
        for signs in product((False, True), repeat=int(sum(mask.sum() for mask in free))):
            switched = iter(signs)
            active = []
            for (low, _), mask in zip(ends, free, strict=True):
                passes = low >= 0.0
                passes[mask] = [next(switched) for _ in range(int(mask.sum()))]
                active.append(passes)
            values.append((network.outputs(active) @ vertices).floats())
        self._values: FloatArray = np.stack(values, axis=-1)  # (m, V, patterns)
        patterns = len(values)
        self.errors = np.zeros(len(self._values))
        """(m,) zeros: there is no rounding but the last."""
        self.bounded = BoundedBoxes(
            np.repeat(bounded.lower, patterns, axis=1),
            np.repeat(bounded.upper, patterns, axis=1),
            [],
            [],
        )
        """The box, once for each pattern."""

    def sums_at_vertices(
        self,
        bounded: BoundedBoxes,
        weights: FloatArray,
        constants: FloatArray | float = 0.0,
        rounds: int = 0,
    ) -> FloatArray:
        """Return sums (V, B) of outputs, rounded up; B is a multiple of the patterns."""
        times = weights.shape[1] // self._values.shape[2]
        values = np.tile(self._values, times)
        total = np.einsum("mvb,mb->vb", values, weights) + constants
        size = np.einsum("mvb,mb->vb", np.abs(values), np.abs(weights)) + np.abs(constants)
        return np.asarray(total + RELATIVE * (len(weights) + 2) * size)

    def largest(self, output: int, bounded: BoundedBoxes) -> FloatArray:
        """Return upper ends (B,) of one output."""
        values = self._values[output]
        return np.asarray((values + RELATIVE * np.abs(values)).max(axis=0))


def _vertices(bounded: BoundedBoxes) -> FloatArray:
    """Return the vertices (d + 1, V) of the only box, in `OutputBounder`'s order, over ones."""
    points = bounded.lower[:, :1]
    for j in bounded.free:
        other = points.copy()
        other[j] = bounded.upper[j, 0]
        points = np.hstack([points, other])
    return np.vstack([points, np.ones(points.shape[1])])
