r"""Affine bounds of the std over boxes, as sums of the network's outputs.

For each box a `Spread` holds proven ends of the std, and turns a weight w of either sign into
a sum of outputs that is at least ``w std`` on the box. The sum is relaxed together with the
mean, so that what they share cancels.

*An output c, std = phi(max(c, 0))* (`LineSpread`): two lines round phi on the ends of c. phi is the
identity, or the curve of a `SmoothPosterior`, which rises and is concave: a tangent above, a chord
below. As they rise, max(c, 0) may be replaced in them by the lines of a ReLU, above and below.

*std^2 = |R psi|^2 + noise^2* (`QuadraticSpread`), psi outputs. With psi_0 the middle of psi at
the center of the box, v = R psi_0 and g = R^T v,

    |R psi|^2 = 2 g . psi - |v|^2 + |R psi - v|^2,       |R psi - v| <= rho,
    rho = sqrt(sum_ij |(J^T R^T R J)_ij| r_i r_j) + |R| |off|,

J the slopes of the middle forms, r the radius of the box and off how far psi may be from its
forms; rho is of the order of the box, so that only its square, of second order, is lost from
above. The tangent of the root at s_0^2 = |v|^2 + rho^2 + noise^2 gives the std from above,

    std <= (|R psi|^2 + noise^2 + s_0^2) / (2 s_0),

and the inequality of Cauchy and Schwarz the std from below,

    std sqrt(|v|^2 + noise^2) >= g . psi + noise^2.

Members are of this form, R taking their mean off; under ``variance`` the first line is the
spread itself, and noise is added by a chord or a tangent.
"""

from __future__ import annotations

import abc
from dataclasses import dataclass
from functools import singledispatch

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.budget import reserve
from nnbo_mip.core.errors import UnsupportedError
from nnbo_mip.exact.bounds.relaxation import LinearBounds
from nnbo_mip.exact.bounds.row_relaxation import OutputBounds, Rows
from nnbo_mip.exact.scores.level_lines import LevelLines
from nnbo_mip.exact.search.rounding import gamma
from nnbo_mip.network.graph.graph import Network
from nnbo_mip.scores.posteriors.compiled import (
    MembersPosterior,
    PlainPosterior,
    Posterior,
    QuadraticPosterior,
    SmoothPosterior,
)
from nnbo_mip.scores.posteriors.tanh import TanhFeatures, TanhMembers

ROUNDING = 1e-14
"""Relative error of the few operations that make a line."""

TINY = 1e-300

UNDERFLOW = 1e-150
"""More than the root of what squares lose by underflow."""

Sum = tuple[FloatArray, FloatArray]
"""Weights (B, m) of the outputs, and constants (B,)."""


class Spread(abc.ABC):
    """Bounds of the std on B boxes.

    Parameters
    ----------
    low, high : (B,) arrays
        Ends of the std, low >= 0.
    """

    low: FloatArray
    high: FloatArray

    @abc.abstractmethod
    def above(self, weights: FloatArray) -> Sum:
        """Return sums of outputs that are at least ``weights * std`` on the boxes."""

    def carried(
        self, rows: Rows, bounded: OutputBounds, lines: LevelLines, slope_steps: int
    ) -> LinearBounds:
        """Bound the sums of mean and std that lines weigh, relaxed together."""
        made, constants = self.above(lines.std_weight)
        return rows.carry(bounded, lines.mean_weight, made, constants, lines.limit, slope_steps)


class SpreadRelaxer(abc.ABC):
    """Makes spreads of a posterior."""

    outputs: tuple[str, ...]
    """The outputs of a network that are read; none where the rows are those of a posterior."""

    lengths: FloatArray | None = None
    """In which the widths of boxes (d,) are compared; None: those of the domain."""

    why_not: str = ""
    """Why nothing can be bounded after all, in a sentence; empty where something can."""

    @abc.abstractmethod
    def spread(self, bounded: OutputBounds) -> Spread:
        """Bound the std over boxes."""


@dataclass(frozen=True, eq=False)
class LineSpread(Spread):
    """Lines round a function of one output; all (B,)."""

    low: FloatArray
    high: FloatArray
    upper_slope: FloatArray
    upper_constant: FloatArray
    lower_slope: FloatArray
    lower_constant: FloatArray

    def above(self, weights: FloatArray) -> Sum:
        """Return the upper line where the weight is positive, the lower one elsewhere."""
        rising = weights > 0.0
        slope = weights * np.where(rising, self.upper_slope, self.lower_slope)
        constant = weights * np.where(rising, self.upper_constant, self.lower_constant)
        return slope[:, None], constant + ROUNDING * np.abs(constant)


class PositivePart(SpreadRelaxer):
    """The std is the positive part of the output ``std``."""

    outputs = ("std",)

    def spread(self, bounded: OutputBounds) -> Spread:
        """Draw the lines of a ReLU."""
        low, high = bounded.ends(0)
        slope, offset, flat = relu_lines(low, high)
        ends = np.maximum(low, 0.0), np.maximum(high, 0.0)
        return LineSpread(*ends, slope, offset, flat, np.zeros_like(low))


def relu_lines(low: FloatArray, high: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return ``slope, offset, flat`` with ``flat c <= max(c, 0) <= slope c + offset``.

    All (B,), for c between `low` and `high`; what slopes lose by a rounding is in the offset.
    """
    crossing = (low < 0.0) & (high > 0.0)
    active = (low >= 0.0).astype(np.float64)
    slope = np.where(crossing, high / np.where(crossing, high - low, 1.0), active)
    offset = np.where(crossing, ROUNDING * high - slope * low, 0.0)
    return slope, offset, np.where(crossing, (high > -low).astype(np.float64), active)


class SmoothPart(SpreadRelaxer):
    """The std is a concave function of the positive part of the output ``relu_raw``."""

    outputs = ("relu_raw",)

    def __init__(self, posterior: SmoothPosterior) -> None:
        self._posterior = posterior
        self._is_positive = is_sum_of_units(posterior.network, "relu_raw")

    def spread(self, bounded: OutputBounds) -> Spread:
        """Draw a tangent above and a chord below, of the lines of a ReLU."""
        read, (low, high) = self._posterior, bounded.ends(0)
        if self._is_positive:
            low = np.maximum(low, 0.0)
            high = np.maximum(high, low)
        relu, relu_offset, flat = relu_lines(low, high)
        low, high = np.maximum(low, 0.0), np.maximum(high, 0.0)
        at_low, at_high = read.std_of(low), read.std_of(high)
        at = 0.5 * low + 0.5 * high
        tangent, at_middle = read.slope_of(at), read.std_of(at)
        wide = high > low
        chord = np.where(wide, (at_high - at_low) / np.where(wide, high - low, 1.0), 0.0)
        below = np.minimum(at_low - chord * low, at_high - chord * high)
        above = at_middle - tangent * at + tangent * relu_offset
        return LineSpread(
            at_low * (1.0 - ROUNDING),
            at_high * (1.0 + ROUNDING),
            tangent * relu,
            above + ROUNDING * (at_middle + 2.0 * tangent * high),
            chord * flat,
            below - ROUNDING * (at_high + chord * high),
        )


def is_sum_of_units(network: Network, output: str) -> bool:
    """Whether an output is a sum of ReLUs with weights, and a constant, that are not negative."""
    row = network.head.rows([network.output_index(output)])
    rows = [row.dense(k) if k > 0 else -np.abs(row.dense(k)) for k in row.terms]
    return bool(row.bias[0] >= 0.0) and all(bool((weights >= 0.0).all()) for weights in rows)


@dataclass(frozen=True, eq=False)
class QuadraticSpread(Spread):
    """``|R psi|^2`` between two sums of the outputs; ``unit`` divides it under variance."""

    low: FloatArray
    high: FloatArray
    toward: FloatArray  # (B, m), g
    length: FloatArray  # (B,), |v|
    reach: FloatArray  # (B,), rho
    error: FloatArray  # (B,), of g . psi
    noise: float
    unit: float | None

    def above(self, weights: FloatArray) -> Sum:
        """Return the sum that fits the sign of the weight."""
        rising = weights > 0.0
        parts = self._variance_lines() if self.unit is not None else self._root_lines()
        (up, up_constant), (down, down_constant) = parts
        slope = weights * np.where(rising, up, down)
        constant = weights * np.where(rising, up_constant, down_constant)
        constant = constant + np.abs(slope) * self.error + ROUNDING * np.abs(constant)
        return slope[:, None] * self.toward, constant

    def _root_lines(self) -> tuple[Sum, Sum]:
        """Return slopes and constants in g . psi above and below the root."""
        noise, square, lost = self.noise**2, self.length**2, self.reach**2
        at = np.sqrt(square + lost + noise) + TINY
        up = 0.5 * (lost - square + noise + at**2) / at
        up = up + ROUNDING * (lost + square + noise) / at
        below = np.hypot(self.length, self.noise)
        safe = np.where(below > TINY, below, np.inf)
        down = noise / safe - ROUNDING * (noise + square) / safe
        return (1.0 / at, up), (1.0 / safe, down)

    def _variance_lines(self) -> tuple[Sum, Sum]:
        """Return slopes and constants in g . psi above and below the variance with its noise."""
        assert self.unit is not None
        square, lost, unit, noise = self.length**2, self.reach**2, self.unit, self.noise
        least = np.maximum(self.length - self.reach, 0.0) ** 2 / unit
        most = (self.length + self.reach) ** 2 / unit
        at_least, at_most = np.hypot(least, noise), np.hypot(most, noise)
        wide = most > least
        chord = np.where(wide, (at_most - at_least) / np.where(wide, most - least, 1.0), 1.0)
        chord_constant = np.maximum(at_least - chord * least, at_most - chord * most)
        middle = square / unit
        at_middle = np.hypot(middle, noise)
        safe = np.where(at_middle > TINY, at_middle, 1.0)
        tangent = np.where(at_middle > TINY, middle / safe, 0.0)
        sizes = ROUNDING * (at_most + most + square / unit)
        up = chord_constant + chord * (lost - square) / unit + sizes
        down = at_middle - tangent * middle - tangent * square / unit - sizes
        return (2.0 * chord / unit, up), (2.0 * tangent / unit, down)


class QuadraticPart(SpreadRelaxer):
    """The std is the length of ``root @ psi``, with noise.

    Parameters
    ----------
    outputs : sequence of str
        psi.
    root : (r, m) array
    noise : float
    unit : float or None
        If given, the spread is the square of the length, divided by it.
    """

    def __init__(
        self, outputs: tuple[str, ...], root: FloatArray, noise: float, unit: float | None
    ) -> None:
        self.outputs, self.noise, self.unit = outputs, noise, unit
        size = float(len(root.T))
        reserve(f"a spread of {size:.0f} terms", 40.0 * size**2, 11.0 * size**3)  # for an svd
        self._root = np.ascontiguousarray(root.T)
        gram = root.T @ root
        rounding = gamma(4 * sum(root.shape)) * float(np.abs(root).sum() ** 2)
        largest = float(np.linalg.norm(gram, 2))
        self._norm = float(np.sqrt(largest * (1.0 + 1e-9) + rounding))

    def spread(self, bounded: OutputBounds) -> Spread:
        """Bound the length; see the module."""
        batch, d, m = bounded.slopes.shape
        root, error = self._root, self._error(bounded)
        v = bounded.at_center @ root
        slopes = (bounded.slopes.reshape(batch * d, m) @ root).reshape(batch, d, -1)
        products = np.abs(slopes @ slopes.transpose(0, 2, 1))
        radius = bounded.radius.T
        linear = np.einsum("bi,bij,bj->b", radius, products, radius)
        off = np.sqrt(np.square(bounded.off).sum(axis=1))
        reach = (np.sqrt(linear) + self._norm * off) * (1.0 + 1e-9) + error
        length = np.sqrt(np.square(v).sum(axis=1))
        low, high = np.maximum(length - reach, 0.0), length + reach
        if self.unit is not None:
            low, high = low**2 / self.unit, high**2 / self.unit
        return QuadraticSpread(
            np.hypot(low, self.noise) * (1.0 - ROUNDING),
            np.hypot(high, self.noise) * (1.0 + ROUNDING),
            v @ root.T,
            length,
            reach,
            error * (length + error),
            self.noise,
            self.unit,
        )

    def _error(self, bounded: OutputBounds) -> float:
        """Bound the rounding of products with the root, and of the root itself."""
        r = self._root.shape[1]
        sizes = bounded.magnitudes @ np.abs(self._root)
        return (
            float(gamma(8 * (len(bounded.magnitudes) + r + 8)) * np.linalg.norm(sizes)) + UNDERFLOW
        )


# -- by kind of posterior -------------------------------------------------------------


@singledispatch
def spread_relaxer(posterior: Posterior) -> SpreadRelaxer:
    """Return what bounds the std of a posterior; one more kind registers its own."""
    raise UnsupportedError(no_spread(posterior))


def no_spread(posterior: Posterior) -> str:
    """Return why the std of a posterior has no bounds, in a sentence; empty where it has."""
    if spread_relaxer.dispatch(type(posterior)) is not spread_relaxer.dispatch(object):
        return ""
    return f"the std of a {type(posterior).__name__} has no bounds over boxes."


@spread_relaxer.register
def _of_plain(posterior: PlainPosterior) -> SpreadRelaxer:
    return PositivePart()


@spread_relaxer.register
def _of_smooth(posterior: SmoothPosterior) -> SpreadRelaxer:
    return SmoothPart(posterior)


@spread_relaxer.register
def _of_members(posterior: MembersPosterior) -> SpreadRelaxer:
    return _about_the_mean(posterior, posterior.names, len(posterior.names))


@spread_relaxer.register
def _of_tanh_members(posterior: TanhMembers) -> SpreadRelaxer:
    return _about_the_mean(posterior, (), len(posterior.offset) - 1)


@spread_relaxer.register
def _of_features(posterior: QuadraticPosterior) -> SpreadRelaxer:
    return QuadraticPart(posterior.names, posterior.root, posterior.noise, None)


@spread_relaxer.register
def _of_tanh_features(posterior: TanhFeatures) -> SpreadRelaxer:
    return QuadraticPart((), posterior.root, posterior.noise, None)


def _about_the_mean(
    posterior: MembersPosterior | TanhMembers, names: tuple[str, ...], count: int
) -> QuadraticPart:
    root = (np.eye(count) - 1.0 / count) / np.sqrt(count)
    unit = posterior.variance_unit if posterior.spread == "variance" else None
    return QuadraticPart(names, root, posterior.noise, unit)
