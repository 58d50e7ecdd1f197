"""Whether numbers are meant as the same: they may have gone through float32, or lost digits.

Two numbers of a side are meant as the same if they differ by at most this part of it,

    min(1e-6 + eps32 * largest / width, 1e-3),        largest = max(|lower|, |upper|),

with largest / width = 1 / log(upper / lower) where the side is logarithmic, on which differences
are those of logarithms. Values of a grid are the same or not.

>>> from nnbo_mip.space import Integer, Real, Space
>>> allowed_differences(Space([Real("a", 0.0, 1.0), Integer("n", 1, 5)])).round(9).tolist()
[2.238e-06, 0.0]
"""

from __future__ import annotations

import math

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.space.abstract import Dimension, NumericDimension, Scale
from nnbo_mip.space.space import Space

DIGITS = 1e-6
"""Part of a side by which a number may differ and still be meant as another one."""

FLOAT32 = float(np.finfo(np.float32).eps)

LARGEST_DIFFERENCE = 1e-3
"""Of what is allowed for rounding to float32, as part of a side far from zero."""


def allowed_differences(space: Space) -> FloatArray:
    """Return by how much coordinates (k,) of the model may differ that are meant as the same."""
    parts = [[allowed_part(side)] * side.width for side in space.dimensions]
    return 2.0 * np.concatenate(parts)  # a side is from -1 to 1


def allowed_part(side: Dimension) -> float:
    """Return by which part of a side numbers may differ that are meant as the same."""
    if not isinstance(side, NumericDimension) or side.scale.grid is not None:
        return 0.0
    if side.scale.is_fixed:
        return 0.0
    scale = side.scale
    largest = max(abs(scale.lower), abs(scale.upper))
    ratio = 1.0 / _log_width(scale) if scale.log else largest / (scale.upper - scale.lower)
    return min(DIGITS + FLOAT32 * ratio, LARGEST_DIFFERENCE)


def part_apart(side: NumericDimension, number: float, other: float) -> float:
    """Return how far apart numbers are as a part of a side, of which one may lie outside."""
    if number == other:
        return 0.0
    if side.scale.is_fixed:
        close = abs(number - other) <= FLOAT32 * max(abs(number), abs(other))
        return 0.0 if close else math.inf
    if not side.scale.log:
        return abs(number - other) / (side.scale.upper - side.scale.lower)
    if min(number, other) <= 0.0:
        return math.inf
    return abs(math.log(number) - math.log(other)) / _log_width(side.scale)


def resolution(space: Space) -> float:
    """Return how far apart, in model coordinates, neighbouring numbers of a side may be.

    Between 10^9 and 10^9 + 10^-5 there are 84 numbers, so that what a maximizer finds beside a
    known point may be rounded to that very point.

    >>> from nnbo_mip.space import Space
    >>> round(resolution(Space.box([1e9], [1e9 + 1e-5])), 4)
    0.0238
    """
    box = space.numeric()
    moving = [j for j in np.flatnonzero(box.lower < box.upper) if box.grids[j] is None]
    if not moving:
        return 0.0
    start = space.to_numeric(space.clip(space.from_numeric(box.lower)))[0]
    ends = np.stack([box.lower, box.upper])
    rows = np.repeat(start[None], 4, axis=0)
    rows[:, moving] = np.concatenate([ends, np.nextafter(ends, ends[::-1])])[:, moving]
    seen = space.encode(space.from_numeric(rows))[:, moving]
    return float(np.abs(seen[2:] - seen[:2]).max())


def _log_width(scale: Scale) -> float:
    return math.log1p((scale.upper - scale.lower) / scale.lower)
