"""Local search by exchanges: another value of one coordinate or level, or two that swap theirs.

Swaps keep sums, and so the rows of a budget or an assignment, which single changes violate.

References
----------
Kernighan and Lin (1970), exchanges of pairs [KernighanLin1970].
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.exact.search.primal import exchanges
from nnbo_mip.space.domain import Domain

MOST_SWAPS = 2000
"""Of one point; where there are more, every k-th is tried."""

MOST_ROUNDS = 200

Values = Callable[[FloatArray], FloatArray]


def climb(
    domain: Domain, values: Values, start: FloatArray, stop: Callable[[], bool]
) -> FloatArray:
    """Return where the best exchange of all, again and again, leads from an admissible point.

    Parameters
    ----------
    domain : Domain
    values : callable
        From points (n, d) to values (n,).
    start : (d,) array
    stop : callable
        Whether to end early.
    """
    point, value = start, float(values(start[None, :])[0])
    for _ in range(MOST_ROUNDS):
        near = exchanges(domain, point)
        if domain.b.size:
            near = np.vstack([near, swaps(domain, point)])
        near = near[domain.admissible(near)] if len(near) else near
        if not len(near) or stop():
            break
        found = values(near)
        best = int(found.argmax())
        if not found[best] > value:
            break
        point, value = near[best], float(found[best])
    return point


def swaps(domain: Domain, point: FloatArray) -> FloatArray:
    """Return points (n, d) at which two coordinates, or two categories, have swapped values."""
    plain = [
        j
        for j, grid in enumerate(domain.grids)
        if grid is not None and j not in domain.one_hot_members
    ]
    alone = np.array(plain, dtype=np.int64)
    one, other = (alone[side] for side in np.triu_indices(len(alone), 1))
    useful = point[one] != point[other]
    one, other = one[useful], other[useful]
    every = -(-len(one) // MOST_SWAPS) if len(one) else 1
    one, other = one[::every], other[::every]
    moved = np.repeat(point[None, :], len(one), axis=0)
    rows = np.arange(len(one))
    moved[rows, one], moved[rows, other] = point[other], point[one]
    more: list[FloatArray] = []
    for i, group in enumerate(domain.one_hot):
        for second in domain.one_hot[:i]:
            a, b = list(group), list(second)
            if len(a) == len(b) and (point[a] != point[b]).any() and len(more) < MOST_SWAPS:
                both = point.copy()
                both[a], both[b] = point[b], point[a]
                more.append(both)
    return domain.held(np.vstack([moved, *(m[None, :] for m in more)]))
