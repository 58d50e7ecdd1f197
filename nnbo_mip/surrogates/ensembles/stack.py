"""M networks of one shape, evaluated and differentiated together in float64.

With input u, masks m_k (ones where there is no dropout) and activation phi,

    h_0 = u,   h_k = m_k * phi(W_k h_{k-1} + b_k),   f = W_K h_{K-1} + b_K + S u,

each W_k is (M, out, in), or (1, out, in) where all members share it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from nnbo_mip.core.arrays import Array, FloatArray, blocks
from nnbo_mip.core.errors import UnsupportedError
from nnbo_mip.network.graph.affine import Affine
from nnbo_mip.network.graph.builder import GraphBuilder

ACTIVATIONS = ("relu", "tanh")


@dataclass(frozen=True, eq=False)
class Stack:
    """The members' weights.

    Parameters
    ----------
    weights : tuple of (M or 1, out, in) arrays
        One a layer, the last one linear.
    biases : tuple of (M or 1, out) arrays
        One a layer.
    activation : str
        ``relu`` or ``tanh``.
    masks : tuple of (M, width) arrays, optional
        Factors of the hidden values: 0 where a unit is dropped.
    skip : (M, outputs, d) array, optional
        A direct link from the input to the outputs.
    """

    weights: tuple[FloatArray, ...]
    biases: tuple[FloatArray, ...]
    activation: str = "relu"
    masks: tuple[FloatArray, ...] | None = None
    skip: FloatArray | None = None

    @property
    def n_members(self) -> int:
        """M, the number of networks."""
        arrays = [*self.weights, *self.biases, *(self.masks or ())]
        return max(len(array) for array in arrays)

    @property
    def n_inputs(self) -> int:
        """d, the number of inputs."""
        return int(self.weights[0].shape[2])

    def evaluate(self, u: FloatArray) -> FloatArray:
        """Return the outputs (M, n, m) at inputs (n, d)."""
        return np.concatenate([self._outputs(b, self._hidden(b)[-1]) for b in self._blocks(u)], 1)

    def hidden(self, u: FloatArray) -> FloatArray:
        """Return the last hidden values (M, n, width) at inputs (n, d)."""
        return np.concatenate([self._hidden(block)[-1] for block in self._blocks(u)], 1)

    def differentiate(self, u: FloatArray, output: int = 0) -> tuple[FloatArray, FloatArray]:
        """Return one output (M, n) and its gradient (M, n, d); slope 0 at a kink."""
        values, gradients = zip(
            *(self._differentiate(b, output) for b in self._blocks(u)), strict=True
        )
        return np.concatenate(values, 1), np.concatenate(gradients, 1)

    def compile(self, builder: GraphBuilder, value: Affine) -> list[Affine]:
        """Add the members to a network; return the outputs of each.

        Parameters
        ----------
        builder : GraphBuilder
            The network under construction.
        value : Affine
            The input u of the members, (d,) entries.
        """
        if self.activation != "relu":
            raise UnsupportedError(
                "a network of ReLUs needs the activation 'relu'; these members have "
                f"{self.activation!r}; choose activation='relu'."
            )
        outputs = []
        for member in range(self.n_members):
            hidden = value
            for layer in range(len(self.weights) - 1):
                weights, bias = self._layer(layer, member)
                hidden = builder.relu(builder.affine(hidden, weights, bias))
                if self.masks is not None:
                    hidden = builder.scale(hidden, self.masks[layer][member])
            weights, bias = self._layer(len(self.weights) - 1, member)
            output = builder.affine(hidden, weights, bias)
            if self.skip is not None:
                output = builder.add(output, builder.affine(value, self.skip[member]))
            outputs.append(output)
        return outputs

    def member(self, index: int) -> Stack:
        """Return one member as a stack of its own."""
        pick = slice(index, index + 1)
        return Stack(
            tuple(w if len(w) == 1 else w[pick] for w in self.weights),
            tuple(b if len(b) == 1 else b[pick] for b in self.biases),
            self.activation,
            None if self.masks is None else tuple(m[pick] for m in self.masks),
            None if self.skip is None else self.skip[pick],
        )

    def without_dead_units(self) -> Stack:
        """Return the same functions without the hidden units that nobody reads.

        Members may differ in how many units live; the widest one sets the width.
        """
        weights, biases = list(self.weights), list(self.biases)
        masks = None if self.masks is None else list(self.masks)
        for layer in range(len(weights) - 2, -1, -1):
            read = (weights[layer + 1] != 0.0).any(axis=1)
            width = max(1, int(read.sum(axis=1).max()))
            kept = np.sort(np.argsort(~read, axis=1, kind="stable")[:, :width], axis=1)
            weights[layer] = _take(weights[layer], kept, axis=1)
            biases[layer] = _take(biases[layer], kept, axis=1)
            weights[layer + 1] = _take(weights[layer + 1], kept, axis=2)
            if masks is not None:
                masks[layer] = _take(masks[layer], kept, axis=1)
        return replace(
            self,
            weights=tuple(weights),
            biases=tuple(biases),
            masks=None if masks is None else tuple(masks),
        )

    def to_arrays(self) -> dict[str, Array]:
        """Return named arrays for a file."""
        arrays: dict[str, Array] = {
            "activation": np.array(self.activation),
            "layers": np.array(len(self.weights)),
            "masked": np.array(self.masks is not None),
            "linked": np.array(self.skip is not None),
        }
        for prefix, group in (("W", self.weights), ("b", self.biases), ("m", self.masks or ())):
            arrays |= {f"{prefix}{index}": array for index, array in enumerate(group)}
        if self.skip is not None:
            arrays["skip"] = self.skip
        return arrays

    @staticmethod
    def from_arrays(arrays: Mapping[str, Array]) -> Stack:
        """Make the stack that `to_arrays` described."""
        count = int(arrays["layers"])

        def group(prefix: str, size: int) -> tuple[FloatArray, ...]:
            return tuple(arrays[f"{prefix}{index}"] for index in range(size))

        stack = Stack(
            group("W", count),
            group("b", count),
            str(arrays["activation"]),
            group("m", count - 1) if arrays["masked"] else None,
            arrays["skip"] if arrays["linked"] else None,
        )
        stack._check_shapes()
        return stack

    def _check_shapes(self) -> None:
        """Refuse arrays of a file that do not fit together."""
        members, width = {1, self.n_members}, self.n_inputs
        fit = self.activation in ACTIVATIONS
        for weights, bias in zip(self.weights, self.biases, strict=True):
            shape = (weights.shape[0], weights.shape[1], width)
            fit &= weights.ndim == 3 and weights.shape == shape and len(weights) in members
            width = weights.shape[1]
            fit &= bias.ndim == 2 and bias.shape[1] == width and len(bias) in members
        for mask, weights in zip(self.masks or (), self.weights, strict=False):
            fit &= mask.shape == (self.n_members, weights.shape[1])
        if self.skip is not None:
            fit &= self.skip.shape == (self.n_members, width, self.n_inputs)
        if not fit:
            raise ValueError("layers, masks and links of members that do not fit together")

    # -- one block of points ----------------------------------------------------------

    def _blocks(self, u: FloatArray) -> Iterator[FloatArray]:
        widest = max(w.shape[1] for w in self.weights)
        for rows in blocks(len(u), widest * self.n_members):
            yield u[rows]

    def _hidden(self, u: FloatArray) -> list[FloatArray]:
        """Return the inputs and every hidden layer of a block, each (M or 1, n, width)."""
        values = [u[None]]
        for layer in range(len(self.weights) - 1):
            product = _times(values[-1], self.weights[layer].transpose(0, 2, 1))
            z = product + self.biases[layer][:, None, :]
            h = np.maximum(z, 0.0) if self.activation == "relu" else np.tanh(z)
            values.append(h if self.masks is None else h * self.masks[layer][:, None, :])
        return values

    def _outputs(self, u: FloatArray, hidden: FloatArray) -> FloatArray:
        product = _times(hidden, self.weights[-1].transpose(0, 2, 1))
        result = product + self.biases[-1][:, None, :]
        if self.skip is not None:
            result = result + u[None] @ self.skip.transpose(0, 2, 1)
        return np.asarray(np.broadcast_to(result, (self.n_members, *result.shape[1:])))

    def _differentiate(self, u: FloatArray, output: int) -> tuple[FloatArray, FloatArray]:
        hidden = self._hidden(u)
        values = self._outputs(u, hidden[-1])[:, :, output]
        adjoint = np.broadcast_to(
            self.weights[-1][:, output, None, :], (self.n_members, len(u), hidden[-1].shape[2])
        )
        for layer in range(len(self.weights) - 2, -1, -1):
            h = hidden[layer + 1]
            if self.masks is not None:
                mask = self.masks[layer][:, None, :]
                adjoint = adjoint * mask
                # Undone where a unit is kept, so that phi' is that of the plain activation.
                h = np.divide(h, mask, out=np.zeros_like(h), where=mask != 0.0)
            slope = (h > 0.0) if self.activation == "relu" else 1.0 - h * h
            adjoint = _times(adjoint * slope, self.weights[layer])
        if self.skip is not None:
            adjoint = adjoint + self.skip[:, output, None, :]
        return values, np.asarray(adjoint)

    def _layer(self, layer: int, member: int) -> tuple[FloatArray, FloatArray]:
        weights, biases = self.weights[layer], self.biases[layer]
        return weights[member % len(weights)], biases[member % len(biases)]


def _times(values: FloatArray, matrices: FloatArray) -> FloatArray:
    """Multiply (M or 1, n, a) by (M or 1, a, b); a shared matrix takes one product, not M."""
    if len(matrices) > 1:
        return np.asarray(values @ matrices)
    members, n, width = values.shape
    flat = np.asarray(values.reshape(members * n, width) @ matrices[0])
    return flat.reshape(members, n, matrices.shape[2])


def _take(array: FloatArray, kept: npt.NDArray[np.intp], axis: int) -> FloatArray:
    """Take the units `kept` (M or 1, width) of each member of an array along an axis."""
    members = max(len(array), len(kept))
    whole = np.broadcast_to(array, (members, *array.shape[1:]))
    chosen = np.broadcast_to(kept, (members, kept.shape[1]))
    return np.stack([np.take(whole[m], chosen[m], axis - 1) for m in range(members)])
