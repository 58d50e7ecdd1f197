"""Sparse quadratic models: the contract, what a chain finds, draws, sizes at the edge, runs."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

import nnbo_mip as nm
from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.errors import InputError
from nnbo_mip.loop.settings.defaults import acquisition_for
from nnbo_mip.surrogates.pairs.sparse_quadratic import SparseQuadratic
from nnbo_mip.surrogates.pairs.terms import MOST_PRODUCTS, Terms
from nnbo_mip.testing.surrogate_contract import SurrogateContract


class TestSparseQuadratic(SurrogateContract):
    def make(self, **options: Any) -> SparseQuadratic:
        return SparseQuadratic(**options)


def signs(n: int, d: int, seed: int) -> FloatArray:
    return np.random.default_rng(seed).choice([-1.0, 1.0], (n, d))


def few_terms(X: FloatArray) -> FloatArray:
    return np.asarray(5.0 + 2.0 * X[:, 0] - X[:, 3] + 1.5 * X[:, 1] * X[:, 4] - X[:, 2] * X[:, 5])


def test_the_terms_of_a_sparse_function_are_found_among_hundreds() -> None:
    X = signs(60, 20, 0)
    y = few_terms(X) + 0.05 * np.random.default_rng(1).standard_normal(60)
    belief = SparseQuadratic(seed=2).fit(X, y)
    Z = signs(300, 20, 3)
    assert np.abs(belief.mean(Z) - few_terms(Z)).max() < 0.3
    average = dict(zip(map(tuple, belief.terms.tolist()), belief.weights.mean(axis=0), strict=True))
    assert average[1.0, 4.0] == pytest.approx(1.5, abs=0.1)
    assert average[2.0, 5.0] == pytest.approx(-1.0, abs=0.1)
    assert np.median((belief.weights != 0.0).sum(axis=1)) < 10
    assert 0.0 < belief.noise < 0.5


def test_terms_that_say_nothing_are_left_out() -> None:
    rng = np.random.default_rng(0)
    levels = np.eye(3)[rng.integers(3, size=30)]
    X = np.column_stack([levels, signs(30, 2, 1), rng.uniform(-1.0, 1.0, 30), np.full(30, 0.5)])
    pairs = {tuple(pair) for pair in Terms.of(X, rng.standard_normal(30)).pairs.tolist()}
    assert not pairs & {(0, 1), (0, 2), (1, 2)}  # levels of one category
    assert (5, 5) in pairs  # the only input that takes many values
    assert {(3, 4), (0, 3), (3, 5)} <= pairs
    assert not {pair for pair in pairs if 6 in pair}  # the same everywhere


def test_products_are_screened_where_there_are_too_many() -> None:
    X = signs(80, 150, 0)
    y = X[:, 7] * X[:, 140]
    terms = Terms.of(X, y - y.mean())
    assert int(terms.is_product.sum()) == MOST_PRODUCTS
    assert [7, 140] in terms.pairs.tolist()


def test_draws_are_the_members_and_move_with_the_scale() -> None:
    X = signs(15, 8, 4)
    belief = SparseQuadratic().fit(X, few_terms(X)).scaled(2.0)
    Z = signs(20, 8, 5)
    members = belief.members(Z)
    for seed in range(5):
        values = belief.draw(seed).mean(Z)
        assert np.abs(members - values[:, None]).max(axis=0).min() < 1e-9
    assert members.mean(axis=1) == pytest.approx(belief.mean(Z))
    assert members.std(axis=1) == pytest.approx(belief.std(Z))


@pytest.mark.parametrize(("n", "d"), [(3, 5000), (3000, 2), (60, 1000)])
def test_lopsided_sizes_are_learned_in_seconds(n: int, d: int) -> None:
    X = signs(n, d, 6)
    SparseQuadratic().fit(signs(4, 3, 0), [0.0, 1.0, 2.0, 4.0])  # compiles the kernel
    began = time.process_time()
    belief = SparseQuadratic().fit(X, X[:, 0] + 0.1 * np.arange(n) / n)
    assert np.isfinite(belief.mean(X[:3])).all()
    assert time.process_time() - began < 20.0


@pytest.mark.parametrize("options", [{"n_draws": 1}, {"seed": -1}, {"y_range": (1.0, 0.0)}])
def test_options_that_are_none_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=next(iter(options))):
        SparseQuadratic(**options)


def knapsack(d: int, share: float) -> nm.Space:
    weights = {f"x{i}": float(1 + i % 5) for i in range(d)}
    row = nm.LinearConstraint(weights, "<=", share * sum(weights.values()))
    return nm.Space([nm.Integer(name, 0, 1) for name in weights], constraints=[row])


def test_a_run_under_a_knapsack_certifies_every_step_and_keeps_the_row() -> None:
    assert acquisition_for(None, SparseQuadratic()) == "ts"
    space = knapsack(15, 0.4)

    def cost(x: Any) -> float:
        on = np.array([x[f"x{i}"] for i in range(15)], dtype=float)
        return float(-on @ np.arange(15) + 3.0 * on[:-1] @ on[1:])

    run = nm.optimize(cost, space, 24, surrogate="sparse_quadratic", initial=12, seed=0)
    steps = [step for step in run.steps if step.status != "initial"]
    assert len(steps) == 12
    assert all(step.status == "optimal" for step in steps)
    points = np.vstack([space.encode(step.x) for step in steps])
    assert space.model().admissible(points).all()


def test_a_run_over_everything_certifies_every_step() -> None:
    space = nm.Space(
        [
            *(nm.Integer(f"b{i}", 0, 1) for i in range(4)),
            nm.Categorical("c", ["red", "green", "blue"]),
            nm.Integer("k", 1, 9),
            nm.Real("r", 0.0, 5.0),
        ]
    )

    def cost(x: Any) -> float:
        level = {"red": 0.0, "green": 1.0, "blue": 2.0}[x["c"]]
        best = 2.0 + x["b0"]
        return float((x["r"] - best) ** 2 + abs(x["k"] - 4) + level * (1 + x["b1"]) - x["b2"])

    run = nm.optimize(cost, space, 22, surrogate="sparse_quadratic", initial=10, seed=0)
    steps = [step for step in run.steps if step.status != "initial"]
    assert len(steps) == 12
    assert all(step.status == "optimal" for step in steps)


def never(_: Any) -> float:
    raise AssertionError("nothing may be evaluated")


def test_a_knapsack_that_nothing_fits_is_refused_before_anything_runs() -> None:
    row = nm.LinearConstraint({f"x{i}": 1.0 for i in range(30)}, ">=", 31.0)
    space = nm.Space([nm.Integer(f"x{i}", 0, 1) for i in range(30)], constraints=[row])
    with pytest.raises(InputError, match="admissible"):
        nm.optimize(never, space, 30, surrogate="sparse_quadratic")


def test_a_category_of_two_hundred_levels_is_one_variable_of_few_labels() -> None:
    space = nm.Space(
        [nm.Categorical("c", list(range(200))), *(nm.Integer(f"x{i}", 0, 1) for i in range(20))]
    )

    def cost(x: Any) -> float:
        return float((x["c"] - 50) ** 2 / 1000 + sum(x[f"x{i}"] for i in range(20)))

    run = nm.optimize(cost, space, 14, surrogate="sparse_quadratic", initial=10, seed=0)
    assert all(step.status == "optimal" for step in run.steps[10:])


def test_a_thousand_binaries_under_an_equation_are_bounded_in_seconds() -> None:
    names = [f"x{i}" for i in range(1000)]
    row = nm.LinearConstraint(dict.fromkeys(names, 1.0), "==", 100.0)
    domain = nm.Space([nm.Integer(name, 0, 1) for name in names], constraints=[row]).model()
    rng = np.random.default_rng(0)
    X = np.stack([np.where(rng.permutation(1000) < 100, 1.0, -1.0) for _ in range(12)])
    belief = SparseQuadratic().fit(X, X[:, :50].sum(axis=1))
    began = time.process_time()
    proposal = nm.maximize(belief, "ts", domain, time_limit=5.0)
    assert time.process_time() - began < 20.0
    assert proposal.status in ("optimal", "feasible")
    assert np.isfinite(proposal.bound)
    assert domain.admissible(proposal.x[None, :])[0]
