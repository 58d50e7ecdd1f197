"""The user's x for a point in model coordinates: one that models see where a proof holds.

Decoding rounds to the user's float64 numbers, and what is encoded again may lie a rounding away:
outside of a trust region, or too near a known point, of which a bound says nothing. Then numbers
a few units in the last place away are tried.

>>> import numpy as np
>>> from nnbo_mip.space import Space
>>> space = Space.box([1e9], [1e9 + 1e-5])  # 84 numbers
>>> known = space.encode([1e9 + 5e-6])
>>> x, place = in_user_units(space, known[0] + 1e-4, Within(space.model(), known, 1e-4))
>>> bool(np.abs(place - known).max() >= 1e-4)
True
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from nnbo_mip.space.arrays import BoolArray, FloatArray
from nnbo_mip.space.domain import Domain
from nnbo_mip.space.holes import Holes
from nnbo_mip.space.space import Space

UNITS = (1, -1, 2, -2, 3, -3, 4, -4)
"""In the last place of a number, by which it is moved, the least moves first."""


@dataclass(frozen=True, eq=False)
class Within:
    """Where a bound holds: the points of a domain that keep their distance from known ones.

    Parameters
    ----------
    domain : Domain
        In model coordinates.
    known : (n, k) array
    away : float
        The distance in the largest coordinate; 0 for none.
    """

    domain: Domain
    known: FloatArray
    away: float

    def holds(self, places: FloatArray) -> BoolArray:
        """Return which of some points (m, k) are such points."""
        inside = self.domain.admissible(places)
        if self.away > 0.0 and len(self.known):
            inside &= ~Holes.around(self.known, self.away, self.domain.dimension).contain(places)
        return inside


def in_user_units(space: Space, z: FloatArray, within: Within) -> tuple[Any, FloatArray]:
    """Return the user's x for a point (k,), and where models see it (k,).

    Parameters
    ----------
    space : Space
    z : (k,) array
        A point of `within`.
    within : Within
        Where x is to be seen; where no number near z is, the nearest one is returned.
    """
    x = space.decode(z)
    place = space.encode(x)[0]
    if within.holds(place[None])[0]:
        return x, place
    raw = space.to_numeric(x)[0]
    moving = [
        j
        for j in np.flatnonzero(within.domain.lower < within.domain.upper).tolist()
        if within.domain.grids[j] is None
    ]
    low, high = within.domain.lower, within.domain.upper
    moved = raw.copy()
    for j in moving:  # into the box, side by side
        rows = _moves(space, raw, [j])
        seen = _places(space, rows)[:, j]
        inside = np.flatnonzero((low[j] <= seen) & (seen <= high[j]))
        if not low[j] <= place[j] <= high[j] and inside.size:
            moved[j] = rows[inside[0], j]
    rows = np.vstack([moved, _moves(space, moved, moving)])  # out of holes, by one coordinate
    places = _places(space, rows)
    held = np.flatnonzero(within.holds(places) & space.numeric().admissible(rows))
    if not held.size:
        return x, place
    return space.from_numeric(rows[held[0]]), places[held[0]]


def resolution(space: Space) -> float:
    """Return how far apart, in model coordinates, neighbouring numbers of a side may be."""
    box = space.numeric()
    moving = [j for j in np.flatnonzero(box.lower < box.upper) if box.grids[j] is None]
    if not moving:
        return 0.0
    start = space.to_numeric(space.clip(space.from_numeric(box.lower)))[0]
    ends = np.stack([box.lower, box.upper])
    beside = np.nextafter(ends, ends[::-1])
    rows = np.repeat(start[None], 4 * len(moving), axis=0)
    for place, j in enumerate(moving):
        rows[4 * place : 4 * place + 4, j] = [*ends[:, j], *beside[:, j]]
    seen = _places(space, rows).reshape(len(moving), 4, -1)
    apart = [np.abs(seen[place, 2:, j] - seen[place, :2, j]) for place, j in enumerate(moving)]
    return float(np.max(apart))


def _moves(space: Space, raw: FloatArray, coordinates: list[int]) -> FloatArray:
    """Return rows (m, k) in which one coordinate is moved by a few units in its last place."""
    box = space.numeric()
    rows = np.repeat(raw[None], len(UNITS) * len(coordinates), axis=0)
    for place, units in enumerate(UNITS):
        for number, j in enumerate(coordinates):
            there = raw[j]
            for _ in range(abs(units)):
                there = np.nextafter(there, np.copysign(np.inf, units))
            rows[place * len(coordinates) + number, j] = np.clip(there, box.lower[j], box.upper[j])
    return rows


def _places(space: Space, rows: FloatArray) -> FloatArray:
    """Return where models see raw rows (m, k)."""
    return space.encode(space.from_numeric(rows))
