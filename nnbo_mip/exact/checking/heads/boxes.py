r"""Re-proves ``score(x) <= level`` for every admissible x, by code that made no claim.

The domain is cut into boxes, newest first. A box is finished when it holds no admissible point,
or when a convex function that is negative wherever the score does not exceed the level is
negative at its vertices (`excess`). Otherwise convexity says how much can be cut off: with F_0
and F_1 < 0 its largest values on two opposite faces, it is negative beyond F_0 / (F_0 - F_1) of
the way from one to the other. The rest is halved.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from nnbo_mip.exact.checking.heads.outputs import Drawn
from nnbo_mip.exact.checking.heads.pieces import MOST_UNDECIDED, undecided
from nnbo_mip.exact.checking.heads.scores import ScoreBounder
from nnbo_mip.exact.checking.recheck import Recheck, Verdict, Watch, ignore
from nnbo_mip.exact.checking.recheck_holes import Holes
from nnbo_mip.exact.checking.recheck_rows import Rows
from nnbo_mip.heads.objective import Objective
from nnbo_mip.network.affine import FloatArray
from nnbo_mip.space.domain import Domain

FLOATS_PER_BATCH = 1 << 20
SMALLEST_BATCH, LARGEST_BATCH = 4, 1024

MOST_FREE = 12
"""Coordinates whose vertices are looked at."""

SMALLEST_WIDTH = 1e-13
"""Share of the domain's width below which a coordinate is not halved any more."""

NARROW = 0.3
"""Coordinates narrower than this share of the widest one are not halved."""

TIE_BREAK = 1e-2
POINTS_DECIDED = 4

ROUNDINGS = 4.0
"""Boxes whose excess is no more than so many times that of rounding are settled exactly, if
they can be."""

MOST_LEAVES = 2000
"""Boxes that are settled exactly; each may cost a tenth of a second."""


@dataclass(frozen=True, eq=False)
class _Boxes:
    lower: FloatArray  # (d, n)
    upper: FloatArray  # (d, n)
    share: FloatArray  # (n,)

    def __len__(self) -> int:
        return len(self.share)

    def __getitem__(self, index: slice | npt.NDArray[np.bool_]) -> _Boxes:
        return _Boxes(self.lower[:, index], self.upper[:, index], self.share[index])


class HeadRecheck:
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
        self.objective, self.domain, self.scores, self.level = objective, domain, scores, level
        self.rows, self.holes = Rows(domain), Holes(domain)
        widths = domain.upper - domain.lower
        self.unit = np.where(widths > 0.0, widths, 1.0)[:, None]
        free = int((widths > 0.0).sum())
        self.fits = free <= MOST_FREE
        size = FLOATS_PER_BATCH // scores.floats_per_box(free) if self.fits else 0
        self.batch = int(np.clip(size, SMALLEST_BATCH, LARGEST_BATCH))
        self.count = self.leaves = 0
        self.noise = self._noise(x)

    def run(self, time_limit: float, watch: Watch = ignore) -> Recheck:
        """Prove the claim, or find out why not, in so many wall seconds."""
        deadline = time.perf_counter() + time_limit
        low, high = self.domain.lower[:, None], self.domain.upper[:, None]
        stack = [_Boxes(low, high, np.ones(1))]
        while stack:
            finished = 1.0 - sum(float(boxes.share.sum()) for boxes in stack)
            if time.perf_counter() >= deadline or not self.fits:
                return Recheck("time", None, self.count, finished)
            watch(self.count, finished)
            boxes = self._pop(stack)
            self.count += len(boxes)
            found = self._step(boxes)
            if isinstance(found, Recheck):
                return found
            if len(found):
                stack.append(found)
        return self._outcome("proved", None)

    def _pop(self, stack: list[_Boxes]) -> _Boxes:
        """Take up to a batch of boxes from the top of the stack."""
        taken, missing = [], self.batch
        while stack and missing > 0:
            top = stack.pop()
            if len(top) > missing:
                stack.append(top[slice(0, len(top) - missing)])
                top = top[slice(len(top) - missing, None)]
            taken.append(top)
            missing -= len(top)
        return _joined(taken)

    def _outcome(self, verdict: Verdict, x: FloatArray | None) -> Recheck:
        return Recheck(verdict, x, self.count, 1.0)

    def _step(self, boxes: _Boxes) -> _Boxes | Recheck:
        """Finish what can be finished; return the children of the rest."""
        boxes = self._shrunk(boxes)
        if not len(boxes):
            return boxes
        drawn = self.scores.bounder.draw(boxes.lower, boxes.upper)
        excess = self.scores.excess(drawn, self.level)
        # Not "largest >= 0": what is no number must stay open.
        still_open = ~(excess.max(axis=0) < 0.0)
        if not still_open.any():
            return boxes[still_open]
        free = drawn.free
        boxes, excess = boxes[still_open], excess[:, still_open]
        worst = _worst_vertices(boxes, excess, free)
        higher = self._counterexample(boxes, worst)
        if higher is not None:
            return self._outcome("counterexample", higher)
        nearly = excess.max(axis=0) <= self.noise
        if nearly.any():
            settled = self._settled_exactly(drawn.select(still_open), nearly)
            boxes, excess, worst = boxes[~settled], excess[:, ~settled], worst[:, ~settled]
        boxes, excess, beside = self._beside_holes(boxes, excess, worst)
        if not len(boxes):
            return beside
        splittable = self._splittable(boxes)
        stuck = np.flatnonzero(~splittable.any(axis=0))
        if stuck.size:
            return self._outcome("stuck", boxes.lower[:, stuck[0]])
        return _joined([beside, self._halved(boxes, excess, free, splittable)])

    def _shrunk(self, boxes: _Boxes) -> _Boxes:
        """Shrink boxes by rows, grids and holes; leave out those that hold no point."""
        lower, upper, feasible = self.rows.shrink(boxes.lower, boxes.upper)
        boxes = _Boxes(lower, upper, boxes.share)[feasible]
        if not len(self.holes):
            return boxes
        lower, upper, feasible = self.holes.shrink(boxes.lower, boxes.upper)
        boxes = _Boxes(lower, upper, boxes.share)[feasible]
        # Faces need not lie on grids.
        lower, upper, feasible = self.rows.shrink(boxes.lower, boxes.upper)
        return _Boxes(lower, upper, boxes.share)[feasible]

    def _counterexample(self, boxes: _Boxes, worst: FloatArray) -> FloatArray | None:
        """Return an admissible point with score > level in real arithmetic, if one is seen."""
        points = np.hstack([worst, 0.5 * boxes.lower + 0.5 * boxes.upper]).T
        return counterexample(self.objective, self.domain, self.scores, self.level, points)

    def _settled_exactly(
        self, drawn: Drawn, nearly: npt.NDArray[np.bool_]
    ) -> npt.NDArray[np.bool_]:
        """Return which of the boxes that rounding alone may leave open are settled without it."""
        settled = np.zeros(drawn.count, dtype=bool)
        for index in np.flatnonzero(nearly & (undecided(drawn) <= MOST_UNDECIDED)):
            if self.leaves == MOST_LEAVES:
                break
            self.leaves += 1
            one = drawn.select(np.arange(drawn.count) == index)
            settled[index] = bool((self.scores.excess_of_pieces(one, self.level) < 0.0).all())
        return settled

    def _noise(self, x: FloatArray | None) -> float:
        """Return what rounding alone adds to the excess, as seen at a point."""
        if x is None:
            return 0.0
        drawn = self.scores.bounder.draw(x[:, None], x[:, None])
        rounded = float(self.scores.excess(drawn, self.level).max())
        if not math.isfinite(rounded) or undecided(drawn)[0] > MOST_UNDECIDED:
            return 0.0
        exact = float(self.scores.excess_of_pieces(drawn, self.level).max())
        return ROUNDINGS * max(rounded - exact, 0.0)

    def _beside_holes(
        self, boxes: _Boxes, excess: FloatArray, worst: FloatArray
    ) -> tuple[_Boxes, FloatArray, _Boxes]:
        """Take out the boxes whose worst vertex is in a hole; return the rest and their parts."""
        if not len(self.holes):
            return boxes, excess, boxes[slice(0, 0)]
        hole = self.holes.trapping(worst)
        parts = [boxes[slice(0, 0)]]
        for number in np.unique(hole[hole >= 0]):
            mine = boxes[hole == number]
            widths = ((mine.upper - mine.lower) / self.unit).mean(axis=1)
            lower, upper, owner = self.holes.cut(int(number), mine.lower, mine.upper, widths)
            counts = np.bincount(owner, minlength=len(mine))
            parts.append(_Boxes(lower, upper, mine.share[owner] / counts[owner]))
        outside = hole < 0
        return boxes[outside], excess[:, outside], _joined(parts)

    # -- halving ----------------------------------------------------------------------

    def _splittable(self, boxes: _Boxes) -> npt.NDArray[np.bool_]:
        width = boxes.upper - boxes.lower
        wide = width > SMALLEST_WIDTH * self.unit
        return np.where(self.rows.is_real[:, None], wide, width > 0.0)

    def _halved(
        self,
        boxes: _Boxes,
        excess: FloatArray,
        free: npt.NDArray[np.intp],
        splittable: npt.NDArray[np.bool_],
    ) -> _Boxes:
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
        share = np.where(splittable, (boxes.upper - boxes.lower) / self.unit, 0.0)
        wide = splittable & (share >= NARROW * share.max(axis=0, initial=0.0))
        steep = steep + TIE_BREAK * steep.max(axis=0, initial=0.0) + np.finfo(float).tiny
        chosen = np.where(wide, share * steep, -1.0).argmax(axis=0)
        columns = np.arange(len(boxes))
        # The halves are those of what is left, where that is wide, else those of the whole, whose
        # ends are on the grids.
        left = (upper[chosen, columns] > lower[chosen, columns]) & self.rows.is_real[chosen]
        low = np.where(left, lower[chosen, columns], boxes.lower[chosen, columns])
        high = np.where(left, upper[chosen, columns], boxes.upper[chosen, columns])
        left_end, right_start = self.rows.cut(low, high, chosen)
        left_upper, right_lower = upper.copy(), lower.copy()
        left_upper[chosen, columns] = np.minimum(left_end, upper[chosen, columns])
        right_lower[chosen, columns] = np.maximum(right_start, lower[chosen, columns])
        return _Boxes(
            np.concatenate([lower, right_lower], axis=1),
            np.concatenate([left_upper, upper], axis=1),
            np.concatenate([boxes.share, boxes.share]) / 2.0,
        )


def _joined(parts: list[_Boxes]) -> _Boxes:
    return _Boxes(
        np.concatenate([boxes.lower for boxes in parts], axis=1),
        np.concatenate([boxes.upper for boxes in parts], axis=1),
        np.concatenate([boxes.share for boxes in parts]),
    )


def _worst_vertices(boxes: _Boxes, excess: FloatArray, free: npt.NDArray[np.intp]) -> FloatArray:
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
