"""Random forests: regression trees on bootstrapped observations, grown by scikit-learn.

References
----------
Breiman (2001), random forests [Breiman2001].
Hutter et al. (2014), mean and variance by the law of total variance [Hutter2014].
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from nnbo_mip.core.checks import check_choice, check_count, check_flag, check_number, check_size
from nnbo_mip.core.errors import InputError
from nnbo_mip.network.graph.tree_arrays import TreeArrays
from nnbo_mip.surrogates.base.abstract import Belief, Surrogate
from nnbo_mip.surrogates.base.observations import Observations, Standardization
from nnbo_mip.surrogates.trees.forest_belief import FOREST_CAPABILITIES, SPREADS, ForestBelief

LARGEST_INPUT = float(np.finfo(np.float32).max)
"""scikit-learn grows trees on float32 numbers."""

LARGEST_DEVIATION = 1e150
"""Of y, so that variances are finite."""


@dataclass(frozen=True)
class RandomForest(Surrogate):
    """Options of a random forest; the defaults are those of RoBO.

    Parameters
    ----------
    n_trees : int
        T.
    bootstrap : bool
        Whether every tree learns from a sample of the observations drawn with replacement.
    max_features : float
        Share of the inputs that a split may choose from, above 0 and up to 1.
    max_depth : int, optional
        Splits on the way to a leaf at most.
    min_samples_leaf : int
        Observations in a leaf at least.
    spread : str
        ``total``: std is that of a value learned by a random tree, by the law of total variance;
        ``std``: that of the trees about their mean. With one observation a leaf they are the same.
    seed : int
        Of bootstraps and splits.

    Notes
    -----
    Trees see the order of the inputs' values alone, so nothing is standardized but y, and that
    only because scikit-learn takes tiny differences for none.
    """

    name: ClassVar[str] = "random_forest"
    belief_type: ClassVar[type[Belief]] = ForestBelief
    capabilities = FOREST_CAPABILITIES

    n_trees: int = 30
    bootstrap: bool = True
    max_features: float = 1.0
    max_depth: int | None = None
    min_samples_leaf: int = 1
    spread: str = "total"
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse options that are none."""
        check_size("n_trees", self.n_trees)
        check_flag("bootstrap", self.bootstrap)
        check_number("max_features", self.max_features, above=0.0, below=np.nextafter(1.0, 2.0))
        if self.max_depth is not None:
            check_count("max_depth", self.max_depth)
        check_count("min_samples_leaf", self.min_samples_leaf)
        check_choice("spread", self.spread, SPREADS)
        check_count("seed", self.seed, least=0)

    def fit(self, X: npt.ArrayLike, y: npt.ArrayLike) -> ForestBelief:
        """Grow the trees on all observations."""
        from sklearn.ensemble import RandomForestRegressor

        data = Observations.of(X, y)
        if np.abs(data.X).max() > LARGEST_INPUT:
            raise InputError(
                f"X must be within +-{LARGEST_INPUT:.3g} for a random forest; got "
                f"{np.abs(data.X).max():.3g}; scale X to [-1, 1]."
            )
        units = Standardization.of(data, inputs=False, outputs=True)
        if units.y_scale > LARGEST_DEVIATION:
            raise InputError(
                f"y must have a standard deviation of at most {LARGEST_DEVIATION:.3g} for a random "
                f"forest, whose variances it squares; got {units.y_scale:.3g}; divide y."
            )
        forest = RandomForestRegressor(
            int(self.n_trees),
            bootstrap=bool(self.bootstrap),
            max_features=float(self.max_features),
            max_depth=None if self.max_depth is None else int(self.max_depth),
            min_samples_leaf=int(self.min_samples_leaf),
            random_state=int(np.random.SeedSequence(self.seed).generate_state(1)[0]),
        )
        forest.fit(data.X, units.values_inward(data.y))
        trees = TreeArrays.of_sklearn(forest.estimators_, units.y_center, units.y_scale)
        return ForestBelief(trees, self.spread)
