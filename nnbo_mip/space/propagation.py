r"""Bound propagation: shrink boxes of a domain without cutting an admissible point off.

One row ``sum_j a_j x_j <= limit`` bounds each of its coordinates by what the others
leave. With the least activity of the row over the box,

    t_j = min(a_j l_j, a_j u_j),        T = sum_j t_j,

an admissible point has ``a_j x_j <= limit - (T - t_j)``, hence

    x_j <= (limit - T + t_j) / a_j   if a_j > 0,      x_j >= (limit - T + t_j) / a_j   if a_j < 0,

and a box with ``T > limit`` holds none. The float64 error of the residual is bounded and
added, and the quotient is moved outwards by more than its own, so every cut is true in
real arithmetic. Grids then round inwards, and one-hot groups follow their logic. A box that
lies within an exclusion holds no point, and one that an exclusion covers in all coordinates but one
ends at its face there.

References
----------
Savelsbergh (1994), bound propagation by rows [Savelsbergh1994].
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from nnbo_mip.core.arrays import BoolArray, FloatArray
from nnbo_mip.space.grid import Grid
from nnbo_mip.space.rows import SMALLEST_SUBNORMAL, UNIT_ROUNDOFF, summation_error

if TYPE_CHECKING:
    from nnbo_mip.space.domain import Domain

LARGEST = np.finfo(np.float64).max

MAX_ROUNDS = 4
"""Rounds over all rows; the gain of further ones shrinks geometrically."""

MAX_HOLE_ROUNDS = 16
"""Rounds over all exclusions: one that was cut off can bare the next."""

WORTHWHILE = 1e-3
"""A box of which a round shortens no side by this fraction is left alone from then on."""


def propagate(domain: Domain, low: FloatArray, high: FloatArray, feasible: BoolArray) -> None:
    """Shrink boxes (n, d) within the domain's ends in place, and mark those that are empty."""
    _round_to_grids(domain, range(domain.dimension), low, high, feasible)
    _apply_groups(domain, low, high, feasible)
    _apply_exclusions(domain, low, high, feasible)
    active = np.flatnonzero(feasible)
    for _ in range(MAX_ROUNDS if domain.b.size else 0):
        if not active.size:
            break
        lower, upper, holds = low[active], high[active], feasible[active]
        before = upper - lower
        for row, limit in zip(domain.A, domain.row_limit, strict=True):
            _apply_row(domain, row, float(limit), lower, upper, holds)
        _apply_groups(domain, lower, upper, holds)
        _apply_exclusions(domain, lower, upper, holds)
        low[active], high[active], feasible[active] = lower, upper, holds
        shortened = (upper - lower < (1.0 - WORTHWHILE) * before).any(axis=1)
        active = active[shortened & holds]


def _apply_row(
    domain: Domain,
    row: FloatArray,
    limit: float,
    low: FloatArray,
    high: FloatArray,
    feasible: BoolArray,
) -> None:
    used = np.flatnonzero(row)
    coefficients = row[used]
    lower, upper = low[:, used], high[:, used]
    least = np.where(coefficients > 0.0, coefficients * lower, coefficients * upper)  # t_j
    total = least.sum(axis=1, keepdims=True)  # T
    magnitude = np.abs(least).sum(axis=1, keepdims=True)
    error = summation_error(magnitude, used.size) + 8.0 * UNIT_ROUNDOFF * (magnitude + abs(limit))
    feasible &= (total - error <= limit)[:, 0]
    with np.errstate(over="ignore"):
        quotient = (least + (limit - total + error)) / coefficients
        reach = np.clip(quotient, -LARGEST, LARGEST)
        outwards = np.abs(reach) * (4.0 * UNIT_ROUNDOFF) + SMALLEST_SUBNORMAL
        new_high = np.where(coefficients > 0.0, reach + outwards, np.inf)
        new_low = np.where(coefficients < 0.0, reach - outwards, -np.inf)
    feasible &= ((new_high >= lower) & (new_low <= upper)).all(axis=1)
    # Within the ends of the domain even where the box is infeasible, see `tighten`.
    high[:, used] = np.minimum(upper, np.maximum(new_high, domain.lower[used]))
    low[:, used] = np.maximum(lower, np.minimum(new_low, domain.upper[used]))
    _round_to_grids(domain, used, low, high, feasible)


def _round_to_grids(
    domain: Domain,
    columns: npt.NDArray[np.intp] | range,
    low: FloatArray,
    high: FloatArray,
    feasible: BoolArray,
) -> None:
    """Move ends inwards onto the grids; boxes left without a value are marked."""
    for j in columns:
        grid = domain.grids[j]
        if grid is not None:
            low[:, j], high[:, j], holds = _grid_hull(grid, low[:, j], high[:, j])
            feasible &= holds


def _grid_hull(
    grid: Grid, low: FloatArray, high: FloatArray
) -> tuple[FloatArray, FloatArray, BoolArray]:
    first, last = grid.index_above(low), grid.index_below(high)
    holds = first <= last
    # Where nothing is left, any value does: the box is marked infeasible.
    return (
        grid.value(np.minimum(first, grid.count - 1)),
        grid.value(np.maximum(last, 0)),
        holds,
    )


def _apply_groups(domain: Domain, low: FloatArray, high: FloatArray, feasible: BoolArray) -> None:
    """Exactly one of each group is 1: one on, the others off; one left, it is on."""
    for group in domain.one_hot:
        members = list(group)
        on = low[:, members] == 1.0
        possible = high[:, members] == 1.0
        feasible &= (on.sum(axis=1) <= 1) & possible.any(axis=1)
        possible &= on | ~on.any(axis=1, keepdims=True)
        last_one = possible & (possible.sum(axis=1, keepdims=True) == 1)
        low[:, members] = last_one
        high[:, members] = possible


def _apply_exclusions(
    domain: Domain, low: FloatArray, high: FloatArray, feasible: BoolArray
) -> None:
    """Cut off exclusions, until none is left that covers a box in all coordinates but one."""
    if not len(domain.exclusions):
        return
    for _ in range(MAX_HOLE_ROUNDS):
        if not domain.exclusion_faces.shrink(low, high, feasible):
            return
        _apply_groups(domain, low, high, feasible)
