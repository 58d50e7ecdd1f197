"""How far apart the user's numbers are.

Between 10^9 and 10^9 + 10^-5 there are 84 numbers, so that what a maximizer finds beside a known
point may be rounded to that very point.

>>> from nnbo_mip.space import Space
>>> round(resolution(Space.box([1e9], [1e9 + 1e-5])), 4)
0.0238
"""

from __future__ import annotations

import numpy as np

from nnbo_mip.space.space import Space


def resolution(space: Space) -> float:
    """Return how far apart, in model coordinates, neighbouring numbers of a side may be."""
    box = space.numeric()
    moving = [j for j in np.flatnonzero(box.lower < box.upper) if box.grids[j] is None]
    if not moving:
        return 0.0
    start = space.to_numeric(space.clip(space.from_numeric(box.lower)))[0]
    ends = np.stack([box.lower, box.upper])
    rows = np.repeat(start[None], 4, axis=0)
    rows[:, moving] = np.concatenate([ends, np.nextafter(ends, ends[::-1])])[:, moving]
    seen = space.encode(space.from_numeric(rows))[:, moving]
    return float(np.abs(seen[2:] - seen[:2]).max())
