"""Products, sums and stacks of matrices that are dense or sparse.

A product or a sum with a dense operand is dense, except that copying rows of a sparse
matrix keeps it sparse. SciPy is imported only where a sparse matrix exists already or
is about to be made.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.errors import InputError
from nnbo_mip.network.graph.affine import Matrix, dense, is_sparse

MAX_ENTRIES = 1 << 27
"""Most entries of a matrix that is made (1 GiB); more come from hostile or wrong files."""

GROWN_ENTRIES = 1 << 25
"""Most entries of a product of matrices that hold less than half of them (256 MiB)."""
SMALL_ENTRIES = 4096
"""Matrices up to this size are kept dense, whatever they hold."""

SPARSE_DENSITY = 0.25
"""Share of nonzeros from which a matrix is kept dense."""


def identity(n: int) -> Matrix:
    """Return the sparse n x n identity."""
    from scipy.sparse import csr_array

    index = np.arange(n)
    return csr_array((np.ones(n), index, np.arange(n + 1)), shape=(n, n))


def sum_of_runs(n: int, length: int) -> Matrix:
    """Return the sparse (n / length, n) matrix that adds up consecutive runs of entries."""
    from scipy.sparse import csr_array

    starts = np.arange(0, n + 1, length)
    return csr_array((np.ones(n), np.arange(n), starts), shape=(n // length, n))


def product(left: Matrix, right: Matrix) -> Matrix:
    """Return ``left @ right``."""
    if not (isinstance(left, np.ndarray) or isinstance(right, np.ndarray)):
        check_size(1, int(np.diff(right.indptr)[left.indices].sum()))
    else:
        check_size(left.shape[0], right.shape[1], n_entries(left) + n_entries(right))
    result = left @ right
    return result if is_sparse(result) else np.asarray(result)


def sum_of(left: Matrix, right: Matrix) -> Matrix:
    """Return ``left + right``."""
    result = left + right
    return result if is_sparse(result) else np.asarray(result)


def scale_rows(factors: FloatArray, matrix: Matrix) -> Matrix:
    """Return ``diag(factors) @ matrix``."""
    if isinstance(matrix, np.ndarray):
        return factors[:, None] * matrix
    from scipy.sparse import csr_array

    data = np.repeat(factors, np.diff(matrix.indptr)) * matrix.data
    return csr_array((data, matrix.indices, matrix.indptr), shape=matrix.shape)


def select_rows(matrix: Matrix, index: npt.NDArray[np.intp]) -> Matrix:
    """Return ``matrix[index]``; rows may be repeated."""
    if isinstance(matrix, np.ndarray):
        check_size(index.size, matrix.shape[1])
    else:
        check_size(1, int(np.diff(matrix.indptr)[index].sum()))
    return matrix[index]


def embed_rows(parts: Sequence[tuple[int, Matrix]], height: int) -> Matrix:
    """Stack matrices at given first rows, zero in between: ``(height, columns)``.

    Parameters
    ----------
    parts : sequence of (first row, matrix)
        In ascending order and not overlapping, all with equally many columns.
    height : int
        Rows of the result, which is dense if the parts are dense and fill all rows.
    """
    filled = sum(matrix.shape[0] for _, matrix in parts)
    if filled == height and all(isinstance(matrix, np.ndarray) for _, matrix in parts):
        check_size(height, parts[0][1].shape[1])
        return np.concatenate([matrix for _, matrix in parts])
    from scipy.sparse import csr_array

    blocks = [csr_array(matrix) for _, matrix in parts]
    lengths = np.zeros(height, dtype=np.int64)
    for (first, _), block in zip(parts, blocks, strict=True):
        lengths[first : first + block.shape[0]] = np.diff(block.indptr)
    return csr_array(
        (
            np.concatenate([block.data for block in blocks]),
            np.concatenate([block.indices for block in blocks]),
            np.concatenate([[0], np.cumsum(lengths)]),
        ),
        shape=(height, blocks[0].shape[1]),
    )


def nonzero_rows(matrix: Matrix) -> npt.NDArray[np.bool_]:
    """Return which rows hold a nonzero: (rows,) booleans."""
    if isinstance(matrix, np.ndarray):
        return np.asarray(matrix.any(axis=1))
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    result = np.zeros(matrix.shape[0], dtype=bool)
    result[rows[matrix.data != 0.0]] = True
    return result


def nonzero_columns(matrix: Matrix) -> npt.NDArray[np.bool_]:
    """Return which columns hold a nonzero: (columns,) booleans."""
    if isinstance(matrix, np.ndarray):
        return np.asarray(matrix.any(axis=0))
    result = np.zeros(matrix.shape[1], dtype=bool)
    result[matrix.indices[matrix.data != 0.0]] = True
    return result


def tidy(matrix: Matrix) -> Matrix:
    """Return a sparse matrix as a dense one where that costs little; others unchanged."""
    if isinstance(matrix, np.ndarray):
        return matrix
    entries = matrix.shape[0] * matrix.shape[1]
    if entries <= SMALL_ENTRIES or matrix.nnz >= SPARSE_DENSITY * entries:
        check_size(*matrix.shape)
        return dense(matrix)
    return matrix


def n_entries(matrix: Matrix) -> int:
    """Return how many numbers a matrix holds."""
    return int(matrix.size) if isinstance(matrix, np.ndarray) else int(matrix.nnz)


def check_size(rows: int, columns: int, given: int | None = None) -> None:
    """Refuse a dense matrix that no network worth certifying has, before it is allocated.

    Parameters
    ----------
    rows, columns : int
    given : int, optional
        Entries of what it is computed from. A few numbers must not make very many.
    """
    most = MAX_ENTRIES if given is None else min(MAX_ENTRIES, max(GROWN_ENTRIES, 2 * given))
    if rows * columns > most:
        raise InputError(
            f"a weight matrix may hold {most} entries; got {rows} x {columns} after "
            "folding affine layers; this network is too large to be certified."
        )
