r"""Upper bounds of deep networks over many boxes, written for checking and shared with no engine.

As `recheck_bounds`, but the ends of a hidden unit come from rows of its own: ``z`` and ``-z`` are
carried backwards through the lines of the layers below, as the output is. Rounding is counted as
for the output, layer by layer.

Boxes are halved where that promises most: half of what the plane changes along a coordinate, and
of what the lines of each open ReLU lose at most, ``|a| u l / (l - u)`` for the weight a of its
output in the plane, the coordinate's share in how its input changes. That share is taken from the
derivatives of a network whose ReLUs are their middle lines; it is a guess, and proves nothing.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.exact.checking.recheck_bounds import BoxBounder, _Lines, _relu_lines
from nnbo_mip.network.graph.graph import Network

DEEP = 4
"""ReLU layers from which on hidden units get rows of their own; narrow ones do not count."""

WIDE = 8


def is_deep(network: Network) -> bool:
    """Whether forms that go forwards would lose too much."""
    return sum(layer.width >= WIDE for layer in network.layers) >= DEEP


class DeepBounder(BoxBounder):
    """Bounds one deep network of one output over boxes inside ``lower <= x <= upper``."""

    @property
    def floats_per_box(self) -> int:
        """Size of the largest intermediate array, a box."""
        widest = max(len(bias) for bias in self._bias)
        return 2 * widest * widest

    def _forward(
        self, lower: FloatArray, upper: FloatArray
    ) -> tuple[list[tuple[FloatArray, FloatArray]], list[_Lines]]:
        intervals = [(lower, upper)]
        ends: list[tuple[FloatArray, FloatArray]] = []
        lines: list[_Lines] = []
        for position in range(self.depth):
            low, high = self._plain_ends(position, intervals)
            error = self._errors[position]
            low, high = low - error, high + error
            rows = np.flatnonzero(((low < 0.0) & (high > 0.0)).any(axis=1))
            if len(rows) and any(source > 0 for source in self._weights[position]):
                tops = self._tops(position, rows, lines, lower, upper)
                high[rows] = np.minimum(high[rows], tops[: len(rows)] + error[rows])
                low[rows] = np.maximum(low[rows], -tops[len(rows) :] - error[rows])
            lines.append(_relu_lines(low, high))
            intervals.append((np.maximum(low, 0.0), np.maximum(high, 0.0)))
            ends.append((low, high))
        return ends, lines

    def _tops(
        self,
        position: int,
        rows: npt.NDArray[np.intp],
        lines: list[_Lines],
        lower: FloatArray,
        upper: FloatArray,
    ) -> FloatArray:
        """Return upper bounds (2 R, B) of the chosen units of a layer, then of their negatives."""
        boxes = lower.shape[1]
        adjoints = {
            source: np.concatenate([weights[rows], -weights[rows]]).T[:, :, None]
            for source, weights in self._weights[position].items()
        }
        bias = self._bias[position][rows]
        constant = np.repeat(np.concatenate([bias, -bias]), boxes, axis=1)
        for earlier in range(position - 1, -1, -1):
            adjoint = adjoints.pop(earlier + 1, None)
            if adjoint is None:
                continue
            line = lines[earlier]
            above, below = np.maximum(adjoint, 0.0), np.minimum(adjoint, 0.0)
            passed = above * line.upper[:, None] + below * line.lower[:, None]
            constant += (above * line.offset[:, None]).sum(axis=0)
            flat = passed.reshape(len(passed), -1)
            constant += (self._bias[earlier][:, 0] @ flat).reshape(constant.shape)
            for source, weights in self._weights[earlier].items():
                moved = (weights.T @ flat).reshape(-1, *constant.shape)
                adjoints[source] = adjoints[source] + moved if source in adjoints else moved
        slopes = adjoints.get(0)
        if slopes is None:
            return constant
        ends = np.maximum(slopes * lower[:, None], slopes * upper[:, None])
        return np.asarray(constant + ends.sum(axis=0))

    def _steepness(
        self,
        slopes: FloatArray,
        ends: list[tuple[FloatArray, FloatArray]],
        lines: list[_Lines],
        adjoints: list[FloatArray],
        width: FloatArray,
    ) -> FloatArray:
        d, boxes = width.shape
        promised = 0.5 * np.abs(slopes) * width
        derivatives = [np.repeat(np.eye(d)[:, :, None], boxes, axis=2)]
        for position, (line, (low, high)) in enumerate(zip(lines, ends, strict=True)):
            derivative = np.zeros((len(low), d, boxes))
            for source, weights in self._weights[position].items():
                before = derivatives[source].reshape(weights.shape[1], -1)
                derivative += (weights @ before).reshape(derivative.shape)
            change = np.abs(derivative) * width
            is_open = (low < 0.0) & (high > 0.0)
            gap = np.where(is_open, high - low, 1.0)
            lost = np.where(is_open, -np.abs(adjoints[position]) * high * low / gap, 0.0)
            total = np.maximum(change.sum(axis=1), np.finfo(float).tiny)
            # Where slopes nearly vanish, what is promised overflows: any cut is as good there.
            with np.errstate(over="ignore", invalid="ignore"):
                promised += (change * (lost / total)[:, None]).sum(axis=0)
            derivatives.append(derivative * (0.5 * (line.lower + line.upper))[:, None])
        return np.asarray(promised / np.maximum(width, np.finfo(float).tiny))
