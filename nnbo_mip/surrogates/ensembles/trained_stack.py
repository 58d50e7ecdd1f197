"""What families share that train a stack of ReLU networks: options, their checks, the training."""

from __future__ import annotations

import abc
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from nnbo_mip.core.checks import check_choice, check_count, check_flag, check_number, check_widths
from nnbo_mip.surrogates.base.abstract import Surrogate
from nnbo_mip.surrogates.base.observations import Observations, Standardization, check_y_range
from nnbo_mip.surrogates.ensembles.certifiable import (
    LEVELS,
    StabilityPenalty,
    penalty_of,
    train_certifiable,
)
from nnbo_mip.surrogates.ensembles.members import SPREADS
from nnbo_mip.surrogates.ensembles.torch_stack import INITIALIZATIONS, TorchStack
from nnbo_mip.surrogates.ensembles.training import Schedule, Trainable, train
from nnbo_mip.surrogates.ensembles.unit_layer import UnitLayer

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True, eq=False)
class StackTraining(Trainable):
    """Networks and the data that they are trained on; families add the loss.

    Parameters
    ----------
    stack : TorchStack
        The members.
    u : (n, d) tensor
        Inputs.
    v : (n,) tensor
        Standardized values.
    """

    stack: TorchStack
    u: torch.Tensor
    v: torch.Tensor

    @property
    def parameters(self) -> list[torch.Tensor]:
        """Weights and biases of all members."""
        return self.stack.parameters

    @property
    def chains(self) -> list[list[UnitLayer]]:
        """The hidden layers of the stack."""
        return [self.stack.chain()]


T = TypeVar("T", bound=StackTraining)


class TrainedStack(Surrogate, Generic[T]):
    """The options that such families have in common; they are fields of each family."""

    hidden: tuple[int, ...]
    spread: str
    epochs: int
    learning_rate: float
    decay: str
    weight_penalty: float
    initialization: str
    restore_best: bool
    certifiable: str | StabilityPenalty
    y_range: tuple[float, float] | None
    seed: int

    penalties: ClassVar[Mapping[str, StabilityPenalty | None]] = LEVELS
    """What the words of `certifiable` stand for."""

    def __post_init__(self) -> None:
        """Refuse options that are none."""
        object.__setattr__(self, "hidden", check_widths("hidden", self.hidden))
        check_choice("spread", self.spread, SPREADS)
        check_choice("initialization", self.initialization, INITIALIZATIONS)
        check_flag("restore_best", self.restore_best)
        penalty_of(self.certifiable, self.penalties)
        check_y_range(self.y_range)
        check_count("seed", self.seed, least=0)
        self._schedule(n=1)

    @abc.abstractmethod
    def untrained(
        self, data: Observations, units: Standardization, generator: torch.Generator
    ) -> T:
        """Return the members at their first weights, and their loss on these data."""

    def _trained(
        self, X: npt.ArrayLike, y: npt.ArrayLike
    ) -> tuple[Observations, Standardization, T]:
        """Return the data, their units and the members after training from scratch."""
        data = Observations.of(X, y)
        units = Standardization.of(data, inputs=False, outputs=True, y_range=self.y_range)
        penalty = penalty_of(self.certifiable, self.penalties)

        def make(generator: torch.Generator) -> T:
            return self.untrained(data, units, generator)

        how = self._schedule(len(data.y)), self.seed, self.name
        model = train(make, *how) if penalty is None else train_certifiable(make, *how, penalty)
        return data, units, model

    def _penalty(self) -> float:
        """Return the weight penalty beside a sum of squared errors."""
        return check_number("weight_penalty", self.weight_penalty, least=0.0)

    def _schedule(self, n: int) -> Schedule:
        penalty = self._penalty() / n
        return Schedule(self.epochs, self.learning_rate, self.decay, penalty, self.restore_best)


def as_tensors(data: Observations, units: Standardization) -> tuple[torch.Tensor, torch.Tensor]:
    """Return standardized inputs (n, d) and values (n,) in float32."""
    import torch

    u, v = units.inward(data.X), units.values_inward(data.y)
    return torch.from_numpy(u.astype(np.float32)), torch.from_numpy(v.astype(np.float32))
