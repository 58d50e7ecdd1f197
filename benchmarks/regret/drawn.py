"""Points that no model chooses: uniform ones, or the next of the Sobol sequence of the starts."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.regret.unit import Task, sobol_points
from nnbo_mip.core.arrays import FloatArray


class Drawn:
    """Points in the order in which they are drawn.

    Parameters
    ----------
    points : (n, d) array
    """

    def __init__(self, points: FloatArray) -> None:
        self._points = iter(points)

    def ask(self) -> tuple[FloatArray, dict[str, Any]]:
        """Return the next point."""
        return next(self._points), {}

    def tell(self, y: float) -> None:
        """Nothing is learned."""


def begin(task: Task, kind: str) -> Drawn:
    """Start ``uniform`` or ``sobol``."""
    n = len(task.X)
    if kind == "sobol":
        return Drawn(sobol_points(task.evaluations, task.lower, task.upper, task.seed)[n:])
    size = (task.evaluations - n, len(task.lower))
    return Drawn(np.random.default_rng([task.seed, 1]).uniform(task.lower, task.upper, size))
