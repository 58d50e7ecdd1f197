"""`ModelBuilder`: columns and rows collected block by block, assembled once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array, vstack

from nnbo_mip.core.arrays import BoolArray, FloatArray
from nnbo_mip.exact.formulation.expression import Expressions, ScaledRows, scale_rows
from nnbo_mip.exact.formulation.model import MARGIN, MilpModel

IntArray = npt.NDArray[np.intp]


class ModelBuilder:
    """Grows a `MilpModel`; every block of columns or rows is one call."""

    def __init__(self) -> None:
        self._lower: list[FloatArray] = []
        self._upper: list[FloatArray] = []
        self._integer: list[BoolArray] = []
        self._column_names: list[str] = []
        self._rows: list[csr_array] = []
        self._row_lower: list[FloatArray] = []
        self._row_upper: list[FloatArray] = []
        self._row_names: list[str] = []
        self._sos1: list[tuple[int, ...]] = []

    @property
    def n_columns(self) -> int:
        """Number of columns so far."""
        return len(self._column_names)

    @property
    def column_bounds(self) -> tuple[FloatArray, FloatArray]:
        """Lower and upper ends (N,) of every column so far."""
        return _joined(self._lower), _joined(self._upper)

    @property
    def magnitudes(self) -> FloatArray:
        """Largest magnitude (N,) of every column so far."""
        lower, upper = self.column_bounds
        return np.maximum(np.abs(lower), np.abs(upper))

    def add_columns(
        self,
        names: Sequence[str],
        lower: npt.ArrayLike,
        upper: npt.ArrayLike,
        *,
        integer: bool = False,
    ) -> IntArray:
        """Append columns, continuous ones relaxed by the margin; return their indices (n,)."""
        count = len(names)
        first = self.n_columns
        margin = 0.0 if integer else MARGIN
        self._lower.append(np.broadcast_to(np.asarray(lower, dtype=np.float64) - margin, count))
        self._upper.append(np.broadcast_to(np.asarray(upper, dtype=np.float64) + margin, count))
        self._integer.append(np.full(count, integer))
        self._column_names.extend(names)
        return np.arange(first, first + count)

    def add_rows(
        self,
        names: Sequence[str],
        matrix: csr_array,
        lower: npt.ArrayLike,
        upper: npt.ArrayLike,
        *,
        errors: npt.ArrayLike = 0.0,
        margin: float = MARGIN,
    ) -> ScaledRows:
        """Append ``lower - errors <= matrix c <= upper + errors``, scaled to order 1.

        Parameters
        ----------
        names : sequence of n str
        matrix : (n, N) sparse array
        lower, upper, errors : (n,) arrays
        margin : float
            By how much the scaled rows are relaxed beyond that.
        """
        count = len(names)
        zeros = np.zeros(count)
        widths = np.broadcast_to(np.asarray(errors, dtype=np.float64), count)
        scaled = scale_rows(matrix, zeros, widths, self.magnitudes)
        self._rows.append(scaled.matrix)
        self._row_lower.append(np.asarray(lower) / scaled.scales - scaled.errors - margin)
        self._row_upper.append(np.asarray(upper) / scaled.scales + scaled.errors + margin)
        self._row_names.extend(names)
        return scaled

    def add_sos1(self, groups: Sequence[tuple[int, ...]]) -> None:
        """Append groups of columns of which at most one is not zero."""
        self._sos1.extend(groups)

    def rows_of(self, *entries: tuple[IntArray, npt.ArrayLike]) -> csr_array:
        """Return (n, N) rows; row i holds ``values[i]`` in column ``index[i]`` of every pair."""
        count = entries[0][0].size
        data = np.column_stack(
            [np.broadcast_to(np.asarray(v, dtype=np.float64), count) for _, v in entries]
        )
        columns = np.column_stack([index for index, _ in entries])
        starts = np.arange(count + 1) * len(entries)
        return csr_array((data.ravel(), columns.ravel(), starts), shape=(count, self.n_columns))

    def build(self, objective: Expressions, inputs: Expressions) -> MilpModel:
        """Assemble the model that maximizes the one expression `objective`."""
        n_columns = self.n_columns
        widened = [
            csr_array((rows.data, rows.indices, rows.indptr), shape=(rows.shape[0], n_columns))
            for rows in self._rows
        ]
        matrix = vstack(widened, format="csr") if widened else csr_array((0, n_columns))
        matrix = csr_array(matrix)
        matrix.sort_indices()
        return MilpModel(
            objective=objective.widened(n_columns).toarray()[0],
            offset=float(objective.constants[0]),
            matrix=matrix,
            row_lower=_joined(self._row_lower),
            row_upper=_joined(self._row_upper),
            column_lower=_joined(self._lower),
            column_upper=_joined(self._upper),
            integer=np.concatenate(self._integer) if self._integer else np.zeros(0, dtype=bool),
            sos1=tuple(self._sos1),
            column_names=tuple(self._column_names),
            row_names=tuple(self._row_names),
            input_matrix=inputs.widened(n_columns),
            input_constants=inputs.constants,
        )


def _joined(parts: Sequence[FloatArray]) -> FloatArray:
    return np.concatenate(parts) if parts else np.zeros(0)
