"""Anchors: every weight is pulled to its own draw from the distribution of first weights.

References
----------
Pearce et al. (2020), anchored ensembles [Pearce2020].
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from nnbo_mip.surrogates.ensembles.torch_stack import TorchStack

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True, eq=False)
class Anchors:
    """First weights of a stack, tensor after tensor in one vector.

    Parameters
    ----------
    values : (k,) tensor
        a, the first weights.
    precisions : (k,) tensor
        1 / Var(a).
    """

    values: torch.Tensor
    precisions: torch.Tensor

    @staticmethod
    def of(stack: TorchStack) -> Anchors:
        """Return the weights that a stack has now."""
        import torch

        pairs = zip(stack.parameters, stack.initial_variances, strict=True)
        precisions = [
            torch.full((tensor.numel(),), 1.0 / variance, dtype=tensor.dtype)
            for tensor, variance in pairs
        ]
        return Anchors(_flat(stack).detach(), torch.cat(precisions))

    def distance(self, stack: TorchStack) -> torch.Tensor:
        """Return ``sum_w (w - a)^2 / Var(a)``."""
        return (_flat(stack) - self.values).square() @ self.precisions


def _flat(stack: TorchStack) -> torch.Tensor:
    import torch

    return torch.cat([tensor.reshape(-1) for tensor in stack.parameters])
