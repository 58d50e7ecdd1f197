"""Searches side by side: values and proven bounds, distance to the bound and time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from nnbo_mip.core.outward import text_above
from nnbo_mip.drawing.figures import check_can_draw, new_figure, save
from nnbo_mip.drawing.landscape import Landscape
from nnbo_mip.drawing.marks import Mark, marks

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SHORTEST = 1e-4
"""Seconds that a maximizer takes at least, on a logarithmic scale."""

PANELS = {"L": "landscape", "V": "values", "D": "distances"}

MARGIN = 0.08
"""Part of an axis that is left free beside the outermost values."""

MARK_SIZE = 10.0

LEAST_WIDTH = 0.02
"""Part of the largest value that an axis of values spans: smaller differences are no news."""

SMALLEST_DISTANCE = 1e-12
"""Where a distance of zero is shown if nothing else says how low the scale goes."""


@dataclass(frozen=True)
class SearchRow:
    """One search.

    Parameters
    ----------
    name : str
    value, bound : float
        The best value it found, -inf without one, and what it proved, +inf where nothing.
    seconds : float
        How long it took.
    verdict : str
        A word beside it.
    """

    name: str
    value: float
    bound: float
    seconds: float
    verdict: str


@dataclass(frozen=True, eq=False)
class SearchTable:
    """Several searches for the maximum of one function.

    Parameters
    ----------
    label : str
        What values are.
    best, bound : float
        The best value and the best proven bound of all; +inf where nothing was proven.
    certified : bool
        Whether a search closed its gap.
    miss : float
        By how much a value may be below the best one without a miss.
    rows : sequence of SearchRow
    """

    label: str
    best: float
    bound: float
    certified: bool
    miss: float
    rows: Sequence[SearchRow]


def draw_searches(
    table: SearchTable, path: str | Path, *, landscape: Landscape | None = None, title: str = ""
) -> None:
    """Draw searches into a file.

    Parameters
    ----------
    table : SearchTable
    path : path
        Ends in .png, .svg or .pdf.
    landscape : Landscape, optional
        The function itself.
    title : str
    """
    file = Path(path)
    check_can_draw(file)
    shown = marks(len(table.rows))
    figure, axes = _panels(with_landscape=landscape is not None)
    if landscape is not None:
        landscape.draw(figure, axes["landscape"], shown)
    _draw_values(axes["values"], table, shown)
    _draw_distances(axes["distances"], table, shown)
    if title:
        figure.suptitle(title, fontsize=11)
    save(figure, file)


def _panels(*, with_landscape: bool) -> tuple[Figure, dict[str, Axes]]:
    if with_landscape:
        figure = new_figure(12.0, 6.2)
        axes = figure.subplot_mosaic("LV;LD", width_ratios=[1.15, 1.0])
    else:
        figure = new_figure(11.0, 4.0)
        axes = figure.subplot_mosaic("VD")
    return figure, {PANELS[letter]: drawn for letter, drawn in axes.items()}


# -- values and bounds ------------------------------------------------------------------


def _draw_values(axes: Axes, table: SearchTable, shown: list[Mark]) -> None:
    """One line a maximizer: its value, and how far up its own bound is."""
    low, high = _range(table)
    axes.set_xlim(low, high)
    for place, (row, mark) in enumerate(zip(table.rows, shown, strict=True)):
        _draw_row(axes, place, row, mark, low, high)
    if math.isfinite(table.bound):
        axes.axvline(table.bound, color="black", linestyle="--", linewidth=0.8)
    axes.set_yticks(range(len(table.rows)), [row.name for row in table.rows])
    for label, mark in zip(axes.get_yticklabels(), shown, strict=True):
        label.set_color(mark.color)
    axes.set_ylim(len(table.rows) - 0.5, -0.5)
    axes.set_xlabel(f"{table.label} of the point found")
    axes.set_title(_proven(table), fontsize=10)
    axes.locator_params(axis="x", nbins=5)
    axes.ticklabel_format(axis="x", useOffset=False, style="plain")
    axes.spines[["top", "right"]].set_visible(False)


def _draw_row(axes: Axes, place: int, row: SearchRow, mark: Mark, low: float, high: float) -> None:
    axes.annotate(
        row.verdict,
        (1.0, place),
        xycoords=("axes fraction", "data"),
        xytext=(4, 0),
        textcoords="offset points",
        va="center",
        fontsize=8,
    )
    if not math.isfinite(row.value):
        return
    if math.isfinite(row.bound):
        end = min(row.bound, high)
        axes.plot([row.value, end], [place, place], "-", color=mark.color, linewidth=1.5)
        axes.plot(end, place, "|" if end == row.bound else ">", color=mark.color, markersize=11)
    axes.plot(max(row.value, low), place, mark.shape, color=mark.color, markersize=7)


def _range(table: SearchTable) -> tuple[float, float]:
    """Return the ends of the axis: all values, and the best bound."""
    values = [row.value for row in table.rows if math.isfinite(row.value)]
    if math.isfinite(table.bound):
        values.append(table.bound)
    if not values:
        return 0.0, 1.0
    low, high = min(values), max(values)
    width = max(high - low, LEAST_WIDTH * abs(high)) or LEAST_WIDTH
    low = min(low, high - width)
    return low - MARGIN * width, high + MARGIN * width


def _proven(table: SearchTable) -> str:
    if not math.isfinite(table.bound):
        return "no bound was proven"
    closed = "" if table.certified else ", gap open"
    return f"proven (dashed): no point is above {text_above(table.bound, 6)}{closed}"


# -- distances and time -----------------------------------------------------------------


def _draw_distances(axes: Axes, table: SearchTable, shown: list[Mark]) -> None:
    """Both axes logarithmic; a distance of zero lies on the lower edge."""
    proven = math.isfinite(table.bound)
    places = {
        k: (table.bound if proven else table.best) - row.value
        for k, row in enumerate(table.rows)
        if math.isfinite(row.value)
    }
    if not places:
        axes.set_title("no point was found", fontsize=10)
        axes.set_axis_off()
        return
    known = table.bound - table.best if proven else 0.0
    miss = known + table.miss
    floor = _floor([*places.values(), miss])
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlim(*_decades([max(table.rows[k].seconds, SHORTEST) for k in places]))
    for k, distance in places.items():
        seconds = max(table.rows[k].seconds, SHORTEST)
        axes.plot(
            seconds,
            max(distance, floor),
            shown[k].shape,
            color=shown[k].color,
            markersize=MARK_SIZE,
            markerfacecolor="none",
            markeredgewidth=1.8,
        )
        if distance <= 0.0:
            axes.annotate(
                "0", (seconds, floor), xytext=(9, -3), textcoords="offset points", fontsize=8
            )
    if table.certified:
        axes.axhspan(floor / 3.0, max(known, floor), color="#DDDDDD", zorder=0, linewidth=0.0)
        axes.axhline(miss, color="black", linestyle=":", linewidth=0.8)
        axes.annotate(
            "above: a miss (more than 0.1 % below the best)",
            (0.99, miss),
            xycoords=("axes fraction", "data"),
            xytext=(0, 3),
            textcoords="offset points",
            ha="right",
            fontsize=7,
        )
    top = max([*places.values(), miss, floor])
    axes.set_ylim(floor / 3.0, 5.0 * top)
    axes.set_xlabel("seconds")
    axes.set_ylabel("below the proven bound by" if proven else "below the best point by")
    grey = "; grey: the gap of the proof" if table.certified else ""
    axes.set_title(f"time, and distance to the top{grey}", fontsize=10)
    axes.grid(visible=True, color="#EEEEEE")
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)


def _decades(numbers: list[float]) -> tuple[float, float]:
    """Return the powers of ten between which numbers > 0 lie, so that ticks have room."""
    low = math.floor(math.log10(min(numbers)))
    high = math.ceil(math.log10(max(numbers)))
    return 10.0**low, 10.0 ** max(high, low + 1)


def _floor(distances: list[float]) -> float:
    """Return where zero is shown: a decade below the smallest distance."""
    positive = [distance for distance in distances if distance > 0.0]
    return 0.1 * min(positive, default=10.0 * SMALLEST_DISTANCE)
