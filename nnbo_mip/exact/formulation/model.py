"""`MilpModel`: a mixed-integer linear program as plain arrays, for any solver."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array, vstack

from nnbo_mip.core.arrays import FloatArray

BoolArray = npt.NDArray[np.bool_]

MARGIN = 1e-8
"""By this, rows and continuous columns of order 1 are relaxed: ten times the feasibility
tolerance of any solver whose bounds are believed. Without it, solvers that reason within
their tolerance (a binary fixed because a tight row looked broken by 1e-16 over a
coefficient of 1e-9) have cut the optimum off."""

SMALLEST_SCALE = 2.0**-200
"""Quantities below this are nothing to any solver, whatever the rest is."""


@dataclass(frozen=True, eq=False)
class MilpModel:
    """Maximize ``objective . c + offset`` over the columns c.

    The columns obey ``row_lower <= matrix c <= row_upper``, ``column_lower <= c <=
    column_upper``, are whole where `integer` says so, and at most one column of each
    `sos1` group is not zero.

    Parameters
    ----------
    objective : (n,) array
    offset : float
        0 in what `Backend._solve` is given.
    matrix : (m, n) sparse array
    row_lower, row_upper : (m,) arrays
        ``-inf`` and ``+inf`` where a side is free.
    column_lower, column_upper : (n,) arrays
        Finite.
    integer : (n,) bool array
    sos1 : tuple of tuples of int
        Groups of columns.
    column_names, row_names : tuples of str
    input_matrix, input_constants : (d, n) sparse array, (d,) array
        The inputs of the network are ``x = input_matrix c + input_constants``.
    """

    objective: FloatArray
    offset: float
    matrix: csr_array
    row_lower: FloatArray
    row_upper: FloatArray
    column_lower: FloatArray
    column_upper: FloatArray
    integer: BoolArray
    sos1: tuple[tuple[int, ...], ...]
    column_names: tuple[str, ...]
    row_names: tuple[str, ...]
    input_matrix: csr_array
    input_constants: FloatArray

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return int(self.objective.size)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.row_lower.size)

    def value(self, columns: FloatArray) -> float:
        """Objective at columns (n,)."""
        return float(self.objective @ columns) + self.offset

    def point(self, columns: FloatArray) -> FloatArray:
        """Return the input x (d,) that columns (n,) stand for, not yet rounded to the domain."""
        return np.asarray(self.input_matrix @ columns) + self.input_constants

    def violation(self, columns: FloatArray) -> float:
        """Return the largest amount by which columns (n,) break a row, a bound or integrality."""
        activity = self.matrix @ columns
        whole = columns[self.integer]
        broken = [
            self.row_lower - activity,
            activity - self.row_upper,
            self.column_lower - columns,
            columns - self.column_upper,
            np.abs(whole - np.round(whole)),
            *(np.sort(np.abs(columns[list(group)]))[:-1] for group in self.sos1),
        ]
        return max(float(part.max(initial=0.0)) for part in broken)

    def with_floor(self, level: float) -> MilpModel:
        """Return the model restricted to objectives of at least `level`.

        The row is scaled and relaxed as all others are.
        """
        scale = power_of_two_above(float(np.abs(self.objective).max(initial=0.0)))
        row = csr_array(self.objective[None, :] / scale)
        return replace(
            self,
            matrix=csr_array(vstack([self.matrix, row])),
            row_lower=np.append(self.row_lower, (level - self.offset) / scale - MARGIN),
            row_upper=np.append(self.row_upper, np.inf),
            row_names=(*self.row_names, "floor"),
        )


def power_of_two_above(values: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Return the smallest powers of two that are >= |values|; scaling by them is exact.

    They are at least `SMALLEST_SCALE`, so that nothing overflows when divided by them, and
    1 for 0.
    """
    mantissa, exponent = np.frexp(np.abs(np.asarray(values, dtype=np.float64)))
    power = np.where(mantissa == 0.5, exponent - 1, exponent)
    powers = np.maximum(np.ldexp(1.0, power), SMALLEST_SCALE)
    return np.where(mantissa == 0.0, 1.0, powers)
