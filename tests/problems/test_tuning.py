"""The tuning tasks against scikit-learn's own cross-validation, and what they promise."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
from collections import Counter

import numpy as np
import pytest
from sklearn.compose import TransformedTargetRegressor
from sklearn.datasets import load_diabetes, load_digits, load_iris, load_wine
from sklearn.decomposition import PCA
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingRegressor
from sklearn.linear_model import ElasticNet
from sklearn.metrics import r2_score, zero_one_loss
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_predict
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, RobustScaler, StandardScaler
from sklearn.svm import SVC

import nnbo_mip as nm
from nnbo_mip.cli.space_file import read_space
from nnbo_mip.core.errors import InputError
from tests.problems.catalogue import TUNING, create

# A usual setting of each task, and for each dimension a value that must change the loss.
USUAL = {
    "tuning_svm": {"C": 1.0, "gamma": 0.1},
    "tuning_mlp": {
        "layers": 2,
        "units": 8,
        "taper": 0.5,
        "activation": "relu",
        "learning_rate": 0.01,
        "batch_size": 128,
        "momentum": 0.9,
        "decay": 1e-3,
    },
    "tuning_forest": {
        "trees": 10,
        "depth": 8,
        "leaf_size": 2,
        "features": 0.5,
        "bootstrap": True,
        "splits": "best",
    },
    "tuning_layers": {
        "first": 8,
        "second": 8,
        "third": 8,
        "activation": "relu",
        "learning_rate": 0.01,
        "batch_size": 128,
        "decay": 1e-3,
    },
    "tuning_pipeline": {
        "scaler": "standard",
        "components": 0.5,
        "kernel": "poly",
        "C": 0.1,
        "gamma": 0.1,
        "degree": 3,
        "offset": 1.0,
    },
    "tuning_logistic": {
        "scaler": "standard",
        "components": 0.3,
        "C": 0.05,
        "balanced": False,
        "iterations": 100,
    },
    "tuning_neighbors": {
        "scaler": "standard",
        "components": 0.5,
        "neighbors": 5,
        "weights": "uniform",
        "power": 2.0,
    },
    "tuning_elastic_net": {
        "scaler": "standard",
        "degree": 2,
        "squares": True,
        "penalty": 0.1,
        "lasso": 0.5,
    },
    "tuning_boosting": {
        "trees": 10,
        "learning_rate": 0.1,
        "leaves": 8,
        "leaf_size": 5,
        "ridge": 0.1,
        "features": 0.5,
        "interactions": "all",
    },
}
CHANGED = {
    "tuning_svm": {"C": 1e-3, "gamma": 10.0},
    "tuning_mlp": {
        "layers": 1,
        "units": 16,
        "taper": 1.0,
        "activation": "tanh",
        "learning_rate": 1e-3,
        "batch_size": 64,
        "momentum": 0.5,
        "decay": 1.0,
    },
    "tuning_forest": {
        "trees": 20,
        "depth": 1,
        "leaf_size": 30,
        "features": 0.1,
        "bootstrap": False,
        "splits": "random",
    },
    "tuning_layers": {
        "first": 16,
        "second": 16,
        "third": 16,
        "activation": "tanh",
        "learning_rate": 1e-3,
        "batch_size": 64,
        "decay": 1.0,
    },
    "tuning_pipeline": {
        "scaler": "none",
        "components": 0.1,
        "kernel": "sigmoid",
        "C": 10.0,
        "gamma": 1e-3,
        "degree": 5,
        "offset": 0.0,
    },
    "tuning_logistic": {
        "scaler": "none",
        "components": 0.1,
        "C": 1e3,
        "balanced": True,
        "iterations": 5,
    },
    "tuning_neighbors": {
        "scaler": "none",
        "components": 0.1,
        "neighbors": 20,
        "weights": "distance",
        "power": 1.0,
    },
    "tuning_elastic_net": {
        "scaler": "range",
        "degree": 3,
        "squares": False,
        "penalty": 1.0,
        "lasso": 0.0,
    },
    "tuning_boosting": {
        "trees": 20,
        "learning_rate": 1.0,
        "leaves": 2,
        "leaf_size": 40,
        "ridge": 100.0,
        "features": 0.1,
        "interactions": "none",
    },
}
CLASSES_ONLY = ("tuning_logistic", "tuning_pipeline", "tuning_svm")
FINE = {name: "wine" if name in CLASSES_ONLY else "diabetes" for name in TUNING}
"""Small data on which every dimension matters."""


def task(name: str, seed: int = 0) -> nm.problems.Problem:
    return create(f"{name}:data={FINE[name]},seed={seed}")


def error_of(model: object, X: np.ndarray, y: np.ndarray, seed: int) -> float:
    folds = StratifiedKFold(3, shuffle=True, random_state=seed)
    scaled = make_pipeline(StandardScaler(), model)
    return float(zero_one_loss(y, cross_val_predict(scaled, X, y, cv=folds)))


def unexplained_of(model: object, X: np.ndarray, y: np.ndarray, seed: int) -> float:
    folds = KFold(3, shuffle=True, random_state=seed)
    scaled = make_pipeline(StandardScaler(), model)
    both = TransformedTargetRegressor(scaled, transformer=StandardScaler())
    return 1.0 - float(r2_score(y, cross_val_predict(both, X, y, cv=folds)))


def test_the_svm_has_the_error_of_cross_validation() -> None:
    X, y = load_digits(return_X_y=True)
    expected = error_of(SVC(C=2.0, gamma=0.01), X, y, seed=5)
    assert 0.01 < expected < 0.03
    assert create("tuning_svm:seed=5")({"C": 2.0, "gamma": 0.01}) == pytest.approx(expected)


def test_the_forest_has_the_error_of_cross_validation() -> None:
    X, y = load_iris(return_X_y=True)
    model = ExtraTreesClassifier(
        10, max_depth=8, min_samples_leaf=2, max_features=0.5, bootstrap=True, random_state=3
    )
    forest = create("tuning_forest:data=iris,seed=3")
    found = forest(USUAL["tuning_forest"] | {"splits": "random"})
    assert found == pytest.approx(error_of(model, X, y, seed=3))


def test_boosting_has_the_unexplained_variance_of_cross_validation() -> None:
    X, y = load_diabetes(return_X_y=True)
    model = HistGradientBoostingRegressor(
        max_iter=10,
        max_leaf_nodes=8,
        min_samples_leaf=5,
        l2_regularization=0.1,
        max_features=0.5,
        interaction_cst="pairwise",
        random_state=1,
    )
    boosting = create("tuning_boosting:data=diabetes,seed=1")
    found = boosting(USUAL["tuning_boosting"] | {"interactions": "pairs"})
    assert found == pytest.approx(unexplained_of(model, X, y, seed=1), rel=1e-9)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_network_has_the_unexplained_variance_of_cross_validation() -> None:
    X, y = load_diabetes(return_X_y=True)
    model = MLPRegressor(
        hidden_layer_sizes=(8, 4),
        learning_rate_init=0.01,
        batch_size=128,
        alpha=1e-3,
        max_iter=20,
        random_state=0,
    )
    found = create("tuning_mlp:data=diabetes")(USUAL["tuning_mlp"])
    assert found == pytest.approx(unexplained_of(model, X, y, seed=0), rel=1e-6)


def test_a_pipeline_has_the_error_of_cross_validation() -> None:
    X, y = load_wine(return_X_y=True)
    folds = StratifiedKFold(3, shuffle=True, random_state=2)
    whole = make_pipeline(RobustScaler(), PCA(6), KNeighborsClassifier(7, p=1.5))
    expected = float(zero_one_loss(y, cross_val_predict(whole, X, y, cv=folds)))
    setting = {"scaler": "robust", "components": 0.46, "neighbors": 7, "weights": "uniform"}
    found = create("tuning_neighbors:data=wine,seed=2")(setting | {"power": 1.5})
    assert found == pytest.approx(expected)
    assert 0.0 < expected < 0.2


def test_a_penalized_regression_has_the_unexplained_variance_of_cross_validation() -> None:
    X, y = load_diabetes(return_X_y=True)
    folds = KFold(3, shuffle=True, random_state=0)
    products = PolynomialFeatures(2, include_bias=False)
    net = make_pipeline(StandardScaler(), products, StandardScaler(), ElasticNet(0.1, l1_ratio=0.5))
    both = TransformedTargetRegressor(net, transformer=StandardScaler())
    expected = 1.0 - float(r2_score(y, cross_val_predict(both, X, y, cv=folds)))
    found = create("tuning_elastic_net")(USUAL["tuning_elastic_net"])
    assert found == pytest.approx(expected, rel=1e-3)


def test_three_layers_share_their_units() -> None:
    problem = create("tuning_layers:data=iris")
    with pytest.raises(InputError, match="constraint"):
        problem(USUAL["tuning_layers"] | {"first": 96, "second": 96})


def test_a_kernel_that_sees_nothing_names_the_largest_class() -> None:
    _, y = load_wine(return_X_y=True)
    svm = create("tuning_svm:data=wine")
    missed = 1.0 - max(Counter(y).values()) / len(y)
    assert svm({"C": 1.0, "gamma": 20_000.0}) == pytest.approx(missed)
    assert svm({"C": 1e-4, "gamma": 1e-4}) == pytest.approx(missed)


@pytest.mark.parametrize("name", TUNING)
def test_every_setting_matters(name) -> None:
    problem, usual = task(name), USUAL[name]
    base = problem(usual)
    assert set(CHANGED[name]) == set(problem.space.dim_names)
    same = [key for key, value in CHANGED[name].items() if problem(usual | {key: value}) == base]
    assert same == []


@pytest.mark.parametrize("name", TUNING)
def test_losses_do_not_hang_on_order_company_or_earlier_calls(name) -> None:
    problem = task(name)
    settings = [USUAL[name], USUAL[name] | dict([next(iter(CHANGED[name].items()))])]
    losses = problem.evaluate(settings)
    assert problem.evaluate(settings[::-1])[::-1].tolist() == losses.tolist()
    assert task(name)(settings[1]) == losses[1]
    assert pickle.loads(pickle.dumps(problem))(settings[1]) == losses[1]


@pytest.mark.parametrize("name", TUNING)
def test_seeds_are_different_tasks(name) -> None:
    assert len({task(name, seed)(USUAL[name]) for seed in range(3)}) > 1


def test_losses_are_the_same_in_a_process_with_other_threads_and_nothing_is_loaded_before() -> None:
    script = f"""
import json, sys, nnbo_mip as nm
usual = {USUAL!r}
tasks = {{name: nm.problems.create(name, data=data) for name, data in {FINE!r}.items()}}
assert "sklearn" not in sys.modules
print(json.dumps({{name: tasks[name](usual[name]) for name in tasks}}))
"""
    threads = {"OMP_NUM_THREADS": "3", "OPENBLAS_NUM_THREADS": "3"}
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", script],
        capture_output=True,
        check=True,
        env=os.environ | threads,
        text=True,
    )
    assert json.loads(run.stdout) == {name: task(name)(USUAL[name]) for name in TUNING}


@pytest.mark.parametrize(
    ("name", "data"),
    [
        (name, data)
        for name in TUNING
        for data in dict.fromkeys((FINE[name], "iris"))
        if (name, data) != ("tuning_elastic_net", "iris")
    ],
)
def test_the_corners_are_evaluated_without_a_warning(name, data) -> None:
    problem = create(f"{name}:data={data}")
    box = problem.space.model()
    corners = np.stack([box.lower, box.upper])
    if problem.space.constraints:
        corners[1] = box.repair(corners[1])
    losses = problem.evaluate(problem.space.decode(corners))
    assert (losses >= 0.0).all()
    assert (losses < 10.0).all()


@pytest.mark.parametrize("name", TUNING)
def test_nothing_is_claimed_about_the_optimum(name) -> None:
    problem = nm.problems.create(name)
    assert (problem.optimum, problem.worst, problem.known_optimizers) == (None, None, None)
    with pytest.raises(InputError, match="a regret needs an optimum"):
        problem.regret_of([0.1])


def test_there_are_whole_logarithmic_and_categorical_settings() -> None:
    dimensions = [d for name in TUNING for d in nm.problems.create(name).space.dimensions]
    kinds = Counter((type(d).__name__, getattr(d, "log", False)) for d in dimensions)
    assert kinds == {
        ("Real", False): 10,
        ("Real", True): 12,
        ("Integer", False): 7,
        ("Integer", True): 10,
        ("Categorical", False): 13,
    }


@pytest.mark.parametrize("name", TUNING)
def test_spaces_are_stored_and_mapped_to_model_coordinates(name, tmp_path) -> None:
    space = nm.problems.create(name).space
    path = tmp_path / "space.json"
    path.write_text(json.dumps(space.to_dict()))
    assert read_space(path) == space
    raw = space.numeric().sample(20, np.random.default_rng(3))
    there_and_back = space.decode(space.encode(space.from_numeric(raw)))
    assert space.to_numeric(there_and_back) == pytest.approx(raw, rel=1e-12)


def test_the_middle_of_a_logarithmic_range_is_the_geometric_mean() -> None:
    middle = create("tuning_svm").space.decode([0.0, 0.0])
    assert middle == pytest.approx({"C": 1.0, "gamma": 1.0})


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        (
            "tuning_svm:data=diabetes",
            "data of 'tuning_svm' must be one of breast_cancer, digits, iris, wine; got",
        ),
        ("tuning_mlp:data=mnist", "iris, wine, diabetes; got 'mnist'; choose one of them"),
        ("tuning_mlp:data=7", "got 7"),
        ("tuning_forest:seed=-1", "seed of 'tuning_forest' must be from 0 to 4294967295; got -1"),
        ("tuning_forest:seed=0.5", "seed of 'tuning_forest' must be a whole number; got 0.5"),
        ("tuning_boosting:folds=5", "options of 'tuning_boosting' are data, seed; got 'folds'"),
    ],
)
def test_wrong_options_are_refused(spec, words) -> None:
    with pytest.raises(InputError) as refusal:
        nm.problems.create(spec)
    assert words in str(refusal.value)


def test_settings_outside_their_ranges_are_refused() -> None:
    with pytest.raises(InputError, match="'layers' must lie in"):
        create("tuning_mlp")(USUAL["tuning_mlp"] | {"layers": 4})
