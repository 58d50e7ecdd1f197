from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nnbo_mip.core.errors import InputError
from nnbo_mip.space import Domain, Grid
from tests.space.strategies import domains

N = 3000


def sampled(domain: Domain, n: int = N, seed: int = 7) -> np.ndarray:
    X = domain.sample(n, np.random.default_rng(seed))
    assert X.shape == (n, domain.dimension)
    assert domain.admissible(X).all()
    return X


def assert_moments(X: np.ndarray, mean: object, std: object) -> None:
    """Compare with five standard errors' room."""
    std = np.broadcast_to(np.asarray(std, dtype=float), X.shape[1:])
    room = 5.0 * std / np.sqrt(len(X))
    assert (np.abs(X.mean(axis=0) - mean) <= room).all(), X.mean(axis=0)
    np.testing.assert_allclose(X.std(axis=0), std, rtol=0.08)


@settings(max_examples=60)
@given(domains(max_rows=2), st.integers(0, 2**32))
def test_every_sample_is_admissible(drawn: tuple[Domain, np.ndarray], seed: int) -> None:
    domain, x = drawn
    if domain.admissible(x)[0]:
        sampled(domain, 6, seed)


def test_a_box_is_sampled_uniformly() -> None:
    X = sampled(Domain([99, -3, 2.5], [101, -1, 2.5]))
    assert_moments(X[:, :2], [100, -2], 2 / np.sqrt(12))
    assert (X[:, 2] == 2.5).all()


def test_grids_and_groups_are_sampled_by_counting() -> None:
    domain = Domain(
        [3, 0, 0, 0], [11, 1, 1, 0], [Grid.listed([1, 3, 4, 11]), None, None, None], [(1, 2, 3)]
    )
    X = sampled(domain)
    values, counts = np.unique(X[:, 0], return_counts=True)
    assert values.tolist() == [3, 4, 11]
    assert (np.abs(counts / N - 1 / 3) < 0.05).all()
    assert (np.abs(X[:, 1:].mean(axis=0) - [0.5, 0.5, 0]) < 0.05).all()


def test_a_triangle_is_sampled_by_rejection() -> None:
    X = sampled(Domain([99, -3], [101, -1], A=[[1, 1]], b=[98]))
    assert_moments(X, [99 + 2 / 3, -3 + 2 / 3], np.sqrt(1 / 18) * 2)


def test_a_simplex_with_no_volume_to_reject_into() -> None:
    d = 14  # acceptance 1 / 14! = 1e-11
    X = sampled(Domain(np.full(d, 2.0), np.full(d, 3.0), A=[np.ones(d)], b=[2 * d + 1]), 1000)
    assert_moments(X, 2 + 1 / (d + 1), np.sqrt(d / ((d + 1) ** 2 * (d + 2))))


def test_an_equality_is_sampled_within_its_plane() -> None:
    d = 5
    ones = np.ones(d)
    X = sampled(Domain(2 * ones, 3 * ones, A=[ones, -ones], b=[11, -11]))
    np.testing.assert_allclose(X.sum(axis=1), 11, atol=1e-8)
    assert_moments(X, 2.2, np.sqrt((d - 1) / (d**2 * (d + 1))))


def test_a_thin_strip_is_walked_along() -> None:
    X = sampled(Domain([99, -3], [101, -1], A=[[1, 1], [-1, -1]], b=[98.00001, -98]))
    assert_moments(X, [100, -2], 2 / np.sqrt(12))


def test_inequalities_that_amount_to_equalities() -> None:
    # x <= y <= z <= x on sides of unequal length
    domain = Domain([1, -2, 0.5], [4, 3, 9], A=[[1, -1, 0], [0, 1, -1], [-1, 0, 1]], b=[0, 0, 0])
    X = sampled(domain)
    assert_moments(X, 2, 2 / np.sqrt(12))
    np.testing.assert_allclose(X[:, 0], X[:, 2], atol=1e-8)


def test_integers_and_levels_tied_to_a_real_by_an_equality() -> None:
    # 2 n + cat . (1, 3, 0) + y = 3 with y in [-7, -1]: ten choices of (n, cat), each one y
    domain = Domain(
        [0, 0, 0, 0, -7],
        [9, 1, 1, 1, -1],
        [Grid.uniform(0, 1, 10), None, None, None, None],
        [(1, 2, 3)],
        [[2, 1, 3, 0, 1], [-2, -1, -3, 0, -1]],
        [3, -3],
    )
    X = sampled(domain)
    choices, counts = np.unique(X[:, :4], axis=0, return_counts=True)
    assert len(choices) == 10
    assert (np.abs(counts / N - 0.1) < 0.03).all()


def test_huge_integers_under_an_equality() -> None:
    grid = Grid.uniform(3, 2, 10**9)
    domain = Domain(
        [3, 3], [2e9 + 1, 2e9 + 1], [grid, grid], A=[[1, 1], [-1, -1]], b=[10**6, -(10**6)]
    )
    X = sampled(domain, 800)
    assert (X.sum(axis=1) == 10**6).all()
    assert_moments(X, 5e5, (10**6 - 6) / np.sqrt(12))


def test_thirty_binaries_under_a_budget() -> None:
    d = 30
    A = [np.arange(1, d + 1)]
    grids = [Grid.uniform(0, 1, 2)] * d
    X = sampled(Domain(np.zeros(d), np.ones(d), grids, A=A, b=[20]), 200)
    # by counting: sets of distinct parts 1..20 with sum <= 20, of which those with 1
    counts = np.zeros((2, 21), dtype=int)
    counts[0, 0] = 1
    for part in range(2, 21):
        counts[0, part:] += counts[0, : 21 - part].copy()
    counts[1, 1:] = counts[0, :20]
    share = counts[1].sum() / counts.sum()
    assert abs(X[:, 0].mean() - share) < 5 * np.sqrt(share * (1 - share) / 200)
    assert not X[:, 20:].any()


@pytest.mark.parametrize(
    "domain",
    [
        Domain([99, -3], [101, -1], A=[[1, 1]], b=[95]),
        Domain([1, 1], [7, 7], [Grid.uniform(1, 2, 4)] * 2, A=[[1, 1], [-1, -1]], b=[5, -5]),
        Domain([0.25, 0.25], [1, 1], A=[[1, 1], [-1, 1], [0, -1]], b=[0.9, -0.6, -0.2]),
        Domain([99], [101], A=[[0.0]], b=[-1.0]),
        Domain([0, 0], [0, 0], one_hot=[(0, 1)]),
        Domain([0, 0, 3], [1, 1, 4], one_hot=[(0, 1)], A=[[1, 1, 0]], b=[0.5]),
    ],
)
def test_an_empty_set_says_so(domain: Domain) -> None:
    with pytest.raises(InputError, match="satisfies the constraints within the bounds"):
        sampled(domain, 1)


def test_the_seed_decides() -> None:
    domain = Domain([99, -3], [101, -1], A=[[1, 1], [-1, -1]], b=[98, -98])
    np.testing.assert_array_equal(sampled(domain, 5, 3), sampled(domain, 5, 3))
    assert (sampled(domain, 5, 3) != sampled(domain, 5, 4)).any()
    assert sampled(domain, 0).shape == (0, 2)
    with pytest.raises(InputError, match="n must be >= 0"):
        domain.sample(-1, np.random.default_rng(0))
