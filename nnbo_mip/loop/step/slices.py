r"""A proof in some coordinates, the others where a search of the whole space left them.

In many inputs no proof about the whole space closes, but ascents find a good point x of it. Through
x goes a slice: the points that differ from x in k coordinates only. The largest score of a slice is
a question of k inputs, which closes; its answer is at least as good as x. k is 1, 2, 4, …, each
slice within the next and through the answer of the one before, until what the next one would cost
is foreseen to be too much. Of b_j and b_k boxes with j < k coordinates,

    b_m ~ b_k (b_k / b_j)^((m - k) / (k - j))

are foreseen with m, within reason, so that k hangs on the model and on no clock. Coordinates are
freed in a random order, those with short length-scales rather first (`loop.regions.sides`). Where
all move, the proof is about the whole space.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.loop.record.region_box import RegionBox
from nnbo_mip.maximizers.base.abstract import Proposal
from nnbo_mip.space.domain import Domain

MOST_WORK = 0.1
"""Seconds of a nominal machine that the proof of a slice may be foreseen to need."""

WORK_OF_A_BOX = 1.2e-7
"""Such seconds for a box, for each pair of observations."""

MOST_BOXES = 250.0
"""That may be foreseen however few observations there are: of many more a check proves none."""

LEAST_GROWTH, MOST_GROWTH = 2.0, 8.0
"""Between which boxes are foreseen to multiply with each coordinate: few boxes say little of it."""

SLICED = (
    "proven in {moving} of {all} coordinates; the others are where a search of the whole space "
    "ended."
)


@dataclass(frozen=True, eq=False)
class Slice:
    """The answer of the widest slice that closed.

    Parameters
    ----------
    proposal : Proposal
    region : RegionBox or None
        None where all coordinates move.
    said : str
        What the proof is about.
    """

    proposal: Proposal
    region: RegionBox | None
    said: str


def widest_slice(
    prove: Callable[[Domain, FloatArray], Proposal],
    domain: Domain,
    centre: FloatArray,
    sides: list[tuple[int, ...]],
    n: int,
    is_late: Callable[[], bool],
) -> Slice:
    """Prove slices of more and more coordinates.

    Parameters
    ----------
    prove : callable
        From a part of the domain and a good point of it to its maximum.
    domain : Domain
    centre : (d,) array
        An admissible point.
    sides : list of tuple of int
        Coordinates in the order in which they are freed, those of a category together.
    n : int
        Observations.
    is_late : callable
        Whether the time is up.

    Notes
    -----
    Where not even one coordinate closes, that open answer is returned.
    """
    most_boxes = min(MOST_WORK / (WORK_OF_A_BOX * n * n), MOST_BOXES)
    found: Slice | None = None
    count, before, boxes_before = min(1, len(sides)), 0, 1
    while True:
        moving = [j for side in sides[:count] for j in side]
        proposal = prove(_slice_of(domain, centre, moving), centre)
        if found is not None and (proposal.x is None or proposal.status != "optimal"):
            return found
        found = _answer(proposal, domain, centre, moving, count, len(sides))
        if proposal.x is None or proposal.status != "optimal" or count >= len(sides):
            return found
        if is_late():
            return found
        centre = proposal.x
        boxes = max(sum(proposal.counters.values()), 1)
        growth = (boxes / boxes_before) ** (1.0 / (count - before))
        growth = min(max(growth, LEAST_GROWTH ** (1.0 / count)), MOST_GROWTH)
        following = [2 * count, count + (count + 1) // 2, count + 1]
        wider = [m for m in following if boxes * growth ** (m - count) <= most_boxes]
        if not wider:
            return found
        before, boxes_before, count = count, boxes, min(wider[0], len(sides))


def _slice_of(domain: Domain, centre: FloatArray, moving: list[int]) -> Domain:
    """Return the points of a domain that differ from the centre in some coordinates only."""
    lower, upper = centre.copy(), centre.copy()
    lower[moving], upper[moving] = domain.lower[moving], domain.upper[moving]
    return domain.restrict(lower, upper)


def _answer(
    proposal: Proposal,
    domain: Domain,
    centre: FloatArray,
    moving: list[int],
    count: int,
    sides: int,
) -> Slice:
    if count == sides:
        return Slice(proposal, None, "")
    box = _slice_of(domain, centre, moving)
    region = RegionBox(1.0, np.array(box.lower), np.array(box.upper), domain.one_hot)
    said = SLICED.format(moving=count, all=sides) if proposal.status == "optimal" else ""
    return Slice(proposal, region, said)
