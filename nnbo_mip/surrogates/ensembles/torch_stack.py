"""The trainable form of a `Stack`: M networks of one shape in one batched product a layer."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.surrogates.ensembles.stack import Stack
from nnbo_mip.surrogates.ensembles.unit_layer import UnitLayer

if TYPE_CHECKING:
    import torch

INITIALIZATIONS = ("he", "uniform")
UNIFORM_RANGE = 0.05


class TorchStack:
    """Weights (M, in, out) and biases (M, 1, out) of M ReLU networks, in float32.

    Parameters
    ----------
    widths : sequence of int
        Inputs, hidden widths, outputs.
    n_members : int
        M.
    generator : torch.Generator
        Source of the first weights.
    initialization : str
        ``he``: weights N(0, 2 / in) in hidden layers and N(0, 1 / in) in the last one, biases
        U(-1, 1) / sqrt(in); ``uniform``: everything U(-0.05, 0.05).
    """

    def __init__(
        self,
        widths: Sequence[int],
        n_members: int,
        generator: torch.Generator,
        initialization: str = "he",
    ) -> None:
        import torch

        self.weights: list[torch.Tensor] = []
        self.biases: list[torch.Tensor] = []
        weight_variances, bias_variances = [], []
        for layer, (n_in, n_out) in enumerate(itertools.pairwise(widths)):
            shape = (n_members, n_in, n_out)
            if initialization == "uniform":
                weights = UNIFORM_RANGE * (2.0 * torch.rand(shape, generator=generator) - 1.0)
                bound, variance = UNIFORM_RANGE, UNIFORM_RANGE**2 / 3.0
            else:
                gain = 2.0 if layer < len(widths) - 2 else 1.0
                weights = math.sqrt(gain / n_in) * torch.randn(shape, generator=generator)
                bound, variance = 1.0 / math.sqrt(n_in), gain / n_in
            bias = bound * (2.0 * torch.rand((n_members, 1, n_out), generator=generator) - 1.0)
            self.weights.append(weights.requires_grad_())
            self.biases.append(bias.requires_grad_())
            weight_variances.append(variance)
            bias_variances.append(bound**2 / 3.0)
        self.initial_variances = (*weight_variances, *bias_variances)
        """Variance of the first values of each tensor of `parameters`."""

    @property
    def parameters(self) -> list[torch.Tensor]:
        """Every weight and bias."""
        return [*self.weights, *self.biases]

    def hidden(self, u: torch.Tensor, masks: Sequence[torch.Tensor] | None = None) -> torch.Tensor:
        """Return the last hidden values (M, n, width) at inputs (M or 1, n, d).

        Parameters
        ----------
        u : (M or 1, n, d) tensor
            Inputs, or (n, d) for all members alike.
        masks : sequence of (M, n or 1, width) tensors, optional
            Factors of the hidden values of each layer.
        """
        import torch

        value = u if u.dim() == 3 else u.unsqueeze(0)
        value = value.expand(len(self.weights[0]), -1, -1)
        for layer in range(len(self.weights) - 1):
            value = torch.baddbmm(self.biases[layer], value, self.weights[layer]).relu()
            if masks is not None:
                value = value * masks[layer]
        return value

    def outputs(self, u: torch.Tensor, masks: Sequence[torch.Tensor] | None = None) -> torch.Tensor:
        """Return the outputs (M, n, m)."""
        import torch

        return torch.baddbmm(self.biases[-1], self.hidden(u, masks), self.weights[-1])

    def chain(self, further_readers: Sequence[torch.Tensor] = ()) -> list[UnitLayer]:
        """Return the hidden layers from the input on, each with who reads it.

        Parameters
        ----------
        further_readers : sequence of (M, width, out) tensors
            Who reads the last hidden layer beside the stack's own outputs.
        """
        layers = [
            UnitLayer(weights, biases, [reader])
            for weights, biases, reader in zip(
                self.weights[:-1], self.biases[:-1], self.weights[1:], strict=True
            )
        ]
        last = layers[-1]
        layers[-1] = UnitLayer(last.weights, last.biases, [*last.readers, *further_readers])
        return layers

    def frozen(self, masks: Sequence[FloatArray] | None = None) -> Stack:
        """Return the weights in float64, as a `Stack`, with factors of the hidden values."""
        return Stack(
            tuple(_array(w).transpose(0, 2, 1).copy() for w in self.weights),
            tuple(_array(b)[:, 0, :].copy() for b in self.biases),
            masks=None if masks is None else tuple(masks),
        )


def _array(tensor: torch.Tensor) -> FloatArray:
    return np.asarray(tensor.detach().numpy(), dtype=np.float64)
