"""Initial designs on spaces of every kind: admissible, distinct, repeatable, well spread."""

from __future__ import annotations

import itertools
import json
import time

import numpy as np
import pytest
from scipy.stats import kstest, qmc

from nnbo_mip.core.errors import InputError
from nnbo_mip.loop.designs.designs import Design, design_of
from nnbo_mip.loop.designs.given import Given
from nnbo_mip.loop.designs.points import SAME, distinct
from nnbo_mip.loop.designs.spread import Maximin, Sobol, Uniform
from nnbo_mip.space import Categorical, Integer, LinearConstraint, Real, Space

NAMES = ("uniform", "sobol", "lhs", "maximin")

SPACES = {
    "box": Space.box([99.0, -3.0], [101.0, -1.0]),
    "fixed side": Space.box([2.5, -3.0], [2.5, -1.0]),
    "mixed": Space(
        [
            Real("lr", 1e-4, 1e-1, log=True),
            Integer("width", 8, 512, log=True),
            Integer("depth", 2, 5),
            Categorical("act", ["relu", "tanh", "elu"]),
        ]
    ),
    "half": Space.box(
        [0.0, 0.0], [2.0, 1.0], [LinearConstraint({"x0": 1.0, "x1": 2.0}, "<=", 1.5)]
    ),
    "simplex": Space.box(
        [0.0] * 3, [1.0] * 3, [LinearConstraint({"x0": 1, "x1": 1, "x2": 1}, "==", 1)]
    ),
    "budget": Space(
        [Integer("a", 1, 30), Integer("b", 1, 30), Categorical("c", ["s", "l"])],
        [LinearConstraint({"a": 1, "b": 2, ("c", "l"): 10}, "<=", 20)],
    ),
}


def distances(points: np.ndarray) -> np.ndarray:
    return np.array([np.linalg.norm(a - b) for a, b in itertools.combinations(points, 2)])


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("space", SPACES.values(), ids=SPACES)
def test_every_design_is_admissible_distinct_and_repeatable(name: str, space: Space) -> None:
    design = design_of({"name": name, "n": 13})
    points = design.points(space, seed=4)
    assert points.shape == (13, space.model().dimension)
    assert space.model().admissible(points).all()
    assert distances(points).min() > 1e-7
    assert np.array_equal(points, design.points(space, seed=4))
    assert not np.array_equal(points, design.points(space, seed=5))
    user = space.decode(points)
    assert space.numeric().admissible(space.to_numeric(user)).all()


def test_left_out_the_size_is_three_and_the_dimension_from_five_to_ten() -> None:
    assert len(Sobol().points(SPACES["mixed"])) == 3 + 4  # of four dimensions, a category is one
    assert len(Sobol().points(SPACES["fixed side"])) == 5  # one side moves
    assert len(Uniform().points(Space.box([0.0] * 40, [1.0] * 40))) == 10


def test_uniform_points_are_uniform_in_the_logarithm() -> None:
    points = Uniform(n=400).points(SPACES["mixed"], seed=1)
    assert kstest(points[:, 0], "uniform", args=(-1.0, 2.0)).pvalue > 0.01
    widths = [x["width"] for x in SPACES["mixed"].decode(points)]
    # Half of the logarithmic side lies below 64; of the numbers, a ninth.
    assert abs(np.mean(np.array(widths) <= 64) - 0.5) < 0.08


def test_sobol_shares_a_logarithmic_grid_by_its_logarithm() -> None:
    points = Sobol(n=64).points(SPACES["mixed"], seed=1)
    widths = np.array([x["width"] for x in SPACES["mixed"].decode(points)])
    assert abs(np.mean(widths <= 64) - 0.5) < 0.08


def test_sobol_points_of_a_box_are_those_of_scipy() -> None:
    space = Space.box([99.0, -3.0, 0.0], [101.0, -1.0, 5.0])
    theirs = qmc.Sobol(3, rng=np.random.default_rng(7)).random(16)
    np.testing.assert_allclose(
        Sobol(n=13).points(space, seed=7), 2.0 * theirs[:13] - 1.0, atol=1e-15
    )


def test_sobol_points_of_half_a_box_are_the_admissible_ones_of_the_sequence() -> None:
    space = SPACES["half"]
    theirs = 2.0 * qmc.Sobol(2, rng=np.random.default_rng(3)).random(64) - 1.0
    # The smallest box around the admissible points is [0, 1.5] x [0, 0.75].
    inner = np.array([0.75, 0.75]) * (theirs + 1.0) - 1.0
    expected = inner[space.model().admissible(inner)][:10]
    np.testing.assert_allclose(Sobol(n=10).points(space, seed=3), expected, atol=1e-12)


@pytest.mark.parametrize("n", [1, 7, 10])
def test_a_latin_hypercube_has_one_point_in_each_layer(n: int) -> None:
    points = design_of(f"lhs:n={n}").points(SPACES["box"], seed=2)
    for column in points.T:
        assert sorted(np.floor((column + 1.0) / 2.0 * n)) == list(range(n))


def test_a_latin_hypercube_gives_each_level_its_share() -> None:
    space = Space([Categorical("c", ["u", "v", "w"]), Real("x", 0.0, 1.0)])
    points = design_of("lhs:n=12").points(space, seed=2)
    assert points[:, :3].sum(axis=0).tolist() == [4.0, 4.0, 4.0]


def test_maximin_is_within_a_half_of_the_best_choice_of_its_candidates() -> None:
    space = Space([Integer("a", 0, 4), Integer("b", 0, 3)])
    grid = space.encode([{"a": a, "b": b} for a in range(5) for b in range(4)])
    best = max(
        distances(grid[list(chosen)]).min() for chosen in itertools.combinations(range(20), 4)
    )
    # With 1000 candidates the pool is the whole grid.
    for seed in range(5):
        assert distances(Maximin(n=4).points(space, seed)).min() >= 0.5 * best - 1e-12


def test_maximin_spreads_more_than_uniform_points_and_keeps_away_from_known_ones() -> None:
    box, corner = SPACES["box"], np.array([[-1.0, -1.0]])
    uniform, spread = (design_of(f"{name}:n=12").points(box, 0) for name in ("uniform", "maximin"))
    assert distances(spread).min() > 3.0 * distances(uniform).min()
    first = Maximin(n=1).points(box, 0, known=corner)[0]
    assert np.linalg.norm(first - [1.0, 1.0]) < 0.3


@pytest.mark.parametrize("name", NAMES)
def test_a_small_space_is_used_up_and_nothing_is_repeated(name: str) -> None:
    space = Space([Integer("a", 0, 3), Categorical("c", ["u", "v"])])
    points = design_of(f"{name}:n=20").points(space, seed=0)
    assert len(points) == len(np.unique(points, axis=0)) == 8
    known = points[:6]
    rest = design_of(f"{name}:n=20").points(space, seed=1, known=known)
    assert {tuple(row) for row in rest} == {tuple(row) for row in points[6:]}
    assert design_of(name).points(space, seed=1, known=points).shape == (0, 3)


def test_the_last_points_of_a_space_are_found() -> None:
    space = Space([Integer("a", 0, 299)])
    assert len(np.unique(Sobol(n=300).points(space, seed=0))) == 300


@pytest.mark.parametrize("name", NAMES)
def test_a_space_of_one_point_has_a_design_of_one_point(name: str) -> None:
    assert design_of(name).points(Space.box([1.0, 2.0], [1.0, 2.0])).tolist() == [[0.0, 0.0]]
    assert design_of(f"{name}:n=0").points(SPACES["box"]).shape == (0, 2)


@pytest.mark.parametrize("name", NAMES)
def test_an_empty_space_is_said_to_be_empty(name: str) -> None:
    constraint = LinearConstraint({"x0": 1.0}, ">=", 3.0)
    with pytest.raises(InputError, match="must have an admissible point"):
        design_of(name).points(Space.box([0.0], [1.0], [constraint]))


def test_a_hundred_dimensions_are_ordinary() -> None:
    space = Space.box([0.0] * 100, [1.0] * 100)
    for name in NAMES:
        assert design_of(f"{name}:n=20").points(space).shape == (20, 100)


def test_given_points_come_first_as_they_are() -> None:
    space = SPACES["box"]
    points = Given([[100.0, -2.0], [101.0, -3.0], [100.0, -2.0]], then="sobol:n=4").points(space, 1)
    assert points[:3].tolist() == [[0.0, 0.0], [1.0, -1.0], [0.0, 0.0]]
    assert points[3:].tolist() == Sobol(n=4).points(space, 1).tolist()
    small = Space([Integer("a", 0, 2)])
    followed = Given([{"a": 1}], then="uniform:n=2").points(small, 0, known=[[1.0]])
    assert followed.tolist() == [[0.0], [-1.0]]
    named = design_of([{"lr": 1e-4, "width": 512, "depth": 2, "act": "elu"}])
    assert named.points(SPACES["mixed"]).tolist() == [[-1.0, 1.0, -1.0, 0.0, 0.0, 1.0]]


@pytest.mark.parametrize(
    ("initial", "design"),
    [
        (None, Sobol()),
        (6, Sobol(n=6)),
        ("maximin:n=3,candidates=50", Maximin(n=3, candidates=50)),
        ({"name": "uniform", "n": 2}, Uniform(n=2)),
        (Uniform(n=2), Uniform(n=2)),
        (np.array([[1.0, 2.0]]), Given(((1.0, 2.0),))),
        ([], Given()),
    ],
    ids=str,
)
def test_a_design_is_whatever_describes_one(initial: object, design: Design) -> None:
    assert design_of(initial) == design


def test_given_points_survive_json() -> None:
    design = Given([{"lr": 1e-4, "act": "elu"}], then=Uniform(n=2))
    stored = json.loads(json.dumps({"given": design.given, "then": {"name": "uniform", "n": 2}}))
    assert Given(**stored) == design


@pytest.mark.parametrize(
    ("initial", "sentence"),
    [
        ("sobel", "did you mean 'sobol'"),
        ("sobol:m=3", "the options of 'sobol' are n"),
        (-1, "n must be an integer >= 0"),
        ({"lr": 1e-4}, "wrap a single point in a list"),
        (3.5, "must be a list of points"),
    ],
)
def test_what_is_no_design_is_refused(initial: object, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        design_of(initial)


def test_given_points_that_are_not_admissible_are_refused() -> None:
    with pytest.raises(InputError, match=r"number 1, \(1\.9, 0\.9\), does not"):
        design_of([[0.1, 0.1], [1.9, 0.9]]).points(SPACES["half"])
    with pytest.raises(InputError, match="must lie in"):
        design_of([[3.0, 0.1]]).points(SPACES["half"])


def test_distinct_is_the_same_as_comparing_all_pairs() -> None:
    rng = np.random.default_rng(0)
    for d in (1, 2, 5):
        points = rng.integers(0, 3, (60, d)) + rng.choice([0.0, 0.4e-7, 0.9e-7, 1.1e-7], (60, d))
        known = points[rng.choice(60, 7)] + 0.5e-7
        kept: list[np.ndarray] = []
        for point in points:
            others = [*known, *kept]
            if not any((np.abs(other - point) < SAME).all() for other in others):
                kept.append(point)
        assert distinct(points, known).tolist() == np.array(kept).reshape(-1, d).tolist()


def test_a_large_design_is_quick_and_an_enormous_one_refused() -> None:
    start = time.process_time()
    assert len(Sobol(n=50_000).points(Space.box([0.0] * 3, [1.0] * 3))) == 50_000
    assert time.process_time() - start < 20.0
    with pytest.raises(InputError, match="n must be at most 100000; got 2147483648"):
        Sobol(n=2**31)
    with pytest.raises(InputError, match="at most 16777216 numbers; got 20000 points of 1000"):
        Sobol(n=20_000).points(Space.box([0.0] * 1000, [1.0] * 1000))
    with pytest.raises(InputError, match="maximin must compare at most"):
        Maximin(n=50_000).points(Space.box([0.0], [1.0]))
