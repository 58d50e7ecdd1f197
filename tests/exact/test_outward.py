"""What stands between a proven number and a reported bound, against exact arithmetic."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest

from nnbo_mip.core.outward import text_above
from nnbo_mip.core.terms import Measure
from nnbo_mip.exact.scores.problem import HeadProblem
from nnbo_mip.exact.search.rounding import LARGEST_FLOAT, rounded_up, sum_above
from nnbo_mip.exact.trees.cells import TreeCells
from nnbo_mip.exact.trees.scores import tree_scores
from nnbo_mip.network.graph.tree_arrays import LEAF
from nnbo_mip.scores.functions.empirical import EmpiricalImprovement
from nnbo_mip.scores.functions.linear import LinearHead
from nnbo_mip.scores.logarithms import exponential_above, logarithm_above
from nnbo_mip.scores.objective import Objective
from nnbo_mip.scores.posteriors.trees import TreePosterior
from nnbo_mip.space.domain import Domain

BOX = Domain([-1.0], [1.0])


def numbers(rng, count):
    """Floats of all sizes and either sign, some of few digits."""
    found = rng.normal(size=count) * 10.0 ** rng.uniform(-300.0, 300.0, count)
    found[::3] = rng.normal(size=len(found[::3])) * 10.0 ** rng.integers(-3, 4, len(found[::3]))
    found[::7] = np.round(found[::7])
    return found.tolist()


def test_a_fraction_is_rounded_up_to_the_next_float():
    for number in range(-200, 201):
        for by in range(1, 51):
            exact = Fraction(number, by)
            above = rounded_up(exact)
            assert Fraction(math.nextafter(above, -math.inf)) < exact <= Fraction(above)
    assert rounded_up(Fraction(10) ** 400) == math.inf
    assert rounded_up(-(Fraction(10) ** 400)) == -LARGEST_FLOAT


def test_a_sum_is_rounded_up_to_the_next_float():
    rng = np.random.default_rng(0)
    first, second = numbers(rng, 4000), numbers(rng, 4000)
    second[::2] = [-a * (1.0 + 1e-15) for a in first[::2]]
    rounded_down = 0
    for a, b in zip(first, second, strict=True):
        exact, above = Fraction(a) + Fraction(b), sum_above(a, b)
        assert Fraction(math.nextafter(above, -math.inf)) < exact <= Fraction(above)
        rounded_down += Fraction(a + b) < exact
    assert rounded_down > 500
    assert sum_above(-LARGEST_FLOAT, -LARGEST_FLOAT) == -LARGEST_FLOAT
    assert sum_above(math.inf, 1.0) == math.inf


def test_exponentials_and_logarithms_lie_above():
    rng = np.random.default_rng(1)
    logs = [*rng.uniform(-740.0, 709.0, 3000), *rng.normal(size=2000) * 1e-3, -745.0, 0.0, 709.0]
    with localcontext() as context:
        context.prec = 60
        for log in map(float, logs):
            exact, above = Decimal(log).exp(), exponential_above(log)
            assert (
                exact <= Decimal(above) <= exact * Decimal("1.00000000000001") + Decimal("2e-323")
            )
            score = math.exp(log)
            exact, above = Decimal(score).ln(), Decimal(logarithm_above(score))
            assert exact <= above <= exact + abs(exact) * Decimal("1e-14")
    assert exponential_above(709.5) == math.inf
    assert logarithm_above(0.0) == -math.inf
    assert logarithm_above(math.inf) == math.inf


def test_a_bound_is_shown_rounded_up():
    rng = np.random.default_rng(2)
    for number in [*numbers(rng, 3000), 1.0 / 3.0, 0.1, 2.0 / 3.0, -1.0 / 3.0, 0.0, 12345678.9]:
        for digits in (6, 8):
            shown = Decimal(text_above(number, digits))
            assert shown >= Decimal(number)
            assert shown - Decimal(number) <= abs(Decimal(number)) * Decimal(10) ** (1 - digits)
    assert text_above(1.0 / 3.0, 6) == "0.333334"
    assert text_above(0.5, 6) == "0.5"
    assert text_above(math.inf, 6) == "inf"


def test_a_score_that_is_exact_but_for_its_last_rounding_is_closed():
    for value in (0.0, 1.0 / 3.0, 2.0 / 3.0, 1.0, 0.1, 1e-7):
        above = math.nextafter(value, math.inf)
        assert Measure.SCORE.closes(value, above, 0.0)
        assert not Measure.SCORE.closes(value, math.nextafter(above, math.inf), 0.0)
        assert Measure.SCORE.cutoff(value, 0.0) == above
        assert Measure.NATURAL.cutoff(value, 0.0) == value
        for gap in (0.0, 1e-16, 1e-4):
            for measure in (Measure.SCORE, Measure.NATURAL):
                assert measure.closes(value, measure.cutoff(value, gap), gap)


@pytest.mark.parametrize("name", ["mean", "scaled mean", "empirical ei", "std", "ucb", "lcb"])
def test_bounds_of_constant_trees_lie_above_the_exact_score(name):
    rng = np.random.default_rng(3)
    head = {
        "mean": LinearHead(1.0, 0.0, 0.1),
        "scaled mean": LinearHead(0.3, 0.0, -1.7),
        "empirical ei": EmpiricalImprovement(0.1),
        "std": LinearHead(0.0, 1.0),
        "ucb": LinearHead(1.0, 1.3),
        "lcb": LinearHead(1.0, -1.3),
    }[name]
    for case in range(300):
        count = int(rng.integers(1, 51))
        values = rng.normal(size=count) * 10.0 ** float(rng.integers(-160 if case % 5 else -2, 3))
        if case % 7 == 0:
            values[:] = values[0]
        leaves = np.zeros((count, 6))
        leaves[:, [0, 2, 3]] = LEAF
        leaves[:, 4] = values
        posterior = TreePosterior(leaves, np.arange(float(count)), 1.0, "between")
        problem = HeadProblem(Objective(posterior, head), BOX)
        cells = TreeCells(posterior.trees, BOX)
        bound = float(tree_scores(problem, cells).bound(*cells.root(), -np.inf).bound[0])
        exact = exact_score(head, [Fraction(v) for v in values.tolist()])
        assert Decimal(bound) >= exact, (case, bound, exact)


def exact_score(head, values):
    """Return the score of trees with these values, in 400 digits."""
    count = len(values)
    if isinstance(head, EmpiricalImprovement):
        over = [max(v - Fraction(head.threshold), Fraction(0)) for v in values]
        return decimal(sum(over, Fraction(0)) / count)
    mean = sum(values, Fraction(0)) / count
    variance = sum(((v - mean) ** 2 for v in values), Fraction(0)) / count
    with localcontext() as context:
        context.prec = 400
        linear = Fraction(head.mean_weight) * mean + Fraction(head.constant)
        return decimal(linear) + Decimal(head.std_weight) * decimal(variance).sqrt()


def decimal(number):
    """Return a fraction as a decimal of 400 digits, rounded down a little."""
    with localcontext() as context:
        context.prec = 400
        return Decimal(number.numerator) / Decimal(number.denominator)
