r"""Linear rows ``A x <= limit``, decided in real arithmetic."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from nnbo_mip.core.arrays import BoolArray, FloatArray
from nnbo_mip.core.checks import as_finite_vector, as_floats
from nnbo_mip.core.errors import InputError

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


@dataclass(frozen=True)
class RowSystem:
    """Rows with equalities told apart from inequalities, for solvers and walks.

    Parameters
    ----------
    A, b : (m, d), (m,) arrays
        Inequalities ``A x <= b``.
    slack : (m,) array
        Amounts by which the inequalities may be exceeded.
    A_eq, b_eq : (e, d), (e,) arrays
        Equalities ``A_eq x = b_eq``.
    slack_eq : (e,) array
        Amounts by which the equalities may be missed on either side.
    """

    A: FloatArray
    b: FloatArray
    slack: FloatArray
    A_eq: FloatArray
    b_eq: FloatArray
    slack_eq: FloatArray

    @property
    def used(self) -> BoolArray:
        """(d,) which coordinates some row has a coefficient for."""
        return np.asarray(np.any(np.vstack([self.A, self.A_eq]) != 0.0, axis=0))

    def with_equalities(self, implied: BoolArray) -> RowSystem:
        """Turn the marked inequalities (m,) into equalities."""
        return RowSystem(
            self.A[~implied],
            self.b[~implied],
            self.slack[~implied],
            np.vstack([self.A_eq, self.A[implied]]),
            np.concatenate([self.b_eq, self.b[implied]]),
            np.concatenate([self.slack_eq, self.slack[implied]]),
        )


def separated(A: FloatArray, b: FloatArray, slack: FloatArray) -> RowSystem:
    """Find the pairs of opposite rows that leave nothing but their slack between them.

    Such a pair ``a x <= b_i``, ``-a x <= b_k`` is the equality ``a x = (b_i - b_k) / 2``.
    """
    first: list[int] = []
    second: list[int] = []
    waiting: dict[bytes, list[int]] = {}
    for i, row in enumerate(A):
        partners = waiting.get((-row + 0.0).tobytes(), [])
        partner = next((k for k in partners if abs(b[i] + b[k]) <= slack[i] + slack[k]), None)
        if partner is None:
            waiting.setdefault(row.tobytes(), []).append(i)
        else:
            partners.remove(partner)
            first.append(partner)
            second.append(i)
    alone = np.setdiff1d(np.arange(b.size), [*first, *second])
    return RowSystem(
        A[alone],
        b[alone],
        slack[alone],
        A[first],
        0.5 * (b[first] - b[second]),
        0.5 * (b[first] + b[second] + slack[first] + slack[second]),
    )


def checked(
    A: npt.ArrayLike | None, b: npt.ArrayLike | None, lower: FloatArray, upper: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the rows of a domain with these ends, refused where they are none."""
    if A is None or b is None:
        raise InputError(
            "rows need both A and b; got only one of them; pass both, or neither for none."
        )
    right = as_finite_vector(b, "b")
    matrix = as_floats(A, "A")
    if matrix.size == 0 and right.size == 0:
        matrix = matrix.reshape(0, lower.size)
    if matrix.shape != (right.size, lower.size):
        raise InputError(
            f"A must have one row an entry of b and one column a dimension, shape "
            f"({right.size}, {lower.size}); got {matrix.shape}; did you pass A.T?"
        )
    with np.errstate(over="ignore", invalid="ignore"):
        magnitude = np.abs(matrix) @ np.maximum(np.abs(lower), np.abs(upper)) + np.abs(right)
        magnitude *= 2.0
    if not np.isfinite(magnitude).all():
        i = int(np.flatnonzero(~np.isfinite(magnitude))[0])
        raise InputError(
            f"rows must have finite coefficients and values over the box; got row {i}: "
            f"{matrix[i]}; correct it or rescale it."
        )
    return matrix, right
