r"""tanh units h_j = tanh(z_j), z = inner x + bias, over boxes.

*Lines.* Over [l, u] the largest value of tanh(z) - k z is at l, at u, or, for 0 < k < 1, at the
z > 0 with tanh' = k,

    z = log((1 + sqrt(1 - k)) / sqrt(k)),

so every slope k gives a line above, and by symmetry one below; the choice of k only decides how
tight it is: the tangent of the middle where tanh is concave, the chord where it is convex, and
between the line through l that touches tanh on [0, u], found by a few steps d -> k -> d.

*Expansion.* With y = tanh z the derivatives are 1 - y^2, -2 y (1 - y^2) and the third,
-2 (1 - y^2)(1 - 3 y^2), whose size is monotone in y^2 but for 2/3 at y^2 = 2/3.

*Rounding.* z is computed within gamma times its summands; slopes of tanh are at most 1, those of
its first two derivatives at most 1 and 2. tanh itself is taken to be within 8 u, where libraries
promise 4 at most.
"""

from __future__ import annotations

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.exact.bounds.units import UnitRelaxations, Units
from nnbo_mip.exact.search.rounding import UNIT_ROUNDOFF, gamma
from nnbo_mip.scores.posteriors.tanh import TanhPosterior
from nnbo_mip.space.domain import Domain

STEPS = 3
"""Towards the line that touches; the slope's error is squared by each."""

TANH_ERROR = 16.0 * UNIT_ROUNDOFF
"""Absolute error of tanh with the few operations that follow it."""


class TanhUnits(Units):
    """The hidden units of a posterior.

    Parameters
    ----------
    posterior : TanhPosterior
    domain : Domain
    """

    is_smooth = True

    def __init__(self, posterior: TanhPosterior, domain: Domain) -> None:
        self.lower, self.upper = domain.lower, domain.upper
        self._inner, self._bias = posterior.inner, posterior.bias
        self._sizes = np.abs(posterior.inner)
        self.count, d = posterior.inner.shape
        most = np.maximum(np.abs(domain.lower), np.abs(domain.upper))
        magnitudes = self._sizes @ most + np.abs(self._bias)
        self._error = gamma(8 * (d + 4)) * magnitudes + 1e-300
        self.largest = float(magnitudes.max())

    def forms(self, center: FloatArray, radius: FloatArray) -> UnitRelaxations:
        """Return the forms over boxes (d, B)."""
        z = center.T @ self._inner.T + self._bias
        error = self._error
        reach = radius.T @ self._sizes.T + error
        low, high = z - reach - error, z + reach + error
        y_low, y, y_high = np.tanh(low), np.tanh(z), np.tanh(high)
        slope = 1.0 - y * y
        above, top = _line_above(low, high, y_low, y_high, slope)
        below, bottom = _line_above(-high, -low, -y_high, -y_low, slope)
        margin = 2.0 * error + TANH_ERROR * (4.0 + (above + below) * (np.abs(z) + reach))
        growth = 1.0 + reach + reach * reach
        return UnitRelaxations(
            along=self._inner,
            metric=np.zeros(len(center)),
            lower_value=below * z - bottom - margin,
            lower_slope=below,
            upper_value=above * z + top + margin,
            upper_slope=above,
            value=y,
            slope=slope,
            bend=-2.0 * y * slope,
            third=_steepest_third(y_low, y_high) * reach**3 / 6.0 * (1.0 + 1e-12),
            error=(2.0 * error + TANH_ERROR) * growth,
            reach=reach,
        )


def _line_above(
    low: FloatArray, high: FloatArray, y_low: FloatArray, y_high: FloatArray, middle: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return slopes k and constants q with ``tanh z <= k z + q`` on [low, high], up to rounding.

    Parameters
    ----------
    low, high, y_low, y_high : (B, U) arrays
        Ends, and their tanh.
    middle : (B, U) array
        Slopes of tanh at the middle.
    """
    width = high - low
    wide = width > 0.0
    chord = np.where(wide, (y_high - y_low) / np.where(wide, width, 1.0), middle)
    slope = np.clip(np.where(low >= 0.0, middle, chord), 0.0, 1.0)
    crossing = (low < 0.0) & (high > 0.0)
    if crossing.any():
        slope[crossing] = _touching(low[crossing], y_low[crossing], high[crossing], slope[crossing])
    at = np.clip(_where_slope(slope), low, high)
    inside = np.tanh(at) - slope * at
    return slope, np.maximum(np.maximum(y_low - slope * low, y_high - slope * high), inside)


def _touching(
    low: FloatArray, y_low: FloatArray, high: FloatArray, slope: FloatArray
) -> FloatArray:
    """Return slopes near those of lines through (low, tanh low) that touch tanh on [0, high]."""
    for _ in range(STEPS):
        at = np.minimum(_where_slope(slope), high)
        slope = np.clip((np.tanh(at) - y_low) / (at - low), 0.0, 1.0)
    return slope


def _where_slope(slope: FloatArray) -> FloatArray:
    """Return the z >= 0 at which the slope of tanh is `slope`."""
    safe = np.maximum(slope, 1e-300)
    return np.asarray(np.log((1.0 + np.sqrt(1.0 - safe)) / np.sqrt(safe)))


def _steepest_third(y_low: FloatArray, y_high: FloatArray) -> FloatArray:
    """Bound the size of the third derivative between two values of tanh."""
    sizes = np.abs(y_low), np.abs(y_high)
    least = np.where((y_low < 0.0) & (y_high > 0.0), 0.0, np.minimum(*sizes)) ** 2
    most = np.maximum(*sizes) ** 2
    ends = [np.abs((1.0 - w) * (1.0 - 3.0 * w)) for w in (least, most)]
    turned = np.where((least < 2.0 / 3.0) & (most > 2.0 / 3.0), 1.0 / 3.0, 0.0)
    return np.asarray(2.0 * np.maximum(np.maximum(*ends), turned) + 64.0 * UNIT_ROUNDOFF)
