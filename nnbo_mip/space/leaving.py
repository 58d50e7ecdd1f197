r"""The admissible point near a point that lies in an exclusion.

What an exclusion leaves of a box is covered by pieces beside its faces (`exclusion_faces`), and the
point of a piece nearest to x is found as in a domain without exclusions. Pieces wait in order of

    sum_j |x'_j - x_j| / (u_j - l_j)  +  number of groups that change their level,

so that the first one whose nearest point lies in no exclusion ends the search. Where many
exclusions overlap, that may take long: after a number of pieces the search goes depth first.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.space.repairing import repair_without_exclusions, round_to_domain

if TYPE_CHECKING:
    from nnbo_mip.space.domain import Domain

NEAREST_FIRST = 200
"""Pieces that are looked at in order of distance."""

DEPTH_FIRST = 400
"""Pieces that are looked at afterwards, newest first."""

NEAREST_FIRST_IN_ROWS, DEPTH_FIRST_IN_ROWS = 20, 40
"""The same where every piece may cost an integer program."""


@dataclass(order=True)
class _Piece:
    distance: float
    number: int
    lower: FloatArray = field(compare=False)
    upper: FloatArray = field(compare=False)
    point: FloatArray = field(compare=False)


def leave_exclusions(domain: Domain, x: FloatArray) -> FloatArray | None:
    """Return an admissible point (d,) near x (d,), which is rounded to the domain; or None."""
    if domain.admissible(x)[0]:
        return x
    search = _Search(domain, x)
    first, then = NEAREST_FIRST, DEPTH_FIRST
    if domain.b.size:
        first, then = NEAREST_FIRST_IN_ROWS, DEPTH_FIRST_IN_ROWS
    search.add(domain.lower[None, :], domain.upper[None, :])
    for count in range(first + then):
        if not search.pieces:
            return None
        piece = heapq.heappop(search.pieces) if count < first else search.newest()
        if domain.admissible(piece.point)[0]:
            return piece.point
        search.split(piece)
    return None


class _Search:
    def __init__(self, domain: Domain, x: FloatArray) -> None:
        self.domain, self.x = domain, x
        width = domain.upper - domain.lower
        self._unit = np.where(width > 0.0, width, 1.0)
        members = np.array(sorted(domain.one_hot_members), dtype=np.int64)
        self._measured = np.ones(domain.dimension, dtype=bool)
        self._measured[members] = False
        self.pieces: list[_Piece] = []
        self._added = 0

    def newest(self) -> _Piece:
        """Take the nearest of the pieces of the last split."""
        self.pieces.sort(key=lambda piece: (-piece.number, piece.distance))
        return self.pieces.pop(0)

    def add(self, lower: FloatArray, upper: FloatArray) -> None:
        """Put boxes (m, d) on the heap, without those that hold no point."""
        lower, upper, feasible = self.domain.tighten(lower, upper)
        self._added += 1
        for low, high in zip(lower[feasible], upper[feasible], strict=True):
            point = self._nearest(low, high)
            if point is not None:
                piece = _Piece(self._distance(point), self._added, low, high, point)
                heapq.heappush(self.pieces, piece)

    def split(self, piece: _Piece) -> None:
        """Add the pieces beside the exclusion that holds the piece's nearest point."""
        domain = self.domain
        inside = domain.exclusions.containing(piece.point[None, :])[0]
        if not inside.any():
            return  # rows or grids keep this piece's point out
        exclusion = int(inside.argmax())
        # The coordinate that would have to move farthest comes first.
        out = np.minimum(
            piece.point - domain.exclusions.lower[exclusion],
            domain.exclusions.upper[exclusion] - piece.point,
        )
        order = np.argsort(-out / self._unit, kind="stable")
        lower, upper, _ = domain.exclusion_faces.pieces(
            piece.lower[None, :], piece.upper[None, :], np.array([exclusion]), order[None, :]
        )
        self.add(lower, upper)

    def _nearest(self, lower: FloatArray, upper: FloatArray) -> FloatArray | None:
        part = self.domain.without_exclusions.restrict(lower, upper)
        if self.domain.b.size:
            return repair_without_exclusions(part, self.x)
        return round_to_domain(part, self.x)

    def _distance(self, point: FloatArray) -> float:
        moved = np.abs(point - self.x) / self._unit
        changed = sum(
            not np.array_equal(point[list(g)], self.x[list(g)]) for g in self.domain.one_hot
        )
        return float(moved[self._measured].sum()) + changed
