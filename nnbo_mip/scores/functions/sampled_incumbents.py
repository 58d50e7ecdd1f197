r"""Expected improvement averaged over incumbents: noisy EI by samples of the best value.

Where values are noisy nobody knows the best one. With samples t_1 … t_K of the largest value of the
function at evaluated points,

    NEI = (1 / K) sum_k EI(mean, std; t_k).

As each term, it is convex in (mean, std) and rises in both.

References
----------
Letham et al. (2019), noisy expected improvement [Letham2019].
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from scipy.special import logsumexp

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.checks import check_flag, check_number
from nnbo_mip.core.errors import InputError
from nnbo_mip.scores.base.abstract import MomentHead, Shape, Trend
from nnbo_mip.scores.functions.improvement import (
    expectation,
    log_expectation,
    log_slopes,
    margin_at_log_level,
    slopes,
)

HALVINGS = 60
"""Of the interval between the samples, in search of a level."""


@dataclass(frozen=True)
class NoisyImprovement(MomentHead):
    """NEI, or its logarithm.

    Parameters
    ----------
    thresholds : tuple of float
        Samples of the incumbent, at least one.
    log : bool
        Score log NEI.
    """

    shape: ClassVar[Shape] = Shape.BOXES

    thresholds: tuple[float, ...]
    log: bool = False

    def __post_init__(self) -> None:
        """Refuse numbers that are none."""
        given: object = self.thresholds
        if not isinstance(given, tuple | list) or not given:
            raise InputError(
                "thresholds must be a tuple of numbers, one at least; got "
                f"{given!r:.60}; give samples of the best value."
            )
        numbers = tuple(check_number("each threshold", one) for one in given)
        object.__setattr__(self, "thresholds", numbers)
        check_flag("log", self.log)

    @property
    def name(self) -> str:
        """``nei`` or ``lognei``."""
        return "lognei" if self.log else "nei"

    @property
    def logarithm(self) -> NoisyImprovement | None:
        """Log NEI."""
        return None if self.log else replace(self, log=True)

    @property
    def is_logarithm(self) -> bool:
        """Whether it is log NEI."""
        return self.log

    @property
    def std_trend(self) -> Trend:
        """Rising."""
        return Trend.RISING

    def margins(self, mean: FloatArray) -> FloatArray:
        """Return means less each sample, (…, K)."""
        return np.asarray(mean[..., None] - np.array(self.thresholds))

    def _score(self, mean: FloatArray, std: FloatArray) -> FloatArray:
        if not self.log:
            return np.asarray(expectation(self.margins(mean), std[..., None]).mean(axis=-1))
        return self._log_score(mean, std)

    def _log_score(self, mean: FloatArray, std: FloatArray) -> FloatArray:
        return mean_of_exponentials(log_expectation(self.margins(mean), std[..., None]))

    def _gradient(self, mean: FloatArray, std: FloatArray) -> tuple[FloatArray, FloatArray]:
        margins, stds = self.margins(mean), np.broadcast_to(std[..., None], (*std.shape, self._k))
        if not self.log:
            by_mean, by_std = slopes(margins, stds)
            return by_mean.mean(axis=-1), by_std.mean(axis=-1)
        logs = log_expectation(margins, stds)
        largest = logs.max(axis=-1, keepdims=True)
        shares = np.exp(logs - np.where(np.isneginf(largest), 0.0, largest))
        total = shares.sum(axis=-1, keepdims=True)
        shares = shares / np.where(total > 0.0, total, 1.0)
        by_mean, by_std = log_slopes(margins, stds)
        # A sample whose improvement is zero has no share, however steep its logarithm.
        parts = [np.where(shares > 0.0, shares * part, 0.0) for part in (by_mean, by_std)]
        return parts[0].sum(axis=-1), parts[1].sum(axis=-1)

    def _mean_at_level(self, std: FloatArray, level: FloatArray) -> FloatArray:
        """Return the lower end of a bisection between the least and the largest sample."""
        with np.errstate(divide="ignore"):
            wanted = level if self.log else np.log(np.maximum(level, 0.0))
        margin = margin_at_log_level(std, wanted)
        low, high = min(self.thresholds) + margin, max(self.thresholds) + margin
        bounded = np.isfinite(margin)
        low, high = np.where(bounded, low, 0.0), np.where(bounded, high, 0.0)
        for _ in range(HALVINGS):
            middle = 0.5 * low + 0.5 * high
            reached = self._log_score(middle, std) >= wanted
            low, high = np.where(reached, low, middle), np.where(reached, middle, high)
        return np.where(bounded, low, margin)

    @property
    def _k(self) -> int:
        return len(self.thresholds)


def mean_of_exponentials(logs: FloatArray) -> FloatArray:
    """Return the logarithm of the mean of what these (…, K) are logarithms of."""
    return np.asarray(logsumexp(logs, axis=-1)) - math.log(logs.shape[-1])
