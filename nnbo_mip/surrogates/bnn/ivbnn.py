r"""Implicit variational Bayesian networks: a hypernetwork that learns to sample the posterior.

The networks have one hidden layer whose width grows with the data. Their weights come from a
`Hypernetwork`, a distribution q without a formula. With the prior, for every weight,

    p(w) = 0.2 N(0, 1) + 0.8 N(0, 25),

a critic C that estimates log q / p, and the noise s, the cost of a sample is

    u(theta) = C(theta) + S(theta) / (2 s^2),   S(theta) = sum_i (f(u_i) - v_i)^2,

log q(theta) / p(theta | data) up to a constant. The hypernetwork minimizes E_q[u] + kappa L_o,
the critic L_c (`adversarial`), in turns; s falls from `noise_start` to `noise_end` meanwhile.

References
----------
Aryan (2020), implicit variational Bayesian networks [Aryan2020].
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import numpy.typing as npt

from nnbo_mip.core.checks import check_choice, check_count, check_flag, check_number
from nnbo_mip.core.errors import InputError, TrainingError
from nnbo_mip.surrogates.base.abstract import Belief, Capability, Surrogate
from nnbo_mip.surrogates.base.observations import Observations, check_y_range
from nnbo_mip.surrogates.base.presets import preset
from nnbo_mip.surrogates.bnn.adversarial import Perceptron, critic_loss, order_loss
from nnbo_mip.surrogates.bnn.data import NetworkData
from nnbo_mip.surrogates.bnn.hypernetwork import Hypernetwork
from nnbo_mip.surrogates.ensembles.members import SPREADS, MemberBelief, member_capabilities
from nnbo_mip.surrogates.ensembles.stack import ACTIVATIONS

if TYPE_CHECKING:
    import torch

NARROW, WIDE = 1.0, 5.0
"""Standard deviations of the two parts of the prior."""

NARROW_PART = 0.2
"""Part of the weights whose prior is the narrow one."""


@dataclass(frozen=True)
class Ivbnn(Surrogate):
    """Options of implicit variational Bayesian networks.

    Experimental: a method of research, which may change or go.

    Parameters
    ----------
    width_per_point : int
        Hidden units for each observation.
    largest_width : int
        The most hidden units.
    activation : str
        ``tanh`` or ``relu``; only relu compiles to a network.
    code_size : int
        Entries of the latent code.
    kappa : float
        Weight of the loss that preserves the order; 0 leaves it out.
    critic_width : int
        Of the critic's three hidden layers; 0 stands for the number of weights of a network.
    batch : int
        Networks of a step, an even number.
    steps : int
        Steps of the hypernetwork.
    critic_steps : int
        Steps of the critic before each of those.
    learning_rate : float
        Adam's, of both.
    noise_start, noise_end : float
        Standard deviation of the noise, in standard deviations of y, at the first step and from
        four fifths of the steps on; it falls exponentially between.
    n_members : int
        Networks that are sampled in the end.
    spread : str
        ``std``, ``variance`` or ``mad`` of the members.
    include_noise : bool
        Whether `std` is that of an observation instead of the function's.
    y_range : (low, high), optional
        Known range of y, mapped to [-1, 1] instead of standardizing.
    seed : int
        Of all weights and samples.
    """

    name: ClassVar[str] = "ivbnn"
    belief_type: ClassVar[type[Belief]] = MemberBelief

    width_per_point: int = 2
    largest_width: int = 50
    activation: str = "tanh"
    code_size: int = 5
    kappa: float = 2.0
    critic_width: int = 64
    batch: int = 100
    steps: int = 600
    critic_steps: int = 1
    learning_rate: float = 3e-3
    noise_start: float = 1.0
    noise_end: float = 0.05
    n_members: int = 30
    spread: str = "std"
    include_noise: bool = False
    y_range: tuple[float, float] | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse options that are none."""
        counts = ("width_per_point", "largest_width", "code_size", "batch", "steps")
        for name in (*counts, "critic_steps", "n_members"):
            check_count(name, getattr(self, name))
        if self.batch % 2:
            raise InputError(
                f"batch must be an even number, as samples are compared in pairs; got "
                f"{self.batch!r}; choose {self.batch + 1}."
            )
        check_count("critic_width", self.critic_width, least=0)
        check_choice("activation", self.activation, ACTIVATIONS)
        check_number("kappa", self.kappa, least=0.0)
        for name in ("learning_rate", "noise_start", "noise_end"):
            check_number(name, getattr(self, name), above=0.0)
        check_choice("spread", self.spread, SPREADS)
        check_flag("include_noise", self.include_noise)
        check_y_range(self.y_range)
        check_count("seed", self.seed, least=0)

    @property
    def capabilities(self) -> frozenset[Capability]:
        """What the belief will offer."""
        return member_capabilities(self.activation, noisy=True)

    def fit(self, X: npt.ArrayLike, y: npt.ArrayLike) -> MemberBelief:
        """Train hypernetwork and critic from scratch, and sample the members."""
        import torch

        n = len(Observations.of(X, y).y)
        hidden = (min(self.width_per_point * n, self.largest_width),)
        data = NetworkData.of(X, y, hidden, self.activation, True, self.y_range)
        training = ImplicitTraining(self, data, torch.Generator().manual_seed(self.seed))
        for step in range(self.steps):
            training.advance(self.noise_at(step))
        with torch.no_grad():
            theta, _ = training.hypernetwork.sample(self.n_members)
        members = np.asarray(theta.numpy(), dtype=np.float64)
        if not np.isfinite(members).all():
            raise TrainingError(
                f"the weights that {self.name} samples must be finite; they are not with "
                f"learning_rate={self.learning_rate:g}; choose a smaller one."
            )
        noise = np.full((len(members), 1), self.noise_end)
        draws = members[:, None, :]
        count = self.n_members
        return data.belief(self.name, draws, noise, count, self.spread, self.include_noise)

    def noise_at(self, step: int) -> float:
        """Return the standard deviation of the noise in a step, counted from 0."""
        fallen = min(step / max(0.8 * self.steps, 1.0), 1.0)
        return float(self.noise_start ** (1.0 - fallen) * self.noise_end**fallen)


class ImplicitTraining:
    """Hypernetwork and critic on given data.

    Parameters
    ----------
    options : Ivbnn
        Sizes and factors.
    data : NetworkData
        Observations and networks.
    generator : torch.Generator
        Source of every random number.
    """

    def __init__(self, options: Ivbnn, data: NetworkData, generator: torch.Generator) -> None:
        import torch

        layout, width = data.layout, options.critic_width or data.layout.size
        self._options = options
        self._layout = layout
        self._generator = generator
        self._u = torch.from_numpy(data.misfit.u.astype(np.float32))
        self._v = torch.from_numpy(data.misfit.v.astype(np.float32))
        self.hypernetwork = Hypernetwork(layout, layout.hidden[0], options.code_size, generator)
        self.critic = Perceptron((layout.size, width, width, width, 1), generator)
        self._optimizers = [
            torch.optim.Adam(part.parameters, lr=options.learning_rate, fused=True)
            for part in (self.hypernetwork, self.critic)
        ]

    def advance(self, noise: float) -> None:
        """Make the steps of the critic, then one of the hypernetwork."""
        import torch

        options, (own, critics) = self._options, self._optimizers
        for _ in range(options.critic_steps):
            with torch.no_grad():
                theta, _ = self.hypernetwork.sample(options.batch)
            loss = critic_loss(self.ratio(theta), self.ratio(self.prior_sample(options.batch)))
            critics.zero_grad(set_to_none=True)
            loss.backward()
            critics.step()
        theta, log_codes = self.hypernetwork.sample(options.batch)
        costs = self.ratio(theta) + self.misfits(theta) / (2.0 * noise**2)
        loss = costs.mean() + options.kappa * order_loss(costs, log_codes)
        own.zero_grad(set_to_none=True)
        loss.backward()
        own.step()

    def ratio(self, theta: torch.Tensor) -> torch.Tensor:
        """Return the critic's log q / p (M,) at weights (M, P)."""
        return self.critic(theta / WIDE)[:, 0]

    def prior_sample(self, count: int) -> torch.Tensor:
        """Return weights (M, P) of the prior."""
        import torch

        shape = (count, self._layout.size)
        narrow = torch.rand(shape, generator=self._generator) < NARROW_PART
        unit = torch.randn(shape, generator=self._generator)
        return unit * torch.where(narrow, NARROW, WIDE)

    def misfits(self, theta: torch.Tensor) -> torch.Tensor:
        """Return sums of squared errors (M,) of networks with weights (M, P)."""
        import torch

        (d, h), _ = self._layout.shapes
        inner, bias, outer, offset = (theta[:, group] for group in self._layout.groups)
        value = torch.matmul(self._u, inner.reshape(-1, d, h)) + bias[:, None, :]
        value = torch.tanh(value) if self._options.activation == "tanh" else value.relu()
        outputs = torch.bmm(value, outer[:, :, None])[:, :, 0] + offset
        return (outputs - self._v).square().sum(dim=1)


source = preset(
    Ivbnn,
    "`ivbnn` without limit of width, a critic as wide as there are weights, and slow training.",
    largest_width=10**6,
    critic_width=0,
    steps=5000,
    critic_steps=40,
    learning_rate=3e-5,
    noise_end=0.002,
)
