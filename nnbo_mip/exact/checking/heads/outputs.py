r"""Affine bounds of weighted sums of a network's outputs, with weights of their own a box.

    sum_o w_o,b y_o(x) + k_b <= slopes_b . x + constant_b        on box b.

ReLUs are bounded as `recheck_bounds` bounds them; the sum goes backwards as one output does
there. An output's rounding constant covers a plane and its values, and counts twelve roundings and
more a term; a sum of m outputs has m + 8 more, so 1 + (m + 8) / 12 times the constants cover it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.exact.checking.recheck_bounds import (
    OPERATIONS,
    SLOPE_ROUNDS,
    BoxBounder,
    _Lines,
    rounding_errors,
)
from nnbo_mip.network.graph.graph import Network

RELATIVE = 2.0**-50
"""Eight times the unit roundoff."""


@dataclass(frozen=True, eq=False)
class BoundedBoxes:
    """Boxes (d, B) with proven ends of all pre-activations and lines round all ReLUs."""

    lower: FloatArray
    upper: FloatArray
    ends: list[tuple[FloatArray, FloatArray]]
    lines: list[_Lines]

    @property
    def count(self) -> int:
        """B."""
        return int(self.lower.shape[1])

    @property
    def free(self) -> npt.NDArray[np.intp]:
        """Coordinates in which some box is wide; vertices are counted in these."""
        return np.flatnonzero((self.upper > self.lower).any(axis=1))

    def select(self, mask: npt.NDArray[np.bool_]) -> BoundedBoxes:
        """Return the boxes where `mask` (B,) holds."""
        return BoundedBoxes(
            self.lower[:, mask],
            self.upper[:, mask],
            [(low[:, mask], high[:, mask]) for low, high in self.ends],
            [_Lines(*(part[:, mask] for part in _parts(line))) for line in self.lines],
        )

    def repeated(self, times: int) -> BoundedBoxes:
        """Return every box so many times, one copy of all after the other."""
        return BoundedBoxes(
            np.tile(self.lower, times),
            np.tile(self.upper, times),
            [(np.tile(low, times), np.tile(high, times)) for low, high in self.ends],
            [_Lines(*(np.tile(part, times) for part in _parts(line))) for line in self.lines],
        )


def _parts(line: _Lines) -> tuple[FloatArray, FloatArray, FloatArray]:
    return line.lower, line.upper, line.offset


class Summed(Protocol):
    """What gives sums of outputs at the vertices of boxes."""

    errors: FloatArray

    def sums_at_vertices(
        self,
        bounded: BoundedBoxes,
        weights: FloatArray,
        constants: FloatArray | float = 0.0,
        rounds: int = SLOPE_ROUNDS,
    ) -> FloatArray:
        """Return values (V, B) of affine functions above the sums."""

    def largest(self, output: int, bounded: BoundedBoxes) -> FloatArray:
        """Return upper ends (B,) of one output."""


class OutputBounder(BoxBounder):
    """Bounds of sums of outputs over boxes inside ``lower <= x <= upper``.

    Parameters
    ----------
    network : Network
    outputs : sequence of str
        The outputs that are summed, in this order.
    lower, upper : (d,) arrays
    """

    def __init__(
        self, network: Network, outputs: Sequence[str], lower: FloatArray, upper: FloatArray
    ) -> None:
        rows = network.head.rows([network.output_index(name) for name in outputs])
        chosen = Network(network.n_inputs, network.layers, rows, tuple(outputs))
        super().__init__(chosen, lower, upper)
        self.network = chosen
        self._rows = {k: rows.dense(k) for k in rows.terms}
        self._row_bias = rows.bias
        self.errors = rounding_errors(chosen, np.maximum(np.abs(lower), np.abs(upper)))[-1]
        """(m,) bound on the rounding of each output."""

    @property
    def is_useful(self) -> bool:
        """Whether the magnitudes stay far from overflow."""
        return bool(np.isfinite(self.errors).all() and self.errors.max(initial=0.0) < 1e100)

    def bound_outputs(self, lower: FloatArray, upper: FloatArray) -> BoundedBoxes:
        """Bound the ReLUs over boxes (d, B)."""
        return BoundedBoxes(lower, upper, *self._forward(lower, upper))

    def sums_at_vertices(
        self,
        bounded: BoundedBoxes,
        weights: FloatArray,
        constants: FloatArray | float = 0.0,
        rounds: int = SLOPE_ROUNDS,
    ) -> FloatArray:
        """Return, at the vertices of each box, an affine function above a sum: (V, B).

        Parameters
        ----------
        bounded : BoundedBoxes
        weights : (m, B) array
        constants : (B,) array or float
            Added to the sum.
        rounds : int
            How often the lines of the ReLUs are bettered.
        """
        base = np.broadcast_to(np.asarray(constants, dtype=np.float64), (bounded.count,))
        lines = bounded.lines
        slopes, constant, adjoints = self._backwards(lines, weights)
        largest = _largest(slopes, constant, bounded)
        for _ in range(rounds if self.depth > 1 else min(rounds, 1)):
            corners = np.where(slopes > 0.0, bounded.upper, bounded.lower)
            lines = self._better_lines(lines, adjoints, bounded.ends, corners)
            new_slopes, new_constant, adjoints = self._backwards(lines, weights)
            new_largest = _largest(new_slopes, new_constant, bounded)
            better = new_largest < largest
            slopes = np.where(better, new_slopes, slopes)
            constant = np.where(better, new_constant, constant)
            largest = np.minimum(largest, new_largest)
        error = self._error(weights) + RELATIVE * (np.abs(base) + np.abs(constant))
        return _at_vertices(slopes, constant + base + error, bounded)

    def largest(self, output: int, bounded: BoundedBoxes) -> FloatArray:
        """Return upper ends (B,) of one output."""
        weights = np.zeros((len(self.errors), bounded.count))
        weights[output] = 1.0
        return np.asarray(self.sums_at_vertices(bounded, weights, rounds=0).max(axis=0))

    def _error(self, weights: FloatArray) -> FloatArray:
        return (1.0 + (len(weights) + 8.0) / OPERATIONS) * (self.errors @ np.abs(weights))

    def _backwards(
        self, lines: list[_Lines], weights: FloatArray
    ) -> tuple[FloatArray, FloatArray, list[FloatArray]]:
        """Return slopes (d, B), constant (B,) and the weights of each h_l."""
        boxes = weights.shape[1]
        widths = [self.dimension, *(len(bias) for bias in self._bias)]
        adjoints = [np.zeros((width, boxes)) for width in widths]
        for source, rows in self._rows.items():
            adjoints[source] += rows.T @ weights
        constant = self._row_bias @ weights
        for position in range(self.depth - 1, -1, -1):
            adjoint, line = adjoints[position + 1], lines[position]
            above, below = np.maximum(adjoint, 0.0), np.minimum(adjoint, 0.0)
            passed = above * line.upper + below * line.lower
            constant = constant + (above * line.offset + passed * self._bias[position]).sum(axis=0)
            for source, matrix in self._weights[position].items():
                adjoints[source] += matrix.T @ passed
        return adjoints[0], constant, adjoints[1:]


def _largest(slopes: FloatArray, constant: FloatArray, bounded: BoundedBoxes) -> FloatArray:
    return np.asarray(
        constant + np.maximum(slopes * bounded.lower, slopes * bounded.upper).sum(axis=0)
    )


def _at_vertices(slopes: FloatArray, constant: FloatArray, bounded: BoundedBoxes) -> FloatArray:
    """Return values (V, B) of planes; bit i of a vertex is the end of the i-th free coordinate."""
    free = bounded.free
    fixed = np.setdiff1d(np.arange(len(slopes)), free)
    values = (constant + (slopes[fixed] * bounded.lower[fixed]).sum(axis=0))[None, :]
    for j in free:
        ends = slopes[j] * bounded.lower[j], slopes[j] * bounded.upper[j]
        values = np.concatenate([values + ends[0], values + ends[1]])
    return np.asarray(values)
