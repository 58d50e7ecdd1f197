"""The sampler and the terminator in studies: what is kept, what is the same, what is refused."""

from __future__ import annotations

import math
import pickle
from pathlib import Path
from typing import Any

import pytest

optuna = pytest.importorskip("optuna")

import nnbo_mip as nm  # noqa: E402
from nnbo_mip.integrations.optuna import CertifiedSampler, CertifiedTerminator  # noqa: E402
from nnbo_mip.integrations.optuna.past import Past  # noqa: E402
from nnbo_mip.integrations.optuna.spaces import Axes  # noqa: E402

optuna.logging.set_verbosity(optuna.logging.ERROR)

Trial = Any


def bowl(trial: Trial) -> float:
    x, y = trial.suggest_float("x", -1.0, 2.0), trial.suggest_float("y", -1.0, 1.0)
    return float((x - 0.3) ** 2 + y * y)


def mixed(trial: Trial) -> float:
    rate = trial.suggest_float("rate", 1e-4, 1.0, log=True)
    units = trial.suggest_int("units", 4, 64, log=True)
    steps = trial.suggest_int("steps", 2, 10, step=2)
    part = trial.suggest_float("part", 0.0, 1.0, step=0.25)
    kind = trial.suggest_categorical("kind", [None, "a", 3])
    worse = 0.0 if kind == "a" else 1.0
    return math.log10(rate / 0.01) ** 2 + abs(units - 20) / 20 + steps / 10 + part + worse


def a_study(n: int = 12, objective: Any = bowl, **options: Any) -> Any:
    sampler = CertifiedSampler(**{"seed": 3, "n_startup_trials": 5, **options})
    study = optuna.create_study(sampler=sampler)
    study.optimize(objective, n_trials=n)
    return study


def test_a_trial_says_what_was_proven_of_it() -> None:
    study = a_study()
    first, last = study.trials[0], study.trials[-1]
    assert "nnbo:status" not in first.user_attrs
    shown = {name.partition(":")[2]: value for name, value in last.user_attrs.items()}
    assert shown["status"] == "optimal"
    assert shown["kind"] == "rigorous"
    assert shown["about"] == "the space"
    assert shown["score"] in ("ei", "logei")
    assert shown["value"] <= shown["bound"]
    assert 0.0 <= shown["gap"] <= 1e-4 + 1e-9
    assert study.best_value < 0.05


def test_the_same_seed_gives_the_same_trials_however_busy_the_machine_is() -> None:
    first, second = (a_study(10, mixed) for _ in range(2))
    assert [one.params for one in first.trials] == [one.params for one in second.trials]
    assert [one.user_attrs for one in first.trials] == [one.user_attrs for one in second.trials]
    assert any(one.user_attrs.get("nnbo:status") == "optimal" for one in first.trials)
    other = a_study(10, mixed, seed=4)
    assert [one.params for one in first.trials] != [one.params for one in other.trials]


def test_values_are_those_of_the_distributions() -> None:
    for trial in a_study(9, mixed).trials:
        assert type(trial.params["rate"]) is float
        assert type(trial.params["units"]) is int
        assert trial.params["steps"] in (2, 4, 6, 8, 10)
        assert trial.params["part"] in (0.0, 0.25, 0.5, 0.75, 1.0)
        assert trial.params["kind"] in (None, "a", 3)


def test_a_logarithm_of_very_many_integers_is_rounded_and_says_so() -> None:
    def objective(trial: Trial) -> float:
        return abs(math.log10(trial.suggest_int("n", 1, 10**9, log=True)) - 4.5)

    last = a_study(7, objective).trials[-1]
    assert type(last.params["n"]) is int
    assert "before 'n' was rounded" in last.user_attrs["nnbo:message"]


def test_many_parameters_are_searched_in_a_region_which_is_said() -> None:
    def objective(trial: Trial) -> float:
        return sum(trial.suggest_float(f"x{k}", -1.0, 1.0) ** 2 for k in range(21))

    shown = a_study(8, objective, n_startup_trials=7).trials[-1].user_attrs
    assert shown["nnbo:about"].startswith("a region whose sides are")
    assert shown["nnbo:value"] <= shown["nnbo:bound"] < math.inf


def test_any_storage_and_a_pickled_sampler_go_on(tmp_path: Path) -> None:
    whole = a_study(9)
    storage = f"sqlite:///{tmp_path}/study.db"
    sampler = CertifiedSampler(seed=3, n_startup_trials=5)
    study = optuna.create_study(study_name="s", storage=storage, sampler=sampler)
    study.optimize(bowl, n_trials=6)
    again = pickle.loads(pickle.dumps(sampler))
    study = optuna.load_study(study_name="s", storage=storage, sampler=again)
    study.optimize(bowl, n_trials=3)
    assert [one.params for one in study.trials] == [one.params for one in whole.trials]


def test_running_trials_are_taken_into_account() -> None:
    study = a_study(8)
    space = study.trials[-1].distributions
    asked = [study.ask() for _ in range(3)]
    points = [(one.suggest_float("x", -1, 2), one.suggest_float("y", -1, 1)) for one in asked]
    assert len({tuple(round(part, 3) for part in point) for point in points}) == 3
    past = Past.of(study, space)
    assert len(past.state(past.axes.space()).pending) == 3


def test_threads_share_a_sampler() -> None:
    study = optuna.create_study(sampler=CertifiedSampler(seed=0, n_startup_trials=4))
    study.optimize(bowl, n_trials=10, n_jobs=2)
    assert all(one.state is optuna.trial.TrialState.COMPLETE for one in study.trials)


def test_failed_trials_and_infinite_values_count_as_failures() -> None:
    def objective(trial: Trial) -> float:
        value = bowl(trial)
        if trial.number == 6:
            raise RuntimeError("out of memory")
        return math.inf if trial.number == 7 else value

    study = optuna.create_study(sampler=CertifiedSampler(seed=3, n_startup_trials=5))
    study.optimize(objective, n_trials=9, catch=RuntimeError)
    past = Past.of(study, study.trials[-1].distributions)
    state = past.state(past.axes.space())
    assert [one.number for one in state.observations if one.failed] == [6, 7]
    assert "trial 6 has no value" in state.observations[6].reason


def test_conditional_parameters_go_to_the_independent_sampler() -> None:
    def objective(trial: Trial) -> float:
        x = trial.suggest_float("x", 0.0, 1.0)
        if trial.suggest_categorical("deep", [True, False]):
            return x + trial.suggest_float("depth", 0.0, 1.0)
        return x

    study = a_study(9, objective)
    chosen = study.trials[-1].system_attrs["nnbo:params:0"]
    assert '"x"' in chosen
    assert '"deep"' in chosen
    assert '"depth"' not in chosen


def test_infeasible_trials_are_failures_and_feasibility_is_sought_before_there_is_one() -> None:
    def objective(trial: Trial) -> float:
        value = bowl(trial)
        trial.set_constraint("left", 1.5 - trial.params["x"])  # far from where the bowl is low
        trial.set_constraint("low", trial.params["y"] - 0.9)
        return value

    study = optuna.create_study(sampler=CertifiedSampler(seed=1, n_startup_trials=4))
    for x in (-1.0, -0.5, 0.0, 0.5):
        study.enqueue_trial({"x": x, "y": 0.0})
    study.optimize(objective, n_trials=12)
    said = [one.user_attrs.get("nnbo:message", "") for one in study.trials]
    assert "no trial is feasible yet" in said[4]
    feasible = [one for one in study.trials if all(c <= 0 for c in one.constraints.values())]
    assert feasible
    assert "no trial is feasible yet" not in said[-1]
    assert study.best_trial.params["x"] >= 1.5


def test_a_constraint_that_some_trials_lack_is_refused() -> None:
    study = a_study(6)
    trial = study.ask()
    trial.set_constraint("weight", 1.0)
    study.tell(trial, bowl(trial))
    with pytest.raises(nm.InputError, match="trial 0 has no 'weight'"):
        bowl(study.ask())


def test_several_objectives_are_refused_in_a_sentence() -> None:
    study = optuna.create_study(directions=["minimize"] * 2, sampler=CertifiedSampler(seed=0))
    with pytest.raises(nm.UnsupportedError, match=r"must have one objective .* got 2 directions"):
        study.optimize(lambda trial: (trial.suggest_float("x", 0, 1), 0.0), n_trials=1)


def test_bounds_that_change_are_said_once() -> None:
    sampler = CertifiedSampler(seed=0, n_startup_trials=2)
    study = optuna.create_study(sampler=sampler)
    study.optimize(lambda trial: trial.suggest_float("x", 0, 1), n_trials=3)
    with pytest.warns(
        nm.ModelWarning, match="'x' was .*high=1.0.* and is .*high=2.0.* now"
    ) as said:
        study.optimize(lambda trial: trial.suggest_float("x", 0, 2), n_trials=3)
    assert len([one for one in said if one.category is nm.ModelWarning]) == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"clock": "sun"}, "clock must be"),
        ({"n_startup_trials": -1}, "n_startup_trials must be"),
        ({"surrogate": "gpp"}, "did you mean 'gp'"),
        ({"independent_sampler": 3}, "must be a sampler of Optuna"),
        ({"time_limit": 0}, "time_limit"),
    ],
)
def test_bad_options_are_refused_at_once(options: Any, message: str) -> None:
    with pytest.raises(nm.InputError, match=message):
        CertifiedSampler(**options)


def test_what_is_not_sampled_by_a_distribution_is_left_out() -> None:
    axes = Axes.of({"x": optuna.distributions.FloatDistribution(0.0, 1.0)})
    assert axes.inward({"x": 0.5}) == {"x0": 0.5}
    assert axes.inward({"x": 1.5}) is None
    assert axes.inward({"y": 0.5}) is None
    assert axes.inward({"x": "a"}) is None


def test_a_terminator_stops_a_study_with_a_certificate() -> None:
    terminator = CertifiedTerminator("regret:tolerance=0.05")
    study = optuna.create_study(sampler=CertifiedSampler(seed=3))
    study.optimize(bowl, n_trials=60, callbacks=[terminator])
    assert len(study.trials) < 60
    assert terminator.verdict is not None
    assert terminator.verdict.number <= 0.05
    assert study.user_attrs["nnbo:stop"] == terminator.verdict.reason
    assert nm.Certificate.from_json(terminator.verdict.certificate)
    assert study.best_value <= 0.05


def test_a_terminator_serves_other_samplers_and_counts_all_trials() -> None:
    terminator = CertifiedTerminator("budget:evaluations=12|target:value=-1")
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=0))
    study.optimize(bowl, n_trials=20, callbacks=[terminator])
    assert len(study.trials) == 12
    assert terminator.verdict is not None
    assert terminator.verdict.rule == "budget"


def test_a_terminator_refuses_what_its_model_cannot_serve() -> None:
    with pytest.raises(nm.UnsupportedError, match="the stop rule takes a bound of ucb"):
        CertifiedTerminator("regret:tolerance=1", surrogate="tpe")
