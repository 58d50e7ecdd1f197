"""What exclusions leave of a domain, rows aside, as boxes that overlap on faces at most."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nnbo_mip.core.arrays import FloatArray

if TYPE_CHECKING:
    from nnbo_mip.space.domain import Domain

MOST_BOXES = 200_000


def exclusion_free_boxes(
    domain: Domain,
    lower: FloatArray | None = None,
    upper: FloatArray | None = None,
    most: int = MOST_BOXES,
) -> tuple[FloatArray, FloatArray, bool]:
    """Cut boxes along the faces of exclusions until no exclusion meets them.

    Parameters
    ----------
    domain : Domain
    lower, upper : (m, d) arrays, optional
        Boxes; that of the domain when left out.
    most : int
        Boxes after which the cutting ends.

    Returns
    -------
    lower, upper : (p, d) arrays
        Boxes that `Domain.tighten` has shrunk. Where m boxes do not overlap, these overlap on
        faces of real coordinates at most.
    complete : bool
        Whether every admissible point lies in one of them and none meets an exclusion.
    """
    if lower is None or upper is None:
        lower, upper = domain.lower[None, :], domain.upper[None, :]
    lower, upper, feasible = domain.tighten(lower, upper)
    lower, upper = lower[feasible], upper[feasible]
    order = np.arange(domain.dimension)[None, :]
    for number in range(len(domain.exclusions)):
        if len(lower) > most:
            return lower, upper, False
        one = np.array([number])
        exclusions = domain.exclusions[np.arange(len(domain.exclusions)) == number]
        meets = exclusions.meeting(lower, upper)[:, 0]
        if not meets.any():
            continue
        count = int(meets.sum())
        new_lower, new_upper, _ = domain.exclusion_faces.pieces(
            lower[meets], upper[meets], np.repeat(one, count), np.repeat(order, count, axis=0)
        )
        new_lower, new_upper, feasible = domain.tighten(new_lower, new_upper)
        lower = np.concatenate([lower[~meets], new_lower[feasible]])
        upper = np.concatenate([upper[~meets], new_upper[feasible]])
    return lower, upper, True


def sizes(domain: Domain, lower: FloatArray, upper: FloatArray) -> FloatArray:
    """Return volumes times numbers of grid points of boxes (p, d), zero for thinner ones: (p,).

    Where no box has volume, those with the most sides count by these sides.
    """
    discrete = np.array([grid is not None for grid in domain.grids])
    width = np.where(discrete, 0.0, upper - lower)
    dimensions = (width > 0.0).sum(axis=1)
    unit = np.where(domain.upper > domain.lower, domain.upper - domain.lower, 1.0)
    logs = np.log(np.where(width > 0.0, width / unit, 1.0)).sum(axis=1)
    for j, grid in enumerate(domain.grids):
        if grid is not None and j not in domain.one_hot_members:
            logs = logs + np.log(grid.index_below(upper[:, j]) - grid.index_above(lower[:, j]) + 1)
    for group in domain.one_hot:
        logs = logs + np.log((upper[:, list(group)] == 1.0).sum(axis=1))
    largest = dimensions == dimensions.max()
    return np.where(largest, np.exp(logs - logs[largest].max()), 0.0)
