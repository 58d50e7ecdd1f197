"""From NOMU's raw uncertainty s to a std: two activations that bound it.

    clip     T(s) = min(max(s, l_min), l_max) = l_min + relu(s - l_min) - relu(s - l_max)
    smooth   T(s) = l_max (1 - exp(-(relu(s) + l_min) / l_max))

Both increase from about l_min to l_max. The first is piecewise linear, so it compiles.

References
----------
Högger (2021), both activations [Hogger2021].
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.checks import check_choice, check_number
from nnbo_mip.core.errors import InputError

KINDS = ("clip", "smooth")


@dataclass(frozen=True)
class Bounding:
    """The activation T.

    Parameters
    ----------
    kind : str
        ``clip`` or ``smooth``.
    l_min, l_max : float
        Its limits, 0 < l_min < l_max, in standardized units.
    """

    kind: str
    l_min: float
    l_max: float

    def __post_init__(self) -> None:
        check_choice("bounding", self.kind, KINDS)
        low = check_number("l_min", self.l_min, above=0.0)
        if check_number("l_max", self.l_max, above=0.0) <= low:
            raise InputError(
                f"l_max must be larger than l_min; got l_min={self.l_min!r} and "
                f"l_max={self.l_max!r}; raise l_max."
            )

    def __call__(self, raw: FloatArray) -> FloatArray:
        """Return T(s), entry by entry."""
        if self.kind == "clip":
            return np.clip(raw, self.l_min, self.l_max)
        return np.asarray(-self.l_max * np.expm1(-self._exponent(raw)))

    def slope(self, raw: FloatArray) -> FloatArray:
        """Return T'(s), entry by entry; that of the flat side at a kink."""
        if self.kind == "clip":
            return ((raw > self.l_min) & (raw < self.l_max)).astype(np.float64)
        return np.asarray(np.where(raw > 0.0, np.exp(-self._exponent(raw)), 0.0))

    def _exponent(self, raw: FloatArray) -> FloatArray:
        return np.asarray((np.maximum(raw, 0.0) + self.l_min) / self.l_max)
