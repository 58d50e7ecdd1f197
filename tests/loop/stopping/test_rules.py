"""Stop rules alone: what they say of a run that stands so and so."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import pytest

import nnbo_mip as nm
from nnbo_mip.core.registry_entries import entries
from nnbo_mip.loop.settings.settings import Settings
from nnbo_mip.loop.stopping import ImprovementBound, RegretBound, Verdict
from nnbo_mip.loop.stopping.catalogue import registry, stop_of


@dataclass(frozen=True)
class Stands:
    direction: Any = "minimize"
    values: tuple[float | None, ...] = ()
    chosen: tuple[bool, ...] = ()
    evaluations: int = 0
    seconds: float = 0.0
    regret: RegretBound | None = None
    improvement: ImprovementBound | None = None

    def best_value(self) -> float | None:
        known = [value for value in self.values if value is not None]
        if not known:
            return None
        return min(known) if self.direction == "minimize" else max(known)

    def regret_bound(
        self, delta: float, nu: float, calibrate: bool, enough: float | None = None
    ) -> RegretBound | None:
        return self.regret

    def improvement_bound(self, enough: float | None = None) -> ImprovementBound | None:
        return self.improvement


def said(rule: object, run: Stands) -> Verdict:
    return stop_of(rule).verdict(run)


def test_a_budget_and_a_time() -> None:
    assert not said("budget:evaluations=5", Stands(evaluations=4))
    assert said("budget:evaluations=5", Stands(evaluations=5)).number == 5
    assert not said("time:seconds=1.5", Stands(seconds=1.4))
    assert "2.0 s, of 1.5 s" in said("time:seconds=1.5", Stands(seconds=2.0)).reason


@pytest.mark.parametrize("direction", ["minimize", "maximize"])
def test_a_target_is_in_the_users_direction(direction: str) -> None:
    sign = 1.0 if direction == "minimize" else -1.0
    run = Stands(direction, values=(3.0 * sign, None, 1.0 * sign))
    assert said({"name": "target", "value": 1.0 * sign}, run)
    assert not said({"name": "target", "value": 0.5 * sign}, run)
    assert not said("target:value=1", Stands(direction, values=(None,)))


def test_patience_counts_choices_of_a_model_that_improved_nothing() -> None:
    rule = "patience:evaluations=2"
    run = Stands(values=(3.0, 4.0, 5.0), chosen=(False,) * 3)
    assert not said(rule, run)  # initial points improve nothing by design
    run = replace(run, values=(3.0, 2.0, 2.0, None), chosen=(False, True, True, True))
    assert said(rule, run).number == 2
    run = replace(run, values=(3.0, 2.0, 2.0, 1.9), chosen=(False, True, True, True))
    assert not said(rule, run)
    assert said("patience:evaluations=2,least=0.5", run).number == 2


def a_bound(upper: float, reached: float, kind: Any = "rigorous") -> RegretBound:
    return RegretBound(
        1.0, upper, "maximize", None, reached, 0.1, 2.0, 1.5, kind, "optimal", "the space"
    )


def test_regret_is_compared_with_what_was_proven() -> None:
    rule = "regret:tolerance=0.5"
    stops = said(rule, Stands(regret=a_bound(1.4, 1.3)))
    assert stops
    assert stops.kind == "rigorous"
    assert "at most 0.4" in stops.reason
    assert "2 standard deviations of the model times 1.5; proven rigorously" in stops.reason
    assert not said(rule, Stands(regret=a_bound(1.6, 1.3)))
    # A search that found little and proved nothing does not stop a run.
    unproven = said(rule, Stands(regret=a_bound(math.inf, 1.3, "none")))
    assert not unproven
    assert unproven.kind == "none"
    assert "may be better by 0.3" in unproven.reason
    assert not said(rule, Stands(regret=None))


def test_a_regret_is_shown_rounded_up() -> None:
    assert (
        "at most 0.401" in said("regret:tolerance=1", Stands(regret=a_bound(1.40001, 1.3))).reason
    )


def test_little_improvement_is_compared_with_what_was_proven() -> None:
    rule = "ei:tolerance=0.1"
    found = ImprovementBound(0.09, 0.08, "rigorous", "the space", "in the user's units")
    assert "above 0.09 in the user's units" in said(rule, Stands(improvement=found)).reason
    assert said(rule, Stands(improvement=found))
    assert not said(rule, Stands(improvement=replace(found, bound=0.11)))
    assert not said(rule, Stands(improvement=replace(found, bound=math.inf)))
    assert not said(rule, Stands())


def test_several_rules_in_any_form_are_the_same() -> None:
    text = stop_of("target:value=1| budget:evaluations=5")
    parts = [{"name": "target", "value": 1}, nm.stopping.create("budget", evaluations=5)]
    assert text == stop_of(parts) == stop_of({"name": "any", "rules": parts}) == stop_of([text])
    run = Stands(values=(2.0,), evaluations=5)
    assert said(text, run).rule == "budget"
    assert said(text, replace(run, values=(1.0,))).rule == "target"
    assert not said(text, replace(run, evaluations=4))


def test_what_counts_is_asked_before_what_is_proven() -> None:
    class Dear(Stands):
        def regret_bound(self, *_: Any, **__: Any) -> RegretBound | None:
            raise AssertionError("a budget had ended the run")

    rules = "regret:tolerance=1|budget:evaluations=5"
    assert said(rules, Dear(evaluations=5)).rule == "budget"


def test_a_verdict_comes_back_from_its_description() -> None:
    for number in (1.0, math.inf):
        verdict = Verdict(True, "so it is", "regret", number, "rigorous", "{}")
        assert Verdict.from_dict(verdict.to_dict()) == verdict
    with pytest.raises(nm.FileFormatError, match="lacks 'reason'"):
        Verdict.from_dict({"stops": True})


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ("regret", "'regret' needs the options tolerance"),
        ("regret:tolerance=0", "tolerance must be"),
        ("regret:tolerance=1,delta=1", "delta must be"),
        ("regret:tolerance=1,nu=-1", "nu must be"),
        ("regret:tolerance=1,calibrate=2", "calibrate must be"),
        ("ei:tolerance=nan", "tolerance must be"),
        ("target:value=low", "value must be"),
        ("budget:evaluations=0.5", "evaluations must be"),
        ("patience:evaluations=3,least=-1", "least must be"),
        ("time:seconds=-1", "seconds must be"),
        ("regrets:tolerance=1", "did you mean 'regret'"),
        ([], "rules of 'any' must be a list of stop rules"),
        (7, "a stop rule must be a name"),
    ],
)
def test_bad_rules_are_refused_in_a_sentence(rule: object, message: str) -> None:
    with pytest.raises(nm.InputError, match=message):
        stop_of(rule)


def test_every_rule_is_documented_and_none_is_named_like_a_part() -> None:
    for entry in entries(registry):
        assert entry.summary.endswith(".")
        assert "|" not in entry.name


@pytest.mark.parametrize("stop", ["regret:tolerance=1", "ei:tolerance=1|budget:evaluations=3"])
def test_a_rule_that_the_model_cannot_serve_is_refused_before_anything(stop: str) -> None:
    with pytest.raises(
        nm.UnsupportedError, match=r"the stop rule takes a bound of (ucb|ei), which"
    ):
        Settings.planned([(0.0, 1.0)], "tpe", stop=stop)


def test_a_rule_of_which_nothing_is_proven_is_refused_before_anything() -> None:
    surrogate = {"name": "gp", "groups": [[0], [1]]}
    with pytest.raises(
        nm.UnsupportedError, match="takes a proven bound of ucb; a Gaussian process"
    ):
        nm.BayesianOptimizer(
            [(0.0, 1.0)] * 2, surrogate, maximizer="lbfgs", stop="regret:tolerance=1"
        )
