r"""From the extent of a region to its box in a domain.

A side reaches from the centre as far as

    length (upper_j - lower_j) / 2 * w_j,       w_j = l_j / (prod_i l_i)^(1/d),

with w_j = 1 unless the region is weighted and the belief has length-scales l_j, so that the volume
is the same, domain's ends aside; d and the product count numbers only. Lengths count as those
within `LENGTHS`.
"""

from __future__ import annotations

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.loop.designs.points import completed
from nnbo_mip.loop.record.region_box import RegionBox
from nnbo_mip.loop.regions.regions import Extent
from nnbo_mip.loop.regions.sides import some_sides
from nnbo_mip.space.domain import Domain

LENGTHS = 0.01, 4.0
"""Between which length-scales tell sides apart, where a side goes from -1 to 1: one that is longer
than twice the side says that the input does not matter, and no more than that."""

WHOLE = "every point of the trust region is known, so the whole space was searched."


def box_of(extent: Extent, domain: Domain, length_scales: FloatArray | None = None) -> RegionBox:
    """Return the box of a region.

    Parameters
    ----------
    extent : Extent
    domain : Domain
        In model coordinates; the region's centre is admissible.
    length_scales : (k,) array, optional
        Of a belief.

    Notes
    -----
    A side is cut where it leaves the domain. On a grid it reaches at least to the neighbours of
    the centre, or a small region would pin every integer. The levels of categories have no
    distance: all of them belong to every region. It reaches the value at which a switch holds a
    coordinate too, or no level could be chosen at which it is held.
    """
    reach = 0.5 * extent.length * (domain.upper - domain.lower)
    if extent.is_weighted and length_scales is not None:
        reach = reach * _weights(length_scales, domain)
    lower = np.maximum(domain.lower, extent.centre - reach)
    upper = np.minimum(domain.upper, extent.centre + reach)
    for j, grid in enumerate(domain.grids):
        if grid is None:
            continue
        if j in domain.one_hot_members:
            lower[j], upper[j] = domain.lower[j], domain.upper[j]
            continue
        here = int(grid.nearest(extent.centre[j]))
        around = grid.value([max(here - 1, 0), min(here + 1, grid.count - 1)])
        lower[j] = max(domain.lower[j], min(lower[j], around[0]))
        upper[j] = min(domain.upper[j], max(upper[j], around[1]))
    for switch in domain.switches:
        columns, values = list(switch.columns), np.array(switch.values)
        within = np.clip(values, domain.lower[columns], domain.upper[columns])
        lower[columns] = np.minimum(lower[columns], within)
        upper[columns] = np.maximum(upper[columns], within)
    return RegionBox(extent.length, lower, upper, domain.one_hot)


def _weights(length_scales: FloatArray, domain: Domain) -> FloatArray:
    logarithms = np.log(np.clip(length_scales, *LENGTHS))
    # Categories are whole in every region, so that theirs would change the volume of the others.
    numbers = [j for j in range(domain.dimension) if j not in domain.one_hot_members]
    weights: FloatArray = np.exp(logarithms - logarithms[numbers or slice(None)].mean())
    return weights


def region_of_step(
    extent: Extent,
    domain: Domain,
    known: FloatArray,
    length_scales: FloatArray | None = None,
    seed: int = 0,
) -> tuple[RegionBox | None, str]:
    """Return the box within which a step searches, None for all, and a sentence about it.

    A box with few free coordinates, all of whose points are known, gives way to that of all
    coordinates, and this one to the whole domain.

    Parameters
    ----------
    extent : Extent
    domain : Domain
    known : (n, k) array
        Points that were told or are pending.
    length_scales : (k,) array, optional
        Of a belief.
    seed : int
        Of the coordinates that move, where not all do.
    """
    box = box_of(extent, domain, length_scales)
    boxes = [box]
    if extent.coordinates is not None:
        lengths = length_scales if extent.is_weighted else None
        few = some_sides(box, extent.centre, domain, extent.coordinates, seed, lengths)
        boxes.insert(0, few)
    for one in boxes:
        if not _is_exhausted(one, domain, known):
            return one, ""
    return None, WHOLE


def _is_exhausted(box: RegionBox, domain: Domain, known: FloatArray) -> bool:
    """Whether a region is finite and all of its points are known."""
    within = domain.restrict(box.lower, box.upper)
    moving = np.flatnonzero(within.lower < within.upper)
    if any(within.grids[j] is None for j in moving):
        return False
    none = np.empty((0, domain.dimension))
    return not len(completed(within, none, 1, known, np.random.default_rng(0)))
