r"""`naive`: the textbook constant M, for comparison only.

    h >= z,      h >= 0
    h <= M y
    h <= z + M (1 - y)
    y in {0, 1}

with one constant M for every ReLU, no bounds, no scaling of columns, and a binary even
where the sign of z is known. Too small an M cuts the optimum off without a sign; a large
one leaks ``M * integrality tolerance`` through a binary that only looks whole. Solvers
have answered "optimal" wrongly on it, so nothing that it claims is certified.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from nnbo_mip.exact.formulation.block import Block, Switching
from nnbo_mip.exact.formulation.builder import ModelBuilder


def add_naive(builder: ModelBuilder, switching: Switching, constant: float) -> Block:
    """Append the columns and rows of all ReLUs of a layer."""
    count = switching.neurons.size
    nothing, free = np.zeros(count), np.full(count, np.inf)
    h = builder.add_columns(switching.names("h"), 0.0, constant)
    y = builder.add_columns(switching.names("y"), 0.0, 1.0, integer=True)
    z = switching.z.widened(builder.n_columns)
    shift = switching.z.constants
    above = csr_array(builder.rows_of((h, 1.0)) - z)
    below = csr_array(builder.rows_of((h, 1.0), (y, constant)) - z)
    switched = builder.rows_of((h, 1.0), (y, -constant))
    builder.add_rows(switching.names("above"), above, shift, free, errors=switching.z.errors)
    builder.add_rows(switching.names("on"), switched, -free, nothing)
    builder.add_rows(
        switching.names("off"), below, -free, shift + constant, errors=switching.z.errors
    )
    return Block(
        switching,
        positive=h,
        positive_scales=np.ones(count),
        switch=y,
        feasibility_gain=free,
        integrality_gain=free,
    )
