"""A belief over one variable: mean, band, observations, acquisition and its proven bound."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.drawing.picture import Axis, Dots, Line, Picture, Series, Strokes


@dataclass(frozen=True, eq=False)
class BeliefLine:
    """What a model expected before it chose a point.

    Parameters
    ----------
    x : (n,) array
        Ascending, in the user's units.
    mean, std, score : (n,) arrays
        The belief, its uncertainty as it was scaled, and the acquisition.
    observed_x, observed_y : (m,) arrays
        In the units of the belief, to be maximized.
    chosen : float
        The next point.
    value, bound : float
        Score there, and what no score exceeds; infinite where nothing was proven.
    head : str
        Name of the acquisition.
    """

    x: FloatArray
    mean: FloatArray
    std: FloatArray
    score: FloatArray
    observed_x: FloatArray
    observed_y: FloatArray
    chosen: float
    value: float
    bound: float
    head: str


def belief(title: str, line: BeliefLine, color: int) -> Picture:
    """Return mean and band over the variable, and the observations."""
    below, above = line.mean - line.std, line.mean + line.std
    low, high = float(np.nanmin(below)), float(np.nanmax(above))
    return Picture(
        f"{title}: belief",
        Axis("x"),
        Axis("y as the model sees it, to be maximized"),
        (
            Series("mean and band of one std", (Line(line.x, line.mean, below, above),), color),
            Series("observed", (Dots(line.observed_x, line.observed_y),), None),
            Series("next", (Strokes([line.chosen], [low], [line.chosen], [high], 1.5),), color + 1),
        ),
    )


def acquisition(title: str, line: BeliefLine, color: int) -> Picture:
    """Return the acquisition over the variable, the point it chose and the bound above it."""
    series = [
        Series(line.head, (Line(line.x, line.score),), color),
        Series("next", (Dots([line.chosen], [line.value], shape="star"),), color + 1),
    ]
    if math.isfinite(line.bound):
        ends = [float(line.x[0]), float(line.x[-1])]
        bound = Line(ends, [line.bound, line.bound], style="dashed")
        series.append(Series("proven bound", (bound,), None))
    return Picture(f"{title}: acquisition", Axis("x"), Axis(line.head), tuple(series))
