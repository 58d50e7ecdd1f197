"""Pictures as files, drawn by matplotlib (extra `plots`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.drawing.figures import Plot, check_can_draw, check_matplotlib, new_figure, save
from nnbo_mip.drawing.marks import COLORS
from nnbo_mip.drawing.picture import Axis, Boxes, Dots, Line, Mark, Picture, Strokes, Texts

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FAINT = "#777777"

STYLES = {"solid": "default", "dashed": "default", "stairs": "steps-post"}

DASHES = ("-", "--", ":", "-.")
"""Of lines, as colours begin anew; the page has its own."""

SHAPES = {"circle": "o", "ring": "o", "cross": "x", "star": "*"}

SIZE = (6.4, 4.2)
"""Inches of a usual plot."""

LINE_HEIGHT = 0.38

COLUMN_WIDTH, ROW_HEIGHT = 5.2, 3.6
"""Inches of a picture among several."""


def draw(picture: Picture, path: str | Path) -> None:
    """Draw a picture into a file.

    Parameters
    ----------
    picture : Picture
    path : path
        Ends in .png, .svg or .pdf.
    """
    file = Path(path)
    check_can_draw(file)
    width, height = SIZE
    figure = new_figure(width, _height(picture, height))
    axes = figure.subplots()
    paint(axes, picture)
    if any(series.in_legend for series in picture.series):
        figure.legend(loc="outside lower center", ncols=3, fontsize=8, frameon=False)
    save(figure, file)


def drawn_together(rows: Sequence[Sequence[Picture]]) -> Plot:
    """Return a figure of rows of pictures, each with its legend below.

    Parameters
    ----------
    rows : sequence of sequences of Picture
        The widest row says how many columns there are; a row of one picture fills all.
    """
    check_matplotlib()
    columns = max(len(row) for row in rows)
    heights = [max(_height(picture, ROW_HEIGHT) for picture in row) for row in rows]
    figure = new_figure(COLUMN_WIDTH * max(columns, 2), sum(heights))
    grid = figure.add_gridspec(len(rows), columns, height_ratios=heights)
    for k, row in enumerate(rows):
        for j, picture in enumerate(row):
            place = grid[k, :] if len(row) == 1 else grid[k, j]
            axes = figure.add_subplot(place)
            paint(axes, picture)
            if sum(series.in_legend for series in picture.series) > 1:
                axes.legend(fontsize=7, frameon=False, loc="best")
    return Plot(figure)


def _height(picture: Picture, usual: float) -> float:
    return 1.4 + LINE_HEIGHT * picture.rows if picture.rows else usual


def paint(axes: Axes, picture: Picture) -> None:
    """Draw a picture on axes, without its legend."""
    floors = [_floor(picture, name) for name in ("x", "y")]
    for number, series in enumerate(picture.series):
        color = FAINT if series.color is None else COLORS[series.color % len(COLORS)]
        cycle = 0 if series.color is None else series.color // len(COLORS)
        label = series.name if series.in_legend else None
        for mark in series.marks:
            kept = _above(mark, floors)
            DRAWERS[type(mark)](axes, kept, color, DASHES[cycle % len(DASHES)], label, number)
            label = None
    axes.update_datalim([(x, 0.0) for x in picture.x.ends], updatey=False)
    axes.update_datalim([(0.0, y) for y in picture.y.ends], updatex=False)
    axes.autoscale_view()
    _set(axes, picture.x, "x")
    _set(axes, picture.y, "y")
    axes.set_title(picture.title, fontsize=10)
    axes.spines[["top", "right"]].set_visible(False)


def _line(axes: Axes, mark: Any, color: str, dashes: str, label: str | None, number: int) -> None:
    style = "--" if mark.style == "dashed" else dashes
    axes.plot(
        mark.x,
        mark.y,
        style,
        drawstyle=STYLES[mark.style],
        color=color,
        linewidth=1.6,
        label=label,
        zorder=3 + 0.01 * number,
    )
    if mark.low is not None and mark.high is not None:
        axes.fill_between(mark.x, mark.low, mark.high, color=color, alpha=0.14, linewidth=0)


def _dots(axes: Axes, mark: Any, color: str, dashes: str, label: str | None, number: int) -> None:
    axes.plot(
        mark.x,
        mark.y,
        SHAPES[mark.shape],
        color=color,
        markersize=9 if mark.shape == "star" else 5,
        markerfacecolor="none" if mark.shape == "ring" else color,
        label=label,
        zorder=4 + 0.01 * number,
    )


def _strokes(
    axes: Axes, mark: Any, color: str, dashes: str, label: str | None, number: int
) -> None:
    from matplotlib.collections import LineCollection

    ends = np.stack([_columns(mark.x0, mark.y0), _columns(mark.x1, mark.y1)], axis=1)
    lines = LineCollection(list(ends), colors=color, linewidths=mark.width, label=label)
    axes.add_collection(lines)
    axes.autoscale_view()


def _boxes(axes: Axes, mark: Any, color: str, dashes: str, label: str | None, number: int) -> None:
    from matplotlib.patches import Rectangle

    corners = zip(_columns(mark.x0, mark.y0), _columns(mark.x1, mark.y1), strict=True)
    for (x0, y0), (x1, y1) in corners:
        box = Rectangle((x0, y0), x1 - x0, y1 - y0, facecolor=color, alpha=0.3, label=label)
        axes.add_patch(box)
        label = None
    axes.autoscale_view()


def _texts(axes: Axes, mark: Any, color: str, dashes: str, label: str | None, number: int) -> None:
    side = {"start": "left", "middle": "center", "end": "right"}[mark.anchor]
    for (x, y), text in zip(_columns(mark.x, mark.y), mark.texts, strict=True):
        axes.annotate(text, (x, y), ha=side, va="center", fontsize=7, color=color)
    axes.update_datalim(_columns(mark.x, mark.y))
    axes.autoscale_view()


DRAWERS: Mapping[type, Callable[[Axes, Any, str, str, str | None, int], None]] = {
    Line: _line,
    Dots: _dots,
    Strokes: _strokes,
    Boxes: _boxes,
    Texts: _texts,
}


def _columns(x: Any, y: Any) -> FloatArray:
    return np.column_stack([np.asarray(x, dtype=float), np.asarray(y, dtype=float)])


def _floor(picture: Picture, axis: str) -> float | None:
    """Return where what is not positive is shown on a logarithmic axis; None on a linear one."""
    if getattr(picture, axis).scale != "log":
        return None
    found = [
        np.asarray(value, dtype=float).ravel()
        for series in picture.series
        for mark in series.marks
        for name, value in vars(mark).items()
        if name in _coordinates(axis) and value is not None
    ]
    known = np.concatenate(found) if found else np.empty(0)
    positive = known[np.isfinite(known) & (known > 0.0)]
    return 0.5 * float(positive.min()) if len(positive) else 1e-12


def _coordinates(axis: str) -> tuple[str, ...]:
    more = ("low", "high") if axis == "y" else ()
    return (axis, f"{axis}0", f"{axis}1", *more)


def _above(mark: Mark, floors: list[float | None]) -> Mark:
    """Return a mark whose coordinates are not below those of the floors."""
    made = dict(vars(mark))
    for axis, floor in zip("xy", floors, strict=True):
        for name in _coordinates(axis):
            if floor is not None and made.get(name) is not None:
                made[name] = np.maximum(np.asarray(made[name], dtype=float), floor)
    return type(mark)(**made)


def _set(axes: Axes, axis: Axis, which: Literal["x", "y"]) -> None:
    """Label and scale one axis."""
    if which == "x":
        axes.set_xlabel(axis.label)
        axes.set_xscale(axis.scale)
    else:
        axes.set_ylabel(axis.label)
        axes.set_yscale(axis.scale)
    drawn = axes.xaxis if which == "x" else axes.yaxis
    if axis.bare:
        drawn.set_visible(False)
        axes.spines["left" if which == "y" else "bottom"].set_visible(False)
    elif axis.ticks:
        drawn.set_ticks([place for place, _ in axis.ticks], [name for _, name in axis.ticks])
    else:
        drawn.grid(visible=True, color="#EEEEEE")
        axes.set_axisbelow(True)
    if axis.whole:
        axes.locator_params(axis=which, integer=True)
    if axis.turned:
        drawn.set_inverted(True)
