from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nnbo_mip.core.errors import InputError
from nnbo_mip.space import Domain, Grid
from tests.space.strategies import domains


def test_without_rows_it_clips_rounds_and_switches() -> None:
    domain = Domain(
        [99, 1, 0, 0, 0], [101, 7, 1, 1, 0], [None, Grid.uniform(1, 2, 4), *[None] * 3], [(2, 3, 4)]
    )
    repaired = domain.repair([105, 4.2, 0.1, 0.2, 9.0])
    assert repaired is not None
    assert repaired.tolist() == [101, 5, 0, 1, 0]


@given(domains())
def test_an_admissible_point_is_kept(drawn: tuple[Domain, np.ndarray]) -> None:
    domain, x = drawn
    if domain.admissible(x)[0]:
        np.testing.assert_array_equal(domain.repair(x), x)


@settings(max_examples=60)
@given(domains(), st.integers(0, 2**32))
def test_whatever_comes_back_is_admissible(drawn: tuple[Domain, np.ndarray], seed: int) -> None:
    domain, _ = drawn
    rng = np.random.default_rng(seed)
    repaired = domain.repair(domain.lower + 3 * rng.standard_normal(domain.dimension))
    assert repaired is None or domain.admissible(repaired)[0]


def test_the_nearest_point_of_a_half_plane_is_found() -> None:
    domain = Domain([99, -3], [103, -1], A=[[1, 1]], b=[98])
    repaired = domain.repair([101, -2])
    assert repaired is not None
    # moving x costs 1/4 a unit, moving y 1/2: x moves alone
    np.testing.assert_allclose(repaired, [100, -2], atol=1e-8)


def test_the_nearest_mixed_point_agrees_with_enumeration() -> None:
    rng = np.random.default_rng(5)
    domain = Domain(
        [0, 1, 0, 0],
        [9, 5, 1, 1],
        [Grid.uniform(0, 1, 10), Grid.listed([1, 2.5, 4, 5]), None, None],
        [(2, 3)],
        [[1, 2, 4, 0], [-3, -1, 0, -5]],
        [11, -8],
    )
    candidates = np.array(
        [[a, b, on, 1 - on] for a, b, on in itertools.product(range(10), [1, 2.5, 4, 5], [0, 1])]
    )
    candidates = candidates[domain.admissible(candidates)]
    assert 0 < len(candidates) < 60
    for _ in range(20):
        x = np.array([rng.integers(0, 10), rng.choice([1, 2.5, 4, 5]), *rng.permutation([0, 1])])
        cost = (
            np.abs(candidates[:, 0] - x[0]) / 9
            + np.abs(candidates[:, 1] - x[1]) / 4
            + (candidates[:, 2] != x[2])
        )
        repaired = domain.repair(x)
        assert repaired is not None
        position = np.flatnonzero((candidates == repaired).all(axis=1))
        assert cost[position] == pytest.approx(cost.min(), abs=1e-9)


def test_equalities_are_met_to_the_last_digits() -> None:
    rng = np.random.default_rng(2)
    A = rng.standard_normal((3, 8)) * 10.0 ** rng.integers(-2, 5, (3, 1))
    b = A @ np.full(8, 100.3)
    domain = Domain(np.full(8, 99), np.full(8, 101), A=np.vstack([A, -A]), b=[*b, *-b])
    for _ in range(5):
        repaired = domain.repair(rng.uniform(98, 102, 8))
        assert repaired is not None
        assert domain.admissible(repaired)[0]


def test_a_set_that_only_its_slack_keeps_from_being_empty() -> None:
    domain = Domain([99], [101], A=[[1.0], [-1.0]], b=[100.0, -100.00000005])
    repaired = domain.repair([99.5])
    assert repaired is not None
    assert domain.admissible(repaired)[0]


@pytest.mark.parametrize(
    "domain",
    [
        Domain([99, -3], [101, -1], A=[[1, 1]], b=[95]),
        Domain([0, 0], [0, 0], one_hot=[(0, 1)]),
        Domain([1, 1], [7, 7], [Grid.uniform(1, 2, 4)] * 2, A=[[1, 1], [-1, -1]], b=[5, -5]),
    ],
)
def test_an_empty_set_gives_none(domain: Domain) -> None:
    assert domain.repair(np.full(domain.dimension, 4.0)) is None


@pytest.mark.parametrize("x", [[1.0], [np.nan, 1.0], [[1.0, 2.0]], ["a", "b"]])
def test_bad_points_are_refused(x: list) -> None:
    with pytest.raises(InputError):
        Domain([99, -3], [101, -1]).repair(x)
