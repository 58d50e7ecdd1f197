"""Exclusion boxes of a domain, against enumerations of grids and exact rational arithmetic."""

from __future__ import annotations

import itertools
import json
from fractions import Fraction

import numpy as np
import pytest

from nnbo_mip.core.errors import FileFormatError, InputError
from nnbo_mip.space.domain import Domain, ExclusionBoxes, Grid
from nnbo_mip.space.exclusion_free import exclusion_free_boxes

SQUARE = Domain([-1.0, 2.0], [3.0, 4.0])
EVERYTHING = ExclusionBoxes([[-2.0, 1.0]], [[5.0, 5.0]])


def with_exclusions(domain: Domain, lower: object, upper: object) -> Domain:
    exclusions = ExclusionBoxes(np.asarray(lower, dtype=float), np.asarray(upper, dtype=float))
    parts = domain.grids, domain.one_hot, domain.A, domain.b
    return Domain(domain.lower, domain.upper, *parts, exclusions)


def lattice(rng: np.random.Generator) -> Domain:
    """Two or three coordinates on whole numbers with exclusions, some of which touch values."""
    d = int(rng.integers(1, 4))
    counts = rng.integers(1, 7, d)
    lower = rng.integers(-3, 3, d).astype(float)
    grids = [Grid.uniform(low, 1.0, int(n)) for low, n in zip(lower, counts, strict=True)]
    n = int(rng.integers(1, 6))
    start = lower + 0.5 * rng.integers(-3, 9, (n, d))
    stop = start + 0.5 * rng.integers(1, 9, (n, d))
    A = b = None
    if rng.random() < 0.3:
        A, b = rng.integers(-2, 3, (1, d)).astype(float), rng.integers(-2, 6, 1).astype(float)
    return Domain(lower, lower + counts - 1.0, grids, (), A, b, ExclusionBoxes(start, stop))


def all_points(domain: Domain) -> np.ndarray:
    axes = [
        np.arange(low, high + 1.0) for low, high in zip(domain.lower, domain.upper, strict=True)
    ]
    return np.array(list(itertools.product(*axes)))


def outside(domain: Domain, x: np.ndarray) -> bool:
    """Whether a lattice point is admissible, said in another way."""
    in_a_exclusion = any(
        all(low < value < high for low, value, high in zip(lows, x, highs, strict=True))
        for lows, highs in zip(domain.exclusions.lower, domain.exclusions.upper, strict=True)
    )
    return not in_a_exclusion and bool(np.all(domain.A @ x <= domain.row_limit))


# -- what an exclusion is -----------------------------------------------------------------------


def test_a_point_on_a_face_is_admissible_and_one_inside_is_not() -> None:
    domain = with_exclusions(SQUARE, [[0.0, 2.5]], [[1.0, 3.5]])
    inside = np.nextafter(0.0, 1.0)
    points = [[0.0, 3.0], [1.0, 3.0], [0.5, 2.5], [0.5, 3.5], [0.5, 3.0], [inside, 3.0]]
    assert domain.admissible(points).tolist() == [True, True, True, True, False, False]


def test_a_degenerate_side_lies_in_a_exclusion_or_on_its_face() -> None:
    line = Domain([-1.0, 2.0], [3.0, 2.0])
    across = with_exclusions(line, [[0.0, 1.5]], [[1.0, 2.5]])
    assert across.admissible([[0.5, 2.0], [1.0, 2.0]]).tolist() == [False, True]
    assert len(with_exclusions(line, [[0.0, 2.0]], [[1.0, 2.5]]).exclusions) == 0


def test_exclusions_that_exclude_nothing_are_left_out() -> None:
    missing = [[-5.0, 2.0], [3.0, 2.0], [0.0, 4.0]]
    assert with_exclusions(SQUARE, missing, np.add(missing, 1.0)).is_box
    whole = Domain([0.0], [5.0], [Grid.uniform(0.0, 1.0, 6)])
    assert with_exclusions(whole, [[1.0], [2.1]], [[2.0], [2.9]]).exclusions.lower.size == 0
    nested = with_exclusions(SQUARE, [[0.0, 2.5], [0.1, 2.6]], [[1.0, 3.5], [0.9, 3.4]])
    assert nested.exclusions.lower.tolist() == [[0.0, 2.5]]


def test_equal_sets_of_exclusions_have_equal_fingerprints() -> None:
    low, high = np.array([[0.0, 2.5], [1.5, 3.0]]), np.array([[1.0, 3.5], [2.5, 3.5]])
    one = with_exclusions(SQUARE, low, high)
    other = with_exclusions(SQUARE, [*low[::-1], low[0]], [*high[::-1], high[0]])
    assert one.fingerprint == other.fingerprint
    assert one.fingerprint != with_exclusions(SQUARE, low, high + 0.25).fingerprint
    assert one.fingerprint != SQUARE.fingerprint == one.without_exclusions.fingerprint


@pytest.mark.parametrize(
    ("lower", "upper", "what"),
    [
        ([[0.0, 1.0]], [[1.0, 1.0]], "must be < upper"),
        ([[0.0, 1.0]], [[1.0]], "one shape"),
        ([0.0, 1.0], [1.0, 2.0], "one shape"),
        ([[0.0, np.nan]], [[1.0, 2.0]], "finite"),
        ([[-np.inf, 1.0]], [[1.0, 2.0]], "finite"),
    ],
)
def test_ends_that_make_no_exclusion_are_refused(lower: object, upper: object, what: str) -> None:
    with pytest.raises(InputError, match=what):
        ExclusionBoxes(np.asarray(lower, dtype=object), np.asarray(upper, dtype=object))


def test_exclusions_of_another_dimension_are_refused() -> None:
    with pytest.raises(InputError, match="2 dimensions; got one of 1"):
        Domain([0.0, 0.0], [1.0, 1.0], exclusions=ExclusionBoxes([[0.0]], [[1.0]]))
    with pytest.raises(InputError, match="ExclusionBoxes object"):
        Domain([0.0], [1.0], exclusions=[[0.0, 1.0]])


# -- away from points ---------------------------------------------------------------------


def test_faces_are_rounded_outwards_to_the_next_float() -> None:
    rng = np.random.default_rng(0)
    points = rng.normal(size=(200, 2)) * 10.0 ** rng.integers(-8, 3, (200, 2))
    eps = np.abs(rng.normal(size=200)) * 10.0 ** rng.integers(-20, 3, 200)
    exclusions = ExclusionBoxes.around(points, eps, 2)
    for p, radius, low, high in zip(points, eps, exclusions.lower, exclusions.upper, strict=True):
        for j in range(2):
            first, last = Fraction(p[j]) - Fraction(radius), Fraction(p[j]) + Fraction(radius)
            assert Fraction(low[j]) <= first < Fraction(np.nextafter(low[j], np.inf))
            assert Fraction(np.nextafter(high[j], -np.inf)) < last <= Fraction(high[j])


def test_a_point_exactly_eps_away_is_admissible() -> None:
    domain = Domain([-4.0, -4.0], [4.0, 4.0]).away_from([0.5, 1.0], 0.25)
    points = [[0.75, 1.0], [0.5, 0.75], [0.74, 1.1], [0.25, 1.25]]
    assert domain.admissible(points).tolist() == [True, True, False, True]


def test_distances_can_differ_and_earlier_exclusions_stay() -> None:
    domain = SQUARE.away_from([[0.0, 3.0]], 0.5).away_from([[1.0, 3.0], [2.0, 3.0]], [0.1, 0.2])
    points = [[0.4, 3.0], [0.5, 3.0], [1.09, 3.0], [1.11, 3.0], [2.15, 3.1], [2.21, 3.1]]
    assert domain.admissible(points).tolist() == [False, True, False, True, False, True]
    restricted = domain.restrict([0.9, 2.0], [2.5, 3.2])
    assert len(restricted.exclusions) == 2
    assert not restricted.admissible([[1.05, 3.05]])[0]


@pytest.mark.parametrize("points", [[], np.empty((0, 2))])
def test_no_points_leave_the_domain_as_it_is(points: object) -> None:
    assert SQUARE.away_from(points, 0.5).fingerprint == SQUARE.fingerprint


@pytest.mark.parametrize("eps", [0.0, -1.0, np.nan, np.inf, [0.1, 0.2], [[0.1]]])
def test_distances_must_be_positive_and_as_many_as_points(eps: object) -> None:
    with pytest.raises(InputError, match="eps"):
        SQUARE.away_from([[0.0, 3.0]], eps)


def test_points_must_be_finite_and_of_the_dimension() -> None:
    with pytest.raises(InputError, match="finite"):
        SQUARE.away_from([[0.0, np.nan]], 0.1)
    with pytest.raises(InputError, match="shape"):
        SQUARE.away_from([[0.0, 1.0, 2.0]], 0.1)


# -- propagation --------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(60))
def test_no_lattice_point_is_cut_off(seed: int) -> None:
    rng = np.random.default_rng(seed)
    domain = lattice(rng)
    points = all_points(domain)
    good = np.array([outside(domain, x) for x in points])
    assert domain.admissible(points).tolist() == good.tolist()
    low = rng.uniform(domain.lower - 1, domain.upper + 1, (40, domain.dimension))
    high = low + rng.uniform(0, 4, low.shape)
    new_low, new_high, feasible = domain.tighten(low, high)
    for k in range(len(low)):
        within = good & ((low[k] <= points) & (points <= high[k])).all(axis=1)
        if within.any():
            assert feasible[k]
            assert (new_low[k] <= points[within]).all()
            assert (points[within] <= new_high[k]).all()


def test_boxes_within_a_exclusion_are_infeasible_and_slabs_shrink_to_its_faces() -> None:
    domain = with_exclusions(SQUARE, [[0.0, 1.0]], [[1.0, 3.0]])
    low = [[0.1, 2.0], [0.1, 2.0], [-0.5, 2.0], [0.5, 2.0], [-0.5, 2.0], [0.0, 2.0], [-1, 2]]
    high = [[0.9, 2.9], [0.9, 3.5], [0.5, 2.9], [2.0, 2.9], [2.0, 2.9], [0.5, 2.9], [3, 4]]
    new_low, new_high, feasible = domain.tighten(low, high)
    assert feasible.tolist() == [False, True, True, True, True, True, True]
    assert new_low[1:].tolist() == [[0.1, 3], [-0.5, 2], [1, 2], [-0.5, 2], [0, 2], [-1, 2]]
    assert new_high[1:].tolist() == [[0.9, 3.5], [0, 2.9], [2, 2.9], [2, 2.9], [0, 2.9], [3, 4]]


def test_exclusions_that_touch_leave_their_common_face() -> None:
    domain = with_exclusions(SQUARE, [[-2.0, 1.0], [1.0, 1.0]], [[1.0, 5.0], [5.0, 5.0]])
    low, high, feasible = domain.tighten(SQUARE.lower, SQUARE.upper)
    assert feasible
    assert (low.tolist(), high.tolist()) == ([1.0, 2.0], [1.0, 4.0])
    overlapping = with_exclusions(SQUARE, [[-2.0, 1.0], [0.9, 1.0]], [[1.0, 5.0], [5.0, 5.0]])
    assert not overlapping.tighten(SQUARE.lower, SQUARE.upper)[2]


@pytest.mark.parametrize("seed", range(20))
def test_the_boxes_beside_exclusions_hold_every_point_outside_once(seed: int) -> None:
    rng = np.random.default_rng(100 + seed)
    domain = lattice(rng).without_exclusions
    domain = Domain(
        domain.lower, domain.upper, domain.grids, exclusions=_exclusions_for(domain, rng)
    )
    lower, upper, complete = exclusion_free_boxes(domain)
    assert complete
    points = all_points(domain)
    held = (lower[:, None] <= points) & (points <= upper[:, None])
    counts = held.all(axis=2).sum(axis=0)
    assert counts.tolist() == domain.admissible(points).astype(int).tolist()


def _exclusions_for(domain: Domain, rng: np.random.Generator) -> ExclusionBoxes:
    start = domain.lower + 0.5 * rng.integers(-3, 9, (4, domain.dimension))
    return ExclusionBoxes(start, start + 0.5 * rng.integers(1, 9, start.shape))


# -- repair -------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(30))
def test_repair_finds_the_nearest_lattice_point(seed: int) -> None:
    rng = np.random.default_rng(200 + seed)
    domain = lattice(rng).without_exclusions
    domain = Domain(
        domain.lower, domain.upper, domain.grids, exclusions=_exclusions_for(domain, rng)
    )
    points = all_points(domain)
    good = points[domain.admissible(points)]
    width = np.where(domain.upper > domain.lower, domain.upper - domain.lower, 1.0)
    for x in points:
        found = domain.repair(x)
        if not len(good):
            assert found is None
            continue
        assert found is not None
        assert domain.admissible(found)[0]
        moves = np.abs((good - x) / width).sum(axis=1)
        assert np.abs((found - x) / width).sum() == pytest.approx(moves.min(), abs=1e-12)


def test_repair_leaves_a_exclusion_through_the_nearest_face() -> None:
    domain = with_exclusions(SQUARE, [[0.0, 2.5]], [[1.0, 3.5]])
    assert domain.repair([0.1, 3.0]) == pytest.approx([0.0, 3.0], abs=0)
    assert domain.repair([0.5, 3.4]) == pytest.approx([0.5, 3.5], abs=0)
    assert domain.repair([9.0, 9.0]) == pytest.approx([3.0, 4.0], abs=0)


@pytest.mark.parametrize("seed", range(20))
def test_repair_respects_rows_groups_and_exclusions_together(seed: int) -> None:
    rng = np.random.default_rng(300 + seed)
    lower, upper = np.array([-2.0, 1.0, 0, 0, 0]), np.array([2.0, 3.0, 1, 1, 1])
    A = np.array([[1.0, 1.0, 0.5, 0.0, -0.5]])
    relaxed = Domain(lower, upper, None, [(2, 3, 4)], A, [2.0])
    centre = np.append(rng.uniform([-2, 1], [2, 3]), [1.0, 0.0, 0.0])
    domain = relaxed.away_from(centre, 0.5)
    point = domain.repair(centre)
    assert point is not None
    assert domain.admissible(point)[0]


def test_repair_says_none_where_exclusions_cover_everything() -> None:
    assert Domain(SQUARE.lower, SQUARE.upper, exclusions=EVERYTHING).repair([0.0, 3.0]) is None


# -- samples ------------------------------------------------------------------------------


def test_samples_are_uniform_beside_exclusions() -> None:
    domain = with_exclusions(SQUARE, [[-2.0, 2.0]], [[1.0, 3.0]])  # a quarter is gone
    points = domain.sample(4000, np.random.default_rng(0))
    assert domain.admissible(points).all()
    right, top = points[:, 0] >= 1.0, points[:, 1] >= 3.0
    shares = [np.mean(right & top), np.mean(right & ~top), np.mean(~right & top)]
    assert shares == pytest.approx([1 / 3] * 3, abs=0.03)


def test_samples_are_uniform_where_exclusions_leave_almost_nothing() -> None:
    # A strip of width 2e-7 is left up to x1 = 3.5, and one of width 3e-7 above.
    low, high = [[-2.0, 1.0], [0.0, 1.0], [-1.5, 3.5]], [[-2e-7, 5.0], [5.0, 3.5], [-0.5, 4.5]]
    domain = with_exclusions(SQUARE, [*low, [1e-7, 3.0]], [*high, [5.0, 4.5]])
    points = domain.sample(2000, np.random.default_rng(1))
    assert domain.admissible(points).all()
    assert np.ptp(points[:, 1]) > 1.9
    assert np.histogram(points[:, 1], 4, (2.0, 4.0))[0] / 2000 == pytest.approx(
        [2 / 9, 2 / 9, 2 / 9, 1 / 3], abs=0.03
    )


def test_a_common_face_is_sampled_where_nothing_else_is_left() -> None:
    domain = with_exclusions(SQUARE, [[-2.0, 1.0], [1.0, 1.0]], [[1.0, 5.0], [5.0, 5.0]])
    points = domain.sample(500, np.random.default_rng(2))
    assert (points[:, 0] == 1.0).all()
    assert np.histogram(points[:, 1], 2, (2.0, 4.0))[0] / 500 == pytest.approx([0.5, 0.5], abs=0.1)


def test_values_of_grids_outside_exclusions_are_equally_likely() -> None:
    domain = with_exclusions(Domain([0.0], [9.0], [Grid.uniform(0.0, 1.0, 10)]), [[1.0]], [[7.5]])
    counts = np.bincount(domain.sample(4000, np.random.default_rng(3))[:, 0].astype(int))
    assert np.flatnonzero(counts).tolist() == [0, 1, 8, 9]
    assert counts[counts > 0] / 4000 == pytest.approx([0.25] * 4, abs=0.04)


def test_samples_keep_rows_and_exclusions() -> None:
    row = Domain([-1.0, 2.0], [3.0, 4.0], None, (), [[1.0, 1.0], [-1.0, -1.0]], [4.0, -4.0])
    domain = row.away_from([1.0, 3.0], 0.5)
    points = domain.sample(300, np.random.default_rng(4))
    assert domain.admissible(points).all()
    assert 0.3 < np.mean(points[:, 0] < 1.0) < 0.7


def test_a_small_part_beside_exclusions_under_a_row_is_sampled() -> None:
    low, high = [[-2.0, 1.0], [-2.0, 3.999]], [[5.0, 3.999], [2.5, 5.0]]
    relaxed = Domain([-1.0, 2.0], [3.0, 4.0], None, (), [[1.0, 1.0]], [6.9])
    domain = with_exclusions(relaxed, low, high)
    points = domain.sample(400, np.random.default_rng(5))
    assert domain.admissible(points).all()
    assert np.histogram(points[:, 0], 2, (2.5, 2.9))[0] / 400 == pytest.approx([0.5] * 2, abs=0.1)


@pytest.mark.parametrize("rows", [None, [[1.0, 0.0]]])
def test_sampling_nothing_is_refused(rows: object) -> None:
    b = None if rows is None else [1.0]
    domain = Domain(SQUARE.lower, SQUARE.upper, None, (), rows, b, EVERYTHING)
    with pytest.raises(InputError, match="admissible point"):
        domain.sample(3, np.random.default_rng(0))


# -- files --------------------------------------------------------------------------------


def test_domains_without_exclusions_are_written_as_before() -> None:
    grids = [None, Grid.uniform(0, 0.5, 9), None, None]
    domain = Domain([-1.5, 0, 0, 0], [2.0, 4, 1, 1], grids, ((2, 3),), [[1.0, 0.5, 0, 0]], [2.5])
    assert domain.fingerprint == "e957c7492c338773a3708046dd44f6bce7e9b4343e92b2aa4e39acdeadeec2e1"
    parts = {"format", "version", "lower", "upper", "grids", "one_hot", "A", "b"}
    assert set(domain.to_dict()) == parts
    assert Domain.from_dict(domain.to_dict()).fingerprint == domain.fingerprint


def test_exclusions_survive_a_file() -> None:
    domain = SQUARE.away_from(np.random.default_rng(0).uniform(0.0, 3.0, (5, 2)), 0.1)
    assert len(domain.exclusions) > 1
    again = Domain.from_dict(json.loads(json.dumps(domain.to_dict())))
    assert again.fingerprint == domain.fingerprint
    assert again.exclusions.lower.tolist() == domain.exclusions.lower.tolist()


@pytest.mark.parametrize(
    "exclusions",
    [
        {"lower": [[0.0, 3.0]]},
        {"lower": [[0.0, 3.0]], "upper": [[1.0, 3.0]]},
        {"lower": [[0.0]], "upper": [[1.0]]},
        {"lower": [[0.0, 3.0], [1.0]], "upper": [[1.0, 3.5], [2.0]]},
        {"lower": [[0.0, "3"]], "upper": [[1.0, 4.0]]},
        [[0.0, 1.0]],
        None,
    ],
)
def test_broken_exclusions_in_a_file_are_refused(exclusions: object) -> None:
    with pytest.raises(FileFormatError):
        Domain.from_dict({**SQUARE.to_dict(), "holes": exclusions})
