r"""A deep implicit model of the weights of a network with one hidden layer.

A code z_0 ~ N(0, I) and scalar noises e ~ N(0, 1), at the input and at every other layer, give

    z_3 = g_3(z_0, e_3),   z_2 = g_2(z_3),   z_1 = g_1(z_2, e_1),
    theta_1 = g_01(z_1),   theta_2 = g_02(theta_1),

theta_k the weights and biases of layer k: those of the second layer depend on those of the first.
The density of theta has no formula; it can only be sampled.

References
----------
Aryan (2020), the architecture [Aryan2020].
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nnbo_mip.surrogates.bnn.adversarial import LEAK, Perceptron
from nnbo_mip.surrogates.bnn.layout import Layout

if TYPE_CHECKING:
    import torch


class Hypernetwork:
    """The generator.

    Parameters
    ----------
    layout : Layout
        Of the network whose weights it makes.
    width : int
        Of its own layers.
    code_size : int
        Entries of z_0.
    generator : torch.Generator
        Source of its weights, codes and noises.
    """

    def __init__(
        self, layout: Layout, width: int, code_size: int, generator: torch.Generator
    ) -> None:
        first, second = (layer.stop - layer.start for layer in layout.layers)
        self._code_size = code_size
        self._generator = generator
        self._deep = [
            Perceptron((n_in, width), generator) for n_in in (code_size + 1, width, width + 1)
        ]
        self._first = Perceptron((width, first), generator)
        self._second = Perceptron((first, width, second), generator)

    @property
    def parameters(self) -> list[torch.Tensor]:
        """Every weight and bias."""
        parts = [*self._deep, self._first, self._second]
        return [tensor for part in parts for tensor in part.parameters]

    def sample(self, count: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Return weights (M, P) of M networks and the log densities (M,) of their codes.

        The densities leave out their constant.
        """
        import torch

        code = torch.randn((count, self._code_size), generator=self._generator)
        noises = torch.randn((2, count, 1), generator=self._generator)
        rectify = torch.nn.functional.leaky_relu
        value = rectify(self._deep[0](torch.cat([code, noises[0]], dim=1)), LEAK)
        value = rectify(self._deep[1](value), LEAK)
        value = rectify(self._deep[2](torch.cat([value, noises[1]], dim=1)), LEAK)
        first = self._first(value)
        theta = torch.cat([first, self._second(first)], dim=1)
        return theta, -0.5 * code.square().sum(dim=1)
