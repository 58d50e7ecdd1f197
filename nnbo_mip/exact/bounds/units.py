"""Smooth units over boxes: the lines and expansions of which `unit_relaxation` makes sums."""

from __future__ import annotations

import abc
from dataclasses import dataclass

import numpy as np

from nnbo_mip.core.arrays import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class UnitRelaxations:
    """Units round the centers of B boxes; arrays (B, U) unless said otherwise.

    Parameters
    ----------
    along : (U, d) or (B, U, d) array
        D.
    metric : (d,) array
    lower_value, lower_slope, upper_value, upper_slope
        a, b, a', b'; their rounding is in them.
    value, slope, bend, third
        Of the expansion.
    error
        Of the expansion, and of the posterior's float64 evaluation of the unit.
    reach
        ``|D_j t|`` over the box.
    """

    along: FloatArray
    metric: FloatArray
    lower_value: FloatArray
    lower_slope: FloatArray
    upper_value: FloatArray
    upper_slope: FloatArray
    value: FloatArray
    slope: FloatArray
    bend: FloatArray
    third: FloatArray
    error: FloatArray
    reach: FloatArray

    def sum_along(self, factors: FloatArray) -> FloatArray:
        """Return ``sum_j factors_bj D_j`` (B, d)."""
        if self.along.ndim == 2:
            return np.asarray(factors @ self.along)
        return np.asarray((factors[:, None, :] @ self.along)[:, 0])

    def sum_curved(self, weights: FloatArray, columns: Columns) -> FloatArray:
        """Return ``sum_j weights_bj q_j`` as matrices (B, m, m), in m of the coordinates."""
        along, factors = self.along[..., columns], weights * self.bend
        metric = self.metric[columns]
        d = len(metric)
        if along.ndim == 2:
            products = (along[:, :, None] * along[:, None, :]).reshape(len(along), d * d)
            sums = (factors @ products).reshape(len(factors), d, d)
        else:
            sums = along.transpose(0, 2, 1) @ (factors[:, :, None] * along)
        sums[:, np.arange(d), np.arange(d)] += (
            2.0 * (weights * self.slope).sum(axis=1)[:, None] * metric
        )
        return np.asarray(sums)


Columns = slice | IntArray
"""Coordinates of which a matrix in all of them is needed."""


def moving(lower: FloatArray, upper: FloatArray, center: FloatArray) -> Columns:
    """Return the coordinates that move in any of the boxes (d, B).

    Half widths are rounded up, so that they are not 0 where a coordinate is fixed.
    """
    columns = np.flatnonzero(((lower != upper) | (center != lower)).any(axis=1))
    return slice(None) if len(columns) == len(center) else columns


class Units(abc.ABC):
    """Smooth functions h_j of the input, with |h_j| <= 1.

    Attributes
    ----------
    lower, upper : (d,) arrays
        Ends of a box that contains all boxes asked for.
    count : int
        U.
    largest : float
        A bound of the magnitudes that occur.
    is_smooth : bool
        Whether there are expansions.
    """

    lower: FloatArray
    upper: FloatArray
    count: int
    largest: float
    is_smooth: bool

    @abc.abstractmethod
    def forms(self, center: FloatArray, radius: FloatArray) -> UnitRelaxations:
        """Return the forms over boxes (d, B)."""

    def norms(self, weights: FloatArray) -> FloatArray:
        """Bound the norms (B,) of sums with weights (B, U)."""
        return np.full(len(weights), np.inf)

    def changes(self, radius: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Bound what is left of a function of norm 1 over boxes (d, B) after 0 to 2 orders."""
        nothing = np.full(radius.shape[1], np.inf)
        return nothing, nothing, nothing
