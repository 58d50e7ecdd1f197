"""Noisy values: what is learned, where is looked, what is reported, what is said."""

from __future__ import annotations

import shutil
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nnbo_mip as nm
from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.errors import ModelWarning
from nnbo_mip.loop.evaluation import evaluated
from nnbo_mip.loop.policies.escape import NoEscape, escape_of
from nnbo_mip.loop.record.region_box import RegionBox
from nnbo_mip.loop.step.doubts import (
    N_CORNERS,
    NOTHING_IN_REGION,
    NOTHING_LEFT,
    ONLY_CORNERS,
    ONLY_CORNERS_OF_REGIONS,
    corners_said,
    is_nearly_known,
)
from nnbo_mip.loop.step.training_set import TrainingSet, as_models_see, learned
from nnbo_mip.loop.warps.warping import warp_of
from nnbo_mip.space.domain import Domain
from nnbo_mip.surrogates.gp.belief import GpBelief
from tests.loop.runs import BOX, bowl, figures, optimizer
from tests.loop.step.test_training_set import observed

GP: dict[str, Any] = {"surrogate": "gp", "maximizer": "lbfgs:weak"}


def noisy(deviation: float, seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    return lambda x: bowl(x) + deviation * float(rng.standard_normal())


def told(f: Any, deviation: float) -> Any:
    return lambda x: (f(x), deviation)


def test_a_pair_is_a_value_and_its_deviation() -> None:
    outcome = evaluated(lambda x: (1.5, 0.3), np.zeros(1))
    assert (outcome.y, outcome.noise) == (1.5, 0.3)
    assert evaluated(lambda x: (np.array([1.5]), None), np.zeros(1)).noise is None
    for wrong in (-0.1, np.nan, np.inf, "much"):
        outcome = evaluated(lambda x, wrong=wrong: (1.5, wrong), np.zeros(1))
        assert outcome.y is None
        assert outcome.reason
    assert evaluated(lambda x: (1.0, 2.0, 3.0), np.zeros(1)).y is None


@pytest.mark.parametrize("direction", ["minimize", "maximize"])
def test_the_result_is_the_point_of_the_best_mean(direction: str) -> None:
    sign = 1.0 if direction == "minimize" else -1.0
    f = noisy(0.5)
    result = nm.optimize(
        told(lambda x: sign * f(x), 0.5), BOX, 24, initial=8, direction=direction, **GP
    )
    assert [one.noise for one in result.history] == [0.5] * 24
    assert result.noise == 0.5
    best = result.best_observed
    assert best is not None
    luckiest = min(sign * value for value in result.func_vals)
    assert sign * best.y == luckiest < 0.5  # better than the function can be
    assert bowl(result.x) < 0.9
    assert sign * result.fun == pytest.approx(bowl(result.x), abs=0.5)
    assert any(np.array_equal(result.x, x) for x in result.x_iters)
    assert "values deviate by about 0.5" in str(result)
    assert f"{best.y:.6g}" in str(result)
    assert {"noise", "best_observed"} <= set(result.keys())


def test_values_without_noise_are_reported_as_they_are() -> None:
    result = nm.optimize(bowl, BOX, 14, initial=6, **GP)
    assert result.noise == 0.0
    assert result.fun == bowl(result.x) == min(result.func_vals)
    assert result.best_observed is not None
    assert result.best_observed.y == result.fun
    assert "deviate" not in str(result)


def test_noise_that_nobody_told_is_learned_and_said(tmp_path: Path) -> None:
    f = noisy(0.7)
    path = tmp_path / "run.db"
    result = nm.optimize(f, BOX, 52, initial=50, journal=path, **GP)
    assert result.noise == pytest.approx(0.7, rel=0.4)
    assert "was learned from the values" in result.steps[-1].message
    again = nm.BayesianOptimizer.open(shutil.copy(path, tmp_path / "copy.db"))
    assert figures(again.ask()) == figures(result.optimizer.ask())
    recommended = again.recommend()
    assert recommended is not None
    assert np.array_equal(recommended.x, result.x)
    assert (recommended.y, recommended.noise) == (result.fun, result.noise)


def test_a_family_without_a_mean_and_a_run_without_values_report_the_best_value() -> None:
    run = optimizer(surrogate="bore", acquisition=None)
    assert run.recommend() is None
    run.tell([100.0, -2.0], 3.0, noise=1.0)
    run.tell([100.5, -2.0], 2.0, noise=1.0)
    run.tell([100.5, -1.5], failed=True)
    best = run.recommend()
    assert best is not None
    assert (best.y, best.noise) == (2.0, 0.0)


def test_improvements_are_those_over_the_best_mean_where_values_are_noisy() -> None:
    X = np.linspace(-1.0, 1.0, 9)[:, None]
    y = -np.square(X[:, 0])
    y[2] += 0.8
    belief = nm.surrogates.create("gp", n_restarts=1).fit_with_noise(X, y, 0.4)
    for name in ("ei", "logei", "pi"):
        acquisition = nm.acquisitions.create(name)
        exact: Any = acquisition.resolve(belief, X, y)
        blurred: Any = acquisition.resolve(belief, X, y, noise=0.4)
        given: Any = replace(acquisition, incumbent=0.1)  # type: ignore[type-var]
        assert exact.threshold == y.max()
        assert blurred.threshold == belief.mean(X).max() < y.max()
        assert given.resolve(belief, X, y, noise=0.4).threshold == 0.1


def test_points_are_repeated_where_values_are_noisy() -> None:
    """Of four points one is much better than the others: it is worth a second value."""
    space = nm.Space([nm.Integer("n", 0, 3)])
    values = {0: 0.0, 1: 5.0, 2: 5.0, 3: 5.0}
    run = nm.BayesianOptimizer(space, "gp", maximizer="grid", initial=4)
    for n, y in values.items():
        run.tell({"n": n}, y, noise=0.5)
    step = run.ask()
    assert step.x == {"n": 0}
    assert step.eps == 0.0
    assert "repeated" not in step.message
    rule = escape_of("exclude:noisy=True")
    assert rule.among_noise() == rule
    assert escape_of("exclude").among_noise() == NoEscape()
    assert escape_of("linear").among_noise() == escape_of("linear")


def test_a_warp_does_not_stretch_gaps_that_noise_makes() -> None:
    y = np.array([0.0, 1.0, 1.1, 1.2, 1.25, -30.0])
    plain, blurred = warp_of("asinh").learn(y), warp_of("asinh").learn(y, 0.5)
    spread = np.ptp(plain.values[:5])
    assert spread < 0.7  # 1.25 before
    assert np.ptp(blurred.values[:5]) == pytest.approx(1.25, rel=0.1)
    assert np.ptp(blurred.values) < 0.5 * np.ptp(y)  # a value of sixty deviations is bent
    np.testing.assert_allclose(blurred.outward(blurred.values), y, atol=1e-9)


def test_a_learned_noise_is_that_of_all_values_and_of_no_failure() -> None:
    sample = TrainingSet.of(observed(1.0, None, 2.0), 1, 1.0).with_noise(0.25)
    assert sample.noise is not None
    assert sample.noise[[0, 2]].tolist() == [0.25, 0.25]
    assert np.isnan(sample.noise[1])
    assert (sample.learned, sample.typical_deviation, sample.is_noisy) == (0.25, 0.25, True)
    silent = TrainingSet.of(observed(1.0, 2.0, noise=0.0), 1, 1.0)
    assert not silent.is_noisy


def test_repeated_points_tell_where_the_noise_is_large() -> None:
    rng = np.random.default_rng(0)
    run = nm.BayesianOptimizer([(0.0, 1.0)], "gp", initial=1, maximizer="lbfgs")
    for x, deviation in [(0.2, 0.01), (0.8, 1.0)] * 6 + [(0.5, 0.5), (0.6, 0.5)]:
        run.tell([x], 3.0 * x + deviation * rng.standard_normal())
    sample = as_models_see(TrainingSet.of(run.history, 1, -1.0), run.settings, 0)
    assert sample.noise is not None
    calm, wild = sample.noise[0], sample.noise[1]
    assert calm < 0.7 * wild
    belief = learned(run.settings.surrogate, sample.X, sample.y, sample.noise)
    calm_std, wild_std = belief.std(sample.X[:2])
    assert calm_std < 0.8 * wild_std


def test_a_negligible_score_is_said_and_warned_of_once() -> None:
    """Nothing in sight improves on a value that is far below all others."""
    options: dict[str, Any] = {"maximizer": "random:evaluations=100", "initial": 4, "seed": 0}
    run = nm.BayesianOptimizer([(0.0, 1.0)], "gp", "ei:incumbent=-1e3", warp=None, **options)
    for x in np.linspace(0.0, 1.0, 8):
        run.tell([x], float(np.sin(5.0 * x)))
    with pytest.warns(ModelWarning, match="negligible"):
        first = run.ask()
    assert NOTHING_LEFT in first.message
    run.tell(first, float(first.x[0]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert NOTHING_LEFT in run.ask().message


def test_a_negligible_score_in_a_region_is_said_of_the_region() -> None:
    options: dict[str, Any] = {
        "maximizer": "random:evaluations=100",
        "initial": 4,
        "seed": 0,
        "region": "trust",
    }
    run = nm.BayesianOptimizer([(0.0, 1.0)], "gp", "ei:incumbent=-1e3", warp=None, **options)
    for x in np.linspace(0.0, 1.0, 8):
        run.tell([x], float(np.sin(5.0 * x)))
    with pytest.warns(ModelWarning, match="within the region is negligible"):
        step = run.ask()
    assert step.region is not None
    assert NOTHING_IN_REGION in step.message
    assert NOTHING_LEFT not in step.message


@pytest.mark.parametrize("known", [4, 6])
def test_a_negligible_score_in_a_finite_space_is_warned_of_while_half_is_unknown(
    known: int,
) -> None:
    space = nm.Space([nm.Integer("n", 1, 6), nm.Categorical("c", ["a", "b"])])
    options: dict[str, Any] = {
        "maximizer": "random:evaluations=100",
        "initial": 2,
        "seed": 0,
        "region": None,
    }
    run = nm.BayesianOptimizer(space, "gp", "ei:incumbent=-1e3", warp=None, **options)
    for n in range(1, known + 1):
        run.tell({"n": n, "c": "a"}, float(np.sin(n)))
    assert is_nearly_known(space.model(), known) == (known == 6)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert NOTHING_LEFT in run.ask().message
    assert len(caught) == (known == 4)


def test_corners_in_a_row_are_said() -> None:
    domain = nm.Space.box([0.0, 0.0], [1.0, 1.0]).model()
    rng = np.random.default_rng(0)
    corners = np.sign(rng.standard_normal((N_CORNERS, 2)))
    corners[0], corners[1] = 1.0, -1.0
    assert said(corners, domain) == ONLY_CORNERS
    assert said(np.vstack([[0.3, 0.2], corners]), domain) == ONLY_CORNERS
    assert not said(corners[1:], domain)
    assert not said(np.vstack([corners, [0.0, 1.0]]), domain)
    assert not said(np.ones((N_CORNERS, 2)), domain)  # the optimum may be there
    levels = nm.Space([nm.Categorical("c", ["a", "b"]), nm.Real("x", 0.0, 1.0)]).model()
    assert not said(np.sign(rng.standard_normal((N_CORNERS, 3))), levels)


def test_integers_have_corners_where_they_have_an_inside() -> None:
    many = nm.Space([nm.Integer("n", 1, 9), nm.Integer("m", 0, 9)]).model()
    few = nm.Space([nm.Integer("n", 1, 3), nm.Integer("m", 0, 9)]).model()
    for domain, expected in ((many, ONLY_CORNERS), (few, "")):
        ends = np.array([domain.lower, domain.upper] * 3)
        assert said(ends, domain) == expected


def test_corners_of_regions_are_said_of_the_regions() -> None:
    domain = nm.Space.box([0.0] * 3, [1.0] * 3).model()
    boxes = [
        RegionBox(0.5, np.array([-0.5, 0.1 * k, 0.2]), np.array([0.5, 0.9, 0.2]))
        for k in range(N_CORNERS)
    ]  # the third coordinate does not move
    corners = np.array([(box.lower, box.upper)[k % 2] for k, box in enumerate(boxes)])
    assert corners_said(corners, tuple(boxes), domain) == ONLY_CORNERS_OF_REGIONS
    downhill = np.array([(box.lower, box.upper)[k < 3] for k, box in enumerate(boxes)])
    downhill[:, 0] = -0.5  # only one coordinate turned
    assert not corners_said(downhill, tuple(boxes), domain)
    inside = corners + np.array([0.0, -1e-3, 0.0])
    assert not corners_said(inside, tuple(boxes), domain)
    assert not said(corners, domain)


def said(places: FloatArray, domain: Domain) -> str:
    return corners_said(places, (None,) * len(places), domain)


def test_a_run_that_goes_from_corner_to_corner_is_warned() -> None:
    sides = [(0.0, 1.0)] * 4
    run = nm.BayesianOptimizer(sides, "gp", "ucb:beta=1e6", maximizer="lbfgs", initial=1)
    run.tell([0.5] * 4, 0.0)
    for _ in range(N_CORNERS - 1):
        step = run.ask()
        assert not step.message
        run.tell(step, 0.0)
    with pytest.warns(ModelWarning, match="corners"):
        step = run.ask()
    assert ONLY_CORNERS in step.message


def test_values_that_are_noise_lead_to_no_corner_of_the_space() -> None:
    rng = np.random.default_rng(0)
    run = nm.BayesianOptimizer([(0.0, 1.0)] * 6, maximizer="lbfgs", initial=8)
    for _ in range(14):
        run.tell(run.ask().x, 0.3 * rng.standard_normal(), noise=0.3)
    chosen = np.array([one.z for one in run.history[8:]])
    assert not (np.abs(chosen) == 1.0).all(axis=1).any()  # all of them were


def test_deviations_that_differ_reach_the_process_one_by_one() -> None:
    run = nm.BayesianOptimizer([(0.0, 1.0)], "gp", initial=1, maximizer="lbfgs", warp=None)
    X, y = np.linspace(0.0, 1.0, 6), np.array([0.0, 1.0, 0.5, -0.5, 1.0, 2.0])
    stds = np.array([0.01, 0.5, 0.01, 0.5, 0.01, 0.5])
    for x, value, std in zip(X, y, stds, strict=True):
        run.tell([x], value, noise=std)
    sample = as_models_see(TrainingSet.of(run.history, 1, -1.0), run.settings, 0)
    belief = learned(run.settings.surrogate, sample.X, sample.y, sample.noise)
    assert isinstance(belief, GpBelief)
    deviations = np.sqrt(belief.diagonal) * belief.units.y_scale
    np.testing.assert_allclose(deviations, stds, rtol=1e-3)
    at = belief.std(sample.X)
    assert at[[0, 2, 4]].max() <= 0.01 < 0.02 < at[[1, 3, 5]].min()


def test_a_noise_is_learned_from_values_that_repeat_points() -> None:
    rng = np.random.default_rng(0)
    run = nm.BayesianOptimizer([(0.0, 1.0)], "gp", initial=1, maximizer="lbfgs")
    for x in [*np.linspace(0.1, 0.9, 5)] * 3:
        run.tell([x], 3.0 * x + 0.2 * rng.standard_normal())
    assert "a noise with the standard deviation" in run.ask().message
    found = run.recommend()
    assert found is not None
    assert 0.1 < found.noise < 0.4
