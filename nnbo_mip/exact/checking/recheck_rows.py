r"""Rows, grids, one-hot groups and exclusions as the re-proof sees them.

A one-hot group is its sum, written as two rows. A row ``A x <= t`` moves the ends of a
box: with s = t - min(A x) the slack that the box leaves,

    x_j <= lower_j + s / A_j   where A_j > 0,      x_j >= upper_j + s / A_j   where A_j < 0,

and it takes part in bounds through one multiplier mu >= 0 at a time,

    a . x + c <= c + mu t + max_box (a - mu A) . x,

which is convex and piecewise linear in mu, so that only ``mu = a_j / A_j`` need be tried.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.exact.checking.recheck_bounds import LinearBounds
from nnbo_mip.exact.checking.recheck_exclusions import ExclusionBoxes
from nnbo_mip.space.domain import Domain

SHRINKING_PASSES = 2
ROUNDING = 2.0**-50
"""Relative error of a sum, a term; eight times the unit roundoff."""


class Rows:
    """The constraints of a domain beyond its box."""

    def __init__(self, domain: Domain) -> None:
        sums = np.zeros((len(domain.one_hot), domain.dimension))
        for row, group in enumerate(domain.one_hot):
            sums[row, list(group)] = 1.0
        ones = np.ones(len(sums))
        self.A: FloatArray = np.concatenate([domain.A, sums, -sums])
        self.limit: FloatArray = np.concatenate([domain.row_limit, ones, -ones])
        self.is_real = np.array([grid is None for grid in domain.grids])
        self.exclusions = ExclusionBoxes(domain)
        self._grids = domain.grids
        self._rounding = ROUNDING * (domain.dimension + 4)

    def shrink(
        self, lower: FloatArray, upper: FloatArray
    ) -> tuple[FloatArray, FloatArray, npt.NDArray[np.bool_]]:
        """Move the ends of boxes (d, B) inwards; the mask tells which may hold a point."""
        lower, upper = lower.copy(), upper.copy()
        feasible = np.ones(lower.shape[1], dtype=bool)
        for _ in range(SHRINKING_PASSES):
            for row, limit in zip(self.A, self.limit, strict=True):
                used = np.flatnonzero(row)
                feasible &= self._shrink_by(row[used, None], limit, lower, upper, used)
            feasible &= self._onto_grids(lower, upper)
            if len(self.exclusions):
                lower, upper, outside = self.exclusions.shrink(lower, upper)
                feasible &= outside & self._onto_grids(lower, upper)
            elif not len(self.A):
                break
        feasible &= (lower <= upper).all(axis=0)
        return lower, upper, feasible

    def _shrink_by(
        self,
        row: FloatArray,
        limit: float,
        lower: FloatArray,
        upper: FloatArray,
        used: npt.NDArray[np.intp],
    ) -> npt.NDArray[np.bool_]:
        low, high = lower[used], upper[used]
        smallest = np.minimum(row * low, row * high)
        size = np.maximum(np.abs(row * low), np.abs(row * high)).sum(axis=0) + abs(limit)
        slack = limit - smallest.sum(axis=0) + self._rounding * size
        with np.errstate(over="ignore", invalid="ignore"):
            step = slack / row
            margin = ROUNDING * (np.abs(low) + np.abs(high) + np.abs(step))
            new_high = np.where(row > 0.0, low + step + margin, high)
            new_low = np.where(row < 0.0, high + step - margin, low)
        # fmin and fmax: an overflow leaves the end where it was.
        upper[used], lower[used] = np.fmin(high, new_high), np.fmax(low, new_low)
        return np.asarray(slack >= 0.0)

    def _onto_grids(self, lower: FloatArray, upper: FloatArray) -> npt.NDArray[np.bool_]:
        feasible = np.ones(lower.shape[1], dtype=bool)
        for j in np.flatnonzero(~self.is_real):
            grid = self._grids[j]
            if grid is not None:
                first, last = grid.index_above(lower[j]), grid.index_below(upper[j])
                feasible &= first <= last
                lower[j] = grid.value(np.clip(first, 0, grid.count - 1))
                upper[j] = grid.value(np.clip(last, 0, grid.count - 1))
        return feasible

    def largest(self, planes: LinearBounds, lower: FloatArray, upper: FloatArray) -> FloatArray:
        """Bound planes over boxes (d, B) by the best of one multiplier for one row: (B,)."""
        best = planes.largest
        for row, limit in zip(self.A, self.limit, strict=True):
            for j in np.flatnonzero(row):
                multiplier = np.maximum(planes.slopes[j] / row[j], 0.0)
                best = np.minimum(best, self._with(planes, row, limit, multiplier, lower, upper))
        return best

    def _with(
        self,
        planes: LinearBounds,
        row: FloatArray,
        limit: float,
        multiplier: FloatArray,
        lower: FloatArray,
        upper: FloatArray,
    ) -> FloatArray:
        slopes = planes.slopes - row[:, None] * multiplier
        value = planes.constant + limit * multiplier
        value = value + np.maximum(slopes * lower, slopes * upper).sum(axis=0)
        reach = np.maximum(np.abs(lower), np.abs(upper))
        size = np.abs(planes.constant) + abs(limit) * multiplier
        size = size + ((np.abs(planes.slopes) + np.abs(row)[:, None] * multiplier) * reach).sum(
            axis=0
        )
        with np.errstate(invalid="ignore"):
            bound = value + self._rounding * size
        return np.where(np.isfinite(bound), bound, np.inf)

    def cut(
        self, low: FloatArray, high: FloatArray, coordinate: npt.NDArray[np.intp]
    ) -> tuple[FloatArray, FloatArray]:
        """Return where the lower half of an interval ends and where the upper one starts.

        Real coordinates are cut at the middle, grids between two of their values.
        """
        left_end = 0.5 * low + 0.5 * high
        right_start = left_end.copy()
        for j in np.unique(coordinate):
            grid = self._grids[j]
            if grid is not None:
                mine = coordinate == j
                middle = (grid.index_above(low[mine]) + grid.index_below(high[mine])) // 2
                left_end[mine], right_start[mine] = grid.value(middle), grid.value(middle + 1)
        return left_end, right_start
