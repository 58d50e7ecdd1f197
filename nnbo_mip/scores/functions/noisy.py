r"""Expected improvement where observations are noisy.

Augmented EI, with s the std and n the standard deviation of the noise, is EI over the effective
best times a factor that is small where the noise would hide what is learned:

    AEI = EI (1 - n / sqrt(s^2 + n^2)) = EI  s^2 / (r (r + n)),      r = sqrt(s^2 + n^2);

it rises in mean and std, and is EI at n = 0.

Expected quantile improvement looks at the lower b-quantile q that the belief will have at the
point after one more observation there. With z the b-quantile of a standard normal variable,

    E q   = mean - z w,      w = n s / r,
    std q = v = s^2 / r,
    EQI   = E max(q - best quantile now, 0),

EI again, of the belief about q. It rises in the mean; w and v both rise with the std, so the
std has no one direction, and `largest` bounds the two terms apart.

References
----------
Huang et al. (2006), AEI [Huang2006a].
Picheny et al. (2013), EQI [Picheny2013].
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.checks import check_number
from nnbo_mip.scores.base.abstract import MomentHead, Shape, Trend
from nnbo_mip.scores.functions.improvement import expectation, margin_at_level, slopes


@dataclass(frozen=True)
class AugmentedEI(MomentHead):
    """AEI.

    Parameters
    ----------
    threshold : float
        Mean of the effective best point.
    noise : float
        n, the standard deviation of an observation from the function.
    """

    shape: ClassVar[Shape] = Shape.BOXES
    name = "aei"
    std_trend = Trend.RISING

    threshold: float
    noise: float = 0.0

    def __post_init__(self) -> None:
        """Refuse numbers that are none."""
        check_number("threshold", self.threshold)
        check_number("noise", self.noise, least=0.0)

    def _score(self, mean: FloatArray, std: FloatArray) -> FloatArray:
        return expectation(mean - self.threshold, std) * self._factor(std)

    def _gradient(self, mean: FloatArray, std: FloatArray) -> tuple[FloatArray, FloatArray]:
        margin = mean - self.threshold
        by_mean, by_std = slopes(margin, std)
        factor, total = self._factor(std), _total(std, self.noise)
        # d factor / ds = n s / r^3
        change = (self.noise / total) * (std / total) / total
        return factor * by_mean, factor * by_std + expectation(margin, std) * change

    def _mean_at_level(self, std: FloatArray, level: FloatArray) -> FloatArray:
        factor = self._factor(std)
        usable = factor > 0.0
        raised = np.maximum(level, 0.0) / np.where(usable, factor, 1.0)
        margin = np.where(usable, margin_at_level(std, raised), np.inf)
        return self.threshold + np.where(level <= 0.0, -np.inf, margin)

    def _factor(self, std: FloatArray) -> FloatArray:
        if self.noise == 0.0:
            return np.ones_like(std)
        total = _total(std, self.noise)
        return np.asarray(std / total * (std / (total + self.noise)))


@dataclass(frozen=True)
class QuantileImprovement(MomentHead):
    """EQI.

    Parameters
    ----------
    threshold : float
        The largest b-quantile at an evaluated point.
    noise : float
        n, the standard deviation of the next observation from the function.
    beta : float
        b: the quantile that the belief exceeds with this probability; in [0.5, 1).
    """

    shape: ClassVar[Shape] = Shape.BOXES
    name = "eqi"

    threshold: float
    noise: float = 0.0
    beta: float = 0.9

    def __post_init__(self) -> None:
        """Refuse numbers that are none."""
        check_number("threshold", self.threshold)
        check_number("noise", self.noise, least=0.0)
        check_number("beta", self.beta, least=0.5, below=1.0)

    @property
    def z(self) -> float:
        """Number of standard deviations between mean and quantile."""
        return float(ndtri(self.beta))

    @property
    def std_trend(self) -> Trend:
        """Rising without noise, else mixed."""
        return Trend.RISING if self.noise == 0.0 else Trend.MIXED

    def terms(self, std: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Return z w and v, both rising with the std: mean - z w and v are those of q."""
        stds = np.asarray(std, dtype=np.float64)
        total = _total(stds, self.noise)
        share = stds / total
        return self.z * self.noise * share, stds * share

    def largest(
        self, mean: npt.ArrayLike, std_low: npt.ArrayLike, std_high: npt.ArrayLike
    ) -> FloatArray:
        """Return an upper bound: the lowest mean loss together with the highest spread."""
        loss, spread = self.terms(std_low)[0], self.terms(std_high)[1]
        with np.errstate(over="ignore"):
            margin = np.asarray(mean, dtype=np.float64) - loss - self.threshold
            return expectation(margin, np.broadcast_to(spread, margin.shape))

    def _score(self, mean: FloatArray, std: FloatArray) -> FloatArray:
        loss, spread = self.terms(std)
        return expectation(mean - loss - self.threshold, spread)

    def _gradient(self, mean: FloatArray, std: FloatArray) -> tuple[FloatArray, FloatArray]:
        loss, spread = self.terms(std)
        by_mean, by_spread = slopes(mean - loss - self.threshold, spread)
        total = _total(std, self.noise)
        share, noise_share = std / total, self.noise / total
        # dw / ds = (n / r)^3,  dv / ds = (s / r) (1 + (n / r)^2); at s = n = 0, w = 0 and v = s.
        loss_slope = self.z * noise_share**3
        spread_slope = np.where(total == std, 1.0, share * (1.0 + noise_share**2))
        return by_mean, by_spread * spread_slope - by_mean * loss_slope

    def _mean_at_level(self, std: FloatArray, level: FloatArray) -> FloatArray:
        loss, spread = self.terms(std)
        return self.threshold + loss + margin_at_level(spread, level)


def _total(std: FloatArray, noise: float) -> FloatArray:
    """Return r; the smallest number in place of 0, so that it divides."""
    return np.maximum(np.hypot(std, noise), np.finfo(np.float64).smallest_subnormal)
