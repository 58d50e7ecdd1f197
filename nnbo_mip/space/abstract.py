r"""What every dimension of a space offers, and what the numeric ones share.

`Scale`: one numeric dimension between the user's units and model coordinates.

With ends l <= u, model coordinate z in [-1, 1] and share t = (z + 1) / 2,

    linear:  x = l + (u - l) t,             logarithmic:  log(x / l) = t log(u / l).

The ends map to -1 and 1 exactly. Grid values map by their number, never by arithmetic, so
that going there and back is exact. A degenerate side (l = u) maps to 0.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.errors import InputError
from nnbo_mip.space.grid import Grid


@dataclass(frozen=True, eq=False)
class Scale:
    """The map of one coordinate.

    Parameters
    ----------
    lower, upper : float
        Ends in the user's units, ``lower <= upper``; ``lower > 0`` when logarithmic.
    log : bool
        Whether model coordinates are logarithmic.
    grid : Grid or None
        Admissible values in the user's units, with these ends.
    by_rank : bool
        Whether model coordinates are those of the values' numbers, equally far apart.
    """

    lower: float
    upper: float
    log: bool
    grid: Grid | None
    by_rank: bool = False

    @property
    def is_affine(self) -> bool:
        """Whether ``x = centre + half_width * z``, as rows need it."""
        return not (self.log or self.by_rank)

    @property
    def is_fixed(self) -> bool:
        """Whether the side is degenerate."""
        return self.lower == self.upper

    @cached_property
    def model_grid(self) -> Grid | None:
        """The grid in model coordinates; listed for logarithmic scales."""
        if self.grid is None or self.is_fixed:
            return None
        count = self.grid.count
        if self.by_rank or (not self.log and self.grid.listed_values is None):
            return Grid.uniform(-1.0, 2.0 / (count - 1), count, 1.0)
        return Grid.listed(self._by_formula(self.grid.value(np.arange(count))))

    def to_model(self, x: FloatArray) -> FloatArray:
        """Map values in the user's units (n,) to model coordinates (n,)."""
        if self.is_fixed:
            return np.zeros_like(x)
        if self.grid is not None and self.model_grid is not None:
            return self.model_grid.value(self.grid.nearest(x))
        return self._by_formula(x)

    def to_raw(self, z: FloatArray) -> FloatArray:
        """Map model coordinates (n,) to values in the user's units (n,), clipped."""
        if self.is_fixed:
            return np.full_like(z, self.lower)
        if self.grid is not None and self.model_grid is not None:
            return self.grid.value(self.model_grid.nearest(z))
        share = np.clip(0.5 * (z + 1.0), 0.0, 1.0)
        if self.log:
            x = self.lower + self.lower * np.expm1(share * self._log_width)
        else:
            x = self.lower + (self.upper - self.lower) * share
        return np.where(share == 1.0, self.upper, np.clip(x, self.lower, self.upper))

    def affine(self) -> tuple[float, float]:
        """Return centre and half-width of a linear scale: ``x = centre + half_width * z``."""
        half_width = 0.5 * self.upper - 0.5 * self.lower
        return self.lower + half_width, half_width

    @property
    def _log_width(self) -> float:
        return float(np.log1p((self.upper - self.lower) / self.lower))

    def _by_formula(self, x: FloatArray) -> FloatArray:
        if self.log:
            # log1p of the relative excess keeps narrow ranges such as [99, 101] accurate.
            share = np.log1p((x - self.lower) / self.lower) / self._log_width
        else:
            share = (x - self.lower) / (self.upper - self.lower)
        return np.clip(2.0 * share - 1.0, -1.0, 1.0)


class Dimension(ABC):
    """One named dimension: a block of `width` raw coordinates and as many model ones."""

    name: str
    when: Any
    """Canonical `When`, None where the dimension is always there."""

    default: Any
    """What a conditional dimension counts as where it is not."""

    @property
    @abstractmethod
    def width(self) -> int:
        """Number of coordinates."""

    @abstractmethod
    def ends(self, model: bool) -> tuple[float, float]:
        """Return lower and upper end of each coordinate, raw or model."""

    @abstractmethod
    def grid(self, model: bool) -> Grid | None:
        """Return the grid of each coordinate, raw or model."""

    @abstractmethod
    def checked(self, value: Any) -> Any:
        """Return the user's value in its canonical form; refuse values outside."""

    @abstractmethod
    def middle(self) -> Any:
        """Return the user's value in the middle, the first one where there is none."""

    @abstractmethod
    def clipped(self, value: Any) -> Any:
        """Return the nearest value of the dimension."""

    @abstractmethod
    def raw(self, values: Sequence[Any]) -> FloatArray:
        """Turn n of the user's values into raw coordinates (n, width); refuse values outside."""

    @abstractmethod
    def values(self, raw: FloatArray) -> list[Any]:
        """Turn raw coordinates (n, width) into n of the user's values, clipped and rounded."""

    @abstractmethod
    def raw_to_model(self, raw: FloatArray) -> FloatArray:
        """Map raw coordinates (n, width) to model coordinates (n, width)."""

    @abstractmethod
    def model_to_raw(self, model: FloatArray) -> FloatArray:
        """Map model coordinates (n, width) to raw coordinates (n, width), rounding."""


class NumericDimension(Dimension):
    """What `Real` and `Integer` share: one coordinate with a `Scale`."""

    @property
    def width(self) -> int:
        """One."""
        return 1

    @property
    @abstractmethod
    def scale(self) -> Scale:
        """The map between the user's units and model coordinates."""

    def middle(self) -> Any:
        """Return the user's value in the middle of model coordinates."""
        return self.values(self.scale.to_raw(np.zeros(1))[:, None])[0]

    def ends(self, model: bool) -> tuple[float, float]:
        """Return the ends in the user's units, or -1 and 1 (0 and 0 when they are equal)."""
        if not model:
            return self.scale.lower, self.scale.upper
        return (0.0, 0.0) if self.scale.is_fixed else (-1.0, 1.0)

    def grid(self, model: bool) -> Grid | None:
        """Return the grid, None for continuous and for degenerate dimensions."""
        if self.scale.is_fixed:
            return None
        return self.scale.model_grid if model else self.scale.grid

    def raw(self, values: Sequence[Any]) -> FloatArray:
        """Return the checked numbers as an array (n, 1)."""
        if isinstance(values, np.ndarray) and self.scale.grid is None:
            inside = (self.scale.lower <= values) & (values <= self.scale.upper)
            if inside.all():  # the common case of a box, without a loop
                return values[:, None]
        return np.array([float(self.checked(value)) for value in values]).reshape(-1, 1)

    def raw_to_model(self, raw: FloatArray) -> FloatArray:
        """Map raw coordinates (n, 1) to model coordinates (n, 1)."""
        return self.scale.to_model(raw)

    def model_to_raw(self, model: FloatArray) -> FloatArray:
        """Map model coordinates (n, 1) to raw coordinates (n, 1)."""
        return self.scale.to_raw(model)

    def _rounded(self, x: FloatArray) -> FloatArray:
        clipped = np.clip(x, self.scale.lower, self.scale.upper)
        grid = self.scale.grid
        return clipped if grid is None else grid.value(grid.nearest(clipped))

    def _nearest(self, number: float) -> float:
        return float(self._rounded(np.array(number)))

    def _refuse_outside(self, number: float, lower: float, upper: float) -> None:
        if not self.scale.lower <= number <= self.scale.upper:
            raise InputError(
                f"{self.name!r} must lie in [{lower}, {upper}]; got {number}; "
                "change it, or use space.clip."
            )


def check_name(name: object) -> None:
    """Refuse anything but a non-empty string."""
    if not isinstance(name, str) or not name:
        raise InputError(f"a dimension's name must be a non-empty string; got {name!r}; name it.")


def check_order(name: str, lower: float, upper: float, log: object) -> None:
    """Refuse crossed ends, ends that are too far apart, and logarithms of what is not > 0."""
    if not isinstance(log, bool):
        raise InputError(f"log of {name!r} must be True or False; got {log!r}; pass a bool.")
    if lower > upper:
        raise InputError(
            f"lower must be <= upper; got {lower} > {upper} for {name!r}; "
            "swap them or drop the dimension."
        )
    if log and lower <= 0:
        raise InputError(
            f"a logarithmic dimension needs lower > 0; got {lower} for {name!r}; "
            "raise lower or leave log out."
        )
    width = float(upper) - float(lower)
    if not np.isfinite(width) or (log and not np.isfinite(width / lower)):
        raise InputError(
            f"the width of {name!r} must be finite in float64 (relative to lower, if log); "
            f"got [{lower}, {upper}]; give narrower bounds."
        )
