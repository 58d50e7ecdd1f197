r"""Boxes that an exclusion cuts, in the search over boxes.

An exclusion matters to a box where its plane g is largest: if that corner lies in an exclusion, no
admissible point attains the bound there. On the pieces beside the exclusion's faces the plane is
at most

    max g - |g_j| * (distance from the corner to the face across coordinate j),

so the box is replaced by its pieces, those that lose most first and therefore the widest.
Where even the largest of these losses is small beside what halving gains, and the box has
other reasons for its bound, it is halved.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.space.domain import Domain

WORTHWHILE = 0.25
"""Loss of a plane across a face, as a share of what halving the box takes from one child."""


@dataclass(frozen=True, eq=False)
class ExclusionSplit:
    """Boxes with some of them replaced by pieces.

    Parameters
    ----------
    lower, upper : (d, P) arrays
        The pieces.
    parent : (P,) int array
        The boxes they are part of.
    replaced : (B,) bool array
        Which boxes have been replaced.
    """

    lower: FloatArray
    upper: FloatArray
    parent: npt.NDArray[np.intp]
    replaced: npt.NDArray[np.bool_]


class ExclusionSplitter:
    """Replaces boxes by the pieces beside an exclusion.

    Parameters
    ----------
    domain : Domain
        With at least one exclusion.
    """

    def __init__(self, domain: Domain) -> None:
        self.domain, self.exclusions, self.faces = domain, domain.exclusions, domain.exclusion_faces

    def split(
        self,
        lower: FloatArray,
        upper: FloatArray,
        slopes: FloatArray,
        corners: FloatArray,
        always: bool,
    ) -> ExclusionSplit:
        """Replace the boxes whose corner lies in an exclusion, if that is worth more than halving.

        Parameters
        ----------
        lower, upper, slopes, corners : (d, B) arrays
            Boxes, their planes, and where these are largest.
        always : bool
            Whether every such box is replaced: no admissible point is known yet.
        """
        box, exclusion, loss = self._chosen(lower, upper, slopes, corners)
        halved = 0.5 * (np.abs(slopes) * (upper - lower))[:, box].max(axis=0, initial=0.0)
        finite = np.where(np.isfinite(loss), loss, 0.0)
        worth = finite.max(axis=0, initial=0.0) >= WORTHWHILE * halved
        kept = worth | always
        box, exclusion, loss = box[kept], exclusion[kept], loss[:, kept]
        order = np.argsort(-loss, axis=0, kind="stable").T
        low, high, part = self.faces.pieces(lower[:, box].T, upper[:, box].T, exclusion, order)
        low, high, feasible = self.domain.tighten(low, high)
        replaced = np.zeros(lower.shape[1], dtype=bool)
        replaced[box] = True
        return ExclusionSplit(low[feasible].T, high[feasible].T, box[part[feasible]], replaced)

    def moved_out(
        self, corners: FloatArray, lower: FloatArray, upper: FloatArray, slopes: FloatArray
    ) -> FloatArray:
        """Move corners (d, B) that lie in an exclusion onto its face that costs the plane least."""
        box, _, loss, faces = self._exits(lower, upper, slopes, corners)
        moved = corners.copy()
        if box.size:
            j = loss.argmin(axis=0)
            rows = np.arange(box.size)
            can = np.isfinite(loss[j, rows])
            moved[j[can], box[can]] = faces[j[can], rows[can]]
        return moved

    def _chosen(
        self, lower: FloatArray, upper: FloatArray, slopes: FloatArray, corners: FloatArray
    ) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp], FloatArray]:
        """Return one exclusion a box whose corner lies in some, and the losses (d, n) across faces.

        Of several exclusions the one that takes most from all pieces.
        """
        box, exclusion, loss, _ = self._exits(lower, upper, slopes, corners)
        if not box.size:
            return box, exclusion, loss
        order = np.lexsort((-loss.min(axis=0), box))
        box, exclusion, loss = box[order], exclusion[order], loss[:, order]
        first = np.append(True, box[1:] != box[:-1])
        return box[first], exclusion[first], loss[:, first]

    def _exits(
        self, lower: FloatArray, upper: FloatArray, slopes: FloatArray, corners: FloatArray
    ) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp], FloatArray, FloatArray]:
        """Return pairs of a box and an exclusion that holds its corner, losses and faces (d, n).

        The loss is infinite where the box ends within the exclusion.
        """
        box, exclusion = np.nonzero(self.exclusions.containing(corners.T))
        at = corners[:, box]
        below, above = self.faces.below[exclusion].T, self.faces.above[exclusion].T
        down = np.where(below >= lower[:, box], at - below, np.inf)
        up = np.where(above <= upper[:, box], above - at, np.inf)
        steep = np.abs(slopes[:, box])
        with np.errstate(invalid="ignore"):
            loss = steep * np.minimum(down, up)
        loss = np.where(np.isfinite(np.minimum(down, up)), loss, np.inf)
        return box, exclusion, loss, np.where(down <= up, below, above)
