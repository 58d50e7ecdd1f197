"""The patience of branch and bound: what it ends, what stays true, and who has any."""

import math
from dataclasses import replace

import numpy as np
import pytest

import nnbo_mip as nm
from nnbo_mip.core.errors import InputError
from nnbo_mip.loop.settings.defaults import PATIENCE, PATIENCE_FOR_FEW_INPUTS
from nnbo_mip.loop.settings.stored import settings_of
from nnbo_mip.maximizers.base.abstract import Proposal
from nnbo_mip.maximizers.exact import Auto
from nnbo_mip.surrogates.gp.gp import GaussianProcess, GpBelief

D = 8


@pytest.fixture(scope="module")
def hard() -> tuple[GpBelief, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.uniform(-1.0, 1.0, (40, D))
    y = np.sin(5.0 * X).sum(axis=1) + rng.standard_normal(40)
    return GaussianProcess(ard=True).fit(X, y), X, y


def maximized(hard: tuple[GpBelief, np.ndarray, np.ndarray], patience: float) -> Proposal:
    belief, X, y = hard
    domain = nm.Domain(-np.ones(D), np.ones(D))
    return nm.maximize(
        belief, "ei", domain, X=X, y=y, maximizer=Auto(patience=patience), time_limit=math.inf
    )


def test_a_hopeless_search_ends_with_a_bound_that_holds(
    hard: tuple[GpBelief, np.ndarray, np.ndarray],
) -> None:
    first, again = maximized(hard, 1e-3), maximized(hard, 1e-3)
    assert first.status == "feasible"
    assert first.gap > 1e-4
    assert math.isfinite(first.bound)
    assert not first.time_limited
    assert "left no hope" in first.message
    assert first.bound == again.bound
    assert np.array_equal(first.x, again.x)
    assert dict(first.counters) == dict(again.counters)
    belief, X, y = hard
    best = nm.maximize(
        belief, "ei", nm.Domain(-np.ones(D), np.ones(D)), X=X, y=y, maximizer="lbfgs"
    )
    assert 0.99 * best.value <= first.value <= first.bound
    assert best.value <= first.bound


def test_a_call_has_endless_patience_and_a_run_has_some() -> None:
    assert Auto().patience == math.inf
    box = [(0.0, 1.0)] * 4
    few = nm.BayesianOptimizer(box).settings.maximizer
    assert few == Auto(patience=PATIENCE_FOR_FEW_INPUTS)
    assert nm.BayesianOptimizer([*box, (0.0, 1.0)]).settings.maximizer == Auto(patience=PATIENCE)
    with_solver = nm.BayesianOptimizer(box, maximizer="auto:solver=scip").settings.maximizer
    assert with_solver == replace(few, solver="scip")
    assert nm.BayesianOptimizer(box, maximizer=Auto()).settings.maximizer == Auto()
    given = nm.BayesianOptimizer(box, maximizer="auto:patience=3").settings.maximizer
    assert given == Auto(patience=3.0)


def test_a_stored_run_without_patience_goes_on_without_any() -> None:
    settings = nm.BayesianOptimizer([(0.0, 1.0)], maximizer=Auto()).settings
    assert "patience" not in settings.descriptions["maximizer"]
    again = settings_of(settings.to_dict(), {})
    assert again.maximizer == Auto()
    patient = nm.BayesianOptimizer([(0.0, 1.0)]).settings
    assert settings_of(patient.to_dict(), {}).maximizer == patient.maximizer


def test_a_patience_must_be_positive() -> None:
    with pytest.raises(InputError, match="patience must be a number > 0"):
        nm.BayesianOptimizer([(0.0, 1.0)], maximizer="auto:patience=0")
