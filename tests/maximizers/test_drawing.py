"""Points that are drawn under rows: the clock ends it, and without it nothing changes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

import numpy as np
import pytest
from scipy.stats import qmc

import nnbo_mip as nm
from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.control import kept_by
from nnbo_mip.maximizers import Proposal, Request, Target, create
from nnbo_mip.maximizers.heuristics.search import BATCH
from nnbo_mip.maximizers.heuristics.sobol import sobol_points
from nnbo_mip.space.grid import Grid
from nnbo_mip.space.sampling import CHAINS, sample
from nnbo_mip.testing.analytic_belief import AnalyticBelief

D = 6
SQUARE = nm.Domain([-1.0, -1.0], [1.0, 1.0])
ROW = nm.Domain([-1.0, -1.0], [1.0, 1.0], A=[[1.0, 2.0]], b=[-0.5])
THIN = nm.Domain([-1.0, -1.0], [1.0, 1.0], A=[[1.0, 1.0], [-1.0, -1.0]], b=[0.01, 0.0])
LINE = nm.Domain([-1.0, -1.0], [1.0, 1.0], A=[[1.0, 2.0], [-1.0, -2.0]], b=[0.3, -0.3])
BROKEN_LINE = LINE.away_from([[0.0, 0.15]], 0.1)
SUMS = nm.Domain(
    np.zeros(D),
    np.full(D, 20.0),
    [Grid.uniform(0.0, 1.0, 21)] * D,
    A=[np.ones(D), -np.ones(D)],
    b=[17.0, -17.0],
)
"""Hardly any whole numbers have the sum: rejection finds none, and walks take over."""

UNDER_ROWS = pytest.mark.parametrize(
    "domain", [ROW, THIN, LINE, BROKEN_LINE, SUMS], ids=["row", "thin", "line", "broken", "sums"]
)


def after(looks: int) -> Callable[[], bool]:
    """Return a clock that says that time is up after so many looks at it."""
    seen = count(1)
    return lambda: next(seen) > looks


def drawn(domain: nm.Domain, n: int, looks: int = 10**9) -> FloatArray:
    return sample(domain, n, np.random.default_rng(3), after(looks))


@pytest.fixture
def ticking() -> Iterator[None]:
    """Let a second pass in a hundred looks at the clock."""
    ticks = count()
    with kept_by(lambda: 0.01 * next(ticks)):
        yield


def run(maximizer: str, domain: nm.Domain, **request: Any) -> Proposal:
    scorer = nm.acquisitions.create("ucb").scorer(AnalyticBelief(d=domain.dimension))
    return create(maximizer).maximize(Target(scorer, domain), Request(**request))


# -- samples ----------------------------------------------------------------------------------


@UNDER_ROWS
def test_a_clock_with_time_left_changes_no_point(domain: nm.Domain) -> None:
    expected = domain.sample(300, np.random.default_rng(3))
    assert np.array_equal(drawn(domain, 300), expected)


@UNDER_ROWS
@pytest.mark.parametrize("looks", [0, 3])
def test_once_time_is_up_what_there_is_is_returned(domain: nm.Domain, looks: int) -> None:
    n = 50_000
    points = drawn(domain, n, looks)
    assert 1 <= len(points) < n
    assert domain.admissible(points).all()


def test_what_was_rejected_until_then_is_a_part_of_the_whole() -> None:
    whole, part = drawn(ROW, 20_000), drawn(ROW, 20_000, 2)
    assert BATCH // 2 < len(part) < 20_000
    assert np.array_equal(part, whole[: len(part)])


def test_walks_end_in_groups_of_which_the_first_are_whole() -> None:
    n, looks = 3 * CHAINS, count()
    sample(LINE, CHAINS, np.random.default_rng(3), lambda: next(looks) < 0)
    a_group = next(looks)
    whole, part = drawn(LINE, n), drawn(LINE, n, 2 * a_group + 1)
    assert len(whole) == n
    assert np.array_equal(part, whole[: 2 * CHAINS])


def test_rounds_past_exclusions_end_with_the_clock() -> None:
    # Half of a sample of the line lie in the exclusion, so that another one follows.
    domain = LINE.away_from([[0.0, 0.15]], 0.5)
    whole, part = drawn(domain, CHAINS), drawn(domain, CHAINS, 200)
    assert len(whole) == CHAINS
    assert CHAINS // 2 < len(part) < CHAINS
    assert domain.admissible(part).all()
    assert np.array_equal(part[: CHAINS // 2], whole[: CHAINS // 2])


# -- Sobol points -----------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 100, BATCH, 20_000])
def test_batches_are_parts_of_one_sequence(n: int) -> None:
    size = 1 << (n - 1).bit_length()
    sequence = qmc.Sobol(2, rng=np.random.default_rng(7)).random(size)
    assert np.array_equal(sobol_points(SQUARE, n, 7), 2.0 * sequence[:n] - 1.0)
    half = nm.Domain([-1.0, -1.0], [1.0, 1.0], A=[[1.0, 1.0]], b=[0.0])
    more = 2.0 * qmc.Sobol(2, rng=np.random.default_rng(7)).random(4 * size) - 1.0
    assert np.array_equal(sobol_points(half, n, 7), more[half.admissible(more)][:n])


@UNDER_ROWS
def test_sobol_points_are_fewer_once_time_is_up(domain: nm.Domain) -> None:
    n = 40_000
    points = sobol_points(domain, n, 0, after(2))
    assert 1 <= len(points) < n
    assert domain.admissible(points).all()


# -- maximizers -------------------------------------------------------------------------------


@pytest.mark.parametrize("domain", [LINE, SUMS], ids=["line", "sums"])
@pytest.mark.parametrize(
    "maximizer",
    ["sobol:evaluations=4096", "random:evaluations=4096", "lbfgs:raw_samples=4096", "pga"],
)
def test_time_ends_the_drawing_of_points(ticking: None, maximizer: str, domain: nm.Domain) -> None:
    proposal = run(maximizer, domain, time_limit=1.0)
    assert proposal.time_limited
    assert 1 <= proposal.evaluations < 4096
    assert proposal.seconds < 1.5
    assert domain.admissible(np.asarray(proposal.x)[None, :])[0]


@pytest.mark.parametrize("maximizer", ["sobol:evaluations=4096", "random:evaluations=4096"])
def test_whoever_draws_in_time_is_not_limited(ticking: None, maximizer: str) -> None:
    proposal = run(maximizer, SQUARE, time_limit=1.0)
    assert not proposal.time_limited
    assert proposal.evaluations == 4096


@pytest.mark.parametrize(
    "maximizer",
    ["sobol:evaluations=4096", "random:evaluations=4096", "lbfgs:raw_samples=4096"],
)
def test_what_was_drawn_is_scored_beside_given_starts(ticking: None, maximizer: str) -> None:
    starts = LINE.sample(3, np.random.default_rng(0))
    proposal = run(maximizer, LINE, time_limit=1.0, starts=starts)
    assert proposal.time_limited
    assert proposal.evaluations > 3


@pytest.mark.parametrize("maximizer", ["sobol", "random", "lbfgs"])
def test_the_limit_holds_for_many_whole_numbers_with_one_sum(maximizer: str) -> None:
    names = [f"n{i}" for i in range(12)]
    space = nm.Space(
        [nm.Integer(name, 0, 20) for name in names],
        constraints=[nm.LinearConstraint(dict.fromkeys(names, 1.0), "==", 37.0)],
    )
    domain = space.model()
    X = domain.sample(12, np.random.default_rng(0))
    y = -np.square(X).sum(axis=1)
    belief = nm.surrogates.create("brvfl", n_hidden=20, seed=0).fit(X, y)
    asked = {"name": maximizer, "evaluations": 10**6}
    proposal = nm.maximize(belief, "ei", domain, maximizer=asked, y=y, time_limit=0.2)
    assert proposal.time_limited
    assert 1 <= proposal.evaluations < 10**6
    assert domain.admissible(np.asarray(proposal.x)[None, :])[0]
