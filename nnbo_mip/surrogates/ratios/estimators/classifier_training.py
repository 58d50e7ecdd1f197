r"""Training of networks that tell good points from bad ones: maximum a posteriori.

With log-odds f_m(x_n), labels z_n, weights w_n (ones, or balanced) and a normal prior of precision
delta_m on every weight and bias theta of member m,

    L = sum_m (1/N) [ sum_n w_n (softplus(f_m(x_n)) - z_n f_m(x_n)) + delta_m / 2 |theta_m|^2 ].

Members do not interact: they are one network, from the same first weights, under several
precisions, trained in one product.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.surrogates.ensembles.stack import Stack
from nnbo_mip.surrogates.ensembles.torch_stack import TorchStack
from nnbo_mip.surrogates.ensembles.training import Schedule, Trainable, train
from nnbo_mip.surrogates.ratios.estimators.labels import Labels

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True, eq=False)
class ClassifierTraining(Trainable):
    """The networks and their loss.

    Parameters
    ----------
    stack : TorchStack
        One output a member.
    u : (n, d) tensor
        Inputs.
    z : (n,) tensor
        1 for good points, 0 for bad ones.
    w : (n,) tensor
        Weights of the observations.
    precisions : (M,) tensor
        delta_m.
    """

    stack: TorchStack
    u: torch.Tensor
    z: torch.Tensor
    w: torch.Tensor
    precisions: torch.Tensor

    @property
    def parameters(self) -> list[torch.Tensor]:
        """Every weight and bias."""
        return self.stack.parameters

    def loss(self) -> torch.Tensor:
        """Return L."""
        import torch

        f = self.stack.outputs(self.u)[:, :, 0]
        likelihood = (self.w * (torch.nn.functional.softplus(f) - self.z * f)).mean(dim=1)
        sizes = torch.stack([p.square().sum(dim=(1, 2)) for p in self.parameters]).sum(dim=0)
        return (likelihood + 0.5 * self.precisions * sizes / len(self.z)).sum()


def weights_of(labels: Labels, balanced: bool) -> FloatArray:
    """Return the weights (n,) of observations, 1 on average; balanced ones give classes as much."""
    if not balanced:
        return np.ones(len(labels.good))
    return np.where(labels.good, 0.5 / labels.share, 0.5 / (1.0 - labels.share))


def trained_stack(
    X: FloatArray,
    labels: Labels,
    hidden: Sequence[int],
    precisions: Sequence[float],
    schedule: Schedule,
    seed: int,
    balanced: bool,
    family: str,
) -> Stack:
    """Return one trained member for each precision.

    Parameters
    ----------
    X : (n, d) array
    labels : Labels
    hidden : sequence of int
        Widths.
    precisions : sequence of float
        delta_m.
    schedule : Schedule
    seed : int
    balanced : bool
        Whether both classes count alike.
    family : str
        For the message of a failure.
    """
    if labels.are_all_good:
        return constant_stack(X.shape[1], hidden, len(precisions), labels.prior_odds)

    def untrained(generator: torch.Generator) -> ClassifierTraining:
        import torch

        widths = (X.shape[1], *hidden, 1)
        stack = TorchStack(widths, len(precisions), generator)
        with torch.no_grad():
            for parameter in stack.parameters:  # what tells members apart is their prior alone
                parameter.copy_(parameter[:1].expand_as(parameter).clone())
        numbers = (X, labels.good, weights_of(labels, balanced), precisions)
        tensors = [torch.from_numpy(np.array(part, dtype=np.float32)) for part in numbers]
        return ClassifierTraining(stack, *tensors)

    return train(untrained, schedule, seed, family).stack.frozen()


def constant_stack(d: int, hidden: Sequence[int], members: int, value: float) -> Stack:
    """Return networks of these widths that answer one value everywhere."""
    widths = (d, *hidden, 1)
    pairs = list(itertools.pairwise(widths))
    weights = tuple(np.zeros((members, n_out, n_in)) for n_in, n_out in pairs)
    biases = [np.zeros((members, n_out)) for _, n_out in pairs]
    biases[-1][:] = value
    return Stack(weights, tuple(biases))
