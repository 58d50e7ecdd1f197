"""Pictures show the figures that they are made of."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from nnbo_mip.core.errors import InputError
from nnbo_mip.drawing.drawn import draw
from nnbo_mip.drawing.picture import (
    Axis,
    Boxes,
    Dots,
    Line,
    Picture,
    Series,
    Strokes,
    Texts,
    numbers,
)
from nnbo_mip.lab.pictures.belief import BeliefLine, acquisition, belief
from nnbo_mip.lab.pictures.contours import Surface, contour, points
from nnbo_mip.lab.pictures.gaps import QUICKEST, SMALLEST, Gaps, gaps_against_time
from nnbo_mip.lab.pictures.ranks import critical_difference
from nnbo_mip.lab.pictures.regret import boxes, outliers, regret, thinned
from nnbo_mip.lab.statistics.findings import ProblemFindings, Sample
from nnbo_mip.lab.statistics.tests import friedman

COLORS = {"a": 0, "b": 1}


def found(*finals: list[float]) -> ProblemFindings:
    samples = []
    for method, final in zip(COLORS, finals, strict=False):
        count = len(final)
        losses = np.column_stack([np.full(count, 100.0), np.full(count, 50.0), final])
        samples.append(Sample(method, np.arange(count) + 7, np.arange(count), losses))
    return ProblemFindings("p", "regret", 2, 1, tuple(samples))


def test_a_curve_is_the_statistic_of_its_columns() -> None:
    picture = regret(found([1.0, 2.0, 9.0], [3.0, 3.0, 3.0]), "median", COLORS)
    (line,) = picture.series[0].marks
    assert isinstance(line, Line)
    assert np.asarray(line.x).tolist() == [1, 2, 3]
    assert np.asarray(line.y).tolist() == [100.0, 50.0, 2.0]
    assert np.asarray(line.low)[2] == 1.0
    assert np.asarray(line.high)[2] == 9.0
    (mean,) = regret(found([1.0, 2.0, 9.0]), "mean", COLORS).series[0].marks
    assert isinstance(mean, Line)
    assert np.asarray(mean.y)[2] == pytest.approx(4.0)


def test_long_curves_are_thinned_with_both_ends_kept() -> None:
    kept = thinned(5, 1005)
    assert len(kept) == 120
    assert (kept[0], kept[-1]) == (5, 1004)
    assert thinned(2, 6).tolist() == [2, 3, 4, 5]


def test_outliers_are_named_by_their_instance() -> None:
    final = [1.0, 2.0, 3.0, 4.0, 30.0]
    assert outliers(np.array(final)).tolist() == [4]
    whiskers, box, median, dots, names = boxes(found(final), COLORS).series[0].marks
    assert isinstance(box, Boxes)
    assert (box.x0, box.x1) == ([2.0], [4.0])
    assert isinstance(median, Strokes)
    assert median.x0 == [3.0]
    assert isinstance(whiskers, Strokes)
    assert (np.min(whiskers.x0), np.max(whiskers.x1)) == (1.0, 4.0)
    assert isinstance(dots, Dots)
    assert dots.names == ("instance 11",)
    assert np.asarray(dots.x).tolist() == [30.0]
    assert isinstance(names, Texts)
    assert names.texts == ("11",)


def test_a_contour_of_a_plane_is_the_straight_line() -> None:
    x, y = np.linspace(0.0, 1.0, 9), np.linspace(0.0, 2.0, 7)
    values = 3.0 * x[:, None] + y[None, :]
    strokes = contour(x, y, values, 2.1)
    for px, py in (strokes[:, :2].T, strokes[:, 2:].T):
        assert 3.0 * px + py == pytest.approx(2.1)
    lengths = np.hypot(strokes[:, 2] - strokes[:, 0], strokes[:, 3] - strokes[:, 1])
    # From (0.7, 0) to (1/30, 2).
    assert lengths.sum() == pytest.approx(math.hypot(0.7 - 0.1 / 3.0, 2.0))


def test_a_contour_of_a_bowl_is_as_long_as_its_circle() -> None:
    x = np.linspace(-1.0, 1.0, 61)
    strokes = contour(x, x, x[:, None] ** 2 + x[None, :] ** 2, 0.49)
    lengths = np.hypot(strokes[:, 2] - strokes[:, 0], strokes[:, 3] - strokes[:, 1])
    assert lengths.sum() == pytest.approx(2.0 * math.pi * 0.7, rel=2e-3)


def test_cells_without_a_value_have_no_contour() -> None:
    x = np.linspace(0.0, 1.0, 5)
    values = np.full((5, 5), np.nan)
    assert contour(x, x, values, 0.5).shape == (0, 4)


def test_sampled_points_tell_starts_from_choices() -> None:
    surface = Surface(("u", "v"), np.zeros(2), np.ones(2), lambda X: X.sum(axis=1))
    X = np.array([[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]])
    picture = points("t", surface, X, np.zeros(3), 2, 0)
    (starts,), (chosen,) = picture.series[1].marks, picture.series[2].marks
    assert isinstance(starts, Dots)
    assert isinstance(chosen, Dots)
    assert starts.names == ("start 1", "start 2")
    assert chosen.names == ("evaluation 3",)
    assert np.asarray(chosen.y).tolist() == [0.6]
    assert picture.is_map
    assert picture.series[0].marks


@pytest.mark.parametrize("maximize", [False, True])
def test_most_contours_are_about_what_is_wanted(maximize: bool) -> None:
    surface = Surface(("u", "v"), np.zeros(2), np.ones(2), lambda X: X[:, 0], maximize)
    at = np.array([np.mean(one.x0) for one in surface.background if isinstance(one, Strokes)])
    wanted, others = at > 0.75, at < 0.25
    if not maximize:
        wanted, others = others, wanted
    assert wanted.sum() >= 4
    assert others.sum() == 1


def test_gaps_of_zero_and_no_time_are_shown_at_the_edges() -> None:
    part = Gaps("a", np.array([0.0, 2.0]), np.array([0.0, 0.5]))
    (dots,) = gaps_against_time("p", [part], COLORS).series[0].marks
    assert isinstance(dots, Dots)
    assert np.asarray(dots.x).tolist() == [QUICKEST, 2.0]
    assert np.asarray(dots.y).tolist() == [SMALLEST, 0.5]
    assert gaps_against_time("p", [Gaps("a", np.empty(0), np.empty(0))], COLORS).is_empty


def test_the_bar_of_the_critical_difference_is_as_long_as_it_is() -> None:
    rng = np.random.default_rng(1)
    outcome = friedman(rng.normal(size=(30, 2)))
    picture = critical_difference("t", ("a", "b"), outcome, "instances", COLORS)
    names = [series.name for series in picture.series]
    bar = picture.series[names.index("critical difference")].marks[0]
    assert isinstance(bar, Strokes)
    assert bar.x0 == [1.0]
    assert bar.x1 == [pytest.approx(1.0 + outcome.difference)]
    (dot,) = (m for m in picture.series[names.index("b")].marks if isinstance(m, Dots))
    assert dot.x == [outcome.ranks[1]]


def test_a_critical_difference_beyond_all_ranks_is_cut_and_says_so() -> None:
    outcome = friedman([[1.0, 2.0], [2.0, 1.0]])
    assert outcome.difference > 1.0
    picture = critical_difference("t", ("a", "b"), outcome, "problems", COLORS)
    bar, said = picture.series[-1].marks
    assert isinstance(bar, Strokes)
    assert bar.x1 == [2.0]
    assert isinstance(said, Texts)
    assert said.texts == ("critical difference 1.39",)
    assert picture.note.endswith("It is longer than the line, as there are few ranks.")


def line(bound: float) -> BeliefLine:
    x = np.linspace(0.0, 1.0, 5)
    return BeliefLine(x, x, 0.1 + 0.0 * x, 2.0 * x, x[:1], x[:1], 1.0, 2.0, bound, "ucb")


def test_a_belief_has_its_band_and_the_acquisition_its_bound() -> None:
    (band,) = belief("t", line(2.5), 0).series[0].marks
    assert isinstance(band, Line)
    assert np.asarray(band.high) - np.asarray(band.low) == pytest.approx(0.2)
    bound = acquisition("t", line(2.5), 0).series[-1]
    assert bound.name == "proven bound"
    (level,) = bound.marks
    assert isinstance(level, Line)
    assert np.asarray(level.y).tolist() == [2.5, 2.5]
    assert [one.name for one in acquisition("t", line(math.inf), 0).series] == ["ucb", "next"]


def test_numbers_are_short_and_json() -> None:
    assert numbers([1.0 / 3.0, math.nan, math.inf]) == [0.333333, None, None]


def test_an_unknown_scale_is_refused() -> None:
    with pytest.raises(InputError, match="'linear' or 'log'"):
        Picture("t", Axis("x", "cubic"), Axis("y"), ())


ALL_MARKS = (
    Line([1.0, 2.0, 3.0], [0.0, 0.1, 1.0], [0.0, 0.05, 0.5], [0.1, 0.2, 2.0]),
    Line([1.0, 3.0], [0.5, 0.5], style="stairs"),
    Dots([2.0], [0.3], ("a dot",), "ring"),
    Strokes([1.0], [0.1], [2.0], [0.2], 2.0),
    Boxes([1.0], [0.1], [2.0], [0.2]),
    Texts([1.0], [0.3], ("words",)),
)


@pytest.mark.parametrize("ending", ["png", "svg"])
def test_every_mark_becomes_a_file(tmp_path: Path, ending: str) -> None:
    series = tuple(Series(f"s{k}", (mark,), k) for k, mark in enumerate(ALL_MARKS))
    y = Axis("loss", "log", switchable=True)
    draw(Picture("All", Axis("x", whole=True), y, series, rows=3), tmp_path / f"all.{ending}")
    content = (tmp_path / f"all.{ending}").read_bytes()
    assert content.startswith(b"\x89PNG" if ending == "png" else b"<?xml")
    named = Axis("", ticks=((0.0, "a"), (1.0, "b")), turned=True)
    draw(Picture("Named", Axis("x"), named, series[:1]), tmp_path / f"named.{ending}")


def test_matplotlib_draws_the_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    from nnbo_mip.drawing import drawn

    caught = []
    monkeypatch.setattr(drawn, "save", lambda figure, path: caught.append(figure))
    mark = Line([1.0, 2.0], [0.0, 0.5])
    picture = Picture("t", Axis("x"), Axis("y", "log"), (Series("s", (mark,), 0),))
    draw(picture, "unused.svg")
    (axes,) = caught[0].axes
    (drawn_line,) = axes.get_lines()
    # A zero has no logarithm: it lies below the smallest value.
    assert drawn_line.get_ydata().tolist() == [0.25, 0.5]
    assert axes.get_yscale() == "log"


def test_another_ending_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"\.png"):
        draw(Picture("t", Axis("x"), Axis("y"), ()), tmp_path / "picture.gif")
