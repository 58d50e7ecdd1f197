r"""The std of a `SmoothPosterior` from above, by ReLUs: tangents, more of them where they matter.

The curve g rises and is concave in r = relu(raw), so that it is below each of its tangents.
Those at r_1 < r_2 < … have falling slopes s_1 > s_2 > …, and the least of them is

    e(r) = o + s_1 r - sum_k d_k relu(r - t_k),       d_k = s_k - s_{k+1} > 0,

t_k the place where tangents k and k + 1 meet: a network. A weighted sum of mean and e with
nonnegative weights is not below that of mean and g, and equal to it at the points of tangency.
So one solves for e, looks where the solution lies, puts a tangent there, and solves again.

Numbers o, s_1, d_k, t_k are rounded. Whatever they have become, e is affine between two t_k, a
line a + b r; the concave g - a - b r is largest at g'(r) = b, and o is raised until that is not
positive, with `ENVELOPE_ROUNDING` for the rounding of this comparison.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.errors import UnsupportedError
from nnbo_mip.exact.heads.linear import allowance_of
from nnbo_mip.exact.heads.moments import StdPlane, smooth_floor
from nnbo_mip.exact.heads.sequence import (
    SHARE,
    Allowance,
    Outputs,
    Sequence,
    SequenceOptions,
    appended,
)
from nnbo_mip.exact.scores.problem import HeadProblem, assemble
from nnbo_mip.exact.search.monitor import Monitor
from nnbo_mip.exact.search.result import SearchResult, Step
from nnbo_mip.exact.search.rounding import UNIT_ROUNDOFF, sum_above
from nnbo_mip.network.graph.affine import Affine
from nnbo_mip.network.graph.graph import Network
from nnbo_mip.network.graph.ranges import affine_range, preactivation_ranges
from nnbo_mip.scores.functions.linear import LinearHead
from nnbo_mip.scores.posteriors.compiled import SmoothPosterior
from nnbo_mip.space.domain import Domain

WAY = "tangents"

FIRST_POINTS = (0.0, 0.2, 0.5, 1.0, 1.7, 2.7, 4.0, 6.0, 9.0)
"""Points of tangency at the start, in units of l_max."""

AIM = 0.9
"""Share of the gap at which the search for a better point stops; rounding has the rest."""

CLOSEST = 1e-6
"""Least distance of two points of tangency in units of l_max: nearer by, e - g < 1e-12 g'."""

STEEPNESS = 1e-15
"""Slopes below this share of the largest are bounded by their value at the largest r."""

ENVELOPE_ROUNDING = 256.0 * UNIT_ROUNDOFF
"""Times the numbers that are compared; some thirty operations of one or two roundings each."""


@dataclass(frozen=True)
class Envelope:
    """``offset + slope r - sum_k decrements_k relu(r - breaks_k)``, not below the curve.

    Parameters
    ----------
    offset, slope : float
    decrements, breaks : tuple of float
    """

    offset: float
    slope: float
    decrements: tuple[float, ...]
    breaks: tuple[float, ...]

    def __call__(self, r: FloatArray) -> FloatArray:
        """Return e at values r >= 0."""
        beyond = np.maximum(np.asarray(r)[..., None] - np.array(self.breaks), 0.0)
        return np.asarray(self.offset + self.slope * r - beyond @ np.array(self.decrements))


def envelope(posterior: SmoothPosterior, points: Iterable[float], largest: float) -> Envelope:
    """Return the least of the tangents at `points`, above the curve on ``[0, largest]``."""
    r = np.unique(np.asarray(list(points), dtype=np.float64))
    slopes = posterior.slope_of(r)
    distinct = np.concatenate([[True], np.diff(slopes) < 0.0])
    r, slopes = r[distinct], slopes[distinct]
    values = posterior.std_of(r)
    offsets = values - slopes * r
    decrements = slopes[:-1] - slopes[1:]
    meets = (offsets[1:] - offsets[:-1]) / decrements
    breaks = np.maximum.accumulate(np.clip(meets, r[:-1], r[1:]))
    raised = _largest_excess(posterior, offsets[0], slopes[0], decrements, breaks, largest)
    offset = math.nextafter(float(offsets[0]) + raised, math.inf)
    return Envelope(offset, float(slopes[0]), tuple(decrements.tolist()), tuple(breaks.tolist()))


def _largest_excess(
    posterior: SmoothPosterior,
    offset: float,
    slope: float,
    decrements: FloatArray,
    breaks: FloatArray,
    largest: float,
) -> float:
    """Return by how much the curve may exceed any of the lines, rounding included."""
    a, b = Fraction(float(offset)), Fraction(float(slope))
    excess = -math.inf
    for decrement, meet in [(0.0, 0.0), *zip(decrements.tolist(), breaks.tolist(), strict=True)]:
        b -= Fraction(decrement)
        a += Fraction(decrement) * Fraction(meet)
        excess = max(excess, _excess(posterior, float(a), float(b), largest))
    return excess


def _excess(posterior: SmoothPosterior, a: float, b: float, largest: float) -> float:
    """Return an upper bound of ``g(r) - a - b r`` over ``[0, largest]``."""
    top = posterior.factor * posterior.l_max
    if b <= STEEPNESS * float(posterior.slope_of(0.0)):
        above, sizes = top - a - min(b, 0.0) * largest, top + abs(a) + abs(b) * largest
    else:
        r = max(-posterior.l_max * math.log(b / posterior.factor) - posterior.l_min, 0.0)
        above, sizes = float(posterior.std_of(r)) - a - b * r, top + abs(a) + abs(b) * r
    return above + ENVELOPE_ROUNDING * sizes


class SmoothPlane(StdPlane):
    """Mean and std of a `SmoothPosterior`, for weights that are not negative.

    Parameters
    ----------
    posterior : SmoothPosterior
    domain : Domain
    sequence : Sequence
        Solves the problems.
    """

    _posterior: SmoothPosterior

    def __init__(self, posterior: SmoothPosterior, domain: Domain, sequence: Sequence) -> None:
        self._posterior, self._sequence = posterior, sequence
        network = posterior.network
        self._raw = raw_of(network)
        box = domain.lower, domain.upper
        sources = [box]
        for low, high in preactivation_ranges(network, *box):
            sources.append((np.maximum(low, 0.0), np.maximum(high, 0.0)))
        self._largest = max(float(affine_range(self._raw, sources)[1][0]), 0.0)
        self._mean_size = Outputs(network, *box).magnitude("mean")
        points = [p * posterior.l_max for p in FIRST_POINTS]
        self._points = [p for p in points if p < self._largest or p == 0.0]
        self.floor = smooth_floor(posterior)

    def refine(self, points: FloatArray) -> bool:
        """Add tangents at points (n, d); False where there are tangents already."""
        before = len(self._points)
        for r in np.maximum(self._posterior.network.evaluate(points, "relu_raw"), 0.0):
            apart = min(abs(float(r) - other) for other in self._points)
            if apart > CLOSEST * self._posterior.l_max:
                self._points.append(float(r))
        return len(self._points) > before

    def maximize(
        self,
        first: float,
        second: float,
        allowance: Allowance,
        level: float = -math.inf,
        share: float = SHARE,
    ) -> Step:
        """Bound ``first * mean + second * std`` through the envelope there is now."""
        if second < 0.0:
            raise UnsupportedError(
                "tangents bound a concave std from above, so its weight must be >= 0; "
                f"got {second!r}; take boxes."
            )
        weights = {"mean": first, "std": second}
        if second == 0.0:
            outputs = Outputs(self._posterior.network, *self._sequence.box)
            objective, margin = outputs.weighted({"mean": first})
            return self._sequence.maximize(
                objective, weights, margin=margin, allowance=allowance, level=level, share=share
            )
        above = envelope(self._posterior, self._points, self._largest)
        objective, margin = self._objective(first, second, above)
        return self._sequence.maximize(
            objective,
            weights,
            margin=margin,
            allowance=allowance,
            level=level,
            share=share,
            tangents=tuple(sorted(self._points)),
        )

    def _objective(self, first: float, second: float, above: Envelope) -> tuple[Network, float]:
        """Return ``first * mean + second * e(relu(raw))`` and what rounding may take from it."""
        network, raw = self._posterior.network, self._raw
        shifts = np.array([0.0, *above.breaks])
        count = len(shifts)
        terms = {k: np.repeat(raw.dense(k), count, axis=0) for k in raw.terms}
        rows = Affine(raw.bias[0] - shifts, terms)
        mean = network.head.rows([network.output_index("mean")])
        rest = Affine(
            first * mean.bias + second * above.offset,
            {k: first * mean.dense(k) for k in mean.terms},
        )
        slopes = np.array([above.slope, *(-d for d in above.decrements)])
        objective = appended(network, rows, rest, second * slopes)
        sizes = np.abs(slopes) @ (self._largest + np.abs(raw.bias[0]) + shifts)
        total = first * self._mean_size + second * (abs(above.offset) + float(sizes))
        return objective, 8.0 * UNIT_ROUNDOFF * total


def raw_of(network: Network) -> Affine:
    """Return a row whose positive part is the positive part of the output ``relu_raw``.

    What the ReLU reads, where the output is one ReLU and nothing else, and else the output.
    """
    row = network.head.rows([network.output_index("relu_raw")])
    used = [(k, int(j)) for k in row.terms for j in np.flatnonzero(row.dense(k)[0])]
    if len(used) == 1 and row.bias[0] == 0.0:
        source, unit = used[0]
        if source > 0 and row.dense(source)[0, unit] == 1.0:
            return network.layers[source - 1].rows([unit])
    return row


def why_not(problem: HeadProblem) -> str:
    """Return why this way does not apply, in a sentence; empty where it does."""
    parts = problem.parts(LinearHead, SmoothPosterior)
    if parts is None:
        return "tangents serve linear heads on a smooth posterior."
    if parts[0].std_weight < 0.0:
        return "a negative weight of a concave std makes a convex sum; take boxes."
    return ""


def solve(problem: HeadProblem, options: SequenceOptions, monitor: Monitor) -> SearchResult:
    """Maximize a linear head on a smooth posterior; see the module."""
    reason = why_not(problem)
    if reason:
        raise UnsupportedError(f"tangents must apply to the head; {reason}")
    parts = problem.parts(LinearHead, SmoothPosterior)
    assert parts is not None
    head, posterior = parts
    sequence = Sequence(options, monitor)
    plane = SmoothPlane(posterior, problem.domain, sequence)
    whole_gap = allowance_of(monitor, head.constant)
    while not sequence.exhausted():
        # What is only the envelope's excess is cut off by the level: it need not be found.
        level = monitor.best_value + AIM * (monitor.cutoff - monitor.best_value) - head.constant
        if monitor.best_x is None:
            level = -math.inf
        step = plane.maximize(
            head.mean_weight, head.std_weight, lambda value: 0.25 * whole_gap(value), level
        )
        if step.kind != "none":
            bound = max(sum_above(step.bound, head.constant), monitor.best_value)
            monitor.tighten(bound, step.kind, step.proof)
        if monitor.closed() or step.x is None:
            break
        best = [x for x in (step.x, monitor.best_x) if x is not None]
        if not plane.refine(np.array(best)):
            break
    return assemble(WAY, problem, monitor, sequence.steps)
