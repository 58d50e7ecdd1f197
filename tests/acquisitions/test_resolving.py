"""Where the numbers of a head come from: incumbents, noise, schedules, sampled optima."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from scipy.special import ndtri

import nnbo_mip as nm
from nnbo_mip.acquisitions import MemberHead, Scorer
from nnbo_mip.core.errors import InputError, UnsupportedError
from nnbo_mip.scores.functions.entropy import MaxValueEntropy
from nnbo_mip.scores.functions.improvement import ExpectedImprovement
from nnbo_mip.scores.functions.linear import LinearHead
from nnbo_mip.scores.functions.noisy import AugmentedEI, QuantileImprovement
from nnbo_mip.scores.functions.probability import ProbabilityOfImprovement
from nnbo_mip.surrogates import Belief, Capability
from nnbo_mip.testing.analytic_belief import ALL, AnalyticBelief

BELIEF = AnalyticBelief()
X = np.random.default_rng(3).uniform(-1.0, 1.0, (9, 2))
Y = np.sin(X).sum(axis=1)
create = nm.acquisitions.create


# -- names and options -----------------------------------------------------------------------


def test_the_acquisitions_are_these() -> None:
    assert nm.acquisitions.available() == (
        *("aei", "ei", "ei_mixture", "ei_sampled", "empirical_ei", "empirical_pi", "eqi"),
        *("goal_seeking", "gp_cl", "logei", "mean", "mes", "nei", "nn_cl", "pi", "pi_mixture"),
        *("quantile_mixture", "ratio", "ts", "ucb"),
    )
    assert all(create(name).name == name for name in nm.acquisitions.available())


@pytest.mark.parametrize(
    ("spec", "options", "match"),
    [
        ("eii", {}, "acquisition must be one of .*did you mean 'ei'"),
        ("ei:x=1", {}, "options of 'ei' are incumbent, xi; got 'x'; did you mean 'xi'"),
        ("ei", {"xi": -0.1}, "xi must be a number >= 0"),
        ("pi", {"xi": np.nan}, "xi must be a number >= 0"),
        ("logei", {"xi": np.inf}, "xi must be a number >= 0"),
        ("pi", {"alpha": -1.0}, "alpha must be a number >= 0"),
        ("ucb", {"beta": -1.0}, "beta must be a number >= 0"),
        ("ucb", {"factor": 0.0}, "factor must be a number > 0"),
        ("ts", {"seed": -1}, "seed must be an integer >= 0"),
        ("mes", {"optimum": np.inf}, "optimum must be a number"),
        ("mes", {"sampling": "guess"}, "sampling must be one of auto, draw, gumbel"),
        ("aei", {"noise": -1.0}, "noise must be a number >= 0"),
        ("aei", {"k": -1.0}, "k must be a number >= 0"),
        ("eqi", {"beta": 0.3}, "beta must be a number >= 0.5 and < 1"),
        ("empirical_ei", {"n_draws": 1.5}, "n_draws must be an integer"),
    ],
)
def test_mistakes_are_answered_in_a_sentence(
    spec: str, options: dict[str, Any], match: str
) -> None:
    with pytest.raises(InputError, match=match):
        create(spec, **options)


def test_names_can_be_added_and_taken_back() -> None:
    @nm.acquisitions.register("double")
    @dataclass(frozen=True)
    class Double(type(create("mean"))):  # type: ignore[misc]
        name = "double"

    assert create("double").head(BELIEF, None) == LinearHead()
    nm.acquisitions.unregister("double")
    with pytest.raises(InputError, match="acquisition must be one of"):
        create("double")


# -- incumbents ------------------------------------------------------------------------------


def test_an_incumbent_that_is_given_is_used_and_else_the_largest_y() -> None:
    best = float(Y.max())
    assert create("ei", xi=0.25).resolve(BELIEF, X, Y) == ExpectedImprovement(best + 0.25)
    assert create("ei", xi=0.25).resolve(BELIEF, y=Y) == ExpectedImprovement(best + 0.25)
    assert create("ei", incumbent=-7.0).resolve(BELIEF, X, Y) == ExpectedImprovement(-7.0)
    assert create("logei").resolve(BELIEF, X, Y) == ExpectedImprovement(best, log=True)
    assert create("pi", alpha=0.5, incumbent=-2.0).resolve(BELIEF) == ProbabilityOfImprovement(-1.0)
    assert create("empirical_pi").resolve(BELIEF, X, Y).threshold == best  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", ["ei", "logei", "pi", "empirical_ei", "empirical_pi", "mes"])
def test_without_incumbent_and_y_the_remedy_is_said(name: str) -> None:
    for known in (None, X):
        with pytest.raises(InputError, match=r"neither incumbent nor y; give incumbent=…, or y"):
            create(name).resolve(BELIEF, known)


@pytest.mark.parametrize("name", ["aei", "eqi"])
def test_without_points_the_noisy_ones_say_the_remedy(name: str) -> None:
    with pytest.raises(InputError, match=r"got no X; give X when it is resolved, or noise"):
        create(name).resolve(BELIEF, y=Y)
    with pytest.raises(InputError, match=r"got no X; give X when it is resolved, or incumbent"):
        create(name, noise=0.1).resolve(BELIEF, y=Y)


def test_linear_heads_subtract_an_incumbent_and_need_none() -> None:
    assert create("mean").resolve(BELIEF, X, Y) == LinearHead()
    assert create("mean", incumbent=2.0).resolve(BELIEF) == LinearHead(constant=-2.0)
    assert create("ucb:beta=2,factor=3", incumbent=2.0).resolve(BELIEF) == LinearHead(1, 6, -2)


def test_noisy_heads_take_their_threshold_from_the_belief() -> None:
    mean, std = BELIEF.mean(X), BELIEF.std(X)
    best = float(mean[np.argmax(mean - 2.0 * std)])
    assert create("aei", k=2.0).resolve(BELIEF, X, Y) == AugmentedEI(best, 0.1)
    quantile = float((mean - ndtri(0.8) * std).max())
    assert create("eqi", beta=0.8).resolve(BELIEF, X, Y) == QuantileImprovement(quantile, 0.1, 0.8)


def test_noise_comes_from_the_option_then_the_data_then_the_belief() -> None:
    def noise(made: Any, **data: Any) -> float:
        return float(made.resolve(BELIEF, X, Y, **data).noise)

    assert noise(create("aei")) == pytest.approx(0.1)
    assert noise(create("aei"), noise=0.3) == pytest.approx(0.3)
    assert noise(create("aei"), noise=[0.3] * 8 + [0.9]) == pytest.approx(np.sqrt(0.17))
    assert noise(create("aei", noise=0.0), noise=0.3) == 0.0
    sure = AnalyticBelief(offered=ALL - {Capability.NOISE})
    assert create("aei", incumbent=0.0).resolve(sure) == AugmentedEI(0.0, 0.0)


def test_a_belief_that_lacks_members_is_told_of_draws() -> None:
    belief = AnalyticBelief(offered=ALL - {Capability.MEMBERS})
    with pytest.raises(UnsupportedError, match=r"offers members; .* give n_draws=32"):
        create("empirical_ei", incumbent=0.0).resolve(belief)
    assert create("empirical_ei:n_draws=4", incumbent=0.0).score(belief, X).shape == (9,)


# -- draws -----------------------------------------------------------------------------------


def test_a_thompson_sample_is_one_draw_a_step() -> None:
    made = create("ts:seed=1")
    first, again, next_step = (made.scorer(BELIEF, step=step) for step in (0, 0, 1))
    assert np.array_equal(first.score(X), first.belief.mean(X))
    assert np.array_equal(first.score(X), again.score(X))
    assert not np.array_equal(first.score(X), next_step.score(X))
    assert not np.array_equal(first.score(X), create("ts:seed=2").score(BELIEF, X))


def test_many_draws_approach_the_normal_improvement() -> None:
    empirical = create("empirical_ei:n_draws=4000", incumbent=0.5).score(BELIEF, X)
    normal = create("ei", incumbent=0.5).score(BELIEF, X)
    assert np.abs(empirical - normal).max() < 0.02
    assert normal.max() > 0.2


def test_members_of_the_belief_are_read_without_draws() -> None:
    scores = create("empirical_ei", incumbent=0.5).score(BELIEF, X)
    expected = np.maximum(BELIEF.members(X) - 0.5, 0.0).mean(axis=1)
    np.testing.assert_allclose(scores, expected)


def test_members_without_gradients_are_refused_in_a_sentence() -> None:
    class Bare(AnalyticBelief):
        member_gradients = Belief.member_gradients

    scorer = create("empirical_ei", incumbent=0.5).scorer(Bare())
    assert isinstance(scorer.head, MemberHead)
    assert not scorer.has_gradient
    with pytest.raises(UnsupportedError, match="no member_gradients"):
        scorer.gradient(X)


def test_a_head_of_another_kind_is_refused() -> None:
    class Odd:
        shape = "odd"

    with pytest.raises(UnsupportedError, match="a MemberHead or a MixtureHead; got a Odd"):
        Scorer(Odd(), BELIEF).score(X)  # type: ignore[arg-type]


# -- optima ----------------------------------------------------------------------------------


def test_a_sampled_optimum_is_the_largest_value_of_a_draw() -> None:
    made = create("mes:sampling=draw,seed=3")
    head = made.resolve(BELIEF, y=[-9.0])
    assert isinstance(head, MaxValueEntropy)
    axis = np.linspace(-1.0, 1.0, 401)
    grid = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    draw = create("ts:seed=3").subject(BELIEF, 0)
    assert head.optimum == pytest.approx(draw.mean(grid).max(), abs=1e-4)
    assert head.optimum >= draw.mean(grid).max() - 1e-9


def test_an_optimum_is_never_below_the_incumbent() -> None:
    for made in (create("mes"), create("mes:sampling=gumbel"), create("mes:optimum=2")):
        assert made.resolve(BELIEF, y=[50.0]) == MaxValueEntropy(50.0)
        assert replace(made, incumbent=60.0).resolve(BELIEF, y=[50.0]) == MaxValueEntropy(60.0)
    assert create("mes:optimum=2").resolve(BELIEF) == MaxValueEntropy(2.0)
    assert create("mes:optimum=2").resolve(BELIEF, y=[1.0]) == MaxValueEntropy(2.0)


def test_gumbel_samples_are_distributed_as_the_maximum_of_the_marginals() -> None:
    belief = AnalyticBelief(d=1)
    samples = [
        create("mes", sampling="gumbel", seed=seed).resolve(belief, y=[-9.0]).threshold  # type: ignore[attr-defined]
        for seed in range(30)
    ]
    points = np.random.default_rng(0).uniform(-1.0, 1.0, (2048, 1))
    mean, std = belief.mean(points), belief.std(points)
    noise = np.random.default_rng(1).standard_normal((400, 2048))
    maxima = (mean + std * noise).max(axis=1)
    error = np.hypot(maxima.std() / 20.0, np.std(samples) / np.sqrt(30.0))
    assert abs(np.mean(samples) - maxima.mean()) < 4.0 * error
    assert 0.5 < np.std(samples) / maxima.std() < 2.0


def test_a_belief_without_draws_or_spread_has_an_optimum_too() -> None:
    certain = BELIEF.draw(0)
    bare = replace(certain, offered=frozenset({Capability.MEAN, Capability.STD}))
    head = create("mes").resolve(bare, y=[-9.0])
    axis = np.linspace(-1.0, 1.0, 201)
    grid = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    assert head.threshold == pytest.approx(bare.mean(grid).max(), abs=0.05)  # type: ignore[attr-defined]
    with pytest.raises(UnsupportedError, match="draws"):
        create("mes:sampling=draw").resolve(bare, y=[0.0])


# -- schedules -------------------------------------------------------------------------------


def test_xi_decays_with_the_step() -> None:
    made = create("pi", xi="decay:start=0.8,rate=0.5", incumbent=1.0)
    thresholds = [made.resolve(BELIEF, step=step).threshold for step in (0, 1, 3)]  # type: ignore[attr-defined]
    assert thresholds == [1.8, 1.4, 1.1]
    assert create("pi:xi=decay(start=0.8,rate=0.5),incumbent=1.0").resolve(
        BELIEF, step=3
    ) == made.resolve(BELIEF, step=3)
    floor = create("ei", xi={"name": "decay", "start": 1, "rate": 0.0, "end": 0.25}, incumbent=0.0)
    assert floor.resolve(BELIEF, step=9) == ExpectedImprovement(0.25)


def test_beta_follows_theory_or_a_ramp() -> None:
    made = create("ucb", beta="confidence:delta=0.1,nu=0.5")
    for step in (0, 7):
        t, d = step + 1, 2
        beta = np.sqrt(0.5 * 2.0 * np.log(t ** (d / 2 + 2) * np.pi**2 / 0.3))
        head = made.resolve(BELIEF, step=step)
        assert isinstance(head, LinearHead)
        assert head.std_weight == pytest.approx(beta)
    ramp = create("ucb", beta="ramp:start=1,end=3,steps=4")
    heads = [ramp.resolve(BELIEF, step=step) for step in (0, 1, 4, 100)]
    assert heads == [LinearHead(1.0, beta) for beta in (1.0, 1.5, 3.0, 3.0)]


@pytest.mark.parametrize(
    ("xi", "match"),
    [
        ("decays:start=1", "schedule must be one of confidence, decay, ramp"),
        ("decay", "'decay' needs the options start"),
        ("decay:start=-1", "start must be a number >= 0"),
        ("decay:start=1,rate=1.5", "rate must be a number >= 0 and < 1"),
        ("ramp(start=1,end=2,steps=0)", "steps must be an integer >= 1"),
        ("confidence:delta=1", "delta must be a number > 0 and < 1"),
        (True, "xi must be a number"),
        (None, "xi must be a number"),
    ],
)
def test_schedules_that_are_none_are_refused(xi: Any, match: str) -> None:
    with pytest.raises(InputError, match=match):
        create("pi", xi=xi)


def test_a_schedule_that_leaves_the_numbers_is_refused_when_it_does() -> None:
    @dataclass(frozen=True)
    class Sinking(nm.acquisitions.Schedule):
        def value(self, step: int, n_inputs: int) -> float:
            return 1.0 - step

    made = create("pi", xi=Sinking(), incumbent=0.0)
    assert made.resolve(BELIEF, step=1) == ProbabilityOfImprovement(0.0)
    with pytest.raises(InputError, match=r"finite numbers >= 0; got -1\.0 at step 2"):
        made.resolve(BELIEF, step=2)
