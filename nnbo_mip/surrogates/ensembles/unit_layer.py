"""The hidden units of trainable networks, seen by who reads them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch

NO_NORM = 1e-12
"""Added to squared norms, whose root has no slope at zero."""


@dataclass(frozen=True, eq=False)
class UnitLayer:
    """The hidden units of one layer of M networks, and who reads them.

    Parameters
    ----------
    weights : (M, in, width) tensor
        Incoming weights.
    biases : (M, 1, width) tensor
        Biases.
    readers : sequence of (M, width, out) tensors
        Outgoing weights.
    """

    weights: torch.Tensor
    biases: torch.Tensor
    readers: Sequence[torch.Tensor]

    def norms(self) -> torch.Tensor:
        """Return the norm (M, width) of everything that touches a unit."""
        squares = self.weights.square().sum(dim=1) + self.biases.square().sum(dim=1)
        for reader in self.readers:
            squares = squares + reader.square().sum(dim=2)
        return (squares + NO_NORM).sqrt()

    def remove_small(self, relative: float) -> None:
        """Set units to zero in place whose norm is at most `relative` of the largest."""
        norms = self.norms()
        kept = norms > relative * norms.max(dim=1, keepdim=True).values
        self.weights.mul_(kept[:, None, :])
        self.biases.mul_(kept[:, None, :])
        for reader in self.readers:
            reader.mul_(kept[:, :, None])


def interval_bounds(chain: Sequence[UnitLayer]) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """Return bounds (M, 1, width) of the pre-activations of each layer over [-1, 1]^d.

    In float32 and for training only: no proof reads them.
    """
    import torch

    bounds = []
    center = torch.zeros_like(chain[0].weights[:, None, :, 0])
    radius = torch.ones_like(center)
    for layer in chain:
        middle = torch.baddbmm(layer.biases, center, layer.weights)
        reach = torch.bmm(radius, layer.weights.abs())
        bounds.append((middle - reach, middle + reach))
        low, high = (middle - reach).relu(), (middle + reach).relu()
        center, radius = 0.5 * (high + low), 0.5 * (high - low)
    return bounds
