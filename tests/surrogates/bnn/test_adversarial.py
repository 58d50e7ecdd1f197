"""Log ratios from a critic, and the loss that preserves the order of a code."""

from __future__ import annotations

import pytest
import torch

from nnbo_mip.surrogates.bnn.adversarial import Perceptron, critic_loss, order_loss


def test_the_critic_recovers_the_log_ratio_of_two_normal_distributions() -> None:
    generator = torch.Generator().manual_seed(0)
    critic = Perceptron((1, 32, 32, 1), generator)
    optimizer = torch.optim.Adam(critic.parameters, lr=3e-3)
    for _ in range(400):
        q = torch.randn((256, 1), generator=generator)
        p = 1.0 + torch.randn((256, 1), generator=generator)
        loss = critic_loss(critic(q), critic(p))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    grid = torch.linspace(-1.5, 2.5, 81)[:, None]
    with torch.no_grad():
        found = critic(grid)[:, 0]
    exact = 0.5 - grid[:, 0]  # log N(x; 0, 1) - log N(x; 1, 1), with its sign
    assert torch.corrcoef(torch.stack([found, exact]))[0, 1] > 0.95
    assert (found - exact).abs().mean() < 0.3


def test_the_loss_of_the_critic_is_least_at_the_log_ratio() -> None:
    generator = torch.Generator().manual_seed(1)
    q = torch.randn(20000, generator=generator)
    p = 1.0 + torch.randn(20000, generator=generator)
    losses = [
        critic_loss(factor * (0.5 - q) + shift, factor * (0.5 - p) + shift).item()
        for factor, shift in ((1.0, 0.0), (0.7, 0.0), (1.3, 0.0), (1.0, 0.3), (-1.0, 0.0))
    ]
    assert losses[0] == min(losses)


def test_the_order_loss_by_hand() -> None:
    costs = torch.tensor([1.0, 5.0, 3.0, 2.0])
    codes = torch.tensor([0.0, -1.0, -2.0, -3.0])
    # Pairs (0, 2) and (1, 3); the first of each has the likelier code.
    expected = torch.tensor([-2.0, 3.0]).exp().log1p().mean()
    assert order_loss(costs, codes).item() == pytest.approx(expected.item(), rel=1e-6)
    assert order_loss(costs, -codes).item() == pytest.approx(
        torch.tensor([2.0, -3.0]).exp().log1p().mean().item(), rel=1e-6
    )


def test_costs_in_the_order_of_the_codes_cost_less() -> None:
    codes = -torch.linspace(0.0, 3.0, 64)[torch.randperm(64, generator=torch.Generator())]
    assert order_loss(-5.0 * codes, codes) < order_loss(5.0 * codes, codes)


def test_first_weights_come_from_the_generator_alone() -> None:
    state = torch.get_rng_state()
    first, again = (Perceptron((3, 4, 2), torch.Generator().manual_seed(5)) for _ in range(2))
    assert torch.equal(torch.get_rng_state(), state)
    value = torch.ones((6, 3))
    assert torch.equal(first(value), again(value))
    assert first(value).shape == (6, 2)
