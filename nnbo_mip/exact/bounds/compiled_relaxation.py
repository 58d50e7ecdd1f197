"""The door to the compiled relaxations, with the interface of `exact.bounds.relaxation`."""

from __future__ import annotations

from functools import cache

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.exact.bounds.kernel_network import kernel_network
from nnbo_mip.exact.bounds.relaxation import LinearBounds
from nnbo_mip.exact.search.rounding import RoundingModel, rounding_model
from nnbo_mip.network.graph.graph import Network


class CompiledRelaxer:
    """Bounds of one network over batches of boxes; see `relaxation.Relaxer`.

    Parameters
    ----------
    network : Network
        A network with one output.
    rounding : RoundingModel
        Error constants of the network over a box that contains all boxes asked for.
    """

    def __init__(self, network: Network, rounding: RoundingModel) -> None:
        self._net = kernel_network(network, rounding)
        self.depth = len(network.layers)

    def floats_per_box(self) -> int:
        """Float64 values held for one box: its ends and its plane."""
        return 64

    def bound(
        self, lower: FloatArray, upper: FloatArray, level: float, slope_steps: int
    ) -> LinearBounds:
        """Bound the output from above over boxes (d, B) by affine functions."""
        from nnbo_mip.exact.bounds.box_kernel import bound_boxes

        slopes = np.empty(lower.shape)
        constants, bounds = np.empty(lower.shape[1]), np.empty(lower.shape[1])
        bound_boxes(
            self._net,
            np.ascontiguousarray(lower),
            np.ascontiguousarray(upper),
            level,
            slope_steps,
            slopes,
            constants,
            bounds,
        )
        return LinearBounds(slopes, constants, bounds)


@cache
def load_kernel() -> None:
    """Compile the kernel, once a machine, or load what was compiled, once a process."""
    network = Network.from_layers([([[1.0]], [0.5]), ([[1.0]], [0.5]), ([[1.0]], [0.0])])
    lower, upper = np.array([[-1.0]]), np.array([[2.0]])
    rounding = rounding_model(network, lower[0], upper[0])
    CompiledRelaxer(network, rounding).bound(lower, upper, -np.inf, 1)
