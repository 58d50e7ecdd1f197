"""The box within which the point of a step was looked for, as it is recorded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from nnbo_mip.core.arrays import FloatArray, frozen
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
    """

    length: float
    lower: FloatArray
    upper: FloatArray

    def __post_init__(self) -> None:
        object.__setattr__(self, "lower", frozen(self.lower))
        object.__setattr__(self, "upper", frozen(self.upper))

    @property
    def moving(self) -> int:
        """How many coordinates have more than one value in it."""
        return int((self.lower < self.upper).sum())

    @property
    def share(self) -> float:
        """Part of the volume of the coordinates that move."""
        widths = self.upper - self.lower
        return float(np.prod(0.5 * widths[widths > 0.0]))

    def to_dict(self) -> dict[str, Any]:
        """Return what the journal keeps."""
        ends = {"lower": self.lower.tolist(), "upper": self.upper.tolist()}
        return {"length": float(self.length), **ends}

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> RegionBox:
        """Make the box that `to_dict` described."""
        try:
            ends = (np.array(stored[end], dtype=np.float64) for end in ("lower", "upper"))
            return cls(float(stored["length"]), *ends)
        except (KeyError, TypeError, ValueError) as error:
            raise FileFormatError(
                f"a stored region must have a length, lower and upper ends; got {stored!r:.80}."
            ) from error
