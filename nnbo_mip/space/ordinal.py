"""`Ordinal`: a table of values in order, one coordinate."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from nnbo_mip.core.arrays import FloatArray, IntArray
from nnbo_mip.core.checks import as_finite
from nnbo_mip.core.errors import InputError
from nnbo_mip.space.abstract import NumericDimension, Scale, check_name
from nnbo_mip.space.grid import Grid
from nnbo_mip.space.levels import (
    STEP_TOLERANCE,
    Level,
    When,
    WhenGiven,
    as_levels,
    condition_of,
    level_position,
    shown_condition,
)


@dataclass(frozen=True, repr=False)
class Ordinal(NumericDimension):
    """One of a table of values that have an order.

    Parameters
    ----------
    name : str
        Unique in its space.
    levels : sequence of numbers, or of str, int, float or bool
        At least one, each once. Numbers have to increase; anything else is in the order given.
    log : bool, optional
        How far apart models see them. Left out, neighbours are equally far: models see ranks.
        For numbers, True is for their logarithms and False for the numbers as they are, which
        constraints need.
    when : mapping, optional
        Name of a category to a level, or levels, where the dimension is there: see `conditions`.
    default : a level, optional
        What it counts as where it is not; left out, the middle one.

    Examples
    --------
    >>> from nnbo_mip.space import Space
    >>> Space([Ordinal("batch", [16, 32, 64, 128, 256])]).encode({"batch": 32})
    array([[-0.5]])
    """

    name: str
    levels: Sequence[Level]
    log: bool | None = None
    when: WhenGiven | When | None = None
    default: Any = None

    def __post_init__(self) -> None:
        check_name(self.name)
        object.__setattr__(self, "levels", as_levels(self.name, self.levels))
        if not isinstance(self.log, bool | None):
            raise InputError(
                f"log of {self.name!r} must be True, False or left out; got {self.log!r}; pass a "
                "bool."
            )
        if not self.is_numeric:
            if self.log is not None:
                raise InputError(
                    f"log of {self.name!r} needs levels that are numbers; got "
                    f"{list(self.levels)!r:.60}; leave log out, or give numbers."
                )
        else:
            self._check_numbers()
        if self.when is not None or self.default is not None:
            condition_of(self)

    def _check_numbers(self) -> None:
        numbers = [as_finite(level, f"a level of {self.name!r}") for level in self.levels]
        for before, after in itertools.pairwise(numbers):
            if not before < after:
                raise InputError(
                    f"numbers of the ordinal {self.name!r} must increase; got {before:g} before "
                    f"{after:g}; sort them, or take a Categorical where there is no order."
                )
        if self.log and numbers[0] <= 0.0:
            raise InputError(
                f"log of {self.name!r} needs levels > 0; got {numbers[0]:g}; leave log out, or "
                "drop it."
            )

    @property
    def is_numeric(self) -> bool:
        """Whether the levels are numbers."""
        return not any(isinstance(level, str | bool) for level in self.levels)

    @cached_property
    def scale(self) -> Scale:
        """The map between numbers, or ranks of other levels, and model coordinates."""
        count = len(self.levels)
        numbers = np.array(self.levels if self.is_numeric else range(count), dtype=np.float64)
        grid = Grid.listed(numbers) if count > 1 else None
        return Scale(float(numbers[0]), float(numbers[-1]), bool(self.log), grid, self.log is None)

    def checked(self, value: Any) -> Level:
        """Return the level that is meant; numbers may have lost their last digits."""
        return self.levels[self._position(value)]

    def clipped(self, value: Any) -> Level:
        """Return the level nearest to a number; other levels have to be given as they are."""
        if not self.is_numeric:
            return self.checked(value)
        number = as_finite(value, repr(self.name))
        return self.values(np.array([[number]]))[0]

    def raw(self, values: Sequence[Any]) -> FloatArray:
        """Return the numbers, or the ranks of other levels: (n, 1)."""
        positions = np.array([self._position(value) for value in values], dtype=np.int64)
        if self.scale.grid is None:
            return np.full((len(positions), 1), self.scale.lower)
        return self.scale.grid.value(positions)[:, None]

    def values(self, raw: FloatArray) -> list[Level]:
        """Return the levels nearest to coordinates (n, 1)."""
        grid = self.scale.grid
        none: IntArray = np.zeros(len(raw), dtype=np.int64)
        places = none if grid is None else grid.nearest(raw[:, 0])
        return [self.levels[int(place)] for place in places]

    def _position(self, value: Any) -> int:
        if not self.is_numeric:
            return level_position(self.name, self.levels, value)
        number = as_finite(value, repr(self.name))
        numbers = np.array(self.levels, dtype=np.float64)
        place = int(np.abs(numbers - number).argmin())
        beside = np.abs(np.delete(numbers, place) - numbers[place]).min(initial=np.inf)
        if number != numbers[place] and not (
            abs(number - numbers[place]) <= STEP_TOLERANCE * beside < np.inf
        ):
            raise InputError(
                f"{self.name!r} must be one of {list(self.levels)!r:.80}; got {number:g}; the "
                f"nearest one is {self.levels[place]!r}."
            )
        return place

    def __repr__(self) -> str:
        log = "" if self.log is None else f", log={self.log}"
        return f"Ordinal({self.name!r}, {list(self.levels)!r}{log}{shown_condition(self)})"
