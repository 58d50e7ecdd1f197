"""A run goes on where it stood, to the last bit, whenever and however it ended."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import nnbo_mip as nm
from nnbo_mip.loop.optimizer import BayesianOptimizer
from nnbo_mip.loop.record.journal import Journal
from nnbo_mip.loop.record.state import State
from nnbo_mip.space import Integer, Space
from nnbo_mip.surrogates import create
from tests.loop.runs import BOX, QUICK, advance, bowl, figures, optimizer, same


def test_the_same_seed_gives_the_same_proposals_and_another_one_others() -> None:
    first, second = advance(optimizer(seed=1), 8), advance(optimizer(seed=1), 8)
    assert [figures(one) for one in first] == [figures(one) for one in second]
    other = advance(optimizer(seed=2), 8)
    assert not any(same(a.x, b.x) for a, b in zip(first, other, strict=True))


@pytest.mark.parametrize("killed_after", [0, 1, 4, 9, 12, 15])
def test_a_resumed_run_goes_on_as_if_nothing_had_happened(
    tmp_path: Path, killed_after: int
) -> None:
    options: dict[str, Any] = {"scaling": "mean_width", "escape": "exponential:sticky=True"}
    whole = [figures(one) for one in advance(optimizer(seed=3, **options), 8)]
    path = tmp_path / "run.db"
    first = optimizer(seed=3, journal=path, **options)
    asked = advance(first, killed_after // 2)
    if killed_after % 2:
        asked.append(first.ask())  # and never told
    resumed = BayesianOptimizer.open(path)
    done = killed_after // 2
    asked = asked[:done] + advance(resumed, 8 - done)
    assert [figures(one) for one in asked] == whole


def test_what_is_proven_survives_with_its_certificate(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    first = optimizer(journal=path, maximizer="bab")
    asked = advance(first, 5)[-1]
    assert asked.status == "optimal"
    assert asked.gap <= 1e-4
    assert asked.check().confirmed
    stored = BayesianOptimizer.open(path).suggestions[-1]
    assert figures(stored) == figures(asked)
    assert stored.certificate is not None
    assert asked.proposal is not None
    assert asked.proposal.objective is not None
    assert stored.certificate.check(asked.proposal.objective).confirmed
    altered = replace(stored.certificate, bound=stored.certificate.bound - 1.0, digest="")
    assert not altered.check(asked.proposal.objective).confirmed
    with pytest.raises(nm.InputError, match="read from the journal"):
        stored.check()


@pytest.mark.parametrize("batch", ["believer", "liar:value=worst", "thompson", None])
def test_every_rule_of_batches_gives_batches_and_can_be_resumed(
    tmp_path: Path, batch: str | None
) -> None:
    path = tmp_path / "run.db"
    run = optimizer(batch=batch, journal=path, seed=4)
    advance(run, 5)
    whole = [figures(one) for one in run.ask(3)]
    again = optimizer(batch=batch, seed=4)
    advance(again, 5)
    assert [figures(again.ask()) for _ in range(3)] == whole
    resumed = BayesianOptimizer.open(path)
    assert [figures(one) for one in resumed.ask(3)] == whole
    assert figures(resumed.ask()) == figures(again.ask())


def test_a_revisited_point_restarts_the_run_and_evaluations_go_on_being_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    space = Space([Integer("a", 0, 6), Integer("b", 0, 6)])

    def f(x: Any) -> float:
        return float((x["a"] - 2) ** 2 + (x["b"] - 3) ** 2)

    options: dict[str, Any] = {
        "acquisition": "mean",
        "surrogate": "brvfl:n_hidden=40",
        "escape": None,
        "restart": "revisit:n=5",
        "initial": 4,
        "seed": 1,
    }
    sizes = []
    kind = type(create("brvfl"))
    before = kind.fit

    def counted(self: Any, X: Any, y: Any) -> Any:
        sizes.append(len(X))
        return before(self, X, y)

    monkeypatch.setattr(kind, "fit", counted)
    path = tmp_path / "run.db"
    run = optimizer(space, journal=path, **options)
    sizes.clear()
    asked = advance(run, 24, f)
    restarts = [one.number for one in asked if "restarts" in one.message]
    assert restarts
    first = restarts[0]
    assert [one.status for one in asked[first : first + 5]] == ["initial"] * 5
    assert sizes[: first - 2] == [*range(4, first + 1), 5]  # then learns from fresh points alone
    seen = {tuple(one.x.values()) for one in asked[:first]}
    assert not seen & {tuple(one.x.values()) for one in asked[first : first + 5]}
    assert len(run.history) == 24
    copy = Path(shutil.copy(path, tmp_path / "copy.db"))
    assert figures(BayesianOptimizer.open(copy).ask()) == figures(run.ask())


def test_a_state_is_the_fold_of_its_events_however_they_are_cut(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    run = optimizer(journal=path)
    advance(run, 3)
    run.ask(2)
    run.tell([99.1, -1.2], 0.3, noise=0.1)
    run.forget(run.pending[0])
    events, _ = Journal.open(path).read()
    whole = State(BOX).after(events)
    piecewise = State(BOX)
    for event in events:
        piecewise = piecewise.after([event])
    for state in (whole, piecewise):
        assert state.pending == tuple(one.key for one in run.pending)
        assert [told.y for told in state.observations] == [told.y for told in run.history]
        assert (state.initial, state.steps) == (4, 1)


CHANGES: tuple[dict[str, Any], ...] = (
    {"maximizer": "bab"},
    {"gap": 0.5},
    {"time_limit": 2.0},
    {"maximizer": "lbfgs", "gap": 1e-3, "time_limit": float("inf")},
)


@pytest.mark.parametrize("changes", CHANGES)
def test_how_points_are_looked_for_may_change(changes: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    begun = nm.optimize(bowl, BOX, 5, **QUICK, journal=path)
    run = BayesianOptimizer.open(path, **changes)
    changed = [getattr(run.settings, name) for name in changes if name != "maximizer"]
    assert changed == [value for name, value in changes.items() if name != "maximizer"]
    result = nm.optimize(bowl, BOX, 7, **{**QUICK, **changes}, journal=path)
    assert (result.nfev, result.nfev_here) == (7, 2)
    name = changes.get("maximizer", "random")
    assert [step.maximizer.partition(":")[0] for step in result.steps] == ["random", name, name]
    pairs = zip(result.history[:5], begun.history, strict=True)
    assert all(same(now.x, then.x) for now, then in pairs)
    # What is left out is as the run began with.
    quick = {key: value for key, value in QUICK.items() if key != "maximizer"}
    again = nm.optimize(bowl, BOX, 8, **quick, journal=path)
    assert again.steps[-1].maximizer == result.steps[0].maximizer
    assert again.optimizer.settings.gap == 1e-4


@pytest.mark.parametrize(
    "changes",
    [{"surrogate": "gp"}, {"acquisition": "ucb"}, {"direction": "maximize"}, {"warp": None}],
)
def test_what_is_looked_for_may_not(changes: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    nm.optimize(bowl, BOX, 2, **QUICK, journal=path)
    with pytest.raises(nm.InputError, match="only maximizer, gap, time_limit, stop and"):
        nm.optimize(bowl, BOX, 3, **{**QUICK, **changes}, journal=path)


def test_a_maximizer_that_cannot_choose_the_points_is_refused_when_a_run_goes_on(
    tmp_path: Path,
) -> None:
    path = tmp_path / "run.db"
    nm.optimize(bowl, BOX, 2, **{**QUICK, "surrogate": "random_forest"}, journal=path)
    with pytest.raises(nm.UnsupportedError, match="gradient"):
        BayesianOptimizer.open(path, maximizer="lbfgs")
    with pytest.raises(nm.InputError, match="gap"):
        BayesianOptimizer.open(path, gap=-1.0)
