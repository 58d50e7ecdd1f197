"""The no-U-turn sampler behind our interface: moments, the ring, seeds, the missing extra."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.errors import MissingExtraError
from nnbo_mip.surrogates.sampling.nuts import sample_nuts
from tests.surrogates.sampling.test_hmc import COVARIANCE, gaussian, ring


def r_hat(chains: FloatArray) -> float:
    """Potential scale reduction of draws (N, C) of one quantity, chains halved."""
    halves = np.hstack(np.array_split(chains[: len(chains) // 2 * 2], 2))
    within = halves.var(axis=0, ddof=1).mean()
    between = halves.mean(axis=0).var(ddof=1)
    return float(np.sqrt(1.0 + between / within))


def test_moments_of_a_correlated_gaussian_without_tuning() -> None:
    pytest.importorskip("nutpie")
    start = np.random.default_rng(0).standard_normal((3, 10))
    draws = sample_nuts(gaussian, start, 150, 500, seed=1)
    assert draws.shape == (500, 3, 10)
    flat = draws.reshape(-1, 10)
    assert np.abs(flat.mean(axis=0)).max() < 0.1
    assert np.abs(np.cov(flat.T) - COVARIANCE).max() < 0.15
    assert max(r_hat(draws[:, :, column]) for column in range(10)) < 1.05


def test_the_ring_is_travelled_all_round() -> None:
    pytest.importorskip("nutpie")
    draws = sample_nuts(ring, np.array([[5.0, 0.1]]), 100, 900, seed=2)
    angles = np.histogram(np.arctan2(*draws[:, 0].T), 12, (-np.pi, np.pi))[0]
    assert (angles > 15).all()


def test_the_same_seed_draws_the_same_and_another_seed_does_not() -> None:
    pytest.importorskip("nutpie")
    start = np.ones((2, 10))
    first, again, other = (sample_nuts(gaussian, start, 20, 20, seed) for seed in (3, 3, 4))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)
    assert not np.array_equal(first[:, 0], first[:, 1])


def test_without_nutpie_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "nutpie", None)
    with pytest.raises(MissingExtraError, match=r"nnbo_mip\[mcmc\]"):
        sample_nuts(gaussian, np.ones((1, 10)), 5, 5, 0)
