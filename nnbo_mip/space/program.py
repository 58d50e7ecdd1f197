r"""`Program`: the part of a domain that rows couple, as a mixed-integer linear program.

The coordinates x_J in rows (with the whole one-hot groups of those) are written

    x_J = offset + M v,        lower <= v <= upper,

one variable each: continuous ones ``l + (u - l) v`` with v in [0, 1], uniform grids
``l + step v`` with v whole, one-hot members binary. A listed grid takes one binary a
value. The one-hot sums and the choice of one listed value are equalities; rows are scaled
to largest coefficient 1, because solvers know absolute tolerances only.

HiGHS solves these programs through SciPy to a tolerance looser than the slack of a domain,
so callers correct and check what comes back. Nothing here proves anything.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from nnbo_mip.core.arrays import BoolArray, FloatArray, IntArray
from nnbo_mip.space.rows import RowSystem

if TYPE_CHECKING:
    from nnbo_mip.space.domain import Domain

NODE_LIMIT = 20_000
"""Branch-and-bound nodes of one program: a bounded wait, far above what spaces need."""

LP_TOLERANCE = 1e-10
"""The tightest feasibility tolerance that HiGHS accepts."""


@dataclass(frozen=True)
class Program:
    """Rows over the variables v.

    Parameters
    ----------
    columns : (k,) array
        J, the coupled coordinates.
    offset, M : (k,), (k, p) arrays
        ``x_J = offset + M v``.
    lower, upper : (p,) arrays
        Ends of the variables.
    whole : (p,) array
        Which variables take whole values only.
    measured : (k,) array
        Which coordinates are numbers rather than 0/1 members of a group.
    A, b : (m, p), (m,) arrays
        ``A v <= b``.
    A_eq, b_eq, slack_eq : (e, p), (e,), (e,) arrays
        ``|A_eq v - b_eq| <= slack_eq``.
    """

    columns: IntArray
    offset: FloatArray
    M: FloatArray
    lower: FloatArray
    upper: FloatArray
    whole: BoolArray
    measured: BoolArray
    A: FloatArray
    b: FloatArray
    A_eq: FloatArray
    b_eq: FloatArray
    slack_eq: FloatArray

    def point(self, v: FloatArray, x: FloatArray) -> FloatArray:
        """Return x (d,) with its coupled coordinates replaced by those of v (p,)."""
        point = x.copy()
        point[self.columns] = self.offset + self.M @ v
        return point

    def slice_at(self, v: FloatArray) -> Program:
        """Return the linear program that is left when the whole variables keep their values."""
        return replace(
            self,
            lower=np.where(self.whole, v, self.lower),
            upper=np.where(self.whole, v, self.upper),
            whole=np.zeros_like(self.whole),
        )

    def minimize(
        self,
        cost: FloatArray,
        A_extra: FloatArray | None = None,
        b_extra: FloatArray | None = None,
        upper_extra: FloatArray | None = None,
    ) -> FloatArray | None:
        """Minimize ``cost . (v, w)`` over v and extra variables w; None if that fails.

        Parameters
        ----------
        cost : (p + q,) array
        A_extra, b_extra : (r, p + q), (r,) arrays, optional
            Further rows ``A_extra (v, w) <= b_extra``.
        upper_extra : (q,) array, optional
            ``0 <= w <= upper_extra``.
        """
        from scipy.optimize import Bounds, LinearConstraint, linprog, milp

        if not cost.size:
            return np.empty(0)  # everything is fixed
        top = np.empty(0) if upper_extra is None else upper_extra
        # Equalities with slack are two inequalities: on a narrow box their right-hand sides
        # are rounding noise, and an exact equality would be infeasible.
        loose = self.slack_eq > 0.0
        A = np.vstack([self.A, self.A_eq[loose], -self.A_eq[loose]])
        right, slack = self.b_eq[loose], self.slack_eq[loose]
        b = np.concatenate([self.b, right + slack, slack - right])
        A, A_eq, b_eq = _widened(A, top.size), self.A_eq[~loose], self.b_eq[~loose]
        A_eq = _widened(A_eq, top.size)
        if A_extra is not None and b_extra is not None:
            A, b = np.vstack([A, A_extra]), np.concatenate([b, b_extra])
        lower = np.concatenate([self.lower, np.zeros(top.size)])
        upper = np.concatenate([self.upper, top])
        whole = np.concatenate([self.whole, np.zeros(top.size, dtype=bool)])
        if whole.any():
            mixed = milp(
                cost,
                integrality=whole.astype(int),
                bounds=Bounds(lower, upper),
                constraints=[LinearConstraint(A, -np.inf, b), LinearConstraint(A_eq, b_eq, b_eq)],
                options={"node_limit": NODE_LIMIT},
            )
            if mixed.x is None:
                return None
            lower[whole] = upper[whole] = np.round(mixed.x[whole])
        # The integers may have been off by 1e-6; the rest is solved anew for the rounded ones.
        final = linprog(
            cost,
            A_ub=A,
            b_ub=b,
            A_eq=A_eq,
            b_eq=b_eq,
            bounds=np.column_stack([lower, upper]),
            method="highs",
            options={"primal_feasibility_tolerance": LP_TOLERANCE},
        )
        return None if final.x is None else np.asarray(final.x, dtype=np.float64)


def coupled_columns(domain: Domain, rows: RowSystem) -> IntArray:
    """Return the coordinates in rows, with the whole one-hot groups of those."""
    used = rows.used
    for group in domain.one_hot:
        used[list(group)] = used[list(group)].any()
    return np.flatnonzero(used)


def formulate(
    domain: Domain, lower: FloatArray, upper: FloatArray, rows: RowSystem, slack_share: float
) -> Program:
    """Write the coupled part of a domain, within a tightened box, as a program.

    Rows are relaxed by `slack_share` (0 to 1) of their slack.
    """
    columns = coupled_columns(domain, rows)
    blocks = [_block(domain, int(j), lower[j], upper[j]) for j in columns]
    sizes = [block.scales.size for block in blocks]
    starts = np.cumsum([0, *sizes[:-1]])
    M = np.zeros((columns.size, sum(sizes)))
    choices = [np.arange(start, start + size) for start, size in zip(starts, sizes, strict=True)]
    for position, block in enumerate(blocks):
        M[position, choices[position]] = block.scales
    exclusive = [choice for choice, block in zip(choices, blocks, strict=True) if block.is_listed]
    for group in domain.one_hot:
        if group[0] in columns:
            members = [choices[position] for position in np.searchsorted(columns, group)]
            exclusive.append(np.concatenate(members))
    exclusive = [choice for choice in exclusive if choice.size]  # empty if all are fixed
    sums = np.zeros((len(exclusive), M.shape[1]))
    for row, chosen in zip(sums, exclusive, strict=True):
        row[chosen] = 1.0
    offset = np.array([block.offset for block in blocks])
    A, b, slack = _scaled(rows.A[:, columns], rows.b, rows.slack, offset, M)
    A_eq, b_eq, slack_eq = _scaled(rows.A_eq[:, columns], rows.b_eq, rows.slack_eq, offset, M)
    return Program(
        columns=columns,
        offset=offset,
        M=M,
        lower=np.repeat([block.lower for block in blocks], sizes),
        upper=np.repeat([block.upper for block in blocks], sizes),
        whole=np.repeat([block.is_whole for block in blocks], sizes),
        measured=np.array([int(j) not in domain.one_hot_members for j in columns]),
        A=A,
        b=b + slack_share * slack,
        A_eq=np.vstack([A_eq, sums]),
        b_eq=np.concatenate([b_eq, np.ones(len(exclusive))]),
        slack_eq=np.concatenate([slack_share * slack_eq, np.zeros(len(exclusive))]),
    )


@dataclass(frozen=True)
class _Block:
    """The variables of one coordinate, none if it is fixed: ``x_j = offset + scales . v``."""

    offset: float
    scales: FloatArray
    lower: float
    upper: float
    is_whole: bool
    is_listed: bool = False


def _block(domain: Domain, j: int, lower: float, upper: float) -> _Block:
    grid = domain.grids[j]
    if lower == upper:
        return _Block(lower, np.empty(0), 0.0, 0.0, is_whole=False)
    if grid is None:
        return _Block(lower, np.array([upper - lower]), 0.0, 1.0, is_whole=False)
    if j in domain.one_hot_members:
        return _Block(0.0, np.ones(1), lower, upper, is_whole=True)
    first, last = int(grid.index_above(lower)), int(grid.index_below(upper))
    if grid.uniform_step is not None:
        return _Block(lower, np.array([grid.uniform_step]), 0.0, last - first, is_whole=True)
    values = grid.value(np.arange(first, last + 1))
    return _Block(0.0, values, 0.0, 1.0, is_whole=True, is_listed=True)


def _scaled(
    A: FloatArray, b: FloatArray, slack: FloatArray, offset: FloatArray, M: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Rewrite ``A x <= b`` in the variables, each row divided by its size.

    The size is the largest coefficient, or the slack if that is larger: such a row hardly
    varies, and dividing by less would blow rounding up.
    """
    rewritten = A @ M
    size = np.maximum(np.abs(rewritten).max(axis=1, initial=0.0), slack)
    size[size == 0.0] = 1.0
    with np.errstate(over="ignore"):
        right = (b - A @ offset) / size
    return rewritten / size[:, None], right, slack / size


def _widened(A: FloatArray, extra: int) -> FloatArray:
    return np.hstack([A, np.zeros((A.shape[0], extra))])
