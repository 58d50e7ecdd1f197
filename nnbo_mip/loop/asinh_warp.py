r"""A warp that keeps small gaps to the best value and tames large ones, as far as is likely.

With y* the best of the n values, larger is better, and a width s > 0,

    v_i = y* - s asinh((y* - y_i) / s),

which is y_i to first order where the gap y* - y_i is much smaller than s, and y* - s log(2 gap / s)
where it is much larger. Beyond y* nothing changes: v = y, so improvements keep their units.

The width is the gap below which a share of the values lies. Which share is left to the surrogate
that learns from them. Each value is foreseen from all others, as normal with mean m_i and deviation
q_i. Of `SHARES` and of the values as they are, the version v is taken that is most likely where
what is worse than the median t is known to be worse, and no more: the largest

    sum_{y_i >= t} [log N(v_i; m_i, q_i) + log dv_i / dy_i]
      + sum_{y_i < t} log Phi((v(t) - m_i) / q_i),        dv / dy = 1 / sqrt(1 + ((y* - y) / s)^2).

A run is about good values. The density of all would be ruled by how bad the bad ones are; that of
the good ones alone could be raised by calling everything good, which the second sum forbids.

Reference: Diks, Panchenko, van Dijk, "Likelihood-based scoring rules for comparing density
forecasts in tails", Journal of Econometrics, 2011.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt
from scipy.stats import norm

from nnbo_mip.checks import check_number
from nnbo_mip.loop.warping import Foresight, Warp, Warped, as_floats
from nnbo_mip.space.arrays import FloatArray

SHARES = (0.8, 0.5, 0.35, 0.2, 0.1, 0.05)
"""From hardly bent to nearly a logarithm."""

UNKNOWN = 0.35
"""The share where nothing is foreseen: in the middle."""

LARGEST = float(np.finfo(np.float64).max)


@dataclass(frozen=True)
class Asinh(Warp):
    """Shrink large gaps to the best value to their logarithm.

    Parameters
    ----------
    share : float, optional
        Part of the values whose gap is below the width; None is the best foreseen of some, where
        the surrogate foresees values, and 0.35 elsewhere.
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

    def learn(self, y: npt.ArrayLike, foresight: Foresight | None = None) -> Warped:
        """Return the warped values; as they are where the width is zero."""
        told = np.array(y, dtype=np.float64)
        if not len(told):
            return Warped(told, as_floats)
        curves = [Curve.of(told, share) for share in self._shares(foresight)]
        curves = [curve for curve in curves if curve.half_width > 0.0]
        if self.share is None and foresight is not None and curves:
            chosen = int(np.argmax(scores(told[foresight.kept], curves, foresight)))
            curves = curves[chosen - 1 : chosen] if chosen else []
        if not curves:
            return Warped(told, as_floats)
        return Warped(curves[0].inward(told), curves[0].outward)

    def _shares(self, foresight: Foresight | None) -> tuple[float, ...]:
        if self.share is not None:
            return (self.share,)
        return (UNKNOWN,) if foresight is None else SHARES


def scores(y: FloatArray, curves: list[Curve], foresight: Foresight) -> FloatArray:
    """Return how well y (k,) as they are, and versions of them, are foreseen: (1 + curves,).

    Parameters
    ----------
    y : (k,) array
        Those of the values that the surrogate looks at.
    curves : list of Curve
    foresight : Foresight
    """
    versions = np.array([y, *(curve.inward(y) for curve in curves)])
    slopes = np.array([np.zeros_like(y), *(curve.log_slopes(y) for curve in curves)])
    foreseen = foresight.of(versions)
    middle = int(np.argsort(y, kind="stable")[len(y) // 2])
    density = norm.logpdf(versions, foreseen.mean, foreseen.std) + slopes
    worse = norm.logcdf(versions[:, middle, None], foreseen.mean, foreseen.std)
    return np.asarray(np.where(y >= y[middle], density, worse).sum(axis=1))


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

    def log_slopes(self, y: FloatArray) -> FloatArray:
        """Return the logarithms (n,) of the slopes dv / dy."""
        return np.asarray(-np.log(np.hypot(1.0, self._ratios(y))))

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
