"""The tasks `tuning_pipeline`, `tuning_logistic`, `tuning_neighbors` and `tuning_elastic_net`.

Each is a pipeline that chooses how its inputs are scaled, what it keeps of them, and its model.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.problems.problem import Problem
from nnbo_mip.problems.tuning import tuning_problem
from nnbo_mip.problems.tuning_data import CLASSIFICATION, REGRESSION
from nnbo_mip.space.dimensions import Categorical, Integer, Real

SCALERS = {
    "none": "",
    "standard": "StandardScaler",
    "range": "MinMaxScaler",
    "robust": "RobustScaler",
}
"""How scikit-learn calls them."""


def tuning_pipeline(data: str = "digits", seed: int = 0) -> Problem:
    """Tune scaling, principal components and a support vector machine: seven settings.

    Parameters
    ----------
    data : {"breast_cancer", "digits", "iris", "wine"}
        What it learns.
    seed : int
        Of the folds.
    """
    return tuning_problem(
        "tuning_pipeline",
        [
            Categorical("scaler", tuple(SCALERS)),
            Real("components", 0.1, 1.0),
            Categorical("kernel", ("rbf", "poly", "sigmoid")),
            Real("C", 1e-3, 1e3, log=True),
            Real("gamma", 1e-5, 10.0, log=True),
            Integer("degree", 2, 5),
            Real("offset", 0.0, 2.0),
        ],
        _machine,
        data,
        CLASSIFICATION,
        seed,
        raw=True,
    )


def tuning_logistic(data: str = "breast_cancer", seed: int = 0) -> Problem:
    """Tune scaling, principal components and a logistic regression: five settings.

    Parameters
    ----------
    data : {"breast_cancer", "digits", "iris", "wine"}
        What it learns.
    seed : int
        Of the folds.
    """
    return tuning_problem(
        "tuning_logistic",
        [
            Categorical("scaler", tuple(SCALERS)),
            Real("components", 0.1, 1.0),
            Real("C", 1e-4, 1e4, log=True),
            Categorical("balanced", (False, True)),
            Integer("iterations", 5, 200, log=True),
        ],
        _logistic,
        data,
        CLASSIFICATION,
        seed,
        raw=True,
    )


def tuning_neighbors(data: str = "digits", seed: int = 0) -> Problem:
    """Tune scaling, principal components and nearest neighbours: five settings.

    Parameters
    ----------
    data : {"breast_cancer", "digits", "iris", "wine", "diabetes"}
        What they learn; diabetes is a regression.
    seed : int
        Of the folds.
    """
    return tuning_problem(
        "tuning_neighbors",
        [
            Categorical("scaler", tuple(SCALERS)),
            Real("components", 0.1, 1.0),
            Integer("neighbors", 1, 50, log=True),
            Categorical("weights", ("uniform", "distance")),
            Real("power", 1.0, 4.0),
        ],
        _neighbors,
        data,
        CLASSIFICATION + REGRESSION,
        seed,
        raw=True,
    )


def tuning_elastic_net(data: str = "diabetes", seed: int = 0) -> Problem:
    """Tune scaling, products of inputs and a penalized linear regression: five settings.

    Parameters
    ----------
    data : {"diabetes"}
        What it learns.
    seed : int
        Of the folds.
    """
    return tuning_problem(
        "tuning_elastic_net",
        [
            Categorical("scaler", tuple(SCALERS)),
            Integer("degree", 1, 3),
            Categorical("squares", (True, False)),
            Real("penalty", 1e-5, 10.0, log=True),
            Real("lasso", 0.0, 1.0),
        ],
        _elastic_net,
        data,
        REGRESSION,
        seed,
        raw=True,
    )


def _machine(setting: Mapping[str, Any], is_classification: bool, seed: int) -> Any:
    from sklearn.svm import SVC

    model = SVC(
        C=setting["C"],
        kernel=setting["kernel"],
        gamma=setting["gamma"],
        degree=setting["degree"],
        coef0=setting["offset"],
        max_iter=5000,
    )
    return Reduced(setting["scaler"], setting["components"], model)


def _logistic(setting: Mapping[str, Any], is_classification: bool, seed: int) -> Any:
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(
        C=setting["C"],
        class_weight="balanced" if setting["balanced"] else None,
        max_iter=setting["iterations"],
    )
    return Reduced(setting["scaler"], setting["components"], model)


def _neighbors(setting: Mapping[str, Any], is_classification: bool, seed: int) -> Any:
    from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

    kind = KNeighborsClassifier if is_classification else KNeighborsRegressor
    model = kind(setting["neighbors"], weights=setting["weights"], p=setting["power"])
    return Reduced(setting["scaler"], setting["components"], model)


def _elastic_net(setting: Mapping[str, Any], is_classification: bool, seed: int) -> Any:
    from sklearn.linear_model import ElasticNet
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import PolynomialFeatures, StandardScaler

    products = PolynomialFeatures(
        setting["degree"], interaction_only=not setting["squares"], include_bias=False
    )
    net = ElasticNet(alpha=setting["penalty"], l1_ratio=setting["lasso"], max_iter=500)
    return Quiet(make_pipeline(*_scalers(setting["scaler"]), products, StandardScaler(), net))


def _scalers(name: str) -> list[Any]:
    from sklearn import preprocessing

    return [getattr(preprocessing, SCALERS[name])()] if SCALERS[name] else []


@dataclass(frozen=True)
class Quiet:
    """A model whose training ends after its iterations, converged or not.

    Parameters
    ----------
    model : estimator of scikit-learn
    """

    model: Any

    def fit(self, X: FloatArray, y: FloatArray) -> None:
        """Train on inputs (n, d) and targets (n,)."""
        from sklearn.exceptions import ConvergenceWarning

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            self.model.fit(X, y)

    def predict(self, X: FloatArray) -> FloatArray:
        """Return the predictions (n,) at inputs (n, d)."""
        predicted: FloatArray = self.model.predict(X)
        return predicted


class Reduced:
    """A model of the first principal components of scaled inputs.

    Parameters
    ----------
    scaler : str
        A key of `SCALERS`.
    share : float
        Of the inputs, as many components; one at least.
    model : estimator of scikit-learn
    """

    def __init__(self, scaler: str, share: float, model: Any) -> None:
        self._scaler, self._share, self._model = scaler, share, model

    def fit(self, X: FloatArray, y: FloatArray) -> None:
        """Train on inputs (n, d) and targets (n,)."""
        from sklearn.decomposition import PCA
        from sklearn.pipeline import make_pipeline

        kept = PCA(max(1, round(self._share * X.shape[1])), svd_solver="full")
        self._trained = Quiet(make_pipeline(*_scalers(self._scaler), kept, self._model))
        self._trained.fit(X, y)

    def predict(self, X: FloatArray) -> FloatArray:
        """Return the predictions (n,) at inputs (n, d)."""
        return self._trained.predict(X)
