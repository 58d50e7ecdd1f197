"""What a head is: pure numbers that turn outputs of a belief into a score to maximize."""

from __future__ import annotations

import abc
import math
from collections.abc import Callable
from enum import StrEnum
from typing import ClassVar, Protocol

import numpy as np
import numpy.typing as npt

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.errors import InputError
from nnbo_mip.core.terms import Measure
from nnbo_mip.network.graph.graph import Network

STEEPEST = 1e150
"""Derivatives are cut off here, so that the chain rule stays among the finite numbers."""


class Shape(StrEnum):
    """Which proof applies to a head."""

    LINEAR = "linear"
    """Affine in mean and std."""
    CONVEX = "convex"
    """Convex and rising in (mean, std), or a rising function of such a score (log EI)."""
    RATIO = "ratio"
    """A rising function of (mean - threshold) / std."""
    EMPIRICAL = "empirical"
    """An average over members of a rising function of each."""
    MIXTURE = "mixture"
    """A score of the components of a mixture: nothing is proven about it."""
    BOXES = "boxes"
    """None of these: bounds over boxes from `MomentHead.largest` alone."""


class Trend(StrEnum):
    """How a score changes with one of its arguments while the other stays."""

    RISING = "rising"
    FALLING = "falling"
    CONSTANT = "constant"
    TURNING = "turning"
    """Rising where mean <= threshold, falling above."""
    MIXED = "mixed"
    """Neither; `MomentHead.largest` bounds what can be bounded apart."""


MomentSlopes = Callable[[FloatArray, FloatArray], tuple[FloatArray, FloatArray]]
"""From mean and std (n,) to the derivatives (n,) of a function by them."""


class Posterior(Protocol):
    """What a head reads at points, and how its slopes are carried on to them."""

    def moments(self, X: npt.ArrayLike, /) -> tuple[FloatArray, FloatArray]:
        """Return mean and std (n,) at points (n, d)."""

    def members(self, X: npt.ArrayLike, /) -> FloatArray:
        """Return the members' predictions (n, M) at points (n, d)."""


class Differentiable(Posterior, Protocol):
    """A posterior that knows its slopes."""

    def pull_moments(self, X: FloatArray, slopes: MomentSlopes, /) -> FloatArray:
        """Return the gradients (n, d) of a function of mean and std at points (n, d)."""

    def pull_members(self, X: FloatArray, weights: FloatArray, /) -> FloatArray:
        """Return the sums (n, d) of the members' gradients with weights (n, M)."""

    def tangent_of_moments(self, X: FloatArray, slopes: MomentSlopes, /) -> Network:
        """Return a network of one output with the slopes of `pull_moments` at a point (1, d)."""

    def tangent_of_members(self, X: FloatArray, weights: FloatArray, /) -> Network:
        """Return a network of one output with the slopes of `pull_members` at a point (1, d)."""


class Head(abc.ABC):
    """A score of the outputs of a belief; frozen, and ignorant of beliefs."""

    shape: ClassVar[Shape]

    @property
    def name(self) -> str:
        """What acquisitions call it."""
        return type(self).__name__.removesuffix("Head").lower()

    @property
    def largest_score(self) -> float:
        """No score is larger, in real arithmetic."""
        return math.inf

    @property
    def reads_std(self) -> bool:
        """Whether a std has any influence."""
        return False

    @property
    def logarithm(self) -> Head | None:
        """The head whose value is the logarithm of this one, if a search compares that."""
        return None

    @property
    def is_logarithm(self) -> bool:
        """Whether it is the `logarithm` of another one."""
        return False

    @property
    def searched(self) -> Head:
        """The head whose values a search compares: a rising function of the scores."""
        return self.logarithm or self

    @property
    def measure(self) -> Measure:
        """What the gap between a score and a bound is, and when it counts as closed."""
        if self.is_logarithm:
            return Measure.LOGARITHM
        return Measure.SCORE if self.logarithm is None else Measure.RELATIVE

    def score_at(self, posterior: Posterior, X: npt.ArrayLike) -> FloatArray:
        """Return the scores (n,) of what a posterior is at points (n, d)."""
        raise self.unread()

    def gradient_at(self, posterior: Differentiable, X: FloatArray) -> FloatArray:
        """Return the gradients (n, d) of `score_at` at points (n, d)."""
        raise self.unread()

    def tangent_at(self, posterior: Differentiable, X: FloatArray) -> Network:
        """Return a network of one output that has the slopes of `score_at` at a point (1, d)."""
        raise self.unread()

    def unread(self) -> InputError:
        """Return the error of a head that nothing can be read for."""
        return InputError(
            f"a head must read moments or members; got a {type(self).__name__}; derive it "
            "from MomentHead or MemberHead."
        )


class MomentHead(Head):
    """A head that reads mean and std.

    Notes
    -----
    `mean` and `std` are arrays of one shape, or broadcast to one; std >= 0. What is NaN or a
    negative std raises `InputError`. Nothing warns: overflow ends at infinity.
    """

    shape: ClassVar[Shape] = Shape.BOXES

    mean_trend: ClassVar[Trend] = Trend.RISING

    @property
    @abc.abstractmethod
    def std_trend(self) -> Trend:
        """How the score changes with the std."""

    @property
    def reads_std(self) -> bool:
        """Whether the std has any influence."""
        return self.std_trend is not Trend.CONSTANT

    def score(self, mean: npt.ArrayLike, std: npt.ArrayLike) -> FloatArray:
        """Return the scores of means and stds."""
        with np.errstate(over="ignore"):
            return self._score(*checked_moments(mean, std))

    def gradient(self, mean: npt.ArrayLike, std: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Return the derivatives of the score by mean and by std, each at most `STEEPEST`."""
        with np.errstate(over="ignore"):
            by_mean, by_std = self._gradient(*checked_moments(mean, std))
        return np.clip(by_mean, -STEEPEST, STEEPEST), np.clip(by_std, -STEEPEST, STEEPEST)

    def score_at(self, posterior: Posterior, X: npt.ArrayLike) -> FloatArray:
        """Return the scores (n,) of mean and std at points (n, d)."""
        return self.score(*posterior.moments(X))

    def gradient_at(self, posterior: Differentiable, X: FloatArray) -> FloatArray:
        """Return the gradients (n, d) of the scores at points (n, d)."""
        return posterior.pull_moments(X, self.gradient)

    def tangent_at(self, posterior: Differentiable, X: FloatArray) -> Network:
        """Return a network of one output that has the slopes of the score at a point (1, d)."""
        return posterior.tangent_of_moments(X, self.gradient)

    def mean_at_level(self, std: npt.ArrayLike, level: npt.ArrayLike) -> FloatArray:
        """Return, for each std, the mean from which on the score reaches a level.

        Infinite where every mean reaches it (-inf) or none does (+inf).
        """
        std, level = checked_moments(level, std)[::-1]
        with np.errstate(over="ignore"):
            return self._mean_at_level(std, level)

    def largest(
        self, mean: npt.ArrayLike, std_low: npt.ArrayLike, std_high: npt.ArrayLike
    ) -> FloatArray:
        """Return an upper bound of the scores up to a mean and with a std in an interval.

        The largest of them, unless `std_trend` is mixed.
        """
        low, high = np.asarray(std_low, dtype=np.float64), np.asarray(std_high, dtype=np.float64)
        return self.score(mean, low if self.std_trend is Trend.FALLING else high)

    @abc.abstractmethod
    def _score(self, mean: FloatArray, std: FloatArray) -> FloatArray:
        """Return scores."""

    @abc.abstractmethod
    def _gradient(self, mean: FloatArray, std: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return derivatives by mean and by std, possibly infinite, never NaN."""

    @abc.abstractmethod
    def _mean_at_level(self, std: FloatArray, level: FloatArray) -> FloatArray:
        """Return the least mean that reaches the level."""


class RatioHead(MomentHead):
    """A rising function F of u = (mean - threshold) / std."""

    shape = Shape.RATIO
    threshold: float

    @abc.abstractmethod
    def of_margin(self) -> RatioHead:
        """Return the same head of the margin, mean less threshold: its own threshold is 0."""

    @property
    def std_trend(self) -> Trend:
        """Rising while the mean is below the threshold, falling above."""
        return Trend.TURNING

    @abc.abstractmethod
    def ratio_at_level(self, level: float) -> float:
        """Return the t such that score >= level exactly where mean - threshold - t std >= 0.

        -inf where every point reaches the level, +inf where none does.
        """

    def largest(
        self, mean: npt.ArrayLike, std_low: npt.ArrayLike, std_high: npt.ArrayLike
    ) -> FloatArray:
        """Return the largest score up to a mean and with a std in an interval."""
        mean = np.asarray(mean, dtype=np.float64)
        return self.score(mean, np.where(mean <= self.threshold, std_high, std_low))

    def _mean_at_level(self, std: FloatArray, level: FloatArray) -> FloatArray:
        levels, places = np.unique(level, return_inverse=True)
        ratios = np.array([self.ratio_at_level(float(one)) for one in levels])[places]
        # An infinite ratio holds at std = 0 as well.
        steps = np.where(np.isfinite(ratios), std, 1.0) * ratios
        return np.asarray(self.threshold + steps)


class MemberHead(Head):
    """A head that reads the predictions (n, M) of members, and rises in each of them."""

    shape = Shape.EMPIRICAL

    def score(self, members: npt.ArrayLike) -> FloatArray:
        """Return the scores (n,) of predictions (n, M)."""
        return self._score(self._check(members))

    def gradient(self, members: npt.ArrayLike) -> FloatArray:
        """Return the derivatives (n, M) of the score by each prediction."""
        return self._gradient(self._check(members))

    def climbing_slopes(self, members: FloatArray) -> FloatArray:
        """Return what to climb by (n, M): the derivatives, or others where those vanish."""
        return self.gradient(members)

    def score_at(self, posterior: Posterior, X: npt.ArrayLike) -> FloatArray:
        """Return the scores (n,) of the members at points (n, d)."""
        return self.score(posterior.members(X))

    def gradient_at(self, posterior: Differentiable, X: FloatArray) -> FloatArray:
        """Return what to climb by (n, d) at points (n, d)."""
        return posterior.pull_members(X, self.climbing_slopes(posterior.members(X)))

    def tangent_at(self, posterior: Differentiable, X: FloatArray) -> Network:
        """Return a network of one output with the slopes of `gradient_at` at a point (1, d)."""
        return posterior.tangent_of_members(X, self.climbing_slopes(posterior.members(X)))

    @abc.abstractmethod
    def _score(self, members: FloatArray) -> FloatArray:
        """Return scores."""

    @abc.abstractmethod
    def _gradient(self, members: FloatArray) -> FloatArray:
        """Return derivatives."""

    @staticmethod
    def _check(members: npt.ArrayLike) -> FloatArray:
        values = np.asarray(members, dtype=np.float64)
        if values.ndim != 2 or not values.shape[1] or np.isnan(values).any():
            raise InputError(
                "members must be numbers of shape (n, M), one column a member; got shape "
                f"{values.shape}{' with NaN' if np.isnan(values).any() else ''}; mend the belief."
            )
        return values


class MixtureHead(Head):
    """A head that reads the weights, means and stds (n, K) of a mixture of normal components.

    Notes
    -----
    A score does not fall where a mean rises.
    """

    shape = Shape.MIXTURE

    def score(
        self, weights: npt.ArrayLike, means: npt.ArrayLike, stds: npt.ArrayLike
    ) -> FloatArray:
        """Return the scores (n,) of mixtures."""
        with np.errstate(over="ignore"):
            return self._score(*self._check(weights, means, stds))

    def gradient(
        self, weights: npt.ArrayLike, means: npt.ArrayLike, stds: npt.ArrayLike
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the derivatives (n, K) by weights, means and stds, each at most `STEEPEST`."""
        with np.errstate(over="ignore"):
            slopes = self._gradient(*self._check(weights, means, stds))
        by_weight, by_mean, by_std = (np.clip(one, -STEEPEST, STEEPEST) for one in slopes)
        return by_weight, by_mean, by_std

    @abc.abstractmethod
    def _score(self, weights: FloatArray, means: FloatArray, stds: FloatArray) -> FloatArray:
        """Return scores."""

    @abc.abstractmethod
    def _gradient(
        self, weights: FloatArray, means: FloatArray, stds: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return derivatives by weights, means and stds, never NaN."""

    @staticmethod
    def _check(
        weights: npt.ArrayLike, means: npt.ArrayLike, stds: npt.ArrayLike
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        shares = np.asarray(weights, dtype=np.float64)
        middles, widths = checked_moments(means, stds)
        same = shares.ndim == 2 and shares.shape == middles.shape and shares.shape[1] > 0
        if not same or not (shares >= 0.0).all():
            raise InputError(
                "a mixture must have weights >= 0, means and stds of one shape (n, K), one column "
                f"a component; got shapes {shares.shape} and {middles.shape}"
                f"{' with NaN or a negative weight' if same else ''}; mend the belief."
            )
        return shares, middles, widths


def standardized(margin: FloatArray, std: FloatArray) -> FloatArray:
    """Return margin / std; at std = 0 its limit, infinite with the sign of the margin, or 0."""
    sure = std == 0.0
    limit = np.where(margin == 0.0, 0.0, np.copysign(np.inf, margin))
    return np.where(sure, limit, margin / np.where(sure, 1.0, std))


def checked_moments(mean: npt.ArrayLike, std: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Return both as arrays of one shape."""
    means, stds = np.broadcast_arrays(
        np.asarray(mean, dtype=np.float64), np.asarray(std, dtype=np.float64)
    )
    if np.isnan(means).any() or not (stds >= 0.0).all():
        raise InputError(
            "a head must be given numbers and stds >= 0; got NaN or a negative std; mend the "
            "belief, or cut lower bounds of the std at 0."
        )
    return means, stds
