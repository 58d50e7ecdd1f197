"""Surrogates as regressors: scikit-learn's own checks, pipelines, searches."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import nnbo_mip as nm
from nnbo_mip.integrations.sklearn import SurrogateRegressor

FEW = {"epochs": 30}

SURROGATES: tuple[object, ...] = (
    *("gp", "brvfl", "ervfl", "elm", "random_forest", "spherical_linear", "kde", "empirical"),
    *({"name": name, **FEW} for name in ("nomu", "deep_ensemble", "mc_dropout", "neural_linear")),
)

EXPECTED = {
    "empirical": {
        "check_regressors_train": "it predicts the average everywhere, so that its score is 0"
    },
}
"""Checks that must fail, with the reason, by surrogate."""


def expected_failures(estimator: Any) -> dict[str, str]:
    return EXPECTED.get(estimator.surrogate, {}) if isinstance(estimator.surrogate, str) else {}


@pytest.mark.filterwarnings("ignore::UserWarning")  # of hostile data, as the checks pass
@parametrize_with_checks(
    [SurrogateRegressor(one) for one in SURROGATES], expected_failed_checks=expected_failures
)
def test_the_conventions_are_kept(estimator: Any, check: Any) -> None:
    check(estimator)


def some(n: int = 60) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X = rng.uniform(-20.0, 40.0, (n, 2))
    return X, np.sin(X[:, 0] / 8.0) + 1e-3 * X[:, 1]


def test_means_and_stds_are_those_of_the_belief() -> None:
    X, y = some(15)
    model = SurrogateRegressor("gp").fit(X, y)
    unit = 2.0 * (X - X.min(axis=0)) / np.ptp(X, axis=0) - 1.0
    belief = nm.surrogates.create("gp").fit(unit, y)
    mean, std = model.predict(X, return_std=True)
    np.testing.assert_allclose(mean, belief.mean(unit), rtol=1e-6)
    np.testing.assert_allclose(std, belief.std(unit), rtol=1e-2, atol=1e-5)
    as_it_is = SurrogateRegressor("gp", scale_inputs=False).fit(unit, y)
    assert (as_it_is.predict(unit) == belief.mean(unit)).all()
    assert pickle.loads(pickle.dumps(model)).predict(X) == pytest.approx(mean, abs=0.0)


def test_it_is_chosen_by_a_search_in_a_pipeline() -> None:
    X, y = some()
    flow = make_pipeline(StandardScaler(), SurrogateRegressor())
    surrogates = ["empirical", {"name": "brvfl", "n_hidden": 60}]
    grid = {"surrogateregressor__surrogate": surrogates}
    found = GridSearchCV(flow, grid, cv=3).fit(X, y)
    assert found.best_params_["surrogateregressor__surrogate"] != "empirical"
    ours = cross_val_score(SurrogateRegressor("gp"), X, y, cv=3).mean()
    theirs = cross_val_score(GaussianProcessRegressor(alpha=1e-3), X, y, cv=3).mean()
    assert ours > max(0.8, theirs - 0.05)


def test_a_ratio_is_no_regressor() -> None:
    X, y = some(10)
    with pytest.raises(nm.UnsupportedError, match="tpe models a density ratio"):
        SurrogateRegressor("tpe").fit(X, y)
    with pytest.raises(nm.InputError, match="scale_inputs must be True or False"):
        SurrogateRegressor(scale_inputs=2).fit(X, y)  # type: ignore[arg-type]
