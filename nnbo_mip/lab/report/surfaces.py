"""The functions behind units of one or two variables, where they can be evaluated here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from nnbo_mip.errors import NnboError
from nnbo_mip.lab.pictures.contours import SIDE, Surface
from nnbo_mip.lab.results import Results
from nnbo_mip.lab.unit_run import problem_of
from nnbo_mip.network.affine import FloatArray
from nnbo_mip.problems.problem import Problem
from nnbo_mip.problems.scaled import ScaledProblem
from nnbo_mip.space.dimensions import Integer, Real

MOST_SECONDS = 2.0
"""That the points of a map may take, going by how long evaluations took when units were run."""


class Surfaces:
    """Makes surfaces of units, each problem once.

    Parameters
    ----------
    results : Results
    """

    def __init__(self, results: Results) -> None:
        self._results = results
        self._made: dict[str, tuple[Surface | None, Problem | None]] = {}

    def of(self, unit: int) -> Surface | None:
        """Return the surface of a unit; None unless it has one or two numeric variables."""
        return self._found(unit)[0]

    def coordinates(self, unit: int) -> FloatArray:
        """Return the points (n, d) of a unit in the user's units."""
        problem, points = self._found(unit)[1], self._results.points(unit)
        if problem is None:
            return np.array(points, dtype=np.float64)
        return problem.space.to_numeric(np.array(points) if _is_array(points) else points)

    def _found(self, unit: int) -> tuple[Surface | None, Problem | None]:
        settings = self._results.settings(unit)
        key = repr((settings["problem"], settings["scaled"], _instance(settings)))
        if key not in self._made:
            self._made[key] = self._make(unit, settings)
        return self._made[key]

    def _make(self, unit: int, settings: dict[str, Any]) -> tuple[Surface | None, Problem | None]:
        try:
            problem = problem_of(settings["problem"], settings["instance"])
        except NnboError:  # a package or a module of the user is not here
            return self._of_points(unit), None
        numbers = [one for one in problem.space.dimensions if isinstance(one, Real | Integer)]
        if not 1 <= len(numbers) == len(problem.space.dimensions) <= 2:
            return None, problem
        surface = Surface(
            tuple(one.name for one in numbers),
            np.array([float(one.lower) for one in numbers]),
            np.array([float(one.upper) for one in numbers]),
            _function(problem, settings["scaled"]) if self._is_quick(unit) else None,
        )
        return surface, problem

    def _is_quick(self, unit: int) -> bool:
        rows = self._results.observations["unit"] == unit
        return (
            float(np.median(self._results.observations["seconds"][rows])) * SIDE**2 < MOST_SECONDS
        )

    def _of_points(self, unit: int) -> Surface | None:
        """Return what the points alone say: where they lie."""
        points = self._results.points(unit)
        if not _is_array(points) or not 1 <= len(points[0]) <= 2:
            return None
        X = np.array(points)
        names = tuple(f"x{j}" for j in range(X.shape[1]))
        return Surface(names, X.min(axis=0), X.max(axis=0), None)


def _function(problem: Problem, scaled: bool) -> Callable[[FloatArray], FloatArray]:
    view = ScaledProblem(problem) if scaled else None

    def values(X: FloatArray) -> FloatArray:
        truth = problem.truth(problem.space.from_numeric(X))
        return truth if view is None else view.score_of(truth)

    return values


def _is_array(points: list[Any]) -> bool:
    return isinstance(points[0], np.ndarray)


def _instance(settings: dict[str, Any]) -> Any:
    """Return the instance where the problem depends on it."""
    return settings["instance"] if "{instance}" in repr(settings["problem"]) else None
