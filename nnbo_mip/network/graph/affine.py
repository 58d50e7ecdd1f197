"""An affine map of several sources: the one building block of a network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.errors import InputError
from nnbo_mip.core.rebuilt import Rebuilt

if TYPE_CHECKING:
    import hashlib

    from scipy.sparse import csr_array

Matrix: TypeAlias = "FloatArray | csr_array"

HASH_BLOCK_ROWS = 256


@dataclass(frozen=True, eq=False)
class Affine(Rebuilt):
    """``z = bias + sum_k terms[k] @ h_k`` over named sources ``h_k``.

    Parameters
    ----------
    bias : (n,) array
        Constant part; its length is the number of rows.
    terms : mapping of int to (n, width_k) matrix
        Source index to weight matrix, dense or ``scipy.sparse``. Source 0 is the
        input of the network, source ``k >= 1`` the output of its ReLU layer ``k``.

    Notes
    -----
    Everything is copied to float64 and made read-only.
    """

    bias: FloatArray
    terms: Mapping[int, Matrix]

    def __post_init__(self) -> None:
        bias = _frozen_vector(self.bias)
        terms: dict[int, Matrix] = {}
        for source in sorted(self.terms):
            matrix = _frozen_matrix(self.terms[source])
            if matrix.shape[0] != bias.size:
                raise InputError(
                    f"the weight matrix of source {source} must have {bias.size} rows, as many as "
                    f"the bias; got shape {matrix.shape}; pass W as (out, in)."
                )
            terms[int(source)] = matrix
        object.__setattr__(self, "bias", bias)
        object.__setattr__(self, "terms", MappingProxyType(terms))

    @property
    def width(self) -> int:
        """Number of rows."""
        return int(self.bias.size)

    def apply(self, sources: Sequence[FloatArray]) -> FloatArray:
        """Evaluate on a batch.

        Parameters
        ----------
        sources : sequence of (n, width_k) arrays
            One batch per source index.

        Returns
        -------
        (n, width) array
        """
        rows = sources[0].shape[0]
        result = np.broadcast_to(self.bias, (rows, self.width)).copy()
        for source, matrix in self.terms.items():
            result += (matrix @ sources[source].T).T
        return result

    def pull_back(self, weights: FloatArray, source: int) -> FloatArray:
        """Return ``weights @ terms[source]``: (m, width) rows moved to a source, (m, width_k)."""
        return np.asarray((self.terms[source].T @ weights.T).T)

    def dense(self, source: int) -> FloatArray:
        """Return the weights of a source as a dense (width, width_k) array."""
        return dense(self.terms[source])

    def rows(self, index: npt.ArrayLike) -> Affine:
        """Return the map that computes only the rows `index`, in that order."""
        chosen = np.asarray(index, dtype=np.intp)
        return Affine(self.bias[chosen], {k: w[chosen] for k, w in self.terms.items()})

    def combine(self, weights: FloatArray) -> Affine:
        """Return ``weights @ self``: (m, width) weights give m rows."""
        return Affine(weights @ self.bias, {k: self.pull_back(weights, k) for k in self.terms})

    def negated(self) -> Affine:
        """Return ``-self``; exact in floating point."""
        return Affine(-self.bias, {k: -w for k, w in self.terms.items()})

    def is_finite(self) -> bool:
        """Whether every weight and bias is finite."""
        values = [self.bias, *(_values(w) for w in self.terms.values())]
        return all(bool(np.isfinite(v).all()) for v in values)

    def update_hash(self, digest: hashlib._Hash) -> None:
        """Feed the canonical bytes; a sparse matrix hashes as its dense twin."""
        digest.update(np.int64(self.width).tobytes())
        digest.update((self.bias + 0.0).tobytes())
        for source, matrix in self.terms.items():
            digest.update(np.array([source, *matrix.shape], dtype=np.int64).tobytes())
            for start in range(0, matrix.shape[0], HASH_BLOCK_ROWS):
                block = dense(matrix[start : start + HASH_BLOCK_ROWS])
                digest.update(np.ascontiguousarray(block + 0.0).tobytes())


def dense(matrix: Matrix) -> FloatArray:
    """Return a matrix as a dense array, copying only when it is sparse."""
    if isinstance(matrix, np.ndarray):
        return matrix
    return np.asarray(matrix.toarray(), dtype=np.float64)


def is_sparse(matrix: object) -> bool:
    """Whether `matrix` is a SciPy sparse matrix, without importing SciPy."""
    return not isinstance(matrix, np.ndarray) and hasattr(matrix, "tocsr")


def _values(matrix: Matrix) -> FloatArray:
    return matrix if isinstance(matrix, np.ndarray) else matrix.data


def as_float64(values: Any, what: str, *, at_least_1d: bool = False) -> FloatArray:
    """Copy to a float64 array, or say in a sentence why that cannot be done."""
    try:
        array = np.array(values, dtype=np.float64, order="C")
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(
            f"{what} must hold real numbers in rows of one length; got {values!r:.60} ({error}); "
            "pass an array of floats."
        ) from error
    return np.atleast_1d(array) if at_least_1d else array


def _frozen_vector(values: Any) -> FloatArray:
    vector = as_float64(values, "a bias")
    if vector.ndim != 1:
        raise InputError(
            f"a bias must be a vector of shape (n,); got shape {vector.shape}; flatten it."
        )
    vector.setflags(write=False)
    return vector


def _frozen_matrix(values: Any) -> Matrix:
    if is_sparse(values):
        from scipy.sparse import csr_array

        sparse = csr_array(values, dtype=np.float64, copy=True)
        sparse.sum_duplicates()
        for part in (sparse.data, sparse.indices, sparse.indptr):
            part.setflags(write=False)
        return sparse
    matrix = as_float64(values, "a weight matrix")
    if matrix.ndim != 2:
        raise InputError(
            f"a weight matrix must have shape (out, in); got shape {matrix.shape}; reshape it."
        )
    matrix.setflags(write=False)
    return matrix


def adjoints(
    layers: Sequence[Affine], head: Affine, sources: list[FloatArray], weights: FloatArray
) -> list[FloatArray]:
    """Return the gradients of weighted sums (n or 1, m) of a head's rows, by every source."""
    adjoint: list[FloatArray] = [np.zeros_like(h) for h in sources]
    for source in head.terms:
        adjoint[source] += head.pull_back(weights, source)
    for position in range(len(layers), 0, -1):
        layer = layers[position - 1]
        passed = adjoint[position] * (sources[position] > 0.0)
        for source in layer.terms:
            adjoint[source] += layer.pull_back(passed, source)
    return adjoint
