"""The tasks `tuning_mlp` and `tuning_layers`."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.problems.problem import Problem
from nnbo_mip.problems.tuning import tuning_problem
from nnbo_mip.problems.tuning_data import CLASSIFICATION, REGRESSION
from nnbo_mip.space.constraints import LinearConstraint
from nnbo_mip.space.dimensions import Categorical, Integer, Real

N_EPOCHS = 20

N_UNITS = 160


def tuning_mlp(data: str = "digits", seed: int = 0) -> Problem:
    """Tune a small network trained by Adam for 20 epochs: eight settings, as Paramnet of 000 has.

    Layer k has ``units * taper^k`` units, k = 0, 1, …, layers - 1, but never fewer than 2.

    Parameters
    ----------
    data : {"breast_cancer", "digits", "iris", "wine", "diabetes"}
        What it learns; diabetes is a regression, as the tables of 003 are.
    seed : int
        Of folds, first weights and batches.
    """
    return tuning_problem(
        "tuning_mlp",
        [
            Integer("layers", 1, 3),
            Integer("units", 8, 128, log=True),
            Real("taper", 0.25, 1.0),
            Categorical("activation", ("relu", "tanh", "logistic")),
            Real("learning_rate", 1e-4, 1e-1, log=True),
            Integer("batch_size", 16, 256, log=True),
            Real("momentum", 0.5, 0.99),
            Real("decay", 1e-6, 1.0, log=True),
        ],
        _mlp,
        data,
        CLASSIFICATION + REGRESSION,
        seed,
    )


def tuning_layers(data: str = "digits", seed: int = 0) -> Problem:
    """Tune a network of three layers that share `N_UNITS` units: seven settings, one constraint.

    Parameters
    ----------
    data : {"breast_cancer", "digits", "iris", "wine", "diabetes"}
        What it learns; diabetes is a regression.
    seed : int
        Of folds, first weights and batches.
    """
    layers = ("first", "second", "third")
    return tuning_problem(
        "tuning_layers",
        [
            *(Integer(name, 4, 96) for name in layers),
            Categorical("activation", ("relu", "tanh", "logistic")),
            Real("learning_rate", 1e-4, 1e-1, log=True),
            Integer("batch_size", 16, 256, log=True),
            Real("decay", 1e-6, 1.0, log=True),
        ],
        _layers,
        data,
        CLASSIFICATION + REGRESSION,
        seed,
        [LinearConstraint(dict.fromkeys(layers, 1.0), "<=", N_UNITS)],
    )


def _layers(setting: Mapping[str, Any], is_classification: bool, seed: int) -> Any:
    widths = [setting[name] for name in ("first", "second", "third")]
    return _trained(setting, widths, is_classification, seed)


def _mlp(setting: Mapping[str, Any], is_classification: bool, seed: int) -> Any:
    widths = [
        max(2, round(setting["units"] * setting["taper"] ** k)) for k in range(setting["layers"])
    ]
    return _trained(setting, widths, is_classification, seed, beta_1=setting["momentum"])


def _trained(
    setting: Mapping[str, Any], widths: list[int], is_classification: bool, seed: int, **more: Any
) -> Any:
    """Return a network of these widths with what both tasks set."""
    from sklearn.neural_network import MLPClassifier, MLPRegressor

    kind = MLPClassifier if is_classification else MLPRegressor
    return Brief(
        kind(
            hidden_layer_sizes=widths,
            activation=setting["activation"],
            learning_rate_init=setting["learning_rate"],
            batch_size=setting["batch_size"],
            alpha=setting["decay"],
            max_iter=N_EPOCHS,
            n_iter_no_change=N_EPOCHS,
            random_state=seed,
            **more,
        )
    )


@dataclass(frozen=True)
class Brief:
    """A network whose training ends after its epochs, converged or not.

    Parameters
    ----------
    network : MLPClassifier or MLPRegressor
        With as many epochs as it shall have; a batch is never larger than the data.
    """

    network: Any

    def fit(self, X: FloatArray, y: FloatArray) -> None:
        """Train on inputs (n, d) and targets (n,)."""
        from sklearn.exceptions import ConvergenceWarning

        self.network.set_params(batch_size=min(self.network.batch_size, len(X)))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            self.network.fit(X, y)

    def predict(self, X: FloatArray) -> FloatArray:
        """Return the predictions (n,) at inputs (n, d)."""
        predicted: FloatArray = self.network.predict(X)
        return predicted
