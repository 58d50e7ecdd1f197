r"""Re-proves ``f(x) <= level`` for every admissible x, by code that made no claim.

The domain is cut into boxes, newest first. A box is finished when

- no point of it satisfies the rows, or all of it lies in a hole,
- a plane above f (`recheck_bounds`) stays at or below the level on it, with the best
  multiplier for one row at a time taken into account,
- or its few undecided ReLUs are enumerated in exact arithmetic (`recheck_leaf`).

Otherwise the part where the plane is below the level is cut off and the rest is halved, or
cut along the faces of a hole in which the plane is largest (`recheck_holes`).
A corner that scores above the level, in real arithmetic, ends the search: the claim is
wrong. With ``level = -inf`` the same search proves that no admissible point exists.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from nnbo_mip.exact.checking.dyadic import ExactNetwork
from nnbo_mip.exact.checking.recheck_bounds import BoxBounder, Planes
from nnbo_mip.exact.checking.recheck_leaf import Leaf, leaf_is_below, leaf_is_empty
from nnbo_mip.exact.checking.recheck_rows import Rows
from nnbo_mip.exact.problem import Problem
from nnbo_mip.network.affine import FloatArray

FLOATS_PER_BATCH = 1 << 19
MOST_UNDECIDED = 6
"""Largest number of undecided ReLUs for which a box is enumerated."""

NEARLY = 1e-7
"""Boxes that miss the level by less than this share of it, or by rounding, are enumerated."""

SMALLEST_WIDTH = 1e-13
"""Share of the domain's width below which a coordinate is not halved any more."""

NARROW = 0.3
"""Coordinates narrower than this share of the widest one are not halved."""

TIE_BREAK = 1e-3
CORNERS_CHECKED = 8

Watch: TypeAlias = Callable[[int, float], None]
"""Receives boxes or nodes so far, and the share of the domain that is finished."""


def ignore(_count: int, _share: float) -> None:
    """Watch nothing."""


Verdict = Literal["proved", "counterexample", "stuck", "time"]


@dataclass(frozen=True, eq=False)
class Recheck:
    """Outcome of a re-proof.

    Parameters
    ----------
    verdict : {"proved", "counterexample", "stuck", "time"}
        ``stuck``: a part that cannot be split could not be bounded by the level;
        ``time``: the deadline came first.
    x : (d,) array or None
        The counterexample, or a point of the box that is stuck.
    count : int
        Boxes, or nodes, looked at.
    share : float
        Share of the domain that is finished, by halvings.
    """

    verdict: Verdict
    x: FloatArray | None
    count: int
    share: float


@dataclass(frozen=True, eq=False)
class _Boxes:
    lower: FloatArray  # (d, n)
    upper: FloatArray  # (d, n)
    share: FloatArray  # (n,)

    def __len__(self) -> int:
        return len(self.share)

    def __getitem__(self, index: slice | npt.NDArray[np.bool_]) -> _Boxes:
        return _Boxes(self.lower[:, index], self.upper[:, index], self.share[index])


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
    return _Recheck(problem, level, time_limit).run(watch)


class _Recheck:
    def __init__(self, problem: Problem, level: float, time_limit: float) -> None:
        self.problem, self.level = problem, level
        self.deadline = time.perf_counter() + time_limit
        domain = problem.domain
        self.bounder = BoxBounder(problem.network, domain.lower, domain.upper)
        self.rows = Rows(domain)
        self.batch = int(np.clip(FLOATS_PER_BATCH // self.bounder.floats_per_box, 8, 2048))
        widths = domain.upper - domain.lower
        self.unit = np.where(widths > 0.0, widths, 1.0)[:, None]
        self.boxes = 0

    def run(self, watch: Watch) -> Recheck:
        domain = self.problem.domain
        stack = [_Boxes(domain.lower[:, None], domain.upper[:, None], np.ones(1))]
        while stack:
            finished = 1.0 - sum(float(boxes.share.sum()) for boxes in stack)
            if time.perf_counter() >= self.deadline:
                return Recheck("time", None, self.boxes, finished)
            watch(self.boxes, finished)
            boxes = self._pop(stack)
            self.boxes += len(boxes)
            found = self._step(boxes)
            if isinstance(found, Recheck):
                return found
            if len(found):
                stack.append(found)
        return self._outcome("proved", None)

    def _pop(self, stack: list[_Boxes]) -> _Boxes:
        """Take up to a batch of boxes from the top of the stack."""
        taken, missing = [], self.batch
        while stack and missing > 0:
            top = stack.pop()
            if len(top) > missing:
                stack.append(top[slice(0, len(top) - missing)])
                top = top[slice(len(top) - missing, None)]
            taken.append(top)
            missing -= len(top)
        return _joined(taken)

    def _outcome(self, verdict: Verdict, x: FloatArray | None) -> Recheck:
        return Recheck(verdict, x, self.boxes, 1.0)

    def _step(self, boxes: _Boxes) -> _Boxes | Recheck:
        """Finish what can be finished; return the children of the rest."""
        lower, upper, feasible = self.rows.shrink(boxes.lower, boxes.upper)
        boxes = _Boxes(lower, upper, boxes.share)[feasible]
        if not len(boxes):
            return boxes
        planes = self.bounder.planes(boxes.lower, boxes.upper)
        bound = self.rows.largest(planes, boxes.lower, boxes.upper)
        still_open = ~(bound <= self.level)  # not "bound > level": a NaN must stay open
        boxes, planes, bound = boxes[still_open], planes.select(still_open), bound[still_open]
        counterexample = self._counterexample(planes, boxes)
        if counterexample is not None:
            return self._outcome("counterexample", counterexample)
        boxes, planes, bound, beside = self._beside_holes(boxes, planes, bound)
        splittable = self._splittable(boxes)
        whole = ~splittable.any(axis=0)
        still_open = np.ones(len(boxes), dtype=bool)
        for index in np.flatnonzero(whole | self._nearly(bound)):
            still_open[index] = not self._enumerated(planes, boxes, int(index))
        stuck = np.flatnonzero(still_open & whole)
        if stuck.size:
            return self._outcome("stuck", boxes.lower[:, stuck[0]])
        splittable, planes = splittable[:, still_open], planes.select(still_open)
        return _joined([beside, self._halved(boxes[still_open], planes, splittable)])

    def _beside_holes(
        self, boxes: _Boxes, planes: Planes, bound: FloatArray
    ) -> tuple[_Boxes, Planes, FloatArray, _Boxes]:
        """Take out the boxes whose plane is largest in a hole; return the rest and their parts."""
        corners = np.where(planes.slopes > 0.0, boxes.upper, boxes.lower)
        hole = self.rows.holes.trapping(corners)
        parts = [boxes[slice(0, 0)]]
        for number in np.unique(hole[hole >= 0]):
            mine = boxes[hole == number]
            steepness = (np.abs(planes.slopes[:, hole == number]) * self.unit).mean(axis=1)
            lower, upper, owner = self.rows.holes.cut(
                int(number), mine.lower, mine.upper, steepness
            )
            counts = np.bincount(owner, minlength=len(mine))
            parts.append(_Boxes(lower, upper, mine.share[owner] / counts[owner]))
        free = hole < 0
        return boxes[free], planes.select(free), bound[free], _joined(parts)

    # -- finishing --------------------------------------------------------------------

    def _counterexample(self, planes: Planes, boxes: _Boxes) -> FloatArray | None:
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

    def _enumerated(self, planes: Planes, boxes: _Boxes, index: int) -> bool:
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

    def _splittable(self, boxes: _Boxes) -> npt.NDArray[np.bool_]:
        width = boxes.upper - boxes.lower
        wide = width > SMALLEST_WIDTH * self.unit
        return np.where(self.rows.is_real[:, None], wide, width > 0.0)

    def _halved(self, boxes: _Boxes, planes: Planes, splittable: npt.NDArray[np.bool_]) -> _Boxes:
        """Cut off what is below the level, then cut across the steepest wide coordinate."""
        lower, upper = _cut_off(boxes, planes, self.level)
        share = np.where(splittable, (boxes.upper - boxes.lower) / self.unit, 0.0)
        wide = splittable & (share >= NARROW * share.max(axis=0, initial=0.0))
        steep = np.abs(planes.slopes) * self.unit
        steep = steep + TIE_BREAK * steep.max(axis=0, initial=0.0) + np.finfo(float).tiny
        chosen = np.where(wide, share * steep, -1.0).argmax(axis=0)
        columns = np.arange(len(boxes))
        left_end, right_start = self.rows.cut(
            boxes.lower[chosen, columns], boxes.upper[chosen, columns], chosen
        )
        left_upper, right_lower = upper.copy(), lower.copy()
        left_upper[chosen, columns] = np.minimum(left_end, upper[chosen, columns])
        right_lower[chosen, columns] = np.maximum(right_start, lower[chosen, columns])
        return _Boxes(
            np.concatenate([lower, right_lower], axis=1),
            np.concatenate([left_upper, upper], axis=1),
            np.concatenate([boxes.share, boxes.share]) / 2.0,
        )


def _joined(parts: list[_Boxes]) -> _Boxes:
    """Return the boxes of all parts."""
    return _Boxes(
        np.concatenate([boxes.lower for boxes in parts], axis=1),
        np.concatenate([boxes.upper for boxes in parts], axis=1),
        np.concatenate([boxes.share for boxes in parts]),
    )


def _cut_off(boxes: _Boxes, planes: Planes, level: float) -> tuple[FloatArray, FloatArray]:
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
