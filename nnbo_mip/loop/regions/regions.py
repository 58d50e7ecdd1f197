"""Regions: boxes around the best point so far, to which the search for the next one is limited.

A region is a function of what was observed since its stage began, so nothing of it is stored that
could be lost: a run that is resumed folds its observations again and stands where it stood.

>>> import numpy as np
>>> from nnbo_mip.loop.regions.regions import region_of
>>> rule = region_of("trust:length=0.8,successes=2")
>>> Z, y = np.array([[0.0], [0.5], [0.25]]), np.array([1.0, 2.0, 3.0])
>>> extent = rule.extent(Z, y, chosen=np.array([False, True, True]))
>>> extent.length, extent.centre.tolist()  # two successes in a row doubled it
(1.6, [0.25])
>>> region_of(None).extent(Z, y, np.ones(3, dtype=bool)) is None
True
"""

from __future__ import annotations

import abc
from dataclasses import dataclass
from typing import ClassVar

from nnbo_mip.core.arrays import BoolArray, FloatArray
from nnbo_mip.core.registry import Registry


@dataclass(frozen=True, eq=False)
class Extent:
    """Where a region is and how large.

    Parameters
    ----------
    length : float
        Of its sides, as a part of the sides of the domain.
    centre : (k,) array
        The best point of the stage, in model coordinates.
    is_over : bool
        Whether the region has become too small, and the search should begin anew.
    is_weighted : bool
        Whether sides are longer where the belief's length-scales are.
    coordinates : int or None
        How many of them move in a step; None for all.
    """

    length: float
    centre: FloatArray
    is_over: bool = False
    is_weighted: bool = False
    coordinates: int | None = None


class Region(abc.ABC):
    """A frozen dataclass of options; a pure rule."""

    name: ClassVar[str]
    """Its name in the registry."""

    limits: ClassVar[bool] = True
    """Whether it ever gives less than the whole domain."""

    slices: ClassVar[bool] = False
    """Whether all of the domain is searched, and proofs are about a part of its coordinates."""

    keep: bool
    """Whether models go on learning, after a region is over, from what was observed before."""

    def for_parameters(self, count: int) -> Region:
        """Return the rule for so many coordinates, a category as one, where it hangs on them."""
        return self

    @abc.abstractmethod
    def extent(self, Z: FloatArray, y: FloatArray, chosen: BoolArray) -> Extent | None:
        """Return the region after some observations; None for the whole domain.

        Parameters
        ----------
        Z : (n, k) array
            Points of the stage in model coordinates, in the order in which they were told.
        y : (n,) array
            Their values, larger is better; NaN for failures.
        chosen : (n,) bool array
            Which of them a model of the stage chose.
        """


@dataclass(frozen=True)
class NoRegion(Region):
    """Search everywhere."""

    name: ClassVar[str] = "none"
    limits = False
    keep = True

    def extent(self, Z: FloatArray, y: FloatArray, chosen: BoolArray) -> Extent | None:
        """Return None."""
        return None


@dataclass(frozen=True)
class Slices(Region):
    """Search everywhere by ascents, then prove the answer in as many coordinates as closes.

    The others stay where the search found them: `nnbo_mip.loop.step.slices`.
    """

    name: ClassVar[str] = "slices"
    limits = False
    slices = True
    keep = True

    def extent(self, Z: FloatArray, y: FloatArray, chosen: BoolArray) -> Extent | None:
        """Return None."""
        return None


registry: Registry[Region] = Registry(
    "region",
    Region,
    {
        "none": f"{__name__}:NoRegion",
        "slices": f"{__name__}:Slices",
        "trust": "nnbo_mip.loop.regions.trust_region:TrustRegion",
    },
    group="nnbo_mip.regions",
    of_none="none",
)
"""Filled by the package, by entry points, and by `register`."""


region_of = registry.create
"""Returns a rule that was named, described or given; None is no region."""
