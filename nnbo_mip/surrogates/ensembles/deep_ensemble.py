r"""Deep ensembles: M networks of one shape, trained from different first weights.

With observations (u_i, v_i) in standardized units, i = 1 … n, member m has the loss

    noise-free   L_m = (1/n) sum_i (f_m(u_i) - v_i)^2
    noisy        L_m = (1/n) sum_i [ log(s_mi) / 2 + (v_i - f_m(u_i))^2 / (2 s_mi) ],
                 s_mi = softplus(g_m(u_i)) + noise_floor^2,

where g_m is a second output, plus the penalties

    weights      (weight_penalty / n) sum_w w^2
    anchors      (anchor_strength / n) sum_w (w - a)^2 / Var(a),

a the weight's own draw from the distribution of first weights, at which it starts. Under the
noise-free loss the strength is the noise variance of randomized maximum-a-posteriori
sampling; under the noisy loss 1/2 makes L_m the negative log posterior, divided by n. Members
do not interact, so one batched product a layer trains all of them with the loss sum_m L_m.

References
----------
Lakshminarayanan et al. (2017), deep ensembles [Lakshminarayanan2017].
Pearce et al. (2020), anchored ensembles [Pearce2020].
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy.typing as npt

from nnbo_mip.core.checks import check_flag, check_number, check_size
from nnbo_mip.core.errors import InputError
from nnbo_mip.surrogates.base.abstract import Capability
from nnbo_mip.surrogates.base.observations import Observations, Standardization
from nnbo_mip.surrogates.ensembles.anchors import Anchors
from nnbo_mip.surrogates.ensembles.certifiable import StabilityPenalty, penalty_of, residual_scale
from nnbo_mip.surrogates.ensembles.members import MemberBelief, member_capabilities
from nnbo_mip.surrogates.ensembles.torch_stack import TorchStack
from nnbo_mip.surrogates.ensembles.trained_stack import StackTraining, TrainedStack, as_tensors

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True, eq=False)
class EnsembleTraining(StackTraining):
    """The members and their loss.

    Parameters
    ----------
    stack, u, v
        As in `StackTraining`; noisy members have a second output.
    noise_floor : float
        Standard deviation whose square is added to a predicted variance.
    anchors : Anchors, optional
        What the weights are pulled to.
    anchor_strength : float
        Factor of that pull.
    """

    noise_floor: float = 0.0
    anchors: Anchors | None = None
    anchor_strength: float = 0.0

    def loss(self) -> torch.Tensor:
        """Return the sum of the members' losses, anchors included."""
        import torch

        outputs = self.stack.outputs(self.u)
        errors = (outputs[:, :, 0] - self.v).square()
        if outputs.shape[2] == 2:
            raw = outputs[:, :, 1]
            variances = torch.logaddexp(torch.zeros_like(raw), raw) + self.noise_floor**2
            errors = 0.5 * (variances.log() + errors / variances)
        loss = errors.mean(dim=1).sum()
        if self.anchors is not None:
            loss = loss + self.anchor_strength / len(self.u) * self.anchors.distance(self.stack)
        return loss


@dataclass(frozen=True)
class DeepEnsemble(TrainedStack[EnsembleTraining]):
    """Networks that differ by their first weights and disagree where there are no data.

    Parameters
    ----------
    hidden : tuple of int
        Widths of the hidden layers of a member.
    n_members : int
        M.
    noisy : bool
        Whether members predict a noise variance too, with the noisy loss.
    anchored : bool
        Whether weights are pulled to their first values.
    anchor_strength : float
        Factor of that pull, where `anchored`: the noise variance, relative to that of y.
    noise_floor : float
        Least standard deviation of the noise, relative to that of y, where `noisy`; keeps the loss
        bounded on data without noise. 0 trusts the softplus alone.
    spread : str
        What `std` is: ``std``, ``variance`` or ``mad`` of the members.
    include_noise : bool
        Whether `std` is that of an observation; needs `noisy`.
    epochs, learning_rate, decay, restore_best
        As in `Schedule`; the best epoch is that of the lowest sum over members.
    weight_penalty : float
        lambda in ``sum of squared errors + lambda sum w^2``, that is lambda / n beside a mean.
    initialization : str
        As in `TorchStack`.
    certifiable : str or StabilityPenalty
        ``off``, ``light`` or ``strong``: train for few unstable ReLUs; see `StabilityPenalty`.
    y_range : (low, high), optional
        Known range of y that is mapped to [-1, 1] instead of standardizing y.
    seed : int
        Source of the first weights.
    """

    name: ClassVar[str] = "deep_ensemble"
    belief_type: ClassVar[type[MemberBelief]] = MemberBelief

    hidden: tuple[int, ...] = (16, 16)
    n_members: int = 5
    noisy: bool = False
    anchored: bool = False
    anchor_strength: float = 1e-3
    noise_floor: float = 1e-3
    spread: str = "std"
    include_noise: bool = False
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
        super().__post_init__()
        check_size("n_members", self.n_members)
        for flag in ("noisy", "anchored", "include_noise"):
            check_flag(flag, getattr(self, flag))
        if self.include_noise and not self.noisy:
            raise InputError(
                "include_noise must go with noisy=True; got noisy=False, which knows no noise; "
                "set noisy=True or leave include_noise out."
            )
        check_number("anchor_strength", self.anchor_strength, above=0.0)
        check_number("noise_floor", self.noise_floor, least=0.0)

    @property
    def capabilities(self) -> frozenset[Capability]:
        """What the belief will offer."""
        return member_capabilities("relu", self.noisy)

    def count_parameters(self, n_inputs: int) -> int:
        """Return how many weights and biases all members have."""
        pairs = itertools.pairwise(self._widths(n_inputs))
        return self.n_members * sum((n_in + 1) * n_out for n_in, n_out in pairs)

    def fit(self, X: npt.ArrayLike, y: npt.ArrayLike) -> MemberBelief:
        """Train from scratch; see `Surrogate.fit`."""
        data, units, model = self._trained(X, y)
        noise = self.noise_floor * units.y_scale if self.noisy else 0.0
        stack = model.stack.frozen().without_dead_units()
        belief = MemberBelief(
            self.name, stack, units, self.spread, noise=noise, include_noise=self.include_noise
        )
        if self.noisy or penalty_of(self.certifiable) is None:
            return belief  # noisy members have learned what they do not fit as noise
        return belief.scaled(residual_scale(belief, data))

    def untrained(
        self, data: Observations, units: Standardization, generator: torch.Generator
    ) -> EnsembleTraining:
        """Return the members at their first weights, and their loss on these data."""
        widths = self._widths(data.n_inputs)
        stack = TorchStack(widths, self.n_members, generator, self.initialization)
        return EnsembleTraining(
            stack,
            *as_tensors(data, units),
            self.noise_floor,
            Anchors.of(stack) if self.anchored else None,
            self.anchor_strength,
        )

    def _widths(self, n_inputs: int) -> tuple[int, ...]:
        return (n_inputs, *self.hidden, 2 if self.noisy else 1)
