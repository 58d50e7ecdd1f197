r"""Trust regions that grow with success and shrink with failure, by the rules of TuRBO.

With L the length of a side as a part of the domain's, z* the best point of the stage, and
y* its value before an evaluation,

    success:  y > y* + improvement |y*|,
    after `successes` of them in a row:  L <- min(2 L, most),
    after `failures` in a row:           L <- L / 2,
    L < least:  the region is over, and a new one begins from fresh points.

Only evaluations of points that a model chose are counted. A failed evaluation is a failure; one
that somebody told without having been asked moves z* and y*, and counts as neither.

References
----------
Eriksson et al. (2019), TuRBO [Eriksson2019].
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from nnbo_mip.core.arrays import BoolArray, FloatArray
from nnbo_mip.core.checks import check_count, check_flag, check_number
from nnbo_mip.core.errors import InputError
from nnbo_mip.loop.regions.regions import Extent, Region

FEWEST_FAILURES = 4
"""In a row, until a region shrinks; or as many as there are coordinates, if these are more."""


@dataclass(frozen=True)
class TrustRegion(Region):
    """A box around the best point, whose sides double and halve.

    Parameters
    ----------
    length : float
        With which a stage begins, as a part of a side.
    least, most : float
        Between which it moves; below `least` the region is over.
    successes : int
        In a row, after which it doubles.
    failures : int, optional
        In a row, after which it halves; left out, the number of model coordinates, at least 4; in
        a run a category is one of them.
    improvement : float
        By which part of its size the best value has to be exceeded for a success.
    keep : bool
        Whether models go on learning, after a region is over, from what was observed before.
    weighted : bool
        Whether sides are longer where the function changes slowly, for beliefs that have
        length-scales; see `nnbo_mip.loop.regions.box`.
    coordinates : int, optional
        How many of them move in a step, drawn anew each time; the others stay as the best point
        has them, see `nnbo_mip.loop.regions.sides`. Left out, all move.
    """

    name: ClassVar[str] = "trust"

    length: float = 0.8
    least: float = 2.0**-7
    most: float = 1.6
    successes: int = 3
    failures: int | None = None
    improvement: float = 1e-3
    keep: bool = False
    weighted: bool = True
    coordinates: int | None = None

    def __post_init__(self) -> None:
        """Refuse options that are none."""
        for name in ("length", "least", "most"):
            check_number(name, getattr(self, name), above=0.0)
        if not self.least <= self.length <= self.most:
            raise InputError(
                f"length must be between least and most; got {self.length!r}, and {self.least!r} "
                f"to {self.most!r}; change one of them."
            )
        check_count("successes", self.successes)
        if self.failures is not None:
            check_count("failures", self.failures)
        check_number("improvement", self.improvement, least=0.0)
        check_flag("keep", self.keep)
        check_flag("weighted", self.weighted)
        if self.coordinates is not None:
            check_count("coordinates", self.coordinates)

    def for_parameters(self, count: int) -> TrustRegion:
        """Return it with its number of failures."""
        return self if self.failures else replace(self, failures=max(FEWEST_FAILURES, count))

    def extent(self, Z: FloatArray, y: FloatArray, chosen: BoolArray) -> Extent | None:
        """Return the region after some observations; None while there is no value."""
        most_failures = max(FEWEST_FAILURES, Z.shape[1])
        if self.failures is not None:
            most_failures = self.failures
        length, best, centre = self.length, -math.inf, -1
        won = lost = 0  # in a row
        for place, value in enumerate(y.tolist()):
            if chosen[place] and centre >= 0:
                if value > best + self.improvement * abs(best):
                    won, lost = won + 1, 0
                else:  # NaN too
                    won, lost = 0, lost + 1
            if value > best:
                best, centre = value, place
            if won == self.successes:
                length, won = min(2.0 * length, self.most), 0
            elif lost == most_failures:
                length, lost = 0.5 * length, 0
        if centre < 0:
            return None
        centred = np.asarray(Z[centre])
        return Extent(length, centred, length < self.least, self.weighted, self.coordinates)
