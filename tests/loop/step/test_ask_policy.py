"""What is asked is a function of what happened, to the last bit."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import nnbo_mip as nm
from nnbo_mip.loop.designs.designs import design_of
from nnbo_mip.loop.record.suggestion import Suggestion
from nnbo_mip.loop.settings.settings import Purpose, seed_for
from nnbo_mip.loop.step import step
from nnbo_mip.maximizers.base.abstract import Proposal
from nnbo_mip.space import Categorical, Integer, Real, Space
from tests.loop.runs import BOX, advance, bowl, optimizer, same

MIXED = Space(
    [
        Real("rate", 1e-4, 1e-1, log=True),
        Integer("layers", 1, 4),
        Categorical("act", ["relu", "tanh", 3]),
        Real("fixed", 2.5, 2.5),
    ],
    constraints=[nm.LinearConstraint({"layers": 1.0, ("act", "tanh"): 2.0}, "<=", 4.0)],
)


def mixed(x: dict[str, Any]) -> float:
    return abs(np.log10(x["rate"]) + 2.5) + x["layers"] + (x["act"] == "relu")


def test_the_initial_points_are_those_of_the_design() -> None:
    run = optimizer(seed=5, initial="lhs:n=3")
    asked = advance(run, 4)
    design = design_of("lhs:n=3").points(BOX, seed_for(5, 0, Purpose.DESIGN))
    assert [one.status for one in asked] == ["initial"] * 3 + ["heuristic"]
    assert all(same(one.x, BOX.decode(z)) for one, z in zip(asked, design, strict=False))
    assert np.isnan(asked[0].value)
    assert asked[0].bound == np.inf
    assert [one.number for one in asked] == [0, 1, 2, 3]


def test_given_points_that_were_told_are_not_asked_again() -> None:
    points = [[99.1, -2.0], [100.0, -1.5], [100.7, -2.5]]
    run = optimizer(initial=points)
    run.tell(points[1], 3.0)
    run.tell(points[0], failed=True)
    assert same(run.ask().x, points[2])
    assert run.ask().status != "initial"


def test_no_sampled_point_scores_above_the_bound() -> None:
    run = optimizer(maximizer="bab", escape=None)
    asked = advance(run, 5)[-1]
    proposal = asked.proposal
    assert proposal is not None
    assert proposal.objective is not None
    points = BOX.model().sample(2000, np.random.default_rng(0))
    assert proposal.objective.score(points).max() <= asked.bound
    place = BOX.encode(asked.x)
    assert np.isclose(proposal.objective.score(place)[0], asked.value, rtol=1e-9)


def test_maximizing_is_minimizing_the_negative() -> None:
    low = advance(optimizer(direction="minimize"), 7)
    high = advance(optimizer(direction="maximize"), 7, lambda x: -bowl(x))
    assert all(same(a.x, b.x) for a, b in zip(low, high, strict=True))
    assert [one.mean for one in low[4:]] == [-one.mean for one in high[4:]]
    assert [one.std for one in low[4:]] == [one.std for one in high[4:]]


def test_integers_categories_constraints_and_fixed_sides() -> None:
    run = optimizer(MIXED, initial=5)
    asked = advance(run, 12, mixed)
    assert all(bool(MIXED.model().admissible(MIXED.encode(one.x))[0]) for one in asked)
    assert {type(one.x["layers"]) for one in asked} == {int}
    assert {one.x["fixed"] for one in asked} == {2.5}
    assert {one.x["act"] for one in asked} <= {"relu", "tanh", 3}
    distinct = {tuple(MIXED.encode(one.x)[0]) for one in asked}
    assert len(distinct) == 12
    assert run.best is not None
    assert run.best.y == min(mixed(one.x) for one in asked)


def test_one_dimension() -> None:
    run = optimizer([(-5.0, -4.0)])
    asked = advance(run, 8, lambda x: (x[0] + 4.2) ** 2)
    assert asked[0].x.shape == (1,)
    assert all(-5.0 <= one.x[0] <= -4.0 for one in asked)


def test_a_hundred_dimensions() -> None:
    run = optimizer(Space.box([-2.0] * 100, [3.0] * 100))
    asked = advance(run, 5, lambda x: float(np.square(x).sum()))
    assert asked[-1].x.shape == (100,)
    assert asked[-1].status == "heuristic"


def test_a_space_of_one_point_is_asked_again_and_again() -> None:
    run = optimizer(Space.box([2.0], [2.0]), initial=None)
    asked = advance(run, 3, lambda x: 1.0)
    assert [one.x.tolist() for one in asked] == [[2.0]] * 3


def test_an_exhausted_space_is_repeated_and_said() -> None:
    space = Space([Integer("n", 0, 3)])
    run = optimizer(space, initial=2)
    asked = advance(run, 6, lambda x: (x["n"] - 1) ** 2)
    assert sorted(one.x["n"] for one in asked[:4]) == [0, 1, 2, 3]
    assert "may be repeated" in asked[4].message
    assert "may be repeated" in asked[5].message


def test_values_that_are_all_equal_are_no_obstacle() -> None:
    asked = advance(optimizer(), 8, lambda x: 3.0)
    assert len({tuple(one.x) for one in asked}) == 8


def test_huge_and_tiny_values_are_no_obstacle() -> None:
    for factor in (1e-300, 1e200):
        asked = advance(optimizer(), 6, lambda x, factor=factor: factor * bowl(x))
        assert np.isfinite(asked[-1].x).all()


def test_failures_steer_away_and_never_stop() -> None:
    def half(x: Any) -> float:
        return float("nan") if x[0] > 100.0 else bowl(x)

    run = optimizer(seed=2, initial=8)
    advance(run, 30, half)
    failed = [told.failed for told in run.history]
    assert run.best is not None
    assert run.best.y == min(told.y for told in run.history if told.y is not None)
    assert sum(failed[8:]) < 0.4 * len(failed[8:])  # half of the box fails
    assert len({tuple(told.x) for told in run.history}) == 30


def test_a_run_whose_evaluations_all_fail_goes_on_with_points_far_apart() -> None:
    run = optimizer()
    asked = [run.ask() for _ in range(1)]
    for _ in range(8):
        run.tell(asked[-1], failed=True)
        asked.append(run.ask())
    assert {one.status for one in asked} == {"initial"}
    assert "no value has been told" in asked[-1].message
    points = np.array([BOX.encode(one.x)[0] for one in asked])
    gaps = np.abs(points[:, None] - points).max(axis=2) + 9.0 * np.eye(len(points))
    assert gaps.min() > 0.05


def test_a_warm_start_counts_as_initial_points() -> None:
    run = optimizer(initial="sobol:n=5")
    rng = np.random.default_rng(0)
    for x in BOX.sample(3, rng):
        run.tell(x, bowl(x))
    assert [one.status for one in advance(run, 3)] == ["initial", "initial", "heuristic"]
    full = optimizer(initial="sobol:n=5")
    X = BOX.sample(9, rng)
    full.tell(X, [bowl(x) for x in X])
    assert full.ask().status == "heuristic"
    given = optimizer(initial=[[100.0, -2.0]])
    given.tell(X, [bowl(x) for x in X])
    assert given.ask().x.tolist() == [100.0, -2.0]


def test_points_in_flight_change_what_is_asked_and_are_kept_away_from() -> None:
    run = optimizer(escape="exclude:first=0.05,last=0.05")
    advance(run, 5)
    batch = run.ask(4)
    assert [one.number for one in batch] == [5, 6, 7, 8]
    assert [one.key for one in run.pending] == [one.key for one in batch]
    places = np.array([BOX.encode(one.x)[0] for one in batch])
    gaps = np.abs(places[:, None] - places).max(axis=2) + np.eye(4)
    assert gaps.min() >= 0.05 * (1.0 - 1e-12)
    known = np.array([told.z for told in run.history])
    assert np.abs(places[:, None] - known).max(axis=2).min() >= 0.05 * (1.0 - 1e-12)


def test_a_believer_learns_from_what_it_believes() -> None:
    """Pending points have the mean of a model of the told values, so the next model goes there."""
    run = optimizer(surrogate="gp", acquisition="mean", escape=None, initial=6, warp=None)
    advance(run, 6)
    first = run.ask()
    unaware = optimizer(
        surrogate="gp", acquisition="mean", escape=None, initial=6, batch=None, warp=None
    )
    advance(unaware, 6)
    assert same(first.x, unaware.ask().x)
    second = run.ask()
    believed = BOX.encode(first.x)
    told = np.array([one.z for one in run.history])
    y = -np.array([one.y for one in run.history])
    seed = seed_for(0, 6, Purpose.BELIEVE)
    mean = replace(run.settings.surrogate, seed=seed).fit(told, y).mean(believed)
    X, values = np.concatenate([told, believed]), np.concatenate([y, mean])
    seed = seed_for(0, 1, Purpose.FIT)
    expected = replace(run.settings.surrogate, seed=seed).fit(X, values)
    assert second.mean == -float(expected.mean(BOX.encode(second.x))[0])


def test_asks_before_any_value_are_initial_points_without_end() -> None:
    run = optimizer(initial=3)
    batch = run.ask(6)
    assert [one.status for one in batch] == ["initial"] * 6
    assert len({tuple(one.x) for one in batch}) == 6
    for one in batch[:2]:
        run.tell(one, bowl(one.x))
    assert run.ask().status == "heuristic"


def test_a_model_that_cannot_be_trained_is_replaced_by_a_far_point(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run = optimizer()
    advance(run, 4)

    def fails(*_: Any) -> None:
        raise nm.TrainingError("the loss left the finite numbers")

    monkeypatch.setattr(type(run.settings.surrogate), "fit", fails)
    asked = run.ask()
    assert asked.status == "initial"
    assert "left the finite numbers" in asked.message


def test_the_scale_is_chosen_at_the_first_model_and_kept() -> None:
    run = optimizer(scaling="mean_width:budget=0.3,unit=1.0", acquisition="ucb", warp=None)
    asked = advance(run, 8)[4:]
    assert len({one.c for one in asked}) == 1
    assert asked[0].c != 1.0
    X = np.array([told.z for told in run.history[:4]])
    y = -np.array([told.y for told in run.history[:4]])
    surrogate = replace(run.settings.surrogate, seed=seed_for(0, 0, Purpose.FIT))
    belief = surrogate.fit(X, y)
    side = np.linspace(-1.0, 1.0, 200)
    grid = np.array(np.meshgrid(side, side)).reshape(2, -1).T
    assert asked[0].c * 2.0 * belief.std(grid).mean() == pytest.approx(0.3, rel=1e-9)


def test_time_that_is_up_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    run = optimizer(maximizer="bab", time_limit=1e-3, gap=0.0, surrogate="brvfl:n_hidden=200")
    asked = advance(run, 5)[-1]
    assert asked.time_limited
    assert asked.status in ("feasible", "heuristic")
    assert asked.bound >= asked.value


def test_a_quick_search_that_the_clock_ended_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """It foresees what is excluded; another run may end elsewhere, though the proof closed."""
    quick = step.ASCENTS.maximize

    def cut_short(self: Any, target: Any, request: Any) -> Proposal:
        made = quick(target, request)
        return replace(made, found=replace(made.found, time_limited=True))

    options = {"surrogate": "gp", "maximizer": "bab"}
    whole, cut = optimizer(**options), optimizer(**options)
    assert not advance(whole, 5)[-1].time_limited
    monkeypatch.setattr(type(step.ASCENTS), "maximize", cut_short)
    asked = advance(cut, 5)[-1]
    assert asked.status == "optimal"
    assert asked.time_limited


def test_many_observations_at_once_are_fitted_in_part() -> None:
    sizes = []
    run = optimizer(most_fitted=60)
    X = BOX.sample(10_000, 0)
    run.tell(X, [bowl(x) for x in X])
    assert len(run.history) == 10_000
    kind = type(run.settings.surrogate)
    before = kind.fit

    def counted(self: Any, points: Any, y: Any) -> Any:
        sizes.append(len(points))
        assert max(y) == -min(bowl(x) for x in X)
        return before(self, points, y)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kind, "fit", counted)
        assert run.ask().status == "heuristic"
    assert sizes == [60]


def test_excluding_only_what_is_in_the_way_is_excluding_everything() -> None:
    """Where a mean was maximized again and again, samples lie in the way of its maximum."""
    gathered = optimizer(acquisition="mean", escape=None, warp=None)
    advance(gathered, 16)
    told = gathered.history
    run = optimizer(
        acquisition="mean", maximizer="bab", escape="exclude:first=0.2,last=0.2", warp=None
    )
    run.tell([one.x for one in told], [one.y for one in told])
    asked = run.ask()
    X, y = np.array([one.z for one in told]), -np.array([one.y for one in told])
    surrogate = replace(run.settings.surrogate, seed=seed_for(0, 0, Purpose.FIT))  # type: ignore[type-var]
    belief = surrogate.fit(X, y)
    excluded: dict[str, Any] = {"away_from": X, "eps": 0.2}
    whole = nm.maximize(belief, "mean", BOX.model(), maximizer="bab", **excluded)
    free = nm.maximize(belief, "mean", BOX.model(), maximizer="bab")
    assert free.value > whole.bound  # the samples are in the way
    assert asked.value == pytest.approx(whole.value, abs=2e-4)
    assert asked.bound >= whole.value
    assert np.abs(X - BOX.encode(asked.x)).max(axis=1).min() >= 0.2 * (1.0 - 1e-12)


def test_time_that_is_up_is_not_taken_again_and_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Samples in the way, one after another, of a search that always takes all of its time."""
    from nnbo_mip.loop.step import step as module

    run = optimizer(escape="exclude:first=0.05,last=0.05", time_limit=0.3, initial=8)
    advance(run, 8)
    limits, before = [], module.maximize
    known = iter([told.z for told in run.history])

    def slow(*arguments: Any, **options: Any) -> Any:
        limits.append(options["time_limit"])
        time.sleep(options["time_limit"])
        found = before(*arguments, **options)
        everything = options["away_from"] is not None and len(options["away_from"]) == 8
        return found if everything else replace(found, found=replace(found.found, x=next(known)))

    monkeypatch.setattr(module, "maximize", slow)
    asked = run.ask()
    assert len(limits) == 2
    assert limits[0] <= 0.3
    assert limits[1] == pytest.approx(0.06)
    known_points = np.array([told.z for told in run.history])
    assert np.abs(known_points - BOX.encode(asked.x)).max(axis=1).min() >= 0.05 * (1.0 - 1e-12)


def test_schedules_count_the_steps_with_a_model(monkeypatch: pytest.MonkeyPatch) -> None:
    from nnbo_mip.loop.step import step as module

    steps, seeds, noises, before = [], [], [], module.maximize

    def recorded(*arguments: Any, **options: Any) -> Any:
        steps.append(options["step"])
        seeds.append(options["seed"])
        noises.append(options["noise"])
        return before(*arguments, **options)

    monkeypatch.setattr(module, "maximize", recorded)
    run = optimizer(acquisition="pi:xi=decay(start=0.5,rate=0.5)", escape=None)
    advance(run, 6)
    run.ask()
    run.tell([100.0, -2.0], 1.0, noise=0.25)
    run.ask()
    assert steps == [0, 1, 2, 3]
    assert len(set(seeds)) == 4
    assert noises[:3] == [None] * 3
    assert noises[3].tolist() == [0.25]


def test_told_deviations_reach_the_model_or_it_is_said_that_they_do_not() -> None:
    def next_of(surrogate: str, noise: float | None) -> Suggestion:
        run = optimizer(surrogate=surrogate, acquisition="ucb", maximizer="lbfgs:weak")
        for _ in range(8):
            asked = run.ask()
            run.tell(asked, bowl(asked.x), noise=noise)
        return run.ask()

    exact, noisy = next_of("gp", None), next_of("gp", 0.3)
    assert noisy.std > 2.0 * exact.std
    assert not noisy.message
    ignored = next_of("brvfl:n_hidden=12", 3.0)
    assert same(ignored.x, next_of("brvfl:n_hidden=12", None).x)
    assert (
        "the standard deviations that were told do not reach the model: brvfl reads none"
        in ignored.message
    )


@pytest.mark.parametrize("warp", ["none", "half_rank", "asinh"])
@pytest.mark.parametrize("direction", ["minimize", "maximize"])
def test_an_incumbent_is_in_the_units_that_are_told(warp: str, direction: str) -> None:
    """What the best value would be anyway, given as an option, changes nothing."""
    sign = 1.0 if direction == "minimize" else -1.0
    options = {"warp": warp, "direction": direction, "maximizer": "lbfgs:weak"}
    begun = optimizer(**options)
    advance(begun, 6, lambda x: sign * bowl(x))

    def value_with(incumbent: float | None) -> float:
        run = optimizer(**options, acquisition={"name": "ei", "incumbent": incumbent})
        for told in begun.history:
            run.tell(told.x, told.y)
        return run.ask().value

    assert begun.best is not None
    best = begun.best.y
    assert best is not None
    assert value_with(best) == pytest.approx(value_with(None), rel=1e-9)
    assert value_with(best - sign) < value_with(best)


@pytest.mark.parametrize(("offset", "scale"), [(1e6, 1.0), (0.0, 1e-4), (-3e5, 1e-2)])
def test_a_gap_is_a_part_of_the_spread_of_values(offset: float, scale: float) -> None:
    """Far from zero, and where all is small, values differ by less than a part of max(1, |y|)."""
    run = optimizer(acquisition="ucb", maximizer="bab", surrogate="gp")
    asked = advance(run, 7, lambda x: offset + scale * bowl(x))[-1]
    spread = np.std([told.y for told in run.history])
    assert asked.status == "optimal"
    assert asked.gap <= 2e-4 * spread


@pytest.mark.parametrize("time_limit", [1000.0, np.inf])
def test_ctrl_c_during_the_ascents_of_an_ask_ends_it(
    monkeypatch: pytest.MonkeyPatch, time_limit: float
) -> None:
    run = optimizer(surrogate="gp", maximizer="bab", time_limit=time_limit)
    advance(run, 5)
    quick, whole, limits = step.ASCENTS.maximize, step.maximize, []

    def interrupted(self: Any, target: Any, request: Any) -> Proposal:
        made = quick(target, request)
        found = replace(made.found, time_limited=True)
        return replace(made, found=found, interrupted=True)

    def recorded(*arguments: Any, **options: Any) -> Proposal:
        limits.append(options["time_limit"])
        return whole(*arguments, **options)

    monkeypatch.setattr(type(step.ASCENTS), "maximize", interrupted)
    monkeypatch.setattr(step, "maximize", recorded)
    asked = run.ask()
    assert asked.time_limited
    assert max(limits) <= step.SHORTEST


def test_values_that_no_arithmetic_can_bear_cost_a_point() -> None:
    run = optimizer(surrogate="random_forest:n_trees=5")
    advance(run, 5, lambda x: 1e300 * bowl(x))
    assert len(run.history) == 5


def test_the_unit_of_the_width_is_that_of_what_was_told(monkeypatch: pytest.MonkeyPatch) -> None:
    from nnbo_mip.loop.policies.width_scaling import MeanWidth

    seen: list[list[float]] = []
    before = MeanWidth.factor

    def factor(self: Any, belief: Any, domain: Any, y: Any, seed: int = 0) -> float:
        seen.append(np.asarray(y).tolist())
        return before(self, belief, domain, y, seed)

    monkeypatch.setattr(MeanWidth, "factor", factor)
    run = optimizer(scaling="mean_width:budget=0.5", warp=None, batch="liar", initial=4)
    asked = run.ask(4)
    for value, one in zip([1.0, 2.0, 3.0], asked, strict=False):
        run.tell(one, value)
    run.tell([99.2, -1.2], failed=True)
    run.ask()
    assert seen == [[-1.0, -2.0, -3.0]]
