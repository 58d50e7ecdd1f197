from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.errors import InputError
from nnbo_mip.surrogates import Belief, Surrogate, create
from nnbo_mip.surrogates.ensembles.certifiable import LEVELS, StabilityPenalty, penalty_of
from nnbo_mip.surrogates.ensembles.stack import Stack
from nnbo_mip.surrogates.ensembles.torch_stack import TorchStack
from nnbo_mip.surrogates.ensembles.unit_layer import interval_bounds

FAMILIES = (
    create("deep_ensemble", n_members=3),
    create("deep_ensemble", n_members=3, noisy=True),
    create("mc_dropout", passes=4),
    create("nomu"),
)


def bumpy(n: int, d: int = 3) -> tuple[FloatArray, FloatArray]:
    X = np.random.default_rng(0).uniform(-1.0, 1.0, (n, d))
    return X, np.sin(3.0 * X[:, 0]) + X[:, 1] * X[:, 2]


def unstable(belief: Belief) -> int:
    """Count the ReLUs that take both signs at random points of the box."""
    network = belief.network().objective("mean")
    probes = np.random.default_rng(1).uniform(-1.0, 1.0, (2000, network.n_inputs))
    return sum(
        int(((z > 0.0).any(axis=0) & (z < 0.0).any(axis=0)).sum())
        for z in network.preactivations(probes)
    )


@pytest.mark.parametrize("surrogate", FAMILIES, ids=lambda s: f"{s.name}{getattr(s, 'noisy', '')}")
def test_pressure_leaves_fewer_unstable_units_and_a_fit(surrogate: Surrogate) -> None:
    X, y = bumpy(80)
    counts = []
    for level in LEVELS:
        belief = replace(surrogate, certifiable=level).fit(X, y)
        counts.append(unstable(belief))
        assert np.sqrt(np.mean((belief.mean(X) - y) ** 2)) < 0.5 * y.std()
    assert counts[2] < counts[1] < counts[0]
    assert counts[2] < 0.9 * counts[0]


def test_dead_units_are_removed() -> None:
    X, y = bumpy(60)
    belief = create("deep_ensemble", certifiable="strong").fit(X, y)
    layers = [w.shape[1] for w in belief.stack.weights[:-1]]
    assert max(layers) < 16
    for weights in belief.stack.weights[1:]:
        assert (weights != 0.0).any(axis=1).any(axis=0).all()  # some member reads every unit


@pytest.mark.parametrize("shared", [False, True])
def test_removing_dead_units_changes_no_function(shared: bool) -> None:
    rng = np.random.default_rng(5)
    count = 1 if shared else 3
    weights = [rng.normal(size=s) for s in ((count, 6, 2), (count, 5, 6), (count, 2, 5))]
    biases = [rng.normal(size=s) for s in ((count, 6), (count, 5), (count, 2))]
    weights[1][:, :, 0] = 0.0  # dead in every member
    weights[1][0, :, 3] = 0.0  # dead in one
    weights[2][-1, :, 1:4] = 0.0
    masks = (rng.integers(0, 2, (3, 6)) * 2.0, rng.integers(0, 2, (3, 5)) * 2.0)
    for masked in (None, masks):
        stack = Stack(tuple(weights), tuple(biases), masks=masked)
        smaller = stack.without_dead_units()
        u = rng.uniform(-1.0, 1.0, (50, 2))
        np.testing.assert_allclose(smaller.evaluate(u), stack.evaluate(u), rtol=1e-12, atol=1e-12)
        assert smaller.weights[0].shape[1] == (4 if shared else 5)


def test_a_stack_keeps_a_unit_when_all_are_dead() -> None:
    stack = Stack((np.ones((2, 4, 1)), np.zeros((2, 1, 4))), (np.ones((2, 4)), np.ones((2, 1))))
    smaller = stack.without_dead_units()
    assert smaller.weights[0].shape == (2, 1, 1)
    assert np.array_equal(smaller.evaluate(np.ones((3, 1))), np.ones((2, 3, 1)))


def test_a_unit_without_weights_stays_dead_under_training() -> None:
    stack = TorchStack((2, 8, 8, 1), 2, torch.Generator().manual_seed(0))
    with torch.no_grad():
        for layer in stack.chain():
            layer.remove_small(0.9)
    dead = [bool((w == 0.0).all(dim=1).any()) for w in stack.weights[:-1]]
    assert all(dead)
    before = [(w == 0.0).all(dim=1) for w in stack.weights[:-1]]
    optimizer = torch.optim.Adam(stack.parameters, lr=0.05, weight_decay=0.1)
    inputs = torch.rand((10, 2))
    for _ in range(20):
        optimizer.zero_grad()
        (stack.outputs(inputs) - 1.0).square().mean().backward()
        optimizer.step()
    after = [(w == 0.0).all(dim=1) for w in stack.weights[:-1]]
    assert all(torch.equal(a, b) for a, b in zip(after, before, strict=True))


def test_interval_bounds_hold_what_is_sampled() -> None:
    stack = TorchStack((3, 6, 5, 1), 2, torch.Generator().manual_seed(1))
    points = 2.0 * torch.rand((500, 3), generator=torch.Generator().manual_seed(2)) - 1.0
    value = points.expand(2, -1, -1)
    for layer, (low, high) in zip(stack.chain(), interval_bounds(stack.chain()), strict=True):
        z = torch.baddbmm(layer.biases, value, layer.weights)
        assert bool((z >= low - 1e-5).all())
        assert bool((z <= high + 1e-5).all())
        value = z.relu()


def test_the_stability_reward_stabilizes() -> None:
    X, y = bumpy(80)
    make = create("deep_ensemble", n_members=3)
    plain, rewarded = (
        replace(make, certifiable=StabilityPenalty(0.005, stability_reward=reward)).fit(X, y)
        for reward in (0.0, 0.05)
    )
    assert unstable(rewarded) < unstable(plain)


def test_a_pressure_is_a_level_or_an_object() -> None:
    own = StabilityPenalty(0.1)
    assert penalty_of(own) is own
    assert penalty_of("off") is None
    for wrong in ("hard", None, 3):
        with pytest.raises(InputError, match="off, light, strong"):
            penalty_of(wrong)
    with pytest.raises(InputError, match="group_penalty"):
        StabilityPenalty(-1.0)
    with pytest.raises(InputError, match="pruned_below"):
        StabilityPenalty(1.0, pruned_below=1.0)


def test_uncertainty_is_widened_to_the_errors_at_the_data() -> None:
    X, y = bumpy(80)
    narrow = StabilityPenalty(0.3)  # so hard that nothing but a constant is left
    for surrogate in (FAMILIES[0], FAMILIES[2]):
        belief = replace(surrogate, certifiable=narrow).fit(X, y)
        errors = np.linalg.norm(belief.mean(X) - y)
        assert errors > 0.5 * np.linalg.norm(y - y.mean())
        assert belief.scale > 1.0
        np.testing.assert_allclose(np.linalg.norm(belief.std(X)), errors, rtol=1e-9)


def test_noisy_members_are_not_widened() -> None:
    X, y = bumpy(60)
    assert replace(FAMILIES[1], certifiable="strong").fit(X, y).scale == 1.0
