r"""A warp that keeps small gaps to the best value and tames large ones, as far as is likely.

With y* the best of the n values, larger is better, and a width s > 0,

    v_i = y* - s asinh((y* - y_i) / s),

which is y_i to first order where the gap y* - y_i is much smaller than s, and y* - s log(2 gap / s)
where it is much larger. Beyond y* nothing changes: v = y, so improvements keep their units.

The width is the gap below which a share of the values lies. Which share is left to the values
themselves: of `SHARES` and of the values as they are, the version v that is most likely, as a
density of y,

    log p(v | X) + sum_i log dv_i / dy_i,      dv_i / dy_i = 1 / sqrt(1 + ((y* - y_i) / s)^2),

with p the evidence of the surrogate that learns from them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from nnbo_mip.checks import check_number
from nnbo_mip.loop.warping import Evidence, Warp, Warped, as_floats
from nnbo_mip.space.arrays import FloatArray

SHARES = (0.8, 0.5, 0.35, 0.2, 0.1, 0.05)
"""From hardly bent to nearly a logarithm."""

UNKNOWN = 0.35
"""The share where there is no evidence: in the middle."""

LARGEST = float(np.finfo(np.float64).max)


@dataclass(frozen=True)
class Asinh(Warp):
    """Shrink large gaps to the best value to their logarithm.

    Parameters
    ----------
    share : float, optional
        Part of the values whose gap is below the width; None is the likeliest of some, where the
        surrogate has an evidence, and 0.35 elsewhere.
    """

    name: ClassVar[str] = "asinh"

    share: float | None = None

    def __post_init__(self) -> None:
        if self.share is not None:
            check_number("share", self.share, above=0.0, below=np.nextafter(1.0, 2.0))

    @property
    def compares(self) -> bool:
        """Whether the share is open."""
        return self.share is None

    def learn(self, y: npt.ArrayLike, evidence: Evidence | None = None) -> Warped:
        """Return the warped values; as they are where the width is zero."""
        told = np.array(y, dtype=np.float64)
        if not len(told):
            return Warped(told, as_floats)
        curves = [Curve.of(told, share) for share in self._shares(evidence)]
        curves = [curve for curve in curves if curve.half_width > 0.0]
        if self.share is None and evidence is not None and curves:
            looked_at = told[evidence.kept]
            versions = np.array([looked_at, *(curve.inward(looked_at) for curve in curves)])
            slopes = np.array([0.0, *(curve.log_slopes(looked_at) for curve in curves)])
            chosen = int(np.argmax(evidence.log_density(versions) + slopes))
            curves = curves[chosen - 1 : chosen] if chosen else []
        if not curves:
            return Warped(told, as_floats)
        return Warped(curves[0].inward(told), curves[0].outward)

    def _shares(self, evidence: Evidence | None) -> tuple[float, ...]:
        if self.share is not None:
            return (self.share,)
        return (UNKNOWN,) if evidence is None else SHARES


@dataclass(frozen=True)
class Curve:
    """v of y for one width.

    Parameters
    ----------
    best : float
        y*.
    half_width : float
        s / 2; halves, as differences of the largest numbers are not finite.
    """

    best: float
    half_width: float

    @staticmethod
    def of(y: FloatArray, share: float) -> Curve:
        """Return the curve whose width is the gap below which a share of the values lies."""
        best = float(y.max())
        return Curve(best, float(np.quantile(0.5 * best - 0.5 * y, share)))

    def inward(self, y: FloatArray) -> FloatArray:
        """Return v (n,)."""
        with np.errstate(over="ignore"):
            bent = self.best - 2.0 * (self.half_width * np.arcsinh(self._ratios(y)))
        return np.where(y < self.best, np.clip(bent, y, self.best), y)

    def log_slopes(self, y: FloatArray) -> float:
        """Return the sum of the logarithms of the slopes dv / dy at the values."""
        return -float(np.log(np.hypot(1.0, self._ratios(y))).sum())

    def outward(self, v: npt.ArrayLike) -> FloatArray:
        """Return y (m,)."""
        given = as_floats(v)
        with np.errstate(over="ignore"):
            ratios = (0.5 * self.best - 0.5 * given) / self.half_width
            gaps = 2.0 * (self.half_width * np.sinh(np.maximum(ratios, 0.0)))
        return np.where(given < self.best, np.maximum(self.best - gaps, -LARGEST), given)

    def _ratios(self, y: FloatArray) -> FloatArray:
        """Return the gaps (n,) in units of the width."""
        with np.errstate(over="ignore"):
            return np.minimum((0.5 * self.best - 0.5 * y) / self.half_width, LARGEST)
