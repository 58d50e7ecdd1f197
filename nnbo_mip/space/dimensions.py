"""The dimensions a user names: `Real`, `Integer`, `Categorical`; `Ordinal` has its own module.

Each knows its coordinates twice: raw (what a network reads: numbers as they are,
categories one-hot) and model (`scale`), and turns a user's values into either and back.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from nnbo_mip.core.arrays import FloatArray, IntArray
from nnbo_mip.core.checks import as_finite, as_whole
from nnbo_mip.core.errors import InputError
from nnbo_mip.space.abstract import Dimension, NumericDimension, Scale, check_name, check_order
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

MAX_LOG_VALUES = 100_000
"""Logarithmic grids are listed in memory, so their length is limited."""


@dataclass(frozen=True, repr=False)
class Real(NumericDimension):
    """A real dimension.

    Parameters
    ----------
    name : str
        Unique in its space.
    lower, upper : float
        Finite ends; equal ends are legal.
    log : bool
        Whether model coordinates are logarithmic; needs ``lower > 0``.
    step : float, optional
        If given, the admissible values are ``lower + k * step``, with `upper` among them.
    when : mapping, optional
        Name of a category to a level, or levels, where the dimension is there: see `conditions`.
    default : float, optional
        What it counts as where it is not; left out, the middle.
    """

    name: str
    lower: float
    upper: float
    log: bool = False
    step: float | None = None
    when: WhenGiven | When | None = None
    default: Any = None

    def __post_init__(self) -> None:
        check_name(self.name)
        for end in ("lower", "upper"):
            object.__setattr__(self, end, as_finite(getattr(self, end), f"{end} of {self.name!r}"))
        check_order(self.name, self.lower, self.upper, self.log)
        if self.step is not None:
            step = as_finite(self.step, f"step of {self.name!r}")
            object.__setattr__(self, "step", step)
            if step <= 0.0:
                raise InputError(
                    f"step of {self.name!r} must be > 0; got {step}; leave it out for none."
                )
            steps = (self.upper - self.lower) / step
            below = self.lower + np.floor(steps) * step
            if not abs(steps - round(steps)) <= STEP_TOLERANCE:
                raise InputError(
                    f"upper of {self.name!r} must be lower + k * step for a whole k; got "
                    f"{self.upper} with lower {self.lower} and step {step}; the nearest such "
                    f"ends are {below} and {below + step}."
                )
        _check_log_count(self.name, self.scale)
        if self.when is not None or self.default is not None:
            condition_of(self)

    @cached_property
    def scale(self) -> Scale:
        """The map between the user's units and model coordinates."""
        grid = None
        if self.step is not None and self.lower < self.upper:
            count = round((self.upper - self.lower) / self.step) + 1
            grid = Grid.uniform(self.lower, self.step, count, self.upper)
        return Scale(self.lower, self.upper, self.log, grid)

    def checked(self, value: Any) -> float:
        """Return a float within the ends; with a step, the grid value that was meant."""
        number = as_finite(value, repr(self.name))
        nearest = self._nearest(number)
        if self.step is not None and abs(nearest - number) <= STEP_TOLERANCE * self.step:
            return nearest
        self._refuse_outside(number, self.lower, self.upper)
        if nearest != number:
            raise InputError(
                f"{self.name!r} must be a value of its grid ({self.lower} + k * {self.step}); "
                f"got {number}; the nearest one is {nearest}."
            )
        return number

    def clipped(self, value: Any) -> float:
        """Return the nearest admissible number."""
        return self._nearest(as_finite(value, repr(self.name)))

    def values(self, raw: FloatArray) -> list[float]:
        """Return the coordinates (n, 1) as floats, clipped and rounded to the grid."""
        return [float(number) for number in self._rounded(raw[:, 0])]

    def __repr__(self) -> str:
        step = "" if self.step is None else f", step={self.step!r}"
        log = ", log=True" if self.log else ""
        condition = shown_condition(self)
        return f"Real({self.name!r}, {self.lower!r}, {self.upper!r}{log}{step}{condition})"


@dataclass(frozen=True, repr=False)
class Integer(NumericDimension):
    """An integer dimension with the values ``lower, lower + step, …, upper``.

    Parameters
    ----------
    name : str
        Unique in its space.
    lower, upper : int
        Whole ends, both admissible; `upper` must be ``lower + k * step``.
    step : int
        Whole distance of neighbours, at least 1.
    log : bool
        Whether model coordinates are logarithmic; needs ``lower > 0`` and at most 100 000
        values.
    when : mapping, optional
        Name of a category to a level, or levels, where the dimension is there: see `conditions`.
    default : int, optional
        What it counts as where it is not; left out, the middle.
    """

    name: str
    lower: int
    upper: int
    step: int = 1
    log: bool = False
    when: WhenGiven | When | None = None
    default: Any = None

    def __post_init__(self) -> None:
        check_name(self.name)
        for part in ("lower", "upper", "step"):
            object.__setattr__(
                self, part, as_whole(getattr(self, part), f"{part} of {self.name!r}")
            )
        if self.step < 1:
            raise InputError(
                f"step of {self.name!r} must be at least 1; got {self.step}; use 1 for all."
            )
        check_order(self.name, self.lower, self.upper, self.log)
        beyond = (self.upper - self.lower) % self.step
        if beyond:
            floor = self.upper - beyond
            raise InputError(
                f"upper of {self.name!r} must be lower + k * step for a whole k; got {self.upper} "
                f"with lower {self.lower} and step {self.step}; the nearest such ends are {floor} "
                f"and {floor + self.step}."
            )
        _check_log_count(self.name, self.scale)
        if self.when is not None or self.default is not None:
            condition_of(self)

    @cached_property
    def scale(self) -> Scale:
        """The map between the user's units and model coordinates."""
        count = (self.upper - self.lower) // self.step + 1
        grid = Grid.uniform(self.lower, self.step, count, self.upper) if count > 1 else None
        return Scale(float(self.lower), float(self.upper), self.log, grid)

    def checked(self, value: Any) -> int:
        """Return an int of the dimension; 3.0 counts as 3, 3.1 is refused."""
        number = as_whole(value, repr(self.name))
        self._refuse_outside(number, self.lower, self.upper)
        if (number - self.lower) % self.step:
            raise InputError(
                f"{self.name!r} must be {self.lower} + k * {self.step}; got {number}; "
                f"the nearest value is {int(self._nearest(number))}."
            )
        return number

    def clipped(self, value: Any) -> int:
        """Return the nearest integer of the dimension."""
        return int(self._nearest(as_finite(value, repr(self.name))))

    def values(self, raw: FloatArray) -> list[int]:
        """Return the coordinates (n, 1) as ints of the dimension."""
        return [int(number) for number in self._rounded(raw[:, 0])]

    def __repr__(self) -> str:
        step = "" if self.step == 1 else f", step={self.step}"
        log = ", log=True" if self.log else ""
        condition = shown_condition(self)
        return f"Integer({self.name!r}, {self.lower}, {self.upper}{step}{log}{condition})"


@dataclass(frozen=True, repr=False)
class Categorical(Dimension):
    """A choice between levels, one-hot in both coordinates.

    Parameters
    ----------
    name : str
        Unique in its space.
    levels : sequence of str, int, float or bool
        Distinct levels, at least one; they come back as given.
    when : mapping, optional
        Name of a category to a level, or levels, where the dimension is there: see `conditions`.
    default : a level, optional
        What it counts as where it is not; left out, the first one.
    """

    name: str
    levels: Sequence[Level]
    when: WhenGiven | When | None = None
    default: Any = None

    def __post_init__(self) -> None:
        check_name(self.name)
        object.__setattr__(self, "levels", as_levels(self.name, self.levels))
        if self.when is not None or self.default is not None:
            condition_of(self)

    @property
    def width(self) -> int:
        """Number of levels."""
        return len(self.levels)

    def ends(self, model: bool) -> tuple[float, float]:
        """Return 0 and 1, or 1 and 1 for a single level."""
        return (1.0, 1.0) if self.width == 1 else (0.0, 1.0)

    def grid(self, model: bool) -> Grid | None:
        """Return None: the one-hot group implies the grid."""
        return None

    def checked(self, value: Any) -> Level:
        """Return the level that equals the value."""
        return self.levels[self._position(value)]

    def middle(self) -> Level:
        """Return the first level."""
        return self.levels[0]

    def clipped(self, value: Any) -> Level:
        """Return the level that equals the value; there is no nearest one to anything else."""
        return self.checked(value)

    def raw(self, values: Sequence[Any]) -> FloatArray:
        """Return the one-hot codes (n, width)."""
        return self._code(np.array([self._position(value) for value in values], dtype=np.int64))

    def values(self, raw: FloatArray) -> list[Level]:
        """Return the levels whose coordinates are largest."""
        return [self.levels[position] for position in np.argmax(raw, axis=1)]

    def raw_to_model(self, raw: FloatArray) -> FloatArray:
        """Return the code of the largest coordinate: (n, width)."""
        return self._code(np.argmax(raw, axis=1))

    def model_to_raw(self, model: FloatArray) -> FloatArray:
        """Return the code of the largest coordinate: (n, width)."""
        return self.raw_to_model(model)

    def _code(self, positions: IntArray) -> FloatArray:
        code = np.zeros((len(positions), self.width))
        code[np.arange(len(positions)), positions] = 1.0
        return code

    def _position(self, value: Any) -> int:
        return level_position(self.name, self.levels, value)

    def __repr__(self) -> str:
        return f"Categorical({self.name!r}, {list(self.levels)!r}{shown_condition(self)})"


def _check_log_count(name: str, scale: Scale) -> None:
    if scale.log and scale.grid is not None and scale.grid.count > MAX_LOG_VALUES:
        raise InputError(
            f"a logarithmic grid may have at most {MAX_LOG_VALUES} values; got "
            f"{scale.grid.count} for {name!r}; use a larger step, a Real, or leave log out."
        )
