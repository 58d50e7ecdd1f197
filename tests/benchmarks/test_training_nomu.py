"""NOMU's rows in the training benchmark, and the other ways to write its training."""

from __future__ import annotations

import numpy as np

from benchmarks.training.nomu import nomu_rows
from benchmarks.training.nomu_ways import by_hand, by_modules
from nnbo_mip.surrogates import Observations, Standardization
from nnbo_mip.surrogates.ensembles.training import train
from nnbo_mip.surrogates.nomu.nomu import Nomu


def test_every_way_minimizes_the_same_loss() -> None:
    X = np.random.default_rng(0).uniform(-1.0, 1.0, (20, 2))
    v = np.sin(3.0 * X[:, 0]) + X[:, 1]
    v = (v - v.mean()) / v.std()
    options = Nomu(hidden=(16, 16), epochs=300, pi_exp=0.5)
    data = Observations.of(X, v)
    units = Standardization.of(data, inputs=False, outputs=False)
    model = train(lambda g: options.untrained(data, units, g), options._schedule(), 0, "nomu")
    # All start near 20, the sum of the squares of v.
    losses = [model.loss().item(), by_modules(options, X, v), by_hand(options, X, v)]
    assert 0.0 < min(losses) <= max(losses) < 0.6


def test_rows_of_tiny_networks() -> None:
    rows = nomu_rows(Nomu(hidden=(4,), epochs=3), points=5, many_epochs=2, seeds=(0,))
    assert [row.met is None for row in rows] == [False, True, True, True, False, False]
    assert rows[0].target == "< 2 s"
    assert "2 epochs" in rows[-1].what
