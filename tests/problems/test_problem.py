"""What every problem promises, and what is refused."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest

import nnbo_mip as nm
from nnbo_mip.core.errors import InputError
from nnbo_mip.problems import Problem
from tests.problems.catalogue import EVERY, PLAIN, create

SQUARE = nm.Space.box([-2.0], [2.0])


def square(X: np.ndarray) -> np.ndarray:
    return X[:, 0] ** 2


@pytest.mark.parametrize("spec", EVERY)
def test_a_batch_has_the_values_of_its_points(spec) -> None:
    problem = create(spec)
    X = problem.space.sample(7, seed=1)
    pointwise = np.array([problem(x) for x in X])
    scale = 1e-13 * (problem.worst - problem.optimum)
    assert problem.evaluate(X) == pytest.approx(pointwise, rel=1e-13, abs=scale)
    assert problem.evaluate(X[0]) == pytest.approx(pointwise[:1], rel=1e-13, abs=scale)
    assert isinstance(problem(X[0]), float)
    assert problem.evaluate(X[:0]).shape == (0,)


@pytest.mark.parametrize("spec", EVERY)
def test_the_name_makes_the_problem_again(spec) -> None:
    problem = create(spec)
    again = nm.problems.create(problem.name)
    assert again.name == problem.name
    assert again.space == problem.space
    assert (again.optimum, again.worst) == (problem.optimum, problem.worst)
    X = problem.space.sample(3, seed=2)
    assert (again.evaluate(X) == problem.evaluate(X)).all()


@pytest.mark.parametrize("spec", EVERY)
def test_the_scaled_view_is_one_at_the_optimizers_and_agrees_with_the_values(spec) -> None:
    problem = create(spec)
    scaled = problem.scaled()
    assert scaled.domain.lower.tolist() == [-1.0] * problem.dimension
    assert scaled.regret(scaled.optimizers) == pytest.approx(0.0, abs=1e-9)
    U = np.random.default_rng(3).uniform(-1.0, 1.0, (5, problem.dimension))
    box = problem.space.numeric()
    y = problem.truth(box.lower + (box.upper - box.lower) * (U + 1.0) / 2.0)
    expected = -(2.0 * (y - problem.optimum) / (problem.worst - problem.optimum) - 1.0)
    assert 1.0 - scaled.regret(U) == pytest.approx(expected, rel=1e-9, abs=1e-9)
    if problem.noise is None:
        assert scaled.score(U) == pytest.approx(expected, rel=1e-9, abs=1e-9)
        assert scaled.score(U[0]) == pytest.approx(expected[:1], rel=1e-9, abs=1e-9)


def test_the_published_places_of_scaled_optimizers() -> None:
    places = {
        "forrester": 0.5144975,
        "levy:dimension=1": 0.1,
        "sinone": 0.2660263,
    }
    for spec, place in places.items():
        assert create(spec).scaled().optimizers[0] == pytest.approx([place], abs=5e-8)


def test_scores_fall_below_minus_one_where_a_source_scales_by_less_than_the_range() -> None:
    scaled = create("goldstein_price").scaled()
    assert scaled.score([[1.0, 1.0]]) == pytest.approx([-1.0], abs=1e-12)
    assert scaled.score([[-0.8687, 1.0]])[0] == pytest.approx(-25.47, abs=0.01)


def test_a_maximized_problem_has_its_regret_from_above() -> None:
    peak = Problem(
        "peak",
        SQUARE,
        lambda X: 3.0 - square(X),
        direction="maximize",
        optimum=3.0,
        optimizers=[0.0],
        worst=-1.0,
    )
    assert peak.regret([[0.0], [1.0], [2.0]]) == pytest.approx([0.0, 1.0, 4.0])
    assert peak.scaled().score([[0.0], [0.5], [-1.0]]) == pytest.approx([1.0, 0.5, -1.0])
    assert peak.scaled().score_of([2.0]) == pytest.approx([0.5])


def test_named_dimensions_are_dicts_and_categories_one_hot() -> None:
    space = nm.Space([nm.Real("x", 0.0, 2.0), nm.Categorical("kind", ["a", "b"])])
    problem = Problem(
        "mixed",
        space,
        lambda X: X[:, 0] - X[:, 2],
        optimum=-1.0,
        optimizers={"x": 0.0, "kind": "b"},
        worst=2.0,
    )
    assert problem({"x": 1.5, "kind": "b"}) == 0.5
    assert problem.known_optimizers == [{"x": 0.0, "kind": "b"}]
    assert problem.scaled().score([[0.0, 1.0, 0.0]]) == pytest.approx([1.0 - 4.0 / 3.0])


def test_a_problem_can_be_registered() -> None:
    @nm.problems.register("parabola")
    def parabola(shift: float = 0.0) -> Problem:
        return Problem("parabola", SQUARE, lambda X: (X[:, 0] - shift) ** 2, optimum=0.0)

    try:
        assert "parabola" in nm.problems.available()
        assert nm.problems.create({"name": "parabola", "shift": 1.0})([3.0 / 2.0]) == 0.25
    finally:
        nm.problems.unregister("parabola")


def test_listing_and_creating_loads_no_optimizer_and_no_torch() -> None:
    script = """
import json, sys
import nnbo_mip as nm
nm.problems.available(); nm.problems.create("branin")([0.0, 0.0])
print(json.dumps(sorted({"torch", "scipy.optimize", "sklearn"} & set(sys.modules))))
"""
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert json.loads(run.stdout) == []


def test_there_are_the_functions_that_were_promised() -> None:
    assert len(PLAIN) == 36


REFUSED = [
    ("branyn", "did you mean 'branin'"),
    ("branin:dimension=3", "options of 'branin' are none"),
    ("levy:source=001", "source of 'levy' must be one of 004, 000; got"),
    ("levy:source=True", "source of 'levy' must be one of 004, 000; got True"),
    ("levy:dimension=0", "dimension of 'levy' must be from 1 to 10000; got 0"),
    ("levy:dimension=2.5", "dimension of 'levy' must be a whole number; got 2.5"),
    ("levy:dimensions=2", "did you mean 'dimension'"),
    ("rosenbrock:dimension=1", "must be from 2 to"),
    ("perm:dimension=65", "from 1 to 64; got 65"),
    ("perm:beta=0.1", "beta of 'perm' must be >= 0.5; got 0.1"),
    ("powell:dimension=6", "dimension of 'powell' must be a multiple of 4; got 6"),
    ("michalewicz:dimension=101", "from 1 to 100; got 101"),
    ("hartmann3:source=004", "source of 'hartmann3' must be one of 003, 000"),
    ("test3:seed=-1", "seed of noise must be >= 0; got -1"),
]


@pytest.mark.parametrize(("spec", "words"), REFUSED)
def test_wrong_names_and_options_are_refused(spec, words) -> None:
    with pytest.raises(InputError) as refusal:
        nm.problems.create(spec)
    assert words in str(refusal.value)


def test_a_source_may_be_written_as_a_number() -> None:
    assert create("levy:source=000").name == "levy:dimension=2,source=000"
    assert nm.problems.create("rosenbrock", source=2).name == "rosenbrock:dimension=2,source=002"


@pytest.mark.parametrize(
    ("x", "words"),
    [
        ([0.0, 16.0], "'x1' must lie in [0.0, 15.0]; got 16.0"),
        ([0.0, float("nan")], "finite"),
        ([0.0], "shape"),
        ([[0.0, 1.0], [2.0, 3.0]], "a call takes one x; got 2 of them; use evaluate"),
        ({"x0": 1.0, "x1": 2.0}, "real numbers"),
    ],
)
def test_wrong_points_are_refused(x, words) -> None:
    with pytest.raises(InputError) as refusal:
        create("branin")(x)
    assert words in str(refusal.value)


def test_model_coordinates_outside_the_cube_are_refused() -> None:
    with pytest.raises(InputError, match=r"must lie in \[-1, 1\]; got 1.5 in column 1"):
        create("branin").scaled().score([[0.0, 1.5]])
    with pytest.raises(InputError, match="got nan"):
        create("branin").scaled().regret([[0.0, float("nan")]])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"space": [(-2.0, 2.0)]}, "must be a Space"),
        ({"direction": "down"}, "'minimize' or 'maximize'; got 'down'"),
        ({"optimum": 1.0}, "must be the optimum 1.0; it is off by 1"),
        ({"optimum": None}, "optimizers need their value"),
        ({"optimum": "low"}, "optimum of 'square' must be a real number"),
        ({"worst": -1.0}, "worst must be worse than the optimum 0.0 under minimize; got -1.0"),
        ({"optimizers": [[3.0]]}, "'x0' must lie in [-2.0, 2.0]; got 3.0"),
        ({"function": lambda X: X}, "into (n,) values; got shape (1, 1) for n = 1"),
    ],
)
def test_problems_that_contradict_themselves_are_refused(change, words) -> None:
    options = {
        "name": "square",
        "space": SQUARE,
        "function": square,
        "optimum": 0.0,
        "optimizers": [[0.0]],
        "worst": 4.0,
    }
    with pytest.raises(InputError) as refusal:
        Problem(**{**options, **change})
    assert words in str(refusal.value)


def test_what_is_not_known_is_said() -> None:
    bare = Problem("bare", SQUARE, square)
    with pytest.raises(InputError, match="that of 'bare' is not known"):
        bare.regret([[1.0]])
    with pytest.raises(InputError, match="optimum of 'bare' is not known"):
        bare.scaled()
    with pytest.raises(InputError, match="worst of 'bare' is not known"):
        Problem("bare", SQUARE, square, optimum=0.0).scaled()
