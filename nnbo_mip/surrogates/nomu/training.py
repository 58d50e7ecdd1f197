r"""NOMU's two networks and their loss.

With observations (u_i, v_i) in standardized units, fresh points u'_1 … u'_L every epoch,
uniform on [-1, 1]^d, the mean f and the raw uncertainty s,

    loss = sum_i (f(u_i) - v_i)^2 + pi_sqr sum_i s(u_i)^2
         + pi_exp (1/L) sum_l exp(-c_exp s(u'_l)).

The first term fits; the second pins the uncertainty down where there are data; the third, a
Monte-Carlo average over the box, pushes it up everywhere.

References
----------
Heiss et al. (2022), the architecture and the loss [Heiss2022].
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.checks import check_number, check_size
from nnbo_mip.surrogates.ensembles.stack import Stack
from nnbo_mip.surrogates.ensembles.torch_stack import UNIFORM_RANGE, TorchStack
from nnbo_mip.surrogates.ensembles.training import Trainable
from nnbo_mip.surrogates.ensembles.unit_layer import UnitLayer

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True)
class NomuLoss:
    """The factors of the loss.

    Parameters
    ----------
    pi_sqr, pi_exp, c_exp : float
        As above.
    n_augmented : int
        L.
    """

    pi_sqr: float
    pi_exp: float
    c_exp: float
    n_augmented: int

    def __post_init__(self) -> None:
        check_number("pi_sqr", self.pi_sqr, above=0.0)
        check_number("pi_exp", self.pi_exp, above=0.0)
        check_number("c_exp", self.c_exp, above=0.0)
        check_size("n_augmented", self.n_augmented)

    def __call__(
        self,
        errors: torch.Tensor,
        raw_at_data: torch.Tensor,
        raw_anywhere: torch.Tensor,
    ) -> torch.Tensor:
        """Return the loss of errors (n,) and raw uncertainties (n,) and (L,)."""
        fit = errors.square().sum()
        pinned = raw_at_data.square().sum()
        pushed = (-self.c_exp * raw_anywhere).exp().mean()
        return fit + self.pi_sqr * pinned + self.pi_exp * pushed


class TwinNets:
    """Main and side net, the side output reading both last hidden layers, in float32.

    Parameters
    ----------
    n_inputs : int
        d.
    hidden, side_hidden : sequence of int
        Hidden widths of the main and of the side net.
    generator : torch.Generator
        Source of the first weights.
    initialization : str
        ``uniform`` or ``he`` as in `TorchStack`, but under ``he``

        - every unit of a first layer has its kink at a random point of the box;
        - the first layer of the main net is divided by d: nets that start nearly flat learn
          directions instead of interpolating random features;
        - the raw uncertainty starts at zero everywhere: where it starts below, exp(-c_exp s)
          is so large that Adam's memory of it stops all progress.
    stop_gradient : bool
        Whether the raw uncertainty leaves the main net's hidden layers alone.
    """

    def __init__(
        self,
        n_inputs: int,
        hidden: Sequence[int],
        side_hidden: Sequence[int],
        generator: torch.Generator,
        initialization: str,
        stop_gradient: bool,
    ) -> None:
        import torch

        self.main = TorchStack((n_inputs, *hidden, 1), 1, generator, initialization)
        self.side = TorchStack((n_inputs, *side_hidden, 1), 1, generator, initialization)
        self.stop_gradient = stop_gradient
        shape = (1, hidden[-1], 1)
        self.bridge = UNIFORM_RANGE * (2.0 * torch.rand(shape, generator=generator) - 1.0)
        """Weights (1, width, 1) by which the raw uncertainty reads the main net."""
        if initialization == "he":
            with torch.no_grad():
                for net in (self.main, self.side):
                    place_kinks(net, generator)
                self.main.weights[0] /= n_inputs
                self.main.biases[0] /= n_inputs
                for weights in (self.bridge, self.side.weights[-1], self.side.biases[-1]):
                    weights.zero_()
        self.bridge.requires_grad_()

    @property
    def parameters(self) -> list[torch.Tensor]:
        """Every weight and bias."""
        return [*self.main.parameters, *self.side.parameters, self.bridge]

    @property
    def chains(self) -> list[list[UnitLayer]]:
        """The hidden layers of both nets."""
        return [self.main.chain([self.bridge]), self.side.chain()]

    def outputs(self, u: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the mean (n,) and the raw uncertainty (n,) at inputs (n, d)."""
        import torch

        hidden = self.main.hidden(u)
        mean = torch.baddbmm(self.main.biases[-1], hidden, self.main.weights[-1])
        read = hidden.detach() if self.stop_gradient else hidden
        raw = torch.baddbmm(self.side.outputs(u), read, self.bridge)
        return mean[0, :, 0], raw[0, :, 0]

    def frozen(self) -> tuple[Stack, Stack]:
        """Return both nets in float64; the bridge is the second output of the first."""
        main = self.main.frozen()
        bridge = np.asarray(self.bridge.detach().numpy(), dtype=np.float64)
        weights = np.concatenate([main.weights[-1], bridge.transpose(0, 2, 1)], axis=1)
        biases = np.concatenate([main.biases[-1], np.zeros((1, 1))], axis=1)
        twin = Stack((*main.weights[:-1], weights), (*main.biases[:-1], biases))
        return twin, self.side.frozen()


def place_kinks(net: TorchStack, generator: torch.Generator) -> None:
    """Move the hyperplane of each unit of the first layer through a random point of the box."""
    import torch

    weights = net.weights[0]
    points = 2.0 * torch.rand(weights.shape, generator=generator) - 1.0
    net.biases[0].copy_(-(weights * points).sum(dim=1, keepdim=True))


class NomuTraining(Trainable):
    """The two nets, the data and the loss.

    Parameters
    ----------
    nets : TwinNets
        What is trained.
    u, v : (n, d) and (n,) arrays
        Standardized observations.
    loss : NomuLoss
        The factors of the loss.
    generator : torch.Generator
        Source of the augmented points.
    """

    def __init__(
        self,
        nets: TwinNets,
        u: FloatArray,
        v: FloatArray,
        loss: NomuLoss,
        generator: torch.Generator,
    ) -> None:
        import torch

        self.nets = nets
        self.u = torch.from_numpy(u.astype(np.float32))
        self.v = torch.from_numpy(v.astype(np.float32))
        self._loss = loss
        self._generator = generator
        self._judged_at = self.augmented()

    @property
    def parameters(self) -> list[torch.Tensor]:
        """Those of both nets."""
        return self.nets.parameters

    @property
    def loss_size(self) -> float:
        """The number of observations, over which the loss sums."""
        return float(len(self.v))

    @property
    def chains(self) -> list[list[UnitLayer]]:
        """The hidden layers of both nets."""
        return self.nets.chains

    def augmented(self) -> torch.Tensor:
        """Draw points (L, d), uniform on [-1, 1]^d."""
        import torch

        shape = (self._loss.n_augmented, self.u.shape[1])
        return 2.0 * torch.rand(shape, generator=self._generator, dtype=self.u.dtype) - 1.0

    def loss(self) -> torch.Tensor:
        """Return the loss with fresh augmented points."""
        return self.loss_at(self.augmented())

    def judged_loss(self) -> torch.Tensor:
        """Return the loss with augmented points that stay the same."""
        return self.loss_at(self._judged_at)

    def loss_at(self, augmented: torch.Tensor) -> torch.Tensor:
        """Return the loss with these augmented points (L, d)."""
        import torch

        n = len(self.v)
        mean, raw = self.nets.outputs(torch.cat([self.u, augmented]))
        return self._loss(mean[:n] - self.v, raw[:n], raw[n:])
