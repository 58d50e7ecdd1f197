"""The admissible point near a point that is not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from nnbo_mip.space.arrays import FloatArray, as_finite_vector

if TYPE_CHECKING:
    from nnbo_mip.space.domain import Domain


def repair(domain: Domain, x: npt.ArrayLike) -> FloatArray | None:
    """Return an admissible point (d,) near x, None when none was found."""
    rounded = round_to_domain(domain, as_finite_vector(x, "x"))
    return rounded if domain.admissible(rounded)[0] else None


def round_to_domain(domain: Domain, x: FloatArray) -> FloatArray:
    """Clip to the box, round to the grids, keep one of each one-hot group: (d,).

    The result is admissible but for the rows.
    """
    rounded = np.clip(x, domain.lower, domain.upper)
    for j, grid in enumerate(domain.grids):
        if grid is not None and j not in domain.one_hot_members:
            value = float(grid.value(grid.nearest(rounded[j])))
            rounded[j] = np.clip(value, domain.lower[j], domain.upper[j])
    for group in domain.one_hot:
        members = np.array(group)
        possible = members[domain.upper[members] == 1.0]
        forced = members[domain.lower[members] == 1.0]
        candidates = forced if forced.size else possible
        rounded[members] = 0.0
        if candidates.size:
            rounded[candidates[np.argmax(x[candidates])]] = 1.0
    return rounded
