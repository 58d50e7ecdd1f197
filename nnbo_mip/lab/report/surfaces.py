"""The functions behind units of one or two variables, where they can be evaluated here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.errors import NnboError
from nnbo_mip.lab.pictures.contours import SIDE, Surface
from nnbo_mip.lab.plan.starts import problem_of
from nnbo_mip.lab.store.results import Results
from nnbo_mip.problems.problem import Problem
from nnbo_mip.problems.scaled import ScaledProblem
from nnbo_mip.space.dimensions import Integer, Real

MOST_SECONDS = 2.0
"""That the points of a map may take, going by how long evaluations took when units were run."""


@dataclass(frozen=True, eq=False)
class Sampled:
    """A surface, and the points (n, d) of a unit on it, in the user's units."""

    surface: Surface
    points: FloatArray


class Surfaces:
    """Makes surfaces of units, each problem once.

    Parameters
    ----------
    results : Results
    """

    def __init__(self, results: Results) -> None:
        self._results = results
        self._made: dict[str, Surface | None] = {}

    def of(self, unit: int) -> Sampled | None:
        """Return where a unit sampled; None unless there are one or two numeric variables."""
        settings, points = self._results.settings(unit), self._results.points(unit)
        try:
            problem = problem_of(settings["problem"], settings["instance"])
            raw = problem.space.to_numeric(np.array(points) if _is_array(points) else points)
        except NnboError:  # a package or a module is not here, or the problem is another one now
            return _of_points(points)
        key = repr((settings["problem"], settings["scaled"], _instance(settings)))
        if key not in self._made:
            self._made[key] = self._make(unit, problem, settings["scaled"])
        surface = self._made[key]
        return None if surface is None else Sampled(surface, raw)

    def _make(self, unit: int, problem: Problem, scaled: bool) -> Surface | None:
        numbers = [one for one in problem.space.dimensions if isinstance(one, Real | Integer)]
        if not 1 <= len(numbers) == len(problem.space.dimensions) <= 2:
            return None
        return Surface(
            tuple(one.name for one in numbers),
            np.array([float(one.lower) for one in numbers]),
            np.array([float(one.upper) for one in numbers]),
            _function(problem, scaled) if self._is_quick(unit) else None,
            maximize=scaled or problem.direction == "maximize",
        )

    def _is_quick(self, unit: int) -> bool:
        rows = self._results.observations["unit"] == unit
        each = float(np.median(self._results.observations["seconds"][rows]))
        return each * SIDE**2 < MOST_SECONDS


def _of_points(points: list[Any]) -> Sampled | None:
    """Return what the points alone say."""
    if not _is_array(points) or not 1 <= len(points[0]) <= 2:
        return None
    X = np.array(points)
    names = tuple(f"x{j}" for j in range(X.shape[1]))
    return Sampled(Surface(names, X.min(axis=0), X.max(axis=0), None), X)


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
