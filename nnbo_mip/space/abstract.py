"""What every dimension of a space offers, and what the numeric ones share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.errors import InputError
from nnbo_mip.space.grid import Grid
from nnbo_mip.space.scale import Scale


class Dimension(ABC):
    """One named dimension: a block of `width` raw coordinates and as many model ones."""

    name: str

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

    lower: float
    upper: float
    log: bool

    @property
    def width(self) -> int:
        """One."""
        return 1

    @property
    @abstractmethod
    def scale(self) -> Scale:
        """The map between the user's units and model coordinates."""

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

    def _refuse_outside(self, number: float) -> None:
        if not self.scale.lower <= number <= self.scale.upper:
            raise InputError(
                f"{self.name!r} must lie in [{self.lower}, {self.upper}]; got {number}; "
                "change it, or use space.clip."
            )
