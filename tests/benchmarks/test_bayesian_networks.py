"""The parts of the figures about Bayesian networks that need no training."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from benchmarks.bayesian_networks.__main__ import forrester, regression, truth
from benchmarks.bayesian_networks.order_preserving import TARGETS


def test_a_constant_misses_the_smooth_test_by_thirty_percent() -> None:
    errors = [regression("mean", 316, seed)[0] for seed in range(3)]
    assert np.mean(errors) == pytest.approx(0.30, abs=0.02)


def test_the_toy_has_its_known_minimum() -> None:
    assert truth(np.array([[-0.19050]]))[0] == pytest.approx(-1.96729, abs=1e-5)


def test_regrets_never_grow() -> None:
    regrets = forrester(0, 2, "elm:n_members=5")
    assert len(regrets) == 4
    assert (np.diff(regrets) <= 0.0).all()
    assert regrets[-1] >= 0.0


@pytest.mark.parametrize("name", TARGETS)
def test_samples_of_a_target_cover_it(name: str) -> None:
    target = TARGETS[name]
    drawn = target.sample(4000, torch.Generator().manual_seed(0))
    assert target.covered(drawn) == len(target.centers)
    assert target.covered(target.centers[:1].repeat(100, 1)) == 1
    ahead = target.log_density(target.centers[:1] + 0.1) - target.log_density(target.centers[:1])
    assert ahead.item() == pytest.approx(-0.01 / target.deviations[0].item() ** 2, rel=0.05)
