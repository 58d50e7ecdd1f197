"""`ScaledProblem`: a problem on [-1, 1]^d with values in [-1, 1], to be maximized."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.checks import as_points
from nnbo_mip.core.errors import InputError
from nnbo_mip.problems.noise import Seed
from nnbo_mip.problems.problem import Problem
from nnbo_mip.space.domain import Domain


@dataclass(frozen=True, eq=False)
class ScaledProblem:
    """A problem in model coordinates, its optimum at 1 and its `worst` at -1.

    Values below -1 occur where `worst` is a source's constant and not the worst value.

    Parameters
    ----------
    problem : Problem
        With a known optimum and a worst value.
    """

    problem: Problem

    def __post_init__(self) -> None:
        for known in ("optimum", "worst"):
            if getattr(self.problem, known) is None:
                raise InputError(
                    f"the scaled view needs an optimum and a worst value; {known} of "
                    f"{self.problem.name!r} is not known; pass {known}= to the problem."
                )

    @property
    def name(self) -> str:
        """The problem's name."""
        return self.problem.name

    @property
    def domain(self) -> Domain:
        """The space in model coordinates."""
        return self.problem.space.model()

    @cached_property
    def optimizers(self) -> FloatArray | None:
        """Known optimizers in model coordinates (m, k)."""
        known = self.problem.known_optimizers
        return None if known is None else self.problem.space.encode(known)

    def score(self, U: npt.ArrayLike, seed: Seed = None) -> FloatArray:
        """Return observations (n,) at model coordinates (n, k) or (k,); larger is better.

        `seed` as in `Problem.evaluate`.
        """
        return self.score_of(self.problem.evaluate(self._decoded(U), seed))

    def regret(self, U: npt.ArrayLike) -> FloatArray:
        """Return ``1 - score`` (n,) without noise: 0 at the optimum, 2 at the worst value."""
        return self.problem.regret(self._decoded(U)) / self._half_range

    def score_of(self, y: npt.ArrayLike) -> FloatArray:
        """Return the scores (n,) of values y (n,) in the problem's own units."""
        return 1.0 - self.problem.regret_of(y) / self._half_range

    @cached_property
    def _half_range(self) -> float:
        return 0.5 * float(self.problem.regret_of(np.array([self.problem.worst]))[0])

    def _decoded(self, U: npt.ArrayLike) -> Any:
        domain = self.domain
        points = as_points(U, domain.dimension)
        inside = (domain.lower <= points) & (points <= domain.upper)
        if not inside.all():
            row, column = (int(index[0]) for index in np.nonzero(~inside))
            raise InputError(
                f"model coordinates must lie in [{domain.lower[column]:g}, "
                f"{domain.upper[column]:g}]; got {points[row, column]} in column {column}; "
                "encode the point, or clip it."
            )
        return self.problem.space.decode(points)
