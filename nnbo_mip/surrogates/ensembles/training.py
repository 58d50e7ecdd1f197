"""One training loop for every family of networks: Adam, retried with smaller steps.

A model is trained from scratch; when its loss leaves the finite numbers, or ends far above
where it began, it is made again from the same seed and trained with a tenth of the step size.
Losses are of order 1 in standardized units, so below that there is no far above.
PyTorch's thread count is the caller's and is not touched.

References
----------
Kingma and Ba (2015), Adam [KingmaBa2015].
"""

from __future__ import annotations

import abc
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from nnbo_mip.core.checks import check_choice, check_count, check_number
from nnbo_mip.core.errors import TrainingError

if TYPE_CHECKING:
    import torch

    from nnbo_mip.surrogates.ensembles.unit_layer import UnitLayer

DECAYS = ("constant", "cosine")
ATTEMPTS = 4
STEP_REDUCTION = 0.1


class Trainable(abc.ABC):
    """What the loop needs of a model."""

    @property
    @abc.abstractmethod
    def parameters(self) -> list[torch.Tensor]:
        """The tensors that are trained."""

    @property
    def loss_size(self) -> float:
        """Size of the loss relative to a loss per observation: 1 for a mean, n for a sum."""
        return 1.0

    @property
    def chains(self) -> list[list[UnitLayer]]:
        """Hidden layers of each network, from the input on, for `certifiable` training."""
        return []

    @abc.abstractmethod
    def loss(self) -> torch.Tensor:
        """Return the scalar that is minimized, without the weight penalty; one call an epoch."""

    def judged_loss(self) -> torch.Tensor:
        """Return the loss by which growth is judged, without chance in it."""
        return self.loss()


M = TypeVar("M", bound=Trainable)


@dataclass(frozen=True)
class Schedule:
    """How long and how fast.

    Parameters
    ----------
    epochs : int
        Steps on all observations at once.
    learning_rate : float
        Adam's step size at the start.
    decay : str
        ``constant``, or ``cosine`` down to zero.
    weight_penalty : float
        lambda in ``loss + lambda sum w^2``.
    restore_best : bool
        Whether the weights of the epoch with the lowest loss are kept instead of the last.
    warmup : float
        Part of the epochs, 0 to below 1, in which the step size grows linearly from zero.
    """

    epochs: int
    learning_rate: float
    decay: str = "cosine"
    weight_penalty: float = 0.0
    restore_best: bool = False
    warmup: float = 0.0

    def __post_init__(self) -> None:
        check_count("epochs", self.epochs)
        check_number("learning_rate", self.learning_rate, above=0.0)
        check_choice("decay", self.decay, DECAYS)
        check_number("the weight penalty", self.weight_penalty, least=0.0)
        check_number("warmup", self.warmup, least=0.0, below=1.0)

    def step_size(self, epoch: int) -> float:
        """Step size of an epoch, counted from 0."""
        rate = self.learning_rate
        if epoch + 1 < self.warmup * self.epochs:
            rate *= (epoch + 1) / (self.warmup * self.epochs)
        if self.decay == "constant":
            return rate
        return 0.5 * rate * (1.0 + math.cos(math.pi * epoch / self.epochs))


def train(make: Callable[[torch.Generator], M], schedule: Schedule, seed: int, family: str) -> M:
    """Make a model and train it; make and train it again with smaller steps if it diverges.

    Parameters
    ----------
    make : callable
        Returns an untrained model whose randomness comes from the generator it is given.
    schedule : Schedule
        How long and how fast.
    seed : int
        Seed of the generator.
    family : str
        Name of the surrogate, for the message of a failure.
    """
    import torch

    rate = schedule.learning_rate
    for _ in range(ATTEMPTS):
        model = make(torch.Generator().manual_seed(seed))
        if descend(model, schedule, rate / schedule.learning_rate):
            return model
        rate *= STEP_REDUCTION
    raise TrainingError(
        f"the loss of {family} must stay finite and not grow; it did not with step sizes from "
        f"{schedule.learning_rate:g} down to {rate / STEP_REDUCTION:g}; scale the data or choose "
        "a smaller learning_rate or another architecture."
    )


def descend(model: Trainable, schedule: Schedule, factor: float = 1.0) -> bool:
    """Minimize a model's loss in place; return whether it stayed finite and did not grow.

    Parameters
    ----------
    model : Trainable
        Changed in place.
    schedule : Schedule
        How long and how fast.
    factor : float
        Multiplier of every step size.
    """
    import torch

    parameters = model.parameters
    # Adam adds weight_decay * w to the gradient: the derivative of lambda w^2 is 2 lambda w.
    optimizer = torch.optim.Adam(
        parameters,
        lr=schedule.learning_rate,
        weight_decay=2.0 * schedule.weight_penalty,
        fused=True,
    )
    group = optimizer.param_groups[0]
    lowest = math.inf
    best: list[torch.Tensor] = []
    with torch.no_grad():
        first = model.judged_loss().item()
    for epoch in range(schedule.epochs):
        group["lr"] = factor * schedule.step_size(epoch)
        optimizer.zero_grad(set_to_none=True)
        loss = model.loss()
        value = loss.item()
        if not math.isfinite(value):
            return False
        if value < lowest and schedule.restore_best:
            best = [parameter.detach().clone() for parameter in parameters]
        lowest = min(lowest, value)
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        if best and lowest < model.loss().item():
            for parameter, kept in zip(parameters, best, strict=True):
                parameter.copy_(kept)
        last = model.judged_loss().item()
        finite = all(bool(torch.isfinite(parameter).all()) for parameter in parameters)
    return finite and math.isfinite(last) and last <= first + max(abs(first), 1.0)
