"""After scaling the mean width is the budget, on points that the tests choose themselves."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

import nnbo_mip as nm
from nnbo_mip.core.errors import InputError
from nnbo_mip.loop.policies.width_scaling import MeanWidth, NoScaling, scaling_of
from nnbo_mip.space import Categorical, Domain, Integer, LinearConstraint, Real, Space
from nnbo_mip.surrogates.base.abstract import Belief


class Recorded:
    """A belief whose std is a known function, and which remembers where it was asked."""

    def __init__(self, std: object) -> None:
        self._std = std
        self.points = np.empty((0, 0))

    def std(self, X: npt.ArrayLike) -> np.ndarray:
        X = np.asarray(X)
        self.points = np.concatenate([self.points.reshape(-1, X.shape[1]), X])
        return np.asarray(self._std(X))  # type: ignore[operator]


def asked(scaling: MeanWidth, space: Space, std: object, seed: int = 0) -> tuple[float, np.ndarray]:
    belief = Recorded(std)
    return scaling.factor(belief, space.model(), [0.0, 1.0], seed), belief.points  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def belief() -> Belief:
    X = np.array([[-0.9, 0.3], [0.1, -0.4], [0.6, 0.8], [0.95, -0.9]])
    return nm.surrogates.create("brvfl", n_hidden=30, seed=1).fit(X, [30.0, 70.0, 40.0, 20.0])


SQUARE = Space.box([99.0, -3.0], [101.0, -1.0]).model()
Y = [30.0, 70.0, 40.0, 20.0]


def test_on_a_grid_the_mean_width_is_the_budget(belief: Belief) -> None:
    c = MeanWidth(budget=0.25).factor(belief, SQUARE, Y)
    side = np.linspace(-1.0, 1.0, 200)
    grid = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    width = np.mean(2.0 * belief.scaled(c).std(grid))
    assert abs(width / np.std(Y) - 0.25) < 1e-9


def test_a_monte_carlo_mean_is_within_two_percent_of_the_budget(belief: Belief) -> None:
    c = scaling_of("mean_width:budget=2.0,unit=50,way=random").factor(belief, SQUARE, Y, seed=3)
    elsewhere = np.random.default_rng(99).uniform(-1.0, 1.0, (40_000, 2))
    width = np.mean(2.0 * belief.scaled(c).std(elsewhere))
    assert abs(width / (50 * 2.0) - 1.0) < 0.02


def test_a_line_has_two_thousand_points_with_both_ends() -> None:
    c, points = asked(
        MeanWidth(budget=3.0, unit=1.0), Space.box([5.0], [6.0]), lambda X: 1 + X[:, 0]
    )
    np.testing.assert_allclose(points[:, 0], np.linspace(-1.0, 1.0, 2000), atol=1e-15)
    assert c == pytest.approx(3.0 / 2.0)


def test_from_three_sides_on_points_are_random_and_belong_to_the_seed() -> None:
    space, scaling = Space.box([0.0] * 3, [1.0] * 3), MeanWidth(unit=1.0)
    c, points = asked(scaling, space, lambda X: X[:, 0] ** 2)
    assert points.shape == (20_000, 3)
    assert c == pytest.approx(0.5 / (2.0 / 3.0), rel=0.02)
    assert asked(scaling, space, lambda X: X[:, 0] ** 2)[0] == c
    assert asked(scaling, space, lambda X: X[:, 0] ** 2, seed=1)[0] != c


def test_integers_and_categories_take_all_their_values() -> None:
    space = Space([Real("x", 0, 1), Integer("a", 1, 3), Categorical("c", ["u", "v"])])
    _, points = asked(MeanWidth(way="grid", points=5), space, lambda X: np.ones(len(X)))
    assert len(points) == len(np.unique(points, axis=0)) == 5 * 3 * 2
    assert set(points[:, 0]) == {-1.0, -0.5, 0.0, 0.5, 1.0}
    assert space.model().admissible(points).all()


def test_only_admissible_points_count() -> None:
    half = Space.box([0.0, 0.0], [1.0, 1.0], [LinearConstraint({"x0": 1.0, "x1": 1.0}, "<=", 1.0)])
    c, points = asked(MeanWidth(unit=1.0, budget=1.0, way="grid"), half, lambda X: 1.0 + X[:, 0])
    assert half.model().admissible(points).all()
    # On the triangle the mean of x0 is 1/3, in model coordinates -1/3.
    assert c == pytest.approx(0.5 / (2.0 / 3.0), rel=0.01)
    thin = Space.box(
        [0.0, 0.0], [1.0, 1.0], [LinearConstraint({"x0": 1.0, "x1": 0.7}, "==", 0.777)]
    )
    _, points = asked(MeanWidth(unit=1.0), thin, lambda X: np.ones(len(X)))
    assert len(points) == 1000
    assert thin.model().admissible(points).all()


@pytest.mark.parametrize("std", [0.0, np.inf, np.nan, 1e-320])
def test_a_band_that_cannot_be_scaled_is_left_alone(std: float) -> None:
    c, _ = asked(MeanWidth(), Space.box([0.0], [1.0]), lambda X: np.full(len(X), std))
    assert c == 1.0


def test_the_unit_is_the_deviation_of_the_values(belief: Belief) -> None:
    own, told = MeanWidth(), MeanWidth(unit=float(np.std(Y)))
    assert own.factor(belief, SQUARE, Y) == pytest.approx(told.factor(belief, SQUARE, Y), rel=1e-12)
    # Values that are all alike have no deviation: the unit is then 1.
    assert own.factor(belief, SQUARE, [5.0]) == MeanWidth(unit=1.0).factor(belief, SQUARE, Y)


def test_a_huge_integer_side_is_no_grid_unless_asked_for() -> None:
    space = Space([Integer("a", 0, 10**9)])
    assert asked(MeanWidth(), space, lambda X: np.ones(len(X)))[1].shape == (20_000, 1)
    with pytest.raises(InputError, match="at most 1,000,000 points; got 1,000,000,001"):
        asked(MeanWidth(way="grid"), space, lambda X: np.ones(len(X)))


def test_a_hundred_dimensions_are_ordinary() -> None:
    space = Space.box([0.0] * 100, [1.0] * 100)
    assert asked(MeanWidth(unit=1.0), space, lambda X: np.ones(len(X)))[0] == 0.25


def test_no_scaling_is_one(belief: Belief) -> None:
    assert scaling_of(None) == scaling_of("none") == NoScaling()
    assert NoScaling().factor(belief, SQUARE, Y) == 1.0
    assert not NoScaling.scales
    assert MeanWidth.scales


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        ("mean_width:budget=0", "budget must be a number > 0"),
        ("mean_width:unit=-1", "unit must be a number > 0"),
        ("mean_width:way=sobol", "way must be one of auto, grid, random"),
        ("mean_width:points=50", "points go with a way"),
        ("mean_width:way=grid,points=1", "points must be an integer >= 2"),
        ("meanwidth", "did you mean 'mean_width'"),
    ],
)
def test_what_is_no_scaling_is_refused(spec: str, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        scaling_of(spec)


def test_an_empty_domain_is_said_to_be_empty(belief: Belief) -> None:
    empty: Domain = Space.box([0.0], [1.0], [LinearConstraint({"x0": 1.0}, ">=", 3.0)]).model()
    with pytest.raises(InputError, match="must have an admissible point"):
        MeanWidth().factor(belief, empty, Y)
