"""Runs that stop rules end, and what they keep of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nnbo_mip as nm
from nnbo_mip.acquisitions.base.schedules import Confidence
from nnbo_mip.loop.judging import standing
from nnbo_mip.loop.judging.model import Model

BOX = [(-1.0, 2.0)]


def bowl(x: Any) -> float:
    return float((x[0] - 0.3) ** 2)


def told(stop: object = None, n: int = 9, sign: float = 1.0, **options: Any) -> Any:
    direction = "minimize" if sign > 0 else "maximize"
    bo = nm.BayesianOptimizer(BOX, stop=stop, direction=direction, **options)
    for x in np.linspace(-1.0, 2.0, n):
        bo.tell([x], sign * np.sin(4.0 * x) * x)
    return bo


def test_a_run_says_why_it_stopped_and_its_journal_keeps_it(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    result = nm.optimize(bowl, BOX, 30, stop="regret:tolerance=0.01", journal=path)
    assert result.nfev < 30
    assert result.success
    assert result.stop is not None
    assert result.stop.number <= 0.01
    assert "stopped by the rule 'regret', as the regret is at most" in result.message
    certificate = nm.Certificate.from_json(result.stop.certificate)
    assert certificate.digest == certificate.content_digest()
    again = nm.BayesianOptimizer.open(path)
    assert again.stopped == result.stop
    assert result.fun <= 0.01


def test_a_run_that_is_over_is_over_when_it_is_called_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "run.db"
    first = nm.optimize(bowl, BOX, 30, stop="regret:tolerance=0.01", journal=path)
    monkeypatch.setattr(Model, "of", None)  # nothing is learned once more
    again = nm.optimize(bowl, BOX, 30, stop="regret:tolerance=0.01", journal=path)
    assert (again.nfev, again.stop) == (first.nfev, first.stop)


def test_a_run_goes_on_under_another_rule(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    first = nm.optimize(bowl, BOX, 14, stop="target:value=1", journal=path)
    assert first.stop is not None
    second = nm.optimize(bowl, BOX, 14, stop="target:value=-1", journal=path)
    assert (second.nfev, second.stop) == (14, None)
    run = nm.BayesianOptimizer.open(path, stop="none")
    assert not run.should_stop()
    assert run.stopped is None  # told since


def test_the_step_s_own_bound_is_taken_where_it_maximizes_expected_improvement(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(standing, "searched", None)  # no second search
    result = nm.optimize(bowl, BOX, 30, stop="ei:tolerance=0.02")
    assert result.stop is not None
    last = result.optimizer.suggestions[-1]
    assert result.stop.number == last.bound <= 0.02
    assert result.stop.certificate == last.certificate_text
    assert result.optimizer.pending == ()  # it was asked, and is not evaluated
    assert "farther than 5e-05 of a side from every known point" in result.stop.reason


@pytest.mark.parametrize("options", [{"acquisition": "ucb"}, {"acquisition": "ei:xi=0.1"}])
def test_other_runs_search_for_the_largest_improvement(options: Any) -> None:
    bo = told("ei:tolerance=1e-9", **options)
    assert not bo.should_stop()
    bo.ask()
    found = bo.should_stop()
    # Its number is the expected improvement of a point, which a sample does not exceed by much.
    model = Model.of(bo.settings, bo.history)
    assert model is not None
    grid = np.linspace(-1.0, 1.0, 2001)[:, None]
    scores = nm.acquisitions.create("ei").scorer(model.belief, model.sample.X, model.sample.y)
    assert found.number >= scores.score(grid).max() * 0.98


FAMILIES = ["gp", "brvfl:n_hidden=20", "nomu:hidden=(4,),epochs=100", "elm:n_hidden=8"]


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("family", FAMILIES)
def test_no_upper_end_of_the_band_exceeds_the_proven_one(family: str, sign: float) -> None:
    bo = told(sign=sign, surrogate=family)
    found = bo.regret_bound()
    lower, upper = found
    model = Model.of(bo.settings, bo.history)
    assert model is not None
    beta = Confidence(0.1, 0.2).value(8, 1)
    assert found.beta == beta
    belief = model.belief.scaled(found.calibration)
    grid = np.linspace(-1.0, 1.0, 4001)[:, None]
    ends = model.sample.outward(belief.mean(grid) + beta * belief.std(grid))
    best = bo.best.y
    if sign > 0:  # minimized
        assert upper == best
        assert lower <= -ends.max()
        assert lower >= -ends.max() - 0.06 * (upper - lower) - 1e-3
    else:
        assert lower == best
        assert upper >= ends.max()
    assert found.kind != "none"
    assert found.proposal is not None
    # The checker has no way of its own for tanh layers.
    wanted = "undecided" if family.startswith("elm") else "confirmed"
    assert found.proposal.check(time_limit=5.0).verdict == wanted


def test_no_model_ends_a_run_before_its_initial_points_are_known() -> None:
    result = nm.optimize(lambda x: 1.0, BOX, 12, stop="ei:tolerance=1|regret:tolerance=1")
    assert result.nfev == result.optimizer.starts == 5


def test_noise_lowers_what_the_best_point_has_at_least() -> None:
    bo = nm.BayesianOptimizer(BOX)
    rng = np.random.default_rng(0)
    for x in np.linspace(-1.0, 2.0, 12):
        bo.tell([x], bowl([x]) + 0.1 * rng.standard_normal(), noise=0.1)
    lower, upper = found = bo.regret_bound()
    recommended = bo.recommend()
    assert recommended is not None
    assert np.allclose(found.x, recommended.x)
    assert lower < 0.0 < upper
    assert upper > recommended.y  # its mean is not sure


def test_a_bound_needs_a_value_and_a_model_that_says_how_sure_it_is() -> None:
    with pytest.raises(nm.InputError, match="a regret bound needs a value"):
        nm.BayesianOptimizer(BOX).regret_bound()
    with pytest.raises(nm.UnsupportedError, match="offers mean, std; that of tpe does not"):
        told(surrogate="tpe").regret_bound()
    with pytest.raises(nm.InputError, match="delta must be"):
        told().regret_bound(delta=2.0)


def test_rules_stand_beside_each_other_in_a_journal(tmp_path: Path) -> None:
    rules = "target:value=-5|patience:evaluations=3"
    path = tmp_path / "run.db"
    result = nm.optimize(bowl, BOX, 40, stop=rules, journal=path)
    assert result.stop is not None
    assert result.stop.rule == "patience"
    assert nm.BayesianOptimizer.open(path).settings.stop == nm.stopping.stop_of(rules)


def test_time_is_that_of_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    result = nm.optimize(bowl, BOX, 8, stop="time:seconds=1e-9")
    assert result.nfev == 0
    assert not result.success
    assert "of 1e-09 s, after 0 of 8 evaluations" in result.message
