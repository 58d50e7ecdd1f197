r"""Bounds of the logarithm of a constrained improvement on Gaussian processes, to check claims.

Every factor is G(u) = log h(u) or log Phi(u) of u = (m - t) / s, with log s beside the first; m is
the mean of a process whose values are turned where they must be small. G rises and is concave, so
for any u_0, with g = G'(u_0) and w = m - t - u_0 s,

    G(u) <= G(u_0) + g (u - u_0) = G(u_0) + g w / s <= G(u_0) + g max(w / s_low, w / s_high),

which rises in w and is convex. w is below an affine function of the point, and log s below a line
of s, which is below a convex function. Where improvement is nearly certain, so that log s and
log h(u) cancel, log EI <= log EI_0 + EI / EI_0 - 1 is closer, EI of what is above mean and std.
So all terms have convex functions above them, whose sum decides at the vertices. A term whose
function is nowhere below what its ends of mean and std say is taken as that constant.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.special import log_ndtr, ndtr

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.exact.checking.heads.correlations import Correlations
from nnbo_mip.exact.checking.heads.excess import log_score_above, score_above
from nnbo_mip.exact.checking.heads.outputs import RELATIVE, BoundedBoxes
from nnbo_mip.exact.checking.heads.process import Process
from nnbo_mip.exact.checking.heads.process_stds import AffineStd, ConvexStd, ProcessBounds
from nnbo_mip.exact.checking.heads.scores import SCORE_ERROR, ScoreBounder, score_interval
from nnbo_mip.scores.base.normal import density, improvement
from nnbo_mip.scores.functions.constrained import ConstrainedImprovement
from nnbo_mip.scores.functions.improvement import ExpectedImprovement, expectation, log_expectation
from nnbo_mip.scores.posteriors.joint import JointPosterior
from nnbo_mip.scores.posteriors.process import ProcessPosterior
from nnbo_mip.space.domain import Domain

SLOPE_ERROR = 1e-10
"""Relative error of g, generously; it is made larger where w > 0 and smaller elsewhere."""

FARTHEST = 30.0
"""No u_0 is further from 0, where h and Phi are far from underflow."""


class ConstrainedScore(ScoreBounder):
    """The score of a `ConstrainedImprovement`, or its logarithm.

    Parameters
    ----------
    head : ConstrainedImprovement
    processes : tuple of Process
        Of the parts, turned where they must be small.
    """

    def __init__(self, head: ConstrainedImprovement, processes: tuple[Process, ...]) -> None:
        self.head, self.processes = head, processes
        self.heads = head.of_parts

    @property
    def unit(self) -> FloatArray:
        """The shortest length-scales, in units of the inputs."""
        read = [process.posterior for process in self.processes]
        return np.asarray(np.min([one.length_scale * one.x_scale for one in read], axis=0))

    def floats_per_box(self, free: int) -> int:
        """Size of the largest intermediate array, a box."""
        points = max(len(process.posterior.points) for process in self.processes)
        return 5 * points * (len(self.unit) + 1) + 8 * (1 << free)

    def bound_outputs(self, lower: FloatArray, upper: FloatArray) -> BoundedBoxes:
        """Take boxes (d, B) as they are."""
        return BoundedBoxes(lower, upper, [], [])

    def excess(self, bounded: BoundedBoxes, level: float) -> FloatArray:
        """Return the sum of the convex functions less the logarithm of the level."""
        shape = (1 << len(bounded.free), bounded.count)
        if not self.head.log and level <= 0.0:
            return np.full(shape, np.inf)
        with np.errstate(all="ignore"):
            goal = level if self.head.log else np.log(level)
            total, sizes = np.zeros(shape), np.full(shape, abs(goal))
            for head, process in zip(self.heads, self.processes, strict=True):
                term = _above(head, _bounds(process, bounded))
                total, sizes = total + term, sizes + np.abs(term)
            total = total - goal + 16.0 * RELATIVE * (sizes + 1.0)
        return np.where(np.isnan(total), np.inf, total)

    def interval(self, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return ends of the scores, exact and as any float64 pass has them."""
        low, high = np.zeros(len(points)), np.zeros(len(points))
        with np.errstate(all="ignore"):
            for head, process in zip(self.heads, self.processes, strict=True):
                ends = score_interval(head, *process.ends(points.T))
                low, high = low + ends[0], high + ends[1]
            low = low - 16.0 * RELATIVE * np.abs(low)
            high = high + 16.0 * RELATIVE * np.abs(high)
            if not self.head.log:
                low, high = np.exp(low) * (1.0 - 1e-14), np.exp(high) * (1.0 + 1e-14)
        return np.where(np.isnan(low), -np.inf, low), np.where(np.isnan(high), np.inf, high)


def _bounds(process: Process, bounded: BoundedBoxes) -> ProcessBounds:
    lower, upper = bounded.lower, bounded.upper
    center = np.where(lower == upper, lower, 0.5 * lower + 0.5 * upper)
    half = np.maximum(upper - center, center - lower)
    return ProcessBounds(process, process.expand(center, half), bounded.free)


def _above(head: object, bounds: ProcessBounds) -> FloatArray:
    """Return a convex function (V, B) above the logarithm of one factor."""
    improves = isinstance(head, ExpectedImprovement)
    threshold: float = head.threshold  # type: ignore[attr-defined]
    std = AffineStd(bounds)
    cone = ConvexStd(bounds).above
    low = np.maximum(std.low, 0.0)
    high = np.minimum(std.high, cone.max(axis=0))
    top = bounds.mean.max(axis=0) - threshold
    top = top + RELATIVE * (np.abs(top) + 2.0 * abs(threshold))
    if improves:
        flat = log_score_above(top, np.maximum(high, 0.0))
    else:
        flat = log_ndtr(np.where(top > 0.0, top / low, top / high))
        flat = np.minimum(np.where(np.isnan(flat), 0.0, flat), 0.0)
        flat = flat + SCORE_ERROR * (np.abs(flat) + 1.0)
    at = np.maximum(0.5 * low + 0.5 * high, 1e-300)
    u = np.clip((bounds.at.mean[0] - threshold) / at, -FARTHEST, FARTHEST)
    value, slope = _improvement(u) if improves else _probability(u)
    joint = std.joint_above(np.ones_like(u), -u)
    assert joint is not None
    over = joint - threshold
    over = over + RELATIVE * (np.abs(joint) + abs(threshold) + np.abs(u) * high)
    more = np.where(over > 0.0, (1.0 + SLOPE_ERROR) * over / low, (1.0 - SLOPE_ERROR) * over / high)
    term = value + slope * more
    if improves:
        term = term + np.log(at) + (cone - at) / at
    term = term + SCORE_ERROR * (np.abs(value) + np.abs(np.log(at)) + 1.0)
    if improves:
        margins = bounds.mean - threshold + RELATIVE * (np.abs(bounds.mean) + abs(threshold))
        middle = expectation(bounds.at.mean[0] - threshold, at)
        other = np.log(middle) + (score_above(margins, np.maximum(cone, 0.0)) / middle - 1.0)
        other = other + SCORE_ERROR * (np.abs(np.log(middle)) + np.abs(other) + 1.0)
        other = np.where(np.isnan(other), np.inf, other)
        closer = ~(term.max(axis=0) <= other.max(axis=0))
        term = np.where(closer, other, term)
    term = np.where(np.isnan(term), np.inf, term)
    return np.where(term.max(axis=0) < flat, term, flat)


def _improvement(u: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return log h(u) and its derivative."""
    value = log_expectation(u, np.ones_like(u))
    return value, ndtr(u) / improvement(u)


def _probability(u: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return log Phi(u) and its derivative."""
    value = log_ndtr(u)
    return value, density(u) / np.exp(value)


def constrained_score(
    head: ConstrainedImprovement, posterior: JointPosterior, domain: Domain
) -> ConstrainedScore | None:
    """Return what bounds the score; None where a part is no process, or its numbers forbid it."""
    if len(posterior.parts) != len(head.signs):
        return None
    processes = []
    for part, sign in zip(posterior.parts, head.signs, strict=True):
        if not isinstance(part, ProcessPosterior) or (part.form == "matern" and part.nu == 0.5):
            return None
        turned = replace(part, y_center=sign * part.y_center, weights=sign * part.weights)
        with np.errstate(all="ignore"):
            process = Process(turned, Correlations(turned, domain.lower, domain.upper))
        if not process.is_useful:
            return None
        processes.append(process)
    return ConstrainedScore(head, tuple(processes))
