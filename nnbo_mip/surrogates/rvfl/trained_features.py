r"""Features that were trained: the last hidden layer of a network of ReLUs, and a constant.

h_0 = u,   h_k = relu(W_k h_{k-1} + b_k),   psi(u) = [h_K, 1].
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from nnbo_mip.core.arrays import Array, FloatArray
from nnbo_mip.network.graph.affine import Affine
from nnbo_mip.network.graph.builder import GraphBuilder
from nnbo_mip.surrogates.ensembles.stack import Stack
from nnbo_mip.surrogates.rvfl.features import Features


@dataclass(frozen=True, eq=False)
class TrainedFeatures(Features):
    """The frozen hidden layers.

    Parameters
    ----------
    weights : tuple of (out, in) arrays
        One a hidden layer.
    biases : tuple of (out,) arrays
        One a hidden layer.
    """

    weights: tuple[FloatArray, ...]
    biases: tuple[FloatArray, ...]

    activation = "relu"

    @staticmethod
    def of_stack(stack: Stack) -> TrainedFeatures:
        """Take the hidden layers of a network, the only member of a stack."""
        return TrainedFeatures(
            tuple(weights[0] for weights in stack.weights[:-1]),
            tuple(bias[0] for bias in stack.biases[:-1]),
        )

    @property
    def n_inputs(self) -> int:
        """d, the number of inputs."""
        return int(self.weights[0].shape[1])

    @property
    def n_features(self) -> int:
        """k, the width of the last layer and one."""
        return len(self.biases[-1]) + 1

    def evaluate(self, u: FloatArray) -> FloatArray:
        """Return the features (n, k) at standardized inputs (n, d)."""
        return np.hstack([self._layers(u)[-1], np.ones((len(u), 1))])

    def pull_back(self, u: FloatArray, psi: FloatArray, slopes: FloatArray) -> FloatArray:
        """Return gradients (n, d) by u of functions of the features; 0 at a kink."""
        adjoint = slopes[:, :-1]
        hidden = self._layers(u)
        for weights, values in zip(reversed(self.weights), reversed(hidden), strict=True):
            adjoint = (adjoint * (values > 0.0)) @ weights
        return np.asarray(adjoint)

    def compile(self, builder: GraphBuilder, value: Affine) -> Affine:
        """Add the features of the standardized input `value` to a network."""
        hidden = value
        for weights, bias in zip(self.weights, self.biases, strict=True):
            hidden = builder.relu(builder.affine(hidden, weights, bias))
        nothing = np.zeros((1, self.n_inputs))
        return builder.concatenate([hidden, builder.affine(value, nothing, np.ones(1))])

    def to_arrays(self) -> dict[str, Array]:
        """Return named arrays for a file."""
        arrays: dict[str, Array] = {"n_layers": np.array(len(self.weights))}
        for index, (weights, bias) in enumerate(zip(self.weights, self.biases, strict=True)):
            arrays |= {f"W{index}": weights, f"b{index}": bias}
        return arrays

    @staticmethod
    def from_arrays(arrays: Mapping[str, Array]) -> TrainedFeatures:
        """Make the features that `to_arrays` described."""
        count = int(arrays["n_layers"])
        weights = tuple(arrays[f"W{index}"] for index in range(count))
        biases = tuple(arrays[f"b{index}"] for index in range(count))
        widths = [weights[0].shape[1], *(len(bias) for bias in biases)]
        shapes = list(zip(widths[1:], widths[:-1], strict=True))
        if [w.shape for w in weights] != shapes or any(bias.ndim != 1 for bias in biases):
            raise ValueError("layers that do not fit together")
        return TrainedFeatures(weights, biases)

    def _layers(self, u: FloatArray) -> list[FloatArray]:
        """Return the values (n, width) of every hidden layer."""
        values = [u]
        for weights, bias in zip(self.weights, self.biases, strict=True):
            values.append(np.maximum(values[-1] @ weights.T + bias, 0.0))
        return values[1:]
