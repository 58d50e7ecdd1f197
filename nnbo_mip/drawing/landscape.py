"""A function over one or two dimensions, with what was observed and what was found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.drawing.marks import Mark

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SMALLEST_MARK, MARK_STEP = 6.0, 2.5
"""Sizes of marks: those of searches that found the same point lie round each other."""


@dataclass(frozen=True, eq=False)
class Side:
    """One dimension, in the user's units.

    Parameters
    ----------
    name : str
    values : (m,) array
        Where the function is drawn.
    is_logarithmic, is_discrete : bool
        Whether its axis is logarithmic; whether nothing lies between two values.
    """

    name: str
    values: FloatArray
    is_logarithmic: bool = False
    is_discrete: bool = False


@dataclass(frozen=True, eq=False)
class Landscape:
    """A function, as it is drawn.

    Parameters
    ----------
    label : str
        What its values are.
    sides : sequence of Side
        One or two.
    values : (m_1,) or (m_1, m_2) array
        NaN where nothing is drawn.
    observed : (n, k) array
        Points that were observed.
    found : sequence of (k,) array or None
        The point of each search, with a value in `found_values`; None without one.
    found_values : sequence of float
    bound : float
        A proven bound on all values; infinite without one.
    """

    label: str
    sides: Sequence[Side]
    values: FloatArray
    observed: FloatArray
    found: Sequence[FloatArray | None]
    found_values: Sequence[float]
    bound: float

    def draw(self, figure: Figure, axes: Axes, marks: Sequence[Mark]) -> None:
        """Draw it on a figure's axes, one mark a search."""
        if len(self.sides) == 1:
            self._draw_line(axes, marks)
        else:
            self._draw_map(figure, axes, marks)
        self._name_sides(axes)

    def _draw_line(self, axes: Axes, marks: Sequence[Mark]) -> None:
        (side,) = self.sides
        style = "." if side.is_discrete else "-"
        axes.plot(side.values, self.values, style, color="#555555", linewidth=1.2)
        if np.isfinite(self.bound):
            axes.axhline(self.bound, color="black", linestyle="--", linewidth=0.8)
        axes.plot(
            self.observed[:, 0],
            np.full(len(self.observed), 0.03),
            "|",
            color="#555555",
            markersize=10,
            transform=axes.get_xaxis_transform(),
            clip_on=False,
        )
        for point, value, mark, size in self._found(marks):
            axes.plot(
                point[0],
                value,
                mark.shape,
                color=mark.color,
                markersize=size,
                markerfacecolor="none",
                markeredgewidth=1.8,
            )
        axes.set_ylabel(self.label)
        axes.set_title(f"{self.label}; ticks below: observations", fontsize=10)

    def _draw_map(self, figure: Figure, axes: Axes, marks: Sequence[Mark]) -> None:
        across, up = (side.values for side in self.sides)
        colors = axes.pcolormesh(across, up, self.values.T, shading="nearest", rasterized=True)
        figure.colorbar(colors, ax=axes, label=self.label)
        axes.plot(
            self.observed[:, 0],
            self.observed[:, 1],
            "o",
            color="white",
            markersize=3.5,
            markeredgecolor="black",
            markeredgewidth=0.6,
        )
        for point, _, mark, size in self._found(marks):
            for color, width in (("white", 3.6), (mark.color, 1.8)):
                axes.plot(
                    *point,
                    mark.shape,
                    color=color,
                    markersize=size,
                    markerfacecolor="none",
                    markeredgewidth=width,
                    clip_on=False,
                )
        axes.set_title(f"{self.label}; dots: observations", fontsize=10)

    def _found(self, marks: Sequence[Mark]) -> list[tuple[FloatArray, float, Mark, float]]:
        """Return points, values, marks and sizes, the largest mark first."""
        found = [
            (point, value, mark)
            for point, value, mark in zip(self.found, self.found_values, marks, strict=True)
            if point is not None
        ]
        return [
            (point, value, mark, SMALLEST_MARK + MARK_STEP * (len(found) - place))
            for place, (point, value, mark) in enumerate(found)
        ]

    def _name_sides(self, axes: Axes) -> None:
        axes.set_xlabel(self.sides[0].name)
        if self.sides[0].is_logarithmic:
            axes.set_xscale("log")
        if len(self.sides) == 2:
            axes.set_ylabel(self.sides[1].name)
            if self.sides[1].is_logarithmic:
                axes.set_yscale("log")
