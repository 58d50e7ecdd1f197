r"""Linear rows ``A x <= limit``, decided in real arithmetic."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from nnbo_mip.space.arrays import BoolArray, FloatArray

UNIT_ROUNDOFF = 2.0**-53
SMALLEST_SUBNORMAL = 2.0**-1074


def summation_error(magnitude: FloatArray, terms: int) -> FloatArray:
    """Bound the float64 error of a sum of `terms` rounded products.

    Parameters
    ----------
    magnitude : array
        ``sum |a_j x_j|`` as computed in float64.
    terms : int
        Number of products.

    Returns
    -------
    array
        An upper bound on ``|computed - real|``: ``gamma_k sum |a||x|`` with the factor 2
        for the rounding of the magnitude itself, and one subnormal a product for underflow.
    """
    return 2.0 * (terms + 2) * UNIT_ROUNDOFF * magnitude + 2.0 * terms * SMALLEST_SUBNORMAL


def satisfied(X: FloatArray, A: FloatArray, limit: FloatArray) -> BoolArray:
    """Return which points satisfy every row ``A x <= limit`` in real arithmetic: (n,).

    Float64 decides wherever the activity is farther from the limit than its rounding
    error; rational arithmetic decides the rest.

    Parameters
    ----------
    X : (n, d) finite array
    A : (m, d) finite array
    limit : (m,) finite array
    """
    activity = X @ A.T
    error = summation_error(np.abs(X) @ np.abs(A).T, X.shape[1]) + UNIT_ROUNDOFF * np.abs(limit)
    holds = activity + error <= limit
    unclear = ~holds & (activity - error <= limit)
    # A point that another row excludes already need not be decided.
    unclear &= (holds | unclear).all(axis=1, keepdims=True)
    for point, row in np.argwhere(unclear):
        holds[point, row] = _holds_exactly(X[point], A[row], float(limit[row]))
    return np.asarray(holds.all(axis=1))


def _holds_exactly(x: FloatArray, row: FloatArray, limit: float) -> bool:
    used = np.flatnonzero(row)
    total = sum((Fraction(float(row[j])) * Fraction(float(x[j])) for j in used), Fraction(0))
    return total <= Fraction(limit)
