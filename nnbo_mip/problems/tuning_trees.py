"""The tasks `tuning_forest` and `tuning_boosting`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nnbo_mip.problems.problem import Problem
from nnbo_mip.problems.tuning import tuning_problem
from nnbo_mip.problems.tuning_data import CLASSIFICATION, REGRESSION
from nnbo_mip.space.dimensions import Categorical, Integer, Real

INTERACTIONS = {"all": None, "pairs": "pairwise", "none": "no_interactions"}
"""Which inputs may meet in one tree, and how scikit-learn calls it."""


def tuning_forest(data: str = "digits", seed: int = 0) -> Problem:
    """Tune a random forest, with best splits or extremely randomized ones: six settings.

    Parameters
    ----------
    data : {"breast_cancer", "digits", "iris", "wine", "diabetes"}
        What it learns; diabetes is a regression.
    seed : int
        Of folds and trees.
    """
    return tuning_problem(
        "tuning_forest",
        [
            Integer("trees", 5, 100, log=True),
            Integer("depth", 1, 20),
            Integer("leaf_size", 1, 50, log=True),
            Real("features", 0.05, 1.0),
            Categorical("bootstrap", (True, False)),
            Categorical("splits", ("best", "random")),
        ],
        _forest,
        data,
        CLASSIFICATION + REGRESSION,
        seed,
    )


def tuning_boosting(data: str = "breast_cancer", seed: int = 0) -> Problem:
    """Tune gradient-boosted trees on histograms: seven settings.

    Parameters
    ----------
    data : {"breast_cancer", "digits", "iris", "wine", "diabetes"}
        What they learn; diabetes is a regression.
    seed : int
        Of folds and of the inputs that a split sees.
    """
    return tuning_problem(
        "tuning_boosting",
        [
            Integer("trees", 5, 100, log=True),
            Real("learning_rate", 0.01, 1.0, log=True),
            Integer("leaves", 2, 32, log=True),
            Integer("leaf_size", 1, 50, log=True),
            Real("ridge", 1e-6, 1e2, log=True),
            Real("features", 0.1, 1.0),
            Categorical("interactions", tuple(INTERACTIONS)),
        ],
        _boosting,
        data,
        CLASSIFICATION + REGRESSION,
        seed,
    )


def _forest(setting: Mapping[str, Any], is_classification: bool, seed: int) -> Any:
    from sklearn import ensemble

    prefix = "RandomForest" if setting["splits"] == "best" else "ExtraTrees"
    kind = getattr(ensemble, prefix + ("Classifier" if is_classification else "Regressor"))
    return kind(
        n_estimators=setting["trees"],
        max_depth=setting["depth"],
        min_samples_leaf=setting["leaf_size"],
        max_features=setting["features"],
        bootstrap=setting["bootstrap"],
        random_state=seed,
    )


def _boosting(setting: Mapping[str, Any], is_classification: bool, seed: int) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    kind = HistGradientBoostingClassifier if is_classification else HistGradientBoostingRegressor
    return kind(
        max_iter=setting["trees"],
        learning_rate=setting["learning_rate"],
        max_leaf_nodes=setting["leaves"],
        min_samples_leaf=setting["leaf_size"],
        l2_regularization=setting["ridge"],
        max_features=setting["features"],
        interaction_cst=INTERACTIONS[setting["interactions"]],
        early_stopping=False,
        random_state=seed,
    )
