"""What pictures of a run show, against what was told and what the model says."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import nnbo_mip as nm
from nnbo_mip.drawing.picture import Boxes, Dots, Line, Picture, Strokes
from nnbo_mip.loop.seen.importance import total_effects
from nnbo_mip.loop.seen.pictures import importance, parallel, progress, promises, slices
from nnbo_mip.loop.seen.run_view import RunView
from nnbo_mip.loop.seen.side import sides_of
from nnbo_mip.loop.stopping.bounds import RegretBound
from nnbo_mip.testing.analytic_belief import AnalyticBelief
from tests.loop.runs import advance, optimizer
from tests.loop.seen.runs import MIXED, mixed_run, tuned


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> nm.OptimizeResult:
    return mixed_run(tmp_path_factory.mktemp("run") / "run.db")


@pytest.fixture(scope="module")
def view(result: nm.OptimizeResult) -> RunView:
    return result.optimizer.view("run.db")


def marks(picture: Picture, name: str) -> tuple[object, ...]:
    return next(one.marks for one in picture.series if one.name == name)


def test_a_journal_is_read_as_it_is(result: nm.OptimizeResult, view: RunView) -> None:
    journal = result.optimizer.journal
    assert journal is not None
    before = journal.read_bytes()
    read = RunView.of_journal(journal)
    assert read.values.tolist() == view.values.tolist()
    assert read.best is not None
    assert read.best.y == result.fun
    assert journal.read_bytes() == before


def test_progress_shows_every_value_and_the_best(view: RunView) -> None:
    drawn = progress(view)
    dots = [
        mark
        for series in drawn.series
        for mark in series.marks
        if isinstance(mark, Dots) and series.name != "failed" and "optimum" not in series.name
    ]
    shown = sorted(np.concatenate([np.asarray(mark.y) for mark in dots]).tolist())
    assert shown == sorted(view.values[np.isfinite(view.values)].tolist())
    (line,) = marks(drawn, "best so far")
    assert isinstance(line, Line)
    assert np.asarray(line.y)[-1] == np.nanmin(view.values)
    assert (np.diff(np.asarray(line.y)) <= 0.0).all()


def test_the_optimum_of_the_picture_is_that_of_the_regret_bound(view: RunView) -> None:
    assert isinstance(view.regret, RegretBound)
    drawn = [one for one in progress(view).series if "optimum" in one.name]
    spread = float(np.ptp(view.values[np.isfinite(view.values)]))
    assert bool(drawn) == (view.regret.regret <= 3.0 * spread)
    for series in drawn:
        (bar, _) = series.marks
        assert isinstance(bar, Strokes)
        assert sorted([*np.ravel(bar.y0), *np.ravel(bar.y1)]) == sorted(view.regret)


def test_promises_are_those_of_the_record(view: RunView) -> None:
    (dots,) = marks(promises(view), "what the chosen point promises")
    assert isinstance(dots, Dots)
    assert np.asarray(dots.y).tolist() == [step.value for step in view.steps]


def test_the_model_finds_out_which_input_is_idle() -> None:
    run = nm.BayesianOptimizer(MIXED, "gp")
    told = [x for x in MIXED.sample(40, seed=0) if not (x["act"] == "sigmoid" and x["width"] > 50)]
    run.tell(told, [tuned(x) for x in told])
    drawn = importance(run.view())
    assert drawn is not None
    names = [name for _, name in drawn.y.ticks]
    assert set(names[:2]) == {"lr", "width"}
    bars = drawn.series[0].marks[0]
    assert isinstance(bars, Boxes)
    shares = np.asarray(bars.x1)
    assert shares[names.index("idle")] < 0.05 < shares[1]
    assert (np.diff(shares) <= 0.0).all()


def test_total_effects_of_a_function_that_is_known() -> None:
    # A sum of sin(1.3 x_i + i): no interactions, so that the effects are the parts of the variance.
    space = nm.Space.box([-1.0, -1.0, -1.0], [1.0, 1.0, 1.0])
    effects = total_effects(AnalyticBelief(3), space.model(), sides_of(space))
    x = np.linspace(-1.0, 1.0, 2001)
    parts = np.array([np.var(np.sin(1.3 * x + i)) for i in range(3)])
    assert effects == pytest.approx(parts / parts.sum(), abs=0.06)


def test_slices_go_through_the_best_point(view: RunView) -> None:
    drawn = {model.x.label: (model, score) for model, score in slices(view, 4)}
    assert set(drawn) == {"lr", "width", "act", "idle"}
    assert drawn["lr"][0].x.scale == "log"
    assert view.best is not None
    for model, score in drawn.values():
        (star,) = marks(model, "best point")
        assert isinstance(star, Dots)
        assert star.y == [view.best.y]
        assert score is not None
        assert not score.is_empty
    width = drawn["width"][0].series[0].marks[0]
    assert isinstance(width, Line)
    place = np.flatnonzero(np.asarray(width.x) == view.best.x["width"])
    expected = view.expected(view.best.observation.z[None])
    assert expected is not None
    assert np.asarray(width.y)[place] == pytest.approx(expected[0])
    assert [name for _, name in drawn["act"][0].x.ticks] == ["relu", "tanh", "sigmoid"]


def test_slices_have_gaps_where_a_constraint_does_not_hold(view: RunView) -> None:
    model, _ = next(both for both in slices(view, 4) if both[0].x.label == "width")
    line = model.series[0].marks[0]
    assert isinstance(line, Line)
    assert view.best is not None
    room = 60.0 - 40.0 * view.best.x["idle"]
    hidden = np.asarray(line.x)[np.isnan(np.asarray(line.y))]
    assert hidden.size
    assert (hidden > room).all()


def test_all_points_have_a_line_each(view: RunView) -> None:
    drawn = parallel(view)
    assert drawn is not None
    names = [name for _, name in drawn.x.ticks]
    assert sorted(names) == sorted([*MIXED.dim_names, "value"])
    dots = [mark for one in drawn.series for mark in one.marks if isinstance(mark, Dots)]
    count = sum(len(np.asarray(mark.x)) for mark in dots)
    assert count == len(names) * int(np.isfinite(view.values).sum())


def test_a_run_without_values_has_pictures_of_nothing() -> None:
    view = optimizer().view()
    assert progress(view).is_empty
    assert importance(view) is None
    assert slices(view, 3) == []
    assert parallel(view) is None


def test_an_embedding_is_drawn_by_its_coordinates() -> None:
    space = nm.Space.box(np.zeros(6), np.ones(6))
    run = optimizer(space, embedding="hashed:dimension=2", initial=5)
    advance(run, 7, lambda x: float(np.sum(x)))
    view = run.view()
    assert {model.x.label for model, _ in slices(view, 5)} == {"z0", "z1"}


def test_plot_is_a_picture(result: nm.OptimizeResult, tmp_path: Path) -> None:
    plot = result.plot(inputs=1)
    assert plot._repr_png_().startswith(b"\x89PNG")
    plot.save(tmp_path / "run.svg")
    assert (tmp_path / "run.svg").read_text().startswith("<?xml")
    # Values, promises, a slice with its acquisition, what matters.
    assert len(plot.figure.axes) == 5
