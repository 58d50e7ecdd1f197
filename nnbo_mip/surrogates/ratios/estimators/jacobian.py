r"""Derivatives of a network of ReLUs by its weights, and the tangent in them.

With layers z_k = W_k h_{k-1} + b_k, h_k = D_k z_k, D_k = [z_k > 0], f = W_K h_{K-1} + b_K, the
parameters theta are the blocks (W_k | b_k), flattened, from a first layer on. Backward,

    g_K = 1,  g_{k-1} = (g_k W_k) D_{k-1},      J_k = g_k (h_{k-1}, 1)^T,

and in a direction (A_k | a_k), forward,

    t_k = D_k (A_k h_{k-1} + a_k + W_k t_{k-1}),  t_0 = 0,     J . direction = t_K.

Within a cell of fixed phases D both f and t_K are affine in x; across kinks t_K jumps, as D does.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nnbo_mip.core.arrays import FloatArray, blocks
from nnbo_mip.surrogates.ensembles.stack import Stack


@dataclass(frozen=True, eq=False)
class Tangent:
    """A network and its tangent in a direction of weights.

    Parameters
    ----------
    value, change : (n,) arrays
        f, and J . direction.
    value_gradient, change_gradient : (n, d) arrays
        Their derivatives by x, the direction held fixed.
    """

    value: FloatArray
    change: FloatArray
    value_gradient: FloatArray
    change_gradient: FloatArray


@dataclass(frozen=True, eq=False)
class Linearization:
    """A network of one member and one output, and which of its layers are linearized.

    Parameters
    ----------
    stack : Stack
    first : int
        Index of the first layer whose weights count; 0 for all.
    """

    stack: Stack
    first: int = 0

    @property
    def shapes(self) -> list[tuple[int, int]]:
        """Rows and columns of the blocks (W_k | b_k)."""
        return [(w.shape[1], w.shape[2] + 1) for w in self.stack.weights[self.first :]]

    @property
    def parameters(self) -> FloatArray:
        """The weights theta (P,)."""
        pairs = zip(self.stack.weights, self.stack.biases, strict=True)
        blocks = [np.hstack([w[0], b[0][:, None]]).ravel() for w, b in pairs]
        return np.concatenate(blocks[self.first :])

    def jacobian(self, points: FloatArray) -> FloatArray:
        """Return J (n, P) at points (n, d)."""
        blocks = [g[:, :, None] * a[:, None, :] for g, a in self.factors(points)]
        rows = [b.reshape(len(points), b.shape[1] * b.shape[2]) for b in blocks]
        return np.concatenate(rows, axis=1)

    def factors(self, points: FloatArray) -> list[tuple[FloatArray, FloatArray]]:
        """Return the two factors (n, out) and (n, in + 1) of each block of J."""
        hidden, active = self._forward(points)
        adjoint = np.ones((len(points), 1))
        found: list[tuple[FloatArray, FloatArray]] = []
        for layer in range(len(self.stack.weights) - 1, self.first - 1, -1):
            found.append((adjoint, _with_one(hidden[layer])))
            if layer > self.first:
                adjoint = (adjoint @ self.stack.weights[layer][0]) * active[layer - 1]
        return found[::-1]

    def tangent(self, points: FloatArray, direction: FloatArray) -> Tangent:
        """Return f and its tangent at points (n, d), in one direction (P,) or (n, P)."""
        size = max(w.shape[1] * (w.shape[2] + 1) for w in self.stack.weights)
        parts = []
        for rows in blocks(len(points), 2 * (size + 4 * self.stack.n_inputs * size)):
            own = direction if direction.ndim == 1 else direction[rows]
            parts.append(self._tangent(points[rows], own))
        return Tangent(*(np.concatenate(column) for column in zip(*parts, strict=True)))

    def tangent_values(self, points: FloatArray, direction: FloatArray) -> FloatArray:
        """Return f + J . direction (n,) at points (n, d), in one direction (P,)."""
        tangent = self.tangent(points, direction)
        return tangent.value + tangent.change

    def _tangent(
        self, points: FloatArray, direction: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        n, d = points.shape
        moves = self._blocks(direction)
        h, dh = points, np.broadcast_to(np.eye(d), (n, d, d))
        t, dt = np.zeros((n, d)), np.zeros((n, d, d))
        last = len(self.stack.weights) - 1
        for layer, (weights, bias) in enumerate(
            zip(self.stack.weights, self.stack.biases, strict=True)
        ):
            w = weights[0]
            z, dz = h @ w.T + bias[0], w @ dh
            s, ds = t @ w.T, w @ dt
            if layer >= self.first:
                a = moves[layer - self.first]
                s = s + np.einsum("noi,ni->no", a, _with_one(h))
                ds = ds + a[:, :, :-1] @ dh
            on = (z > 0.0) if layer < last else np.ones_like(z, dtype=np.bool_)
            h, t = z * on, s * on
            dh, dt = dz * on[:, :, None], ds * on[:, :, None]
        return h[:, 0], t[:, 0], dh[:, 0], dt[:, 0]

    def _blocks(self, direction: FloatArray) -> list[FloatArray]:
        """Return the blocks (1 or n, out, in + 1) of a direction."""
        rows = np.atleast_2d(direction)
        ends = np.cumsum([out * into for out, into in self.shapes])
        parts = np.split(rows, ends[:-1], axis=1)
        shaped = zip(parts, self.shapes, strict=True)
        return [part.reshape(len(rows), out, into) for part, (out, into) in shaped]

    def _forward(self, points: FloatArray) -> tuple[list[FloatArray], list[FloatArray]]:
        """Return the inputs of every layer, and which of its units are on."""
        hidden, active = [points], []
        for weights, bias in zip(self.stack.weights[:-1], self.stack.biases[:-1], strict=True):
            z = hidden[-1] @ weights[0].T + bias[0]
            active.append((z > 0.0).astype(np.float64))
            hidden.append(z * active[-1])
        return hidden, active


def _with_one(values: FloatArray) -> FloatArray:
    return np.hstack([values, np.ones((len(values), 1))])
