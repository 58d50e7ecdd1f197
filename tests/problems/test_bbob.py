"""The BBOB functions against published values and formulas, and what their options may be."""

from __future__ import annotations

import pickle
import sys
from math import sqrt

import numpy as np
import pytest

import nnbo_mip as nm
from nnbo_mip.core.errors import InputError, MissingExtraError
from nnbo_mip.problems import Problem

# Values at 0 of instance 1 in two dimensions, functions 1 to 24.
AT_ZERO = """
80.882094 207486.724235 -383.064277 -391.960197 45.79 228346.126628 100.370864 155.776102 130.33
3012722.653838 10191388.742395 253803031.425272 401.519855 -50.862086 1079.926358 146.890211
23.800756 1258.552373 -102.299626 4975.015401 54.300467 -936.055755 31.705101 142.066172
"""

# Function, dimension, optimum, first coordinates of the optimizer, values at 0 and at
# (2.5, -2.5, 2.5, …), of instance 1: from a port of the definitions that is not this package.
PORTED = [
    (3, 2, -462.09, [-2.3408, 2.3000], -383.064277, -207.755273),
    (3, 3, -462.09, [-2.3408, 2.3000, 2.2136], -370.280371, -335.586663),
    (3, 5, -462.09, [-2.3408, 2.3000, 2.2136], -335.003114, -261.820672),
    (3, 10, -462.09, [-2.3408, 2.3000, 2.2136], -226.984987, -2.193932),
    (9, 2, 123.83, [-0.0301, 0.7065], 130.330000, 7964.156262),
    (9, 3, 123.83, [0.4005, 0.7531, 0.1496], 136.830000, 12659.494312),
    (9, 5, 123.83, [0.4634, -0.5610, 0.8059], 149.830000, 3735.816181),
    (9, 10, 123.83, [-0.1570, 0.0759, -0.4878], 182.330000, 83347.082651),
    (15, 2, 1000.0, [-3.0568, 3.0016], 1079.926358, 1274.689115),
    (15, 3, 1000.0, [-3.0568, 3.0016, 3.6392], 1423.649456, 1401.082122),
    (15, 5, 1000.0, [-3.0568, 3.0016, 3.6392], 1383.329774, 2649.755825),
    (15, 10, 1000.0, [-3.0568, 3.0016, 3.6392], 1307.172985, 2271.305712),
    (21, 2, 40.78, [-2.5149, -1.7875], 54.300467, 51.009866),
    (21, 3, 40.78, [-2.5149, -1.7875, 3.8924], 64.209629, 62.540916),
    (21, 5, 40.78, [-2.5149, -1.7875, 3.8924], 75.324773, 103.852573),
    (21, 10, 40.78, [-2.5149, -1.7875, 3.8924], 107.726553, 120.607108),
]


def bbob(function: int, dimension: int = 2, instance: int = 1) -> Problem:
    return nm.problems.create(f"bbob:function={function},dimension={dimension},instance={instance}")


@pytest.mark.parametrize(("function", "printed"), [*enumerate(AT_ZERO.split(), start=1)])
def test_values_at_zero_are_the_published_ones(function, printed) -> None:
    assert bbob(function)([0.0, 0.0]) == pytest.approx(float(printed), abs=6e-7)


@pytest.mark.parametrize(("function", "d", "optimum", "first", "zero", "zigzag"), PORTED)
def test_values_and_optima_are_those_of_a_port(function, d, optimum, first, zero, zigzag) -> None:
    problem = bbob(function, d)
    assert problem.optimum == pytest.approx(optimum, abs=1e-9)
    assert problem.known_optimizers[0][: len(first)] == pytest.approx(first, abs=6e-5)
    turns = 2.5 * (-1.0) ** np.arange(d)
    assert problem.truth([np.zeros(d), turns]) == pytest.approx([zero, zigzag], abs=6e-7)


def oscillated(z: np.ndarray) -> np.ndarray:
    h = np.log(np.abs(z))
    fast, slow = np.where(z > 0.0, 10.0, 5.5), np.where(z > 0.0, 7.9, 3.1)
    return np.sign(z) * np.exp(h + 0.049 * (np.sin(fast * h) + np.sin(slow * h)))


def sphere(x: np.ndarray, best: np.ndarray) -> float:
    return float(((x - best) ** 2).sum())


def ellipsoid(x: np.ndarray, best: np.ndarray) -> float:
    weights = 1e6 ** (np.arange(x.size) / (x.size - 1))
    return float((weights * oscillated(x - best) ** 2).sum())


def rastrigin(x: np.ndarray, best: np.ndarray) -> float:
    share = np.arange(x.size) / (x.size - 1)
    z = oscillated(x - best)
    z = np.where(z > 0.0, np.abs(z) ** (1.0 + 0.2 * share * np.sqrt(np.abs(z))), z)
    z = 10.0 ** (0.5 * share) * z
    return float(10.0 * (x.size - np.cos(2.0 * np.pi * z).sum()) + (z**2).sum())


def slope(x: np.ndarray, best: np.ndarray) -> float:
    weights = np.sign(best) * 10.0 ** (np.arange(x.size) / (x.size - 1))
    return float((5.0 * np.abs(weights) - weights * x).sum())  # within the box nothing is capped


def rosenbrock(x: np.ndarray, best: np.ndarray) -> float:
    z = max(1.0, sqrt(x.size) / 8.0) * (x - best) + 1.0
    return float((100.0 * (z[:-1] ** 2 - z[1:]) ** 2 + (z[:-1] - 1.0) ** 2).sum())


@pytest.mark.parametrize("dimension", [2, 7])
@pytest.mark.parametrize("instance", [1, 41])
@pytest.mark.parametrize(
    ("function", "formula"),
    [(1, sphere), (2, ellipsoid), (3, rastrigin), (5, slope), (8, rosenbrock)],
)
def test_values_are_those_of_the_definition(function, formula, dimension, instance) -> None:
    problem = bbob(function, dimension, instance)
    (best,) = problem.known_optimizers
    X = problem.space.sample(50, seed=4)
    expected = [problem.optimum + formula(x, best) for x in X]
    assert problem.truth(X) == pytest.approx(expected, rel=1e-10, abs=1e-9)


@pytest.mark.parametrize("function", range(1, 25))
def test_no_point_beats_the_optimum_that_is_attained(function) -> None:
    for dimension, instance in [(2, 3), (5, 50), (40, 1)]:
        problem = bbob(function, dimension, instance)
        (best,) = problem.known_optimizers
        assert problem.regret([best])[0] == pytest.approx(0.0, abs=1e-9)
        rng = np.random.default_rng(function)
        near = np.clip(best + rng.normal(scale=1e-3, size=(300, dimension)), -5.0, 5.0)
        X = np.concatenate([problem.space.sample(1000, seed=2), near])
        assert problem.regret(X).min() >= 0.0


def test_instances_are_different_functions_and_the_same_ones_every_time() -> None:
    at = [[1.5, -0.5]]
    values = [float(bbob(24, instance=i).regret(at)[0]) for i in (1, 2, 3, 41)]
    assert len(set(values)) == 4
    assert bbob(24, instance=2).regret(at) == values[1]


def test_the_name_makes_the_problem_again() -> None:
    problem = nm.problems.create({"name": "bbob", "function": 8, "instance": 3})
    assert problem.name == "bbob:function=8,dimension=2,instance=3"
    again = nm.problems.create(problem.name)
    assert (again.name, again.optimum, again.space) == (
        problem.name,
        problem.optimum,
        problem.space,
    )
    assert problem.space == nm.Space.box([-5.0, -5.0], [5.0, 5.0])
    assert problem.direction == "minimize"


def test_arrays_of_any_layout_and_none_at_all_are_evaluated() -> None:
    problem = bbob(17, 3)
    X = problem.space.sample(6, seed=1)
    values = [problem(x) for x in X]
    assert problem.evaluate(np.asfortranarray(X)).tolist() == values
    assert problem.evaluate(np.repeat(X, 2, axis=0)[::2]).tolist() == values
    assert problem.function(X[:0]).shape == (0,)


def test_a_pickled_problem_has_the_same_values() -> None:
    problem = bbob(21, 3, 2)
    X = problem.space.sample(4, seed=1)
    again = pickle.loads(pickle.dumps(problem))
    assert (again.truth(X) == problem.truth(X)).all()


def test_the_scale_of_the_values_is_not_known() -> None:
    with pytest.raises(InputError, match="worst of 'bbob:function=1,dimension=2,instance=1'"):
        bbob(1).scaled()


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("bbob", "'bbob' needs the options function; got none; add them"),
        ("bbob:function=0", "function of 'bbob' must be from 1 to 24; got 0; choose one"),
        ("bbob:function=25", "function of 'bbob' must be from 1 to 24; got 25"),
        ("bbob:function=1.5", "function of 'bbob' must be a whole number; got 1.5"),
        ("bbob:function=1,dimension=1", "dimension of 'bbob' must be from 2 to 40; got 1"),
        ("bbob:function=1,dimension=41", "dimension of 'bbob' must be from 2 to 40; got 41"),
        ("bbob:function=1,instance=0", "instance of 'bbob' must be from 1 to 100000; got 0"),
        ("bbob:function=1,instance=100001", "from 1 to 100000; got 100001"),
        ("bbob:function=1,seed=2", "options of 'bbob' are function, dimension, instance"),
    ],
)
def test_wrong_options_are_refused(spec, words) -> None:
    with pytest.raises(InputError) as refusal:
        nm.problems.create(spec)
    assert words in str(refusal.value)


def test_without_the_package_its_extra_is_named(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "cocoex", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'nnbo_mip\[bbob\]'"):
        bbob(1)
