"""Import a scikit-learn regressor, or the logits of a classifier, as a `Network`.

Scalers are folded into the weights when the network is built, so before any bound is
computed: the network reads the features that ``predict`` reads and gives what it gives,
which is compared at probe points in float64. Of a classifier it gives the logits, which stand
before the last logistic function or softmax: which class leads, and by how much, is read off
their differences.
"""

from __future__ import annotations

import copy
import importlib.util
import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.errors import InputError, UnsupportedError
from nnbo_mip.network.graph.affine import Affine
from nnbo_mip.network.graph.builder import GraphBuilder
from nnbo_mip.network.graph.graph import Network
from nnbo_mip.network.importers.probe import (
    DOUBLE,
    attempt,
    largest_difference,
    not_compared,
    unverified,
)
from nnbo_mip.network.importers.probe_points import probe_points

Step: TypeAlias = Callable[[GraphBuilder, Any, Affine], Affine]


def from_sklearn(estimator: Any, *, verify: bool = True) -> Network:
    """Import a fitted regressor, or the logits of a fitted classifier.

    Parameters
    ----------
    estimator : scikit-learn estimator
        `MLPRegressor` with activation ``relu`` or ``identity``, a linear model, a
        `Pipeline` that ends in one after scalers, PCA or a `ColumnTransformer` of them,
        or a `TransformedTargetRegressor` with such a regressor and a scaler. Of `MLPClassifier`
        and `LogisticRegression`, alone or at the end of a `Pipeline`, the outputs are the logits:
        one for two classes, else one a class, in the order of ``classes_``.
    verify : bool
        Whether to compare the network with ``predict``, and to refuse it where they differ or
        cannot be compared; without, `Network.unverified` says so.

    Returns
    -------
    Network
        One output a target or a logit. ``float32_difference`` holds the largest difference to
        ``predict`` at the probe points, which are float64 numbers here.

    Raises
    ------
    UnsupportedError
        For an estimator that is not supported, and for one whose predictions differ from the
        network's by more than rounding.
    """
    _check_supported(estimator)
    _check_fitted(estimator)
    builder = GraphBuilder(_n_features(estimator))
    network = builder.finish(_apply(builder, estimator, builder.input))
    model = f"the {type(estimator).__name__}"
    if not verify:
        return replace(network, unverified=unverified(model))
    points = probe_points(network)
    seen, error = attempt(lambda: _answers(estimator, points))
    if seen is None:
        raise not_compared(model, error)
    difference = largest_difference(network, points, seen, DOUBLE, model)
    return replace(network, float32_difference=difference)


def _answers(estimator: Any, points: FloatArray) -> FloatArray:
    """Return what an estimator predicts, (n, m), whatever the names its features were given."""
    rows: Any = points
    names = getattr(estimator, "feature_names_in_", None)
    if names is not None and importlib.util.find_spec("pandas"):
        rows = importlib.import_module("pandas").DataFrame(points, columns=list(names))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        predicted = np.asarray(_outputs(estimator, rows), dtype=np.float64)
    return predicted.reshape(len(points), -1)


def _outputs(estimator: Any, rows: Any) -> Any:
    """Return what the network is compared with: predictions, or logits of a classifier."""
    steps = getattr(estimator, "steps", None)
    last = estimator if steps is None else steps[-1][1]
    kind = type(last).__name__
    if kind == "LogisticRegression":
        return estimator.decision_function(rows)
    if kind != "MLPClassifier":
        return estimator.predict(rows)
    plain = copy.copy(last)
    plain.out_activation_ = "identity"  # its own forward pass, without the last function
    if steps is not None:
        plain = type(estimator)([*steps[:-1], (steps[-1][0], plain)])
    logits = np.asarray(plain.predict_proba(rows))
    return logits[:, 1:] if last.n_outputs_ == 1 else logits


def _n_features(estimator: Any) -> int:
    """Return the number of features that the estimator, or its first step that knows, reads."""
    for part in (estimator, *(step for _, step in getattr(estimator, "steps", []))):
        count = getattr(part, "n_features_in_", None)
        if count is not None:
            return int(count)
    raise InputError(
        f"a {type(estimator).__name__} that knows its number of features is expected; got one "
        "without n_features_in_; put a scaler or the regressor first."
    )


def _apply(builder: GraphBuilder, estimator: Any, value: Affine) -> Affine:
    """Return what an estimator computes from a value."""
    _check_supported(estimator)
    _check_fitted(estimator)
    return STEPS[type(estimator).__name__](builder, estimator, value)


# -- regressors -----------------------------------------------------------------------


def _mlp(builder: GraphBuilder, model: Any, value: Affine) -> Affine:
    is_classifier = type(model).__name__ == "MLPClassifier"  # of which the logits are imported
    is_identity = is_classifier or model.out_activation_ == "identity"
    if model.activation not in ("relu", "identity") or not is_identity:
        raise UnsupportedError(
            f"an {type(model).__name__} must have activation 'relu' or 'identity', and an identity "
            f"output, to be piecewise linear; got {model.activation!r} and "
            f"{model.out_activation_!r}; fit it with activation='relu' and the squared error."
        )
    last = len(model.coefs_) - 1
    for position, (weights, bias) in enumerate(zip(model.coefs_, model.intercepts_, strict=True)):
        value = builder.affine(value, _finite(weights, model).T, _finite(bias, model))
        if position < last and model.activation == "relu":
            value = builder.relu(value)
    return value


def _linear_model(builder: GraphBuilder, model: Any, value: Affine) -> Affine:
    weights = np.atleast_2d(_finite(model.coef_, model))
    bias = np.broadcast_to(_finite(model.intercept_, model), (weights.shape[0],))
    return builder.affine(value, weights, bias)


def _pipeline(builder: GraphBuilder, pipeline: Any, value: Affine) -> Affine:
    for _, step in pipeline.steps:
        if step is not None and not isinstance(step, str):
            value = _apply(builder, step, value)
    return value


def _transformed_target(builder: GraphBuilder, model: Any, value: Affine) -> Affine:
    """Undo the scaling of the target behind the regressor."""
    value = _apply(builder, model.regressor_, value)
    scaler = model.transformer_
    kind = type(scaler).__name__
    if kind == "FunctionTransformer" and scaler.func is None and scaler.inverse_func is None:
        return value
    if kind not in SCALERS:
        raise UnsupportedError(
            f"the target may be transformed by {', '.join(sorted(SCALERS))}; got {kind}, whose "
            "inverse is not affine; scale the target by one of them."
        )
    factor, offset = SCALERS[kind](scaler)
    return builder.scale(builder.shift(value, -offset), 1.0 / factor)


# -- transformers ---------------------------------------------------------------------


def _standard_scaler(scaler: Any) -> tuple[FloatArray, FloatArray]:
    """Return the factor and the offset of ``x -> factor * x + offset``."""
    mean = np.zeros(1) if scaler.mean_ is None or not scaler.with_mean else _double(scaler.mean_)
    factor = np.ones(1) if scaler.scale_ is None else 1.0 / _double(scaler.scale_)
    return factor, -mean * factor


def _min_max_scaler(scaler: Any) -> tuple[FloatArray, FloatArray]:
    return _double(scaler.scale_), _double(scaler.min_)


def _max_abs_scaler(scaler: Any) -> tuple[FloatArray, FloatArray]:
    return 1.0 / _double(scaler.scale_), np.zeros(1)


def _robust_scaler(scaler: Any) -> tuple[FloatArray, FloatArray]:
    factor = 1.0 / _double(scaler.scale_) if scaler.with_scaling else np.ones(1)
    return factor, (-_double(scaler.center_) * factor if scaler.with_centering else np.zeros(1))


def _double(numbers: Any) -> FloatArray:
    """Return fitted numbers in float64 before anything is computed with them."""
    return np.asarray(numbers, dtype=np.float64)


def _scaler(builder: GraphBuilder, scaler: Any, value: Affine) -> Affine:
    factor, offset = SCALERS[type(scaler).__name__](scaler)
    scaled = builder.shift(builder.scale(value, _finite(factor, scaler)), _finite(offset, scaler))
    if not getattr(scaler, "clip", False):
        return scaled
    low, high = getattr(scaler, "feature_range", (-1.0, 1.0))
    return builder.clip(scaled, low, high)


def _pca(builder: GraphBuilder, pca: Any, value: Affine) -> Affine:
    weights = _finite(pca.components_, pca)
    # In the type it was fitted in, as the estimator computes it.
    center = _finite(pca.mean_.reshape(1, -1) @ pca.components_.T, pca)[0]
    value = builder.affine(value, weights, -center)
    if not pca.whiten:
        return value
    deviations = np.sqrt(pca.explained_variance_)
    smallest = np.finfo(deviations.dtype).eps
    return builder.scale(value, 1.0 / _double(np.maximum(deviations, smallest)))


def _function_transformer(builder: GraphBuilder, transformer: Any, value: Affine) -> Affine:
    if transformer.func is None:
        return value
    raise UnsupportedError(
        "a FunctionTransformer runs arbitrary code and cannot be imported; "
        f"got func={transformer.func!r:.80}; replace it by a scaler, or apply it to the data."
    )


def _column_transformer(builder: GraphBuilder, transformer: Any, value: Affine) -> Affine:
    parts = []
    factors = transformer.transformer_weights or {}
    for name, step, columns in transformer.transformers_:
        if isinstance(step, str) and step == "drop":
            continue
        part = builder.select(value, _column_index(transformer, columns))
        if part.width:
            part = part if isinstance(step, str) else _apply(builder, step, part)
            parts.append(builder.scale(part, factors.get(name, 1.0)))
    return builder.concatenate(parts)


def _column_index(transformer: Any, columns: Any) -> list[int]:
    """Return column numbers from numbers, a slice, a mask or names."""
    if callable(columns):
        raise UnsupportedError("columns chosen by a function cannot be imported; list them.")
    names = list(getattr(transformer, "feature_names_in_", []))
    everything = np.arange(transformer.n_features_in_)
    if isinstance(columns, slice):
        return [int(i) for i in everything[columns]]
    listed = np.atleast_1d(np.asarray(columns))
    if listed.dtype.kind in "biu":
        return [int(i) for i in everything[listed]]
    return [names.index(name) for name in listed.tolist()]


# -- checks ---------------------------------------------------------------------------


def _finite(values: Any, owner: Any) -> FloatArray:
    array = np.asarray(values, dtype=np.float64)
    if not np.isfinite(array).all():
        raise InputError(
            f"every weight must be finite; {type(owner).__name__} holds NaN or infinity; "
            "fit it again on finite data."
        )
    return array


def _check_supported(estimator: Any) -> None:
    """Refuse what is no estimator, and, fitted or not, estimators that are not listed."""
    from sklearn.base import BaseEstimator

    kind = type(estimator)
    if not isinstance(estimator, BaseEstimator):
        is_class = isinstance(estimator, type)
        raise InputError(
            "a fitted scikit-learn estimator is expected; got "
            f"{f'the class {estimator.__name__}' if is_class else f'a {kind.__name__}'}; "
            f"{'make one and call fit' if is_class else 'use from_layers for plain weights'}."
        )
    if not (kind.__module__.startswith("sklearn.") and kind.__name__ in STEPS):
        remedy = "apply it to the data yourself and import the rest"
        if any(word in kind.__name__ for word in ("Forest", "Trees", "Tree", "Boosting")):
            remedy = (
                "trees are no network: fit nm.surrogates.create('random_forest') to the data "
                "instead, of which nm.maximize proves the maximum"
            )
        elif hasattr(estimator, "predict_proba"):
            remedy = "fit an MLPClassifier instead, of which the logits are imported"
        elif hasattr(estimator, "predict"):
            remedy = "fit one of these to it instead, such as an MLPRegressor"
        raise UnsupportedError(
            f"{kind.__name__} is not supported; supported are {', '.join(sorted(STEPS))}; {remedy}."
        )
    for _, step in getattr(estimator, "steps", []):
        if step is not None and not isinstance(step, str):
            _check_supported(step)


def _check_fitted(estimator: Any) -> None:
    from sklearn.exceptions import NotFittedError
    from sklearn.utils.validation import check_is_fitted

    try:
        check_is_fitted(estimator)
    except NotFittedError as error:
        raise InputError(
            f"a fitted estimator is expected; got {type(estimator).__name__} before fit; "
            "call fit first."
        ) from error


SCALERS: dict[str, Callable[[Any], tuple[FloatArray, FloatArray]]] = {
    "MaxAbsScaler": _max_abs_scaler,
    "MinMaxScaler": _min_max_scaler,
    "RobustScaler": _robust_scaler,
    "StandardScaler": _standard_scaler,
}
"""Factor and offset by class name."""

STEPS: dict[str, Step] = {
    **dict.fromkeys(SCALERS, _scaler),
    **dict.fromkeys(
        (
            *("ElasticNet", "ElasticNetCV", "Lasso", "LassoCV"),
            *("LinearRegression", "LogisticRegression", "Ridge", "RidgeCV"),
        ),
        _linear_model,
    ),
    "ColumnTransformer": _column_transformer,
    "FunctionTransformer": _function_transformer,
    "MLPClassifier": _mlp,
    "MLPRegressor": _mlp,
    "PCA": _pca,
    "Pipeline": _pipeline,
    "TransformedTargetRegressor": _transformed_target,
}
"""Handlers by the exact class's name: a subclass may compute something else."""
