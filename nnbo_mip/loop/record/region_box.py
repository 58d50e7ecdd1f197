"""The box within which the point of a step was looked for, as it is recorded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.checks import frozen
from nnbo_mip.core.errors import FileFormatError
from nnbo_mip.core.rebuilt import Rebuilt


@dataclass(frozen=True, eq=False)
class RegionBox(Rebuilt):
    """The box within which a point was looked for.

    Parameters
    ----------
    length : float
        As in `Extent`.
    lower, upper : (k,) arrays
        Its ends in model coordinates.
    groups : tuple of tuple of int
        Coordinates of the levels of each category; none in files of before.
    """

    length: float
    lower: FloatArray
    upper: FloatArray
    groups: tuple[tuple[int, ...], ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "lower", frozen(self.lower))
        object.__setattr__(self, "upper", frozen(self.upper))

    @property
    def moving(self) -> int:
        """How many coordinates have more than one value in it; a category counts once."""
        free = self.lower < self.upper
        return int(free[self._numbers].sum()) + sum(map(self._moves, self.groups))

    @property
    def coordinates(self) -> int:
        """How many there are; a category counts once."""
        return len(self._numbers) + len(self.groups)

    @property
    def share(self) -> float:
        """Part of the volume of the numbers that move, times that of the levels of categories."""
        widths = (self.upper - self.lower)[self._numbers]
        levels = [
            float(self.upper[list(group)].mean()) for group in self.groups if self._moves(group)
        ]
        return float(np.prod([*(0.5 * widths[widths > 0.0]), *levels]))

    @property
    def _numbers(self) -> list[int]:
        members = {member for group in self.groups for member in group}
        return [j for j in range(len(self.lower)) if j not in members]

    def _moves(self, group: tuple[int, ...]) -> bool:
        return bool((self.lower < self.upper)[list(group)].any())

    def to_dict(self) -> dict[str, Any]:
        """Return what the journal keeps."""
        ends = {"lower": self.lower.tolist(), "upper": self.upper.tolist()}
        groups = {"groups": [list(group) for group in self.groups]} if self.groups else {}
        return {"length": float(self.length), **ends, **groups}

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> RegionBox:
        """Make the box that `to_dict` described."""
        try:
            lower, upper = (np.array(stored[end], dtype=np.float64) for end in ("lower", "upper"))
            groups = tuple(tuple(map(int, group)) for group in stored.get("groups", ()))
            return cls(float(stored["length"]), lower, upper, groups)
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise FileFormatError(
                f"a stored region must have a length, lower and upper ends; got {stored!r:.80}."
            ) from error
