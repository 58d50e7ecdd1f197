"""`Picture`: axes, and series of marks in the units of the data; who draws it is another matter."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from nnbo_mip.core.errors import InputError

DIGITS = 6
"""Significant ones of a number on a page."""


@dataclass(frozen=True)
class Axis:
    """One axis.

    Parameters
    ----------
    label : str
    scale : {"linear", "log"}
        What it begins with.
    switchable : bool
        Whether a reader may change the scale.
    ticks : tuple of (float, str)
        Places with names, instead of numbers.
    turned : bool
        Whether small numbers are at the right, or at the top.
    whole : bool
        Whether it counts, so that there is nothing between whole numbers.
    ends : tuple of float
        Values that it reaches, whatever is drawn.
    bare : bool
        Whether it has neither numbers nor a line.
    """

    label: str
    scale: str = "linear"
    switchable: bool = False
    ticks: tuple[tuple[float, str], ...] = ()
    turned: bool = False
    whole: bool = False
    ends: tuple[float, ...] = ()
    bare: bool = False


@dataclass(frozen=True, eq=False)
class Line:
    """Points joined by a line, perhaps with a band about it.

    Parameters
    ----------
    x, y : (n,) arrays
        NaN leaves a gap.
    low, high : (n,) arrays, optional
        The ends of the band.
    style : {"solid", "dashed", "stairs"}
        Stairs go on level and rise at the next x.
    """

    x: npt.ArrayLike
    y: npt.ArrayLike
    low: npt.ArrayLike | None = None
    high: npt.ArrayLike | None = None
    style: str = "solid"


@dataclass(frozen=True, eq=False)
class Dots:
    """Single points.

    Parameters
    ----------
    x, y : (n,) arrays
    names : sequence of str
        What is said of each; empty for none.
    shape : {"circle", "ring", "cross", "star"}
    """

    x: npt.ArrayLike
    y: npt.ArrayLike
    names: tuple[str, ...] = ()
    shape: str = "circle"


@dataclass(frozen=True, eq=False)
class Strokes:
    """Straight strokes from (x0, y0) to (x1, y1), arrays (n,) each, of one width in pixels."""

    x0: npt.ArrayLike
    y0: npt.ArrayLike
    x1: npt.ArrayLike
    y1: npt.ArrayLike
    width: float = 1.0


@dataclass(frozen=True, eq=False)
class Boxes:
    """Rectangles with corners (x0, y0) and (x1, y1), arrays (n,) each."""

    x0: npt.ArrayLike
    y0: npt.ArrayLike
    x1: npt.ArrayLike
    y1: npt.ArrayLike


@dataclass(frozen=True, eq=False)
class Texts:
    """Words at points; `anchor` says which of their ends is there: start, middle or end."""

    x: npt.ArrayLike
    y: npt.ArrayLike
    texts: tuple[str, ...]
    anchor: str = "start"


Mark: TypeAlias = Line | Dots | Strokes | Boxes | Texts


@dataclass(frozen=True, eq=False)
class Series:
    """Marks that belong together.

    Parameters
    ----------
    name : str
        In the legend, and where values are shown.
    marks : tuple of marks
    color : int or None
        Number of a colour; None for the colour of text, fainter.
    in_legend : bool
        Whether it has a place there, by which it can be switched off.
    """

    name: str
    marks: tuple[Mark, ...]
    color: int | None
    in_legend: bool = True


@dataclass(frozen=True, eq=False)
class Picture:
    """What is drawn.

    Parameters
    ----------
    title : str
    x, y : Axis
    series : tuple of Series
    note : str
        A sentence beneath.
    rows : int
        How many lines of things stand one above another, for the height; 0 for a usual plot.
    is_map : bool
        Whether both axes are coordinates, so that the picture is a square.
    """

    title: str
    x: Axis
    y: Axis
    series: tuple[Series, ...]
    note: str = ""
    rows: int = 0
    is_map: bool = False

    def __post_init__(self) -> None:
        for axis in (self.x, self.y):
            if axis.scale not in ("linear", "log"):
                raise InputError(
                    f"the scale of an axis must be 'linear' or 'log'; got {axis.scale!r}; choose "
                    "one."
                )

    @property
    def is_empty(self) -> bool:
        """Whether nothing of it can be seen."""
        return not any(
            np.isfinite(np.asarray(getattr(mark, name), dtype=float)).any()
            for series in self.series
            for mark in series.marks
            for name in ("y", "y0")
            if hasattr(mark, name)
        )

    def as_json(self) -> dict[str, Any]:
        """Return it as JSON has it; NaN and infinities are null."""
        return {
            "title": self.title,
            "note": self.note,
            "rows": self.rows,
            "map": self.is_map,
            "x": _axis(self.x),
            "y": _axis(self.y),
            "series": [
                {
                    "name": one.name,
                    "color": one.color,
                    "legend": one.in_legend,
                    "marks": [_mark(mark) for mark in one.marks],
                }
                for one in self.series
            ],
        }


def numbers(values: npt.ArrayLike) -> list[float | None]:
    """Return numbers of few digits as JSON has them."""
    made = np.atleast_1d(np.asarray(values, dtype=float)).tolist()
    return [float(f"{one:.{DIGITS}g}") if math.isfinite(one) else None for one in made]


def _axis(axis: Axis) -> dict[str, Any]:
    return {
        "label": axis.label,
        "scale": axis.scale,
        "switchable": axis.switchable,
        "ticks": [[place, name] for place, name in axis.ticks],
        "turned": axis.turned,
        "whole": axis.whole,
        "ends": list(axis.ends),
        "bare": axis.bare,
    }


def _mark(mark: Mark) -> dict[str, Any]:
    made: dict[str, Any] = {"kind": type(mark).__name__.lower()}
    for name, value in vars(mark).items():
        if isinstance(value, str | float | int):
            made[name] = value
        elif name in ("names", "texts"):
            made[name] = list(value)
        elif value is not None:
            made[name] = numbers(value)
    return made
