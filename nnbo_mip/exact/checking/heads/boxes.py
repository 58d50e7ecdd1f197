r"""Re-proves ``score(x) <= level`` for every admissible x, by code that made no claim.

The domain is cut into boxes, newest first. A box is finished when it holds no admissible point,
or when a convex function that is negative wherever the score does not exceed the level is
negative at its vertices (`excess`). Otherwise convexity says how much can be cut off: with F_0
and F_1 < 0 its largest values on two opposite faces, it is negative beyond F_0 / (F_0 - F_1) of
the way from one to the other. The rest is halved.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.exact.checking.heads.outputs import BoundedBoxes
from nnbo_mip.exact.checking.heads.pieces import MOST_UNDECIDED, undecided
from nnbo_mip.exact.checking.heads.scores import ScoreBounder
from nnbo_mip.exact.checking.sweep import Boxes, Recheck, Sweep, Watch, halves, ignore, joined
from nnbo_mip.scores.objective import Objective
from nnbo_mip.space.domain import Domain

FLOATS_PER_BATCH = 1 << 20
SMALLEST_BATCH, LARGEST_BATCH = 4, 1024

MOST_FREE = 12
"""Coordinates whose vertices are looked at."""

TIE_BREAK = 1e-2
POINTS_DECIDED = 4

ROUNDINGS = 4.0
"""Boxes whose excess is no more than so many times that of rounding are settled exactly, if
they can be."""

MOST_LEAVES = 2000
"""Boxes that are settled exactly; each may cost a tenth of a second."""


class HeadRecheck(Sweep):
    """A search over boxes.

    Parameters
    ----------
    objective : Objective
    domain : Domain
    scores : ScoreBounder
        Of this objective over this domain.
    level : float
        The claimed bound, finite.
    x : (d,) array or None
        A point that scores high, where rounding is looked at.
    """

    def __init__(
        self,
        objective: Objective,
        domain: Domain,
        scores: ScoreBounder,
        level: float,
        x: FloatArray | None,
    ) -> None:
        self.objective, self.scores, self.level = objective, scores, level
        free = int((domain.upper > domain.lower).sum())
        self.fits = free <= MOST_FREE
        size = FLOATS_PER_BATCH // scores.floats_per_box(free) if self.fits else 0
        batch = int(np.clip(size, SMALLEST_BATCH, LARGEST_BATCH))
        super().__init__(domain, batch, TIE_BREAK)
        if scores.unit is not None:
            self.metric = scores.unit[:, None]
        self.leaves = 0
        self.noise = self._noise(x)

    def run(self, time_limit: float, watch: Watch = ignore) -> Recheck:
        """Prove the claim, or find out why not, in so many wall seconds."""
        return super().run(time_limit if self.fits else 0.0, watch)

    def _step(self, boxes: Boxes) -> Boxes | Recheck:
        bounded = self.scores.bound_outputs(boxes.lower, boxes.upper)
        excess = self.scores.excess(bounded, self.level)
        # Not "largest >= 0": what is no number must stay open.
        still_open = ~(excess.max(axis=0) < 0.0)
        if not still_open.any():
            return boxes[still_open]
        free = bounded.free
        boxes, excess = boxes[still_open], excess[:, still_open]
        worst = _worst_vertices(boxes, excess, free)
        higher = self._counterexample(boxes, worst)
        if higher is not None:
            return self.outcome("counterexample", higher)
        nearly = excess.max(axis=0) <= self.noise
        if self.scores.has_pieces and nearly.any():
            settled = self._settled_exactly(bounded.select(still_open), nearly)
            boxes, excess, worst = boxes[~settled], excess[:, ~settled], worst[:, ~settled]
        outside, beside = self.beside_exclusions(
            boxes, worst, (boxes.upper - boxes.lower) / self.unit
        )
        boxes, excess = boxes[outside], excess[:, outside]
        if not len(boxes):
            return beside
        splittable = self.splittable(boxes)
        stuck = np.flatnonzero(~splittable.any(axis=0))
        if stuck.size:
            return self.outcome("stuck", boxes.lower[:, stuck[0]])
        return joined([beside, self._halved(boxes, excess, free, splittable)])

    def _counterexample(self, boxes: Boxes, worst: FloatArray) -> FloatArray | None:
        """Return an admissible point with score > level in real arithmetic, if one is seen."""
        points = np.hstack([worst, 0.5 * boxes.lower + 0.5 * boxes.upper]).T
        return counterexample(self.objective, self.domain, self.scores, self.level, points)

    def _settled_exactly(
        self, bounded: BoundedBoxes, nearly: npt.NDArray[np.bool_]
    ) -> npt.NDArray[np.bool_]:
        """Return which of the boxes that rounding alone may leave open are settled without it."""
        settled = np.zeros(bounded.count, dtype=bool)
        for index in np.flatnonzero(nearly & (undecided(bounded) <= MOST_UNDECIDED)):
            if self.leaves == MOST_LEAVES:
                break
            self.leaves += 1
            one = bounded.select(np.arange(bounded.count) == index)
            settled[index] = bool((self.scores.excess_of_pieces(one, self.level) < 0.0).all())
        return settled

    def _noise(self, x: FloatArray | None) -> float:
        """Return what rounding alone adds to the excess, as seen at a point."""
        if x is None or not self.scores.has_pieces:
            return 0.0
        bounded = self.scores.bound_outputs(x[:, None], x[:, None])
        rounded = float(self.scores.excess(bounded, self.level).max())
        if not math.isfinite(rounded) or undecided(bounded)[0] > MOST_UNDECIDED:
            return 0.0
        exact = float(self.scores.excess_of_pieces(bounded, self.level).max())
        return ROUNDINGS * max(rounded - exact, 0.0)

    # -- halving ----------------------------------------------------------------------

    def _halved(
        self,
        boxes: Boxes,
        excess: FloatArray,
        free: npt.NDArray[np.intp],
        splittable: npt.NDArray[np.bool_],
    ) -> Boxes:
        """Cut off what does not exceed the level, then cut across the steepest wide coordinate."""
        lower, upper = boxes.lower.copy(), boxes.upper.copy()
        steep = np.zeros_like(lower)
        for bit, j in enumerate(free):
            faces = excess.reshape(-1, 2, 1 << bit, len(boxes))
            at_low, at_high = faces[:, 0].max(axis=(0, 1)), faces[:, 1].max(axis=(0, 1))
            lower[j], upper[j] = _cut_off(boxes.lower[j], boxes.upper[j], at_low, at_high)
            with np.errstate(invalid="ignore"):
                steep[j] = np.abs(faces[:, 1] - faces[:, 0]).max(axis=(0, 1))
        steep = np.where(np.isfinite(steep), steep, 0.0)
        chosen = self.steepest(boxes, steep, splittable)
        columns = np.arange(len(boxes))
        # The halves are those of what is left, where that is wide, else those of the whole, whose
        # ends are on the grids.
        left = (upper[chosen, columns] > lower[chosen, columns]) & self.rows.is_real[chosen]
        low = np.where(left, lower[chosen, columns], boxes.lower[chosen, columns])
        high = np.where(left, upper[chosen, columns], boxes.upper[chosen, columns])
        return halves(lower, upper, boxes.share, chosen, *self.rows.cut(low, high, chosen))


def _worst_vertices(boxes: Boxes, excess: FloatArray, free: npt.NDArray[np.intp]) -> FloatArray:
    """Return the vertices (d, n) at which the excess is largest."""
    worst = excess.argmax(axis=0)
    points = boxes.lower.copy()
    for bit, j in enumerate(free):
        points[j] = np.where(worst >> bit & 1 == 1, boxes.upper[j], boxes.lower[j])
    return points


def _cut_off(
    lower: FloatArray, upper: FloatArray, at_low: FloatArray, at_high: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Move ends (n,) over the part where interpolation between two faces is negative."""
    width = upper - lower
    with np.errstate(all="ignore"):
        kept_from_low = at_low / (at_low - at_high) * (1.0 + 1e-12)
        kept_from_high = at_high / (at_high - at_low) * (1.0 + 1e-12)
    rounding = 1e-15 * (np.abs(lower) + np.abs(upper))
    from_low = (at_low >= 0.0) & (at_high < 0.0) & (kept_from_low < 1.0)
    from_high = (at_high >= 0.0) & (at_low < 0.0) & (kept_from_high < 1.0)
    kept_from_low = np.where(from_low, kept_from_low, 1.0)
    kept_from_high = np.where(from_high, kept_from_high, 1.0)
    new_upper = np.where(from_low, lower + kept_from_low * width + rounding, upper)
    new_lower = np.where(from_high, upper - kept_from_high * width - rounding, lower)
    return np.maximum(new_lower, lower), np.minimum(new_upper, upper)


def counterexample(
    objective: Objective,
    domain: Domain,
    scores: ScoreBounder,
    level: float,
    points: FloatArray,
) -> FloatArray | None:
    """Return an admissible one of the points (n, d) whose score exceeds a level for certain."""
    values = objective.score(points)
    above = np.flatnonzero(values > level)
    tried = 0
    for index in above[np.argsort(-values[above], kind="stable")]:
        point = points[index][None, :]
        if domain.admissible(point)[0]:
            if scores.interval(point)[0][0] > level:
                return np.asarray(points[index])
            tried += 1
            if tried == POINTS_DECIDED:
                return None
    return None
