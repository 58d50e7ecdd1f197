r"""`Switch`: coordinates that are held at a value unless certain levels are chosen.

The learning rate of an optimizer that is not chosen changes nothing. Let z_s be the sum of the
coordinates of the s-th set of levels, 1 if one of them is chosen and 0 if not. Coordinate x_j with
ends [l, u] is held at v unless every z_s is 1, which two rows a set say exactly,

    x_j <= v + (u - v) z_s,        x_j >= v + (l - v) z_s,

as z_s = 0 leaves v alone and z_s = 1 all of [l, u]; rows with a factor 0 are those of the box and
left out. Of a category that is held only the coordinate of its held level has rows: it is 1, and
the others 0 by themselves. Engines and checkers read these rows as they read any other. Samplers
and searches use the switch itself, since no random point meets an equality by chance.

>>> import numpy as np
>>> switch = Switch((2,), (0.5,), ((0,),))  # coordinate 2 is 0.5 unless level 0 is chosen
>>> switch.held(np.array([[1.0, 0.0, 0.9], [0.0, 1.0, 0.9]])).tolist()
[[1.0, 0.0, 0.9], [0.0, 1.0, 0.5]]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nnbo_mip.core.arrays import BoolArray, FloatArray
from nnbo_mip.core.errors import InputError


@dataclass(frozen=True)
class Switch:
    """One dimension that is not always there.

    Parameters
    ----------
    columns : tuple of int
        Its coordinate, or those of all its levels.
    values : tuple of float
        What they are where it is held.
    on : tuple of tuple of int
        Sets of coordinates of levels; it is free where one of each set is chosen.
    """

    columns: tuple[int, ...]
    values: tuple[float, ...]
    on: tuple[tuple[int, ...], ...]

    def is_off(self, points: FloatArray) -> BoolArray:
        """Return at which points (n, d) the columns are held: (n,)."""
        chosen = [points[:, list(levels)].sum(axis=1) for levels in self.on]
        return np.asarray(np.any(np.array(chosen) < 0.5, axis=0))

    def held(self, points: FloatArray) -> FloatArray:
        """Return the points (n, d), with the columns held where they are."""
        moved = points.copy()
        off = np.flatnonzero(self.is_off(points))
        moved[off[:, None], list(self.columns)] = self.values
        return moved


def checked_switches(given: Sequence[Switch], dimension: int) -> tuple[Switch, ...]:
    """Refuse what does not fit the coordinates of a domain."""
    for switch in given:
        known = isinstance(switch, Switch)
        named = [*switch.columns, *(j for one in switch.on for j in one)] if known else [-1]
        fits = known and len(switch.columns) == len(switch.values) and all(switch.on) and switch.on
        if not fits or not all(0 <= j < dimension for j in named):
            raise InputError(
                f"switches must name coordinates 0..{dimension - 1}, a value for each that is held "
                f"and at least one set of levels; got {switch!r:.80}; correct them."
            )
    return tuple(given)


def switch_rows(
    switches: Sequence[Switch],
    lower: FloatArray,
    upper: FloatArray,
    groups: Sequence[tuple[int, ...]],
) -> tuple[FloatArray, FloatArray]:
    """Return the rows A (m, d) and b (m,) of the module docstring, for ends (d,)."""
    A: list[FloatArray] = []
    b: list[float] = []
    members = {member for group in groups for member in group}
    for switch in switches:
        for j, value in zip(switch.columns, switch.values, strict=True):
            if j in members and value == 0.0:
                continue
            for levels in switch.on:
                for sign, end in ((1.0, upper[j]), (-1.0, lower[j])):
                    row = np.zeros(len(lower))
                    row[j] = sign
                    row[list(levels)] -= sign * (end - value)
                    if end != value:
                        A.append(row)
                        b.append(sign * value)
    return np.array(A).reshape(len(b), len(lower)), np.array(b)
