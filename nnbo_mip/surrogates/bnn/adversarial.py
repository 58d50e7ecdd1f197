r"""Learning a distribution from which one can only sample: log ratios, and the order of a code.

A critic C learns to tell samples of q from samples of p with the loss

    L_c = E_q[log(1 + exp(-C))] + E_p[log(1 + exp(C))],

which is least where C = log q / p. A generator that minimizes E_q[C] therefore moves q towards p.

Order-preserving generators have a code z beside other noise, and are to turn likely codes into
samples of small cost u. With M / 2 disjoint pairs (i, j) of a batch,

    L_o = (2 / M) sum_pairs log(1 + exp(-t (u_j - u_i))),   t = 1 if p(z_i) >= p(z_j), else -1:

the cross entropy of which of the two is preferred.

References
----------
Mescheder et al. (2017), log ratios from a critic [Mescheder2017].
Aryan (2020), the loss that preserves an order [Aryan2020].
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch

LEAK = 0.1
"""Slope of the hidden units where their input is negative; units that never die."""


class Perceptron:
    """A network of leaky ReLUs with weights from a generator, N(0, 2 / in), and biases of zero.

    Parameters
    ----------
    widths : sequence of int
        Inputs, hidden widths, outputs.
    generator : torch.Generator
        Source of the first weights.
    """

    def __init__(self, widths: Sequence[int], generator: torch.Generator) -> None:
        import torch

        self._weights = []
        self._biases = []
        for n_in, n_out in itertools.pairwise(widths):
            drawn = math.sqrt(2.0 / n_in) * torch.randn((n_in, n_out), generator=generator)
            self._weights.append(drawn.requires_grad_())
            self._biases.append(torch.zeros(n_out).requires_grad_())

    @property
    def parameters(self) -> list[torch.Tensor]:
        """Every weight and bias."""
        return [*self._weights, *self._biases]

    def __call__(self, value: torch.Tensor) -> torch.Tensor:
        """Return outputs (n, m) at inputs (n, d)."""
        import torch

        for weights, bias in zip(self._weights[:-1], self._biases[:-1], strict=True):
            value = torch.nn.functional.leaky_relu(torch.addmm(bias, value, weights), LEAK)
        return torch.addmm(self._biases[-1], value, self._weights[-1])


def critic_loss(at_q: torch.Tensor, at_p: torch.Tensor) -> torch.Tensor:
    """Return L_c from the critic's values at samples of q and at samples of p."""
    import torch

    softplus = torch.nn.functional.softplus
    return softplus(-at_q).mean() + softplus(at_p).mean()


def order_loss(costs: torch.Tensor, log_codes: torch.Tensor) -> torch.Tensor:
    """Return L_o.

    Parameters
    ----------
    costs : (M,) tensor
        u of every sample, lower is better; the first half is paired with the second.
    log_codes : (M,) tensor
        log p(z) of the code of each.
    """
    import torch

    half = len(costs) // 2
    preferred = torch.where(log_codes[:half] >= log_codes[half : 2 * half], 1.0, -1.0)
    margin = preferred * (costs[half : 2 * half] - costs[:half])
    return torch.nn.functional.softplus(-margin).mean()
