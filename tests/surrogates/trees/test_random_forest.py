"""Random forests: the contract, scikit-learn's values, what float32 changes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import RandomForestRegressor

from nnbo_mip.core.errors import InputError
from nnbo_mip.network.graph.tree_arrays import TreeArrays
from nnbo_mip.surrogates.trees.random_forest import RandomForest
from nnbo_mip.testing.surrogate_contract import SurrogateContract, sample


class TestForest(SurrogateContract):
    def make(self, **options: Any) -> RandomForest:
        return RandomForest(n_trees=8, **options)


class TestForestOfLargeLeaves(SurrogateContract):
    def make(self, **options: Any) -> RandomForest:
        return RandomForest(n_trees=5, min_samples_leaf=3, max_features=0.5, **options)


class TestSpreadOfTrees(SurrogateContract):
    def make(self, **options: Any) -> RandomForest:
        return RandomForest(n_trees=5, spread="std", max_depth=2, bootstrap=False, **options)


def sklearn_forest(X: Any, y: Any, **options: Any) -> RandomForestRegressor:
    seed = int(np.random.SeedSequence(0).generate_state(1)[0])
    return RandomForestRegressor(30, random_state=seed, **options).fit(X, (y - y.mean()) / y.std())


@pytest.mark.parametrize("min_samples_leaf", [1, 4])
def test_mean_and_trees_are_those_of_scikit_learn(min_samples_leaf: int) -> None:
    X, y = sample(60, 3)
    belief = RandomForest(min_samples_leaf=min_samples_leaf).fit(X, y)
    forest = sklearn_forest(X, y, min_samples_leaf=min_samples_leaf)
    probes = np.random.default_rng(0).uniform(-1.0, 1.0, (300, 3))
    mean = y.mean() + y.std() * forest.predict(probes)
    np.testing.assert_allclose(belief.mean(probes), mean, rtol=1e-12)
    single = np.stack([tree.predict(probes) for tree in forest.estimators_], axis=1)
    np.testing.assert_allclose(belief.members(probes), y.mean() + y.std() * single, rtol=1e-12)


def test_the_std_is_the_root_of_the_total_variance() -> None:
    X, y = sample(80, 2)
    options = {"min_samples_leaf": 6, "bootstrap": False}
    total = RandomForest(max_features=0.5, **options).fit(X, y)
    between = RandomForest(max_features=0.5, spread="std", **options).fit(X, y)
    forest = sklearn_forest(X, y, max_features=0.5, **options)
    probes = np.random.default_rng(0).uniform(-1.0, 1.0, (50, 2))
    values, within = [], []
    for tree in forest.estimators_:
        homes, here = tree.apply(X.astype(np.float32)), tree.apply(probes.astype(np.float32))
        values.append([y[homes == leaf].mean() for leaf in here])
        within.append([y[homes == leaf].var() for leaf in here])
    spread = np.var(values, axis=0)
    np.testing.assert_allclose(between.std(probes) ** 2, spread, rtol=1e-9)
    np.testing.assert_allclose(total.std(probes) ** 2, spread + np.mean(within, axis=0), rtol=1e-9)
    assert (total.std(probes) > between.std(probes)).all()


def test_the_defaults_are_those_of_robo() -> None:
    made = RandomForest()
    assert (made.n_trees, made.bootstrap, made.spread) == (30, True, "total")


def test_thresholds_are_compared_in_float64_where_scikit_learn_rounds_the_point() -> None:
    X, y = np.array([[0.25], [0.75]]), np.array([0.0, 1.0])
    belief = RandomForest(n_trees=1, bootstrap=False).fit(X, y)
    forest = RandomForestRegressor(1, bootstrap=False).fit(X, y)
    threshold = float(belief.trees.threshold[0])
    assert threshold == forest.estimators_[0].tree_.threshold[0] == 0.5
    beyond = np.nextafter(threshold, 1.0)
    assert belief.mean([[threshold], [beyond]]).tolist() == [0.0, 1.0]
    # Rounded to float32 the number beyond is the threshold itself.
    assert np.float32(beyond) == np.float32(threshold)
    assert forest.predict([[beyond]]).tolist() == [0.0]
    further = float(np.nextafter(np.float32(threshold), np.float32(1.0)))
    assert forest.predict([[further]]).tolist() == belief.mean([[further]]).tolist() == [1.0]


def test_observations_keep_their_sides() -> None:
    # Neighbouring float64 numbers that float32 cannot tell apart end in one leaf.
    X = np.array([[0.3], [np.nextafter(0.3, 1.0)], [0.9]])
    belief = RandomForest(n_trees=1, bootstrap=False).fit(X, [1.0, 3.0, 8.0])
    assert belief.mean(X).tolist() == [2.0, 2.0, 8.0]


def test_inputs_beyond_float32_are_refused() -> None:
    with pytest.raises(InputError, match="scale X"):
        RandomForest().fit([[1e39], [0.0]], [0.0, 1.0])


@pytest.mark.parametrize("bad", [{"max_features": 0.0}, {"spread": "mad"}, {"max_depth": 0}])
def test_options_that_are_none_are_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=next(iter(bad))):
        RandomForest(**bad)


def damaged(trees: TreeArrays, column: int, number: float) -> TreeArrays:
    nodes = trees.nodes.copy()
    nodes[0, column] = number
    return replace(trees, nodes=nodes)


@pytest.mark.parametrize(
    ("column", "number", "said"),
    [(0, 7.0, "features"), (0, 0.5, "whole"), (2, 0.0, "child"), (3, 1e9, "child")],
)
def test_arrays_that_are_no_trees_are_refused(column: int, number: float, said: str) -> None:
    trees = RandomForest(n_trees=2).fit(*sample(12, 2)).trees
    with pytest.raises(InputError, match=said):
        damaged(trees, column, number)


def test_one_tree_of_several_is_cut_out_whole() -> None:
    belief = RandomForest(n_trees=4).fit(*sample(20, 2))
    probes = np.random.default_rng(1).uniform(-1.0, 1.0, (30, 2))
    for index in range(4):
        alone = belief.trees.tree(index).members(probes)[:, 0]
        assert np.array_equal(alone, belief.members(probes)[:, index])
