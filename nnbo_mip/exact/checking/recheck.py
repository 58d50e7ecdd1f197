r"""Re-proves ``f(x) <= level`` for every admissible x, by code that made no claim.

The domain is cut into boxes, newest first. A box is finished when

- no point of it satisfies the rows, or all of it lies in an exclusion,
- a plane above f (`recheck_bounds`) stays at or below the level on it, with the best
  multiplier for one row at a time taken into account,
- or its few undecided ReLUs are enumerated in exact arithmetic (`recheck_leaf`).

Otherwise the part where the plane is below the level is cut off and the rest is halved, or
cut along the faces of an exclusion in which the plane is largest (`recheck_exclusions`).
A corner that scores above the level, in real arithmetic, ends the search: the claim is
wrong. With ``level = -inf`` the same search proves that no admissible point exists.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
import numpy.typing as npt

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.exact.checking.dyadic import ExactNetwork
from nnbo_mip.exact.checking.recheck_bounds import BoxBounder, LinearBounds
from nnbo_mip.exact.checking.recheck_deep import DeepBounder, is_deep
from nnbo_mip.exact.checking.recheck_leaf import Leaf, leaf_is_below, leaf_is_empty
from nnbo_mip.exact.checking.sweep import (
    NARROW,
    Boxes,
    Recheck,
    Sweep,
    Watch,
    halves,
    ignore,
    joined,
)
from nnbo_mip.exact.search.problem import Problem

FLOATS_PER_BATCH = 1 << 19
MOST_UNDECIDED = 6
"""Largest number of undecided ReLUs for which a box is enumerated."""

NEARLY = 1e-7
"""Boxes that miss the level by less than this share of it, or by rounding, are enumerated."""

TIE_BREAK = 1e-3
NARROW_DEEP = 1e-3
"""As `sweep.NARROW`, for deep networks, whose inputs differ more in what they matter."""

CORNERS_CHECKED = 8


def recheck(problem: Problem, level: float, time_limit: float, watch: Watch = ignore) -> Recheck:
    """Prove ``f(x) <= level`` on the domain, or find out why not.

    Parameters
    ----------
    problem : Problem
    level : float
        The claimed bound; ``-inf`` claims that no admissible point exists.
    time_limit : float
        Wall seconds.
    watch : callable, optional
    """
    return _Recheck(problem, level).run(time_limit, watch)


class _Recheck(Sweep):
    def __init__(self, problem: Problem, level: float) -> None:
        domain = problem.domain
        self.problem, self.level = problem, level
        deep = is_deep(problem.network)
        bounder = DeepBounder if deep else BoxBounder
        self.bounder = bounder(problem.network, domain.lower, domain.upper)
        batch = FLOATS_PER_BATCH // self.bounder.floats_per_box
        narrow = NARROW_DEEP if deep else NARROW
        super().__init__(domain, int(np.clip(batch, 8, 2048)), TIE_BREAK, narrow)

    def _step(self, boxes: Boxes) -> Boxes | Recheck:
        planes = self.bounder.planes(boxes.lower, boxes.upper)
        bound = self.rows.largest(planes, boxes.lower, boxes.upper)
        still_open = ~(bound <= self.level)  # not "bound > level": a NaN must stay open
        boxes, planes, bound = boxes[still_open], planes.select(still_open), bound[still_open]
        counterexample = self._counterexample(planes, boxes)
        if counterexample is not None:
            return self.outcome("counterexample", counterexample)
        corners = np.where(planes.slopes > 0.0, boxes.upper, boxes.lower)
        free, beside = self.beside_exclusions(boxes, corners, np.abs(planes.slopes) * self.unit)
        boxes, planes, bound = boxes[free], planes.select(free), bound[free]
        splittable = self.splittable(boxes)
        whole = ~splittable.any(axis=0)
        still_open = np.ones(len(boxes), dtype=bool)
        for index in np.flatnonzero(whole | self._nearly(bound)):
            still_open[index] = not self._enumerated(planes, boxes, int(index))
        stuck = np.flatnonzero(still_open & whole)
        if stuck.size:
            return self.outcome("stuck", boxes.lower[:, stuck[0]])
        splittable, planes = splittable[:, still_open], planes.select(still_open)
        return joined([beside, self._halved(boxes[still_open], planes, splittable)])

    # -- finishing --------------------------------------------------------------------

    def _counterexample(self, planes: LinearBounds, boxes: Boxes) -> FloatArray | None:
        """Return an admissible corner with f > level in real arithmetic, if one is seen."""
        corners = np.where(planes.slopes > 0.0, boxes.upper, boxes.lower).T
        values = self.problem.values(corners)
        error = self.bounder.output_error
        above = np.flatnonzero(values + error > self.level)
        for index in above[np.argsort(-values[above], kind="stable")][:CORNERS_CHECKED]:
            x = corners[index]
            if self.problem.domain.admissible(x[None, :])[0] and (
                values[index] - error > self.level or self.exact.value(x).exceeds(self.level)
            ):
                return np.asarray(x)
        return None

    def _nearly(self, bound: FloatArray) -> npt.NDArray[np.bool_]:
        if self.level == -np.inf:
            return np.ones(len(bound), dtype=bool)
        reach = NEARLY * max(1.0, abs(self.level)) + 4.0 * self.bounder.output_error
        return np.asarray(bound - self.level <= reach)

    def _enumerated(self, planes: LinearBounds, boxes: Boxes, index: int) -> bool:
        """Finish a box in exact arithmetic, as one point or pattern by pattern."""
        lower, upper = boxes.lower[:, index], boxes.upper[:, index]
        if bool((lower == upper).all()):
            # One that scores above the level was reported as a counterexample.
            return True
        leaf = Leaf(
            lower,
            upper,
            [mask[:, index] for mask in planes.active],
            [mask[:, index] for mask in planes.unstable],
        )
        if self.level == -np.inf:
            return leaf_is_empty(leaf, self.rows.A, self.rows.limit)
        if leaf.undecided > MOST_UNDECIDED:
            return False
        return leaf_is_below(self.exact, leaf, self.rows.A, self.rows.limit, self.level)

    @cached_property
    def exact(self) -> ExactNetwork:
        """The network in exact arithmetic, made when it is first needed."""
        return ExactNetwork(self.problem.network)

    # -- halving ----------------------------------------------------------------------

    def _halved(
        self, boxes: Boxes, planes: LinearBounds, splittable: npt.NDArray[np.bool_]
    ) -> Boxes:
        """Cut off what is below the level, then cut across the steepest wide coordinate."""
        lower, upper = _cut_off(boxes, planes, self.level)
        chosen = self.steepest(boxes, planes.steepness * self.unit, splittable)
        columns = np.arange(len(boxes))
        ends = boxes.lower[chosen, columns], boxes.upper[chosen, columns]
        return halves(lower, upper, boxes.share, chosen, *self.rows.cut(*ends, chosen))


def _cut_off(boxes: Boxes, planes: LinearBounds, level: float) -> tuple[FloatArray, FloatArray]:
    """Move the ends of boxes over the part where their plane is at or below the level."""
    steep = np.abs(planes.slopes)
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        reach = (planes.largest - level) / steep * (1.0 + 1e-12)
        low = boxes.upper - reach - 1e-15 * (np.abs(boxes.upper) + reach)
        high = boxes.lower + reach + 1e-15 * (np.abs(boxes.lower) + reach)
    # fmax and fmin: flat coordinates (NaN, infinity) keep their ends.
    return (
        np.where(planes.slopes > 0.0, np.fmax(boxes.lower, low), boxes.lower),
        np.where(planes.slopes < 0.0, np.fmin(boxes.upper, high), boxes.upper),
    )
