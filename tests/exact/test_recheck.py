"""The re-proof proves what is true, and nothing else."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.exact.checking.recheck import recheck
from nnbo_mip.exact.checking.recheck_phases import recheck_phases
from nnbo_mip.exact.checking.sweep import Recheck
from nnbo_mip.exact.search.problem import Problem
from nnbo_mip.network.graph.affine import Affine
from nnbo_mip.network.graph.graph import Network
from nnbo_mip.space.domain import Domain, Grid

SECONDS = 60.0
SEARCHES = pytest.mark.parametrize("search", [recheck, recheck_phases])
Search = Callable[[Problem, float, float], Recheck]


def random_network(seed: int, d: int, widths: tuple[int, ...], scale: float = 1.0) -> Network:
    rng = np.random.default_rng(seed)
    sizes = [d, *widths, 1]
    return Network.from_layers(
        [
            (scale * rng.normal(size=(n, m)), scale * rng.normal(size=n))
            for m, n in itertools.pairwise(sizes)
        ]
    )


def exact_maximum_in_one_dimension(network: Network, lower: float, upper: float) -> Fraction:
    """Maximum over breakpoints of a net of one hidden layer, in fractions."""
    (layer,) = network.layers
    slopes = [Fraction(w) for w in layer.dense(0)[:, 0]]
    biases = [Fraction(b) for b in layer.bias]
    weights = [Fraction(v) for v in network.head.dense(1)[0]]
    kinks = [-b / w for w, b in zip(slopes, biases, strict=True) if w]
    ends = [Fraction(lower), Fraction(upper)]
    points = ends + [kink for kink in kinks if ends[0] < kink < ends[1]]
    return max(
        Fraction(network.head.bias[0])
        + sum(
            v * max(w * x + b, Fraction(0)) for v, w, b in zip(weights, slopes, biases, strict=True)
        )
        for x in points
    )


def floats_around(exact: Fraction) -> tuple[float, float]:
    """The largest float64 below, and the second one above: ties are left out."""
    nearest = float(exact)
    above = nearest if Fraction(nearest) >= exact else float(np.nextafter(nearest, np.inf))
    return float(np.nextafter(above, -np.inf)), float(np.nextafter(above, np.inf))


@SEARCHES
@given(
    st.integers(0, 10**6),
    st.integers(1, 12),
    st.sampled_from([1e-4, 1.0, 1e4]),
    st.sampled_from([(99.0, 101.0), (-3.5, -1.25), (-0.7, 4.1), (2.5, 2.5)]),
)
def test_levels_next_to_the_maximum_are_decided_in_one_dimension(
    search: Search, seed: int, width: int, scale: float, ends: tuple[float, float]
) -> None:
    network = random_network(seed, 1, (width,), scale)
    below, above = floats_around(exact_maximum_in_one_dimension(network, *ends))
    problem = Problem(network, Domain([ends[0]], [ends[1]]))
    assert search(problem, below, SECONDS).verdict != "proved"
    # Leaves of the search over boxes are decided in exact arithmetic; those of the search
    # over phases by rounded multipliers, which may leave the last digits open.
    last_digits = 0.0 if search is recheck else 1e-9 * problem.rounding.magnitude
    assert search(problem, above + last_digits, SECONDS).verdict == "proved"


@SEARCHES
@given(st.integers(0, 10**6), st.integers(1, 3), st.integers(1, 3))
def test_no_level_below_a_sampled_value_is_proved(
    search: Search, seed: int, d: int, depth: int
) -> None:
    network = random_network(seed, d, (6,) * depth)
    rng = np.random.default_rng(seed)
    lower = rng.uniform(-5.0, 3.0, size=d)
    problem = Problem(network, Domain(lower, lower + rng.uniform(0.5, 2.0, size=d)))
    best = float(problem.values(problem.domain.sample(2000, rng)).max())
    answer = search(problem, best - 1e-9 * max(1.0, abs(best)), SECONDS)
    if search is recheck_phases and answer.verdict == "stuck":
        return  # its points are the relaxation's: one may fall short by the last digits
    assert answer.verdict == "counterexample"
    assert answer.x is not None
    assert problem.domain.admissible(answer.x)[0]
    assert problem.value(answer.x) >= best - 1e-8 * max(1.0, abs(best))


def smallest_proved_level(search: Search, problem: Problem, low: float, high: float) -> float:
    while high - low > 1e-5 * max(1.0, abs(high)):
        middle = 0.5 * (low + high)
        proved = search(problem, middle, SECONDS).verdict == "proved"
        low, high = (low, middle) if proved else (middle, high)
    return high


@SEARCHES
def test_integers_are_found_by_trying_them_all(search: Search) -> None:
    network = random_network(3, 2, (8, 8))
    grids = [Grid.uniform(-7.0, 1.0, 12), Grid.listed([1.5, 2.0, 3.25, 7.0])]
    domain = Domain([-7.0, 1.5], [4.0, 7.0], grids)
    points = [[g, v] for g in range(-7, 5) for v in (1.5, 2.0, 3.25, 7.0)]
    problem = Problem(network, domain)
    best = float(problem.values(np.array(points)).max())
    assert search(problem, best + 1e-9, SECONDS).verdict == "proved"
    assert search(problem, best - 1e-9, SECONDS).verdict == "counterexample"


@SEARCHES
def test_one_hot_groups_hold_exactly_one_level(search: Search) -> None:
    network = random_network(11, 4, (10,))
    domain = Domain([2.0, 0, 0, 0], [2.5, 1, 1, 1], one_hot=[(1, 2, 3)])
    problem = Problem(network, domain)
    level = smallest_proved_level(search, problem, -100.0, 100.0)
    grid = np.linspace(2.0, 2.5, 2001)
    values = [
        network.evaluate(np.column_stack([grid, *np.tile(np.eye(3)[k], (2001, 1)).T])).max()
        for k in range(3)
    ]
    assert max(values) <= level <= max(values) + 1e-2


def test_rows_are_respected_and_not_more_than_that() -> None:
    # f = x0 + x1 under x0 + 2 x1 <= 3 on [0.5, 2.5] x [-1, 4]: the maximum is 2.75.
    network = Network.from_layers([(np.array([[1.0, 1.0]]), [0.0])])
    domain = Domain([0.5, -1.0], [2.5, 4.0], A=[[1.0, 2.0]], b=[3.0])
    problem = Problem(network, domain)
    assert recheck(problem, 2.75 + 1e-7, SECONDS).verdict == "proved"
    assert recheck(problem, 2.75 - 1e-7, SECONDS).verdict != "proved"


@SEARCHES
def test_a_maximum_on_a_row_is_decided_where_relus_bend(search: Search) -> None:
    network = random_network(21, 2, (6, 4))
    domain = Domain([-1.5, 0.5], [2.5, 3.0], A=[[1.0, 1.0], [-1.0, -1.0]], b=[2.0, -2.0])
    problem = Problem(network, domain)
    first = np.linspace(-1.0, 1.5, 200001)
    best = float(network.evaluate(np.column_stack([first, 2.0 - first])).max())
    assert search(problem, best + 1e-4, SECONDS).verdict == "proved"
    assert search(problem, best - 1e-4, SECONDS).verdict != "proved"


@pytest.mark.parametrize(
    ("domain", "verdict"),
    [
        (Domain([1.0, 2.0], [3.0, 5.0], A=[[1.0, 1.0]], b=[2.9]), "proved"),
        (Domain([1.0, 2.0], [3.0, 5.0], A=[[1.0, 1.0]], b=[3.0]), "counterexample"),
        (
            Domain([0, 0, 0], [1, 1, 9.5], one_hot=[(0, 1)], A=[[5, 7, -1.0]], b=[-4.6]),
            "proved",
        ),
        (
            Domain(
                np.full(5, -2.0),
                np.full(5, 3.0),
                A=[[1, 2, -1, 1, 0.5], [-1, -2, 1, 1, 2], [0, 0, 0, -1, -1.25]],
                b=[1.0, 1.0, -1.01],
            ),
            "proved",
        ),
        (
            Domain([1.0], [8.0], [Grid.uniform(1.0, 1.0, 8)], A=[[2.0], [-2.0]], b=[7.5, -6.5]),
            "proved",
        ),
    ],
)
def test_emptiness_is_proved_or_refuted(domain: Domain, verdict: str) -> None:
    network = random_network(2, domain.dimension, (4,))
    answer = recheck(Problem(network, domain), -np.inf, SECONDS)
    assert answer.verdict == verdict


@SEARCHES
def test_a_flat_maximum_is_proved_exactly(search: Search) -> None:
    dead = Network(
        2,
        (Affine(np.array([-9.0, -8.0]), {0: np.array([[1.0, 0.5], [-1.0, 2.0]])}),),
        Affine(np.array([0.1]), {1: np.array([[1.0, 1.0]])}),
    )
    problem = Problem(dead, Domain([-1.0, -2.0], [3.0, 0.5]))
    assert search(problem, 0.1, SECONDS).verdict == "proved"
    assert search(problem, float(np.nextafter(0.1, 0.0)), SECONDS).verdict == "counterexample"


@SEARCHES
def test_the_time_limit_is_kept_and_said(search: Search) -> None:
    network = random_network(1, 12, (40, 40))
    problem = Problem(network, Domain(np.full(12, -1.0), np.full(12, 2.0)))
    best = float(problem.values(problem.domain.sample(2000, np.random.default_rng(0))).max())
    answer = search(problem, best * 1.5 + 1.0, 0.3)
    assert answer.verdict in ("time", "counterexample")
    assert 0.0 <= answer.share <= 1.0


def test_planes_lie_above_the_network_in_real_arithmetic() -> None:
    from nnbo_mip.exact.checking.dyadic import ExactNetwork
    from nnbo_mip.exact.checking.recheck_bounds import BoxBounder

    for seed in range(40):
        scale = 10.0 ** (seed % 9 - 4)
        network = random_network(seed, 2, (7, 5, 3), scale)
        rng = np.random.default_rng(seed)
        lower: FloatArray = rng.normal(size=(2, 5)) * 3.0
        upper = lower + rng.uniform(0.0, 1.0, size=(2, 5)) * rng.integers(0, 2, size=5)
        bounder = BoxBounder(network, lower.min(axis=1), upper.max(axis=1))
        planes = bounder.planes(lower, upper)
        exact = ExactNetwork(network)
        for box in range(5):
            for point in rng.uniform(lower[:, box], upper[:, box], size=(5, 2)):
                point = np.clip(point, lower[:, box], upper[:, box])
                plane = Fraction(planes.constant[box]) + sum(
                    Fraction(a) * Fraction(v)
                    for a, v in zip(planes.slopes[:, box], point, strict=True)
                )
                value = exact.value(point)
                assert Fraction(int(value.integers.item())) * Fraction(2) ** value.exponent <= plane
                assert not value.exceeds(float(planes.largest[box]))
