r"""Affine bounds of the logarithm of a constrained improvement over boxes.

The logarithm is a sum of one term a part. With u = (m - t) / s, m the mean of a part (turned where
it must be small), s its std,

    log EI = log s + log h(u),        log P(c <= limit) = log Phi(u),

h as in `scores.base.normal`. log h and log Phi rise and are concave, so that with
g the derivative of G at u_0,

    G(u) <= G(u_0) + g (u - u_0),     log s <= log s_0 + (s - s_0) / s_0,

and a ratio is its tangent plane and a rest of second order: with mu = m - m_0 and d = s - s_0,

    u - u_0 = mu / s_0 - u_0 d / s_0 + d (u_0 d - mu) / (s_0 s).

Where improvement is nearly certain log s and log h(u) cancel, and the other way is closer: EI is
convex, so that over the ends of mean and std it is below its tangent plane and what the corners
exceed that by,

    log EI <= log EI_0 + (Phi(u_0) mu + phi(u_0) d + rest) / EI_0.

So every term is below a sum of mean and std, which the relaxer of its posterior bounds by an affine
function of the point. The affine functions are added before a box is bounded: where improvement
falls and feasibility rises by as much, nothing of first order is left. A term whose plane
says less at the center than its ends of mean and std counts by these.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import log_ndtr, ndtr

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.exact.bounds.planes import Conditions, conditions
from nnbo_mip.exact.bounds.relaxation import LinearBounds
from nnbo_mip.exact.bounds.row_relaxation import OutputBounds, Rows
from nnbo_mip.exact.heads.relaxers.moments import SCORE_ERROR
from nnbo_mip.exact.heads.relaxers.spreads import Spread, SpreadRelaxer
from nnbo_mip.exact.scores.level_lines import LevelLines
from nnbo_mip.exact.search.rounding import center_and_radius, gamma
from nnbo_mip.scores.base.normal import density, log_of_ratios, tail_ratios
from nnbo_mip.scores.functions.constrained import ConstrainedImprovement
from nnbo_mip.scores.functions.improvement import ExpectedImprovement, expectation, slopes
from nnbo_mip.scores.functions.probability import LogProbability
from nnbo_mip.scores.logarithms import LEAST_LOG

TANGENT_ERROR = 1e-11
"""Relative error of a tangent's value and slope, generously."""

FLATTEST = 1e-290
"""Stds below are not divided by."""


@dataclass(frozen=True, eq=False)
class _Term:
    """One part over B boxes: its ends, its largest logarithm, and the tangent that bounds it.

    ``term <= constant + mean_weight mean + std_weight std``, means as the posterior has them;
    all (B,).
    """

    bounded: OutputBounds
    spread: Spread
    largest: FloatArray
    constant: FloatArray
    mean_weight: FloatArray
    std_weight: FloatArray


class ConstrainedRelaxer:
    """Bounds the sum of the terms.

    Parameters
    ----------
    head : ConstrainedImprovement
        The logarithm.
    parts : sequence of (Rows, SpreadRelaxer)
        What bounds mean and std of each part.
    """

    def __init__(
        self, head: ConstrainedImprovement, parts: Sequence[tuple[Rows, SpreadRelaxer]]
    ) -> None:
        self.head, self._parts = head, parts
        self.depth = max(rows.depth for rows, _ in parts)
        self.is_useful = all(rows.is_useful for rows, _ in parts)
        lengths = [spreads.lengths for _, spreads in parts if spreads.lengths is not None]
        self.lengths = np.min(lengths, axis=0) if lengths else None

    def floats_per_box(self) -> int:
        """Float64 values held for one box."""
        return sum(rows.floats_per_box() for rows, _ in self._parts)

    def bound(
        self, lower: FloatArray, upper: FloatArray, level: float, slope_steps: int
    ) -> Conditions:
        """Return conditions for scores above a level over boxes (d, B)."""
        terms = [
            self._term(rows, spreads, head, sign, lower, upper, slope_steps)
            for (rows, spreads), head, sign in zip(
                self._parts, self.head.of_parts, self.head.signs, strict=True
            )
        ]
        with np.errstate(all="ignore"):
            planes, constants = self._planes(terms, lower, upper, slope_steps)
            total = _summed(planes, constants, lower, upper)
            scores = np.sum([term.largest for term in terms], axis=0)
            scores = np.fmin(scores, total.bound)
            scores = np.maximum(scores, LEAST_LOG)  # as the values that are searched
            scores = scores + SCORE_ERROR * (np.abs(scores) + 1.0)
            if not self.head.thresholds:
                scores = np.minimum(scores, 0.0)
        return conditions(total, np.full(lower.shape[1], level), scores)

    def _term(
        self,
        rows: Rows,
        spreads: SpreadRelaxer,
        head: ExpectedImprovement | LogProbability,
        sign: float,
        lower: FloatArray,
        upper: FloatArray,
        slope_steps: int,
    ) -> _Term:
        bounded = rows.bound_outputs(lower, upper)
        spread = spreads.spread(bounded)
        zero, one = np.zeros(lower.shape[1]), np.ones(lower.shape[1])
        most, least = (
            spread.carried(rows, bounded, LevelLines(way * one, zero, zero), slope_steps).bound
            for way in (sign, -sign)
        )
        with np.errstate(all="ignore"):
            return _tangent(bounded, spread, head, sign, -least, most)

    def _planes(
        self, terms: Sequence[_Term], lower: FloatArray, upper: FloatArray, slope_steps: int
    ) -> tuple[list[LinearBounds], FloatArray]:
        """Return an affine bound of each term, and what is added to their sum."""
        center, _ = center_and_radius(lower, upper)
        planes, constants = [], np.zeros(lower.shape[1])
        for (rows, _), term in zip(self._parts, terms, strict=True):
            lines = LevelLines(term.mean_weight, term.std_weight, np.zeros(lower.shape[1]))
            plane = term.spread.carried(rows, term.bounded, lines, slope_steps)
            at_center = plane.constant + (plane.slopes * center).sum(axis=0) + term.constant
            good = np.isfinite(at_center) & np.isfinite(plane.slopes).all(axis=0)
            good &= at_center < term.largest
            planes.append(
                LinearBounds(
                    np.where(good, plane.slopes, 0.0),
                    np.where(good, plane.constant, 0.0),
                    np.where(good, plane.bound, 0.0),
                    None if plane.loose is None else np.where(good, plane.loose, 0.0),
                )
            )
            constants = constants + np.where(good, term.constant, term.largest)
        return planes, constants


def _tangent(
    bounded: OutputBounds,
    spread: Spread,
    head: ExpectedImprovement | LogProbability,
    sign: float,
    bottom: FloatArray,
    top: FloatArray,
) -> _Term:
    """Return the term of a part whose turned mean lies between ends (B,)."""
    threshold = head.threshold
    low, high = spread.low, spread.high
    largest = head.largest(
        np.where(np.isnan(top), np.inf, top), low, np.where(np.isnan(high), np.inf, high)
    )
    largest = largest + SCORE_ERROR * (np.abs(largest) + 1.0)
    s, m = 0.5 * low + 0.5 * high, 0.5 * bottom + 0.5 * top
    s = np.maximum(s, FLATTEST)
    wide, off = np.maximum(high - s, s - low), np.maximum(top - m, m - bottom)
    u = (m - threshold) / s
    value, slope = (_log_improvement if isinstance(head, ExpectedImprovement) else _log_phi)(u)
    rest = wide * (np.maximum(u, 0.0) * wide + off) / (s * low)
    by_std = -slope * u / s
    if isinstance(head, ExpectedImprovement):
        value, by_std = value + np.log(s), by_std + 1.0 / s
    by_mean, rest = slope / s, slope * rest
    if isinstance(head, ExpectedImprovement):
        ends = (bottom - threshold, top - threshold), (low, high)
        plane = _plane_of_improvement(m - threshold, s, *ends)
        nearer = plane[2] < rest
        by_mean, by_std, rest, value = (
            np.where(nearer, new, old)
            for new, old in zip(plane, (by_mean, by_std, rest, value), strict=True)
        )
    sizes = np.abs(value) + rest + by_mean * (np.abs(m) + abs(threshold) + off) + 1.0
    sizes = sizes + np.abs(by_std) * (s + high) + np.abs(u) * slope * wide / s
    constant = value + rest - by_mean * m - by_std * s
    constant = constant + TANGENT_ERROR * sizes
    return _Term(bounded, spread, largest, constant, sign * by_mean, by_std)


def _plane_of_improvement(
    margin: FloatArray,
    std: FloatArray,
    margins: tuple[FloatArray, FloatArray],
    stds: tuple[FloatArray, FloatArray],
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return slopes of log EI by mean and std, what the corners exceed the plane by, and log EI."""
    center = expectation(margin, std)
    by_margin, by_std = slopes(margin, std)
    over = [
        expectation(m, s) - center - by_margin * (m - margin) - by_std * (s - std)
        for m in margins
        for s in stds
    ]
    rest = np.maximum(np.max(over, axis=0), 0.0) / center
    rest = np.where(np.isfinite(rest), rest, np.inf)
    return by_margin / center, by_std / center, rest, np.log(center)


def _log_improvement(u: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return log h(u) and its derivative Phi(u) / h(u)."""
    a = np.abs(u)
    mills, excess, _ = tail_ratios(a)
    below = log_of_ratios(a, mills, excess), 1.0 / excess
    value = np.maximum(u, 0.0) + density(a) * mills * excess
    above = np.log(value), ndtr(a) / value
    return np.where(u > 0.0, above[0], below[0]), np.where(u > 0.0, above[1], below[1])


def _log_phi(u: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return log Phi(u) and its derivative phi(u) / Phi(u)."""
    mills, _, _ = tail_ratios(np.maximum(-u, 0.0))
    above = density(np.maximum(u, 0.0)) / ndtr(np.maximum(u, 0.0))
    return np.asarray(log_ndtr(u)), np.where(u > 0.0, above, 1.0 / mills)


def _summed(
    planes: Sequence[LinearBounds], constants: FloatArray, lower: FloatArray, upper: FloatArray
) -> LinearBounds:
    """Return the sum of planes and constants, and its largest value over the boxes."""
    slopes = np.sum([plane.slopes for plane in planes], axis=0)
    constant = constants + np.sum([plane.constant for plane in planes], axis=0)
    sizes = np.abs(constants) + np.sum([np.abs(plane.constant) for plane in planes], axis=0)
    reach = np.maximum(np.abs(lower), np.abs(upper))
    along = np.sum([np.abs(plane.slopes) * reach for plane in planes], axis=(0, 1))
    error = gamma(8 * (len(lower) + len(planes) + 4)) * (sizes + along)
    constant = constant + error
    corner = np.where(slopes > 0.0, upper, lower)
    bound = constant + (slopes * corner).sum(axis=0) + error
    apart = constants + np.sum([plane.bound for plane in planes], axis=0) + error
    loose = [plane.loose for plane in planes if plane.loose is not None]
    return LinearBounds(
        slopes, constant, np.fmin(bound, apart), np.sum(loose, axis=0) if loose else None
    )
