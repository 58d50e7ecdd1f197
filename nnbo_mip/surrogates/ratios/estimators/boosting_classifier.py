"""Class probability by gradient boosting of scikit-learn: trees that sum up to log-odds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.checks import check_count, check_number, check_size
from nnbo_mip.network.graph.tree_arrays import TreeArrays
from nnbo_mip.surrogates.base.abstract import Capability
from nnbo_mip.surrogates.ratios.estimators.catalogue import RatioEstimator
from nnbo_mip.surrogates.ratios.estimators.labels import Labels
from nnbo_mip.surrogates.ratios.estimators.tree_odds import TREE_ODDS, TreeOdds


@dataclass(frozen=True)
class BoostingClassifier(RatioEstimator):
    """Gradient boosting.

    Parameters
    ----------
    n_trees : int
    learning_rate : float
        By which each tree is multiplied.
    max_depth : int
        Of each tree.
    """

    name: ClassVar[str] = "boosting"
    capabilities: ClassVar[frozenset[Capability]] = TREE_ODDS

    n_trees: int = 100
    learning_rate: float = 0.1
    max_depth: int = 3

    def __post_init__(self) -> None:
        """Refuse options that are none."""
        check_size("n_trees", self.n_trees)
        check_number("learning_rate", self.learning_rate, above=0.0)
        check_count("max_depth", self.max_depth)

    def estimate(self, X: FloatArray, labels: Labels, seed: int) -> TreeOdds:
        """Return the sum of the trees, which begins at the log-odds of the classes' shares."""
        if labels.are_all_good:
            return TreeOdds(TreeArrays.constant(labels.prior_odds, X.shape[1]))
        from sklearn.ensemble import GradientBoostingClassifier

        boosting = GradientBoostingClassifier(
            n_estimators=self.n_trees,
            learning_rate=self.learning_rate,
            max_depth=self.max_depth,
            random_state=seed,
        ).fit(X, labels.good)
        trees = [tree.tree_ for tree in boosting.estimators_[:, 0]]
        factor = self.learning_rate * len(trees)  # a sum of trees is the mean of larger ones
        values = [labels.prior_odds + factor * tree.value[:, 0, 0] for tree in trees]
        return TreeOdds(TreeArrays.of_trees(trees, values))
