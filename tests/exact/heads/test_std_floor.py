"""Proven lower bounds of stds: below every value, and tight for clips and absolute values."""

from __future__ import annotations

import numpy as np
import pytest

from nnbo_mip.exact.heads.moments import PlainPlane, with_positive_std
from nnbo_mip.exact.heads.sequence import Sequence
from nnbo_mip.exact.heads.std_floor import proven_floor
from nnbo_mip.network.graph.affine import Affine
from nnbo_mip.network.graph.builder import GraphBuilder
from nnbo_mip.network.graph.graph import Network
from nnbo_mip.scores.posteriors.compiled import PlainPosterior
from nnbo_mip.space.domain import Domain
from tests.exact.heads.sequence_cases import (
    L_MIN,
    OPTIONS,
    case,
    ensemble_network,
    grid,
    nomu_network,
    small_domain,
)
from tests.exact.random_problems import random_network


@pytest.mark.parametrize("seed", range(12))
def test_a_floor_is_below_every_value_of_a_random_network(seed: int) -> None:
    network = random_network(np.random.default_rng(seed), 2, (6, 5), skips=seed % 2 == 1)
    domain = small_domain(seed, 2)
    low = proven_floor(network, "y", domain)
    assert -1e3 < low <= network.evaluate(grid(domain), "y").min()


@pytest.mark.parametrize("seed", range(8))
def test_a_clip_is_proven_not_to_leave_its_lower_limit(seed: int) -> None:
    network = nomu_network(seed, 2, factor=3.0)
    low = proven_floor(network, "std", small_domain(seed, 2))
    assert 3.0 * L_MIN - 1e-9 <= low <= 3.0 * L_MIN


@pytest.mark.parametrize("seed", range(8))
def test_a_mean_absolute_deviation_is_proven_not_to_be_negative(seed: int) -> None:
    network = ensemble_network(seed, 2)
    low = proven_floor(network, "std", small_domain(seed, 2))
    assert -1e-10 <= low <= network.evaluate(grid(small_domain(seed, 2)), "std").min()


@pytest.mark.parametrize(("high", "expected"), [(0.4, 0.0), (-0.6, -1.0)])
def test_pairs_of_units_differ_by_no_more_than_their_offsets(high: float, expected: float) -> None:
    # relu(x + 0.4) - relu(x + 1.4) falls from 0 to -1, relu(x + 0.4) - relu(x + 0.4 - 1) rises.
    rows = Affine(np.array([0.4, 0.8 - high]), {0: np.ones((2, 1))})
    head = Affine(np.zeros(1), {1: np.array([[1.0, -1.0]])})
    network = Network(1, (rows,), head, ("std",))
    low = proven_floor(network, "std", Domain([-7.0], [5.0]))
    assert low == pytest.approx(expected, abs=1e-12)
    assert low <= network.evaluate(np.linspace(-7.0, 5.0, 1001)[:, None], "std").min()


def test_huge_weights_prove_nothing_and_raise_nothing() -> None:
    layer = Affine(np.zeros(1), {0: np.array([[1e300]])})
    head = Affine(np.zeros(1), {1: np.array([[1e300]])})
    network = Network(1, (layer,), head, ("std",))
    assert not proven_floor(network, "std", Domain([-7.0], [5.0])) > 0.0


def test_a_relu_is_spent_only_on_a_std_that_may_be_negative() -> None:
    domain = small_domain(1, 2)
    for posterior, expected in (
        (PlainPosterior(nomu_network(1, 2)), L_MIN),
        (PlainPosterior(ensemble_network(1, 2)), 0.0),
    ):
        _, monitor = case(posterior, None, domain)  # type: ignore[arg-type]
        plane = PlainPlane(posterior, domain, Sequence(OPTIONS, monitor))
        assert plane.floor == pytest.approx(expected, abs=1e-9)
        assert plane.floor >= 0.0
    builder = GraphBuilder(2)
    row = builder.affine(builder.input, np.array([[1.0, 2.0]]), np.array([0.1]))
    network = builder.finish({"std": row, "mean": row})
    positive = with_positive_std(network)
    points = grid(domain)
    assert positive.n_relus == network.n_relus + 1
    assert positive.evaluate(points, "mean") == pytest.approx(network.evaluate(points, "mean"))
    expected_std = np.maximum(network.evaluate(points, "std"), 0.0)
    assert positive.evaluate(points, "std") == pytest.approx(expected_std)
