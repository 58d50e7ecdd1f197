"""A design of points that the user names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from nnbo_mip.core.arrays import BoolArray, FloatArray
from nnbo_mip.core.checks import as_points
from nnbo_mip.core.errors import InputError
from nnbo_mip.loop.designs.designs import Design, design_of
from nnbo_mip.space.embedded.embedded_space import SearchSpace
from nnbo_mip.space.same_point import allowed_differences
from nnbo_mip.space.space import Space


@dataclass(frozen=True)
class Given(Design):
    """Points of the user, in the user's units, as they are.

    Parameters
    ----------
    given : sequence of dicts or (n, d) array
        Admissible points; perhaps none. One that is given twice is evaluated twice.
    then : str, dict or Design, optional
        What follows them.
    """

    name: ClassVar[str] = "given"

    given: Any = ()
    then: Any = None

    def __post_init__(self) -> None:
        """Keep plain numbers and dicts."""
        rows = self.given.tolist() if isinstance(self.given, np.ndarray) else self.given
        if isinstance(rows, str | Mapping) or not isinstance(rows, Sequence):
            raise InputError(
                "initial points must be a list of points, or an array with one row a point; got "
                f"{self.given!r:.80}; wrap a single point in a list."
            )
        object.__setattr__(self, "given", tuple(_plain(row) for row in rows))
        if self.then is not None:
            object.__setattr__(self, "then", design_of(self.then))

    def points(
        self, space: SearchSpace, seed: int = 0, known: npt.ArrayLike | None = None
    ) -> FloatArray:
        """Return the given points and what follows them, (n, d)."""
        domain = space.model()
        points = np.empty((0, domain.dimension))
        if self.given:
            points = space.encode(list(self.given))
        refused = np.flatnonzero(~domain.admissible(points))
        if refused.size:
            raise InputError(
                "initial points must satisfy the constraints of the space; number "
                f"{refused[0]}, {self.given[refused[0]]!r}, does not; change or drop it."
            )
        if self.then is None:
            return points
        before = as_points(() if known is None else known, domain.dimension)
        before = np.concatenate([before, points])
        return np.concatenate([points, self.then.points(space, seed, before)])

    def remaining(
        self, space: SearchSpace, seed: int, known: FloatArray, valued: BoolArray
    ) -> FloatArray:
        """Return the given points that are not known, and what still follows them, (n, d).

        A known point stands for one given point that it is meant as; other values count as points
        of what follows.
        """
        points = self.points(space, seed, known)
        given, count = [], len(self.given)
        allowed = allowed_differences(space) if isinstance(space, Space) else 0.0
        is_free = np.ones(len(known), dtype=np.bool_)
        for point in points[:count]:
            same = np.flatnonzero(is_free & (np.abs(known - point) <= allowed).all(axis=1))
            if same.size:
                is_free[same[0]] = False
            else:
                given.append(point)
        wanted = np.array(given).reshape(-1, points.shape[1])
        if self.then is None:
            return wanted
        before = np.concatenate([known, points[:count]])
        others = np.concatenate([valued & is_free, np.zeros(count, dtype=np.bool_)])
        return np.concatenate([wanted, self.then.remaining(space, seed, before, others)])

    def again(self, space: SearchSpace, n: int | None = None) -> Design:
        """Return the design that follows, or Sobol points, as many as there are here."""
        if n is None and self.then is None:
            n = max(len(self.given), 1)
        return design_of(self.then).again(space, n)


def _plain(row: Any) -> Any:
    """Return a row as a dict, or as a tuple of numbers."""
    if isinstance(row, Mapping):
        return dict(row)
    if isinstance(row, np.ndarray):
        return tuple(row.tolist())
    return tuple(row) if isinstance(row, list | tuple) else row
