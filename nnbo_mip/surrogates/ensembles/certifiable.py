r"""Networks that are trained to be certified: few ReLUs that change their phase over the box.

The hardness of a certificate is the number of unstable ReLUs, so training lowers it. For
hidden unit j with incoming weights a_j, bias b_j and outgoing weights c_j, the loss per
observation becomes

    loss + group_penalty sum_j |(a_j, b_j, c_j)|_2
         - stability_reward sum_j tanh(1 + l_j u_j),

where l_j <= z_j <= u_j are interval bounds over [-1, 1]^d: the first sum takes whole units to
zero (an L1 norm over units of an L2 norm within), the second rewards bounds of one sign.
After `penalized_share` of the epochs, units whose norm is at most `pruned_below` of the largest
one of their layer are set to zero and stay so, since nothing pulls at a unit without
weights; the other epochs fit what is left without penalty. Dead units are then removed,
and uncertainty is widened to the errors that are left at the data (`residual_scale`).

References
----------
Xiao et al. (2019), the reward of ReLU stability [Xiao2019].
Scardapane et al. (2017), group-sparse regularization [Scardapane2017].
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from nnbo_mip.core.checks import check_choice, check_number
from nnbo_mip.surrogates.ensembles.training import Schedule, Trainable, descend, train
from nnbo_mip.surrogates.ensembles.unit_layer import UnitLayer, interval_bounds

if TYPE_CHECKING:
    import torch

    from nnbo_mip.surrogates.base.abstract import Belief
    from nnbo_mip.surrogates.base.observations import Observations

REFIT_STEP = 0.5
"""Step size of the last epochs, relative to that of the first."""


@dataclass(frozen=True)
class StabilityPenalty:
    """How hard training works for the certificate.

    Parameters
    ----------
    group_penalty, stability_reward : float
        Factors beside a loss per observation.
    pruned_below : float
        Part of its layer's largest norm below which a unit is removed.
    penalized_share : float
        Part of the epochs before the removal.
    """

    group_penalty: float
    stability_reward: float = 0.0
    pruned_below: float = 0.05
    penalized_share: float = 0.7

    def __post_init__(self) -> None:
        check_number("group_penalty", self.group_penalty, least=0.0)
        check_number("stability_reward", self.stability_reward, least=0.0)
        check_number("pruned_below", self.pruned_below, least=0.0, below=1.0)
        check_number("penalized_share", self.penalized_share, above=0.0, below=1.0)


OFF = "off"
"""The level without a penalty."""

LEVELS: Mapping[str, StabilityPenalty | None] = MappingProxyType(
    {
        OFF: None,
        "light": StabilityPenalty(group_penalty=0.015),
        "strong": StabilityPenalty(group_penalty=0.025, penalized_share=0.6),
    }
)


def penalty_of(
    certifiable: object, levels: Mapping[str, StabilityPenalty | None] = LEVELS
) -> StabilityPenalty | None:
    """Return the penalty that an option `certifiable` means: a level's, its own, or none.

    Parameters
    ----------
    certifiable : str or StabilityPenalty
        A key of `levels`, or a penalty.
    levels : mapping of str to StabilityPenalty or None
        The levels of a family.
    """
    if isinstance(certifiable, StabilityPenalty):
        return certifiable
    return levels[check_choice("certifiable", certifiable, tuple(levels))]


M = TypeVar("M", bound=Trainable)


@dataclass(frozen=True, eq=False)
class Penalized(Trainable):
    """A model with the penalties of a `StabilityPenalty` added to its loss.

    Parameters
    ----------
    model : Trainable
        The model; its `chains` are penalized.
    penalty : StabilityPenalty
        How hard.
    """

    model: Trainable
    penalty: StabilityPenalty

    @property
    def parameters(self) -> list[torch.Tensor]:
        """Those of the model."""
        return self.model.parameters

    @property
    def chains(self) -> list[list[UnitLayer]]:
        """Those of the model."""
        return self.model.chains

    def loss(self) -> torch.Tensor:
        """Return the loss of the model with the penalties."""
        return self.model.loss() + self._penalty()

    def judged_loss(self) -> torch.Tensor:
        """Return the judged loss of the model with the penalties."""
        return self.model.judged_loss() + self._penalty()

    def _penalty(self) -> torch.Tensor:
        import torch

        penalty = torch.zeros(())
        for chain in self.chains:
            for layer in chain:
                penalty = penalty + self.penalty.group_penalty * layer.norms().sum()
            if self.penalty.stability_reward > 0.0:
                for low, high in interval_bounds(chain):
                    stable = torch.tanh(1.0 + low * high).sum()
                    penalty = penalty - self.penalty.stability_reward * stable
        return self.model.loss_size * penalty


def train_certifiable(
    make: Callable[[torch.Generator], M],
    schedule: Schedule,
    seed: int,
    family: str,
    penalty: StabilityPenalty,
) -> M:
    """Train as `train` does, in equally many epochs, the first of them under a penalty.

    Parameters
    ----------
    make, schedule, seed, family
        As for `train`.
    penalty : StabilityPenalty
        How hard training works for the certificate.
    """
    import torch

    penalized_epochs = max(1, round(penalty.penalized_share * schedule.epochs))
    first = replace(schedule, epochs=penalized_epochs)
    models: list[M] = []

    def make_penalized(generator: torch.Generator) -> Penalized:
        models.append(make(generator))
        return Penalized(models[-1], penalty)

    train(make_penalized, first, seed, family)
    model = models[-1]
    with torch.no_grad():
        for chain in model.chains:
            for layer in chain:
                layer.remove_small(penalty.pruned_below)
    if penalized_epochs < schedule.epochs:
        rest = replace(schedule, epochs=schedule.epochs - penalized_epochs)
        descend(model, rest, REFIT_STEP)
    return model


def residual_scale(belief: Belief, data: Observations) -> float:
    """Return how much larger errors at the data are than the std there, at least 1.

    Networks without penalty interpolate; penalized ones need not, and where they agree on a
    wrong value their spread understates the error. A family multiplies its uncertainty by

        max(1, sqrt(sum_i (mean(x_i) - y_i)^2 / sum_i std(x_i)^2)).
    """
    errors, spread = belief.mean(data.X) - data.y, belief.std(data.X)
    size = float(np.abs(errors).max(initial=0.0))
    if size == 0.0 or not spread.any():
        return 1.0
    ratio = float(np.linalg.norm(errors / size) / np.linalg.norm(spread / size))
    return max(1.0, ratio) if np.isfinite(ratio) else 1.0
