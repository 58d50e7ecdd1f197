"""An acquisition over one or two dimensions, with what was observed and what was found."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from nnbo_mip.core.arrays import FloatArray, as_points
from nnbo_mip.drawing.marks import Mark
from nnbo_mip.maximizers.base.sought import Sought
from nnbo_mip.maximizers.base.target import Target
from nnbo_mip.maximizers.comparison import Comparison
from nnbo_mip.space.dimensions import Categorical, Integer, Real
from nnbo_mip.space.space import Space

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

POINTS_OF_ONE_SIDE = 1201
POINTS_OF_TWO_SIDES = 241

SMALLEST_MARK, MARK_STEP = 6.0, 2.5
"""Sizes of marks: those of maximizers that found the same point lie round each other."""

SHOWN_LOGARITHMS = 30.0
"""How far below the largest one a logarithm is shown."""


@dataclass(frozen=True, eq=False)
class Landscape:
    """An acquisition, and the user's units in which it is drawn.

    Parameters
    ----------
    target : Target
        The acquisition over the domain, in model coordinates.
    space : Space
    observed : (n, k) array
        Points that the belief was fitted to, in model coordinates.
    """

    target: Target
    space: Space
    observed: FloatArray

    @property
    def can_be_drawn(self) -> bool:
        """Whether there are one or two dimensions, of numbers."""
        dimensions = self.space.dimensions
        numbers = not any(isinstance(dimension, Categorical) for dimension in dimensions)
        return len(dimensions) <= 2 and numbers

    def draw(self, figure: Figure, axes: Axes, comparison: Comparison, marks: list[Mark]) -> None:
        """Draw it on a figure's axes, with the points that were found."""
        if len(self.space.dimensions) == 1:
            self._draw_line(axes, comparison, marks)
        else:
            self._draw_map(figure, axes, comparison, marks)

    def _draw_line(self, axes: Axes, comparison: Comparison, marks: list[Mark]) -> None:
        x, points = self._sides(POINTS_OF_ONE_SIDE)[0], self._grid(POINTS_OF_ONE_SIDE)
        values = self._values(points, comparison)
        discrete = self.target.domain.grids[0] is not None
        axes.plot(x, values, "." if discrete else "-", color="#555555", linewidth=1.2)
        if np.isfinite(comparison.bound):
            axes.axhline(comparison.bound, color="black", linestyle="--", linewidth=0.8)
        units = self._units(self.observed)[:, 0]
        axes.plot(
            units,
            np.full(len(units), 0.03),
            "|",
            color="#555555",
            markersize=10,
            transform=axes.get_xaxis_transform(),
            clip_on=False,
        )
        for found, value, mark, size in self._found(comparison, marks):
            axes.plot(
                found[0],
                value,
                mark.shape,
                color=mark.color,
                markersize=size,
                markerfacecolor="none",
                markeredgewidth=1.8,
            )
        axes.set_ylabel(comparison.head)
        axes.set_title(f"{comparison.head}; ticks below: observations", fontsize=10)
        self._name_sides(axes)

    def _draw_map(
        self, figure: Figure, axes: Axes, comparison: Comparison, marks: list[Mark]
    ) -> None:
        across, up = self._sides(POINTS_OF_TWO_SIDES)
        values = self._values(self._grid(POINTS_OF_TWO_SIDES), comparison)
        colors = axes.pcolormesh(
            across, up, values.reshape(len(across), len(up)).T, shading="nearest", rasterized=True
        )
        figure.colorbar(colors, ax=axes, label=comparison.head)
        units = self._units(self.observed)
        axes.plot(
            units[:, 0],
            units[:, 1],
            "o",
            color="white",
            markersize=3.5,
            markeredgecolor="black",
            markeredgewidth=0.6,
        )
        for found, _, mark, size in self._found(comparison, marks):
            axes.plot(
                *found,
                mark.shape,
                color="white",
                markersize=size,
                markerfacecolor="none",
                markeredgewidth=3.6,
                clip_on=False,
            )
            axes.plot(
                *found,
                mark.shape,
                color=mark.color,
                markersize=size,
                markerfacecolor="none",
                markeredgewidth=1.8,
                clip_on=False,
            )
        axes.set_title(f"{comparison.head}; dots: observations", fontsize=10)
        self._name_sides(axes)

    def _found(
        self, comparison: Comparison, marks: list[Mark]
    ) -> list[tuple[FloatArray, float, Mark, float]]:
        """Return points in the user's units, values, marks and sizes, the largest mark first."""
        found = [
            (row.proposal.x, row.value, mark)
            for row, mark in zip(comparison, marks, strict=True)
            if row.proposal is not None and row.proposal.x is not None
        ]
        return [
            (
                self._units(x[None, :])[0],
                value,
                mark,
                SMALLEST_MARK + MARK_STEP * (len(found) - place),
            )
            for place, (x, value, mark) in enumerate(found)
        ]

    def _values(self, points: FloatArray, comparison: Comparison) -> FloatArray:
        """Return the values (n,) at points (n, k), NaN where a point is not admissible."""
        domain, head = self.target.domain, self.target.scorer.head
        values = np.full(len(points), np.nan)
        admissible = domain.admissible(points)
        sought = Sought(self.target)
        logarithmic = comparison.head.startswith("log")
        score = sought.values if logarithmic and sought.head != head else self.target.score
        if admissible.any():
            values[admissible] = score(points[admissible])
        if logarithmic:
            values = np.maximum(values, np.nanmax(values, initial=-np.inf) - SHOWN_LOGARITHMS)
        return values

    def _grid(self, count: int) -> FloatArray:
        """Return the grid's points (n, k); the last side changes fastest."""
        return np.array(list(itertools.product(*self._model_sides(count))))

    def _model_sides(self, count: int) -> list[FloatArray]:
        domain = self.target.domain
        sides = []
        for j, grid in enumerate(domain.grids):
            low, high = float(domain.lower[j]), float(domain.upper[j])
            if grid is None:
                sides.append(np.linspace(low, high, count))
                continue
            first, last = int(grid.index_above(low)), int(grid.index_below(high))
            chosen = np.unique(np.linspace(first, last, min(count, last - first + 1)).round())
            sides.append(grid.value(chosen))
        return sides

    def _sides(self, count: int) -> list[FloatArray]:
        """Return the values of each side in the user's units."""
        domain = self.target.domain
        units = []
        for j, side in enumerate(self._model_sides(count)):
            points = np.tile(domain.lower, (len(side), 1))
            points[:, j] = side
            units.append(self._units(points)[:, j])
        return units

    def _units(self, points: FloatArray) -> FloatArray:
        """Return points (n, k) in the user's units, as numbers."""
        model = as_points(points, self.target.domain.dimension)
        return np.asarray(self.space.to_numeric(self.space.decode(model)), dtype=np.float64)

    def _name_sides(self, axes: Axes) -> None:
        dimensions: Any = self.space.dimensions
        axes.set_xlabel(dimensions[0].name)
        if _is_logarithmic(dimensions[0]):
            axes.set_xscale("log")
        if len(dimensions) == 2:
            axes.set_ylabel(dimensions[1].name)
            if _is_logarithmic(dimensions[1]):
                axes.set_yscale("log")


def _is_logarithmic(dimension: object) -> bool:
    return isinstance(dimension, Real | Integer) and dimension.log
