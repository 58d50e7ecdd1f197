"""`Side`: one input of a run as it is drawn, a dimension of the space or of an embedding."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.drawing.picture import Axis
from nnbo_mip.space.abstract import Dimension, NumericDimension
from nnbo_mip.space.dimensions import Categorical
from nnbo_mip.space.embedded.embedded_space import EmbeddedSpace, SearchSpace
from nnbo_mip.space.grid import Grid
from nnbo_mip.space.ordinal import Ordinal

POINTS = 161
"""Along a side, at most."""

SHOWN_LETTERS = 12


@dataclass(frozen=True, eq=False)
class Side:
    """One input.

    Parameters
    ----------
    name : str
    columns : slice
        Of model coordinates.
    dimension : Dimension or None
        None for a coordinate of an embedding, or of a domain.
    grid : Grid or None
        The values of a coordinate that has few, in model coordinates.
    """

    name: str
    columns: slice
    dimension: Dimension | None
    grid: Grid | None

    @property
    def levels(self) -> tuple[str, ...]:
        """Names of what has names instead of numbers."""
        one = self.dimension
        if isinstance(one, Categorical) or (isinstance(one, Ordinal) and not one.is_numeric):
            return tuple(_short(str(level)) for level in one.levels)
        return ()

    @property
    def is_logarithmic(self) -> bool:
        """Whether its axis is."""
        one = self.dimension
        return isinstance(one, NumericDimension) and one.scale.log

    def places(self) -> FloatArray:
        """Return values along the side (m, width), in model coordinates, in order."""
        width = self.columns.stop - self.columns.start
        if isinstance(self.dimension, Categorical):
            return np.eye(width)
        if self.grid is None:
            return np.linspace(-1.0, 1.0, POINTS)[:, None]
        count = self.grid.count
        chosen = np.arange(count)
        if count > POINTS:
            chosen = np.unique(np.linspace(0, count - 1, POINTS).round().astype(np.int64))
        return self.grid.value(chosen)[:, None]

    def shown(self, points: FloatArray) -> FloatArray:
        """Return where points (n, k) lie on its axis (n,): users' numbers, or ranks of levels."""
        block = points[:, self.columns]
        if isinstance(self.dimension, Categorical):
            return np.asarray(block.argmax(axis=1), dtype=np.float64)
        if self.dimension is None:
            return np.asarray(block[:, 0])
        return np.asarray(self.dimension.model_to_raw(block)[:, 0])

    def share(self, points: FloatArray) -> FloatArray:
        """Return where points (n, k) lie between its ends (n,), 0 to 1."""
        block = points[:, self.columns]
        if isinstance(self.dimension, Categorical):
            return np.asarray(block.argmax(axis=1) / max(block.shape[1] - 1, 1))
        return np.asarray(0.5 * (block[:, 0] + 1.0))

    def ends(self) -> tuple[str, str]:
        """Return the names of both ends."""
        if self.levels:
            return self.levels[0], self.levels[-1]
        if self.dimension is None:
            return "-1", "1"
        low, high = self.dimension.ends(False)
        return f"{low:.4g}", f"{high:.4g}"

    def axis(self) -> Axis:
        """Return its axis."""
        if self.levels:
            return Axis(self.name, ticks=tuple(enumerate(map(str, self.levels))))
        return Axis(self.name, "log" if self.is_logarithmic else "linear")


def sides_of(search: SearchSpace) -> list[Side]:
    """Return the inputs of a run that move, in order."""
    domain = search.model()
    if isinstance(search, EmbeddedSpace):
        return [Side(f"z{j}", slice(j, j + 1), None, None) for j in range(domain.dimension)]
    found, start = [], 0
    for one in search.dimensions:
        columns = slice(start, start + one.width)
        start = columns.stop
        if (domain.lower < domain.upper)[columns].any():
            found.append(Side(one.name, columns, one, domain.grids[columns.start]))
    return found


def free_at(search: SearchSpace, sides: list[Side], place: FloatArray) -> list[Side]:
    """Return the inputs that are there at a point (k,), and not held at their default."""
    held = search.model().is_held(place[None])[0]
    return [side for side in sides if not held[side.columns].all()]


def _short(text: str) -> str:
    return text if len(text) <= SHOWN_LETTERS else f"{text[: SHOWN_LETTERS - 1]}…"
