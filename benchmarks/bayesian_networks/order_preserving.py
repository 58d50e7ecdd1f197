"""Implicit models of three distributions in the plane, with and without an order of the code.

A generator of a code z ~ N(0, 1) and an angle uniform on a circle learns a mixture of Gaussians
with an adversarial log ratio. With `order_loss` the cost of a sample is minus the target's log
density, so that likely codes should go to dense places: Kendall's tau between the two densities
measures it. A component counts as covered with 1 % of the samples within 3 deviations.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import torch
from scipy.stats import kendalltau

from nnbo_mip.surrogates.bnn.adversarial import Perceptron, critic_loss, order_loss

STEPS, CRITIC_STEPS, BATCH, WIDTH, RATE = 1500, 3, 128, 64, 1e-3


@dataclass(frozen=True)
class Mixture:
    """Equally likely Gaussians in the plane.

    Parameters
    ----------
    centers : (K, 2) tensor
    deviations : (K,) tensor
    """

    centers: torch.Tensor
    deviations: torch.Tensor

    def sample(self, count: int, generator: torch.Generator) -> torch.Tensor:
        """Return samples (count, 2)."""
        which = torch.randint(len(self.centers), (count,), generator=generator)
        unit = torch.randn((count, 2), generator=generator)
        return self.centers[which] + self.deviations[which, None] * unit

    def log_density(self, x: torch.Tensor) -> torch.Tensor:
        """Return the log density (n,) up to a constant."""
        squares = (x[:, None] - self.centers).square().sum(dim=2)
        parts = -0.5 * squares / self.deviations.square() - 2.0 * self.deviations.log()
        return torch.logsumexp(parts, dim=1)

    def covered(self, x: torch.Tensor) -> int:
        """Return how many components have their share of the samples (n, 2)."""
        distances = (x[:, None] - self.centers).norm(dim=2)
        nearest = distances.argmin(dim=1, keepdim=True)
        near = distances.gather(1, nearest)[:, 0] < 3.0 * self.deviations[nearest[:, 0]]
        counts = torch.bincount(nearest[near, 0], minlength=len(self.centers))
        return int((counts >= 0.01 * len(x)).sum())


def _mixtures() -> Mapping[str, Mixture]:
    side = torch.tensor([-2.0, 0.0, 2.0])
    angles = 2.0 * torch.pi * torch.arange(8) / 8.0
    circle = 2.0 * torch.stack([angles.cos(), angles.sin()], dim=1)
    corners = torch.tensor([[-2.0, -2.0], [2.0, 2.0], [-2.0, 2.0], [2.0, -2.0]])
    return MappingProxyType(
        {
            "grid": Mixture(torch.cartesian_prod(side, side), torch.full((9,), 0.3)),
            "widths": Mixture(corners, torch.tensor([0.2, 0.4, 0.6, 0.8])),
            "circle": Mixture(circle, torch.full((8,), 0.25)),
        }
    )


TARGETS = _mixtures()


def learn_target(name: str, kappa: float, seed: int) -> str:
    """Train one model; return tau, the covered components and the mean log density."""
    target = TARGETS[name]
    generator = torch.Generator().manual_seed(seed)
    model = Perceptron((3, WIDTH, WIDTH, 2), generator)
    critic = Perceptron((2, WIDTH, WIDTH, 1), generator)
    own = torch.optim.Adam(model.parameters, lr=RATE, betas=(0.5, 0.9))
    critics = torch.optim.Adam(critic.parameters, lr=RATE, betas=(0.5, 0.9))

    def sample(count: int) -> tuple[torch.Tensor, torch.Tensor]:
        code = torch.randn((count, 1), generator=generator)
        angle = 2.0 * torch.pi * torch.rand((count, 1), generator=generator)
        inputs = torch.cat([code, angle.cos(), angle.sin()], dim=1)
        return model(inputs), -0.5 * code[:, 0].square()

    for _ in range(STEPS):
        for _ in range(CRITIC_STEPS):
            with torch.no_grad():
                drawn, _ = sample(BATCH)
            loss = critic_loss(critic(drawn)[:, 0], critic(target.sample(BATCH, generator))[:, 0])
            critics.zero_grad()
            loss.backward()
            critics.step()
        drawn, log_codes = sample(BATCH)
        loss = critic(drawn).mean()
        if kappa > 0.0:
            loss = loss + kappa * order_loss(-target.log_density(drawn), log_codes)
        own.zero_grad()
        loss.backward()
        own.step()
    with torch.no_grad():
        drawn, log_codes = sample(4000)
        density = target.log_density(drawn)
    tau = kendalltau(np.asarray(log_codes), np.asarray(density)).statistic
    return (
        f"tau {tau:.2f}, covered {target.covered(drawn)} of {len(target.centers)}, "
        f"mean log density {density.mean():.2f}"
    )
