"""The task `tuning_svm`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from nnbo_mip.problems.problem import Problem
from nnbo_mip.problems.tuning import tuning_problem
from nnbo_mip.problems.tuning_data import CLASSIFICATION
from nnbo_mip.space.dimensions import Real


def tuning_svm(data: str = "digits", seed: int = 0) -> Problem:
    """Tune a support vector machine: C and gamma, from exp(-10) to exp(10) as in source 000.

    Parameters
    ----------
    data : {"breast_cancer", "digits", "iris", "wine"}
        What it learns.
    seed : int
        Of the folds.
    """
    lower, upper = math.exp(-10.0), math.exp(10.0)
    return tuning_problem(
        "tuning_svm",
        [Real("C", lower, upper, log=True), Real("gamma", lower, upper, log=True)],
        _svm,
        data,
        CLASSIFICATION,
        seed,
    )


def _svm(setting: Mapping[str, Any], is_classification: bool, seed: int) -> Any:
    from sklearn.svm import SVC

    return SVC(C=setting["C"], gamma=setting["gamma"])
