"""Dimensions as other tools have them: real, integer, or a choice by its number.

>>> from nnbo_mip.lab.peers.sides import sides_of
>>> from nnbo_mip.space import Categorical, Integer, Space
>>> space = Space([Integer("layers", 2, 8, step=2), Categorical("act", ["relu", "tanh"])])
>>> sides = sides_of(space)
>>> [(side.kind, side.lower, side.upper) for side in sides]
[('integer', 0, 3), ('choice', 0, 1)]
>>> sides[0].coded(6), sides[1].decoded(1)
(2, 'tanh')
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from nnbo_mip.space.abstract import Dimension
from nnbo_mip.space.dimensions import Categorical, Integer, Real
from nnbo_mip.space.grid import Grid
from nnbo_mip.space.ordinal import Ordinal
from nnbo_mip.space.space import Space

Kind: TypeAlias = Literal["real", "integer", "choice"]


@dataclass(frozen=True)
class Side:
    """One dimension.

    Parameters
    ----------
    dimension : Dimension
    kind : {"real", "integer", "choice"}
    lower, upper : float or int
        Ends; of a choice, the first and the last number.
    log : bool
    values : tuple
        What the numbers of a choice, or of a table in order, stand for.
    grid : Grid or None
        What those of steps stand for.
    """

    dimension: Dimension
    kind: Kind
    lower: float | int
    upper: float | int
    log: bool = False
    values: tuple[Any, ...] = ()
    grid: Grid | None = None

    def coded(self, value: Any) -> float | int:
        """Return a user's value as the tool has it."""
        if self.values:
            return self.values.index(self.dimension.checked(value))
        if self.grid is not None:
            return int(self.grid.nearest(float(value)))
        return int(value) if self.kind == "integer" else float(value)

    def decoded(self, coded: Any) -> Any:
        """Return the user's value."""
        if self.values:
            return self.values[int(coded)]
        value = coded if self.grid is None else float(self.grid.value(int(coded)))
        return self.dimension.clipped(value)


def sides_of(space: Space) -> tuple[Side, ...]:
    """Return the dimensions; what has a step of its own is counted in steps, not in logarithms."""
    return tuple(_side(dimension) for dimension in space.dimensions)


def coded(space: Space, sides: Sequence[Side], x: Any) -> list[Any]:
    """Return a user's point, a value for each side."""
    filled = space.conditions.filled(x) if space.is_named else {}
    values = [filled[name] for name in space.dim_names] if space.is_named else list(x)
    return [side.coded(value) for side, value in zip(sides, values, strict=True)]


def decoded(space: Space, sides: Sequence[Side], values: Sequence[Any]) -> Any:
    """Return the user's point, an array or a dict."""
    made = [side.decoded(value) for side, value in zip(sides, values, strict=True)]
    if not space.is_named:
        return np.array(made)
    return space.conditions.stripped(dict(zip(space.dim_names, made, strict=True)))


def _side(dimension: Dimension) -> Side:
    if isinstance(dimension, Categorical):
        return _choice(dimension, tuple(dimension.levels))
    if isinstance(dimension, Ordinal):
        last = len(dimension.levels) - 1
        if not last:
            return _choice(dimension, tuple(dimension.levels))
        return Side(dimension, "integer", 0, last, values=tuple(dimension.levels))
    assert isinstance(dimension, Real | Integer)
    lower, upper = dimension.lower, dimension.upper
    if lower == upper:
        return _choice(dimension, (lower,))
    if dimension.step is None or (isinstance(dimension, Integer) and dimension.step == 1):
        kind: Kind = "integer" if isinstance(dimension, Integer) else "real"
        return Side(dimension, kind, lower, upper, dimension.log)
    grid = dimension.scale.grid
    assert grid is not None
    return Side(dimension, "integer", 0, grid.count - 1, grid=grid)


def _choice(dimension: Dimension, values: tuple[Any, ...]) -> Side:
    return Side(dimension, "choice", 0, len(values) - 1, values=values)
