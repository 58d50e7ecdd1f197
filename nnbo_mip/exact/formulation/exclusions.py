r"""The columns and rows that keep a program out of the exclusions of a domain.

A point is outside an exclusion ``l < x < u`` when it is beyond one of its faces. Every face within
the box ``L <= x <= U`` gets a binary y, and at least one of an exclusion's is on:

    x_j <= l_j + (U_j - l_j) (1 - y)          where l_j >= L_j
    x_j >= u_j - (u_j - L_j) (1 - y)          where u_j <= U_j
    sum of y >= 1

On grids l_j and u_j are the nearest values outside the exclusion. The rows are relaxed as all
others are, so that an exclusion is smaller in the program by `MARGIN` and rounding on every side,
and what the program bounds contains the admissible points.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from nnbo_mip.core.arrays import FloatArray, IntArray
from nnbo_mip.exact.formulation.builder import ModelBuilder
from nnbo_mip.exact.formulation.expression import Expressions
from nnbo_mip.exact.search.rounding import UNIT_ROUNDOFF

if TYPE_CHECKING:
    from nnbo_mip.space.domain import Domain


@dataclass(frozen=True, eq=False)
class ExclusionColumns:
    """One binary a face.

    Parameters
    ----------
    columns : (f,) int array
    coordinate : (f,) int array
    end : (f,) array
        Where the face is.
    is_below : (f,) bool array
        Whether the point is at or below the end where the binary is on, rather than above.
    row_scales, constants : (f,) arrays
        Scale of the face's row, and its constant M.
    """

    columns: IntArray
    coordinate: IntArray
    end: FloatArray
    is_below: npt.NDArray[np.bool_]
    row_scales: FloatArray
    constants: FloatArray

    def complete(self, columns: FloatArray, point: FloatArray) -> None:
        """Fill in the binaries at an admissible point (d,)."""
        x = point[self.coordinate]
        columns[self.columns] = np.where(self.is_below, x <= self.end, x >= self.end)

    def drift(self, dimension: int, feasibility: float, integrality: float) -> FloatArray:
        """Bound how far (d,) a solution may lie within an exclusion, given a solver's tolerances.

        Of binaries that sum to 1 one is on, and its row is off by its own distance from 1.
        """
        reach = feasibility * self.row_scales + integrality * self.constants
        drift = np.zeros(dimension)
        np.maximum.at(drift, self.coordinate, reach)
        return drift


def add_exclusions(builder: ModelBuilder, domain: Domain, inputs: Expressions) -> ExclusionColumns:
    """Append the binaries and rows of a domain's exclusions."""
    faces, n = domain.exclusion_faces, len(domain.exclusions)
    # Faces in the order exclusion, coordinate, below before above.
    ends = np.stack([faces.below, faces.above], axis=2).reshape(-1)
    exclusion, coordinate, side = (
        index.ravel() for index in np.indices((n, domain.dimension, 2), dtype=np.intp)
    )
    lower, upper = domain.lower[coordinate], domain.upper[coordinate]
    within = np.where(side == 0, ends >= lower, ends <= upper)
    exclusion, coordinate, side, ends = (
        exclusion[within],
        coordinate[within],
        side[within],
        ends[within],
    )
    lower, upper = lower[within], upper[within]
    is_below = side == 0
    names = [
        f"exclusion{k}_{'above' if s else 'below'}{j}"
        for k, j, s in zip(exclusion, coordinate, side, strict=True)
    ]
    columns = builder.add_columns([f"{name}_y" for name in names], 0.0, 1.0, integer=True)
    width = builder.n_columns
    # sign x + M y <= sign end + M, with sign 1 below and -1 above.
    sign = np.where(is_below, 1.0, -1.0)
    constants = np.where(is_below, upper - ends, ends - lower) * (1.0 + 4.0 * UNIT_ROUNDOFF)
    chosen = csr_array(inputs.widened(width)[coordinate])
    matrix = csr_array(chosen.multiply(sign[:, None])) + builder.rows_of((columns, constants))
    shifts = inputs.constants[coordinate]
    sizes = np.abs(ends) + np.abs(shifts) + constants
    rows = builder.add_rows(
        names,
        csr_array(matrix),
        np.full(len(names), -np.inf),
        sign * (ends - shifts) + constants,
        errors=inputs.errors[coordinate] + 8.0 * UNIT_ROUNDOFF * sizes,
    )
    sums = csr_array((np.ones(len(names)), (exclusion, columns)), shape=(n, width))
    builder.add_rows(
        [f"exclusion{k}" for k in range(n)], sums, np.ones(n), np.full(n, np.inf), margin=0.0
    )
    return ExclusionColumns(columns, coordinate, ends, is_below, rows.scales, constants)
