r"""Re-proves ``score(x) <= level`` for linear models on the sphere, by code that made no claim.

A level of a mean is one question of `sphere_forms`, which needs no search over t as the level is
known. Other scores are turned into one for each box: below a line ``mean + k std <= T`` that is
tried out with the score itself, with the std below linear functions of P (by Cauchy and Schwarz),
or below the chords of the members' improvements. A box that is not settled is cut beside the
exclusion that holds its best point, or halved.
"""

from __future__ import annotations

import abc
import math
from fractions import Fraction

import numpy as np

from nnbo_mip.core.arrays import BoolArray, FloatArray
from nnbo_mip.exact.checking.heads.boxes import counterexample
from nnbo_mip.exact.checking.heads.scores import share_ends
from nnbo_mip.exact.checking.heads.sphere_forms import TINY, UNIT, Forms
from nnbo_mip.exact.checking.heads.sphere_score import SphereScore
from nnbo_mip.exact.checking.level_lines import lines
from nnbo_mip.exact.checking.sweep import Boxes, Recheck, Sweep, halves, joined
from nnbo_mip.scores.base.abstract import MomentHead
from nnbo_mip.scores.functions.empirical import EmpiricalImprovement
from nnbo_mip.scores.functions.linear import LinearHead
from nnbo_mip.scores.objective import Objective
from nnbo_mip.scores.posteriors.spherical import SphericalMembers, SphericalPosterior
from nnbo_mip.space.domain import Domain

FLOATS_PER_BATCH = 1 << 18
LARGEST_BATCH = 256
TIE_BREAK = 1e-2

PLANES, ROW_STEPS = 8, 40
"""Linear functions above the std, and multipliers of rows, that are tried."""

MOST_EXACT = 2000
"""Boxes that are settled in rational arithmetic."""

LARGEST = 1e80
"""Of multipliers."""

LARGEST_LEVEL = 1e100
"""No score of numbers that are believed (`sphere_score`) comes near it."""

LEAST_RISE = 2e-7
"""s_0 as a share of the largest std."""


class SphereRecheck(Sweep):
    """A search over boxes.

    Parameters
    ----------
    objective : Objective
    domain : Domain
    scores : SphereScore
        Of this objective.
    level : float
        The claimed bound, finite.
    read : SphericalPosterior or SphericalMembers
        The posterior of the objective.
    """

    def __init__(
        self,
        objective: Objective,
        domain: Domain,
        scores: SphereScore,
        level: float,
        read: SphericalPosterior | SphericalMembers,
    ) -> None:
        self.objective, self.scores = objective, scores
        self.level = min(level, LARGEST_LEVEL)
        self.forms = Forms(read, domain)
        batch = int(np.clip(FLOATS_PER_BATCH // (domain.dimension + 2), 1, LARGEST_BATCH))
        super().__init__(domain, batch, TIE_BREAK)
        self.metric = (1.0 / np.where(read.rate > 0.0, read.rate, 1.0))[:, None]
        norms = np.sqrt(np.square(domain.A).sum(axis=1))
        self._lengths = np.where(norms > 0.0, norms, 1.0)

    def _step(self, boxes: Boxes) -> Boxes | Recheck:
        with np.errstate(all="ignore"):
            total, error, points = self._excess(boxes.lower, boxes.upper)
        still_open = ~(total + error <= 0.0)  # not a number stays open
        boxes, points = boxes[still_open], points[:, still_open]
        total, error = total[still_open], error[still_open]
        if not len(boxes):
            return boxes
        middle = 0.5 * boxes.lower + 0.5 * boxes.upper
        seen = np.hstack([points, middle]).T
        higher = counterexample(self.objective, self.domain, self.scores, self.level, seen)
        if higher is not None:
            return self.outcome("counterexample", higher)
        settled = self._settled_exactly(boxes, total <= 2.0 * error)
        boxes, points = boxes[~settled], points[:, ~settled]
        outside, beside = self.beside_exclusions(
            boxes, points, (boxes.upper - boxes.lower) / self.metric
        )
        boxes = boxes[outside]
        if not len(boxes):
            return beside
        splittable = self.splittable(boxes)
        stuck = np.flatnonzero(~splittable.any(axis=0))
        if stuck.size:
            return self.outcome("stuck", boxes.lower[:, stuck[0]])
        chosen = self.steepest(boxes, np.ones_like(boxes.lower), splittable)
        columns = np.arange(len(boxes))
        ends = boxes.lower[chosen, columns], boxes.upper[chosen, columns]
        cut = halves(boxes.lower, boxes.upper, boxes.share, chosen, *self.rows.cut(*ends, chosen))
        return joined([beside, cut])

    @abc.abstractmethod
    def _excess(
        self, lower: FloatArray, upper: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return by how much boxes (d, B) may exceed the level, the error, and where (d, B)."""

    def _settled_exactly(self, boxes: Boxes, nearly: BoolArray) -> BoolArray:
        """Return which boxes (n,) that rounding alone may leave open hold without it: none."""
        return np.zeros(len(boxes), dtype=bool)

    def _with_rows(
        self,
        weights: FloatArray,
        most: FloatArray,
        lower: FloatArray,
        upper: FloatArray,
        rounding: FloatArray,
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Ask whether functions are at most `most`, with multipliers of the rows."""
        count, m = lower.shape[1], len(self.domain.b)
        known = np.isfinite(most)
        level = np.where(known, most, 0.0)
        multipliers = np.zeros((count, m))

        def ask(given: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
            total, error, points = self.forms.excess(weights, level, lower, upper, given)
            # The function counts 1 + q times where it is compared.
            far = np.maximum(np.abs(lower), np.abs(upper)) + np.abs(self.forms.center[:, None])
            q = np.square(far * self.forms.rate[:, None]).sum(axis=0)
            error = error + 1.01 * rounding * (1.0 + q)
            return np.where(known, total, np.inf), error, points

        best = ask(multipliers)
        self.multipliers = multipliers
        if not m:
            return best
        found = best
        for _ in range(ROW_STEPS):
            if (best[0] + best[1] <= 0.0).all():
                break
            over = (found[2].T @ self.domain.A.T - self.domain.row_limit) / self._lengths
            slope = np.where((multipliers > 0.0) | (over > 0.0), over, 0.0)
            gap = np.where(np.isfinite(found[0]), np.maximum(found[0] + 4.0 * found[1], 0.0), 0.0)
            length = gap / (np.square(slope).sum(axis=1) + TINY)
            moved = multipliers * self._lengths + length[:, None] * slope
            multipliers = np.maximum(np.minimum(moved, LARGEST), 0.0) / self._lengths
            found = ask(multipliers)
            better = found[0] + found[1] < best[0] + best[1]
            self.multipliers = np.where(better[:, None], multipliers, self.multipliers)
            best = _lower(best, found)
        return best


class MomentsRecheck(SphereRecheck):
    """Of heads of mean and std of one linear model."""

    def __init__(
        self,
        objective: Objective,
        domain: Domain,
        scores: SphereScore,
        level: float,
        parts: tuple[MomentHead, SphericalPosterior],
    ) -> None:
        self.head, read = parts
        self.read = read
        super().__init__(objective, domain, scores, level, read)
        linear = objective.parts(LinearHead, SphericalPosterior)
        self._mean = None if linear is None or linear[0].reads_std else linear[0]
        self.exact = 0
        # How long F psi can be, and how fast it changes.
        prior = np.full(read.root.shape[1], math.sqrt(read.slope_variance))
        prior[-1] = math.sqrt(read.level_variance)
        with np.errstate(divide="ignore", invalid="ignore"):
            relative = np.where(read.root == 0.0, 0.0, read.root / prior)
            most = np.abs(relative @ relative.T).sum(axis=1).max(initial=0.0)
        self._variance = read.variance * max(1.0, float(most)) * (1.0 + 1e-12)
        gram = np.abs(read.root @ read.root.T).sum(axis=1).max(initial=0.0)
        self._steepest = 2.0 * math.sqrt(float(gram)) * (1.0 + 1e-9)
        self._sums = np.abs(read.root).sum(axis=1)
        self._off = 2.0 * (len(read.root) + read.n_inputs + 16) * UNIT

    def _excess(
        self, lower: FloatArray, upper: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return by how much boxes (d, B) may exceed the level, the error, and where (d, B)."""
        low, high = self._stds(lower, upper)
        mean_weight, std_weight, most = lines(self.head, self.level, low, high)
        plain = mean_weight * np.broadcast_to(
            self.read.weights, (lower.shape[1], lower.shape[0] + 2)
        )
        rounding = 4.0 * UNIT * np.abs(plain).sum(axis=1)
        spread = std_weight * self.read.reach
        if not (spread > 0.0).any():
            return self._with_rows(plain, most, lower, upper, rounding)
        taken = self.read.sphere.features((0.5 * lower + 0.5 * upper).T) @ self.read.root.T
        best: tuple[FloatArray, FloatArray, FloatArray] | None = None
        for step in range(PLANES):
            weights, error = self._plane(plain, spread, taken)
            found = self._with_rows(weights, most, lower, upper, error + rounding)
            best = found if best is None else _lower(best, found)
            if (best[0] + best[1] <= 0.0).all():
                break
            newly = self.read.sphere.features(found[2].T) @ self.read.root.T
            taken = taken + (newly - taken) * (2.0 / (step + 3.0))
        assert best is not None
        return best

    def _stds(self, lower: FloatArray, upper: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return ends (B,) of the std: |P(z) - P(z')| <= 2 |z - z'|, and at most 2."""
        read = self.read
        psi = read.sphere.features((0.5 * lower + 0.5 * upper).T)
        length = np.sqrt(np.square(psi @ read.root.T).sum(axis=1))
        half = np.sqrt(np.square(0.5 * (upper - lower) * read.rate[:, None]).sum(axis=0))
        change = self._steepest * np.minimum(half, 1.0) * (1.0 + 1e-9)
        off = 4.0 * self._off * (read.variance + np.square(length) + self._steepest**2)
        least = read.variance - np.square(length + change) - off
        most = read.variance - np.square(np.maximum(length - change, 0.0)) + off
        low, high = (read.reach * np.sqrt(np.maximum(end, 0.0)) for end in (least, most))
        return low * (1.0 - 1e-14), high * (1.0 + 1e-14)

    def _plane(
        self, plain: FloatArray, spread: FloatArray, taken: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return weights (B, d + 2) of functions above ``plain . psi + spread s``, and errors."""
        length = np.square(taken).sum(axis=1)
        rise = np.sqrt(np.maximum(self._variance - length, LEAST_RISE**2 * self._variance))
        share = spread / np.where(rise > 0.0, rise, 1.0)
        above = share * np.sqrt(self._variance * (rise**2 + length))
        weights = plain - share[:, None] * (taken @ self.read.root)
        weights[:, -1] += above
        sizes = np.abs(plain).sum(axis=1) + share * (np.abs(taken) @ self._sums) + above
        return weights, 2.0 * self._off * sizes

    def _settled_exactly(self, boxes: Boxes, nearly: BoolArray) -> BoolArray:
        """Return which boxes (n,) that rounding alone may leave open hold without it."""
        settled = np.zeros(len(boxes), dtype=bool)
        head = self._mean
        if head is None:
            return settled
        weight = Fraction(head.mean_weight)
        for index in np.flatnonzero(nearly):
            if self.exact == MOST_EXACT:
                break
            self.exact += 1
            weights = [weight * Fraction(w) for w in self.read.weights.tolist()]
            level = Fraction(self.level) - Fraction(head.constant)
            low, high = boxes.lower[:, index], boxes.upper[:, index]
            one = slice(index, index + 1)
            plain = head.mean_weight * self.read.weights[None, :]
            rounding, most = np.zeros(1), np.array([self.level - head.constant])
            self._with_rows(plain, most, boxes.lower[:, one], boxes.upper[:, one], rounding)
            settled[index] = self.forms.holds(weights, level, low, high, self.multipliers[0])
        return settled


class MembersRecheck(SphereRecheck):
    """Of improvements that are counted over linear models."""

    def __init__(
        self,
        objective: Objective,
        domain: Domain,
        scores: SphereScore,
        level: float,
        parts: tuple[EmpiricalImprovement, SphericalMembers],
    ) -> None:
        self.head, read = parts
        self.read = read
        super().__init__(objective, domain, scores, level, read)

    def _excess(
        self, lower: FloatArray, upper: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Bound the improvements of members by their chords."""
        read, head = self.read, self.head
        count, n = lower.shape[1], len(read.weights)
        each = [np.broadcast_to(w, (count, len(w))) for w in read.weights]
        tops = np.stack([self.forms.largest(w, lower, upper) for w in each], axis=1)
        ends = np.stack([-self.forms.largest(-w, lower, upper) for w in each], axis=1)
        tops, ends = tops - head.threshold, ends - head.threshold
        off = 4.0 * UNIT * (np.abs(tops) + np.abs(ends) + abs(head.threshold))
        tops, ends = tops + off, ends - off
        crosses = (tops >= 0.0) & (ends < 0.0)
        width = np.where(crosses, tops - ends, 1.0)
        if head.kind == "ei":
            slope = np.where(crosses, tops / width, np.where(ends >= 0.0, 1.0, 0.0))
            fixed = np.where(crosses, -slope * ends, 0.0)
        else:
            slope = np.where(crosses, 1.0 / np.where(crosses, -ends, 1.0), 0.0)
            fixed = np.where(crosses | (ends >= 0.0), 1.0, 0.0)
        weights = slope @ read.weights / n
        constant = (fixed - slope * head.threshold).sum(axis=1) / n
        weights[:, -1] += constant
        sizes = (slope @ np.abs(read.weights).sum(axis=1)) / n
        sizes = sizes + (np.abs(fixed) + slope * abs(head.threshold)).sum(axis=1) / n
        rounding = 16.0 * (n + 8) * UNIT * sizes
        level = np.full(count, self.level)
        total, error, points = self._with_rows(weights, level, lower, upper, rounding)
        # Nobody is above the threshold, or so few that the share is not exceeded.
        if head.kind == "pi":
            done = share_ends(n)[1][(tops >= 0.0).sum(axis=1)] <= self.level
        else:
            mostly = np.maximum(tops, 0.0).mean(axis=1) * (1.0 + 8.0 * (n + 8) * UNIT)
            done = mostly <= self.level
        return np.where(done, -1.0, total), np.where(done, 0.0, error), points


def sphere_recheck(
    objective: Objective, domain: Domain, scores: SphereScore, level: float
) -> SphereRecheck:
    """Return the search that proves a level of an objective that has such scores again."""
    if moments := objective.parts(MomentHead, SphericalPosterior):
        return MomentsRecheck(objective, domain, scores, level, moments)
    members = objective.parts(EmpiricalImprovement, SphericalMembers)
    assert members is not None  # as it has scores
    return MembersRecheck(objective, domain, scores, level, members)


def _lower(
    one: tuple[FloatArray, FloatArray, FloatArray], other: tuple[FloatArray, FloatArray, FloatArray]
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the smaller excess of each box."""
    better = other[0] + other[1] < one[0] + one[1]
    return (
        np.where(better, other[0], one[0]),
        np.where(better, other[1], one[1]),
        np.where(better, other[2], one[2]),
    )
