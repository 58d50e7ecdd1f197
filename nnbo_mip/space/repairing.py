r"""The admissible point near a point that is not.

Clip and round first. If rows are then violated, the coordinates they couple are moved to

    minimize  sum_j |x'_j - x_j| / (u_j - l_j)  +  number of groups that change their level,

a mixed-integer linear program (`program`), and the continuous ones corrected by least
squares until the point is admissible in the exact sense.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.checks import as_finite_vector
from nnbo_mip.core.errors import InputError
from nnbo_mip.space.program import Program, formulate
from nnbo_mip.space.rows import RowSystem, separated

if TYPE_CHECKING:
    from nnbo_mip.space.domain import Domain

CORRECTIONS = 10
"""Least-squares steps; each solves the rows that the one before left violated."""

SLACK_SHARES = (0.0, 0.5)
"""Rows as given first; sets that are empty but for their slack need part of it."""


def repair(domain: Domain, x: npt.ArrayLike) -> FloatArray | None:
    """Return an admissible point (d,) near x, None when none was found."""
    target = as_finite_vector(x, "x")
    if target.size != domain.dimension:
        raise InputError(
            f"x must have {domain.dimension} coordinates; got {target.size}; pass them all."
        )
    if len(domain.exclusions):
        from nnbo_mip.space.leaving import leave_exclusions

        return leave_exclusions(domain, round_to_domain(domain, target))
    return repair_without_exclusions(domain, target)


def repair_without_exclusions(domain: Domain, target: FloatArray) -> FloatArray | None:
    """Do what `repair` does for a domain without exclusions, given a finite target (d,)."""
    rounded = round_to_domain(domain, target)
    if domain.admissible(rounded)[0]:
        return rounded
    lower, upper, feasible = domain.tighten(domain.lower, domain.upper)
    if not feasible:
        return None
    rows = separated(domain.A, domain.b, domain.row_slack)
    for share in SLACK_SHARES:
        program = formulate(domain, lower, upper, rows, share)
        nearest = _nearest(program, rounded, domain.upper - domain.lower)
        if nearest is not None:
            point = corrected(domain, rows, round_to_domain(domain, nearest))
            if domain.admissible(point)[0]:
                return point
    # Where solvers fail for lack of precision, least squares alone may still arrive.
    within = round_to_domain(domain, np.clip(rounded, lower, upper))
    point = corrected(domain, rows, within)
    return point if domain.admissible(point)[0] else None


def round_to_domain(domain: Domain, x: FloatArray) -> FloatArray:
    """Clip to the box, round to the grids, keep one of each one-hot group, hold: (d,).

    The result is admissible but for the rows (and for groups no member of which can be on).
    """
    rounded = np.clip(x, domain.lower, domain.upper)
    for j, grid in enumerate(domain.grids):
        if grid is not None and j not in domain.one_hot_members:
            rounded[j] = grid.value(grid.nearest(rounded[j]))  # ends are on the grid
    for group in domain.one_hot:
        members = np.array(group)
        forced = members[domain.lower[members] == 1.0]
        candidates = forced if forced.size else members[domain.upper[members] == 1.0]
        rounded[members] = 0.0
        if candidates.size:
            rounded[candidates[np.argmax(x[candidates])]] = 1.0
    held: FloatArray = domain.held(rounded[None, :])[0]
    return held


def corrected(domain: Domain, rows: RowSystem, x: FloatArray) -> FloatArray:
    """Move the continuous coordinates of x (d,) as little as mends the rows.

    Each step is the shortest one, in units of the sides, onto the violated rows and the
    equalities. The result may still be inadmissible.
    """
    free = np.array([grid is None for grid in domain.grids]) & (domain.lower < domain.upper)
    width = (domain.upper - domain.lower)[free]
    point = x.copy()
    for _ in range(CORRECTIONS):
        if not free.any() or domain.admissible(point)[0]:
            break
        excess = rows.A @ point - rows.b
        violated = excess > 0.0
        normals = np.vstack([rows.A[violated], rows.A_eq])[:, free] * width
        residual = np.concatenate([excess[violated], rows.A_eq @ point - rows.b_eq])
        move = np.linalg.lstsq(normals, -residual, rcond=1e-12)[0]
        point[free] = np.clip(point[free] + width * move, domain.lower[free], domain.upper[free])
    return point


def _nearest(program: Program, x: FloatArray, side: FloatArray) -> FloatArray | None:
    """Solve the program of the module docstring for x (d,), rounded to the domain."""
    target = x[program.columns]
    measured = np.flatnonzero(program.measured)
    unit = np.where(side > 0.0, side, 1.0)[program.columns[measured]]
    # s_j >= |x'_j - x_j| / unit_j as two rows each, with s appended to the variables.
    moved = program.M[measured] / unit[:, None]
    shift = (target - program.offset)[measured] / unit
    extra = -np.eye(measured.size)
    # A group costs 1 unless it keeps the member that is on.
    kept = np.where(program.measured, 0.0, target) @ (program.M != 0.0)
    v = program.minimize(
        np.concatenate([-kept, np.ones(measured.size)]),
        np.block([[moved, extra], [-moved, extra]]),
        np.concatenate([shift, -shift]),
        np.full(measured.size, np.inf),
    )
    return None if v is None else program.point(v[: program.M.shape[1]], x)
