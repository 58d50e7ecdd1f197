"""Our tightest integer program, for solvers that are measured as references."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from scipy.sparse import csr_array

from benchmarks.certify.cases import Case
from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.exact.bounds.flat import undecided_system, with_flat_bounds
from nnbo_mip.exact.bounds.lp_bounds import tighten_layers
from nnbo_mip.exact.formulation import MilpModel, encode
from nnbo_mip.exact.search.monitor import Monitor
from nnbo_mip.exact.search.problem import Problem
from nnbo_mip.space.domain import Domain

ROUNDING = 1e-9
"""Rows whose ends differ by less than this are equations widened by rounding errors only;
a reference may take the middle of them."""


def tight_model(case: Case, formulation: str) -> MilpModel:
    """Return the program with pre-activation bounds tightened by linear programs."""
    problem = Problem(case.network, Domain(case.lower, case.upper))
    flat, bounds = undecided_system(problem, case.lower, case.upper)
    monitor = Monitor(problem, 0.0, math.inf)
    flat = tighten_layers(problem, flat, case.lower, case.upper, monitor)
    return encode(problem, with_flat_bounds(bounds, flat), formulation).model


@dataclass(frozen=True, eq=False)
class Row:
    """``coefficients . columns`` compared with a right-hand side."""

    columns: list[int]
    coefficients: FloatArray
    sense: Literal["<=", ">=", "=="]
    right: float


def one_sided_rows(model: MilpModel) -> list[Row]:
    """Split rows with two ends; those whose ends agree up to rounding become equations."""
    rows = []
    matrix: csr_array = model.matrix
    ends = zip(model.row_lower.tolist(), model.row_upper.tolist(), strict=True)
    for i, (low, high) in enumerate(ends):
        here = slice(matrix.indptr[i], matrix.indptr[i + 1])
        columns, values = matrix.indices[here].tolist(), matrix.data[here]
        if high - low <= ROUNDING:
            rows.append(Row(columns, values, "==", 0.5 * (low + high)))
            continue
        if low > -math.inf:
            rows.append(Row(columns, values, ">=", low))
        if high < math.inf:
            rows.append(Row(columns, values, "<=", high))
    return rows
