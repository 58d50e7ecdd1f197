r"""Exclusion boxes in the search over phases, in the units of its program.

A node of the search has ends for its inputs, ``x = lower + width t``. Where its relaxed point
lies in an exclusion and scores above the cut-off, no phase that is fixed can bring the node's
bound below the cut-off, and the node is replaced by the pieces beside the exclusion. Faces are
moved outwards by more than the rounding of t, so that every admissible point lies in a piece.
Whether a point is excluded is asked of slightly smaller boxes, the inner exclusions, so that no
piece's point is excluded again by the exclusion that it lies beside.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.exact.bounds.program import Program
from nnbo_mip.exact.search.problem import Problem
from nnbo_mip.space.exclusion_faces import ExclusionFaces
from nnbo_mip.space.exclusions import ExclusionBoxes

OUTWARD = 1e-14
"""More than the rounding of a face, in units of the box."""

DEPTH = 1e-9
"""How far inside an exclusion a point must lie to be cut off, in units of the box."""


@dataclass(frozen=True, eq=False)
class UnitExclusions:
    """The exclusions that meet the box of a program.

    Parameters
    ----------
    faces : ExclusionFaces
        In units of the program; infinite for coordinates that do not move.
    inner_exclusions : pair of (n, d) arrays
        Ends within which a relaxed point is excluded.
    """

    faces: ExclusionFaces
    inner_exclusions: tuple[FloatArray, FloatArray]

    @classmethod
    def of(cls, problem: Problem, program: Program) -> UnitExclusions:
        """Write the exclusions of a problem's domain in the units of a program."""
        domain, lower, width = problem.domain, program.lower, program.width
        moves = width > 0.0
        upper = lower + width
        meets = domain.exclusions.meeting(lower[None, :], upper[None, :])[0]
        exclusions, faces = domain.exclusions[meets], domain.exclusion_faces
        real = np.array([grid is None for grid in domain.grids])
        unit = np.where(moves, width, 1.0)

        def scaled(ends: FloatArray, outward: float, still: float) -> FloatArray:
            # Values of grids are scaled as those of the search are, and meet them exactly.
            t = (ends[meets] - lower) / unit
            moved = t + outward * (1.0 + np.abs(np.where(np.isfinite(t), t, 0.0)))
            return np.where(moves, np.where(real, moved, t), still)

        below, above = scaled(faces.below, OUTWARD, -np.inf), scaled(faces.above, -OUTWARD, np.inf)
        inner_low = scaled(faces.inner_low, -OUTWARD, -1.0)
        inner_high = scaled(faces.inner_high, OUTWARD, 2.0)
        unit_exclusions = ExclusionBoxes(
            np.where(moves, (exclusions.lower - lower) / unit, -1.0),
            np.where(moves, (exclusions.upper - lower) / unit, 2.0),
        )
        # An inner box of no width has crossed ends, and holds no point. Values of grids are exact.
        with np.errstate(invalid="ignore"):
            into = np.where(np.isfinite(below), 0.5 * below + 0.5 * inner_low, -1.0)
            out = np.where(np.isfinite(above), 0.5 * above + 0.5 * inner_high, 2.0)
        on_grid = moves & ~real
        inner_exclusions = (
            np.where(on_grid, into, unit_exclusions.lower + DEPTH * moves),
            np.where(on_grid, out, unit_exclusions.upper - DEPTH * moves),
        )
        return cls(
            ExclusionFaces(unit_exclusions, below, above, inner_low, inner_high), inner_exclusions
        )

    def split(
        self, low: FloatArray, high: FloatArray, point: FloatArray, slopes: FloatArray
    ) -> Iterator[tuple[FloatArray, FloatArray]]:
        """Yield the ends of the pieces of a node beside the exclusion that excludes its point.

        Parameters
        ----------
        low, high : (n + m,) arrays
            Ends of the node's variables, of which the first d are inputs.
        point : (n,) array
            The excluded point of the program.
        slopes : (d,) array
            How much f changes along each coordinate, in units: faces that cost most come first.
        """
        d = len(slopes)
        t, least, most = point[:d], low[:d], high[:d]
        excluded = (self.inner_exclusions[0] < t) & (t < self.inner_exclusions[1])
        exclusion = int(excluded.all(axis=1).argmax())
        below, above = self.faces.below[exclusion], self.faces.above[exclusion]
        distance = np.minimum(
            np.where(below >= least, t - below, np.inf), np.where(above <= most, above - t, np.inf)
        )
        can = np.isfinite(distance)
        loss = np.where(can, np.abs(slopes) * np.where(can, distance, 0.0), -1.0)
        order = np.argsort(-loss, kind="stable")
        lower, upper, _ = self.faces.pieces(
            least[None, :], most[None, :], np.array([exclusion]), order[None, :]
        )
        for ends in zip(lower, upper, strict=True):
            yield np.concatenate([ends[0], low[d:]]), np.concatenate([ends[1], high[d:]])
