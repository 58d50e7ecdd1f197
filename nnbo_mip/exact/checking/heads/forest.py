"""Re-proves ``score(x) <= level`` for trees: boxes are cut where leaves end.

A box is finished when it holds no admissible point or when its score is bounded by the level
(`forest_score`). Of the others the tree whose values differ most says where to cut: at the face of
its best leaf that is nearest to the middle of the box. The points are float64 numbers: a box that
is cut at t goes on with the next number above t.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.exact.checking.heads.boxes import counterexample
from nnbo_mip.exact.checking.heads.forest_score import ForestScore
from nnbo_mip.exact.checking.sweep import Boxes, Recheck, Sweep, halves, joined
from nnbo_mip.scores.objective import Objective
from nnbo_mip.space.domain import Domain

FLOATS_PER_BATCH = 1 << 20
SMALLEST_BATCH, LARGEST_BATCH = 4, 512
TIE_BREAK = 1.0


class ForestRecheck(Sweep):
    """A search over boxes that end where leaves end.

    Parameters
    ----------
    objective : Objective
    domain : Domain
    scores : ForestScore
        Of this objective.
    level : float
        The claimed bound, finite.
    """

    def __init__(
        self, objective: Objective, domain: Domain, scores: ForestScore, level: float
    ) -> None:
        self.objective, self.scores, self.level = objective, scores, level
        size = FLOATS_PER_BATCH // scores.floats_per_box(0)
        super().__init__(domain, int(np.clip(size, SMALLEST_BATCH, LARGEST_BATCH)), TIE_BREAK)

    def _step(self, boxes: Boxes) -> Boxes | Recheck:
        bound, meets = self.scores.bound(boxes.lower, boxes.upper)
        still_open = ~(bound <= self.level)  # not a number stays open
        boxes, meets = boxes[still_open], meets[still_open]
        if not len(boxes):
            return boxes
        middle = self._middles(boxes)
        higher = counterexample(
            self.objective, self.domain, self.scores, self.level, np.ascontiguousarray(middle.T)
        )
        if higher is not None:
            return self.outcome("counterexample", higher)
        coordinate, face = self._faces(boxes, meets)
        cut = coordinate >= 0
        parts = [self._cut(boxes[cut], coordinate[cut], face[cut])]
        rest, middle = boxes[~cut], middle[:, ~cut]
        if len(rest):
            # The score is constant here: all that is left is whether a point is admissible.
            steep = (rest.upper - rest.lower) / self.unit
            outside, beside = self.beside_exclusions(rest, middle, steep)
            parts.append(beside)
            rest = rest[outside]
            splittable = self.splittable(rest)
            stuck = np.flatnonzero(~splittable.any(axis=0))
            if stuck.size:
                return self.outcome("stuck", rest.lower[:, stuck[0]])
            chosen = self.steepest(rest, np.ones_like(rest.lower), splittable)
            columns = np.arange(len(rest))
            ends = rest.lower[chosen, columns], rest.upper[chosen, columns]
            parts.append(
                halves(rest.lower, rest.upper, rest.share, chosen, *self.rows.cut(*ends, chosen))
            )
        return joined(parts)

    def _middles(self, boxes: Boxes) -> FloatArray:
        """Return a point (d, n) of each box, on the grids."""
        middle = np.clip(0.5 * boxes.lower + 0.5 * boxes.upper, boxes.lower, boxes.upper)
        for j, grid in enumerate(self.domain.grids):
            if grid is not None:
                middle[j] = grid.value(grid.nearest(middle[j]))
        return middle

    def _faces(
        self, boxes: Boxes, meets: npt.NDArray[np.bool_]
    ) -> tuple[npt.NDArray[np.intp], FloatArray]:
        """Return coordinates and places (n,) at which boxes are cut; -1 where no leaf ends."""
        leaves = self.scores.leaves
        high, low = leaves.most(meets, leaves.value), -leaves.most(meets, -leaves.value)
        counts = np.add.reduceat(meets.astype(np.int64), leaves.first, axis=1)
        several = counts > 1
        tree = np.where(several, high - low, -1.0).argmax(axis=1)
        ends = np.append(leaves.first, len(leaves.value))
        index = np.arange(len(leaves.value))
        mine = (index >= ends[tree][:, None]) & (index < ends[tree + 1][:, None])
        best = np.where(meets & mine, leaves.value, -np.inf).argmax(axis=1)
        found = np.concatenate([leaves.low[:, best], leaves.high[:, best]])
        lower, upper = np.vstack([boxes.lower] * 2), np.vstack([boxes.upper] * 2)
        inside = (lower <= found) & (found < upper)
        with np.errstate(invalid="ignore"):
            off = np.abs(found - 0.5 * lower - 0.5 * upper) / np.vstack([self.unit] * 2)
        chosen = np.where(inside, off, np.inf).argmin(axis=0)
        columns = np.arange(len(boxes))
        possible = inside[chosen, columns] & several.any(axis=1)
        coordinate = np.where(possible, chosen % len(boxes.lower), -1)
        return coordinate, found[chosen, columns]

    @staticmethod
    def _cut(boxes: Boxes, coordinate: npt.NDArray[np.intp], face: FloatArray) -> Boxes:
        return halves(
            *(boxes.lower, boxes.upper, boxes.share, coordinate),
            face,
            np.nextafter(face, np.inf),
        )
