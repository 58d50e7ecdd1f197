r"""`Scale`: one numeric dimension between the user's units and model coordinates.

With ends l <= u, model coordinate z in [-1, 1] and share t = (z + 1) / 2,

    linear:  x = l + (u - l) t,             logarithmic:  log(x / l) = t log(u / l).

The ends map to -1 and 1 exactly. Grid values map by their number, never by arithmetic, so
that going there and back is exact. A degenerate side (l = u) maps to 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from nnbo_mip.core.arrays import FloatArray
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
    """

    lower: float
    upper: float
    log: bool
    grid: Grid | None

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
        if not self.log:
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
