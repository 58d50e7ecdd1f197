"""Optima and worst values against published figures, and against a search of their own."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from nnbo_mip.problems import Problem
from tests.problems.catalogue import EVERY, create

# (problem, optimum, one optimizer): as the sources print them, and the literature for the rest.
PUBLISHED = [
    ("forrester", -6.0207400558, [0.75724875]),
    ("levy:dimension=1", 0.0, [1.0]),
    ("sinone", 0.0429263424, [0.63301316]),
    ("branin", 0.39788735773, [-np.pi, 12.275]),
    ("branin", 0.39788735773, [np.pi, 2.275]),
    ("branin", 0.39788735773, [9.42478, 2.475]),
    ("rosenbrock:dimension=5", 0.0, [1.0] * 5),
    ("camelback", -1.0316285, [0.08984, -0.71266]),
    ("camelback", -1.0316285, [-0.08984, 0.71266]),
    ("perm:dimension=5", 0.0, [1.0, 2.0, 3.0, 4.0, 5.0]),
    ("goldstein_price", 3.0, [0.0, -1.0]),
    ("g_function:dimension=5", -7.0, [0.5, 0.0, 1.0, 1.0, 0.0]),
    ("levy:dimension=10,source=000", 0.0, [1.0] * 10),
    ("bohachevsky", 0.0, [0.0, 0.0]),
    ("hartmann3:source=000", -3.86277953, [0.114551, 0.555649, 0.852547]),
    ("hartmann3:source=003", -3.86278, [0.114589, 0.555649, 0.852547]),
    ("hartmann6", -3.32236801, [0.20169, 0.150011, 0.476874, 0.275332, 0.311652, 0.6573]),
    ("sintwo", 0.00184267, [0.63301316, 0.63301316]),
    ("test1", 64.8284, [-77.352]),
    ("test2", 68.0, [-58.119]),
    ("test3", 40.0, [97.389]),
    ("test3b", 40.0, [59.690]),
    ("test4", 100.763, [99.497]),
    ("test4b", 121.409, [58.66]),
    ("mccormick", -1.913223, [-0.547198, -1.547198]),
    ("sine_cosine", -1.96729, [-0.19050]),
    ("sine_parabola", -0.50036, [-0.35939]),
    ("ackley:dimension=7", 0.0, [0.0] * 7),
    ("griewank:dimension=7", 0.0, [0.0] * 7),
    ("michalewicz:dimension=2", -1.8013, [2.2029, 1.5708]),
    ("michalewicz:dimension=5", -4.687658, [2.2029, 1.5708, 1.2850, 1.9231, 1.7205]),
    ("michalewicz:dimension=10", -9.66015, None),
    ("powell:dimension=8", 0.0, [0.0] * 8),
    ("three_hump_camel", 0.0, [0.0, 0.0]),
    ("styblinski_tang:dimension=3", -39.16616570 * 3, [-2.903534] * 3),
    ("robot_arm", 0.0, [0.0] * 8),
]

# Values used for scaling, or checked worst values.
WORST = [
    ("forrester", 15.8297319460),
    ("levy:dimension=1", 15.625),
    ("sinone", 0.9755991438),
    ("branin", 308.1290960),
    ("rosenbrock", 1_102_581.0),
    ("rosenbrock:dimension=5,source=004", 3_240_324.0),
    ("rosenbrock:dimension=5,source=000", 3_532_824.0),
    ("camelback", 162.9),
    ("perm", 110.5),
    ("perm:dimension=5", 476_712_082.0),
    ("goldstein_price", 76_728.0),
    ("goldstein_price:source=000", 1_015_690.0),
    ("g_function:dimension=5", 21.0),
    ("levy:dimension=5", 334.656),
    ("powell", 105_962.0),
    ("three_hump_camel", 2047.9167),
]

# Where worst is a source's constant that values exceed, and where it is a bound beyond them.
EXCEEDED = ("goldstein_price", "rosenbrock:dimension=5")
NOT_REACHED = ("griewank", "griewank:dimension=1", "griewank:dimension=5")


@pytest.mark.parametrize(("spec", "optimum", "optimizer"), PUBLISHED)
def test_optima_are_the_published_ones(spec, optimum, optimizer) -> None:
    problem = create(spec)
    assert problem.optimum == pytest.approx(optimum, rel=5e-6, abs=1e-9)
    if optimizer is not None:
        box = problem.space.numeric()
        distance = np.abs(problem.known_optimizers - optimizer) / (box.upper - box.lower)
        assert distance.max(axis=1).min() < 5e-5


@pytest.mark.parametrize("spec", EVERY)
def test_every_optimizer_attains_the_optimum(spec) -> None:
    problem = create(spec)
    values = problem.truth(problem.known_optimizers)
    assert values == pytest.approx(
        np.full(len(values), problem.optimum), rel=1e-13, abs=1e-13 * (problem.worst - values[0])
    )


@pytest.mark.parametrize("spec", EVERY)
def test_no_point_beats_the_optimum(spec) -> None:
    problem = create(spec)
    found = extreme(problem, sign=1.0)
    assert found >= problem.optimum - 1e-12 * (1.0 + abs(problem.optimum))


@pytest.mark.parametrize("spec", EVERY)
def test_the_worst_value_is_reached_and_not_passed(spec) -> None:
    problem = create(spec)
    found = -extreme(problem, sign=-1.0)
    if spec in EXCEEDED:
        assert found > problem.worst * 1.05
    else:
        assert found <= problem.worst + 1e-9 * abs(problem.worst)
    if spec not in NOT_REACHED:
        assert found >= problem.worst - 1e-3 * (problem.worst - problem.optimum)


@pytest.mark.parametrize(("spec", "worst"), WORST)
def test_scaling_constants_are_the_sources(spec, worst) -> None:
    assert create(spec).worst == pytest.approx(worst, rel=1e-6)


def test_the_second_minimum_of_perm_in_two_dimensions_is_a_fraction() -> None:
    perm = create("perm")
    assert perm.known_optimizers == pytest.approx(np.array([[1.0, 2.0], [23 / 13, 14 / 13]]))


def test_the_g_function_lists_all_its_minima_or_a_thousand() -> None:
    assert create("g_function:dimension=5").known_optimizers.shape == (16, 5)
    assert create("g_function:dimension=30").known_optimizers.shape == (1024, 30)


def test_test3_has_eight_minima_and_the_low_plateau_of_test2_two() -> None:
    assert len(create("test3").known_optimizers) == 8
    assert create("test2").known_optimizers.ravel() == pytest.approx([-58.1195, -51.8363], abs=1e-3)


def extreme(problem: Problem, sign: float) -> float:
    """Return the least value of sign * y found by samples, corners, lines and polishing."""
    box = problem.space.numeric()
    rng = np.random.default_rng(7)

    def cost(X: np.ndarray) -> np.ndarray:
        y = problem.truth(np.clip(X, box.lower, box.upper))
        if sign < 0.0 and problem.noise is not None:  # the upper branch of test3 and test3b
            y = problem.noise.spoiled(X, y, np.full(len(X), 0.25))
        return sign * y

    inside = rng.uniform(box.lower, box.upper, size=(10_000, box.dimension))
    side = rng.integers(3, size=(2_000, box.dimension))
    corners = np.choose(side, [box.lower, box.upper, inside[:2_000]])
    known = problem.known_optimizers[:3]
    spread = 1e-3 * (box.upper - box.lower)
    around = known[:, None, :] + spread * rng.normal(size=(len(known), 100, box.dimension))
    X = np.concatenate([inside, corners, around.reshape(-1, box.dimension)])
    values = cost(X)
    best = float(values.min())
    for start in X[np.argsort(values)[:4]]:
        x = sweep(cost, np.clip(start, box.lower, box.upper), box.lower, box.upper)
        polished = minimize(
            lambda x: cost(x[None])[0],
            x,
            bounds=list(zip(box.lower, box.upper, strict=True)),
            method="L-BFGS-B",
        )
        best = min(best, float(cost(x[None])[0]), float(polished.fun))
    return best


def sweep(cost, x: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """Move each coordinate in turn to the best of 801 values, twice."""
    for _ in range(2):
        for j in range(x.size):
            line = np.repeat(x[None], 801, axis=0)
            line[:, j] = np.linspace(lower[j], upper[j], 801)
            line = np.concatenate([x[None], line])
            x = line[cost(line).argmin()]
    return x
