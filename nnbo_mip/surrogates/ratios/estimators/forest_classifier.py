"""Class probability by a random forest of scikit-learn: the mean share of good points in leaves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.checks import check_count, check_size
from nnbo_mip.network.graph.tree_arrays import TreeArrays
from nnbo_mip.surrogates.base.abstract import Capability
from nnbo_mip.surrogates.ratios.estimators.catalogue import RatioEstimator
from nnbo_mip.surrogates.ratios.estimators.labels import Labels
from nnbo_mip.surrogates.ratios.estimators.tree_odds import TREE_ODDS, TreeOdds


@dataclass(frozen=True)
class ForestClassifier(RatioEstimator):
    """A random forest.

    Parameters
    ----------
    n_trees : int
    min_leaf : int
        Least number of observations in a leaf.
    max_depth : int, optional
        Left out, trees grow until leaves are pure.
    """

    name: ClassVar[str] = "forest"
    capabilities: ClassVar[frozenset[Capability]] = TREE_ODDS

    n_trees: int = 200
    min_leaf: int = 1
    max_depth: int | None = None

    def __post_init__(self) -> None:
        """Refuse options that are none."""
        check_size("n_trees", self.n_trees)
        check_count("min_leaf", self.min_leaf)
        if self.max_depth is not None:
            check_count("max_depth", self.max_depth)

    def estimate(self, X: FloatArray, labels: Labels, seed: int) -> TreeOdds:
        """Return the forest's probability."""
        if labels.are_all_good:
            return TreeOdds(TreeArrays.constant(labels.prior_odds, X.shape[1]))
        from sklearn.ensemble import RandomForestClassifier

        forest = RandomForestClassifier(
            n_estimators=self.n_trees,
            min_samples_leaf=self.min_leaf,
            max_depth=self.max_depth,
            random_state=seed,
        ).fit(X, labels.good)
        trees = [tree.tree_ for tree in forest.estimators_]
        shares = [tree.value[:, 0, 1] / tree.value[:, 0].sum(axis=1) for tree in trees]
        return TreeOdds(TreeArrays.of_trees(trees, shares), "probability")
