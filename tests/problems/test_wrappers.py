"""Noise, constraints and integers around a problem."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import nnbo_mip as nm
from nnbo_mip.core.errors import InputError
from nnbo_mip.problems import GaussianNoise
from tests.problems.catalogue import create

HALF = {"coefficients": {"x0": 1.0, "x1": 1.0}, "sense": "<=", "bound": 3.0}


def test_noise_belongs_to_the_point_unless_fresh_noise_is_asked_for() -> None:
    noisy = nm.problems.create("noisy", problem="branin", sd=0.5, seed=7)
    X = noisy.space.sample(20, seed=0)
    once = noisy.evaluate(X)
    assert (noisy.evaluate(X[::-1])[::-1] == once).all()
    assert [noisy(x) for x in X] == once.tolist()
    assert (noisy.evaluate(X, seed=1) == noisy.evaluate(X, seed=1)).all()
    assert (noisy.evaluate(X, seed=1) != noisy.evaluate(X, seed=2)).all()
    generator = np.random.default_rng(1)
    assert (noisy.evaluate(X, seed=generator) != noisy.evaluate(X, seed=generator)).all()
    other = nm.problems.create("noisy", problem="branin", sd=0.5, seed=8)
    assert (other.evaluate(X) != once).all()


@pytest.mark.parametrize("seed", [None, 4])
def test_noise_is_normal_with_its_standard_deviation(seed) -> None:
    noisy = nm.problems.create("noisy", problem="branin", sd=0.5, seed=7)
    X = noisy.space.sample(10_000, seed=0)
    errors = (noisy.evaluate(X, seed) - noisy.truth(X)) / 0.5
    # Four standard errors of mean, variance and fourth moment.
    assert abs(errors.mean()) < 4.0 / 100.0
    assert abs((errors**2).mean() - 1.0) < 4.0 * np.sqrt(2.0) / 100.0
    assert abs((errors**4).mean() - 3.0) < 4.0 * np.sqrt(96.0) / 100.0


def test_regret_is_without_noise_and_scores_are_with_it() -> None:
    plain, noisy = create("forrester"), create("noisy:problem=forrester,sd=2,seed=1")
    assert noisy.regret([[0.3]]) == plain.regret([[0.3]])
    assert noisy.optimum == plain.optimum
    U = [[0.25]]
    error = noisy.evaluate([[0.625]]) - plain.evaluate([[0.625]])
    shift = 2.0 * error / (plain.worst - plain.optimum)
    assert plain.scaled().score(U) - noisy.scaled().score(U) == pytest.approx(shift)
    assert noisy.scaled().regret(U) == plain.scaled().regret(U)


def test_both_zeros_are_one_point() -> None:
    noise = GaussianNoise(seed=3)
    y = np.zeros(1)
    assert noise.added(np.array([[0.0]]), y, None) == noise.added(np.array([[-0.0]]), y, None)


def test_test3_takes_either_value_half_of_the_time() -> None:
    problem = create("test3")
    X = np.concatenate([np.full((2000, 1), -np.pi), np.full((2000, 1), 2.0 * np.pi), [[0.0]]])
    y = problem.evaluate(X, seed=5)
    left, right = y[:2000].round(9), y[2000:4000].round(9)
    assert set(left) == {90.0, 120.0}
    assert set(right) == {50.0, 200.0}
    assert set(problem.evaluate(np.zeros((50, 1)), seed=1)) == {90.0, 150.0}
    for branch in (left == 90.0, right == 50.0):
        assert abs(branch.mean() - 0.5) < 4.0 * 0.5 / np.sqrt(2000.0)


@pytest.mark.parametrize(
    ("spec", "error", "density", "sd"),
    [
        ("test1", 0.301, 0.00650, 37.2),
        ("test2", 0.325, 0.00577, 41.9),
        ("test3", 0.531, 0.00442, None),
        ("test4", 0.131, 0.00924, 26.2),
    ],
)
def test_the_mean_predictor_has_its_printed_floor(spec, error, density, sd) -> None:
    problem = create(spec)
    y = problem.evaluate(np.linspace(-100.0, 100.0, 20_001)[:, None], seed=0)
    assert (np.abs(y - y.mean()) / y).mean() == pytest.approx(error, rel=0.01)
    assert np.exp(-0.5) / (np.sqrt(2.0 * np.pi) * y.std()) == pytest.approx(density, rel=0.01)
    if sd is not None:
        assert y.std() == pytest.approx(sd, rel=5e-3)


def test_test2_has_its_levels_and_edges() -> None:
    at = np.array([[-100.0], [-99.0], [-83.0], [-60.0], [-49.0], [82.9], [99.9], [100.0]])
    levels = [200.0, 181.0, 162.0, 69.0, 106.0, 88.0, 181.0, 200.0]
    waves = np.sin(at[:, 0]) * (np.abs(at[:, 0]) < 100.0)
    assert create("test2").truth(at) == pytest.approx(levels + waves)


def test_constraints_keep_the_optimizers_that_satisfy_them() -> None:
    far = {"coefficients": {"x0": 1.0}, "sense": "<=", "bound": 4.0}
    half = nm.problems.create("constrained", problem="branin", constraints=[far])
    assert half.name == "branin, 1 constraint"
    assert half.optimum == create("branin").optimum
    assert half.known_optimizers == pytest.approx(np.array([[-np.pi, 12.275], [np.pi, 2.275]]))
    assert half([3.0, 2.0]) == create("branin")([3.0, 2.0])
    assert half.scaled().domain.b.size == 1


def test_an_optimum_under_constraints_is_unknown_unless_given() -> None:
    cut = nm.problems.create("constrained", problem="camelback", constraints=far_corner())
    assert cut.optimum is None
    assert cut.known_optimizers is None
    known = nm.problems.create(
        "constrained",
        problem="styblinski_tang:dimension=1",
        constraints=nm.LinearConstraint({"x0": 1.0}, ">=", 4.0),
        optimum=10.0,
        optimizers=[4.0],
    )
    assert known.regret([[5.0]]) == pytest.approx([115.0])


def test_points_that_violate_a_constraint_are_refused() -> None:
    cut = nm.problems.create("constrained", problem="camelback", constraints=far_corner())
    with pytest.raises(InputError, match=r"must satisfy its constraints .*; got \[0. 0.\]"):
        cut.evaluate([[2.5, 1.5], [0.0, 0.0]])


def test_constraints_add_up() -> None:
    twice = nm.problems.create(
        "constrained",
        problem={"name": "constrained", "problem": "camelback", "constraints": far_corner()},
        constraints={"coefficients": {"x0": 1.0}, "sense": "<=", "bound": 2.5},
    )
    assert len(twice.space.constraints) == 2


def test_integers_over_a_whole_range_are_searched_through() -> None:
    whole = nm.problems.create("integer", problem="rosenbrock:dimension=3,source=000")
    points = list(itertools.product(range(-5, 11), repeat=3))
    values = dict(zip(points, create("rosenbrock:dimension=3").truth(points), strict=True))
    assert whole.optimum == min(values.values()) == 0.0
    assert whole.worst == max(values.values())
    assert whole.known_optimizers == [{"x0": 1, "x1": 1, "x2": 1}]
    assert whole({"x0": 2, "x1": 3, "x2": 4}) == values[2, 3, 4]


def test_levels_are_spread_from_end_to_end() -> None:
    levels = create("integer:problem=branin,levels=31")
    assert levels.name == "branin, integer of 31"
    branin = create("branin")
    grid = {
        (i, j): branin([-5.0 + 0.5 * i, 0.5 * j]) for i, j in itertools.product(range(31), repeat=2)
    }
    assert levels.optimum == pytest.approx(min(grid.values()), rel=1e-13)
    assert levels.worst == pytest.approx(max(grid.values()), rel=1e-13)
    best = min(grid, key=grid.__getitem__)
    assert {"x0": best[0], "x1": best[1]} in levels.known_optimizers
    assert levels.scaled().score(levels.scaled().optimizers) == pytest.approx(1.0)
    assert levels.scaled().domain.grids[0].count == 31


def test_some_integers_keep_the_optimizers_on_the_grid() -> None:
    mixed = create("integer:problem=levy,dimensions=['x1']")
    assert mixed.name == "levy:dimension=2,source=004, integer x1"
    assert mixed.known_optimizers == [{"x0": 1.0, "x1": 1}]
    assert mixed.optimum == 0.0
    unknown = create("integer:problem=camelback,dimensions=[0]")
    assert (unknown.optimum, unknown.known_optimizers) == (None, None)
    assert unknown({"x0": 1, "x1": 0.5}) == create("camelback")([1.0, 0.5])


def test_large_grids_keep_the_optimizers_on_them() -> None:
    spread = create("integer:problem=griewank,levels=601")
    assert spread.known_optimizers == [{"x0": 300, "x1": 300}]
    assert spread.worst == create("griewank").worst


def test_integers_respect_constraints() -> None:
    cut = nm.problems.create("constrained", problem="rosenbrock", constraints=HALF | {"bound": 1.0})
    whole = nm.problems.create("integer", problem=cut)
    rosenbrock = create("rosenbrock")
    best = min(
        rosenbrock([i, j]) for i, j in itertools.product(range(-5, 11), repeat=2) if i + j <= 1
    )
    assert whole.optimum == best
    assert len(whole.space.constraints) == 1


def test_an_embedded_problem_depends_on_its_coordinates_alone() -> None:
    wide = create("embedded:problem=branin,dimension=100,coordinates=(19,64)")
    assert wide.name == "branin in 100 at 19,64"
    assert wide.dimension == 100
    X, rng = np.full((40, 100), 0.25), np.random.default_rng(0)
    X[:, [19, 64]] = rng.random((40, 2))
    inner = np.array([-5.0, 0.0]) + 15.0 * X[:, [19, 64]]  # the ranges of Branin
    assert wide.truth(X) == pytest.approx(create("branin").truth(inner))
    other = X.copy()
    other[:, [i for i in range(100) if i not in (19, 64)]] = rng.random((40, 98))
    assert (wide.truth(other) == wide.truth(X)).all()
    turned = create("embedded:problem=branin,dimension=100,coordinates=(64,19)")
    swapped = np.array([-5.0, 0.0]) + 15.0 * X[:, [64, 19]]
    assert turned.truth(X) == pytest.approx(create("branin").truth(swapped))


def test_what_is_known_of_a_problem_is_known_of_its_embedding() -> None:
    plain = create("hartmann6")
    wide = create("embedded:problem=hartmann6,dimension=50,coordinates=(1,7,11,23,41,49)")
    assert (wide.optimum, wide.worst) == (plain.optimum, plain.worst)
    (known,) = wide.known_optimizers
    assert known[[1, 7, 11, 23, 41, 49]] == pytest.approx(plain.known_optimizers[0])
    assert set(np.delete(known, [1, 7, 11, 23, 41, 49])) == {0.5}
    assert wide(known) == pytest.approx(plain.optimum, abs=1e-9)
    first = create("embedded:problem=levy,dimension=5")
    assert first([0.55, 0.55, 0.0, 1.0, 0.3]) == pytest.approx(0.0, abs=1e-12)
    noisy = nm.problems.create("noisy", problem=first, sd=1.0)
    assert noisy.truth([known[:5]]) == first.truth([known[:5]])


def test_wrappers_go_around_one_another() -> None:
    both = nm.problems.create("noisy", problem={"name": "integer", "problem": "perm"}, sd=1.0)
    assert both.name == "perm:dimension=2,beta=0.5, integer, noise 1"
    assert {"x0": 1, "x1": 2} in both.known_optimizers


def test_a_thousand_variables_of_which_six_matter() -> None:
    places = (1, 70, 110, 230, 410, 999)
    wide = nm.problems.create("embedded", problem="hartmann6", dimension=1000, coordinates=places)
    plain, rng = create("hartmann6"), np.random.default_rng(6)
    X = rng.random((30, 1000))
    assert wide.truth(X) == pytest.approx(plain.truth(X[:, places]), rel=1e-12)
    X[:, places] = plain.known_optimizers
    assert wide.regret(X) == pytest.approx(0.0, abs=1e-9)
    scaled = wide.scaled()
    assert scaled.domain.dimension == 1000
    assert scaled.score(scaled.optimizers) == pytest.approx([1.0])


def test_wide_problems_are_constrained_whole_and_noisy() -> None:
    inner = {"name": "embedded", "problem": "branin", "dimension": 1000, "coordinates": (3, 999)}
    row = {"coefficients": {"x3": 1.0, "x500": 1.0}, "sense": "<=", "bound": 1.2}
    cut = {"name": "constrained", "problem": inner, "constraints": row}
    problem = nm.problems.create("noisy", problem=cut, sd=0.25, seed=1)
    # Branin's minimizers have x0 = -pi, pi and 3 pi; the last one breaks the row with 0.5 beside.
    expected = (np.array([-np.pi, np.pi]) + 5.0) / 15.0
    assert problem.known_optimizers[:, 3] == pytest.approx(expected)
    x = problem.known_optimizers[0]
    assert problem.regret([x]) == pytest.approx([0.0], abs=1e-12)
    assert 0.0 < abs(problem(x) - problem.truth([x])[0]) < 1.5
    levels = nm.problems.create("integer", problem=inner, dimensions=[3, 999], levels=31)
    assert levels({**dict.fromkeys(levels.space.dim_names, 0.1), "x3": 28, "x999": 5}) == (
        pytest.approx(create("branin")([9.0, 2.5]))
    )


def test_bbob_functions_take_every_wrapper() -> None:
    rastrigin = create("bbob:function=3,dimension=2,instance=4")
    whole = nm.problems.create("integer", problem=rastrigin)
    grid = np.array([*itertools.product(range(-5, 6), repeat=2)], dtype=float)
    values = rastrigin.truth(grid)
    best = grid[values.argmin()]
    assert (whole.optimum, whole.worst) == (values.min(), values.max())
    assert {"x0": int(best[0]), "x1": int(best[1])} in whole.known_optimizers
    noisy = nm.problems.create("noisy", problem=whole, sd=1.0)
    assert noisy.scaled().regret(noisy.scaled().optimizers) == pytest.approx(0.0)
    wide = nm.problems.create("embedded", problem=rastrigin, dimension=100, coordinates=(7, 2))
    x = np.full(100, 0.9)
    x[[7, 2]] = (rastrigin.known_optimizers[0] + 5.0) / 10.0
    assert wide.regret([x]) == pytest.approx([0.0], abs=1e-9)
    spread = float(np.subtract(*rastrigin.known_optimizers[0]))
    row = {"coefficients": {"x0": 1.0, "x1": -1.0}, "sense": "<="}
    for margin, optimum in [(1.0, rastrigin.optimum), (-1.0, None)]:
        bounded = row | {"bound": spread + margin}
        cut = nm.problems.create("constrained", problem=rastrigin, constraints=bounded)
        assert cut.optimum == optimum


def test_tuning_tasks_are_constrained_whole_and_noisy() -> None:
    row = {"coefficients": {"layers": 1.0, "taper": 2.0}, "sense": "<=", "bound": 4.0}
    cut = nm.problems.create("constrained", problem="tuning_mlp:data=iris", constraints=row)
    x = {
        "layers": 2,
        "units": 8,
        "taper": 0.5,
        "activation": "tanh",
        "learning_rate": 0.01,
        "batch_size": 64,
        "momentum": 0.9,
        "decay": 0.1,
    }
    plain = create("tuning_mlp:data=iris")(x)
    assert cut(x) == plain
    with pytest.raises(InputError, match="must satisfy its constraints"):
        cut(x | {"layers": 3, "taper": 1.0})
    noisy = nm.problems.create("noisy", problem=cut, sd=0.01)
    assert noisy(x) == noisy(x) != plain
    assert noisy.truth(x) == plain
    quarters = nm.problems.create(
        "integer", problem="tuning_mlp:data=iris", dimensions=["taper"], levels=4
    )
    assert quarters(x | {"taper": 1}) == plain


def test_a_category_before_a_whole_variable_keeps_its_columns() -> None:
    space = nm.Space([nm.Categorical("kind", ["a", "b", "c"]), nm.Real("x", 0.0, 8.0)])
    mixed = nm.problems.Problem(
        "mixed",
        space,
        lambda X: X[:, 1] + 10.0 * X[:, 3],
        optimum=0.0,
        optimizers=[{"kind": "a", "x": 0.0}, {"kind": "c", "x": 0.0}],
    )
    thirds = nm.problems.create("integer", problem=mixed, dimensions=["x"], levels=5)
    assert thirds({"kind": "b", "x": 3}) == 61.0
    assert thirds({"kind": "c", "x": 1}) == 20.0
    assert thirds.known_optimizers == [{"kind": "a", "x": 0}, {"kind": "c", "x": 0}]


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ({"name": "noisy", "problem": "branin", "sd": 0.0}, "sd of the noise must be > 0; got 0.0"),
        ({"name": "noisy", "problem": "branin", "sd": 1.0, "seed": 0.5}, "must be a whole number"),
        ({"name": "noisy", "problem": "test3", "sd": 1.0}, "carries one noise; 'test3' has"),
        ("noisy:sd=1", "'noisy' needs the options problem; got only sd; add them"),
        ("integer", "'integer' needs the options problem; got none; add them"),
        ({"name": "noisy", "problem": 3, "sd": 1.0}, "a problem must be a name"),
        ({"name": "constrained", "problem": "branin", "constraints": []}, "got none; pass one"),
        ({"name": "constrained", "problem": "branin", "constraints": "x < 1"}, "write it so"),
        (
            {"name": "constrained", "problem": "branin", "constraints": {"bound": 1.0}},
            "with the keys coefficients, sense, bound; got",
        ),
        (
            {"name": "constrained", "problem": "branin", "constraints": HALF, "optimum": 0.1},
            "cannot be better than the one without, 0.39",
        ),
        ({"name": "integer", "problem": "branin", "levels": 1}, "levels must be >= 2; got 1"),
        ({"name": "integer", "problem": "branin", "dimensions": ["y"]}, "x0, x1 or a position"),
        ({"name": "integer", "problem": "branin", "dimensions": [2]}, "a position below 2; got 2"),
        ({"name": "integer", "problem": "branin", "dimensions": "x0"}, "must be a sequence"),
        ({"name": "integer", "problem": "test3"}, "noise comes after integers"),
        ({"name": "embedded", "problem": "test3"}, "come after embedding; 'test3' has one"),
        ("embedded:problem=hartmann6,dimension=5", "must be from 6 to"),
        ("embedded:problem=branin,coordinates=(3,3)", "2 distinct positions below 100; got (3, 3)"),
        ("embedded:problem=branin,coordinates=(3,100)", "2 distinct positions below 100"),
        ("embedded:problem=branin,coordinates=(3,)", "2 distinct positions below 100"),
        ("embedded:problem=branin,coordinates=3", "must be a sequence of positions; got 3"),
        (
            {"name": "embedded", "problem": {"name": "integer", "problem": "branin"}},
            "real variables without step or logarithm; got Integer",
        ),
        ("ackley:lower=1,upper=3", "must hold its minimizer 0; got [1, 3]"),
        (
            {"name": "integer", "problem": {"name": "integer", "problem": "branin"}},
            "only real dimensions without step or logarithm",
        ),
    ],
)
def test_wrong_wrappings_are_refused(spec, words) -> None:
    with pytest.raises(InputError) as refusal:
        nm.problems.create(spec)
    assert words in str(refusal.value)


def test_levels_and_constraints_are_refused_together() -> None:
    cut = nm.problems.create("constrained", problem="camelback", constraints=far_corner())
    with pytest.raises(InputError, match="make the problem integer first"):
        nm.problems.create("integer", problem=cut, levels=5)


def test_a_range_without_whole_numbers_is_refused() -> None:
    narrow = nm.problems.Problem("narrow", nm.Space.box([0.2], [0.8]), lambda X: X[:, 0])
    with pytest.raises(InputError, match=r"must have a whole number in its range; got \[0.2, 0.8"):
        nm.problems.create("integer", problem=narrow)


def far_corner() -> nm.LinearConstraint:
    return nm.LinearConstraint({"x0": 1.0, "x1": 1.0}, ">=", HALF["bound"])
