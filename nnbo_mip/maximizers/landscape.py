"""An acquisition over one or two dimensions as arrays, which `nnbo_mip.drawing` draws."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.checks import as_points
from nnbo_mip.drawing.landscape import Landscape, Side
from nnbo_mip.maximizers.base.target import Target
from nnbo_mip.maximizers.comparison import Comparison
from nnbo_mip.space.abstract import Dimension
from nnbo_mip.space.dimensions import Integer, Real
from nnbo_mip.space.space import Space

POINTS_OF_ONE_SIDE = 1201
POINTS_OF_TWO_SIDES = 241

SHOWN_LOGARITHMS = 30.0
"""How far below the largest one a logarithm is shown."""


def landscape_of(
    comparison: Comparison, target: Target, space: Space, observed: FloatArray
) -> Landscape | None:
    """Return what was compared as a picture; None without one or two dimensions of numbers.

    Parameters
    ----------
    comparison : Comparison
        What the maximizers found.
    target : Target
        The acquisition over the domain, in model coordinates.
    space : Space
        The user's units, in which it is drawn.
    observed : (n, k) array
        Points that the belief was fitted to, in model coordinates.
    """
    if len(space.dimensions) > 2 or not all(
        isinstance(d, Real | Integer) for d in space.dimensions
    ):
        return None
    grid = _Grid(target, space)
    points = [None if row.proposal is None else row.proposal.x for row in comparison]
    return Landscape(
        label=comparison.head,
        sides=grid.sides,
        values=grid.values(comparison.in_logarithms),
        observed=grid.in_units(observed),
        found=[None if x is None else grid.in_units(x[None, :])[0] for x in points],
        found_values=[row.value for row in comparison],
        bound=comparison.bound,
    )


@dataclass(frozen=True, eq=False)
class _Grid:
    """Points of a grid over a target's domain."""

    target: Target
    space: Space

    @property
    def sides(self) -> list[Side]:
        """The dimensions in the user's units."""
        domain = self.target.domain
        sides = []
        for j, (dimension, values) in enumerate(
            zip(self.space.dimensions, self._model_sides(), strict=True)
        ):
            points = np.tile(domain.lower, (len(values), 1))
            points[:, j] = values
            sides.append(
                Side(
                    dimension.name,
                    self.in_units(points)[:, j],
                    _is_logarithmic(dimension),
                    domain.grids[j] is not None,
                )
            )
        return sides

    def values(self, logarithmic: bool) -> FloatArray:
        """Return the values (m_1,) or (m_1, m_2), NaN where a point is not admissible."""
        sides = self._model_sides()
        points = np.array(list(itertools.product(*sides)))
        values = np.full(len(points), np.nan)
        admissible = self.target.domain.admissible(points)
        searched = logarithmic and self.target.searched != self.target.head
        if admissible.any():
            score = self.target.values if searched else self.target.score
            values[admissible] = score(points[admissible])
        if logarithmic:
            values = np.maximum(values, np.nanmax(values, initial=-np.inf) - SHOWN_LOGARITHMS)
        return values.reshape([len(side) for side in sides])

    def in_units(self, points: FloatArray) -> FloatArray:
        """Return points (n, k) in the user's units, as numbers."""
        model = as_points(points, self.target.domain.dimension)
        return np.asarray(self.space.to_numeric(self.space.decode(model)), dtype=np.float64)

    def _model_sides(self) -> list[FloatArray]:
        domain = self.target.domain
        count = POINTS_OF_ONE_SIDE if domain.dimension == 1 else POINTS_OF_TWO_SIDES
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


def _is_logarithmic(dimension: Dimension) -> bool:
    return isinstance(dimension, Real | Integer) and dimension.log
