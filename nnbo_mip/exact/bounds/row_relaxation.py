r"""Bounds of weighted sums of outputs, with weights that differ from box to box.

`Rows.bound_outputs` bounds every output of every box by an affine form and its error,

    |y_o(x) - M_o(x)| <= off_o,

and keeps what it found; `Rows.carry` then bounds a sum

    share_b y_base(x) + sum_o row_{b,o} y_o(x) + constant_b

from above by one affine function a box. `RowRelaxer` does so for ReLU networks: forms come as
M_o - H_o <= y_o <= M_o + H_o, the lines of the ReLUs are kept, and the errors of a sum are those
of its outputs: its summands are at most ``sum |row_o|`` times those of output o, and there are
m + 1 more of them on a path. `unit_relaxation` has smooth units.

References
----------
Zhang et al. (2018), CROWN [Zhang2018].
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.exact.bounds.kernel_network import kernel_network
from nnbo_mip.exact.bounds.relaxation import LinearBounds
from nnbo_mip.exact.search.rounding import center_and_radius, gamma, rounding_model
from nnbo_mip.network.graph.graph import Network


@dataclass(frozen=True, eq=False)
class OutputBounds:
    """Forms of m outputs on B boxes.

    Parameters
    ----------
    lower, upper : (d, B) arrays
        The boxes.
    center, radius : (d, B) arrays
        Contain the boxes.
    slopes : (B, d, m) array
        Those of the middle forms M.
    at_center : (B, m) array
        M at the centers.
    off : (B, m) array
        ``|y_o - M_o| <= off_o`` over each box, rounding included.
    magnitudes : (m,) array
        Bounds of the sizes of all summands of the outputs over the whole domain.
    """

    lower: FloatArray
    upper: FloatArray
    center: FloatArray
    radius: FloatArray
    slopes: FloatArray
    at_center: FloatArray
    off: FloatArray
    magnitudes: FloatArray

    def ends(self, output: int) -> tuple[FloatArray, FloatArray]:
        """Return proven ends (B,) of one output."""
        slopes = self.slopes[:, :, output]
        reach = (np.abs(slopes) * self.radius.T).sum(axis=1) + self.off[:, output]
        middle = self.at_center[:, output]
        return middle - reach, middle + reach


class Rows(Protocol):
    """Bounds outputs, and sums of them, over batches of boxes."""

    @property
    def depth(self) -> int:
        """Number of hidden layers."""

    @property
    def is_useful(self) -> bool:
        """Whether magnitudes stay far from overflow; else nothing is proven."""

    def floats_per_box(self) -> int:
        """Float64 values held for one box."""

    def bound_outputs(self, lower: FloatArray, upper: FloatArray) -> OutputBounds:
        """Bound the outputs over boxes (d, B)."""

    def carry(
        self,
        bounded: OutputBounds,
        shares: FloatArray,
        rows: FloatArray,
        constants: FloatArray,
        levels: FloatArray,
        slope_steps: int,
    ) -> LinearBounds:
        """Bound sums of outputs from above.

        Parameters
        ----------
        bounded : OutputBounds
            What `bound_outputs` returned.
        shares : (B,) array
            Weights of the base output.
        rows : (B, m) array
            Weights of the outputs.
        constants : (B,) array
            What is added; the rounding of the sum itself is added here.
        levels : (B,) array
            Boxes whose bound is not above it get no slope steps.
        slope_steps : int
            Steps towards better planes, where there are such.
        """


@dataclass(frozen=True, eq=False)
class ReluOutputBounds(OutputBounds):
    """Forms of a ReLU network, and the lines of its units.

    Parameters
    ----------
    lines : five (B, units) arrays
        Ends and lines of the ReLUs.
    """

    lines: tuple[FloatArray, FloatArray, FloatArray, FloatArray, FloatArray]


class RowRelaxer:
    """Bounds of the outputs of a network, and of sums of them, over batches of boxes.

    Parameters
    ----------
    network : Network
    lower, upper : (d,) arrays
        A box that contains all boxes asked for.
    outputs : sequence of str
        The outputs o.
    base : str
        One more output, which gets no forms.
    """

    def __init__(
        self,
        network: Network,
        lower: FloatArray,
        upper: FloatArray,
        outputs: Sequence[str],
        base: str,
    ) -> None:
        chosen = [network.output_index(name) for name in outputs]
        with_base = Network(
            network.n_inputs,
            network.layers,
            network.head.rows([network.output_index(base), *chosen]),
        )
        rounding = rounding_model(with_base, lower, upper)
        self.is_useful = rounding.is_useful
        self.depth = len(network.layers)
        self._magnitudes, self._errors = rounding.magnitudes, rounding.outputs
        self.magnitudes = rounding.magnitudes[1:]
        net = Network(network.n_inputs, network.layers, network.head.rows(chosen))
        self._net = kernel_network(net, rounding_model(net, lower, upper), output_forms=True)
        self._base, self._base_constant = _unit_weights(network, base, self._net.offsets)
        self._units = int(self._net.offsets[self.depth + 1])

    def floats_per_box(self) -> int:
        """Float64 values that `OutputBounds` holds for one box."""
        d = self._net.offsets[1]
        return int(5 * self._units + 3 * (d + 1) * len(self.magnitudes))

    def bound_outputs(self, lower: FloatArray, upper: FloatArray) -> ReluOutputBounds:
        """Bound the outputs over boxes (d, B)."""
        from nnbo_mip.exact.bounds.row_kernel import bound_outputs

        d, batch = lower.shape
        lower, upper = np.ascontiguousarray(lower), np.ascontiguousarray(upper)
        empty = [np.empty((batch, self._units)) for _ in range(5)]
        lines = (empty[0], empty[1], empty[2], empty[3], empty[4])
        middles = np.empty((batch, d + 1, len(self.magnitudes)))
        halves = np.empty_like(middles)
        bound_outputs(self._net, lower, upper, *lines, middles, halves)
        center, radius = center_and_radius(lower, upper)
        points = center.T[:, :, None]
        slopes = middles[:, :d]
        at_center = middles[:, d] + (slopes * points).sum(axis=1)
        off = halves[:, d] + (halves[:, :d] * points).sum(axis=1)
        off = off + (np.abs(halves[:, :d]) * radius.T[:, :, None]).sum(axis=1)
        off = np.maximum(off, 0.0) + 2.0 * self._errors[1:]
        forms = (center, radius, slopes, at_center, off, self.magnitudes)
        return ReluOutputBounds(lower, upper, *forms, lines)

    def carry(
        self,
        bounded: OutputBounds,
        shares: FloatArray,
        rows: FloatArray,
        constants: FloatArray,
        levels: FloatArray,
        slope_steps: int,
    ) -> LinearBounds:
        """Bound sums of outputs from above; see `Rows`."""
        from nnbo_mip.exact.bounds.row_kernel import carry_rows

        assert isinstance(bounded, ReluOutputBounds)
        d, batch = bounded.lower.shape
        rows = np.ascontiguousarray(rows)
        constants = constants + shares * self._base_constant
        constants = constants + self._error(shares, rows, constants)
        slopes, bounds = np.empty((d, batch)), np.empty(batch)
        carry_rows(
            self._net, bounded.lower, bounded.upper, *bounded.lines, self._base, shares, rows,
            constants, levels, slope_steps, slopes, bounds,
        )  # fmt: skip
        return LinearBounds(slopes, constants, bounds)

    def _error(self, shares: FloatArray, rows: FloatArray, constants: FloatArray) -> FloatArray:
        sizes = np.abs(rows)
        errors = np.abs(shares) * self._errors[0] + sizes @ self._errors[1:]
        summands = np.abs(shares) * self._magnitudes[0] + sizes @ self._magnitudes[1:]
        more = gamma(16 * (rows.shape[1] + 4)) * (self.depth + 2)
        return np.asarray(2.0 * errors + more * (summands + np.abs(constants)))


def _unit_weights(
    network: Network, output: str, offsets: np.ndarray[tuple[int], np.dtype[np.int64]]
) -> tuple[FloatArray, float]:
    """Return the coefficients of an output on all units, and its constant."""
    head = network.head.rows([network.output_index(output)])
    weights = np.zeros(int(offsets[len(network.layers) + 1]))
    for source in head.terms:
        weights[offsets[source] : offsets[source + 1]] = head.dense(source)[0]
    return weights, float(head.bias[0])
