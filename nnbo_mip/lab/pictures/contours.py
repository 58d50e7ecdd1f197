"""Sampled points over the contours of a function of two variables; along the axis of one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.drawing.picture import Axis, Dots, Line, Mark, Picture, Series, Strokes

SIDE = 61
POINTS_OF_A_LINE = 601

LEVELS = (0.005, 0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 0.9)
"""Shares of the box that are better than each contour: values may span many orders of magnitude."""


@dataclass(frozen=True, eq=False)
class Surface:
    """A function of one or two variables.

    Parameters
    ----------
    names : tuple of str
        Of the variables.
    lower, upper : (d,) arrays
    function : callable or None
        Points (n, d) to values (n,); None where it cannot be evaluated here.
    maximize : bool
        Whether large values are the good ones, about which there are most contours.
    """

    names: tuple[str, ...]
    lower: FloatArray
    upper: FloatArray
    function: Callable[[FloatArray], FloatArray] | None
    maximize: bool = False

    @property
    def dimension(self) -> int:
        """d, 1 or 2."""
        return len(self.names)

    @cached_property
    def background(self) -> tuple[Mark, ...]:
        """The function's line or contours; the same marks whenever they are asked for."""
        return _background(self)


def points(
    title: str, surface: Surface, X: FloatArray, y: FloatArray, starts: int, color: int
) -> Picture:
    """Return where a run evaluated a function.

    Parameters
    ----------
    title : str
    surface : Surface
    X : (n, d) array
        In order.
    y : (n,) array
        Observed there; in one dimension, their height.
    starts : int
        How many of them are starting points.
    color : int
        Of those that the method chose.
    """
    heights = X[:, 1] if surface.dimension == 2 else y
    names = [f"{'start' if k < starts else 'evaluation'} {k + 1}" for k in range(len(X))]
    x = X[:, 0]
    return Picture(
        title,
        Axis(surface.names[0]),
        Axis(surface.names[1] if surface.dimension == 2 else "y"),
        (
            Series("the function", surface.background, None),
            Series(
                "starts", (Dots(x[:starts], heights[:starts], tuple(names[:starts]), "ring"),), None
            ),
            Series("chosen", (Dots(x[starts:], heights[starts:], tuple(names[starts:])),), color),
        ),
        "" if surface.function is not None else "The function cannot be evaluated here.",
        is_map=surface.dimension == 2,
    )


def _background(surface: Surface) -> tuple[Mark, ...]:
    if surface.function is None:
        return ()
    if surface.dimension == 1:
        x = np.linspace(surface.lower[0], surface.upper[0], POINTS_OF_A_LINE)
        return (Line(x, surface.function(x[:, None])),)
    x, y = (np.linspace(surface.lower[j], surface.upper[j], SIDE) for j in range(2))
    grid = np.stack(np.meshgrid(x, y, indexing="ij"), axis=-1)
    values = surface.function(grid.reshape(-1, 2)).reshape(SIDE, SIDE)
    shares = 1.0 - np.array(LEVELS) if surface.maximize else np.array(LEVELS)
    levels = np.unique(np.quantile(values[np.isfinite(values)], shares))
    parts = [contour(x, y, values, float(level)) for level in levels]
    return tuple(Strokes(p[:, 0], p[:, 1], p[:, 2], p[:, 3], 0.8) for p in parts if len(p))


def contour(x: FloatArray, y: FloatArray, values: FloatArray, level: float) -> FloatArray:
    """Return strokes (m, 4), x0 y0 x1 y1, along which values (n, k) on a grid have a level.

    Every cell is cut into two triangles; in a triangle whose corners are on both sides of the
    level, a stroke joins the two places on its edges where linear interpolation attains it.

    Parameters
    ----------
    x, y : (n,) and (k,) arrays
    values : (n, k) array
    level : float
    """
    px, py = np.meshgrid(x, y, indexing="ij")
    corners = np.stack([px, py, values], axis=-1)
    a, b, c, d = corners[:-1, :-1], corners[1:, :-1], corners[1:, 1:], corners[:-1, 1:]
    triangles = np.concatenate(
        [
            np.stack([a, b, c], axis=2).reshape(-1, 3, 3),
            np.stack([a, c, d], axis=2).reshape(-1, 3, 3),
        ]
    )
    above = triangles[:, :, 2] > level
    mixed = above.any(axis=1) & ~above.all(axis=1) & np.isfinite(triangles).all(axis=(1, 2))
    triangles, above = triangles[mixed], above[mixed]
    # The corner that is alone on its side has an end of the stroke on both of its edges.
    alone = np.where(above.sum(axis=1) == 1, above.argmax(axis=1), (~above).argmax(axis=1))
    rows = np.arange(len(triangles))
    tip = triangles[rows, alone]
    ends = []
    for turn in (1, 2):
        other = triangles[rows, (alone + turn) % 3]
        share = (level - tip[:, 2]) / (other[:, 2] - tip[:, 2])
        ends.append(tip[:, :2] + share[:, None] * (other[:, :2] - tip[:, :2]))
    return np.concatenate(ends, axis=1)
