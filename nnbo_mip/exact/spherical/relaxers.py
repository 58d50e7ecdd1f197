r"""Bounds of heads on the sphere, by linear functions of psi = (P, 1) above them.

With V the prior variance and F the root, the std is reach s, s^2 = V - |F psi|^2. For any w and
s_0 > 0, by Cauchy and Schwarz,

    s s_0 + (F psi) . w <= sqrt(V (s_0^2 + |w|^2)),

with a V that is raised by rounding where F psi might be longer than its root,

so that a mean plus k >= 0 stds is below a linear function, whose maximum is known exactly
(`ratios`). The best of these functions has the maximum over the convex hull of the projected box;
steps of Frank and Wolfe in the hull find it. |P(z) - P(z')| <= 2 |z - z'| gives both ends of the
std. Other heads of mean and std follow from such sums as over any other boxes
(`heads.relaxers.moments`), those of members from the chords of each member's improvement.

Multipliers of rows are found by Polyak's steps towards an aim that comes nearer.

References
----------
Frank and Wolfe (1956), linear bounds of concave functions [FrankWolfe1956].
Polyak (1969), steps of subgradients [Polyak1969].
"""

from __future__ import annotations

import abc
from dataclasses import dataclass, replace

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.exact.heads.relaxers.moments import scores_below
from nnbo_mip.exact.scores.level_lines import level_lines
from nnbo_mip.exact.scores.problem import HeadProblem
from nnbo_mip.exact.search.rounding import UNIT_ROUNDOFF, shares_above
from nnbo_mip.exact.spherical.ratios import Found, Ratios
from nnbo_mip.scores.base.abstract import MomentHead, Shape
from nnbo_mip.scores.functions.empirical import EmpiricalImprovement
from nnbo_mip.scores.posteriors.spherical import SphericalMembers, SphericalPosterior
from nnbo_mip.space.domain import Domain

ROUNDS, ROW_ROUNDS, LATER_ROW_ROUNDS = 12, 60, 8
"""Linear functions that are tried for one batch of boxes, and multipliers for the first of them and
for the others, which go on from there."""

SHARES = np.concatenate([[0.0], np.geomspace(1e-3, 1.0, 16)])
"""Of the way towards a point of the hull."""

LEAST_SPREAD = 1e-6
"""s_0 as a share of sqrt(V) at least; any is valid."""

SLACK = 1e-11
"""Relative, of what members count: a check decides then, whose sums are others."""

LEAST, LARGEST = 1e-100, 1e100
"""Sizes of numbers of which products stay far from underflow and overflow."""


@dataclass(frozen=True, eq=False)
class Sum:
    """A weighted sum of mean and std, or of members, as a linear function of psi.

    Parameters
    ----------
    weights : (B, d + 2) array
    error : (B,) array
        What the weights may be too small by, summed.
    """

    weights: FloatArray
    error: FloatArray


class SphereRelaxer(abc.ABC):
    """Bounds what a problem on the sphere searches.

    Parameters
    ----------
    posterior : SphericalPosterior or SphericalMembers
    domain : Domain
    sizes : (n,) array
        Of its numbers, beside weights, rates and centre.

    Attributes
    ----------
    is_useful : bool
        Whether sizes stay far from underflow and overflow.
    is_exact : bool
        Whether one box is settled at once: a mean, without rows.
    """

    is_exact = False

    def __init__(
        self, posterior: SphericalPosterior | SphericalMembers, domain: Domain, sizes: FloatArray
    ) -> None:
        self.domain, self.ratios = domain, Ratios(posterior.sphere, domain)
        read = np.concatenate([posterior.weights.ravel(), posterior.rate, posterior.center, sizes])
        seen = np.abs(read)
        seen = seen[seen > 0.0]
        self.is_useful = bool(seen.max(initial=0.0) < LARGEST and seen.min(initial=1.0) > LEAST**2)
        norms = np.sqrt(np.square(domain.A).sum(axis=1))
        self._row_norm = np.where(norms > 0.0, norms, 1.0)

    @abc.abstractmethod
    def bound(self, lower: FloatArray, upper: FloatArray, level: float) -> Found:
        """Bound the scores over boxes (B, d), as far as they exceed a level."""

    def _linear(
        self,
        above: Sum,
        lower: FloatArray,
        upper: FloatArray,
        target: FloatArray,
        start: FloatArray | None = None,
    ) -> Found:
        """Bound linear functions over boxes, with multipliers of the rows where there are any."""
        domain = self.domain
        multipliers = np.zeros((len(lower), len(domain.b))) if start is None else start
        best = found = self.ratios.largest(above.weights, lower, upper, multipliers)
        if len(domain.b):
            # The level may be far below what multipliers reach: the aim comes nearer.
            aim = np.where(np.isfinite(target), best.bound - target, np.abs(best.bound) + 1.0)
            aim = np.maximum(aim, 0.0)
            for _ in range(ROW_ROUNDS if start is None else LATER_ROW_ROUNDS):
                if not (best.bound > target).any():
                    break
                over = (found.points @ domain.A.T - domain.row_limit) / self._row_norm
                q = np.square((found.points - self.ratios.center) * self.ratios.rate).sum(axis=1)
                slope = over / (1.0 + q)[:, None]
                slope = np.where((multipliers > 0.0) | (slope > 0.0), slope, 0.0)
                squares = np.square(slope).sum(axis=1) + UNIT_ROUNDOFF**2
                length = (found.bound - best.bound + aim) / squares
                moved = multipliers * self._row_norm + length[:, None] * slope
                multipliers = np.maximum(np.minimum(moved, LARGEST), 0.0) / self._row_norm
                found = self.ratios.largest(above.weights, lower, upper, multipliers)
                aim = np.where(found.bound < best.bound, aim, 0.5 * aim)
                best = _lower_of(best, found)
        return replace(best, bound=best.bound + 1.01 * above.error)


class SphereMoments(SphereRelaxer):
    """Bounds heads of mean and std of one linear model."""

    def __init__(self, head: MomentHead, posterior: SphericalPosterior, domain: Domain) -> None:
        self.head, self.posterior = head, posterior
        share = _share_taken(posterior)
        spread = np.array([posterior.variance, posterior.reach, share])
        super().__init__(posterior, domain, np.append(posterior.root.ravel(), spread))
        self.is_exact = head.shape is Shape.LINEAR and not head.reads_std and not len(domain.b)
        self._row_sums = np.abs(posterior.root).sum(axis=1)
        gram = np.abs(posterior.root @ posterior.root.T)
        # The largest row sum is above the largest eigenvalue.
        self._norm = float(np.sqrt(gram.sum(axis=1).max(initial=0.0))) * (1.0 + 1e-10)
        self._variance = posterior.variance * share
        self._off = (len(posterior.root) + domain.dimension + 16) * UNIT_ROUNDOFF

    def bound(self, lower: FloatArray, upper: FloatArray, level: float) -> Found:
        """Bound the scores by sums of mean and std, below which they do not exceed the level."""
        head = self.head
        low, high = self._stds(lower, upper)
        lines = level_lines(head, low, high, level)
        target = np.where(np.isfinite(lines.limit), lines.limit, -np.inf)
        rising = np.maximum(lines.std_weight, 0.0)
        found = self._moments(lines.mean_weight, rising, lower, upper, target)
        falling = np.minimum(lines.std_weight, 0.0) * low
        most = found.bound + falling + 4.0 * UNIT_ROUNDOFF * np.abs(falling)
        score = scores_below(head, lines, most, low, high)
        return replace(found, bound=score)

    def _stds(self, lower: FloatArray, upper: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return ends (B,) of the std over boxes."""
        read = self.posterior
        psi = read.sphere.features(0.5 * lower + 0.5 * upper)
        taken = np.sqrt(np.square(psi @ read.root.T).sum(axis=1))
        half = np.sqrt(np.square(0.5 * (upper - lower) * read.rate).sum(axis=1))
        reach = 2.0 * self._norm * np.minimum(half, 1.0) * (1.0 + 1e-10)  # the sphere's diameter
        off = 4.0 * self._off * (read.variance + taken**2 + self._norm**2)
        low = read.variance - np.square(taken + reach) - off
        high = read.variance - np.square(np.maximum(taken - reach, 0.0)) + off
        ends = [read.reach * np.sqrt(np.maximum(end, 0.0)) for end in (low, high)]
        return ends[0] * (1.0 - 1e-14), ends[1] * (1.0 + 1e-14)

    def _moments(
        self,
        mean_weight: FloatArray,
        std_weight: FloatArray,
        lower: FloatArray,
        upper: FloatArray,
        target: FloatArray,
    ) -> Found:
        """Bound sums of mean and std with weights (B,), those of stds not negative."""
        read = self.posterior
        plain = mean_weight[:, None] * read.weights
        size = np.abs(plain).sum(axis=1)
        spread = std_weight * read.reach
        if not (spread > 0.0).any() or self._variance == 0.0:
            return self._linear(Sum(plain, 4.0 * UNIT_ROUNDOFF * size), lower, upper, target)
        psi = read.sphere.features(0.5 * lower + 0.5 * upper)
        at, taken = (plain * psi).sum(axis=1), psi @ read.root.T
        best: Found | None = None
        start: FloatArray | None = None
        for _ in range(ROUNDS):
            above = self._above(plain, size, spread, taken)
            found = self._linear(above, lower, upper, target, start)
            start = found.multipliers
            best = found if best is None else _lower_of(best, found)
            if (best.bound <= target).all():
                break
            psi = read.sphere.features(found.points)
            at, taken = self._towards(
                at, taken, (plain * psi).sum(axis=1), psi @ read.root.T, spread
            )
        assert best is not None
        return best

    def _above(
        self, plain: FloatArray, size: FloatArray, spread: FloatArray, taken: FloatArray
    ) -> Sum:
        """Return linear functions above the sum, close to it where F psi = taken (B, m)."""
        read = self.posterior
        squares = np.square(taken).sum(axis=1)
        variance = self._variance
        root = np.sqrt(np.maximum(variance - squares, LEAST_SPREAD**2 * variance))
        constant = spread * np.sqrt(variance * (root**2 + squares)) / root
        share = spread / root
        weights = plain - share[:, None] * (taken @ read.root)
        weights[:, -1] += constant
        sizes = size + share * (np.abs(taken) @ self._row_sums) + constant
        return Sum(weights, 2.0 * self._off * sizes)

    def _towards(
        self,
        at: FloatArray,
        taken: FloatArray,
        new: FloatArray,
        newly: FloatArray,
        spread: FloatArray,
    ) -> tuple[FloatArray, FloatArray]:
        """Return mean and F psi at the best point of the hull on the way to another one."""
        variance = self._variance
        a, b = np.square(taken).sum(axis=1), (taken * newly).sum(axis=1)
        c = np.square(newly).sum(axis=1)
        t = SHARES[:, None]
        squares = (1.0 - t) ** 2 * a + 2.0 * t * (1.0 - t) * b + t**2 * c
        heights = (1.0 - t) * at + t * new + spread * np.sqrt(np.maximum(variance - squares, 0.0))
        share = SHARES[heights.argmax(axis=0)]
        moved = taken + share[:, None] * (newly - taken)
        return at + share * (new - at), moved


class SphereMembers(SphereRelaxer):
    """Bounds improvements that are counted over linear models."""

    def __init__(
        self, head: EmpiricalImprovement, posterior: SphericalMembers, domain: Domain
    ) -> None:
        self.head, self.posterior = head, posterior
        super().__init__(posterior, domain, np.empty(0))

    def bound(self, lower: FloatArray, upper: FloatArray, level: float) -> Found:
        """Bound improvements by the chords of each member's over its range."""
        read, head = self.posterior, self.head
        count, n = len(lower), len(read.weights)
        none = np.zeros((count, len(self.domain.b)))
        tops = [self.ratios.largest(w[None, :], lower, upper, none) for w in read.weights]
        highest = np.stack([found.bound for found in tops], axis=1)
        lowest = np.stack(
            [-self.ratios.largest(-w[None, :], lower, upper, none).bound for w in read.weights],
            axis=1,
        )
        over, under = highest - head.threshold, lowest - head.threshold
        width = np.where(over > under, over - under, 1.0)
        if head.kind == "ei":
            # max(f, 0) is below its chord where f changes its sign, 0 or f elsewhere.
            slope = np.where(under >= 0.0, 1.0, np.where(over > 0.0, over / width, 0.0))
            start = np.where((over > 0.0) & (under < 0.0), -under, 0.0)
        else:
            # 1 where f >= 0 is below (f - under) / -under, which is 1 at f = 0.
            open_ones = (over >= 0.0) & (under < 0.0)
            slope = np.where(open_ones, 1.0 / np.where(open_ones, -under, 1.0), 0.0)
            start = np.where(open_ones, -under, 0.0)
        sure = np.asarray((under >= 0.0).sum(axis=1) if head.kind == "pi" else np.zeros(count))
        weights = slope @ read.weights / n
        shift = (slope * (start - head.threshold)).sum(axis=1) / n + sure / n
        weights[:, -1] += shift
        sizes = np.abs(slope) @ np.abs(read.weights).sum(axis=1)
        sizes = sizes + (slope * (np.abs(start) + abs(head.threshold))).sum(axis=1) + sure
        error = 8.0 * (n + 8) * UNIT_ROUNDOFF * sizes / n
        error = error + SLACK * sizes / n
        found = self._linear(Sum(weights, error), lower, upper, np.full(count, level))
        if head.kind == "pi":
            most = shares_above(n)[(over >= 0.0).sum(axis=1)]
            return replace(found, bound=np.minimum(found.bound, most))
        mostly = np.maximum(over, 0.0).mean(axis=1) * (1.0 + 4.0 * (n + 8) * UNIT_ROUNDOFF)
        return replace(found, bound=np.maximum(np.minimum(found.bound, mostly), 0.0))


def is_bounded(problem: HeadProblem) -> bool:
    """Whether `sphere_relaxer` has an answer."""
    sought = problem.sought
    return bool(
        sought.parts(MomentHead, SphericalPosterior)
        or sought.parts(EmpiricalImprovement, SphericalMembers)
    )


def sphere_relaxer(problem: HeadProblem) -> SphereRelaxer | None:
    """Return what bounds a problem on the sphere; None where nothing does."""
    sought = problem.sought
    if moments := sought.parts(MomentHead, SphericalPosterior):
        return SphereMoments(*moments, problem.domain)
    if members := sought.parts(EmpiricalImprovement, SphericalMembers):
        return SphereMembers(*members, problem.domain)
    return None


def _lower_of(one: Found, other: Found) -> Found:
    """Return the lower bound of each box, and what was found with it."""
    better = other.bound < one.bound
    rows = better[:, None]
    return Found(
        np.where(better, other.bound, one.bound),
        np.where(rows, other.points, one.points),
        np.where(rows, other.slopes, one.slopes),
        np.where(rows, other.multipliers, one.multipliers),
    )


def _share_taken(read: SphericalPosterior) -> float:
    """Return a number of at least 1 by which no |F psi|^2 exceeds the prior variance.

    |psi| has the constant length sqrt(c1 + c0) where its entries are weighed by the prior's
    deviations.
    """
    deviations = np.full(read.root.shape[1], np.sqrt(read.slope_variance))
    deviations[-1] = np.sqrt(read.level_variance)
    with np.errstate(divide="ignore", invalid="ignore"):
        scaled = np.where(read.root == 0.0, 0.0, read.root / deviations)
        gram = np.abs(scaled @ scaled.T).sum(axis=1).max(initial=0.0)
    return max(1.0, float(gram)) * (1.0 + 1e-10)
