"""Imported estimators predict what the estimators predict, scalers and all."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit, softmax
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.cluster import KMeans
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestRegressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    RobustScaler,
    StandardScaler,
)

import nnbo_mip as nm
from nnbo_mip import certify
from nnbo_mip.core.errors import InputError, UnsupportedError
from nnbo_mip.network.graph.graph import Network
from nnbo_mip.network.importers.sklearn import from_sklearn
from tests.network.strategies import assert_close, seeds

RNG = np.random.default_rng(12)
X = RNG.normal([30.0, -2.0, 0.01], [10.0, 0.5, 0.003], (40, 3))
Y = np.abs(X[:, 0] - 28.0) + 50.0 * X[:, 1] ** 2 + 1e4 * X[:, 2]
NEW = RNG.normal([25.0, -2.5, 0.015], [20.0, 1.5, 0.01], (200, 3))


def _mlp(**options: Any) -> MLPRegressor:
    return MLPRegressor(
        **{"hidden_layer_sizes": (6, 4), "max_iter": 20, "random_state": 1} | options
    )


def _fitted(estimator: Any, targets: Any = Y) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return estimator.fit(X, targets)


def _assert_same(estimator: Any) -> Network:
    network = Network.from_sklearn(estimator)
    expected = estimator.predict(NEW).reshape(len(NEW), -1)
    assert_close(network(NEW), expected, magnitude=float(np.abs(expected).max()))
    return network


ESTIMATORS: dict[str, Callable[[], Any]] = {
    "relu": _mlp,
    "identity": lambda: _mlp(activation="identity"),
    "one hidden layer": lambda: _mlp(hidden_layer_sizes=7),
    "linear regression": LinearRegression,
    "ridge without intercept": lambda: Ridge(fit_intercept=False),
    "standard": lambda: make_pipeline(StandardScaler(), _mlp()),
    "standard without mean": lambda: make_pipeline(StandardScaler(with_mean=False), _mlp()),
    "standard without deviation": lambda: make_pipeline(StandardScaler(with_std=False), _mlp()),
    "min-max": lambda: make_pipeline(MinMaxScaler((-3.0, 2.0)), _mlp()),
    "min-max with clip": lambda: make_pipeline(MinMaxScaler(clip=True), _mlp()),
    "max-abs": lambda: make_pipeline(MaxAbsScaler(), _mlp()),
    "max-abs with clip": lambda: make_pipeline(MaxAbsScaler(clip=True), _mlp()),
    "robust": lambda: make_pipeline(RobustScaler(), _mlp()),
    "robust without center": lambda: make_pipeline(RobustScaler(with_centering=False), _mlp()),
    "robust without scale": lambda: make_pipeline(RobustScaler(with_scaling=False), _mlp()),
    "two scalers": lambda: make_pipeline(RobustScaler(), "passthrough", MinMaxScaler(), _mlp()),
    "nested pipelines": lambda: make_pipeline(make_pipeline(StandardScaler()), _mlp()),
    "principal components": lambda: make_pipeline(StandardScaler(), PCA(2), _mlp()),
    "white components": lambda: make_pipeline(PCA(2, whiten=True), LinearRegression()),
    "an identity function": lambda: make_pipeline(FunctionTransformer(), _mlp()),
    "columns": lambda: make_pipeline(
        ColumnTransformer(
            [("a", StandardScaler(), [2, 0]), ("b", "passthrough", slice(1, 2))],
        ),
        _mlp(),
    ),
    "columns and a remainder": lambda: make_pipeline(
        ColumnTransformer([("a", MinMaxScaler(), [False, True, False])], remainder=RobustScaler()),
        _mlp(),
    ),
    "columns dropped": lambda: make_pipeline(
        ColumnTransformer([("a", "drop", [0]), ("b", StandardScaler(), [1, 2])]), _mlp()
    ),
    "columns with weights": lambda: make_pipeline(
        ColumnTransformer(
            [("a", StandardScaler(), [2, 0]), ("b", "passthrough", [1]), ("c", "drop", [0])],
            transformer_weights={"a": 3.0, "b": -2.0, "c": 9.0},
        ),
        _mlp(),
    ),
    "a remainder with a weight": lambda: make_pipeline(
        ColumnTransformer(
            [("a", MinMaxScaler(clip=True), [1])],
            remainder=RobustScaler(),
            transformer_weights={"remainder": 0.25},
        ),
        _mlp(),
    ),
    "standard target": lambda: TransformedTargetRegressor(
        make_pipeline(StandardScaler(), _mlp()), transformer=StandardScaler()
    ),
    "min-max target": lambda: TransformedTargetRegressor(_mlp(), transformer=MinMaxScaler()),
    "target as it is": lambda: TransformedTargetRegressor(_mlp()),
}


@pytest.mark.parametrize("name", ESTIMATORS)
def test_an_estimator(name: str) -> None:
    _assert_same(_fitted(ESTIMATORS[name]()))


@pytest.mark.parametrize("name", ESTIMATORS)
def test_an_estimator_that_was_fitted_in_float32(name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = ESTIMATORS[name]().fit(X.astype(np.float32), Y.astype(np.float32))
    _assert_same(model)


def test_features_with_names() -> None:
    pandas = pytest.importorskip("pandas")
    columns = ColumnTransformer([("a", StandardScaler(), ["c", "a"]), ("b", "passthrough", ["b"])])
    frame = pandas.DataFrame(X, columns=["a", "b", "c"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = make_pipeline(columns, _mlp()).fit(frame, Y)
    expected = model.predict(pandas.DataFrame(NEW, columns=["a", "b", "c"]))
    assert_close(Network.from_sklearn(model)(NEW)[:, 0], expected, float(np.abs(expected).max()))


def test_the_certified_maximum_is_that_of_predict() -> None:
    columns = ColumnTransformer(
        [("a", StandardScaler(), [0]), ("b", "passthrough", [1])],
        transformer_weights={"a": 3.0, "b": -2.0},
    )
    data = np.random.default_rng(0).uniform(-1.0, 1.0, (50, 2))
    model = make_pipeline(columns, LinearRegression()).fit(data, data @ [1.0, 2.0])
    result = certify(Network.from_sklearn(model), [(-1.0, 1.0)] * 2)
    assert result.value == pytest.approx(model.predict([[1.0, 1.0]])[0], rel=1e-12)


@settings(max_examples=20)
@given(
    seeds,
    st.lists(st.integers(1, 6), min_size=1, max_size=3),
    st.lists(
        st.sampled_from([StandardScaler, MinMaxScaler, MaxAbsScaler, RobustScaler]), max_size=3
    ),
)
def test_random_pipelines(seed: int, widths: list[int], scalers: list[Any]) -> None:
    estimator = _mlp(hidden_layer_sizes=widths, random_state=seed, max_iter=3)
    _assert_same(_fitted(make_pipeline(*(make() for make in scalers), estimator)))


def test_several_targets_become_several_outputs() -> None:
    targets = np.stack([Y, -3.0 * Y + 5.0], axis=1)
    model = TransformedTargetRegressor(
        make_pipeline(StandardScaler(), _mlp()), transformer=StandardScaler()
    )
    assert _assert_same(_fitted(model, targets)).output_names == ("y0", "y1")


def test_scaling_is_folded_into_the_first_layer() -> None:
    network = _assert_same(_fitted(make_pipeline(StandardScaler(), _mlp())))
    assert [layer.width for layer in network.layers] == [6, 4]


class Squares(TransformerMixin, BaseEstimator):
    def fit(self, data: Any, targets: Any = None) -> Squares:
        self.n_features_in_ = data.shape[1]
        return self

    def transform(self, data: Any) -> Any:
        return data**2


class TwiceStandard(StandardScaler):
    def transform(self, X: Any, copy: Any = None) -> Any:
        return 2.0 * super().transform(X, copy)


def _with_nan() -> Any:
    model = _fitted(_mlp())
    model.coefs_[0][1, 2] = np.nan
    return model


REFUSED: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "tanh": (lambda: _fitted(_mlp(activation="tanh")), UnsupportedError, "activation='relu'"),
    "a function": (
        lambda: _fitted(make_pipeline(FunctionTransformer(np.arctan), StandardScaler(), _mlp())),
        UnsupportedError,
        "arbitrary code",
    ),
    "a user's transformer": (
        lambda: _fitted(make_pipeline(Squares(), _mlp())),
        UnsupportedError,
        "Squares is not supported; supported are",
    ),
    "a user's scaler": (
        lambda: _fitted(make_pipeline(TwiceStandard(), _mlp())),
        UnsupportedError,
        "TwiceStandard is not supported",
    ),
    "clusters": (lambda: _fitted(KMeans(2)), UnsupportedError, "KMeans is not supported"),
    "a logarithmic target": (
        lambda: _fitted(TransformedTargetRegressor(_mlp(), func=np.arcsinh, inverse_func=np.sinh)),
        UnsupportedError,
        "whose inverse is not affine",
    ),
    "trees before fit": (
        RandomForestRegressor,
        UnsupportedError,
        r"RandomForestRegressor is not supported; .* nm.surrogates.create\('random_forest'\)",
    ),
    "trees in a pipeline before fit": (
        lambda: make_pipeline(StandardScaler(), RandomForestRegressor()),
        UnsupportedError,
        "RandomForestRegressor is not supported",
    ),
    "fitted trees": (
        lambda: _fitted(RandomForestRegressor(2)),
        UnsupportedError,
        "RandomForestRegressor is not supported",
    ),
    "a class": (lambda: MLPRegressor, InputError, "got the class MLPRegressor; make one and call"),
    "before fit": (_mlp, InputError, "got MLPRegressor before fit; call fit first"),
    "a part before fit": (
        lambda: make_pipeline(StandardScaler(), _mlp()),
        InputError,
        "call fit first",
    ),
    "no estimator": (lambda: np.ones(3), InputError, "got a ndarray; use from_layers"),
    "NaN": (_with_nan, InputError, "MLPRegressor holds NaN"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_imported_is_refused(name: str) -> None:
    make, kind, sentence = REFUSED[name]
    with pytest.raises(kind, match=sentence):
        from_sklearn(make())


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("in_pipeline", [False, True])
def test_a_classifier_has_logits(classes: int, in_pipeline: bool) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 4)) * [1.0, 10.0, 0.1, 1.0]
    y = np.digitize(X[:, 0] + X[:, 3], np.linspace(-0.5, 0.5, classes - 1))
    model = MLPClassifier((8,), max_iter=60, random_state=0)
    fitted = make_pipeline(StandardScaler(), model) if in_pipeline else model
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        fitted.fit(X, y)
    network = Network.from_sklearn(fitted)
    logits = network.evaluate(X)
    assert logits.shape == (120, 1 if classes == 2 else classes)
    both = np.column_stack([-logits, logits])
    shares = expit(both) if classes == 2 else softmax(logits, axis=1)
    np.testing.assert_allclose(shares, fitted.predict_proba(X), atol=1e-12)
    result = nm.certify(fitted, [(-2.0, 2.0)] * 4, output=0, time_limit=20.0)
    assert result.value >= network.evaluate(X[(np.abs(X) <= 2.0).all(axis=1)])[:, 0].max()


def test_a_logistic_regression_has_logits() -> None:
    X = np.random.default_rng(0).normal(size=(60, 3))
    model = LogisticRegression().fit(X, X[:, 0] > 0.0)
    logits = Network.from_sklearn(model).evaluate(X)[:, 0]
    np.testing.assert_allclose(logits, model.decision_function(X), atol=1e-12)
