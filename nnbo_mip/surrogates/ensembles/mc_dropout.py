r"""Monte-Carlo dropout: one network, many masks.

Every hidden value is multiplied by a factor that is 0 with probability p and 1 / (1 - p)
otherwise, so that its expectation is kept:

    h_k = r_k * relu(W_k h_{k-1} + b_k),      f(u; r) = W_K h_{K-1} + b_K.

Training draws fresh factors for every observation in every epoch and minimizes, in
standardized units,

    (1/n) sum_i (f(u_i; r_i) - v_i)^2 + (weight_penalty (1 - p) / n) sum_w w^2;

(1 - p) compensates the scaling 1 / (1 - p), so that a penalty means the same as in a
network without dropout. After training `passes` sets of factors are drawn once and kept:
these are the members, whose mean and spread are deterministic functions.

A layer that would lose all its units, which happens with probability p^width, keeps one of
them, chosen uniformly: otherwise its output would not depend on the input.

References
----------
Gal and Ghahramani (2016), Monte-Carlo dropout [GalGhahramani2016].
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import numpy.typing as npt

from nnbo_mip.core.checks import check_number, check_size
from nnbo_mip.surrogates.base.observations import Observations, Standardization
from nnbo_mip.surrogates.ensembles.certifiable import StabilityPenalty, penalty_of, residual_scale
from nnbo_mip.surrogates.ensembles.members import MemberBelief, member_capabilities
from nnbo_mip.surrogates.ensembles.torch_stack import TorchStack
from nnbo_mip.surrogates.ensembles.trained_stack import StackTraining, TrainedStack, as_tensors

if TYPE_CHECKING:
    import torch

PENALTIES: Mapping[str, StabilityPenalty | None] = MappingProxyType(
    {
        "off": None,
        "light": StabilityPenalty(group_penalty=0.0075),
        "strong": StabilityPenalty(group_penalty=0.015, penalized_share=0.6),
    }
)
"""About half of what ensembles take: dropout lives on units that stand in for each other."""


def draw_masks(
    rows: int, widths: Sequence[int], p: float, generator: torch.Generator
) -> list[torch.Tensor]:
    """Return factors (rows, width) of each hidden layer: 0 or 1 / (1 - p).

    Parameters
    ----------
    rows : int
        How many independent sets.
    widths : sequence of int
        Hidden widths.
    p : float
        Probability of a 0.
    generator : torch.Generator
        Source of the factors.
    """
    import torch

    masks = []
    for width in widths:
        kept = torch.rand((rows, width), generator=generator) >= p
        dead = ~kept.any(dim=1)
        if dead.any():
            saved = torch.randint(width, (int(dead.sum()),), generator=generator)
            kept[dead.nonzero()[:, 0], saved] = True
        masks.append(kept.to(torch.float32) / (1.0 - p))
    return masks


@dataclass(frozen=True, eq=False)
class DropoutTraining(StackTraining):
    """The network, and its loss under fresh masks.

    Parameters
    ----------
    stack, u, v
        As in `StackTraining`, of one member.
    widths : sequence of int
        Hidden widths.
    p : float
        Probability of dropping a unit.
    generator : torch.Generator
        Source of the masks.
    """

    widths: Sequence[int]
    p: float
    generator: torch.Generator

    def loss(self) -> torch.Tensor:
        """Return the mean squared error under masks that are drawn now."""
        return self._error(draw_masks(len(self.u), self.widths, self.p, self.generator))

    def judged_loss(self) -> torch.Tensor:
        """Return the mean squared error without masks: at large p that under them is erratic."""
        return self._error(None)

    def _error(self, masks: list[torch.Tensor] | None) -> torch.Tensor:
        outputs = self.stack.outputs(self.u, masks)
        return (outputs[0, :, 0] - self.v).square().mean()


@dataclass(frozen=True)
class McDropout(TrainedStack[DropoutTraining]):
    """A network with dropout in training and prediction; masks are frozen after a fit.

    Parameters
    ----------
    hidden : tuple of int
        Widths of the hidden layers.
    p : float
        Probability of dropping a hidden unit, in [0, 1).
    passes : int
        Number of masks, that is of members.
    spread : str
        What `std` is: ``std``, ``variance`` or ``mad`` of the members.
    epochs, learning_rate, decay, restore_best
        As in `Schedule`; the loss of an epoch is that under its own masks.
    weight_penalty : float
        lambda in ``sum of squared errors + lambda (1 - p) sum w^2``, that is
        lambda (1 - p) / n beside a mean.
    initialization : str
        As in `TorchStack`.
    certifiable : str or StabilityPenalty
        ``off``, ``light`` or ``strong``: train for few unstable ReLUs; see `StabilityPenalty`.
    y_range : (low, high), optional
        Known range of y that is mapped to [-1, 1] instead of standardizing y.
    seed : int
        Source of the first weights and of all masks.
    """

    name: ClassVar[str] = "mc_dropout"
    belief_type: ClassVar[type[MemberBelief]] = MemberBelief
    penalties: ClassVar[Mapping[str, StabilityPenalty | None]] = PENALTIES
    capabilities = member_capabilities("relu", noisy=False)

    hidden: tuple[int, ...] = (32, 32)
    p: float = 0.2
    passes: int = 10
    spread: str = "std"
    epochs: int = 512
    learning_rate: float = 0.01
    decay: str = "cosine"
    weight_penalty: float = 1e-8
    initialization: str = "he"
    restore_best: bool = False
    certifiable: str | StabilityPenalty = "off"
    y_range: tuple[float, float] | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse options that are none."""
        check_number("p", self.p, least=0.0, below=1.0)
        check_size("passes", self.passes)
        super().__post_init__()

    def count_parameters(self, n_inputs: int) -> int:
        """Return how many weights and biases the network has."""
        pairs = itertools.pairwise((n_inputs, *self.hidden, 1))
        return sum((n_in + 1) * n_out for n_in, n_out in pairs)

    def fit(self, X: npt.ArrayLike, y: npt.ArrayLike) -> MemberBelief:
        """Train from scratch, then draw the masks; see `Surrogate.fit`."""
        data, units, model = self._trained(X, y)
        masks = draw_masks(self.passes, self.hidden, self.p, model.generator)
        frozen = [mask.numpy().astype(np.float64) for mask in masks]
        stack = model.stack.frozen(frozen).without_dead_units()
        belief = MemberBelief(self.name, stack, units, self.spread)
        penalized = penalty_of(self.certifiable, PENALTIES) is not None
        return belief.scaled(residual_scale(belief, data)) if penalized else belief

    def untrained(
        self, data: Observations, units: Standardization, generator: torch.Generator
    ) -> DropoutTraining:
        """Return the network at its first weights, and its loss on these data."""
        return DropoutTraining(
            TorchStack((data.n_inputs, *self.hidden, 1), 1, generator, self.initialization),
            *as_tensors(data, units),
            self.hidden,
            self.p,
            generator,
        )

    def _penalty(self) -> float:
        return (1.0 - self.p) * super()._penalty()
