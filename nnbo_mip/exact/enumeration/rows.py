"""Linear rows: what they leave of a cover, and how a vertex becomes an admissible point."""

from __future__ import annotations

import numpy as np

from nnbo_mip.core.arrays import FloatArray, IntArray
from nnbo_mip.exact.enumeration.simplices import Geometry, children, interiors
from nnbo_mip.exact.search.rounding import SMALLEST_SUBNORMAL, UNIT_ROUNDOFF
from nnbo_mip.space.domain import Domain

CUTS_PER_ROW = 4
"""Cuts of one triangle that settle one row, rounded up."""


class Rows:
    """The rows ``A x <= limit`` of a domain, with margins that rounding cannot cross.

    The *excess* of a point is ``A x - limit`` as computed in float64. The margin of a row
    exceeds four times the error of an excess in the box, and four times what the drift
    of new vertices can add to it, so an excess of a margin proves that the row is
    violated there and nearby.
    """

    def __init__(self, domain: Domain, geometry: Geometry) -> None:
        self.A, self.limit = domain.A, domain.row_limit
        self._geometry = geometry
        self._lower, self._upper, self._exclusions = domain.lower, domain.upper, domain.exclusions
        largest = np.maximum(np.abs(domain.lower), np.abs(domain.upper))
        roundings = 16 * (domain.dimension + 16) + 64 * CUTS_PER_ROW * len(self.limit)
        size = np.abs(self.A) @ largest + np.abs(self.limit)
        self.margin = roundings * (UNIT_ROUNDOFF * size + SMALLEST_SUBNORMAL)

    def excess(self, points: FloatArray) -> FloatArray:
        """Return ``A x - limit`` for points (…, d): (…, m)."""
        return np.asarray(points @ self.A.T - self.limit)

    def clip(self, vertices: FloatArray) -> tuple[FloatArray, IntArray]:
        """Keep the part of a cover where every row holds.

        A simplex across a row is cut where the excess is two margins: what lies beyond
        violates the row at every vertex by a margin at least, and is dropped.

        Returns
        -------
        vertices : (c + 1, n, d) array
        drifts : (n,) int array
            Cuts behind each simplex that need not cover exactly.
        """
        drifts = np.zeros(vertices.shape[1], dtype=np.int64)
        for row, margin in enumerate(self.margin):
            kept, kept_drifts = [vertices[:, :0]], [drifts[:0]]
            while vertices.shape[1]:
                excess = self.excess(vertices)[:, :, row]
                least, most = excess.min(axis=0), excess.max(axis=0)
                inside = most <= 3.0 * margin
                kept.append(vertices[:, inside])
                kept_drifts.append(drifts[inside])
                across = ~inside & (least < margin)
                vertices, excess, drifts = vertices[:, across], excess[:, across], drifts[across]
                edge = (excess.argmin(axis=0), excess.argmax(axis=0))
                least, most = least[across], most[across]
                share = (2.0 * margin - least) / (most - least)
                new = self._geometry.new_vertices(vertices, edge, share)
                vertices = children(vertices, edge, np.stack([new.points, new.points]))
                drifts = np.tile(drifts + new.drifts, 2)
            vertices = np.concatenate(kept, axis=1)
            drifts = np.concatenate(kept_drifts)
        return vertices, drifts

    def moved_inside(self, points: FloatArray, vertices: FloatArray) -> FloatArray:
        """Move vertices that rounding left outside a row to points where all rows hold.

        Parameters
        ----------
        points : (n, d) array
        vertices : (c + 1, n, d) array
            Simplices of which the points are vertices.

        Returns
        -------
        (n, d) array
            The nearest points where the violated rows hold by a margin; where these violate
            other rows or lie in an exclusion, points on the way to the center of the simplex.
        """
        near = self._nearest_inside(points)
        far = self._towards(points, interiors(vertices))
        good = (self.excess(near) <= 0.0).all(axis=1) & ~self._exclusions.contain(near)
        return np.where(good[:, None], near, far)

    def _nearest_inside(self, points: FloatArray) -> FloatArray:
        """Correct the violated rows by the smallest step in the free coordinates."""
        free = list(self._geometry.free)
        normals = self.A[:, free]
        norms = np.linalg.norm(normals, axis=1)
        norms = np.where(norms > 0.0, norms, 1.0)
        needed = (np.maximum(self.excess(points) + self.margin, 0.0) / norms)[:, :, None]
        active = np.where(needed > 0.0, normals / norms[:, None], 0.0)  # (n, m, c)
        steps = np.linalg.pinv(active) @ needed
        moved = points.copy()
        moved[:, free] -= steps[:, :, 0]
        return np.asarray(np.clip(moved, self._lower, self._upper))

    def _towards(self, points: FloatArray, centers: FloatArray) -> FloatArray:
        """Move points towards centers until every row that the center satisfies holds."""
        excess, central = self.excess(points), self.excess(centers)
        needed = excess + self.margin
        gained = np.maximum(excess - central, needed)
        open_rows = needed > 0.0
        share = np.where(open_rows, needed / np.where(open_rows, gained, 1.0), 0.0).max(axis=1)
        moved = points + share[:, None] * (centers - points)
        return np.asarray(np.clip(moved, self._lower, self._upper))
