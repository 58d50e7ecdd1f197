"""Points around good ones: few coordinates are moved, by steps of many sizes.

>>> import numpy as np
>>> from nnbo_mip.space import Space
>>> domain = Space.box([0.0] * 100, [1.0] * 100).model()
>>> points = nearby(domain, np.zeros((1, 100)), count=50, seed=0)
>>> moved = (points != 0.0).sum(axis=1)
>>> int(moved.min()) >= 1, int(np.median(moved)) <= 20
(True, True)

References
----------
Regis and Shoemaker (2013), few coordinates move [RegisShoemaker2013].
Eriksson et al. (2019), some 20 of them [Eriksson2019].
"""

from __future__ import annotations

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.space.domain import Domain

MOVED = 20.0
"""Coordinates that are moved at most, on the average; fewer in half of the points."""

SIZES = (0.003, 0.3)
"""Between which the standard deviation of a step lies, as a part of the side."""


def nearby(domain: Domain, centres: FloatArray, count: int, seed: int) -> FloatArray:
    """Return points (count, d) within the bounds of a domain, not settled on its grids.

    Parameters
    ----------
    domain : Domain
    centres : (k, d) array
        Taken in turn, the first ones more often where they do not divide `count`.
    count : int
    seed : int
    """
    rng = np.random.default_rng(seed)
    width = domain.upper - domain.lower
    free = np.flatnonzero(width > 0.0)
    points = centres[np.arange(count) % len(centres)].copy() if count else centres[:0].copy()
    if not len(free) or not count:
        return points
    share = np.minimum(1.0, MOVED ** rng.uniform(0.0, 1.0, (count, 1)) / len(free))
    moves = rng.uniform(size=(count, len(free))) < share
    moves[np.arange(count), rng.integers(len(free), size=count)] = True
    low, high = np.log(SIZES)
    sizes = np.exp(rng.uniform(low, high, (count, 1)))
    steps = sizes * width[free] * rng.standard_normal((count, len(free)))
    points[:, free] = np.clip(
        points[:, free] + moves * steps, domain.lower[free], domain.upper[free]
    )
    return points
