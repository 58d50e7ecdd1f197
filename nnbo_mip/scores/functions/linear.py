"""Scores that are affine in mean and std: mean, confidence bounds, samples.

References
----------
Cox and John (1992), confidence bounds [CoxJohn1992].
Thompson (1933), samples [Thompson1933].
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.checks import check_number
from nnbo_mip.core.terms import Measure
from nnbo_mip.scores.base.abstract import MomentHead, Shape, Trend

_LARGEST = float(np.finfo(np.float64).max)


@dataclass(frozen=True)
class LinearHead(MomentHead):
    """The score ``mean_weight mean + std_weight std + constant``, cut off at the largest float.

    Parameters
    ----------
    mean_weight : float
        At least zero.
    std_weight : float
        Of any sign; a negative one serves the steps of ratio problems.
    constant : float
        Has no influence on which point is best.
    called : str
        What an acquisition calls it; empty for ``ucb`` or ``mean``, by `std_weight`.
    """

    shape: ClassVar[Shape] = Shape.LINEAR
    measure = Measure.NATURAL

    mean_weight: float = 1.0
    std_weight: float = 0.0
    constant: float = 0.0
    called: str = field(default="", compare=False, repr=False)

    def __post_init__(self) -> None:
        """Refuse numbers that are none."""
        check_number("mean_weight", self.mean_weight, least=0.0)
        check_number("std_weight", self.std_weight)
        check_number("constant", self.constant)

    @property
    def name(self) -> str:
        """What acquisitions call it."""
        if self.called or self.std_weight < 0.0:
            return self.called or "linear"
        return "ucb" if self.std_weight > 0.0 else "mean"

    @property
    def std_trend(self) -> Trend:
        """By the sign of `std_weight`."""
        if self.std_weight == 0.0:
            return Trend.CONSTANT
        return Trend.RISING if self.std_weight > 0.0 else Trend.FALLING

    def _score(self, mean: FloatArray, std: FloatArray) -> FloatArray:
        # Cut before they meet, so that opposite infinities do not.
        parts = _cut(self.mean_weight * mean), _cut(self.std_weight * std)
        return _cut(parts[0] + self.constant + parts[1])

    def _gradient(self, mean: FloatArray, std: FloatArray) -> tuple[FloatArray, FloatArray]:
        return np.full(mean.shape, self.mean_weight), np.full(std.shape, self.std_weight)

    def _mean_at_level(self, std: FloatArray, level: FloatArray) -> FloatArray:
        rest = (level - self.constant) - _cut(self.std_weight * std)
        if self.mean_weight == 0.0:
            return np.where(rest <= 0.0, -np.inf, np.inf)
        return np.asarray(rest / self.mean_weight)


def _cut(values: FloatArray) -> FloatArray:
    return np.clip(values, -_LARGEST, _LARGEST)
