r"""`partition`: between big-M and the convex hull (Tsay, Kronqvist, Thebelt, Misener 2021).

The weighted sum of a pre-activation ``z = b + sum_j a_j c_j`` is cut into N groups of
similar coefficients, ``g_k = sum_{j in S_k} a_j c_j`` in ``[l_k, u_k]``, and each group gets
its own auxiliary column p_k. With sigma = 1 where the ReLU is off,

    h = sum_k p_k + (1 - sigma) b
    sum_k (g_k - p_k) + sigma b <= 0
    sum_k p_k + (1 - sigma) b >= 0
    sigma l_k <= g_k - p_k <= sigma u_k
    (1 - sigma) l_k <= p_k <= (1 - sigma) u_k
    h <= (1 - sigma) u,      sum_k (g_k - p_k) + sigma b >= sigma l

The last line uses the proven bounds of z itself, so that N = 1 is never weaker than
`bigm`; N = number of columns is the convex hull over their box. The binary column is
y = 1 - sigma.

References
----------
Tsay et al. (2021), partition-based formulations [Tsay2021].
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from nnbo_mip.core.arrays import FloatArray, IntArray
from nnbo_mip.exact.formulation.block import Block, Switching
from nnbo_mip.exact.formulation.builder import ModelBuilder
from nnbo_mip.exact.formulation.expression import Expressions
from nnbo_mip.exact.formulation.model import power_of_two_above
from nnbo_mip.exact.search.rounding import gamma


def add_partition(builder: ModelBuilder, switching: Switching, n_groups: int) -> Block:
    """Append the columns and rows of some ReLUs of a layer.

    Parameters
    ----------
    builder : ModelBuilder
    switching : Switching
    n_groups : int
        Largest number N of groups a ReLU.
    """
    groups, owner = _sorted_groups(switching.z.matrix, n_groups)
    low, high = _interval(groups, *builder.column_bounds)
    count = switching.neurons.size
    b, u, l_z = switching.z.constants, switching.upper, switching.lower
    free = np.full(count, np.inf)
    errors = switching.z.errors

    scales = power_of_two_above(u)
    h = builder.add_columns(switching.names("h"), 0.0, u / scales)
    y = builder.add_columns(switching.names("y"), 0.0, 1.0, integer=True)
    part_scales = power_of_two_above(np.maximum(-low, high))
    part_names = [f"p{switching.layer}_{switching.neurons[i]}_{k}" for k, i in enumerate(owner)]
    p = builder.add_columns(
        part_names, np.minimum(low, 0.0) / part_scales, np.maximum(high, 0.0) / part_scales
    )

    width = builder.n_columns
    parts = csr_array((part_scales, (np.arange(p.size), p)), shape=(p.size, width))
    sums = csr_array((np.ones(p.size), (owner, np.arange(p.size))), shape=(count, p.size))
    g = csr_array((groups.data, groups.indices, groups.indptr), shape=(p.size, width))
    on, part_on = builder.rows_of((y, 1.0)), builder.rows_of((y[owner], 1.0))
    output = builder.rows_of((h, scales))
    sum_p, rest = csr_array(sums @ parts), csr_array(sums @ (g - parts))

    def times(values: FloatArray, rows: csr_array) -> csr_array:
        return csr_array(rows.multiply(values[:, None]))

    scaled = [
        builder.add_rows(
            switching.names("z"), output - sum_p - times(b, on), 0 * b, 0 * b, errors=errors
        ),
        builder.add_rows(switching.names("neg"), rest - times(b, on), -free, -b, errors=errors),
        builder.add_rows(switching.names("pos"), sum_p + times(b, on), 0 * b, free, errors=errors),
    ]
    builder.add_rows(switching.names("on"), output - times(u, on), -free, 0 * b)
    builder.add_rows(
        switching.names("off"), rest - times(b - l_z, on), l_z - b, free, errors=errors
    )
    part_free = np.full(p.size, np.inf)
    link = [
        builder.add_rows([f"{name}_{label}" for name in part_names], matrix, lower, upper).scales
        for label, matrix, lower, upper in (
            ("lo", g - parts + times(low, part_on), low, part_free),
            ("up", g - parts + times(high, part_on), -part_free, high),
            ("on_lo", parts - times(low, part_on), np.zeros(p.size), part_free),
            ("on_up", parts - times(high, part_on), -part_free, np.zeros(p.size)),
        )
    ]
    # Off by eta in y and eps in the rows, every p_k moves by at most M_k eta + R_k eps with
    # M_k = max(|l_k|, |u_k|); h is their sum, the rows of z add R eps and |b| eta.
    return Block(
        switching,
        positive=h,
        positive_scales=scales,
        switch=y,
        parts=p,
        part_values=_scaled(Expressions(np.zeros(p.size), groups, np.zeros(p.size)), part_scales),
        part_owner=owner,
        feasibility_gain=sums @ np.max(link, axis=0) + sum(row.scales for row in scaled) + scales,
        integrality_gain=sums @ np.maximum(-low, high) + np.abs(b),
    )


def _scaled(values: Expressions, scales: FloatArray) -> Expressions:
    return Expressions(
        values.constants / scales,
        csr_array(values.matrix.multiply(1.0 / scales[:, None])),
        values.errors / scales,
    )


def _sorted_groups(matrix: csr_array, n_groups: int) -> tuple[csr_array, IntArray]:
    """Cut every row into runs of neighbouring coefficients; return the runs and their owners."""
    data, columns, starts, owner = [], [], [0], []
    for row in range(matrix.shape[0]):
        here = slice(matrix.indptr[row], matrix.indptr[row + 1])
        values, index = matrix.data[here], matrix.indices[here]
        order = np.argsort(values, kind="stable")
        for run in np.array_split(order, min(n_groups, max(1, order.size))):
            data.append(values[run])
            columns.append(index[run])
            starts.append(starts[-1] + run.size)
            owner.append(row)
    shape = (len(owner), matrix.shape[1])
    runs = csr_array((np.concatenate(data), np.concatenate(columns), starts), shape=shape)
    return runs, np.array(owner, dtype=np.intp)


def _interval(
    groups: csr_array, column_lower: FloatArray, column_upper: FloatArray
) -> tuple[FloatArray, FloatArray]:
    positive, negative = groups.maximum(0.0), groups.minimum(0.0)
    sizes = abs(groups) @ np.maximum(np.abs(column_lower), np.abs(column_upper))
    widening = 2.0 * gamma(groups.shape[1] + 2) * sizes
    low = positive @ column_lower + negative @ column_upper - widening
    high = positive @ column_upper + negative @ column_lower + widening
    return np.asarray(low), np.asarray(high)
