r"""Re-proves ``mean(x) <= level`` for sums of terms of one and of two inputs.

A box is settled by the largest value of the sum over it (`pairs_sum`), rows counted by multipliers
mu >= 0, ``f(x) <= f(x) + mu . (limit - A x)``. A box that is not is cut beside the exclusion that
holds its best point, or halved.
"""

from __future__ import annotations

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.exact.checking.heads.boxes import counterexample
from nnbo_mip.exact.checking.heads.outputs import BoundedBoxes
from nnbo_mip.exact.checking.heads.pairs_sum import PairwiseSum
from nnbo_mip.exact.checking.heads.scores import ScoreBounder
from nnbo_mip.exact.checking.heads.sphere_forms import TINY, UNIT
from nnbo_mip.exact.checking.sweep import Boxes, Recheck, Sweep, halves, joined
from nnbo_mip.scores.functions.linear import LinearHead
from nnbo_mip.scores.objective import Objective
from nnbo_mip.scores.posteriors.pairs import PairwisePosterior
from nnbo_mip.space.domain import Domain

BATCH = 16
ROW_STEPS = 30
"""Multipliers of rows that are tried for a batch of boxes."""

LARGEST = 1e80
"""Of sizes of which products stay far from overflow, and of multipliers."""

TIE_BREAK = 1e-2


class PairwiseScore(ScoreBounder):
    """The mean at points, exactly and as a float64 pass may have it.

    Parameters
    ----------
    head : LinearHead
        Of the mean alone.
    posterior : PairwisePosterior
    """

    def __init__(self, head: LinearHead, posterior: PairwisePosterior) -> None:
        self.head, self.posterior = head, posterior
        numbers = [posterior.weights.ravel(), posterior.levels, np.array([head.constant])]
        self._largest = float(np.abs(np.concatenate(numbers)).max()) * max(1.0, head.mean_weight)

    @property
    def is_useful(self) -> bool:
        """Whether products of its sizes stay far from overflow."""
        return self._largest < LARGEST

    @property
    def roundings(self) -> float:
        """Relative error of a sum of all terms."""
        read = self.posterior
        return (3 * len(read.columns) + len(read.levels) + 32) * UNIT

    def interval(self, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return ends (n,) of the scores at points (n, d)."""
        read, head = self.posterior, self.head
        value = head.mean_weight * read.mean(points) + head.constant
        off = self.roundings * self.sizes(np.abs(points)) + TINY
        return value - off, value + off

    def sizes(self, far: FloatArray) -> FloatArray:
        """Return the sums (n,) of the sizes of all terms where inputs are at most `far` (n, d)."""
        read, head = self.posterior, self.head
        terms = read.features(far) @ np.abs(read.weights).mean(axis=0)
        sizes = head.mean_weight * (terms + np.abs(read.levels).mean()) + abs(head.constant)
        return np.asarray(sizes)

    def bound_outputs(self, lower: FloatArray, upper: FloatArray) -> BoundedBoxes:
        """Take boxes (d, B) as they are."""
        return BoundedBoxes(lower, upper, [], [])

    def excess(self, bounded: BoundedBoxes, level: float) -> FloatArray:
        """Return infinity: `PairwiseRecheck` bounds boxes."""
        return np.full((1, bounded.count), np.inf)

    def floats_per_box(self, free: int) -> int:
        """Size of the largest intermediate array, a box."""
        return 8 * self.posterior.n_inputs


def pairwise_score(objective: Objective) -> PairwiseScore | None:
    """Return what knows the scores of an objective on sums of terms; None where nothing does."""
    head, read = objective.head, objective.posterior
    assert isinstance(read, PairwisePosterior)
    if not isinstance(head, LinearHead) or head.std_weight != 0.0:
        return None
    scores = PairwiseScore(head, read)
    return scores if scores.is_useful else None


class PairwiseRecheck(Sweep):
    """A search over boxes.

    Parameters
    ----------
    objective : Objective
    domain : Domain
    scores : PairwiseScore
        Of this objective.
    level : float
        The claimed bound, finite.
    """

    def __init__(
        self, objective: Objective, domain: Domain, scores: PairwiseScore, level: float
    ) -> None:
        self.objective, self.scores, self.level = objective, scores, level
        head = scores.head
        self.sum = PairwiseSum(scores.posterior, head.mean_weight, head.constant, domain)
        super().__init__(domain, BATCH, TIE_BREAK)
        norms = np.sqrt(np.square(domain.A).sum(axis=1))
        self._lengths = np.where(norms > 0.0, norms, 1.0)
        self._more = 2 * (domain.dimension + len(domain.b)) * UNIT

    def _step(self, boxes: Boxes) -> Boxes | Recheck:
        with np.errstate(all="ignore"):
            bound, points, moved = self._bounded(boxes.lower.T, boxes.upper.T)
        still_open = ~(bound <= self.level)  # not a number stays open
        boxes, points, moved = boxes[still_open], points[still_open].T, moved[still_open].T
        if not len(boxes):
            return boxes
        higher = counterexample(
            self.objective, self.domain, self.scores, self.level, np.ascontiguousarray(points.T)
        )
        if higher is not None:
            return self.outcome("counterexample", higher)
        outside, beside = self.beside_exclusions(
            boxes, points, (boxes.upper - boxes.lower) / self.unit
        )
        boxes, moved = boxes[outside], moved[:, outside]
        if not len(boxes):
            return beside
        splittable = self.splittable(boxes)
        stuck = np.flatnonzero(~splittable.any(axis=0))
        if stuck.size:
            return self.outcome("stuck", boxes.lower[:, stuck[0]])
        chosen = self.steepest(boxes, moved, splittable)
        columns = np.arange(len(boxes))
        ends = boxes.lower[chosen, columns], boxes.upper[chosen, columns]
        cut = halves(boxes.lower, boxes.upper, boxes.share, chosen, *self.rows.cut(*ends, chosen))
        return joined([beside, cut])

    def _bounded(
        self, lower: FloatArray, upper: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return bounds (B,), points (B, d), and how far (B, d) multipliers moved these."""
        domain, m = self.domain, len(self.domain.b)
        multipliers = np.zeros((len(lower), m))
        best, points = self._asked(lower, upper, multipliers)
        low, high, found, at = points, points, best, points
        step = 1.0
        for _ in range(ROW_STEPS if m else 0):
            if (best <= self.level).all():
                break
            over = (at @ domain.A.T - domain.row_limit) / self._lengths
            slope = np.where((multipliers > 0.0) | (over > 0.0), over, 0.0)
            gap = np.where(np.isfinite(found), np.maximum(found - self.level, 0.0), 0.0)
            length = step * gap / (np.square(slope).sum(axis=1) + TINY)
            moved = multipliers * self._lengths + length[:, None] * slope
            multipliers = np.clip(moved, 0.0, LARGEST) / self._lengths
            found, at = self._asked(lower, upper, multipliers)
            better = found < best
            best, points = np.where(better, found, best), np.where(better[:, None], at, points)
            low, high = np.minimum(low, at), np.maximum(high, at)
            step *= 0.9
        return best, points, (high - low) / self.unit.T

    def _asked(
        self, lower: FloatArray, upper: FloatArray, multipliers: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return bounds (B,) with given multipliers, and where (B, d) they are attained."""
        domain, sums = self.domain, self.sum
        linear = sums.linear - multipliers @ domain.A
        value, points = sums.largest(linear, lower, upper)
        far = np.maximum(np.abs(lower), np.abs(upper))
        size = self.scores.sizes(far)
        size = size + (multipliers @ np.abs(domain.A) * far).sum(axis=1)
        size = size + multipliers @ np.abs(domain.row_limit)
        error = (self.scores.roundings + self._more) * size + TINY
        return value + sums.level + multipliers @ domain.row_limit + error, points
