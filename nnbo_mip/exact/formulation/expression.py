r"""Affine expressions of columns, each with a bound on how far it is from what it stands for.

A quantity q of the network (an input, a ReLU's output, a pre-activation) is written in
the columns c of a program as

    | q - (constant + row . c) | <= error        at the columns that stand for a point x.

Sending expressions through an affine map ``z = b + sum_k W_k h_k`` gives

    constant_z = b + sum_k W_k constant_k,     row_z = sum_k W_k row_k,

    error_z = sum_k |W_k| error_k + gamma_N (|b| + sum_k |W_k| (|constant_k| + |row_k| m)),

with m the largest magnitudes of the columns and N the number of summands: the last term
bounds what float64 rounds away (`nnbo_mip.exact.search.rounding`). Coefficients up to 1e-9 in
rows and columns of order 1 are left out and ``|coefficient| m`` is added to the error
instead: solvers drop them silently (HiGHS and SCIP), or answer wrongly on them (CBC).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.exact.formulation.model import power_of_two_above
from nnbo_mip.exact.search.rounding import SMALLEST_SUBNORMAL, gamma
from nnbo_mip.network.graph.affine import Affine

NEGLIGIBLE = 1e-9
"""Coefficients up to this size, in rows and columns scaled to order 1, are left out."""


@dataclass(frozen=True, eq=False)
class Expressions:
    """n affine expressions of the columns that existed when they were made.

    Parameters
    ----------
    constants : (n,) array
    matrix : (n, N) sparse array
    errors : (n,) array
        Bound on the distance to the quantity each stands for.
    """

    constants: FloatArray
    matrix: csr_array
    errors: FloatArray

    def widened(self, n_columns: int) -> csr_array:
        """Return the matrix with columns of zeros appended up to `n_columns`."""
        matrix = self.matrix
        return csr_array(
            (matrix.data, matrix.indices, matrix.indptr), shape=(matrix.shape[0], n_columns)
        )


@dataclass(frozen=True, eq=False)
class ScaledRows:
    """Rows divided by powers of two: ``scales * (matrix c + constants)`` is what they stand for.

    Parameters
    ----------
    matrix : (n, N) sparse array
        Largest magnitude of each row in (1/2, 1], or no entry at all.
    constants, errors : (n,) arrays
        In the units of the scaled rows.
    scales : (n,) array
    """

    matrix: csr_array
    constants: FloatArray
    errors: FloatArray
    scales: FloatArray


def apply_affine(
    affine: Affine, sources: Sequence[Expressions], magnitudes: FloatArray
) -> Expressions:
    """Send the expressions of the sources through an affine map.

    Parameters
    ----------
    affine : Affine
    sources : sequence of Expressions
        One entry a source index.
    magnitudes : (N,) array
        Largest ``|c|`` of every column so far.
    """
    n_columns = magnitudes.size
    constants = affine.bias.copy()
    matrix = csr_array((affine.width, n_columns))
    errors = np.zeros(affine.width)
    sizes = np.abs(affine.bias)
    summands = 1
    for source, weights in affine.terms.items():
        given = sources[source]
        rows = given.widened(n_columns)
        absolute = abs(weights)
        constants += weights @ given.constants
        matrix = matrix + csr_array(weights) @ rows
        errors += absolute @ given.errors
        sizes += absolute @ (np.abs(given.constants) + abs(rows) @ magnitudes)
        summands += int(weights.shape[1]) + 1
    # Twice gamma: the sizes and errors are themselves computed in float64.
    rounding = 2.0 * gamma(summands + 2) * (sizes + errors) + SMALLEST_SUBNORMAL * summands
    return Expressions(constants, csr_array(matrix), errors + rounding)


def scale_rows(
    matrix: csr_array, constants: FloatArray, errors: FloatArray, magnitudes: FloatArray
) -> ScaledRows:
    """Divide rows by powers of two and leave their negligible coefficients out.

    Parameters
    ----------
    matrix : (n, N) sparse array
    constants, errors : (n,) arrays
    magnitudes : (N,) array
        Largest ``|c|`` of every column.
    """
    matrix = csr_array(matrix, copy=True)
    n_rows = matrix.shape[0]
    owner = np.repeat(np.arange(n_rows), np.diff(matrix.indptr))
    largest = np.zeros(n_rows)
    np.maximum.at(largest, owner, np.abs(matrix.data))
    scales = power_of_two_above(largest)
    data = matrix.data / scales[owner]
    sizes = magnitudes[matrix.indices]
    negligible = np.abs(data) * np.minimum(sizes, 1.0) <= NEGLIGIBLE
    dropped = np.zeros(n_rows)
    np.add.at(dropped, owner[negligible], np.abs(data[negligible]) * sizes[negligible])
    data[negligible] = 0.0
    matrix.data = data
    matrix.eliminate_zeros()
    widened = (errors / scales + dropped) * (1.0 + 1e-12)
    return ScaledRows(matrix, constants / scales, widened, scales)
