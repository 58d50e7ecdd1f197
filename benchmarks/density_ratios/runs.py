"""Runs of density ratios and their rivals on small functions: regret by evaluations."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

import nnbo_mip as nm
from nnbo_mip.core.arrays import FloatArray

ASCENT = {"name": "epsilon_random", "inner": "lbfgs:raw_samples=256,starts=3"}
"""The maximizer of the source: ascents from the best of 256 points, and now and then at random."""

SAMPLES = {"name": "epsilon_random", "inner": "random:evaluations=2000"}
"""For trees, which have no slopes."""

NET = {"name": "net", "epochs": 300, "learning_rate": 0.01}
LAPLACE = {"name": "boggn", "epochs": 300, "learning_rate": 0.01}

METHODS: Mapping[str, Mapping[str, Any]] = {
    "random": {},
    "tpe": {"surrogate": "tpe:gamma=0.25"},
    "tpe, climbed": {"surrogate": "tpe:gamma=0.25", "maximizer": ASCENT},
    "bore, net": {"surrogate": {"name": "bore", "estimator": NET}, "maximizer": ASCENT},
    "bore, net, certified": {
        "surrogate": {"name": "bore", "estimator": NET},
        "maximizer": "epsilon_random",
    },
    "bore, forest": {"surrogate": "bore:estimator=forest", "maximizer": SAMPLES},
    "bore, boosting": {"surrogate": "bore:estimator=boosting", "maximizer": SAMPLES},
    "bore, svm": {"surrogate": "bore:estimator=svm", "maximizer": ASCENT},
    "bore, kliep": {"surrogate": "bore:estimator=kliep", "maximizer": ASCENT},
    "bore, rulsif": {"surrogate": "bore:estimator=rulsif", "maximizer": ASCENT},
    "boggn": {"surrogate": LAPLACE, "maximizer": ASCENT},
    "boggn, last layer": {"surrogate": {**LAPLACE, "weights": "last"}, "maximizer": ASCENT},
    "gp": {"surrogate": "gp"},
}
"""Options of the loop; without a surrogate points are random. Hyperband is random here, as these
functions have no cheaper budgets."""


def steps_of(
    method: str, problem: str, evaluations: int, initial: int, seed: int
) -> tuple[nm.OptimizeResult, nm.problems.Problem]:
    """Return a run from random starts, and its problem."""
    made = nm.problems.create(problem)
    design = made.space.sample(initial, np.random.default_rng(seed))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", nm.UncertifiedWarning)
        result = nm.optimize(
            made.evaluate,
            made.space,
            evaluations,
            initial={"name": "given", "given": design.tolist()},
            seed=seed,
            **METHODS[method],
        )
    return result, made


def regrets(method: str, problem: str, evaluations: int, initial: int, seed: int) -> FloatArray:
    """Return the regret of the best value after each evaluation (evaluations,)."""
    if METHODS[method]:
        result, made = steps_of(method, problem, evaluations, initial, seed)
        values = np.asarray(result.func_vals)
    else:
        made = nm.problems.create(problem)
        points = made.space.sample(evaluations, np.random.default_rng(seed))
        values = np.array([made.evaluate(x) for x in points]).ravel()
    return np.asarray(np.minimum.accumulate(values) - made.optimum)
