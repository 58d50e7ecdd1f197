"""Which coordinates of a region move: a few of many, drawn anew at each step.

Where a hundred coordinates move at once, most points of a box are near its corners, no proof
closes, and a step changes what does not matter together with what does. With m of them free and
the others as the best point has them, a step is a question in m dimensions: it can be proven, and
its answer keeps what was good.

>>> import numpy as np
>>> from nnbo_mip.loop.regions.regions import RegionBox
>>> from nnbo_mip.space import Space
>>> domain, centre = Space.box([0.0] * 5, [1.0] * 5).model(), np.full(5, 0.5)
>>> box = RegionBox(0.2, centre - 0.2, centre + 0.2)
>>> narrow = some_sides(box, centre, domain, most=2, seed=0)
>>> int((narrow.lower < narrow.upper).sum())
2

References
----------
Regis and Shoemaker (2013), DYCORS, in which few coordinates move [RegisShoemaker2013].
"""

from __future__ import annotations

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.loop.record.region_box import RegionBox
from nnbo_mip.space.domain import Domain

LEAST_MOVE = 1e-6
"""Part of a side: what can move less is held by rows, such as an equation."""


def some_sides(
    box: RegionBox,
    centre: FloatArray,
    domain: Domain,
    most: int,
    seed: int,
    length_scales: FloatArray | None = None,
) -> RegionBox:
    """Return a box in which at most so many coordinates move, the others being the centre's.

    Parameters
    ----------
    box : RegionBox
    centre : (k,) array
        An admissible point of it.
    domain : Domain
        Of which it is a part.
    most : int
        A category counts as one coordinate.
    seed : int
        Of the draw.
    length_scales : (k,) array, optional
        Of a belief: see `drawn_sides`.

    Notes
    -----
    Where rows hold all that were drawn, as an equation between two of a hundred coordinates does,
    all of the box is returned.
    """
    sides = drawn_sides(box, domain, seed, length_scales)
    if len(sides) <= most:
        return box
    moving = [j for side in sides[:most] for j in side]
    lower, upper = centre.copy(), centre.copy()
    lower[moving], upper[moving] = box.lower[moving], box.upper[moving]
    low, high, _ = domain.tighten(lower, upper)
    if not (high - low > LEAST_MOVE * (box.upper - box.lower)).any():
        return box
    return RegionBox(box.length, lower, upper, box.groups)


def drawn_sides(
    box: RegionBox, domain: Domain, seed: int, length_scales: FloatArray | None = None
) -> list[tuple[int, ...]]:
    """Return the coordinates that move, those of a category together, in a random order.

    Uniformly, or with probabilities in proportion to 1 / l^2: what a move along a coordinate takes
    from the correlation of two near points.

    Parameters
    ----------
    box : RegionBox
    domain : Domain
    seed : int
    length_scales : (k,) array, optional
        Of a belief.
    """
    sides = _sides(box, domain)
    rng = np.random.default_rng(seed)
    if length_scales is None:
        order = rng.choice(len(sides), size=len(sides), replace=False)
    else:
        lengths = np.array([length_scales[list(side)].min() for side in sides])
        # The largest of log weight + Gumbel noise are draws without replacement.
        order = np.argsort(2.0 * np.log(lengths) - rng.gumbel(size=len(sides)), kind="stable")
    return [sides[place] for place in order]


def _sides(box: RegionBox, domain: Domain) -> list[tuple[int, ...]]:
    """Return the coordinates that move, those of a category together."""
    alone = [(j,) for j in range(domain.dimension) if j not in domain.one_hot_members]
    groups = [tuple(group) for group in domain.one_hot]
    return [side for side in alone + groups if (box.lower < box.upper)[list(side)].any()]
