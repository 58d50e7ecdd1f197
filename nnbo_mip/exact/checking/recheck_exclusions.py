r"""Exclusion boxes as the re-proof sees them, written apart from what the engines do about them.

An exclusion is an open box without admissible points. A box that lies within one holds none; one
that an exclusion covers in all coordinates but one ends at the exclusion's face there. Any other
box is cut by an exclusion in this way: one coordinate after another, what is below the exclusion
and what is above it are cut off as boxes of their own, and what is left in the end lies in the
closed exclusion, all of whose admissible points are on faces and therefore in the boxes that were
cut off.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.space.domain import Domain

SHRINKING_PASSES = 3


class ExclusionBoxes:
    """The exclusions of a domain."""

    def __init__(self, domain: Domain) -> None:
        self.low, self.high = domain.exclusions.lower, domain.exclusions.upper

    def __len__(self) -> int:
        return len(self.low)

    def shrink(
        self, lower: FloatArray, upper: FloatArray
    ) -> tuple[FloatArray, FloatArray, npt.NDArray[np.bool_]]:
        """Move the ends of boxes (d, B) to faces; the mask tells which may hold a point."""
        lower, upper = lower.copy(), upper.copy()
        feasible = np.ones(lower.shape[1], dtype=bool)
        for _ in range(SHRINKING_PASSES):
            moved = False
            for low, high in zip(self.low[:, :, None], self.high[:, :, None], strict=True):
                meets = ((low < upper) & (lower < high)).all(axis=0)
                if not meets.any():
                    continue
                sticks_out = ~((low < lower) & (upper < high))
                count = sticks_out.sum(axis=0)
                feasible &= ~(meets & (count == 0))
                columns = np.flatnonzero(meets & (count == 1))
                j = sticks_out[:, columns].argmax(axis=0)
                face_low, face_high = low[j, 0], high[j, 0]
                at_upper_end = (lower[j, columns] <= face_low) & (upper[j, columns] < face_high)
                at_lower_end = (face_low < lower[j, columns]) & (face_high <= upper[j, columns])
                down, up = columns[at_upper_end], columns[at_lower_end]
                upper[j[at_upper_end], down] = face_low[at_upper_end]
                lower[j[at_lower_end], up] = face_high[at_lower_end]
                moved |= bool(down.size or up.size)
            if not moved:
                break
        return lower, upper, feasible

    def trapping(self, points: FloatArray) -> npt.NDArray[np.intp]:
        """Return an exclusion that each of the points (d, B) lies in, -1 where there is none."""
        result = np.full(points.shape[1], -1, dtype=np.intp)
        for number, (low, high) in enumerate(zip(self.low, self.high, strict=True)):
            inside = ((low[:, None] < points) & (points < high[:, None])).all(axis=0)
            result[inside] = number
        return result

    def meeting(self, lower: FloatArray, upper: FloatArray) -> int:
        """Return an exclusion that shares a point with a box (d,), -1 if there is none."""
        meets = ((self.low < upper) & (lower < self.high)).all(axis=1)
        return int(meets.argmax()) if meets.any() else -1

    def cut(
        self, number: int, lower: FloatArray, upper: FloatArray, steepness: FloatArray
    ) -> tuple[FloatArray, FloatArray, npt.NDArray[np.intp]]:
        """Cut boxes (d, B) that an exclusion meets into what is beside it.

        Parameters
        ----------
        number : int
            Which exclusion.
        lower, upper : (d, B) arrays
        steepness : (d,) array
            Coordinates are taken in falling order of it.

        Returns
        -------
        lower, upper, owner : (d, P), (d, P), (P,) arrays
            The boxes beside the exclusion, and the box each is part of.
        """
        low, high = self.low[number], self.high[number]
        left_lower, left_upper = lower.copy(), upper.copy()
        lowers, uppers, owners = [lower[:, :0]], [upper[:, :0]], [np.zeros(0, dtype=np.intp)]
        for j in np.argsort(-steepness, kind="stable"):
            below = np.flatnonzero(left_lower[j] <= low[j])
            above = np.flatnonzero(left_upper[j] >= high[j])
            under, over = left_upper[:, below], left_lower[:, above]
            under[j], over[j] = low[j], high[j]
            lowers += [left_lower[:, below], over]
            uppers += [under, left_upper[:, above]]
            owners += [below, above]
            left_lower[j] = np.maximum(left_lower[j], low[j])
            left_upper[j] = np.minimum(left_upper[j], high[j])
        return (
            np.concatenate(lowers, axis=1),
            np.concatenate(uppers, axis=1),
            np.concatenate(owners),
        )
