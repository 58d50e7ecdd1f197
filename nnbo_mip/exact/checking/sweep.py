"""Searches of the checks: the boxes of a domain, newest first, until none is left to settle."""

from __future__ import annotations

import abc
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.exact.checking.recheck_rows import Rows
from nnbo_mip.space.domain import Domain

SMALLEST_WIDTH = 1e-13
"""Share of the domain's width below which a coordinate is not halved any more."""

NARROW = 0.3
"""Coordinates narrower than this share of the widest one are not halved."""

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
class Boxes:
    """Boxes, and which share of the domain each is.

    Parameters
    ----------
    lower, upper : (d, n) arrays
    share : (n,) array
    """

    lower: FloatArray
    upper: FloatArray
    share: FloatArray

    def __len__(self) -> int:
        return len(self.share)

    def __getitem__(self, index: slice | npt.NDArray[np.bool_]) -> Boxes:
        return Boxes(self.lower[:, index], self.upper[:, index], self.share[index])


def joined(parts: Sequence[Boxes]) -> Boxes:
    """Return the boxes of all parts."""
    return Boxes(
        np.concatenate([boxes.lower for boxes in parts], axis=1),
        np.concatenate([boxes.upper for boxes in parts], axis=1),
        np.concatenate([boxes.share for boxes in parts]),
    )


class Sweep(abc.ABC):
    """A search that settles every box or finds out why it cannot.

    Parameters
    ----------
    domain : Domain
    batch : int
        Boxes looked at together.
    tie_break : float
        Share of the largest steepness that is added to that of every coordinate.
    narrow : float
        Share of the widest coordinate below which another one is not halved.
    """

    def __init__(
        self, domain: Domain, batch: int, tie_break: float, narrow: float = NARROW
    ) -> None:
        self.domain, self.batch, self.rows = domain, batch, Rows(domain)
        self.tie_break, self.narrow = tie_break, narrow
        widths = domain.upper - domain.lower
        self.unit = np.where(widths > 0.0, widths, 1.0)[:, None]
        self.metric = self.unit  # widths that count alike when boxes are halved
        self.count = 0

    def run(self, time_limit: float, watch: Watch = ignore) -> Recheck:
        """Settle all boxes, or find out why not, in so many wall seconds."""
        deadline = time.perf_counter() + time_limit
        low, high = self.domain.lower[:, None], self.domain.upper[:, None]
        stack = [Boxes(low, high, np.ones(1))]
        while stack:
            finished = 1.0 - sum(float(boxes.share.sum()) for boxes in stack)
            if time.perf_counter() >= deadline:
                return Recheck("time", None, self.count, finished)
            watch(self.count, finished)
            boxes = self._pop(stack)
            self.count += len(boxes)
            lower, upper, feasible = self.rows.shrink(boxes.lower, boxes.upper)
            boxes = Boxes(lower, upper, boxes.share)[feasible]
            found = self._step(boxes) if len(boxes) else boxes
            if isinstance(found, Recheck):
                return found
            if len(found):
                stack.append(found)
        return self.outcome("proved", None)

    @abc.abstractmethod
    def _step(self, boxes: Boxes) -> Boxes | Recheck:
        """Finish what can be finished; return the children of the rest."""

    def outcome(self, verdict: Verdict, x: FloatArray | None) -> Recheck:
        """Return a verdict with the boxes so far."""
        return Recheck(verdict, x, self.count, 1.0)

    def _pop(self, stack: list[Boxes]) -> Boxes:
        """Take up to a batch of boxes from the top of the stack."""
        taken, missing = [], self.batch
        while stack and missing > 0:
            top = stack.pop()
            if len(top) > missing:
                stack.append(top[slice(0, len(top) - missing)])
                top = top[slice(len(top) - missing, None)]
            taken.append(top)
            missing -= len(top)
        return joined(taken)

    def beside_exclusions(
        self, boxes: Boxes, corners: FloatArray, steepness: FloatArray
    ) -> tuple[npt.NDArray[np.bool_], Boxes]:
        """Cut the boxes whose corner (d, n) lies in an exclusion along its faces.

        Parameters
        ----------
        boxes : Boxes
        corners : (d, n) array
        steepness : (d, n) array
            Of coordinates; the faces of the steep ones are cut first.

        Returns
        -------
        outside : (n,) bool array
            The boxes that were not cut.
        parts : Boxes
            What became of the others.
        """
        exclusions = self.rows.exclusions
        exclusion = exclusions.trapping(corners)
        parts = [boxes[slice(0, 0)]]
        for number in np.unique(exclusion[exclusion >= 0]):
            mine = boxes[exclusion == number]
            order = steepness[:, exclusion == number].mean(axis=1)
            lower, upper, owner = exclusions.cut(int(number), mine.lower, mine.upper, order)
            counts = np.bincount(owner, minlength=len(mine))
            parts.append(Boxes(lower, upper, mine.share[owner] / counts[owner]))
        return exclusion < 0, joined(parts)

    def splittable(self, boxes: Boxes) -> npt.NDArray[np.bool_]:
        """Return which coordinates (d, n) of boxes are wide enough to be halved."""
        width = boxes.upper - boxes.lower
        wide = width > SMALLEST_WIDTH * self.unit
        return np.where(self.rows.is_real[:, None], wide, width > 0.0)

    def steepest(
        self, boxes: Boxes, steep: FloatArray, splittable: npt.NDArray[np.bool_]
    ) -> npt.NDArray[np.intp]:
        """Return the coordinate (n,) of each box across which it is halved.

        Parameters
        ----------
        boxes : Boxes
        steep : (d, n) array
            How much a bound changes along each coordinate.
        splittable : (d, n) bool array
        """
        share = np.where(splittable, (boxes.upper - boxes.lower) / self.metric, 0.0)
        wide = splittable & (share >= self.narrow * share.max(axis=0, initial=0.0))
        steep = steep + self.tie_break * steep.max(axis=0, initial=0.0) + np.finfo(float).tiny
        return np.asarray(np.where(wide, share * steep, -1.0).argmax(axis=0))


def halves(
    lower: FloatArray,
    upper: FloatArray,
    share: FloatArray,
    chosen: npt.NDArray[np.intp],
    left_end: FloatArray,
    right_start: FloatArray,
) -> Boxes:
    """Return both halves of boxes (d, n), cut across a chosen coordinate (n,) of each."""
    columns = np.arange(len(share))
    left_upper, right_lower = upper.copy(), lower.copy()
    left_upper[chosen, columns] = np.minimum(left_end, upper[chosen, columns])
    right_lower[chosen, columns] = np.maximum(right_start, lower[chosen, columns])
    return Boxes(
        np.concatenate([lower, right_lower], axis=1),
        np.concatenate([left_upper, upper], axis=1),
        np.concatenate([share, share]) / 2.0,
    )
