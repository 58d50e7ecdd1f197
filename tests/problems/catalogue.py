"""The problems that are tested, by name with options."""

from __future__ import annotations

import nnbo_mip as nm
from nnbo_mip.problems import Problem

WRAPPERS = ("constrained", "embedded", "integer", "noisy")

TUNING = (
    "tuning_boosting",
    "tuning_elastic_net",
    "tuning_forest",
    "tuning_layers",
    "tuning_logistic",
    "tuning_mlp",
    "tuning_neighbors",
    "tuning_pipeline",
    "tuning_svm",
)

FROM_FILES = ("bbob", "fcnet")
"""Of other packages, or downloads."""

PLAIN = tuple(
    name for name in nm.problems.available() if name not in (*FROM_FILES, *WRAPPERS, *TUNING)
)
"""Functions with a formula of their own, an optimum and a worst value."""

VARIANTS = (
    "ackley:dimension=5",
    "ackley:dimension=3,lower=-5,upper=10",
    "g_function:dimension=1",
    "g_function:dimension=3",
    "goldstein_price:source=000",
    "griewank:dimension=1",
    "griewank:dimension=5",
    "hartmann3:source=000",
    "levy:dimension=1",
    "levy:dimension=1,source=000",
    "levy:dimension=5",
    "levy:dimension=5,source=000",
    "michalewicz:dimension=1",
    "michalewicz:dimension=5",
    "perm:dimension=1",
    "perm:dimension=2,beta=10",
    "perm:dimension=3",
    "perm:dimension=5",
    "powell:dimension=8",
    "rosenbrock:source=000",
    "rosenbrock:source=002",
    "rosenbrock:dimension=3,source=000",
    "rosenbrock:dimension=5",
    "rosenbrock:dimension=5,source=000",
    "rosenbrock:dimension=5,source=002",
    "styblinski_tang:dimension=4",
)

EVERY = PLAIN + VARIANTS


def create(spec: str) -> Problem:
    return nm.problems.create(spec)
