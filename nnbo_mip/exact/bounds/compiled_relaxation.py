"""The door to the compiled relaxations, with the interface of `exact.bounds.relaxation`."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache

import numpy as np
import numpy.typing as npt

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
        self._n_relus = network.n_relus
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


@dataclass(frozen=True, eq=False)
class WeighedBounds(LinearBounds):
    """Affine upper bounds, and what a cut across each coordinate promises to take off them."""

    gains: FloatArray = field(kw_only=True)  # (d, B)


class DeepRelaxer(CompiledRelaxer):
    """Bounds with a backward pass for every hidden unit whose sign is open; see `deep_kernel`."""

    def floats_per_box(self) -> int:
        """Float64 values that a box costs: batches are small, as boxes are dear."""
        return 2048

    def bound_marked(
        self,
        lower: FloatArray,
        upper: FloatArray,
        level: float,
        slope_steps: int,
        marks: npt.NDArray[np.int8],
    ) -> LinearBounds:
        """Bound the output over boxes (d, B); add to the marks (n_relus, B) of their ReLUs."""
        from nnbo_mip.exact.bounds.deep_kernel import bound_deep_boxes

        slopes = np.empty(lower.shape)
        constants, bounds = np.empty(lower.shape[1]), np.empty(lower.shape[1])
        ends = np.ascontiguousarray(lower), np.ascontiguousarray(upper)
        known = np.ascontiguousarray(marks)
        gains = np.zeros(lower.shape)
        bound_deep_boxes(
            self._net, *ends, level, slope_steps, known, slopes, constants, bounds, gains
        )
        marks[:] = known
        return WeighedBounds(slopes, constants, bounds, gains=gains)

    def bound(
        self, lower: FloatArray, upper: FloatArray, level: float, slope_steps: int
    ) -> LinearBounds:
        """Bound the output over boxes (d, B) of which nothing is known."""
        marks = np.zeros((self._n_relus, lower.shape[1]), dtype=np.int8)
        return self.bound_marked(lower, upper, level, slope_steps, marks)


@cache
def load_kernel() -> None:
    """Compile the kernel, once a machine, or load what was compiled, once a process."""
    network = Network.from_layers([([[1.0]], [0.5]), ([[1.0]], [0.5]), ([[1.0]], [0.0])])
    lower, upper = np.array([[-1.0]]), np.array([[2.0]])
    rounding = rounding_model(network, lower[0], upper[0])
    CompiledRelaxer(network, rounding).bound(lower, upper, -np.inf, 1)


@cache
def load_deep_kernel() -> None:
    """Do the same for deep networks."""
    network = Network.from_layers([([[1.0]], [0.5]), ([[1.0]], [0.5]), ([[1.0]], [0.0])])
    lower, upper = np.array([[-1.0]]), np.array([[2.0]])
    rounding = rounding_model(network, lower[0], upper[0])
    DeepRelaxer(network, rounding).bound(lower, upper, -np.inf, 1)
