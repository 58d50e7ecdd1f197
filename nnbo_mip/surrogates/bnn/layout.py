r"""Weights of networks as vectors, and the squared errors of many such networks at once.

A vector theta (P,) holds, layer by layer, the weights (in, out) row by row and then the biases.
With h_0 = u, h_k = phi(h_{k-1} W_k + b_k) and f = h_{K-1} W_K + b_K, the misfit is

    S(theta) = sum_i (f(u_i) - v_i)^2,

and its gradient is found by back-propagation, for C vectors side by side.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.surrogates.ensembles.stack import Stack

NETWORK_ACTIVATIONS = ("relu", "tanh", "sigmoid")
"""In the order of the codes that `kernel` knows."""


@dataclass(frozen=True)
class Layout:
    """Where the weights of a network with one output stand in a vector.

    Parameters
    ----------
    n_inputs : int
        d.
    hidden : tuple of int
        Widths of the hidden layers.
    """

    n_inputs: int
    hidden: tuple[int, ...]

    @cached_property
    def shapes(self) -> tuple[tuple[int, int], ...]:
        """(in, out) of every layer."""
        return tuple(itertools.pairwise((self.n_inputs, *self.hidden, 1)))

    @cached_property
    def layers(self) -> tuple[slice, ...]:
        """Where each layer stands, weights and biases."""
        ends = np.cumsum([0, *((n_in + 1) * n_out for n_in, n_out in self.shapes)]).tolist()
        return tuple(itertools.starmap(slice, itertools.pairwise(ends)))

    @cached_property
    def groups(self) -> tuple[slice, ...]:
        """Where weights and biases stand, one after the other, layer by layer."""
        parts = []
        for (n_in, n_out), layer in zip(self.shapes, self.layers, strict=True):
            middle = layer.start + n_in * n_out
            parts += [slice(layer.start, middle), slice(middle, layer.stop)]
        return tuple(parts)

    @property
    def size(self) -> int:
        """P, the number of weights and biases."""
        return int(self.layers[-1].stop)

    def split(self, theta: FloatArray) -> list[tuple[FloatArray, FloatArray]]:
        """Return views of vectors (C, P): weights (C, in, out) and biases (C, 1, out)."""
        count = len(theta)
        groups = iter(self.groups)
        return [
            (
                theta[:, next(groups)].reshape(count, n_in, n_out),
                theta[:, next(groups)].reshape(count, 1, n_out),
            )
            for n_in, n_out in self.shapes
        ]

    def stack(self, theta: FloatArray, activation: str) -> Stack:
        """Return vectors (M, P) as a stack of M networks.

        A sigmoid unit becomes a unit of tanh, 1 / (1 + exp(-z)) = 1/2 + tanh(z / 2) / 2, whose
        factors and constant go to the next layer.
        """
        weights, biases = [], []
        for layer, (matrix, bias) in enumerate(self.split(theta)):
            matrix, bias = matrix.transpose(0, 2, 1).copy(), bias[:, 0, :].copy()
            if activation == "sigmoid":
                if layer > 0:
                    bias += 0.5 * matrix.sum(axis=2)
                    matrix *= 0.5
                if layer < len(self.shapes) - 1:
                    matrix *= 0.5
                    bias *= 0.5
            weights.append(matrix)
            biases.append(bias)
        name = "tanh" if activation == "sigmoid" else activation
        return Stack(tuple(weights), tuple(biases), name)


@dataclass(frozen=True, eq=False)
class Misfit:
    """Sum of squared errors of networks on given data.

    Parameters
    ----------
    layout : Layout
        Where the weights stand.
    activation : str
        ``tanh``, ``relu`` or ``sigmoid``.
    u : (n, d) array
        Inputs.
    v : (n,) array
        Values.
    """

    layout: Layout
    activation: str
    u: FloatArray
    v: FloatArray

    def __call__(self, theta: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return S (C,) and its gradient (C, P) at vectors (C, P)."""
        theta = np.ascontiguousarray(theta)  # the kernel is compiled for no other order
        values, gradients = np.empty(len(theta)), np.empty_like(theta)
        self._kernel(theta, self._widths, self._code, self.u, self.v, values, gradients)
        return values, gradients

    @cached_property
    def _kernel(self) -> Any:
        from nnbo_mip.surrogates.bnn.kernel import write_misfits

        return write_misfits

    @cached_property
    def _widths(self) -> npt.NDArray[np.int64]:
        return np.array([self.layout.n_inputs, *self.layout.hidden, 1])

    @cached_property
    def _code(self) -> int:
        return NETWORK_ACTIVATIONS.index(self.activation)
